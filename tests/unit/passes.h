/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Checks of kernels that do several sweeps in a pass. The state is a struct
 * kernel_subject. */
#ifndef TESTS_UNIT_PASSES_H
#define TESTS_UNIT_PASSES_H

/** \brief Two passes over whole grids, smaller than any tile and such that suit none: field and
 * gosa of every sweep. */
void check_passes(void **state);

/** \brief The same where a call does several single sweeps; skipped where none does. */
void check_at_once(void **state);

/** \brief A pass cut into boxes gives the same field and gosa. */
void check_pass_pieces(void **state);

/** \brief A pass over a box writes the box's points and no other. */
void check_pass_boxes(void **state);

#endif
