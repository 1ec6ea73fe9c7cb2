/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A fitted model as JSON: part of himeno-predict's document, and read again from it. */
#ifndef TOOLS_PREDICT_MODEL_JSON_H
#define TOOLS_PREDICT_MODEL_JSON_H

#include <jansson.h>

#include "tools/predict/model.h"

/** \brief The object `model` of doc/predict.schema.json; NULL when memory ran out. */
json_t *model_json(const struct model *model);

/** \brief Reads the `model` of a document of himeno-predict. Without covariance it predicts without
 * an interval. STATUS_ENVIRONMENT, or STATUS_USAGE: also where it is not of \a kernel (NULL: of
 * any). */
status_t model_json_read(const char *path, const char *kernel, struct model *model);

#endif
