/* SPDX-License-Identifier: MIT */
#include "tools/sim/transports.h"

#include "tools/sim/engine.h"

/** All copies under way get on alike, so one number says how far each is. */
struct sim_memory {
  double served, at; /* bytes of a copy that began with the first, up to that time */
  int copies;
};

static struct sim_memory *memories; /* by host */

static double byte_seconds(const struct sim_memory *m)
{
  return sim.own + sim.host * m->copies;
}

static struct sim_memory *memory_now(int rank)
{
  if (!memories) memories = sim_array((size_t)(sim.ranks / sim.per_host + 1), sizeof *memories);
  struct sim_memory *m = &memories[rank / sim.per_host];
  const double now = sim_now();
  if (m->copies > 0) m->served += (now - m->at) / byte_seconds(m);
  m->at = now;
  return m;
}

double memory_begin(int rank, double bytes)
{
  struct sim_memory *m = memory_now(rank);
  if (m->copies++ == 0) m->served = 0;
  return m->served + bytes;
}

/* Others get on faster from now on. */
static void others_wake(int rank)
{
  const int first = rank / sim.per_host * sim.per_host;
  for (int r = first; r < first + sim.per_host && r < sim.ranks; r++)
    if (r != rank) sim_wake(r, sim_now());
}

double memory_end(int rank, double target)
{
  struct sim_memory *m = memory_now(rank);
  const double left = (target - m->served) * byte_seconds(m);
  if (left > SIM_MOMENT) return sim_now() + left;
  if (--m->copies > 0) others_wake(rank);
  return sim_now();
}
