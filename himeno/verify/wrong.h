/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a user's own kernel does wrong: which points, by how much, in which pattern. */
#ifndef HIMENO_VERIFY_WRONG_H
#define HIMENO_VERIFY_WRONG_H

#include "comm/ranks/placement.h"
#include "himeno/solver/solver.h"

/** \brief Collective: runs a few sweeps again beside the reference on the CPUs, and rank 0 says on
 * standard error what differs after the first ones that do. */
status_t wrong_explain(const struct solver_config *config, const struct placement *place,
                       struct solver *solver);

/** \brief Floats from one to the other, of which 0 and −0 are one; −1 where one is no number. */
int64_t wrong_distance(float is, float must_be);

#endif
