/* SPDX-License-Identifier: MIT */
/* What one block left behind, and whether later ones leave the same: each rank's own gosa of every
 * sweep, which its kernels sum anyway, finds a fault in a sweep before it heals; sums find what no
 * sweep writes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/solver/state.h"

/* A rank's sum of a sweep differs from block to block by the order in which its parts are added. */
#define GOSA_TOLERANCE 1e-12

struct solver_baseline {
  uint64_t coefficient[HIMENO_COEFFICIENTS]; /* over all that this rank holds, halos too */
  int sweeps;                                /* of the block that was taken; 0: none yet */
  double *gosa;                              /* this rank's own, of each sweep */
  struct solver_check *checks;
  int n_checks;
  uint64_t older[2]; /* this rank's older field, without pauses at check points and with them */
  int has_older[2];
};

void solver_baseline_free(struct solver_baseline *b)
{
  if (!b) return;
  free(b->checks);
  free(b->gosa);
  free(b);
}

static struct box held(const struct layout *l)
{
  return (struct box){{0, 0, 0}, {l->extent[0], l->extent[1], l->extent[2]}};
}

static status_t baseline_coefficients_sum(struct solver *s, int first, int n, uint64_t *sum)
{
  const struct box box = held(&s->layout);
  return s->set->checksum(s->exec, s->compute, &s->fields.coefficient[first], n, &box, sum);
}

status_t solver_baseline_begin(struct solver *s)
{
  solver_baseline_free(s->baseline);
  s->baseline = calloc(1, sizeof *s->baseline);
  if (!s->baseline) return log_fail(STATUS_ENVIRONMENT, "out of host memory for what blocks must repeat");
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++)
    RETURN_IF_FAILED(baseline_coefficients_sum(s, a, 1, &s->baseline->coefficient[a]));
  return STATUS_OK;
}

status_t solver_baseline_take(struct solver *s)
{
  struct solver_baseline *b = s->baseline;
  int sweeps = s->checks[s->n_checks - 1].sweeps;
  size_t gosa_bytes = (size_t)sweeps * sizeof *b->gosa, check_bytes = (size_t)s->n_checks * sizeof *b->checks;
  double *gosa = malloc(gosa_bytes);
  struct solver_check *checks = malloc(check_bytes);
  free(b->gosa);
  free(b->checks);
  b->gosa = gosa;
  b->checks = checks;
  if (!gosa || !checks) return log_fail(STATUS_ENVIRONMENT, "out of host memory for what blocks must repeat");
  memcpy(gosa, s->host_gosa, gosa_bytes);
  memcpy(checks, s->checks, check_bytes);
  b->sweeps = sweeps;
  b->n_checks = s->n_checks;
  return STATUS_OK;
}

const struct solver_check *solver_baseline_checks(const struct solver *s, int *n)
{
  *n = s->baseline ? s->baseline->n_checks : 0;
  return *n ? s->baseline->checks : NULL;
}

/* ---- what differs on this rank ---- */

int solver_gosa_agrees(double a, double b, double tolerance)
{
  return isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static status_t gosa_compare(const struct solver *s, const char *what)
{
  const struct solver_baseline *b = s->baseline;
  double tolerance = s->config.kernel->toward_zero ? SOLVER_GOSA_TOLERANCE_SINGLE : GOSA_TOLERANCE;
  for (int n = 0; n < b->sweeps; n++)
    if (!solver_gosa_agrees(s->host_gosa[n], b->gosa[n], tolerance))
      return log_fail(STATUS_WRONG,
                      "%s: this rank's gosa of sweep %d is %.15e, and was %.15e in the first block", what,
                      n + 1, s->host_gosa[n], b->gosa[n]);
  return STATUS_OK;
}

const struct solver_check *solver_check_seek(const struct solver_check *checks, int n, int sweeps, int *at)
{
  while (*at < n && checks[*at].sweeps < sweeps) ++*at;
  return *at < n && checks[*at].sweeps == sweeps ? &checks[*at] : NULL;
}

/* The sweeps pause at check points in some blocks only; the end is in all. */
static status_t checks_compare(const struct solver *s, const char *what)
{
  const struct solver_baseline *b = s->baseline;
  for (int c = 0, k = 0; c < s->n_checks; c++) {
    const struct solver_check *check = &s->checks[c],
                              *first = solver_check_seek(b->checks, b->n_checks, check->sweeps, &k);
    if (first && first->checksum != check->checksum)
      return log_fail(STATUS_WRONG,
                      "%s: checksum %016" PRIx64 " after %d sweeps, and was %016" PRIx64
                      " in the first block",
                      what, check->checksum, check->sweeps, first->checksum);
  }
  return STATUS_OK;
}

/* Fixed points stand in both fields, and the last sweep wrote the other one. What the older field
 * holds depends on where the last launch began. */
static status_t older_compare(struct solver *s, const char *what)
{
  struct solver_baseline *b = s->baseline;
  int cut = s->n_checks > 1;
  uint64_t sum;
  RETURN_IF_FAILED(solver_array_checksum(s, SOLVER_OLDER, &sum));
  if (!b->has_older[cut]) b->older[cut] = sum;
  b->has_older[cut] = 1;
  if (sum == b->older[cut]) return STATUS_OK;
  return log_fail(STATUS_WRONG,
                  "%s: checksum %016" PRIx64
                  " of this rank's field before the last sweep, and was %016" PRIx64 " in the first block",
                  what, sum, b->older[cut]);
}

static status_t coefficients_compare(struct solver *s, const char *what)
{
  const uint64_t *must_be = s->baseline->coefficient;
  uint64_t sum, all = 0;
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++) all += must_be[a];
  RETURN_IF_FAILED(baseline_coefficients_sum(s, 0, HIMENO_COEFFICIENTS, &sum));
  if (sum == all) return STATUS_OK;
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++) {
    RETURN_IF_FAILED(baseline_coefficients_sum(s, a, 1, &sum));
    if (sum != must_be[a])
      return log_fail(STATUS_WRONG, "%s: array %s has changed on this rank", what, solver_array_name(a));
  }
  return log_fail(STATUS_WRONG, "%s: an array that no sweep writes read differently, and then as before",
                  what);
}

static status_t baseline_differences(struct solver *s, const char *what)
{
  status_t status = coefficients_compare(s, what);
  if (status != STATUS_OK || s->checks[s->n_checks - 1].sweeps != s->baseline->sweeps) return status;
  RETURN_IF_FAILED(gosa_compare(s, what));
  RETURN_IF_FAILED(older_compare(s, what));
  return checks_compare(s, what);
}

status_t solver_baseline_compare(struct solver *s, const char *what)
{
  status_t mine = baseline_differences(s, what);
  int wrong = mine == STATUS_WRONG, any;
  if (mine != STATUS_OK && mine != STATUS_WRONG) return mine;
  RETURN_IF_FAILED(
      watch_allreduce(s->config.comm, &wrong, &any, 1, MPI_INT, MPI_MAX, "whether blocks are alike"));
  return any ? STATUS_WRONG : STATUS_OK;
}
