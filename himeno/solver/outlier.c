/* SPDX-License-Identifier: MIT */
/* Computes the same points on every multiprocessor, and finds one whose values differ. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "himeno/solver/flip.h"
#include "himeno/solver/state.h"

#define POINTS         1024
#define TIMES          8 /* approximate repetitions per multiprocessor */
#define TIMES_LEAST    16
#define PROCESSORS_MAX 4096

struct repeats {
  struct box box;
  int times;
  size_t points;
  float *values;
  int *processors;
};

/* Chooses a few rows of the owned points, different ones each time. */
static struct box box_choose(const struct box *owned, int64_t swept)
{
  const uint64_t draw = hash_mix((uint64_t)swept);
  struct box box = *owned;
  const int64_t owned_rows = box_extent(owned, 1), owned_depth = box_extent(owned, 2),
                depth = owned_depth < POINTS ? owned_depth : POINTS, most = POINTS / depth,
                rows = most < owned_rows ? most : owned_rows;
  box.lo[0] += (int64_t)(draw % (uint64_t)box_extent(owned, 0));
  box.hi[0] = box.lo[0] + 1;
  box.lo[1] += (int64_t)((draw >> 32) % (uint64_t)(owned_rows - rows + 1));
  box.hi[1] = box.lo[1] + rows;
  box.hi[2] = box.lo[2] + depth;
  return box;
}

static const float *values_of(const struct repeats *r, int time)
{
  return r->values + (size_t)time * r->points;
}

static int outlier_is_same(const struct repeats *r, int time, int other)
{
  return memcmp(values_of(r, time), values_of(r, other), r->points * sizeof(float)) == 0;
}

/* Returns a repetition whose values most repetitions have; any if there is no majority. */
static int outlier_most_common(const struct repeats *r)
{
  int candidate = 0, votes = 0;
  for (int t = 0; t < r->times; t++) {
    if (votes == 0) candidate = t;
    votes += outlier_is_same(r, t, candidate) ? 1 : -1;
  }
  return candidate;
}

static void outlier_add(const int64_t origin[3], const struct repeats *r, int time, int right,
                        struct solver_outlier *outlier)
{
  const float *is = values_of(r, time), *must_be = values_of(r, right);
  for (size_t n = 0; n < r->points; n++) {
    if (memcmp(&is[n], &must_be[n], sizeof *is) == 0 || outlier->points++ > 0) continue;
    const int64_t depth = box_extent(&r->box, 2), at = (int64_t)n;
    outlier->first[0] = origin[0] + r->box.lo[0];
    outlier->first[1] = origin[1] + r->box.lo[1] + at / depth;
    outlier->first[2] = origin[2] + r->box.lo[2] + at % depth;
    outlier->is = is[n];
    outlier->must_be = must_be[n];
  }
}

/* Chooses the multiprocessor with the most wrong points. */
static status_t outlier_choose(const int64_t origin[3], const struct repeats *r, struct solver_outlier *worst)
{
  const int right = outlier_most_common(r);
  struct solver_outlier *all = calloc(PROCESSORS_MAX, sizeof *all);
  if (!all) return log_fail(STATUS_ENVIRONMENT, "out of host memory for multiprocessors");
  for (int t = 0; t < r->times; t++) {
    const int processor = r->processors[t];
    if (processor < 0 || processor >= PROCESSORS_MAX || outlier_is_same(r, t, right)) continue;
    all[processor].processor = processor;
    outlier_add(origin, r, t, right, &all[processor]);
    if (all[processor].points > worst->points) *worst = all[processor];
  }
  free(all);
  return STATUS_OK;
}

status_t solver_outlier_find(struct solver_grid *grid, struct solver_outlier *outlier)
{
  const int units = grid->compute->device->info.compute_units, times = TIMES * units;
  const struct himeno_stuck stuck = flip_stuck(grid->rank, grid->swept);
  struct repeats r = {.box = box_choose(&grid->fields.layout.owned, grid->swept),
                      .times = times > TIMES_LEAST ? times : TIMES_LEAST};
  *outlier = (struct solver_outlier){.points = 0};
  if (!grid->set->repeat) return STATUS_OK;
  r.points = (size_t)box_points(&r.box);
  r.values = malloc((size_t)r.times * r.points * sizeof *r.values);
  r.processors = malloc((size_t)r.times * sizeof *r.processors);
  status_t status = r.values && r.processors
                        ? grid->set->repeat(grid->exec, grid->compute, &grid->fields, grid->current, &r.box,
                                            r.times, &stuck, r.values, r.processors)
                        : log_fail(STATUS_ENVIRONMENT, "out of host memory for multiprocessors' values");
  if (status == STATUS_OK) status = outlier_choose(grid->fields.layout.origin, &r, outlier);
  free(r.values);
  free(r.processors);
  return status;
}
