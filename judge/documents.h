/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Stored documents: files with one document, or one per line as runs.jsonl of a study. */
#ifndef JUDGE_DOCUMENTS_H
#define JUDGE_DOCUMENTS_H

#include <jansson.h>
#include <stdio.h>

#include "base/status.h"

#define DOCUMENT_FILES_MAX 512

struct document_files {
  const char *name[DOCUMENT_FILES_MAX];
  int n;
};

/** \brief Adds a file's name to a struct document_files. STATUS_USAGE if there are too many. */
status_t document_file_parse(const char *option, const char *text, void *files);

/** \brief Receives one document, which it may change, and the document's name for messages. */
typedef status_t (*document_visit)(json_t *document, const char *name, void *context);

/** \brief Visits every document of himeno-gpu, gemm-gpu and comm-gpu in the files, in order; lines
 * of other programs in a file of several are skipped. Stops at a visit that returns neither
 * STATUS_OK, STATUS_SLOW nor STATUS_NOISY. Returns the gravest status of the visits;
 * STATUS_ENVIRONMENT for a file that cannot be read or has no such document. */
status_t documents_visit(const struct document_files *files, document_visit visit, void *context);

/** Minimum number of devices for a spread. */
#define MAKE_DEVICES_MIN 3

/** \brief Writes a policy derived from such documents, with the source of each limit. A limit of a
 * device's rate is the median less five spreads (1.4826·MAD), at least 3% below the median.
 * STATUS_USAGE for a document of another program, of a run that did not pass, or of another device
 * or other work than the first, and for fewer than MAKE_DEVICES_MIN devices. */
status_t make_policy(const struct document_files *files, FILE *out);

#endif
