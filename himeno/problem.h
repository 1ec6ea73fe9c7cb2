/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The Himeno problem: initial data, and the cost of a sweep. */
#ifndef HIMENO_PROBLEM_H
#define HIMENO_PROBLEM_H

#include <stdint.h>

/** Cost model of every rate. Source: the Himeno benchmark counts 34 operations per point; a point
 * reads 13 floats and writes one. */
#define HIMENO_FLOP_PER_POINT  34
#define HIMENO_BYTES_PER_POINT 56
#define HIMENO_OMEGA           0.8f
/** The original score is a multiple of this machine's rate (Pentium III 600 MHz). */
#define HIMENO_OFFICIAL_MFLOPS 82.84

enum himeno_data { HIMENO_STANDARD, HIMENO_DENSE, HIMENO_DATA_SETS };
extern const char *const himeno_data_names[HIMENO_DATA_SETS];

/** Arrays in the order of the dense data's array numbers m; p itself is 12. */
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

/** \brief Interior points of a grid. */
double himeno_points(const int64_t extent[3]);

/** \brief GFLOPS of \a sweeps over so many points in \a seconds; 0 where that took no time. */
double himeno_gflops(double points, double sweeps, double seconds);

/** \brief Bytes a second that so many GFLOPS take. */
double himeno_bytes_per_second(double gflops);

/** Rule for one array: value = lo + (w·u), 0 where u < zero_below; standard data is the constant
 * `standard`. */
struct himeno_rule {
  const char *name;
  float standard;
  float lo, w, zero_below;
};

/** \brief The rules of all arrays but standard p, in array order: every backend fills from this
 * table. */
extern const struct himeno_rule himeno_rules[HIMENO_ARRAYS];

/** \brief Standard p of plane i: (float)(i·i) / (float)((imax−1)²). */
float himeno_standard_p(int64_t i, int64_t imax);

/** \brief One value on the host; g = (i·jmax + j)·kmax + k of the global grid. */
float himeno_dense_value(enum himeno_array array, uint64_t g);

#endif
