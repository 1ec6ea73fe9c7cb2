/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the suite reads from variables HIMENO_*: most of them plant faults or take an ability away, for tests. One that is
 * set to nothing counts as not set. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include "base/status.h"

/** \brief STATUS_USAGE, logged, if one of them has a value that is not understood. Every program asks so once its options are read. */
status_t environment_check(void);

/** \brief The variable's text, NULL where it is not set. */
const char *environment_text(const char *name);

/** \brief The whole number that the variable holds, of the suite or of a launcher; \a unset where it holds none. */
long long environment_number(const char *name, long long unset);

/** \brief Reads "RANK:NUMBER". Returns whether the variable is set so. */
int environment_pair(const char *name, long long pair[2]);

#endif
