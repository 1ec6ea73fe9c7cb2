/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Samples of several measurements in turn, so that a clock that drifts touches all of them
 * alike. */
#ifndef TOOLS_MEMORY_SAMPLER_H
#define TOOLS_MEMORY_SAMPLER_H

#include "base/stats.h"
#include "gpu/gpu.h"

#define SAMPLES_MIN 3
#define SAMPLES_MAX 25
/** The median is known well enough once its standard error is below this share of it. */
#define SAMPLER_QUIET 0.0025

struct sampler {
  struct gpu_queue *queue;
  struct gpu_event *begin, *end;
  double sample_seconds; /**< a sample repeats its work until it takes about this long */
};

/** One measurement. */
struct sampler_item {
  status_t (*run)(void *context); /**< puts the work into the queue once */
  void *context;
  double work;                 /**< bytes or operations of it */
  int repeats;                 /**< in a sample: chosen when 0 */
  double samples[SAMPLES_MAX]; /**< work a second */
  int n;
  struct stats_summary rate;
  int quiet;
};

status_t sampler_open(struct gpu_device *device, struct sampler *sampler);
void sampler_close(struct sampler *sampler);

/** \brief Runs every item once as warm-up, the first until the device has settled, then all in
 * rounds, each from another item on, until all are quiet or \a seconds are over; at least
 * SAMPLES_MIN rounds, at most SAMPLES_MAX. */
status_t sampler_run(struct sampler *sampler, struct sampler_item *items, int n, double seconds);

#endif
