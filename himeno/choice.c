/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/choice.h"

#include <string.h>

const struct choice_words choice_words[] = {
    [CHOICE_DEFAULT] = {"default", "the default", "chosen by default"},
    [CHOICE_ASKED] = {"asked", "asked for", "asked for"},
    [CHOICE_TRIAL] = {"trial", "fastest in a short trial", "fastest in a short trial"},
    [CHOICE_REMEMBERED] = {"remembered", "remembered from an earlier trial", NULL},
};

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
