/* SPDX-License-Identifier: MIT */
/* One block of a soak. After every pass the field, and at the end the coefficients, are compared
 * with known values: each rank's own sums, which a reference on the ranks' CPUs computed once, so
 * that the rank with a wrong bit is known at once. Both fields are checked after a pass: a flipped
 * bit that rounding hides in the new field is still in the older one. After a mismatch the
 * reference runs to the same sweep and memory is compared point by point; then the device repeats
 * the block, which shows whether the fault repeats.
 *
 * After each block every multiprocessor computes the same points, if the backend can report its
 * number: this finds a faulty one even if no sweep gave it the points that show the fault. */
#include "himeno/soak/soak.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"

static status_t data_known(struct soak_known *k, enum himeno_data data)
{
  struct solver *solver = k->reference.solver;
  struct solver_grid *grid = solver_grid(solver);
  struct solver_block block;
  RETURN_IF_FAILED(solver_fill(grid, data));
  RETURN_IF_FAILED(solver_array_checksum(grid, SOLVER_NEWEST, &k->field[data][0]));
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++)
    RETURN_IF_FAILED(solver_array_checksum(grid, a, &k->coefficient[data][a]));
  for (int p = 1; p <= k->passes; p++) {
    RETURN_IF_FAILED(solver_block_continue(solver, k->depth, 0, &block));
    RETURN_IF_FAILED(solver_array_checksum(grid, SOLVER_NEWEST, &k->field[data][p]));
  }
  return STATUS_OK;
}

static status_t soak_reference_check(const struct solver_config *config, const struct soak_known *k)
{
  const struct verify_reference *r = &k->reference;
  if (!r->solver)
    return agree_status(config->comm, memory_check(&r->memory, r->bytes, "--soak: the reference on the CPU",
                                                   "; use a smaller --size, --fill or more hosts"));
  for (int d = 0; d < SOAK_DATA_SETS; d++)
    if (!k->field[d])
      return agree_status(config->comm,
                          log_fail(STATUS_ENVIRONMENT, "out of host memory for the reference results"));
  return agree_status(config->comm, STATUS_OK);
}

status_t soak_known_open(const struct solver_config *config, int passes, struct soak_known *known)
{
  struct soak_known k = {.depth = config->kernel->sweeps, .passes = passes};
  RETURN_IF_FAILED(verify_reference_open(config, k.depth, &k.reference));
  for (int d = 0; d < SOAK_DATA_SETS; d++) k.field[d] = calloc((size_t)passes + 1, sizeof *k.field[d]);
  status_t status = soak_reference_check(config, &k);
  for (int d = 0; d < SOAK_DATA_SETS && status == STATUS_OK; d++)
    status = data_known(&k, (enum himeno_data)d);
  if (status == STATUS_OK)
    *known = k;
  else
    soak_known_close(&k);
  return status;
}

void soak_known_close(struct soak_known *known)
{
  for (int d = 0; d < SOAK_DATA_SETS; d++) free(known->field[d]);
  verify_reference_close(&known->reference);
}

static status_t soak_any(MPI_Comm comm, int mine, int *all)
{
  return watch_allreduce(comm, &mine, all, 1, MPI_INT, MPI_MAX, "the soak's checks");
}

static status_t array_check(struct solver_grid *grid, int array, uint64_t must_be, unsigned *wrong)
{
  uint64_t sum;
  RETURN_IF_FAILED(solver_array_checksum(grid, array, &sum));
  if (sum != must_be) *wrong |= 1u << array;
  return STATUS_OK;
}

static status_t fields_check(struct solver_grid *grid, const struct soak_known *k, enum himeno_data data,
                             int pass, unsigned *wrong)
{
  RETURN_IF_FAILED(array_check(grid, SOLVER_NEWEST, k->field[data][pass], wrong));
  return array_check(grid, SOLVER_OLDER, k->field[data][pass - 1], wrong);
}

/* Runs up to \a passes passes and stops after a wrong one. Checks the coefficients at the end. */
static status_t soak_passes_run(struct solver *s, struct soak_known *k, MPI_Comm comm, enum himeno_data data,
                                int passes, int every, struct soak_block *b, unsigned *wrong)
{
  struct solver_grid *grid = solver_grid(s);
  struct solver_block block;
  *wrong = 0;
  b->wrong = 0;
  RETURN_IF_FAILED(solver_fill(grid, data));
  for (int p = 1; p <= passes && !b->wrong; p++) {
    RETURN_IF_FAILED(solver_block_continue(s, k->depth, 0, &block));
    b->seconds += block.seconds;
    b->sweeps += block.sweeps;
    b->gosa = block.gosa;
    b->checksum = block.checksum;
    for (int f = 0; f < HIMENO_PHASES; f++) b->phase_sums[f] += block.phases[f] * block.sweeps;
    b->sweep = p * k->depth;
    if (p % every && p < passes) continue;
    RETURN_IF_FAILED(fields_check(grid, k, data, p, wrong));
    RETURN_IF_FAILED(soak_any(comm, *wrong != 0, &b->wrong));
  }
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++)
    RETURN_IF_FAILED(array_check(grid, a, k->coefficient[data][a], wrong));
  return soak_any(comm, *wrong != 0, &b->wrong);
}

static int64_t row_offset(const struct layout *l, const int64_t global[3])
{
  return (global[0] - l->origin[0]) * l->plane + (global[1] - l->origin[1]) * l->pitch +
         (global[2] - l->origin[2]);
}

static void row_compare(const float *is, const float *must_be, int64_t n, const int64_t begin[3],
                        struct soak_corruption *c)
{
  for (int64_t k = 0; k < n; k++) {
    if (memcmp(&is[k], &must_be[k], sizeof *is) == 0 || c->points++ > 0) continue;
    memcpy(c->first, begin, sizeof c->first);
    c->first[2] += k;
    memcpy(&c->is, &is[k], sizeof c->is);
    memcpy(&c->must_be, &must_be[k], sizeof c->must_be);
  }
}

/* Compares an array with the reference. Layouts may differ, so points are found by global index. */
static status_t points_compare(struct solver_grid *grid, struct solver_grid *reference, int array,
                               float *rows, struct soak_corruption *c)
{
  const struct layout *mine = solver_layout(grid), *other = solver_layout(reference);
  const struct box *b = &mine->counted;
  const int64_t n = box_extent(b, 2);
  for (int64_t i = b->lo[0]; i < b->hi[0]; i++)
    for (int64_t j = b->lo[1]; j < b->hi[1]; j++) {
      const int64_t begin[3] = {mine->origin[0] + i, mine->origin[1] + j, mine->origin[2] + b->lo[2]};
      RETURN_IF_FAILED(solver_array_read(grid, array, row_offset(mine, begin), n, rows));
      RETURN_IF_FAILED(solver_array_read(reference, array, row_offset(other, begin), n, rows + n));
      row_compare(rows, rows + n, n, begin, c);
    }
  return STATUS_OK;
}

static status_t arrays_compare(struct solver_grid *grid, struct solver_grid *reference, unsigned wrong,
                               int rank, struct soak_block *b)
{
  float *rows = malloc(2 * (size_t)box_extent(&solver_layout(grid)->counted, 2) * sizeof *rows);
  status_t status =
      rows ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for rows of the grid");
  for (int a = 0; a < SOLVER_ARRAYS && status == STATUS_OK; a++) {
    if (!(wrong >> a & 1)) continue;
    struct soak_corruption *c = &b->corruption[b->n++];
    *c = (struct soak_corruption){.rank = rank, .array = a};
    status = points_compare(grid, reference, a, rows, c);
  }
  free(rows);
  return status;
}

/* Finds the points that differ: runs the reference to the same sweep and compares the arrays in \a
 * wrong. Checks both fields first, as the last check may have been of other arrays. */
static status_t soak_explain(struct solver_grid *grid, struct soak_known *k, MPI_Comm comm,
                             enum himeno_data data, unsigned wrong, struct soak_block *b)
{
  struct solver *solver = k->reference.solver;
  struct solver_block block;
  int rank, pass = b->sweep / k->depth;
  MPI_Comm_rank(comm, &rank);
  RETURN_IF_FAILED(fields_check(grid, k, data, pass, &wrong));
  RETURN_IF_FAILED(solver_fill(solver_grid(solver), data));
  for (int p = 0; p < pass; p++) RETURN_IF_FAILED(solver_block_continue(solver, k->depth, 0, &block));
  return arrays_compare(grid, solver_grid(solver), wrong, rank, b);
}

static status_t outlier_seek(struct solver_grid *grid, MPI_Comm comm, struct solver_outlier *one, int *found)
{
  RETURN_IF_FAILED(solver_outlier_find(grid, one));
  return soak_any(comm, one->points > 0, found);
}

static status_t outlier_check(struct solver_grid *grid, MPI_Comm comm, struct soak_block *b)
{
  struct solver_outlier one, again;
  int found, repeats;
  RETURN_IF_FAILED(outlier_seek(grid, comm, &one, &found));
  if (!found) return STATUS_OK;
  RETURN_IF_FAILED(outlier_seek(grid, comm, &again, &repeats));
  if (!b->wrong) b->first = repeats ? b->sweep : 0;
  b->wrong = 1;
  if (one.points == 0) return STATUS_OK;
  struct soak_corruption *c = &b->corruption[b->n++];
  *c = (struct soak_corruption){.array = SOLVER_ARRAYS, .processor = one.processor, .points = one.points};
  MPI_Comm_rank(comm, &c->rank);
  memcpy(c->first, one.first, sizeof c->first);
  memcpy(&c->is, &one.is, sizeof c->is);
  memcpy(&c->must_be, &one.must_be, sizeof c->must_be);
  return STATUS_OK;
}

status_t soak_block_run(struct solver *s, struct soak_known *k, MPI_Comm comm, enum himeno_data data,
                        int every, struct soak_block *block)
{
  struct soak_block b = {.seconds = 0}, again = {.seconds = 0};
  unsigned wrong, wrong_again;
  RETURN_IF_FAILED(soak_passes_run(s, k, comm, data, k->passes, every, &b, &wrong));
  if (b.wrong) {
    RETURN_IF_FAILED(soak_explain(solver_grid(s), k, comm, data, wrong, &b));
    RETURN_IF_FAILED(soak_passes_run(s, k, comm, data, b.sweep / k->depth, 1, &again, &wrong_again));
    b.first = again.wrong ? again.sweep : 0;
  }
  RETURN_IF_FAILED(outlier_check(solver_grid(s), comm, &b));
  *block = b;
  return STATUS_OK;
}
