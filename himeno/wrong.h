/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a user's own kernel does wrong: which points, by how much, in which pattern. */
#ifndef HIMENO_WRONG_H
#define HIMENO_WRONG_H

#include "himeno/choice.h"

/** \brief Collective: runs a few sweeps again beside the reference on the CPUs, and rank 0 says on
 * standard error what differs after the first ones that do. */
status_t wrong_explain(const struct himeno_config *config, const struct himeno_choice *choice,
                       struct solver *solver);

/** \brief Floats from one to the other, of which 0 and −0 are one; −1 where one is no number. */
int64_t wrong_distance(float is, float must_be);

#endif
