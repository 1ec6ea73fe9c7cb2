/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/choice.h"

#include <string.h>

const char *choice_origin_name(enum choice_origin origin)
{
  static const char *const names[] = {"default", "asked", "trial", "remembered"};
  return names[origin];
}

struct solver_config himeno_solver_config(const struct himeno_config *config,
                                          const struct himeno_choice *choice)
{
  struct solver_config c = {
      .comm = choice->placement.comm,
      .device = choice->device,
      .kernel = choice->kernel,
      .transport = choice->transport,
      .data = (enum himeno_data)config->data,
      .max_sweeps = himeno_block_sweeps(config),
      .overlap = !config->no_overlap,
      .pad = (int)config->pad,
      .plant = 1,
  };
  if (c.max_sweeps < HIMENO_REHEARSAL_SWEEPS) c.max_sweeps = HIMENO_REHEARSAL_SWEEPS;
  memcpy(c.global, choice->global, sizeof c.global);
  memcpy(c.procs, choice->procs, sizeof c.procs);
  return c;
}
