/* SPDX-License-Identifier: MIT */
/* The first block's results, with which later blocks are compared. Each rank's own gosa of every
 * sweep, which its kernels compute anyway, shows a fault in a sweep before later sweeps smooth it
 * out. Checksums show changes of memory that no sweep writes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/watch.h"
#include "himeno/solver/state.h"

/* Relative tolerance: a rank's gosa depends on the order in which its parts are added. */
#define GOSA_TOLERANCE 1e-12

struct solver_baseline {
  /* checksums over all points of this rank, halos included */
  uint64_t coefficient[HIMENO_COEFFICIENTS];
  int sweeps;   /* length of the first block; 0: none taken yet */
  double *gosa; /* this rank's own gosa per sweep */
  struct solver_check *checks;
  int n_checks;
  /* checksum of this rank's older field: [0] without pauses at check points, [1] with pauses */
  uint64_t older[2];
  int has_older[2];
};

void solver_baseline_free(struct solver_baseline *b)
{
  if (!b) return;
  free(b->checks);
  free(b->gosa);
  free(b);
}

static status_t baseline_coefficients_sum(struct solver_grid *grid, int first, int n, uint64_t *sum)
{
  const int64_t *extent = grid->fields.layout.extent;
  const struct box box = {{0, 0, 0}, {extent[0], extent[1], extent[2]}};
  return grid->set->checksum(grid->exec, grid->compute, &grid->fields.coefficient[first], n, &box, sum);
}

status_t solver_baseline_begin(struct solver_grid *grid)
{
  solver_baseline_free(grid->baseline);
  grid->baseline = calloc(1, sizeof *grid->baseline);
  if (!grid->baseline)
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the first block's results");
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++)
    RETURN_IF_FAILED(baseline_coefficients_sum(grid, a, 1, &grid->baseline->coefficient[a]));
  return STATUS_OK;
}

status_t solver_baseline_take(struct solver_grid *grid, const struct solver_block *block,
                              const struct solver_check **taken)
{
  struct solver_baseline *b = grid->baseline;
  size_t gosa_bytes = (size_t)block->sweeps * sizeof *b->gosa,
         check_bytes = (size_t)block->n_checks * sizeof *b->checks;
  double *gosa = malloc(gosa_bytes);
  struct solver_check *checks = malloc(check_bytes);
  free(b->gosa);
  free(b->checks);
  b->gosa = gosa;
  b->checks = checks;
  if (!gosa || !checks)
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the first block's results");
  memcpy(gosa, block->own_gosa, gosa_bytes);
  memcpy(checks, block->checks, check_bytes);
  b->sweeps = block->sweeps;
  b->n_checks = block->n_checks;
  *taken = checks;
  return STATUS_OK;
}

int solver_gosa_agrees(double a, double b, double tolerance)
{
  return isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static status_t gosa_compare(const struct solver_baseline *b, const double *gosa, double tolerance,
                             const char *what)
{
  for (int n = 0; n < b->sweeps; n++)
    if (!solver_gosa_agrees(gosa[n], b->gosa[n], tolerance))
      return log_fail(STATUS_WRONG,
                      "%s: this rank's gosa of sweep %d is %.15e, but was %.15e in the first block", what,
                      n + 1, gosa[n], b->gosa[n]);
  return STATUS_OK;
}

const struct solver_check *solver_check_seek(const struct solver_check *checks, int n, int sweeps, int *at)
{
  while (*at < n && checks[*at].sweeps < sweeps) ++*at;
  return *at < n && checks[*at].sweeps == sweeps ? &checks[*at] : NULL;
}

/* Compares the check points that both blocks have; some blocks have only that at their end. */
static status_t checks_compare(const struct solver_baseline *b, const struct solver_block *block,
                               const char *what)
{
  for (int c = 0, k = 0; c < block->n_checks; c++) {
    const struct solver_check *check = &block->checks[c],
                              *first = solver_check_seek(b->checks, b->n_checks, check->sweeps, &k);
    if (first && first->checksum != check->checksum)
      return log_fail(STATUS_WRONG,
                      "%s: checksum %016" PRIx64 " after %d sweeps, but was %016" PRIx64
                      " in the first block",
                      what, check->checksum, check->sweeps, first->checksum);
  }
  return STATUS_OK;
}

/* Compares the older field, which the last sweep did not write, by its checksum. If \a cut, the
 * block paused at check points; this changes which sweep the older field is from, so that each kind
 * of block has a checksum of its own. */
static status_t older_compare(struct solver_grid *grid, int cut, const char *what)
{
  struct solver_baseline *b = grid->baseline;
  uint64_t sum;
  RETURN_IF_FAILED(solver_array_checksum(grid, SOLVER_OLDER, &sum));
  if (!b->has_older[cut]) b->older[cut] = sum;
  b->has_older[cut] = 1;
  if (sum == b->older[cut]) return STATUS_OK;
  return log_fail(STATUS_WRONG,
                  "%s: checksum %016" PRIx64
                  " of this rank's field before the last sweep, but was %016" PRIx64 " in the first block",
                  what, sum, b->older[cut]);
}

static status_t coefficients_compare(struct solver_grid *grid, const char *what)
{
  const uint64_t *must_be = grid->baseline->coefficient;
  uint64_t sum, all = 0;
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++) all += must_be[a];
  RETURN_IF_FAILED(baseline_coefficients_sum(grid, 0, HIMENO_COEFFICIENTS, &sum));
  if (sum == all) return STATUS_OK;
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++) {
    RETURN_IF_FAILED(baseline_coefficients_sum(grid, a, 1, &sum));
    if (sum != must_be[a])
      return log_fail(STATUS_WRONG, "%s: array %s has changed on this rank", what, solver_array_name(a));
  }
  return log_fail(
      STATUS_WRONG,
      "%s: an array that no sweep writes differed when it was read, and was correct when it was read again",
      what);
}

static status_t baseline_differences(struct solver_grid *grid, const struct solver_block *block,
                                     const char *what)
{
  const double tolerance = grid->kernel->toward_zero ? SOLVER_GOSA_TOLERANCE_SINGLE : GOSA_TOLERANCE;
  status_t status = coefficients_compare(grid, what);
  if (status != STATUS_OK || block->sweeps != grid->baseline->sweeps) return status;
  RETURN_IF_FAILED(gosa_compare(grid->baseline, block->own_gosa, tolerance, what));
  RETURN_IF_FAILED(older_compare(grid, block->n_checks > 1, what));
  return checks_compare(grid->baseline, block, what);
}

status_t solver_baseline_compare(struct solver_grid *grid, MPI_Comm comm, const struct solver_block *block,
                                 const char *what)
{
  status_t mine = baseline_differences(grid, block, what);
  int wrong = mine == STATUS_WRONG, any;
  if (mine != STATUS_OK && mine != STATUS_WRONG) return mine;
  RETURN_IF_FAILED(watch_allreduce(comm, &wrong, &any, 1, MPI_INT, MPI_MAX, "whether blocks are alike"));
  return any ? STATUS_WRONG : STATUS_OK;
}
