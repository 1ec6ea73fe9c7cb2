/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/verify.h"

#include <inttypes.h>
#include <math.h>

#include "base/log.h"
#include "base/report.h"
#include "comm/agree.h"
#include "comm/guard.h"
#include "comm/watch.h"
#include "himeno/known.h"

#define REFERENCE_SECONDS 60.0

const char *verify_source_name(enum verify_source source)
{
  static const char *const names[] = {"no", "known", "reference", "rehearsal", "model"};
  return names[source];
}

/* Whether all ranks of all hosts have the host memory that the reference needs. */
static status_t memory_suffices(MPI_Comm comm, struct gpu_device *cpu, const struct solver_config *config,
                                int *suffices)
{
  uint64_t need, have;
  MPI_Comm host;
  int host_ranks, mine;
  RETURN_IF_FAILED(solver_bytes(config, &need));
  RETURN_IF_FAILED(gpu_memory_free(cpu, &have));
  RETURN_IF_FAILED(guard_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                             "MPI_Comm_split_type"));
  MPI_Comm_size(host, &host_ranks);
  MPI_Comm_free(&host);
  mine = need <= have / (uint64_t)host_ranks / 10 * 9;
  return watch_allreduce(comm, &mine, suffices, 1, MPI_INT, MPI_MIN, "whether memory suffices");
}

/* One sweep tells how long a block would take; the time is the slowest rank's, so all ranks choose alike. */
static status_t reference_run(struct verify_reference *reference, enum himeno_verify mode, int sweeps,
                              struct verify_value *value)
{
  struct solver_block block;
  RETURN_IF_FAILED(solver_block_run(reference->solver, 1, &block));
  int affordable = sweeps;
  if (mode != HIMENO_VERIFY_FULL && block.seconds * sweeps > REFERENCE_SECONDS)
    affordable = (int)fmax(1, REFERENCE_SECONDS / block.seconds);
  if (affordable > 1) RETURN_IF_FAILED(solver_block_run(reference->solver, affordable, &block));
  *value = (struct verify_value){reference->source, affordable, block.gosa, block.checksum};
  return STATUS_OK;
}

status_t verify_reference_open(const struct solver_config *config, int max_sweeps,
                               struct verify_reference *reference)
{
  struct verify_reference r = {.source = config->kernel->toward_zero ? VERIFY_MODEL : VERIFY_REFERENCE};
  struct solver_config c = *config;
  int suffices = 0;
  RETURN_IF_FAILED(agree_status(c.comm, gpu_open(&gpu_backend_cpu, 0, &r.cpu)));
  c.device = r.cpu;
  c.kernel = config->kernel->toward_zero ? &himeno_kernel_toward_zero
                                         : himeno_kernel_find(himeno_kernels_find("cpu"), "reference");
  c.transport = &halo_transport_staged;
  c.max_sweeps = max_sweeps;
  c.overlap = 1;
  c.pad = c.plant = 0;
  status_t status = memory_suffices(c.comm, r.cpu, &c, &suffices);
  if (status == STATUS_OK && suffices) status = solver_open(&c, &r.solver);
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

static status_t reference_value(const struct solver_config *config, enum himeno_verify mode, int sweeps,
                                struct verify_value *value)
{
  struct verify_reference reference;
  status_t status = STATUS_OK;
  RETURN_IF_FAILED(verify_reference_open(config, sweeps, &reference));
  *value = (struct verify_value){.source = VERIFY_NO, .sweeps = sweeps};
  if (reference.solver)
    status = reference_run(&reference, mode, sweeps, value);
  else
    log_warn("not verified: the hosts' memory is too small for the reference on the CPU");
  verify_reference_close(&reference);
  return status;
}

status_t verify_prepare(const struct solver_config *config, enum himeno_verify mode, int sweeps,
                        struct verify_value *value)
{
  *value = (struct verify_value){.source = VERIFY_NO, .sweeps = sweeps};
  if (mode == HIMENO_VERIFY_OFF) return STATUS_OK;
  const struct himeno_known *known = himeno_known_find(config->global, config->data, sweeps);
  if (known && !config->kernel->toward_zero) {
    *value = (struct verify_value){VERIFY_KNOWN, sweeps, known->gosa, known->checksum};
    return STATUS_OK;
  }
  return reference_value(config, mode, sweeps, value);
}

/* Infinities and NaNs agree with nothing. */
static int gosa_agrees(double a, double b, double tolerance)
{
  return isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

status_t verify_block(const struct verify_value *value, const struct solver_block *block, const char *what)
{
  double tolerance = value->source == VERIFY_MODEL ? VERIFY_GOSA_TOLERANCE_SINGLE : VERIFY_GOSA_TOLERANCE;
  if (value->source == VERIFY_NO) return STATUS_OK;
  if (block->checksum != value->checksum)
    return log_fail(STATUS_WRONG,
                    "%s: checksum %016" PRIx64 " after %d sweeps, must be %016" PRIx64 " (%s value)", what,
                    block->checksum, block->sweeps, value->checksum, verify_source_name(value->source));
  if (!gosa_agrees(block->gosa, value->gosa, tolerance))
    return log_fail(STATUS_WRONG, "%s: gosa %.12e after %d sweeps, must be %.12e (%s value)", what,
                    block->gosa, block->sweeps, value->gosa, verify_source_name(value->source));
  return STATUS_OK;
}
