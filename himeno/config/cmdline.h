/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The command line of himeno-gpu. */
#ifndef HIMENO_CONFIG_CMDLINE_H
#define HIMENO_CONFIG_CMDLINE_H

#include <stdint.h>

#include "base/options.h"
#include "comm/halo/grid.h"
#include "gpu/binding.h"
#include "gpu/gpu.h"

#define HIMENO_BLOCK_SWEEPS  120
#define HIMENO_BLOCK_SECONDS 10.0
/** Sweeps before the timed part of the original protocol. */
#define HIMENO_REHEARSAL_SWEEPS 3

struct himeno_config {
  struct grid_size size;
  int size_given, weak;
  double fill; /**< percent of the device's memory */
  int fill_given;
  int data;                                /**< enum himeno_data */
  const struct gpu_backend *backend;       /**< NULL: auto */
  const char *device, *kernel, *transport; /**< NULL means auto */
  int procs[3];                            /**< procs[0] = 0: auto */
  int binding;                             /**< enum binding_policy */
  int64_t expect, pad, array_pad;
  double timeout; /**< maximum seconds to wait for another rank */
  int no_overlap;
  int64_t sweeps, block;
  int sweeps_given, block_given, seconds_given;
  double seconds;
  int verify; /**< enum himeno_verify */
  int official;
  const char *kernel_file;
  int no_tune;
  int ladder;
  const char *accept, *reference; /**< NULL if not given */
  double soak;                    /**< seconds */
  int soak_given;
  int64_t soak_every; /**< passes between two checks */
  const char *soak_log;
  const char *json;
  int list, quiet, verbose;
};

/** Parses into a struct himeno_config. */
extern const struct option_program himeno_options;

/** \brief Warns about the options that are ignored in this mode. */
void himeno_cmdline_ignore(const struct himeno_config *config);

/** \brief Returns the number of sweeps in a timed block. */
int himeno_block_sweeps(const struct himeno_config *config);

#endif
