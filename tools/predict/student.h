/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Quantiles for intervals. */
#ifndef TOOLS_PREDICT_STUDENT_H
#define TOOLS_PREDICT_STUDENT_H

/** \brief Returns the 95% quantile of Student's t with \a freedom degrees, or with one if there are
 * fewer. 90% of runs lie between it and the 5% quantile. */
double student_95(double freedom);

/** \brief Sorts \a n values. Returns the value such that a further value is below it with
 * probability \a q, or the largest value if there are too few for that. */
double student_order(double *values, int n, double q);

/** \brief For the largest of n standard normal deviates, student_largest returns the q-quantile and
 * student_largest_expected the expectation (Blom 1958, within 5% for n = 2, within 1% from n = 8
 * on). */
double student_largest(double q, double n);
double student_largest_expected(double n);

#endif
