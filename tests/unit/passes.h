/* SPDX-License-Identifier: MIT */
/** \file \brief Checks of kernels with several sweeps per pass. The state is a struct
 * kernel_subject. */
#ifndef TESTS_UNIT_PASSES_H
#define TESTS_UNIT_PASSES_H

/** \brief Runs two passes over whole grids, some smaller than any tile, others that suit no tile;
 * checks the field after each pass, and the gosa of every sweep. */
void check_passes(void **state);

/** \brief Checks calls of several single sweeps like check_passes(); skipped without such calls. */
void check_at_once(void **state);

/** \brief A pass cut into boxes must give the same field and gosa as a whole one. */
void check_pass_pieces(void **state);

/** \brief A pass over a box must write the box's points, and no others. */
void check_pass_boxes(void **state);

#endif
