/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Quantiles for intervals. */
#ifndef TOOLS_PREDICT_STUDENT_H
#define TOOLS_PREDICT_STUDENT_H

/** \brief Returns the p-quantile of Student's t with \a freedom degrees. Source: Hill, Algorithm
 * 396, CACM 13 (1970). */
double student_quantile(double p, double freedom);

/** \brief Sorts \a n values and returns the one that a further value is below with probability
 * \a q; the largest if they are too few. */
double student_order(double *values, int n, double q);

/** \brief student_largest returns the q-quantile of the largest of n normal deviates, the other its
 * expectation (Blom 1958, within 5% for two and 1% from eight on). */
double student_largest(double q, double n);
double student_largest_expected(double n);

#endif
