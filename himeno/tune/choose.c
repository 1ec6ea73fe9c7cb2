/* SPDX-License-Identifier: MIT */
#include "himeno/tune/choose.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "comm/halo/grid.h"
#include "comm/ranks/agree.h"
#include "himeno/solver/flip.h"
#include "himeno/verify/verify.h"
#include "suite/progress.h"

/* Factor by which --fill reduces the size in each attempt. */
#define FILL_STEP 0.99

const struct choice_words choice_words[] = {
    [CHOICE_DEFAULT] = {"default", "the default", "chosen by default"},
    [CHOICE_ASKED] = {"asked", "as requested", "as requested"},
    [CHOICE_TRIAL] = {"trial", "fastest in a short trial", "fastest in a short trial"},
    [CHOICE_REMEMBERED] = {"remembered", NULL, NULL},
    [CHOICE_RULE] = {"rule", NULL, "chosen for these links without trial"},
};

struct solver_config himeno_solver_config(const struct himeno_choice *choice)
{
  const struct himeno_config *config = choice->config;
  struct solver_config c = {
      .comm = choice->placement.comm,
      .device = choice->device,
      .kernel = choice->kernel,
      .transport = choice->transport,
      .data = (enum himeno_data)config->data,
      .max_sweeps = himeno_block_sweeps(config),
      .overlap = !config->no_overlap,
      .pad = (int)config->pad,
      .array_pad = (int)config->array_pad,
      .sharing_rank = choice->sharing_rank,
      .sharing = choice->sharing,
      .sharing_most = choice->sharing_most,
      .faults = flip_any() ? flip_faults : NULL,
  };
  if (c.max_sweeps < HIMENO_REHEARSAL_SWEEPS) c.max_sweeps = HIMENO_REHEARSAL_SWEEPS;
  if (c.max_sweeps < c.kernel->sweeps) c.max_sweeps = c.kernel->sweeps;
  memcpy(c.global, choice->global, sizeof c.global);
  memcpy(c.procs, choice->procs, sizeof c.procs);
  return c;
}

/* Describes the user's own kernel, which is a rung above those of the suite. */
const struct himeno_kernel *himeno_own_kernel(const char *file, struct himeno_choice *choice)
{
  const char *slash = strrchr(file, '/');
  choice->own = *himeno_kernels_find(choice->placement.backend->name)->own;
  choice->own.name = slash ? slash + 1 : file;
  choice->own.step = "your own kernel";
  choice->own.file = file;
  return &choice->own;
}

static status_t himeno_kernel_choose(struct himeno_choice *choice)
{
  const struct himeno_config *config = choice->config;
  const char *backend = choice->placement.backend->name, *name = config->kernel, *file = config->kernel_file;
  const struct himeno_kernel_set *set = himeno_kernels_find(backend);
  if (file && !set->own)
    return log_fail(STATUS_USAGE,
                    "--kernel-file: backend %s cannot run kernels from files; opencl and cuda can", backend);
  choice->kernel_origin = name || file ? CHOICE_ASKED : CHOICE_DEFAULT;
  choice->kernel = file && !config->ladder ? himeno_own_kernel(file, choice)
                   : name                  ? himeno_kernel_find(set, name)
                                           : himeno_kernel_standard(set);
  if (choice->kernel) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--kernel %s: backend %s has no such kernel; --list shows them", name,
                  backend);
}

static status_t himeno_transport_choose(struct himeno_choice *choice)
{
  const struct himeno_config *config = choice->config;
  char reason[GPU_TEXT_MAX] = "";
  choice->transport_origin = config->transport ? CHOICE_ASKED : CHOICE_DEFAULT;
  choice->transport = config->transport ? halo_transport_find(config->transport) : &halo_transport_staged;
  if (choice->transport->available(choice->placement.backend, reason)) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "--transport %s: %s", choice->transport->name, reason);
}

static status_t himeno_cut_choose(struct himeno_choice *choice, const int64_t extent[3])
{
  const struct himeno_config *config = choice->config;
  const struct decomp_rules rules = {.depth = choice->kernel->sweeps,
                                     .whole_planes = choice->kernel->whole_planes,
                                     .whole_rows = choice->kernel->resident};
  return decomp_cut(choice->placement.ranks, extent, config->weak, &rules, config->procs, choice->procs,
                    choice->global);
}

/* Sets the bytes that the fullest rank needs for a grid of \a extent, with a soak's reference if
 * that uses the same memory, as on CPUs. Fails like himeno_cut_choose. */
static status_t bytes_needed(struct himeno_choice *choice, const int64_t extent[3], uint64_t *bytes)
{
  uint64_t reference = 0;
  RETURN_IF_FAILED(himeno_cut_choose(choice, extent));
  const struct solver_config solver = himeno_solver_config(choice);
  RETURN_IF_FAILED(solver_bytes(&solver, &choice->bytes));
  if (choice->config->soak_given && solver.device->info.is_cpu)
    RETURN_IF_FAILED(verify_reference_bytes(&solver, &reference));
  *bytes = choice->bytes + reference;
  return STATUS_OK;
}

status_t himeno_refit(struct himeno_choice *choice)
{
  char what[sizeof choice->size.name + 8];
  uint64_t need;
  RETURN_IF_FAILED(bytes_needed(choice, choice->size.extent, &need));
  snprintf(what, sizeof what, "size %s", choice->size.name);
  return memory_check(&choice->memory, need, what, "; use a smaller --size, --fill or more ranks");
}

/* Chooses the default size. If a rank cannot hold it, or if it cannot be divided over the ranks,
 * chooses the largest smaller named size for which both are possible. */
static status_t size_default(struct himeno_choice *choice)
{
  int n = choice->placement.info.emulated ? 0 : choice->placement.info.is_cpu ? 2 : 3;
  for (; n > 0; n--) {
    uint64_t need;
    choice->size = *grid_size_named(n);
    log_hold(1);
    status_t status = bytes_needed(choice, choice->size.extent, &need);
    if (status == STATUS_OK && need <= choice->memory.usable_least) return STATUS_OK;
    log_drop();
  }
  choice->size = *grid_size_named(0);
  return himeno_refit(choice);
}

/* ---- --fill ---- */

/* Sets \a all to whether all ranks can allocate \a bytes now, in 14 parts as for a solver. */
static status_t allocatable(const struct himeno_choice *choice, uint64_t bytes, int *all)
{
  enum { PARTS = HIMENO_COEFFICIENTS + 2 };
  struct gpu_mem part[PARTS];
  int n = 0;
  log_mute(1);
  while (n < PARTS && gpu_alloc(choice->device, (size_t)(bytes / PARTS + 1), &part[n]) == STATUS_OK) n++;
  log_mute(0);
  const int mine = n == PARTS;
  status_t status =
      watch_allreduce(choice->placement.comm, &mine, all, 1, MPI_INT, MPI_MIN, "what can be allocated");
  while (n > 0) gpu_free(choice->device, &part[--n]);
  return status;
}

/* Adds planes to \a size as long as no rank needs more than \a wanted bytes. */
static status_t planes_add(struct himeno_choice *choice, double wanted, struct grid_size *size)
{
  uint64_t need;
  RETURN_IF_FAILED(bytes_needed(choice, size->extent, &need));
  const int64_t least = size->extent[0], *e = size->extent;
  size->extent[0] = (int64_t)((double)least * wanted / (double)need) + 1;
  do {
    size->extent[0]--;
    RETURN_IF_FAILED(bytes_needed(choice, size->extent, &need));
  } while ((double)need > wanted && size->extent[0] > least);
  snprintf(size->name, sizeof size->name, "%" PRId64 "x%" PRId64 "x%" PRId64, e[0], e[1], e[2]);
  return STATUS_OK;
}

/* Sets the largest grid that needs at most \a wanted bytes. Its proportions are 1:1:2 as in named
 * grids, with k a multiple of 32 and as many further planes as fit. */
static status_t size_within(struct himeno_choice *choice, double wanted, struct grid_size *size)
{
  const struct himeno_config *config = choice->config;
  double points = wanted / (14 * sizeof(float)) * (config->weak ? 1 : choice->placement.ranks);
  for (int64_t k = (int64_t)cbrt(points * 4) / 32 * 32; k >= 32; k -= 32) {
    uint64_t need;
    *size = (struct grid_size){.extent = {k / 2, k / 2, k}};
    RETURN_IF_FAILED(bytes_needed(choice, size->extent, &need));
    if ((double)need <= wanted) return planes_add(choice, wanted, size);
  }
  return log_fail(STATUS_ENVIRONMENT, "--fill %g: no grid fits in that share of the free memory",
                  config->fill);
}

/* Retries with smaller sizes, because not all free memory can be allocated. */
static status_t size_fill(struct himeno_choice *choice)
{
  int all = 0;
  const struct memory_budget *memory = &choice->memory;
  const double share = (double)memory->share_least, usable = (double)memory->usable_least;
  for (double wanted = fmin(share * choice->config->fill / 100, usable); !all; wanted *= FILL_STEP) {
    RETURN_IF_FAILED(size_within(choice, wanted, &choice->size));
    RETURN_IF_FAILED(allocatable(choice, choice->bytes + (uint64_t)(share - usable), &all));
  }
  return STATUS_OK;
}

status_t himeno_choose(struct himeno_choice *choice)
{
  const struct himeno_config *config = choice->config;
  MPI_Comm comm = choice->placement.comm;
  status_t status = himeno_kernel_choose(choice);
  if (status == STATUS_OK) status = himeno_transport_choose(choice);
  RETURN_IF_FAILED(agree_status(comm, status));
  RETURN_IF_FAILED(memory_measure(comm, choice->device, choice->placement.shared + 1, &choice->memory));
  progress_begin("choosing the grid");
  choice->size = config->size;
  return agree_status(comm, config->fill_given   ? size_fill(choice)
                            : config->size_given ? himeno_refit(choice)
                                                 : size_default(choice));
}
