/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A site's policy, made from runs on devices that are known to be good. */
#ifndef HIMENO_ACCEPT_MAKE_H
#define HIMENO_ACCEPT_MAKE_H

#include <stdio.h>

#include "base/status.h"

/** Fewer devices have no spread. */
#define MAKE_DEVICES_MIN 3
#define MAKE_FILES_MAX   512

struct make_files {
  const char *name[MAKE_FILES_MAX];
  int n;
};

/** \brief Reads a file's name into a struct make_files. STATUS_USAGE when there are too many. */
status_t make_file_parse(const char *option, const char *text, void *files);

/** \brief Writes a policy from such documents, each limit with where it comes from: of a device's
 * rates the median less five spreads (1.4826·MAD), and less 3% at least. STATUS_USAGE for what is
 * no such document, passed nothing, or is of another device or work than the first; and for fewer
 * than MAKE_DEVICES_MIN devices. */
status_t accept_make(const struct make_files *files, FILE *out);

#endif
