/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Division of one product over P×Q ranks, and of K into panels.
 *
 * Rank p·Q + q stores and computes block (p, q) of C. K is divided into panels of equal width. Of
 * each panel, the Q ranks of a process row store one slice of A each, and the P ranks of a process
 * column one slice of B each. */
#ifndef GEMM_CLUSTER_GRID_H
#define GEMM_CLUSTER_GRID_H

#include "gemm/problem.h"

/** A rank's range of rows or columns. */
struct gemm_span {
  int64_t begin, extent;
};

struct gemm_grid {
  int procs[2];          /**< P and Q */
  int at[2];             /**< this rank's position: p and q */
  struct gemm_span m, n; /**< rows and columns of this rank's block of C */
  int64_t width;         /**< number of k per panel; the last panel may have fewer */
  int panels;
};

/** \brief Parses "PxQ" into an int[2], or "auto" as {0, 0}. Logs an error and returns STATUS_USAGE
 * for any other text. */
status_t gemm_procs_parse(const char *option, const char *text, void *procs);

/** \brief Returns part \a at of \a extent elements divided into \a parts. Sizes differ by at most
 * one. With more parts than elements, several parts consist of the same element. */
struct gemm_span gemm_grid_span(int64_t extent, int parts, int at);

/** \brief Returns the number of k per panel: \a width, limited to K. If \a width is 0, panels are
 * about equal, and at most as wide as the default for this type and kind of device. The result is
 * the same on every grid, so each grid adds up the terms of an element in the same order. */
int64_t gemm_grid_width(const struct gemm_problem *problem, int64_t width, int on_cpu);

/** \brief Sets \a procs to \a wanted or, if \a wanted[0] is 0, to the division of \a ranks ranks
 * with the smallest modelled time. If \a weak, \a problem has the extents of one rank's block of C,
 * otherwise of the whole C. Returns STATUS_USAGE if the product of \a wanted is not \a ranks. */
status_t gemm_grid_choose(const struct gemm_problem *problem, int weak, int ranks, const int wanted[2],
                          int64_t width, int procs[2]);

/** \brief Sets the grid as seen by \a rank. */
void gemm_grid_init(struct gemm_grid *grid, const struct gemm_problem *whole, const int procs[2], int rank,
                    int64_t width);

#endif
