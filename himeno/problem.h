/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The Himeno problem: initial data, and the operations and bytes of a sweep. */
#ifndef HIMENO_PROBLEM_H
#define HIMENO_PROBLEM_H

#include <stdint.h>

/** Cost model for all rates. Source: the Himeno benchmark counts 34 operations per point; per
 * point, 13 floats are read and one is written. */
#define HIMENO_FLOP_PER_POINT  34
#define HIMENO_BYTES_PER_POINT 56
#define HIMENO_OMEGA           0.8f
/** MFLOPS of the machine to which the original score is relative, a Pentium III at 600 MHz. */
#define HIMENO_OFFICIAL_MFLOPS 82.84

enum himeno_data { HIMENO_STANDARD, HIMENO_DENSE, HIMENO_DATA_SETS };
extern const char *const himeno_data_names[HIMENO_DATA_SETS];

/** Arrays. The number of an array also enters the hash of its dense data; p is number 12. */
enum himeno_array {
  HIMENO_A0,
  HIMENO_A1,
  HIMENO_A2,
  HIMENO_A3,
  HIMENO_B0,
  HIMENO_B1,
  HIMENO_B2,
  HIMENO_C0,
  HIMENO_C1,
  HIMENO_C2,
  HIMENO_BND,
  HIMENO_WRK1,
  HIMENO_P,
  HIMENO_ARRAYS
};
#define HIMENO_COEFFICIENTS HIMENO_P /**< the twelve arrays that a sweep only reads */

/** \brief Returns the number of interior points of a grid. */
double himeno_points(const int64_t extent[3]);

/** \brief Returns the GFLOPS of \a sweeps over \a points in \a seconds; 0 if \a seconds is 0. */
double himeno_gflops(double points, double sweeps, double seconds);

/** \brief Returns the bytes per second of memory traffic at a rate of \a gflops. */
double himeno_bytes_per_second(double gflops);

/** Rule for dense data of one array: value = lo + (w·u), or 0 if u < zero_below; u in [0, 1) is a
 * hash of the point. In standard data all values are `standard`. */
struct himeno_rule {
  const char *name;
  float standard;
  float lo, w, zero_below;
};

/** \brief The rules of all arrays except standard p, in array order, for every backend. */
extern const struct himeno_rule himeno_rules[HIMENO_ARRAYS];

/** \brief Returns standard p of plane i: (float)(i·i) / (float)((imax−1)²). */
float himeno_standard_p(int64_t i, int64_t imax);

/** \brief Returns one value of dense data; g = (i·jmax + j)·kmax + k in the global grid. */
float himeno_dense_value(enum himeno_array array, uint64_t g);

#endif
