/* SPDX-License-Identifier: MIT */
/** \file
 * \brief --soak: blocks in both data sets for hours, every bit of field and coefficients checked, a
 * line a block that survives a kill. */
#ifndef HIMENO_SOAK_SOAK_H
#define HIMENO_SOAK_SOAK_H

#include "himeno/measure.h"

/** \brief Collective, in place of himeno_measure: STATUS_WRONG when a bit was wrong. */
status_t himeno_soak(struct himeno_measurement *measurement);

#endif
