/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A site's policy, made from documents of runs on devices that are known to be good. */
#ifndef JUDGE_MAKE_H
#define JUDGE_MAKE_H

#include <stdio.h>

#include "judge/documents.h"

/** Fewer devices have no spread. */
#define MAKE_DEVICES_MIN 3

/** \brief Writes a policy from such documents, with the source of each limit: of a device's rates
 * the median less five spreads (1.4826·MAD), and less 3% at least. STATUS_USAGE for a document of
 * another program, of a run that did not pass, or of another device or work than the first; and for
 * fewer than MAKE_DEVICES_MIN devices. */
status_t make_policy(const struct document_files *files, FILE *out);

#endif
