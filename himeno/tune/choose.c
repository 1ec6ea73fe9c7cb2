/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/tune/choose.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "comm/halo/grid.h"
#include "comm/ranks/agree.h"

/* Left free for the runtime's own needs when a grid is chosen or checked. */
#define MEMORY_SHARE 0.97

const char *himeno_choice_name(enum himeno_choice choice)
{
  static const char *const names[] = {"default", "asked", "trial", "remembered"};
  return names[choice];
}

/* The user's own kernel is a rung above the suite's. */
const struct himeno_kernel *himeno_own_kernel(struct himeno_run *run)
{
  const char *slash = strrchr(run->config.kernel_file, '/');
  run->own = *himeno_kernels_find(run->placement.backend->name)->own;
  run->own.name = slash ? slash + 1 : run->config.kernel_file;
  run->own.step = "your own kernel";
  run->own.file = run->config.kernel_file;
  return &run->own;
}

static status_t kernel_choose(struct himeno_run *run)
{
  const char *backend = run->placement.backend->name, *name = run->config.kernel;
  const struct himeno_kernel_set *set = himeno_kernels_find(backend);
  if (!set) return log_fail(STATUS_ENVIRONMENT, "backend %s has no Himeno kernels", backend);
  if (run->config.kernel_file && !set->own)
    return log_fail(STATUS_USAGE, "--kernel-file: backend %s takes no kernels from files; opencl and cuda do",
                    backend);
  run->choice = name || run->config.kernel_file ? CHOICE_ASKED : CHOICE_DEFAULT;
  run->kernel = run->config.kernel_file && !run->config.ladder ? himeno_own_kernel(run)
                : name                                         ? himeno_kernel_find(set, name)
                                                               : himeno_kernel_standard(set);
  if (run->kernel) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--kernel %s: backend %s has no such kernel; --list shows them", name,
                  backend);
}

static status_t transport_choose(struct himeno_run *run)
{
  char reason[GPU_TEXT_MAX] = "";
  run->transport_choice = run->config.transport ? CHOICE_ASKED : CHOICE_DEFAULT;
  run->transport = halo_transport_find(run->config.transport ? run->config.transport : "staged");
  if (run->transport->available(run->placement.backend, reason)) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "--transport %s: %s", run->transport->name, reason);
}

static status_t cut_choose(struct himeno_run *run, const int64_t extent[3])
{
  const struct himeno_config *c = &run->config;
  struct decomp_rules rules = {.depth = run->kernel->sweeps,
                               .whole_planes = run->kernel->whole_planes,
                               .whole_grid = run->kernel->resident};
  int ranks = run->placement.ranks;
  memcpy(run->procs, c->procs, sizeof run->procs);
  if (!c->procs_given) RETURN_IF_FAILED(decomp_choose(ranks, extent, c->weak, &rules, run->procs));
  for (int d = 0; d < 3; d++) {
    int64_t interior;
    if (__builtin_mul_overflow(extent[d] - 2, c->weak ? run->procs[d] : 1, &interior) ||
        interior > INT64_MAX - 2)
      return log_fail(STATUS_USAGE, "--weak: the grid of all ranks overflows");
    run->global[d] = interior + 2;
  }
  return decomp_check(ranks, run->global, run->procs, &rules);
}

/* Bytes that the fullest rank needs for a grid of \a extent; fails like cut_choose. */
static status_t bytes_needed(struct himeno_run *run, const int64_t extent[3], uint64_t *bytes)
{
  RETURN_IF_FAILED(cut_choose(run, extent));
  struct solver_config config = himeno_solver_config(run);
  return solver_bytes(&config, bytes);
}

/* Ranks on one device share its memory, and ranks on CPUs share the host's. */
static status_t memory_least(struct himeno_run *run, uint64_t *least)
{
  uint64_t mine = 0;
  int sharing = run->placement.info.is_cpu ? run->placement.host_ranks : run->placement.shared + 1;
  status_t status = gpu_memory_free(run->device, &mine);
  RETURN_IF_FAILED(agree_status(run->placement.comm, status));
  mine /= (uint64_t)sharing;
  return watch_allreduce(run->placement.comm, &mine, least, 1, MPI_UINT64_T, MPI_MIN,
                         "the least free memory");
}

static status_t memory_check(struct himeno_run *run, uint64_t least)
{
  const struct grid_size *size = &run->config.size;
  uint64_t need;
  RETURN_IF_FAILED(bytes_needed(run, size->extent, &need));
  if ((double)need <= (double)least * MEMORY_SHARE) return STATUS_OK;
  return log_fail(
      STATUS_ENVIRONMENT,
      "size %s needs %s on each device, and there are %s free; a smaller --size, --fill or more ranks help",
      size->name, report_bytes(need), report_bytes(least));
}

/* The default size, or the largest named one below it that every rank can hold and that can be cut. */
static status_t size_default(struct himeno_run *run, uint64_t least)
{
  int n = himeno_is_emulated(run) ? 0 : run->placement.info.is_cpu ? 2 : 3;
  for (; n > 0; n--) {
    uint64_t need;
    run->config.size = *grid_size_named(n);
    log_hold(1);
    status_t status = bytes_needed(run, run->config.size.extent, &need);
    if (status == STATUS_OK && (double)need <= (double)least * MEMORY_SHARE) return STATUS_OK;
    log_drop();
  }
  run->config.size = *grid_size_named(0);
  return memory_check(run, least);
}

/* Grids of 1:1:2 like the named ones, k a multiple of 32; the largest that takes no more than the share asked for. */
static status_t size_fill(struct himeno_run *run, uint64_t least)
{
  double wanted = (double)least * run->config.fill / 100;
  double points = wanted / (14 * sizeof(float)) * (run->config.weak ? 1 : run->placement.ranks);
  for (int64_t k = (int64_t)cbrt(points * 4) / 32 * 32; k >= 32; k -= 32) {
    struct grid_size size = {.extent = {k / 2, k / 2, k}};
    uint64_t need;
    snprintf(size.name, sizeof size.name, "%" PRId64 "x%" PRId64 "x%" PRId64, k / 2, k / 2, k);
    RETURN_IF_FAILED(bytes_needed(run, size.extent, &need));
    run->config.size = size;
    if ((double)need <= wanted) return STATUS_OK;
  }
  return log_fail(STATUS_ENVIRONMENT, "--fill %g: that share of %s holds no grid", run->config.fill,
                  report_bytes(least));
}

static status_t size_choose(struct himeno_run *run)
{
  uint64_t least;
  RETURN_IF_FAILED(memory_least(run, &least));
  if (run->config.fill_given) return size_fill(run, least);
  return run->config.size_given ? memory_check(run, least) : size_default(run, least);
}

status_t himeno_refit(struct himeno_run *run)
{
  uint64_t least;
  RETURN_IF_FAILED(memory_least(run, &least));
  return memory_check(run, least);
}

status_t himeno_choose(struct himeno_run *run)
{
  MPI_Comm comm = run->placement.comm;
  status_t status = kernel_choose(run);
  if (status == STATUS_OK) status = transport_choose(run);
  RETURN_IF_FAILED(agree_status(comm, status));
  return agree_status(comm, size_choose(run));
}
