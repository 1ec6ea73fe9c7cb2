/* SPDX-License-Identifier: MIT */
/** \file
 * \brief How one product is cut over P×Q ranks, and K into panels.
 *
 * Rank p·Q + q makes a block of C, which stays with it. K is cut into panels of one width; of each,
 * the ranks of a process row hold A in Q slices, those of a process column B in P. */
#ifndef GEMM_CLUSTER_GRID_H
#define GEMM_CLUSTER_GRID_H

#include "gemm/problem.h"

/** A rank's block of a dimension. */
struct gemm_span {
  int64_t begin, extent;
};

struct gemm_grid {
  int procs[2];          /**< P and Q */
  int at[2];             /**< this rank's place: p and q */
  struct gemm_span m, n; /**< its block of C */
  int64_t width;         /**< k of a panel; the last may have less */
  int panels;
};

/** \brief Reads auto or PxQ into an int[2], auto as 0. Logs and returns STATUS_USAGE otherwise. */
status_t gemm_procs_parse(const char *option, const char *text, void *procs);

/** \brief The block of place \a at of \a parts: sizes differ by at most one. With more parts than
 * elements, some parts have the same one. */
struct gemm_span gemm_grid_span(int64_t extent, int parts, int at);

/** \brief Panels of \a width at most, 0 for the type's default on such a device: even ones, and
 * the same on every grid, so that sums are added up in the same order. */
int64_t gemm_grid_width(const struct gemm_problem *problem, int64_t width, int on_cpu);

/** \brief P×Q for \a ranks: \a wanted or, if its first is 0, the one with the least modelled time.
 * \a weak: the problem's C is a rank's, otherwise that of all. STATUS_USAGE if \a wanted does not
 * multiply to \a ranks. */
status_t gemm_grid_choose(const struct gemm_problem *problem, int weak, int ranks, const int wanted[2],
                          int64_t width, int procs[2]);

/** \brief The part of \a rank. */
void gemm_grid_init(struct gemm_grid *grid, const struct gemm_problem *whole, const int procs[2], int rank,
                    int64_t width);

#endif
