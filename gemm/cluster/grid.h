/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Division of one product over P×Q ranks, and of K into panels.
 *
 * Rank p·Q + q computes a block of C and keeps it. K is cut into panels of equal width. Of each
 * panel, the ranks of a process row hold A in Q slices, and those of a process column hold B in P
 * slices. */
#ifndef GEMM_CLUSTER_GRID_H
#define GEMM_CLUSTER_GRID_H

#include "gemm/problem.h"

/** A rank's range of a dimension. */
struct gemm_span {
  int64_t begin, extent;
};

struct gemm_grid {
  int procs[2];          /**< P and Q */
  int at[2];             /**< this rank's position: p and q */
  struct gemm_span m, n; /**< this rank's block of C */
  int64_t width;         /**< k per panel; the last may have less */
  int panels;
};

/** \brief Reads auto or PxQ into an int[2], auto as 0, 0. For any other text logs and returns
 * STATUS_USAGE. */
status_t gemm_procs_parse(const char *option, const char *text, void *procs);

/** \brief The range of part \a at of \a parts: sizes differ by at most one. With more parts than
 * elements, some parts have the same range. */
struct gemm_span gemm_grid_span(int64_t extent, int parts, int at);

/** \brief The panel width, at most \a width (0: the default for this type and kind of device).
 * Panels are even, and the same on every grid, so that sums are added up in the same order. */
int64_t gemm_grid_width(const struct gemm_problem *problem, int64_t width, int on_cpu);

/** \brief Chooses P×Q for \a ranks ranks: \a wanted or, if its first element is 0, the grid with
 * the smallest modelled time. \a weak: the problem's C is that of one rank, otherwise that of all.
 * STATUS_USAGE if the product of \a wanted is not \a ranks. */
status_t gemm_grid_choose(const struct gemm_problem *problem, int weak, int ranks, const int wanted[2],
                          int64_t width, int procs[2]);

/** \brief Sets the grid as seen by \a rank. */
void gemm_grid_init(struct gemm_grid *grid, const struct gemm_problem *whole, const int procs[2], int rank,
                    int64_t width);

#endif
