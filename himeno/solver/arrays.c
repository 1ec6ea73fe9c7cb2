/* SPDX-License-Identifier: MIT */
/* Access to single arrays of a grid, and queries of its kernel. */
#include "himeno/solver/state.h"

const char *solver_array_name(int array)
{
  if (array == SOLVER_NEWEST) return "p";
  return array == SOLVER_OLDER ? "older p" : himeno_rules[array].name;
}

static struct gpu_mem memory(const struct solver_grid *grid, int array)
{
  if (array < HIMENO_COEFFICIENTS) return grid->fields.coefficient[array];
  return grid->fields.p[array == SOLVER_NEWEST ? grid->current : 1 - grid->current];
}

status_t solver_fill(struct solver_grid *grid, enum himeno_data data)
{
  grid->data = data;
  grid->current = 0;
  for (int a = 0; a < HIMENO_ARRAYS; a++)
    RETURN_IF_FAILED(grid->set->fill(grid->exec, grid->compute, (enum himeno_array)a, data));
  return gpu_sync(grid->compute);
}

status_t solver_array_checksum(struct solver_grid *grid, int array, uint64_t *sum)
{
  const struct gpu_mem mem = memory(grid, array);
  return grid->set->checksum(grid->exec, grid->compute, &mem, 1, &grid->fields.layout.counted, sum);
}

status_t solver_coefficients_checksum(struct solver_grid *grid, uint64_t *sum)
{
  return grid->set->checksum(grid->exec, grid->compute, grid->fields.coefficient, HIMENO_COEFFICIENTS,
                             &grid->fields.layout.counted, sum);
}

status_t solver_array_read(struct solver_grid *grid, int array, int64_t offset, int64_t n, float *host)
{
  return gpu_read(grid->compute, host, memory(grid, array), (size_t)offset * sizeof(float),
                  (size_t)n * sizeof(float));
}

status_t solver_array_write(struct solver_grid *grid, int array, int64_t offset, int64_t n, const float *host)
{
  RETURN_IF_FAILED(gpu_copy_in(grid->compute, memory(grid, array), (size_t)offset * sizeof(float), host,
                               (size_t)n * sizeof(float)));
  return gpu_sync(grid->compute);
}

const struct layout *solver_layout(const struct solver_grid *grid)
{
  return &grid->fields.layout;
}

status_t solver_resources(struct solver_grid *grid, struct himeno_resources *resources)
{
  *resources = (struct himeno_resources){0};
  return grid->set->resources ? grid->set->resources(grid->exec, resources) : STATUS_OK;
}

struct himeno_counts solver_counts(const struct solver_grid *grid)
{
  struct himeno_counts counts = {0};
  if (grid->set->counts) grid->set->counts(grid->exec, &counts);
  return counts;
}
