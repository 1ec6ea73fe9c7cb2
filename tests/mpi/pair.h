/* SPDX-License-Identifier: MIT */
/* Two ranks with a small grid between them, for programs that test single exchanges. */
#ifndef TESTS_MPI_PAIR_H
#define TESTS_MPI_PAIR_H

#include <stdlib.h>

#include "comm/halo/route.h"
#include "comm/ranks/agree.h"

#define ROWS 8

static void give_up(status_t status)
{
  if (status != STATUS_OK) agree_abort(status);
}

static struct gpu_device *device_open(const char *name, int rank)
{
  char reason[GPU_TEXT_MAX] = "";
  struct gpu_device_info *devices = NULL;
  struct gpu_device *device = NULL;
  int n = 0;
  const struct gpu_backend *backend = gpu_backend_find(name);
  if (!backend) agree_abort(STATUS_USAGE);
  backend->probe(&devices, &n, reason);
  free(devices);
  give_up(n > 0 ? gpu_open(backend, rank % n, &device) : STATUS_ENVIRONMENT);
  return device;
}

/* Gives each rank eight planes of eight rows of a grid that is cut along i. */
static void geometry_init(int rank, int row, struct decomp *decomp, struct layout *layout,
                          struct halo_plan *plan)
{
  const int64_t global[3] = {2 * ROWS - 2, ROWS, row};
  static const int procs[3] = {2, 1, 1};
  decomp_init(decomp, global, procs, rank);
  give_up(layout_init(layout, decomp, 1, 0));
  halo_plan_init(plan, decomp, layout, 1);
}

/* Allocates and clears the fields, and creates the compute queue. */
static void fields_open(struct halo_context *context)
{
  size_t bytes = (size_t)layout_floats(context->layout) * sizeof(float);
  give_up(gpu_queue_create(context->device, GPU_NORMAL, &context->compute));
  for (int f = 0; f < 2; f++) {
    give_up(gpu_alloc_shared(context->device, bytes, &context->fields[f]));
    give_up(gpu_clear(context->compute, context->fields[f], 0, bytes));
  }
  give_up(gpu_sync(context->compute));
}

#endif
