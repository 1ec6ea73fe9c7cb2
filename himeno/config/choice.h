/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What was chosen for a run: places of its ranks, device, kernel, transport, grid, cut. */
#ifndef HIMENO_CONFIG_CHOICE_H
#define HIMENO_CONFIG_CHOICE_H

#include "comm/ranks/memory.h"
#include "comm/ranks/placement.h"
#include "himeno/config/cmdline.h"
#include "himeno/solver/solver.h"

/** How something came to be chosen. */
enum choice_origin { CHOICE_DEFAULT, CHOICE_ASKED, CHOICE_TRIAL, CHOICE_REMEMBERED, CHOICE_RULE };

struct himeno_choice {
  const struct himeno_config *config; /**< what was asked for */
  struct placement placement;
  struct gpu_device *device;
  const struct himeno_kernel *kernel;
  struct himeno_kernel own; /**< the user's kernel, when there is one */
  enum choice_origin kernel_origin;
  const struct halo_transport *transport;
  enum choice_origin transport_origin;
  struct grid_size size;
  int64_t global[3];
  int procs[3];
  struct memory_budget memory;             /**< as it was before anything was allocated */
  uint64_t bytes;                          /**< of device memory that the fullest rank takes */
  int sharing_rank, sharing, sharing_most; /**< as in struct solver_config */
};

/** The same in words: of documents, of a kernel, of a transport. */
extern const struct choice_words {
  const char *name, *of_kernel, *of_transport;
} choice_words[];

/** \brief Configuration and choice as the solver takes them. */
struct solver_config himeno_solver_config(const struct himeno_choice *choice);

#endif
