/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Straight line through the points of a path. */
#ifndef TOOLS_NETWORK_FIT_H
#define TOOLS_NETWORK_FIT_H

#include "tools/network/bench.h"

/** \brief Weighted least squares of seconds = latency + bytes / bandwidth, each point weighted by
 * 1/seconds², so that small messages count as much as large ones. Neither parameter is negative:
 * where the best line would have a negative latency, the line through the origin is taken. Without
 * two different sizes `fit.points` is 0. */
void bench_fit(struct bench_curve *curve);

#endif
