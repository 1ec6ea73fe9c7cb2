/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The choices of a run: placement, device, kernel, transport, grid, decomposition. */
#ifndef HIMENO_CONFIG_CHOICE_H
#define HIMENO_CONFIG_CHOICE_H

#include "comm/ranks/memory.h"
#include "comm/ranks/placement.h"
#include "himeno/config/cmdline.h"
#include "himeno/solver/solver.h"

/** The reason for a choice. CHOICE_REMEMBERED is only in documents of version 0.1.0, which kept the
 * kernel of an earlier trial. */
enum choice_origin { CHOICE_DEFAULT, CHOICE_ASKED, CHOICE_TRIAL, CHOICE_REMEMBERED, CHOICE_RULE };

struct himeno_choice {
  const struct himeno_config *config; /**< the configuration that the user gave */
  struct placement placement;
  struct gpu_device *device;
  const struct himeno_kernel *kernel;
  struct himeno_kernel own; /**< the user's kernel, if there is one */
  enum choice_origin kernel_origin;
  const struct halo_transport *transport;
  enum choice_origin transport_origin;
  struct grid_size size;
  int64_t global[3];
  int procs[3];
  struct memory_budget memory;             /**< free memory before any allocation */
  uint64_t bytes;                          /**< device memory in use on the rank that needs most */
  int sharing_rank, sharing, sharing_most; /**< these three as in struct solver_config */
};

/** Words for the origins. name: in documents; of_kernel, of_transport: in reports. */
extern const struct choice_words {
  const char *name, *of_kernel, *of_transport;
} choice_words[];

/** \brief Returns the solver's configuration, made from the run's configuration and choice. */
struct solver_config himeno_solver_config(const struct himeno_choice *choice);

#endif
