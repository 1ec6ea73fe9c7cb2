/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Least squares by LAPACK (dgelss: singular values, so that columns may depend on each
 * other). */
#ifndef TOOLS_PREDICT_LSQ_H
#define TOOLS_PREDICT_LSQ_H

#include "base/status.h"

/** A problem begins with its columns alone, and grows row by row; all are scaled so that an error
 * of 1 is equally likely in each. */
struct lsq {
  int columns, rows, room;
  double *matrix; /**< row after row */
  double *right;
};

/** What came out. Arrays have `columns` entries, or columns² or `rows`. */
struct lsq_solution {
  int *used;          /**< 0: held at zero, since it would have been negative or is never seen */
  double *value;      /**< all ≥ 0 */
  double *covariance; /**< inverse of the normal matrix: times the rows' variance, the values' */
  double *residual;   /**< right side less model, a row each */
  double *leverage;   /**< a row's share in its own fit, 0 … 1 */
};

void lsq_free(struct lsq *problem);

/** \brief Adds one row, each entry times \a weight. */
status_t lsq_add(struct lsq *problem, const double *row, double right, double weight);

/** \brief Least squares with values ≥ 0, by leaving out the most negative column until none is.
 * STATUS_FAULT when LAPACK fails. The caller frees the solution with lsq_solution_free. */
status_t lsq_solve(const struct lsq *problem, struct lsq_solution *solution);
void lsq_solution_free(struct lsq_solution *solution);

/** \brief xᵀ C x of a row, whose rows of C lie \a stride apart. */
double lsq_variance(const double *covariance, int columns, int stride, const double *x);

/** \brief The p-quantile of Student's t with \a freedom degrees. Source: Hill, Algorithm 396, CACM
 * 13 (1970). */
double lsq_student(double p, double freedom);

#endif
