/* SPDX-License-Identifier: MIT */
#include "himeno/verify/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "suite/progress.h"
#include "comm/halo/grid.h"

/* Minimum time for the reference, even if the timed part is shorter. */
#define REFERENCE_SECONDS 5.0
/* Points per second of the CPUs of a usual GPU host, for the expected duration. */
#define REFERENCE_RATE 1e9

const char *const verify_source_names[] = {"no", "known", "reference", "model", "rehearsal"};

static const struct himeno_known known_values[] = {
#include "himeno/verify/known_table.h" /* generated from known.csv */
};

const struct himeno_known *himeno_known_find(const int64_t extent[3], enum himeno_data data)
{
  struct grid_size size;
  for (size_t v = 0; v < sizeof known_values / sizeof known_values[0]; v++)
    if (known_values[v].data == data && grid_size_parse("", known_values[v].size, &size) == STATUS_OK &&
        memcmp(size.extent, extent, sizeof size.extent) == 0)
      return &known_values[v];
  return NULL;
}

static status_t verify_coefficients_sum(struct solver_grid *grid, MPI_Comm comm, uint64_t *sum)
{
  uint64_t mine;
  RETURN_IF_FAILED(solver_coefficients_checksum(grid, &mine));
  return watch_allreduce(comm, &mine, sum, 1, MPI_UINT64_T, MPI_SUM, "the coefficients' checksum");
}

/* Runs the longest block that fits into \a limit seconds since \a begin, judged by the time of one
 * sweep. The block has whole passes of the kernel, at least one. The slowest rank's times count, so
 * that all ranks decide the same. */
static status_t reference_run(struct verify_reference *reference, const struct solver_config *config,
                              double begin, double limit, int sweeps, struct verify_value *value)
{
  const int depth = config->kernel->sweeps;
  struct solver_block block;
  RETURN_IF_FAILED(solver_block_run(reference->solver, 1, 1, &block));
  double elapsed = stats_now() - begin, slowest;
  RETURN_IF_FAILED(
      watch_allreduce(config->comm, &elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, "the reference"));
  const double passes = floor((limit - slowest) / (block.seconds * depth));
  const int affordable = passes * depth < sweeps ? (int)fmin(sweeps, depth * fmax(1, passes)) : sweeps;
  progress_begin("computing the reference result, %d sweep%s on the CPUs", affordable,
                 affordable == 1 ? "" : "s");
  if (affordable > 1) RETURN_IF_FAILED(solver_block_run(reference->solver, affordable, 1, &block));
  *value = (struct verify_value){reference->source, affordable, block.gosa, block.checksum,
                                 .n_checks = block.n_checks};
  if (!(value->checks = malloc((size_t)block.n_checks * sizeof *value->checks)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the reference results");
  memcpy(value->checks, block.checks, (size_t)block.n_checks * sizeof *value->checks);
  return verify_coefficients_sum(solver_grid(reference->solver), config->comm, &value->coefficients);
}

void verify_value_free(struct verify_value *value)
{
  free(value->checks);
  value->checks = NULL;
  value->n_checks = 0;
}

/* Returns the reference's configuration, without its device. */
static struct solver_config reference_config(const struct solver_config *config, int max_sweeps)
{
  struct solver_config c = *config;
  c.kernel = config->kernel->toward_zero ? &himeno_kernel_toward_zero : himeno_kernel_reference;
  c.transport = &halo_transport_staged;
  c.check_sweeps = solver_check_sweeps(config->kernel);
  c.max_sweeps = max_sweeps;
  c.overlap = 1;
  c.pad = c.array_pad = 0;
  c.faults = NULL;
  return c;
}

status_t verify_reference_bytes(const struct solver_config *config, uint64_t *bytes)
{
  const struct solver_config c = reference_config(config, config->max_sweeps);
  return solver_bytes(&c, bytes);
}

status_t verify_reference_open(const struct solver_config *config, int max_sweeps,
                               struct verify_reference *reference)
{
  struct verify_reference r = {.source = config->kernel->toward_zero ? VERIFY_MODEL : VERIFY_REFERENCE};
  struct solver_config c = reference_config(config, max_sweeps);
  RETURN_IF_FAILED(agree_status(c.comm, gpu_open(&gpu_backend_cpu, 0, &r.cpu)));
  c.device = r.cpu;
  status_t status = solver_bytes(&c, &r.bytes);
  if (status == STATUS_OK) status = memory_measure(c.comm, r.cpu, 1, &r.memory);
  if (status == STATUS_OK && r.bytes <= r.memory.usable_least) status = solver_open(&c, &r.solver);
  if (status != STATUS_OK)
    verify_reference_close(&r);
  else
    *reference = r;
  return status;
}

void verify_reference_close(struct verify_reference *reference)
{
  solver_close(reference->solver);
  gpu_close(reference->cpu);
}

static status_t reference_value(const struct solver_config *config, double limit, int sweeps,
                                struct verify_value *value)
{
  const double begin = stats_now();
  struct verify_reference reference;
  status_t status = STATUS_OK;
  progress_begin("computing the reference result");
  RETURN_IF_FAILED(verify_reference_open(config, sweeps, &reference));
  *value = (struct verify_value){.source = VERIFY_NO, .sweeps = sweeps};
  if (reference.solver)
    status = reference_run(&reference, config, begin, limit, sweeps, value);
  else
    log_warn("not verified: the hosts' memory is too small for the reference on the CPU");
  verify_reference_close(&reference);
  return status;
}

/* Sets \a value from the table if that has all check points; otherwise \a value is unchanged. */
static status_t known_value(const struct solver_config *config, int sweeps, struct verify_value *value)
{
  int every = solver_check_sweeps(config->kernel), n = (sweeps + every - 1) / every;
  const struct himeno_known *known = himeno_known_find(config->global, config->data);
  if (!known) return STATUS_OK;
  struct verify_value v = {VERIFY_KNOWN, sweeps, .n_checks = n, .coefficients = known->coefficients};
  if (!(v.checks = malloc((size_t)n * sizeof *v.checks)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the reference results");
  for (int c = 0, k = 0; c < n; c++) {
    const struct solver_check *check =
        solver_check_seek(known->checks, KNOWN_CHECKS, c + 1 < n ? (c + 1) * every : sweeps, &k);
    if (!check) {
      free(v.checks);
      return STATUS_OK;
    }
    v.checks[c] = *check;
  }
  v.gosa = v.checks[n - 1].gosa;
  v.checksum = v.checks[n - 1].checksum;
  *value = v;
  return STATUS_OK;
}

status_t verify_prepare(const struct solver_config *config, enum himeno_verify mode, double seconds,
                        int sweeps, struct verify_value *value)
{
  *value = (struct verify_value){.source = VERIFY_NO, .sweeps = sweeps};
  if (mode == HIMENO_VERIFY_OFF) return STATUS_OK;
  if (!config->kernel->toward_zero) RETURN_IF_FAILED(known_value(config, sweeps, value));
  if (value->source == VERIFY_KNOWN) return STATUS_OK;
  const double limit = mode == HIMENO_VERIFY_FULL ? INFINITY : fmax(REFERENCE_SECONDS, seconds);
  if (mode == HIMENO_VERIFY_AUTO && config->data == HIMENO_STANDARD && !config->kernel->toward_zero) {
    progress_begin("computing the reference result");
    return verify_uniform(config, limit, sweeps, value);
  }
  return reference_value(config, limit, sweeps, value);
}

double verify_expected(const int64_t extent[3], enum himeno_data data, enum himeno_verify mode,
                       double seconds, int sweeps)
{
  const double most = data == HIMENO_STANDARD ? 2 * sweeps + 3 : INFINITY;
  const double points = (double)extent[0] * fmin((double)extent[1], most) * fmin((double)extent[2], most);
  if (mode == HIMENO_VERIFY_OFF || himeno_known_find(extent, data)) return 0;
  return fmin(points * sweeps / REFERENCE_RATE,
              mode == HIMENO_VERIFY_FULL ? INFINITY : fmax(REFERENCE_SECONDS, seconds));
}

static status_t check_verify(const struct verify_value *value, int sweeps, const struct solver_check *is,
                             const struct solver_check *must_be, const char *what)
{
  double tolerance = value->source == VERIFY_MODEL ? SOLVER_GOSA_TOLERANCE_SINGLE : VERIFY_GOSA_TOLERANCE;
  const char *source = verify_source_names[value->source];
  if (is->checksum != must_be->checksum)
    return log_fail(STATUS_WRONG,
                    "%s: checksum %016" PRIx64 " after %d sweeps, must be %016" PRIx64 " (%s value)", what,
                    is->checksum, sweeps, must_be->checksum, source);
  if (!solver_gosa_agrees(is->gosa, must_be->gosa, tolerance))
    return log_fail(STATUS_WRONG, "%s: gosa %.12e after %d sweeps, must be %.12e (%s value)", what, is->gosa,
                    sweeps, must_be->gosa, source);
  return STATUS_OK;
}

status_t verify_block(const struct verify_value *value, const struct solver_block *block, const char *what)
{
  const struct solver_check is = {block->sweeps, block->gosa, block->checksum},
                            must_be = {value->sweeps, value->gosa, value->checksum};
  if (value->source == VERIFY_NO) return STATUS_OK;
  for (int c = 0, v = 0; c + 1 < block->n_checks; c++) {
    const struct solver_check *check = &block->checks[c],
                              *known = solver_check_seek(value->checks, value->n_checks, check->sweeps, &v);
    if (known) RETURN_IF_FAILED(check_verify(value, check->sweeps, check, known, what));
  }
  return check_verify(value, block->sweeps, &is, &must_be, what);
}

status_t verify_coefficients(struct solver_grid *grid, MPI_Comm comm, const struct verify_value *value,
                             uint64_t *sum)
{
  RETURN_IF_FAILED(verify_coefficients_sum(grid, comm, sum));
  if (value->source == VERIFY_NO || *sum == value->coefficients) return STATUS_OK;
  return log_fail(STATUS_WRONG,
                  "the constant arrays' checksum is %016" PRIx64 ", must be %016" PRIx64 " (%s value)", *sum,
                  value->coefficients, verify_source_names[value->source]);
}
