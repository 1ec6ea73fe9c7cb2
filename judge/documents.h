/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Stored documents: files of one document, or of several such as runs.jsonl of a study. */
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

/** \brief Takes one document, which may be changed, and its name in messages. */
typedef status_t (*document_visit)(json_t *document, const char *name, void *context);

/** \brief Visits every document of the files that a run of himeno-gpu, gemm-gpu or comm-gpu wrote,
 * in their order; the lines of other programs in a file of several are left out. Returns the
 * gravest status of the visits: one other than STATUS_SLOW and STATUS_NOISY ends it.
 * STATUS_ENVIRONMENT for a file that cannot be read or has no such document. */
status_t documents_visit(const struct document_files *files, document_visit visit, void *context);

/** Fewer devices have no spread. */
#define MAKE_DEVICES_MIN 3

/** \brief Writes a policy from such documents, with the source of each limit: of a device's rates
 * the median less five spreads (1.4826·MAD), and less 3% at least. STATUS_USAGE for a document of
 * another program, of a run that did not pass, or of another device or work than the first; and for
 * fewer than MAKE_DEVICES_MIN devices. */
status_t make_policy(const struct document_files *files, FILE *out);

#endif
