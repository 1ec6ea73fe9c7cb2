/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The command line of mem-gpu. */
#ifndef TOOLS_MEMORY_CMDLINE_H
#define TOOLS_MEMORY_CMDLINE_H

#include "base/options.h"
#include "gpu/gpu.h"

/** Maximum length of a list of numbers such as "1,2,4" or "64K,1M,1.5G". */
#define MEM_VALUES_MAX 32

struct mem_values {
  uint64_t at[MEM_VALUES_MAX];
  int n;
};

/** Sections to measure. If the user names none, all but the roofline are measured. */
struct mem_sections {
  int copies, mixes, latency, host, roofline;
};

enum { MEM_PACE_BOTH, MEM_PACE_FREE, MEM_PACE_PACED };
enum { MEM_ASSIGN_ALL, MEM_ASSIGN_CYCLIC, MEM_ASSIGN_BLOCK, MEM_ASSIGN_GROUP };

struct mem_config {
  struct mem_sections sections;
  const struct gpu_backend *backend;                                  /**< NULL: auto */
  const char *device;                                                 /**< NULL: the first device */
  struct mem_values streams, sizes, widths, threads, blocks, strides; /**< n = 0: default values */
  int pace, assign;
  /** bytes of the largest footprint of latency curves; 0: chosen from the free memory */
  uint64_t footprint;
  const char *kernels; /**< comma-separated documents whose kernels are placed on the roofline */
  double seconds;      /**< time for the samples of each section */
  const char *json;
  int list, quiet;
};

extern const struct option_program mem_options;

/** \brief Warns about options that the user gave but no selected section reads. \a blocks is 1 if
 * the device has thread blocks. */
void mem_cmdline_ignore(const struct mem_config *config, int blocks);

#endif
