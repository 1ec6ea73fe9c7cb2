/* SPDX-License-Identifier: MIT */
/* The arrays of a solver, one by one: filling, summing, reading and writing. */
#include "base/log.h"
#include "himeno/solver/state.h"

const char *solver_array_name(int array)
{
  if (array == SOLVER_NEWEST) return "p";
  return array == SOLVER_OLDER ? "older p" : himeno_rules[array].name;
}

static struct gpu_mem memory(const struct solver *s, int array)
{
  if (array < HIMENO_COEFFICIENTS) return s->fields.coefficient[array];
  return s->fields.p[array == SOLVER_NEWEST ? s->current : 1 - s->current];
}

status_t solver_fill(struct solver *s, enum himeno_data data)
{
  s->config.data = data;
  s->current = 0;
  for (int a = 0; a < HIMENO_ARRAYS; a++)
    RETURN_IF_FAILED(s->set->fill(s->exec, s->compute, (enum himeno_array)a, data));
  return gpu_sync(s->compute);
}

status_t solver_array_checksum(struct solver *s, int array, uint64_t *sum)
{
  const struct gpu_mem mem = memory(s, array);
  return s->set->checksum(s->exec, s->compute, &mem, 1, &s->layout.counted, sum);
}

status_t solver_coefficients_checksum(struct solver *s, uint64_t *sum)
{
  return s->set->checksum(s->exec, s->compute, s->fields.coefficient, HIMENO_COEFFICIENTS, &s->layout.counted,
                          sum);
}

status_t solver_array_read(struct solver *s, int array, int64_t offset, int64_t n, float *host)
{
  RETURN_IF_FAILED(gpu_copy_out(s->compute, host, memory(s, array), (size_t)offset * sizeof(float),
                                (size_t)n * sizeof(float)));
  return gpu_sync(s->compute);
}

status_t solver_array_write(struct solver *s, int array, int64_t offset, int64_t n, const float *host)
{
  RETURN_IF_FAILED(gpu_copy_in(s->compute, memory(s, array), (size_t)offset * sizeof(float), host,
                               (size_t)n * sizeof(float)));
  return gpu_sync(s->compute);
}

const struct layout *solver_layout(const struct solver *s)
{
  return &s->layout;
}
