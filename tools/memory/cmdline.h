/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The command line of mem-gpu. */
#ifndef TOOLS_MEMORY_CMDLINE_H
#define TOOLS_MEMORY_CMDLINE_H

#include "base/options.h"
#include "gpu/gpu.h"
#include "tools/memory/values.h"

/** What is measured; none asked for means all but the roofline and the pairs. */
struct mem_sections {
  int copies, mixes, latency, host, roofline, pairs;
};

enum { MEM_PACE_BOTH, MEM_PACE_FREE, MEM_PACE_PACED };
enum { MEM_DEAL_ALL, MEM_DEAL_CYCLIC, MEM_DEAL_BLOCK, MEM_DEAL_GROUP };

struct mem_config {
  struct mem_sections sections;
  const struct gpu_backend *backend;                                  /**< NULL: auto */
  const char *device;                                                 /**< NULL: the first */
  struct mem_values streams, sizes, widths, threads, blocks, strides; /**< n = 0: the default */
  int pace, deal;
  uint64_t footprint;  /**< largest of the latency curves, 0: by the device's memory */
  const char *kernels; /**< documents whose kernels go on the roofline, separated by commas */
  double seconds;      /**< of samples in each section */
  const char *json;
  int list;
};

/** Options into struct mem_config. */
extern const struct option_program mem_options;

/** \brief Names the options that nothing reads; \a blocks: the device has thread blocks. */
void mem_cmdline_ignore(const struct mem_config *config, int blocks);

#endif
