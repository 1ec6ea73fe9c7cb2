/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Interleaves samples of several measurements, so that clock drift affects all equally. */
#ifndef TOOLS_MEMORY_SAMPLER_H
#define TOOLS_MEMORY_SAMPLER_H

#include "base/stats.h"
#include "gpu/gpu.h"

#define SAMPLES_MIN 3
#define SAMPLES_MAX 25
/** The median is known well enough if its relative standard error is below this. */
#define SAMPLER_QUIET 0.0025

struct sampler {
  struct gpu_queue *queue;
  struct gpu_event *begin, *end;
  double sample_seconds; /**< a sample repeats its work until it takes about this long */
};

struct sampler_item {
  status_t (*run)(void *context); /**< enqueues the work once */
  void *context;
  double work;                 /**< bytes or operations of one run() */
  int repeats;                 /**< runs per sample; 0: sampler_run chooses the number */
  double samples[SAMPLES_MAX]; /**< work per second */
  int n;
  struct stats_summary rate;
  int quiet;
};

status_t sampler_open(struct gpu_device *device, struct sampler *sampler);
void sampler_close(struct sampler *sampler);

/** \brief Warms up every item with one run, then runs the first item until the device has settled.
 * Then samples the items in rounds, each of which starts at another item, and skips items whose
 * median is known well enough (SAMPLER_QUIET). Ends when all are skipped or \a seconds have passed,
 * after SAMPLES_MIN to SAMPLES_MAX rounds. */
status_t sampler_run(struct sampler *sampler, struct sampler_item *items, int n, double seconds);

#endif
