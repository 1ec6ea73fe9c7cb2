/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What `auto` and defaults come to: grid, kernel, transport, cut. Every rank comes to the same. */
#ifndef HIMENO_CHOOSE_H
#define HIMENO_CHOOSE_H

#include "himeno/run.h"

/** \brief Fills kernel, transport, size, global extents and cut of \a run, whose device is open. Collective; ranks agree. */
status_t himeno_choose(struct himeno_run *run);

#endif
