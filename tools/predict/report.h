/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What himeno-predict shows: a text to read, and one JSON document. */
#ifndef TOOLS_PREDICT_REPORT_H
#define TOOLS_PREDICT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "tools/predict/predict.h"

/** \brief The report for people. */
void predict_report_text(const struct predict *predict, FILE *out);

/** \brief The table of predictions beside runs, with median and worst error. */
void predict_report_against(const struct validate_table *table, FILE *out);

/** \brief The document of doc/predict.schema.json; NULL when memory ran out. */
json_t *predict_report_json(const struct predict *predict);

#endif
