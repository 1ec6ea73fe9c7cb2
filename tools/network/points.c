/* SPDX-License-Identifier: MIT */
/* Points, curves and paths of all parts, within the available time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "suite/progress.h"
#include "tools/network/bench.h"

#define SAMPLES_LEAST 3
/* A curve may take this many times its share: most need less, and leave time to later ones. */
#define AHEAD 2
/* From this size on the time of a point is proportional to its bytes. */
#define LARGE_BYTES (1 << 18)

/* few_sizes: sizes of a curve with few points, enough for the matrix and a fit. first_sizes: sizes
 * that any curve measures first after its smallest one. */
static const int64_t few_sizes[] = {4096, 1 << 20, 16 << 20}, first_sizes[] = {1 << 20, 16 << 20, 4096};
#define FEW 3

status_t bench_curve_begin(struct bench *bench, enum bench_part part, double shares, int *measure)
{
  struct bench_plan *plan = &bench->plan;
  *measure = 0;
  if (plan->counting) {
    plan->shares += shares;
    for (int p = 0; p < BENCH_PARTS; p++) plan->curves[p] += (int)part >> p & 1;
    plan->total++;
    return STATUS_OK;
  }
  const double now = stats_now();
  double left = plan->end - now;
  RETURN_IF_FAILED(watch_bcast(bench->placement.comm, &left, 1, MPI_DOUBLE, 0, "the time left"));
  plan->curve_end = now + left * fmin(1, AHEAD * shares / plan->shares);
  plan->point_end = plan->curve_end;
  plan->shares -= shares;
  *measure = left > 0;
  plan->curves_left_out += !*measure;
  progress_part("measurement %d of %d", ++plan->done, plan->total);
  return STATUS_OK;
}

status_t bench_point_make(struct bench *bench, MPI_Comm comm, int64_t bytes, bench_batch *batch, void *of,
                          struct bench_point *point, double *mean)
{
  double samples[BENCH_SAMPLES_MAX], mine[2], most[2], sum = 0, third = stats_now();
  const int wanted = (int)bench->config.samples, limited = isfinite(bench->plan.end);
  struct stats_summary s;
  int n = 0, over = 0, certain = 0;
  while (n < BENCH_SAMPLES_MAX && !(n >= wanted && certain) && !(n >= SAMPLES_LEAST && over)) {
    RETURN_IF_FAILED(bench_agree(comm, batch(of, &mine[0])));
    mine[1] = stats_now() - bench->plan.point_end;
    RETURN_IF_FAILED(watch_allreduce(comm, mine, most, 2, MPI_DOUBLE, MPI_MAX, "samples"));
    sum += mine[0];
    samples[n++] = most[0];
    if (n == SAMPLES_LEAST) third = stats_now();
    s = stats_summarise(samples, (size_t)n);
    over = most[1] > 0;
    certain = !limited || stats_noise(&s) <= bench->plan.uncertain * sqrt(n);
  }
  bench->plan.spare = n > SAMPLES_LEAST ? stats_now() - third : 0;
  *point = (struct bench_point){
      .bytes = bytes, .seconds = s.median, .best = s.min, .noise = stats_noise(&s), .transfers = n};
  *mean = sum / n;
  return STATUS_OK;
}

static int sizes_list(const struct bench *bench, int64_t least, int64_t most, int all, int64_t *sizes)
{
  int n = 0, few = 0;
  for (int64_t bytes = least; bytes > 0 && n < BENCH_POINTS_MAX;) {
    sizes[n++] = bytes;
    while (few < FEW && few_sizes[few] <= bytes) few++;
    int64_t next = all ? bytes * bench->config.step : few < FEW ? few_sizes[few] : 0;
    if (next > most) next = most;
    bytes = next > bytes ? next : 0;
  }
  return n;
}

/* Returns the index of the largest size up to \a bytes that was not measured, or −1. */
static int nearest_size(const int64_t *sizes, int n, int64_t bytes)
{
  while (--n >= 0)
    if (sizes[n] > 0 && sizes[n] <= bytes) break;
  return n;
}

static void curve_insert(struct bench_curve *curve, const struct bench_point *point)
{
  int at = curve->n++;
  for (; at > 0 && curve->points[at - 1].bytes > point->bytes; at--)
    curve->points[at] = curve->points[at - 1];
  curve->points[at] = *point;
}

/* Sets *fits to 1 if a size fits into a share of the curve's remaining time on all ranks. \a cost
 * is the seconds for a small size. */
static status_t size_fits(const struct bench_plan *plan, MPI_Comm comm, double cost, int64_t bytes,
                          double share, int *fits)
{
  double late = cost + plan->byte_seconds * (double)bytes - share * (plan->curve_end - stats_now()), latest;
  RETURN_IF_FAILED(watch_allreduce(comm, &late, &latest, 1, MPI_DOUBLE, MPI_MAX, "the time left"));
  *fits = latest <= 0;
  return STATUS_OK;
}

/* Measures the smallest size first, then each of the sizes that a fit needs most if that size takes
 * at most half of the remaining time, then the others. */
status_t bench_curve_measure(struct bench *bench, MPI_Comm comm, int64_t least, int64_t most, int all,
                             bench_measure *measure, void *of, struct bench_curve *curve)
{
  struct bench_plan *plan = &bench->plan;
  int64_t sizes[BENCH_POINTS_MAX];
  const int n = sizes_list(bench, least, most, all, sizes);
  double cost = 0;
  curve->n = 0;
  for (int step = -1 - FEW; step < n; step++) {
    struct bench_point point;
    int fits = 1, at = step < -FEW ? 0 : step < 0 ? nearest_size(sizes, n, first_sizes[FEW + step]) : step;
    if (at < 0 || sizes[at] == 0) continue;
    if (curve->n > 0) RETURN_IF_FAILED(size_fits(plan, comm, cost, sizes[at], step < 0 ? 0.5 : 1, &fits));
    if (!fits) continue;
    const double begin = stats_now();
    plan->point_end = begin + (plan->curve_end - begin) / (n - curve->n);
    RETURN_IF_FAILED(measure(of, sizes[at], &point));
    const double took = stats_now() - begin - plan->spare;
    if (curve->n == 0) cost = took;
    if (sizes[at] >= LARGE_BYTES) plan->byte_seconds = fmax(took - cost, 0) / (double)sizes[at];
    curve_insert(curve, &point);
    sizes[at] = 0;
  }
  curve->left_out = n - curve->n;
  bench_fit(curve);
  return STATUS_OK;
}

status_t bench_agree(MPI_Comm comm, status_t status)
{
  int ranks;
  MPI_Comm_size(comm, &ranks);
  return ranks > 1 ? agree_status(comm, status) : status;
}

status_t bench_rest(const struct bench *bench, int measured)
{
  MPI_Comm comm = bench->placement.comm;
  return (measured ? watch_barrier : watch_patiently)(comm, "others that measure");
}

struct bench_path bench_path_of(int rank, int peer, const char *method, const char *why,
                                const char *direction, const char *load)
{
  struct bench_path path = {.rank = rank, .peer = peer};
  snprintf(path.method, sizeof path.method, "%s", method);
  snprintf(path.used, sizeof path.used, "%s", method);
  snprintf(path.why, sizeof path.why, "%s", why);
  snprintf(path.direction, sizeof path.direction, "%s", direction);
  snprintf(path.load, sizeof path.load, "%s", load);
  return path;
}

status_t bench_path_collect(struct bench *bench, int owner, const struct bench_path *path,
                            struct bench_path **list, int *n)
{
  const struct placement *p = &bench->placement;
  struct bench_path one = *path, *longer;
  status_t status = STATUS_OK;
  RETURN_IF_FAILED(watch_bcast(p->comm, &one, (int)sizeof one, MPI_BYTE, owner, "a path"));
  bench->plan.sizes_left_out += one.curve.left_out;
  if (one.curve.n == 0) return STATUS_OK;
  if (p->rank == 0) {
    longer = realloc(*list, (size_t)(*n + 1) * sizeof *longer);
    if (longer) {
      *list = longer;
      longer[(*n)++] = one;
    } else {
      status = log_fail(STATUS_ENVIRONMENT, "out of host memory for paths");
    }
  }
  return agree_status(p->comm, status);
}
