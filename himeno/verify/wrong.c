/* SPDX-License-Identifier: MIT */
#include "himeno/verify/wrong.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/verify/verify.h"
#include "suite/progress.h"

#define SHOWN       3
#define RANKS_SHOWN 12
#define WHAT        "what differs"

/* Numbers of sweeps after which fields are compared: an error of one sweep spreads in the next. */
static const int tried[] = {1, 2, 3, 4, 6, 8, 12, 24};
#define TRIED (int)(sizeof tried / sizeof *tried)

/* A point that differs, and its index in the whole grid. */
struct point {
  int64_t at[3], place;
  float is, must_be;
};

/* A rank's findings. inner: points that sweeps write; fixed: points around them, which no sweep
 * writes; own: as inner, but relative to the rank's part of the grid. */
struct differences {
  struct pattern inner, fixed, own;
  struct point first[SHOWN];
  int64_t n;
};

/* A rank's findings as sent to rank 0. */
struct finding {
  int64_t n;
  char text[PATTERN_TEXT_MAX];
  struct point first[SHOWN];
};

int64_t wrong_distance(float is, float must_be)
{
  int32_t a, b;
  if (isnan(is) || isnan(must_be)) return -1;
  memcpy(&a, &is, sizeof a);
  memcpy(&b, &must_be, sizeof b);
  const int64_t x = a < 0 ? (int64_t)INT32_MIN - a : a, y = b < 0 ? (int64_t)INT32_MIN - b : b;
  return x > y ? x - y : y - x;
}

static void point_note(struct differences *d, const struct point *p, const int64_t global[3])
{
  int inner = 1;
  for (int a = 0; a < 3; a++) inner &= p->at[a] > 0 && p->at[a] < global[a] - 1;
  if (d->n < SHOWN) d->first[d->n] = *p;
  d->n++;
  pattern_add(inner ? &d->inner : &d->fixed, p->at);
  if (inner) pattern_add(&d->own, p->at);
}

/* Compares one plane of both fields, whose layouts may differ. */
static status_t plane_compare(struct solver_grid *mine, struct solver_grid *reference, int64_t i,
                              float *host[2], struct differences *d)
{
  const struct layout *m = solver_layout(mine), *r = solver_layout(reference);
  const int64_t other = i + m->origin[0] - r->origin[0];
  RETURN_IF_FAILED(solver_array_read(mine, SOLVER_NEWEST, i * m->plane, m->plane, host[0]));
  RETURN_IF_FAILED(solver_array_read(reference, SOLVER_NEWEST, other * r->plane, r->plane, host[1]));
  for (int64_t j = m->counted.lo[1]; j < m->counted.hi[1]; j++)
    for (int64_t k = m->counted.lo[2]; k < m->counted.hi[2]; k++) {
      struct point p = {
          {i + m->origin[0], j + m->origin[1], k + m->origin[2]}, 0, host[0][j * m->pitch + k], 0};
      p.must_be = host[1][(p.at[1] - r->origin[1]) * r->pitch + p.at[2] - r->origin[2]];
      p.place = (p.at[0] * m->global[1] + p.at[1]) * m->global[2] + p.at[2];
      if (memcmp(&p.is, &p.must_be, sizeof p.is) != 0) point_note(d, &p, m->global);
    }
  return STATUS_OK;
}

static status_t fields_compare(struct solver_grid *mine, struct solver_grid *reference, struct differences *d)
{
  const struct layout *m = solver_layout(mine);
  float *host[2] = {malloc((size_t)m->plane * sizeof(float)),
                    malloc((size_t)solver_layout(reference)->plane * sizeof(float))};
  status_t status =
      host[0] && host[1] ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for " WHAT);
  for (int64_t i = m->counted.lo[0]; i < m->counted.hi[0] && status == STATUS_OK; i++)
    status = plane_compare(mine, reference, i, host, d);
  free(host[0]);
  free(host[1]);
  return status;
}

static status_t differences_open(const struct solver_grid *grid, struct differences *d)
{
  const struct layout *l = solver_layout(grid);
  const int64_t none[3] = {0, 0, 0}, *g = l->global;
  struct box own = l->owned;
  for (int a = 0; a < 3; a++) own.lo[a] += l->origin[a], own.hi[a] += l->origin[a];
  RETURN_IF_FAILED(pattern_open((int64_t[]){1, 1, 1}, (int64_t[]){g[0] - 1, g[1] - 1, g[2] - 1}, &d->inner));
  RETURN_IF_FAILED(pattern_open(none, g, &d->fixed));
  return pattern_open(own.lo, own.hi, &d->own);
}

static int by_place(const void *a, const void *b)
{
  const struct point *x = a, *y = b;
  return x->place > y->place ? 1 : -1;
}

static void points_print(const struct finding *all, int ranks)
{
  struct point first[2 * SHOWN];
  char text[256], distance[64];
  int n = 0;
  for (int r = 0; r < ranks; r++) {
    for (int f = 0; f < SHOWN && f < all[r].n; f++) first[n++] = all[r].first[f];
    qsort(first, (size_t)n, sizeof *first, by_place);
    if (n > SHOWN) n = SHOWN;
  }
  for (int f = 0; f < n; f++) {
    const struct point *p = &first[f];
    const int64_t units = wrong_distance(p->is, p->must_be);
    if (units < 0)
      snprintf(distance, sizeof distance, "which is no number");
    else
      snprintf(distance, sizeof distance, "%" PRId64 " unit%s in the last place away", units,
               units == 1 ? "" : "s");
    snprintf(text, sizeof text, "  p at %" PRId64 ",%" PRId64 ",%" PRId64 " is %.9g, must be %.9g, %s",
             p->at[0], p->at[1], p->at[2], (double)p->is, (double)p->must_be, distance);
    log_print("", text);
  }
}

/* Prints the ranks with differences, and the pattern if it is the same on each of them. */
static void wrong_ranks_print(const struct finding *all, int ranks, const char *whole)
{
  char text[PATTERN_TEXT_MAX + 256], names[128] = "";
  const char *shared = NULL;
  int wrong = 0, differ = 0, used = 0;
  for (int r = 0; r < ranks; r++) {
    if (all[r].n == 0) continue;
    differ |= shared && strcmp(shared, all[r].text) != 0;
    shared = all[r].text;
    if (wrong++ < RANKS_SHOWN)
      used += snprintf(names + used, sizeof names - (size_t)used, "%s%d", wrong > 1 ? ", " : "", r);
  }
  used = wrong == 1 ? snprintf(text, sizeof text, "  on rank %s of %d alone", names, ranks)
                    : snprintf(text, sizeof text, "  on %d of %d ranks: %s%s", wrong, ranks, names,
                               wrong > RANKS_SHOWN ? ", ..." : "");
  if (!differ && shared && strcmp(shared, whole) != 0)
    snprintf(text + used, sizeof text - (size_t)used, "; of its own part %s", shared);
  log_print("", text);
}

static void differences_print(const char *kernel, int sweeps, const struct differences *d,
                              const struct finding *all, int ranks)
{
  char pattern[PATTERN_TEXT_MAX], text[PATTERN_TEXT_MAX + 256];
  const int64_t *hi = d->inner.hi, *lo = d->inner.lo;
  if (d->inner.counts[0] > 0) {
    snprintf(text, sizeof text, "%s: after %d sweep%s %" PRId64 " of %" PRId64 " points differ: %s", kernel,
             sweeps, sweeps > 1 ? "s" : "", d->inner.counts[0],
             (hi[0] - lo[0]) * (hi[1] - lo[1]) * (hi[2] - lo[2]), pattern_text(&d->inner, pattern));
    log_print("", text);
  }
  if (d->fixed.counts[0] > 0) {
    snprintf(text, sizeof text,
             "%s: after %d sweep%s %" PRId64 " of the boundary's points differ, which no sweep may write: %s",
             kernel, sweeps, sweeps > 1 ? "s" : "", d->fixed.counts[0], pattern_text(&d->fixed, pattern));
    log_print("", text);
  }
  if (ranks > 1) wrong_ranks_print(all, ranks, pattern_text(&d->inner, pattern));
  points_print(all, ranks);
}

static status_t counts_sum(MPI_Comm comm, struct pattern *p)
{
  int64_t *sum = calloc(p->n_counts, sizeof *sum);
  status_t status =
      agree_status(comm, sum ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for " WHAT));
  if (status == STATUS_OK)
    status = watch_allreduce(comm, p->counts, sum, (int)p->n_counts, MPI_INT64_T, MPI_SUM, WHAT);
  if (status == STATUS_OK) memcpy(p->counts, sum, p->n_counts * sizeof *sum);
  free(sum);
  return status;
}

static status_t differences_report(const struct placement *place, const char *kernel, int sweeps,
                                   struct differences *d)
{
  struct finding mine = {.n = d->n}, *all = calloc((size_t)place->ranks, sizeof mine);
  memcpy(mine.first, d->first, sizeof mine.first);
  pattern_text(&d->own, mine.text);
  status_t status = agree_status(
      place->comm, all ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for " WHAT));
  if (status == STATUS_OK) status = counts_sum(place->comm, &d->inner);
  if (status == STATUS_OK) status = counts_sum(place->comm, &d->fixed);
  if (status == STATUS_OK) status = watch_gather(place->comm, &mine, all, sizeof mine, WHAT);
  if (status == STATUS_OK && place->rank == 0) differences_print(kernel, sweeps, d, all, place->ranks);
  free(all);
  return status;
}

static status_t differences_find(const struct placement *place, const char *kernel, struct solver_grid *mine,
                                 struct solver_grid *reference, int sweeps)
{
  struct differences d = {.n = 0};
  status_t status = differences_open(mine, &d);
  if (status == STATUS_OK) status = fields_compare(mine, reference, &d);
  status = agree_status(place->comm, status);
  if (status == STATUS_OK) status = differences_report(place, kernel, sweeps, &d);
  pattern_close(&d.inner);
  pattern_close(&d.fixed);
  pattern_close(&d.own);
  return status;
}

static status_t runs_compare(const struct placement *place, const char *kernel, struct solver *mine,
                             struct solver *reference, int most)
{
  struct solver_block is, must_be;
  char text[256];
  for (int t = 0; t < TRIED && tried[t] <= most; t++) {
    RETURN_IF_FAILED(solver_block_run(mine, tried[t], 0, &is));
    RETURN_IF_FAILED(solver_block_run(reference, tried[t], 0, &must_be));
    if (is.checksum != must_be.checksum)
      return differences_find(place, kernel, solver_grid(mine), solver_grid(reference), tried[t]);
    if (solver_gosa_agrees(is.gosa, must_be.gosa, VERIFY_GOSA_TOLERANCE)) continue;
    snprintf(text, sizeof text,
             "%s: after %d sweep%s every point is right, but gosa is %.12e and must be %.12e", kernel,
             tried[t], tried[t] > 1 ? "s" : "", is.gosa, must_be.gosa);
    if (place->rank == 0) log_print("", text);
    return STATUS_OK;
  }
  if (place->rank == 0)
    log_print("", "  run again, the first sweeps were right: what is wrong comes and goes, or comes later");
  return STATUS_OK;
}

status_t wrong_explain(const struct solver_config *config, const struct placement *place,
                       struct solver *solver)
{
  const int last = tried[TRIED - 1], most = config->max_sweeps < last ? config->max_sweeps : last;
  struct verify_reference reference;
  progress_begin("locating the difference");
  RETURN_IF_FAILED(verify_reference_open(config, most, &reference));
  status_t status = reference.solver
                        ? runs_compare(place, config->kernel->name, solver, reference.solver, most)
                        : STATUS_OK;
  verify_reference_close(&reference);
  return status;
}
