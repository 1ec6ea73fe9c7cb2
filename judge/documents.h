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

/** \brief Adds a file's name to a struct document_files. Returns STATUS_USAGE if it is full. */
status_t document_file_parse(const char *option, const char *text, void *files);

/** \brief Receives one document, which it may change, and the document's name for messages. */
typedef status_t (*document_visit)(json_t *document, const char *name, void *context);

/** \brief Visits every document of himeno-gpu, gemm-gpu and comm-gpu in the files, in order, and
 * skips those of other programs. Stops if a visit returns a status other than STATUS_OK,
 * STATUS_SLOW and STATUS_NOISY. Returns the gravest status of the visits, or STATUS_ENVIRONMENT if
 * a file cannot be read or has no such document. */
status_t documents_visit(const struct document_files *files, document_visit visit, void *context);

/** Minimum number of devices from which make_policy derives limits. */
#define MAKE_DEVICES_MIN 3

/** \brief Writes a policy derived from documents of himeno-gpu, with the source of each limit. The
 * limit of a device's rate is the median minus five spreads (1.4826·MAD), and at least 3% below the
 * median. Returns STATUS_USAGE if a document is of another program, if its run did not pass, if its
 * device or work differs from the first document's, or for fewer than MAKE_DEVICES_MIN devices. */
status_t make_policy(const struct document_files *files, FILE *out);

#endif
