/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A prediction that cannot be changed after the run: its document carries the SHA-256 of
 * itself. */
#ifndef TOOLS_PREDICT_SEAL_H
#define TOOLS_PREDICT_SEAL_H

#include <jansson.h>

#include "base/sha256.h"
#include "base/status.h"

/** \brief Adds the object `seal` with the hash of all the rest: sorted keys, no blanks, reals of 15
 * digits. */
status_t seal_set(json_t *document, char hash[SHA256_TEXT]);

/** \brief Reads a sealed document. STATUS_WRONG when it does not have the hash that it carries, or
 * not \a expected (the one that was noted before the run; NULL: any). The caller frees
 * *document. */
status_t seal_open(const char *path, const char *expected, json_t **document, char hash[SHA256_TEXT]);

#endif
