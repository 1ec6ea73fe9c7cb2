/* SPDX-License-Identifier: MIT */
/* The reference for standard data, which depend on i alone. After n sweeps a value depends on its
 * distance to an edge of j or k only if that distance is below n. A grid of 2n + 1 points along j
 * and k therefore has every value of a larger one: its middle index represents all indices at least
 * n away from both edges. Each rank sums up a share of the planes, and also sweeps the n planes on
 * either side that its share depends on, so that ranks exchange nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/verify/verify.h"

struct uniform {
  int64_t global[3], extent[3]; /* global: of the whole grid; extent: of swept planes, in j and k */
  int64_t first, end;           /* [first, end): planes of this rank's share */
  /* [lo, hi): planes that this rank holds: its share, and those on which the share depends */
  int64_t lo, hi;
  float *p[2];
};

/* Returns the number of indices of the whole grid that an index of the swept grid represents. */
static int64_t uniform_times(const struct uniform *u, int d, int64_t x)
{
  return x == u->extent[d] / 2 ? u->global[d] - u->extent[d] + 1 : 1;
}

static status_t uniform_open(const int64_t global[3], int ranks, int rank, int sweeps, struct uniform *u)
{
  memcpy(u->global, global, sizeof u->global);
  for (int d = 1; d < 3; d++) u->extent[d] = global[d] <= 2 * sweeps + 1 ? global[d] : 2 * sweeps + 1;
  u->first = global[0] * rank / ranks;
  u->end = global[0] * (rank + 1) / ranks;
  u->lo = u->first > sweeps ? u->first - sweeps : 0;
  u->hi = u->end + sweeps < global[0] ? u->end + sweeps : global[0];
  const int64_t plane = u->extent[1] * u->extent[2];
  for (int f = 0; f < 2; f++)
    if (!(u->p[f] = malloc((size_t)((u->hi - u->lo) * plane) * sizeof(float))))
      return log_fail(STATUS_ENVIRONMENT, "out of host memory for the reference result");
#pragma omp parallel for
  for (int64_t i = u->lo; i < u->hi; i++)
    for (int64_t x = (i - u->lo) * plane; x < (i - u->lo + 1) * plane; x++)
      u->p[0][x] = u->p[1][x] = himeno_standard_p(i, global[0]);
  return STATUS_OK;
}

/* Returns the residual as in doc/explanation/method.md, with coefficients of 1 and 0. */
static inline float uniform_residual(const float *p, int64_t plane, int64_t pitch)
{
  const float s0 = p[plane] + p[pitch] + p[1] + p[-plane] + p[-pitch] + p[-1];
  return s0 * himeno_rules[HIMENO_A3].standard - p[0];
}

/* Does sweep number \a done of \a sweeps, over the planes on which later sweeps of the share
 * depend. Returns the share's gosa if \a counts. */
static double uniform_sweep(const struct uniform *u, int done, int sweeps, int counts)
{
  const float *p = u->p[(done - 1) % 2];
  float *out = u->p[done % 2];
  const int64_t pitch = u->extent[2], plane = u->extent[1] * pitch, rows = u->extent[1] - 2,
                left = sweeps - done;
  const int64_t begin = u->first - left > 1 ? u->first - left : 1,
                end = u->end + left < u->global[0] - 1 ? u->end + left : u->global[0] - 1;
  double gosa = 0;
#pragma omp parallel for reduction(+ : gosa)
  for (int64_t row = 0; row < (end - begin) * rows; row++) {
    const int64_t i = begin + row / rows, j = 1 + row % rows, x = (i - u->lo) * plane + j * pitch;
    double sum = 0;
#pragma omp simd
    for (int64_t k = 1; k < pitch - 1; k++)
      out[x + k] = p[x + k] + HIMENO_OMEGA * uniform_residual(p + x + k, plane, pitch);
    if (!counts || i < u->first || i >= u->end) continue;
    for (int64_t k = 1; k < pitch - 1; k++) {
      const double ss = uniform_residual(p + x + k, plane, pitch);
      sum += ss * ss * (double)uniform_times(u, 2, k);
    }
    gosa += sum * (double)uniform_times(u, 1, j);
  }
  return gosa;
}

/* Returns the index of the swept grid that represents index \a x of the whole grid. */
static inline int64_t uniform_index(const struct uniform *u, int d, int64_t x)
{
  const int64_t half = u->extent[d] / 2, inner = u->global[d] - u->extent[d];
  return x < half ? x : x <= half + inner ? half : x - inner;
}

static uint64_t uniform_checksum(const struct uniform *u, const float *p)
{
  const int64_t rows = u->global[1], n = u->global[2];
  uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int64_t row = u->first * rows; row < u->end * rows; row++) {
    const int64_t i = row / rows - u->lo, j = uniform_index(u, 1, row % rows);
    const float *line = p + (i * u->extent[1] + j) * u->extent[2];
    for (int64_t k = 0; k < n; k++) {
      uint32_t bits;
      memcpy(&bits, line + uniform_index(u, 2, k), sizeof bits);
      sum += hash_mix(hash_mix((uint64_t)(row * n + k)) + bits);
    }
  }
  return sum;
}

/* Returns the sum of the twelve constant arrays' checksums; each distinct value is hashed once. */
static uint64_t uniform_coefficients(const struct uniform *u)
{
  const int64_t plane = u->global[1] * u->global[2];
  uint32_t bits[HIMENO_COEFFICIENTS];
  uint64_t times[HIMENO_COEFFICIENTS] = {0}, sum = 0;
  int n = 0;
  for (int a = 0, v; a < HIMENO_COEFFICIENTS; a++, times[v]++) {
    memcpy(&bits[n], &himeno_rules[a].standard, sizeof *bits);
    for (v = 0; bits[v] != bits[n]; v++) continue;
    n += v == n;
  }
#pragma omp parallel for reduction(+ : sum)
  for (int64_t g = u->first * plane; g < u->end * plane; g++) {
    const uint64_t mixed = hash_mix((uint64_t)g);
    for (int v = 0; v < n; v++) sum += times[v] * hash_mix(mixed + bits[v]);
  }
  return sum;
}

/* Computes the reference value after \a done sweeps. */
static status_t uniform_check(const struct uniform *u, MPI_Comm comm, int done, double gosa,
                              struct verify_value *v)
{
  struct solver_check *check = &v->checks[v->n_checks++];
  const uint64_t sum = uniform_checksum(u, u->p[done % 2]);
  RETURN_IF_FAILED(watch_allreduce(comm, &sum, &check->checksum, 1, MPI_UINT64_T, MPI_SUM, "the reference"));
  RETURN_IF_FAILED(watch_allreduce(comm, &gosa, &check->gosa, 1, MPI_DOUBLE, MPI_SUM, "the reference"));
  v->sweeps = check->sweeps = done;
  v->gosa = check->gosa;
  v->checksum = check->checksum;
  return STATUS_OK;
}

/* Runs the sweeps. Most of the time is spent on checksums. If the time is too short for all of
 * them, check points are left out, but not the block's end. The slowest rank's times count, so that
 * all ranks decide the same. */
static status_t uniform_run(const struct solver_config *config, const struct uniform *u, double limit,
                            int sweeps, struct verify_value *v)
{
  enum { ELAPSED, SWEPT, CHECK, TIMES };
  const double begin = stats_now();
  const int every = solver_check_sweeps(config->kernel);
  const uint64_t sum = uniform_coefficients(u);
  double mine[TIMES] = {0}, all[TIMES], left;
  RETURN_IF_FAILED(watch_allreduce(config->comm, &sum, &v->coefficients, 1, MPI_UINT64_T, MPI_SUM,
                                   "the coefficients' checksum"));
  for (int done = 1, affordable = 1; done <= sweeps; done++) {
    const int is_check = done % every == 0 || done == sweeps, takes = affordable || done == sweeps;
    const double from = stats_now(), gosa = uniform_sweep(u, done, sweeps, is_check && takes),
                 swept = stats_now();
    mine[SWEPT] += swept - from;
    if (!is_check) continue;
    if (takes) {
      RETURN_IF_FAILED(uniform_check(u, config->comm, done, gosa, v));
      mine[CHECK] = stats_now() - swept;
    }
    mine[ELAPSED] = stats_now() - begin;
    RETURN_IF_FAILED(
        watch_allreduce(config->comm, mine, all, TIMES, MPI_DOUBLE, MPI_MAX, "the reference's time"));
    left = limit - all[ELAPSED] - all[SWEPT] / done * (sweeps - done) - all[CHECK];
    if (takes && left < 0) break;
    affordable = left < 0 || left >= all[CHECK];
  }
  return STATUS_OK;
}

status_t verify_uniform(const struct solver_config *config, double limit, int sweeps,
                        struct verify_value *value)
{
  struct uniform u = {.first = 0};
  struct verify_value v = {.source = VERIFY_REFERENCE};
  int rank, ranks;
  MPI_Comm_rank(config->comm, &rank);
  MPI_Comm_size(config->comm, &ranks);
  status_t status = uniform_open(config->global, ranks, rank, sweeps, &u);
  if (status == STATUS_OK && !(v.checks = calloc((size_t)sweeps, sizeof *v.checks)))
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for the reference results");
  status = agree_status(config->comm, status);
  if (status == STATUS_OK) status = uniform_run(config, &u, limit, sweeps, &v);
  free(u.p[0]);
  free(u.p[1]);
  if (status == STATUS_OK)
    *value = v;
  else
    verify_value_free(&v);
  return status;
}
