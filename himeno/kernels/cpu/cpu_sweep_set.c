/* SPDX-License-Identifier: MIT */
/* Kernels of the CPU. OpenMP threads divide the rows of a box evenly into contiguous ranges, which
 * are the same in every sweep. The thread that filled a row, and so placed its pages, also sweeps
 * it; and partial sums are the same in every run. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/openmp.h"
#include "himeno/kernels/cpu/cpu_sweep.h"
#include "himeno/kernels/kernels.h"

/** Bytes of all arrays that a thread reads between two uses of a row of p. CACHE_BYTES is about the
 * size of a core's cache, so that the row is still there. If kernels prefetch into L2, longer runs
 * of rows are worth more: CACHE_BYTES_FETCHES. */
#define CACHE_BYTES         (1 << 20)
#define CACHE_BYTES_FETCHES (2 << 20)

/** A variant's function for single sweeps; variants without one use the widest instruction set. */
struct variant {
  cpu_sweep_rows rows;
};

static const struct variant reference = {cpu_reference_rows}, toward_zero = {cpu_toward_zero_rows};

static const struct himeno_kernel kernels[] = {
    {.name = "reference",
     .step = "plain loop over the points",
     .sweeps = 1,
     .rung = 1,
     .variant = &reference},
    {.name = "stream",
     .step = "SIMD, rows blocked for the cache, stores that bypass the caches",
     .standard = 1,
     .sweeps = 1,
     .trial = 1,
     .rung = 2},
    {.name = "wavefront",
     .step = "two sweeps per pass over memory: the second reads from the caches",
     .class_ = HIMENO_TEMPORAL,
     .sweeps = 2,
     .trial = 1,
     .rung = 3},
    {.name = "wavefront3",
     .step = "three sweeps per pass over memory",
     .class_ = HIMENO_TEMPORAL,
     .sweeps = 3,
     .trial = 1,
     .rung = 4},
    {.name = "wavefront4",
     .step = "four sweeps per pass over memory",
     .class_ = HIMENO_TEMPORAL,
     .sweeps = 4,
     .trial = 1,
     .rung = 5},
};

const struct himeno_kernel *const himeno_kernel_reference = &kernels[0];

const struct himeno_kernel himeno_kernel_toward_zero = {.name = "toward-zero",
                                                        .step = "plain loop that rounds like a QPU",
                                                        .sweeps = 1,
                                                        .toward_zero = 1,
                                                        .variant = &toward_zero};

/** A thread's partial sum, on cache lines of its own. */
struct partial {
  double gosa;
  char padding[128 - sizeof(double)];
};

struct cpu_exec {
  struct himeno_fields fields;
  const struct cpu_simd *simd;
  cpu_sweep_rows rows;
  struct cpu_wavefront *wavefront; /* NULL for single sweeps */
  int threads, fetches;
  struct partial *partial;
};

static void cpu_sweep_close(struct himeno_exec *handle)
{
  struct cpu_exec *exec = (struct cpu_exec *)handle;
  if (!exec) return;
  cpu_wavefront_close(exec->wavefront);
  free(exec->partial);
  free(exec);
}

static status_t cpu_sweep_open(struct gpu_device *device, const struct himeno_fields *fields,
                               const struct himeno_kernel *kernel, struct himeno_exec **exec)
{
  const struct variant *variant = kernel->variant;
  const struct cpu_simd *simd;
  status_t status = STATUS_OK;
  struct cpu_exec *x;

  (void)device;
  RETURN_IF_FAILED(cpu_simd_choose(&simd));
  if (!(x = calloc(1, sizeof *x)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the CPU kernels");
  x->fields = *fields;
  x->simd = simd;
  x->fetches = cpu_fetches();
  x->rows = variant ? variant->rows : simd->sweep;
  x->threads = omp_get_max_threads();
  if (!(x->partial = calloc((size_t)x->threads, sizeof *x->partial)))
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for partial sums of %d threads", x->threads);
  else if (kernel->sweeps > 1)
    status = cpu_wavefront_open(&fields->layout, simd, kernel->sweeps, x->threads, &x->wavefront);
  if (status == STATUS_OK)
    *exec = (struct himeno_exec *)x;
  else
    cpu_sweep_close((struct himeno_exec *)x);
  return status;
}

/** Returns the end of this thread's range of n units, and sets \a first to its start. */
static int64_t my_part(int64_t n, int64_t *first)
{
  int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
  *first = n / threads * me + (n % threads * me) / threads;
  return n / threads * (me + 1) + (n % threads * (me + 1)) / threads;
}

/** Fills row number `row` of the local array, and its padding with zeros. */
static void cpu_sweep_fill_row(float *out, const struct layout *layout, int64_t row, enum himeno_array array,
                               enum himeno_data data)
{
  const int64_t rows = layout->extent[1], *origin = layout->origin, *global = layout->global;
  const int64_t i = origin[0] + row / rows, j = origin[1] + row % rows;
  const uint64_t g = (uint64_t)((i * global[1] + j) * global[2] + origin[2]);
  float value = array == HIMENO_P ? himeno_standard_p(i, global[0]) : himeno_rules[array].standard;

  for (int64_t k = 0; k < layout->extent[2]; k++)
    out[k] = data == HIMENO_DENSE ? himeno_dense_value(array, g + (uint64_t)k) : value;
  for (int64_t k = layout->extent[2]; k < layout->pitch; k++) out[k] = 0;
}

static void cpu_sweep_fill_field(const struct cpu_exec *exec, float *out, enum himeno_array array,
                                 enum himeno_data data)
{
  const struct layout *layout = &exec->fields.layout;
  const int64_t rows = layout->extent[1];

#pragma omp parallel num_threads(exec->threads)
  {
    int64_t first, last = my_part(layout->extent[0] * rows, &first);
    for (int64_t row = first; row < last; row++)
      cpu_sweep_fill_row(out + row / rows * layout->plane + row % rows * layout->pitch, layout, row, array,
                         data);
  }
}

static status_t cpu_sweep_fill(struct himeno_exec *handle, struct gpu_queue *queue, enum himeno_array array,
                               enum himeno_data data)
{
  struct cpu_exec *exec = (struct cpu_exec *)handle;
  (void)queue;
  if (array == HIMENO_P) {
    cpu_sweep_fill_field(exec, exec->fields.p[0].handle, array, data);
    cpu_sweep_fill_field(exec, exec->fields.p[1].handle, array, data);
  } else {
    cpu_sweep_fill_field(exec, exec->fields.coefficient[array].handle, array, data);
  }
  return STATUS_OK;
}

/** Returns the arguments of the row functions for a sweep from p[source] to p[1 − source]. */
static struct cpu_sweep cpu_sweep_prepare(const struct cpu_exec *exec, int source)
{
  const struct layout *layout = &exec->fields.layout;
  const int64_t bytes = exec->fetches ? CACHE_BYTES_FETCHES : CACHE_BYTES;
  int64_t rows = bytes / (HIMENO_ARRAYS * layout->pitch * (int64_t)sizeof(float));
  struct cpu_sweep sweep = {.p = exec->fields.p[source].handle,
                            .out = exec->fields.p[1 - source].handle,
                            .pitch = layout->pitch,
                            .plane = layout->plane,
                            .block = rows > 8 ? rows : 8,
                            .backward = source,
                            .fetches = exec->fetches};
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) sweep.coefficient[m] = exec->fields.coefficient[m].handle;
  return sweep;
}

/** Returns whether both ends of the box's rows are at the boundary of the grid. */
static int rows_are_whole(const struct layout *layout, const struct box *box)
{
  const int k = 2;
  return box->lo[k] == layout->owned.lo[k] && box->hi[k] == layout->owned.hi[k] &&
         layout->counted.lo[k] == 0 && layout->counted.hi[k] == layout->extent[k];
}

static status_t cpu_sweep(struct himeno_exec *handle, struct gpu_queue *queue,
                          const struct himeno_sweep *sweep)
{
  struct cpu_exec *exec = (struct cpu_exec *)handle;
  struct cpu_sweep s = cpu_sweep_prepare(exec, sweep->source);
  double *gosa = exec->fields.gosa.handle;

  (void)queue;
  s.box = sweep->box;
  s.whole = sweep->ends_equal && rows_are_whole(&exec->fields.layout, &s.box);
  if (!box_points(&s.box)) return STATUS_OK;
  if (exec->wavefront) {
    cpu_wavefront_pass(exec->wavefront, &s, gosa + sweep->slot);
    return STATUS_OK;
  }
  for (int n = 0; n < exec->threads; n++) exec->partial[n].gosa = 0;
#pragma omp parallel num_threads(exec->threads)
  {
    int64_t first, last = my_part(box_extent(&s.box, 0) * box_extent(&s.box, 1), &first);
    exec->partial[omp_get_thread_num()].gosa = exec->rows(&s, first, last);
  }
  for (int n = 0; n < exec->threads; n++) gosa[sweep->slot] += exec->partial[n].gosa;
  return STATUS_OK;
}

static status_t cpu_ceiling(struct himeno_exec *handle, struct gpu_queue *queue)
{
  struct cpu_exec *exec = (struct cpu_exec *)handle;
  const struct cpu_sweep s = cpu_sweep_prepare(exec, 0);
  const int64_t line = 16, floats = layout_floats(&exec->fields.layout);

  (void)queue;
#pragma omp parallel num_threads(exec->threads)
  {
    int64_t first, last = my_part(floats / line, &first);
    int is_end = last == floats / line;
    exec->simd->ceiling(&s, first * line, is_end ? floats : last * line);
  }
  return STATUS_OK;
}

/** Returns the sum of the checksums of one row of \a n arrays. The row starts at element \a begin
 * and spans the box along k; g is the global index of k = 0. */
static uint64_t checksum_row(const struct gpu_mem *arrays, int n, int64_t begin, const struct box *box,
                             uint64_t g)
{
  uint64_t sum = 0;
  for (int64_t k = box->lo[2]; k < box->hi[2]; k++) {
    const uint64_t mixed = hash_mix(g + (uint64_t)k);
    for (int a = 0; a < n; a++) {
      uint32_t bits;
      memcpy(&bits, (const float *)arrays[a].handle + begin + k, sizeof bits);
      sum += hash_mix(mixed + bits);
    }
  }
  return sum;
}

static status_t cpu_checksum(struct himeno_exec *handle, struct gpu_queue *queue,
                             const struct gpu_mem *arrays, int n, const struct box *box, uint64_t *sum)
{
  struct cpu_exec *exec = (struct cpu_exec *)handle;
  const struct layout *layout = &exec->fields.layout;
  const int64_t *origin = layout->origin, *global = layout->global, rows = box_extent(box, 1);
  uint64_t total = 0;

  (void)queue;
#pragma omp parallel num_threads(exec->threads) reduction(+ : total)
  {
    int64_t first, last = my_part(box_extent(box, 0) * rows, &first);
    for (int64_t row = first; row < last; row++) {
      const int64_t i = box->lo[0] + row / rows, j = box->lo[1] + row % rows;
      const int64_t g = ((origin[0] + i) * global[1] + origin[1] + j) * global[2] + origin[2];
      total += checksum_row(arrays, n, i * layout->plane + j * layout->pitch, box, (uint64_t)g);
    }
  }
  *sum = total;
  return STATUS_OK;
}

const struct himeno_kernel_set himeno_kernels_cpu = {
    .backend = "cpu",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .open = cpu_sweep_open,
    .close = cpu_sweep_close,
    .fill = cpu_sweep_fill,
    .sweep = cpu_sweep,
    .ceiling = cpu_ceiling,
    .checksum = cpu_checksum,
};
