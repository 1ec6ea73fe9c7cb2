/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A number that one rank stores and others see a while later. Numbers only grow. */
#ifndef TOOLS_SIM_FLAG_H
#define TOOLS_SIM_FLAG_H

#include <math.h>
#include <stdint.h>

/* As many as fit into a flag of comm/halo/link.h; the oldest are forgotten. */
#define FLAG_STORES 7

struct flag {
  uint64_t stores;
  uint64_t value[FLAG_STORES];
  double seen[FLAG_STORES]; /**< when others see it */
};

static inline uint64_t flag_newest(const struct flag *f)
{
  return f->stores ? f->value[(f->stores - 1) % FLAG_STORES] : 0;
}

static inline void flag_store(struct flag *f, uint64_t value, double seen)
{
  f->value[f->stores % FLAG_STORES] = value;
  f->seen[f->stores++ % FLAG_STORES] = seen;
}

/** \brief What is seen at a time. */
static inline uint64_t flag_load(const struct flag *f, double now)
{
  uint64_t value = 0;
  for (int s = 0; s < FLAG_STORES; s++)
    if (f->seen[s] <= now && f->value[s] > value) value = f->value[s];
  return value;
}

/** \brief When at least \a value is seen; infinity where it was not stored yet. */
static inline double flag_when(const struct flag *f, uint64_t value)
{
  double when = INFINITY;
  for (int s = 0; s < FLAG_STORES; s++)
    if (f->value[s] >= value && f->seen[s] < when) when = f->seen[s];
  return value == 0 ? 0 : when;
}

#endif
