/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Stored documents of runs, judged again: when a rank was slow for a while. */
#ifndef HIMENO_ACCEPT_STORED_H
#define HIMENO_ACCEPT_STORED_H

#include "himeno/accept/make.h"

/** \brief Writes what episode_find finds in each document's series, in the words of the run.
 * STATUS_SLOW where it finds any, STATUS_USAGE at the first document that has no series. */
status_t accept_stored(const struct make_files *files, FILE *out);

#endif
