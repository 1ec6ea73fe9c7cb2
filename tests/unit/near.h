/* SPDX-License-Identifier: MIT */
/** \file \brief Comparison of real numbers with a tolerance. */
#ifndef TESTS_UNIT_NEAR_H
#define TESTS_UNIT_NEAR_H

#include "tests/unit/unit.h"

#include <math.h>

/** \brief Fails unless \a value differs from \a truth by at most \a share of it. */
static inline void assert_near(double value, double truth, double share)
{
  if (!(fabs(value / truth - 1) <= share)) fail_msg("%g is not within %g%% of %g", value, 100 * share, truth);
}

#endif
