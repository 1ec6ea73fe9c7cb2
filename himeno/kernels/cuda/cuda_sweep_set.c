/* SPDX-License-Identifier: MIT */
/* The CUDA kernel set: the ladder, and the functions that all families of kernels share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/switches.h"
#include "himeno/kernels/cuda/exec.h"
#include "himeno/kernels/cuda/resident.h"
#include "himeno/kernels/cuda/temporal.h"

SWITCH("HIMENO_CUDA_TRAP", TEST, OWN, COUNT, "an assertion fails in that sweep on a CUDA device");

/* A kernel: its family, and its variant within the family. */
#define CLASSIC(form)    .sweeps = 1, .ops = &cuda_classic_ops, .variant = &(form)
#define TEMPORAL(T, all) .class_ = HIMENO_TEMPORAL, .sweeps = (T), .ops = &cuda_temporal_ops, .variant = (all)

/* The ladder. Kernels without a rung are for tuning. */
static const struct himeno_kernel kernels[] = {
    {.name = "naive",
     .step = "one thread per point; no shared memory",
     .rung = 1,
     CLASSIC(cuda_variant_naive)},
    {.name = "block16",
     .step = "load a 16x16x8 tile and its halo into shared memory first (2008)",
     .rung = 2,
     CLASSIC(cuda_variant_block16)},
    {.name = "paced",
     .step = "blocks of 64x4 step through 16 planes; 3 planes in shared memory (2009)",
     .rung = 3,
     CLASSIC(cuda_variant_paced)},
    {.name = "packed",
     .step = "coefficients interleaved: 3 loads of 16 bytes per point, not 12 of 4",
     .rung = 4,
     .extra_arrays = HIMENO_COEFFICIENTS,
     CLASSIC(cuda_variant_packed)},
    {.name = "stream",
     .step = "4 points per thread; coefficients bypass the caches; every other sweep "
             "backward",
     .standard = 1,
     .trial = 1,
     .rung = 5,
     CLASSIC(cuda_variant_stream)},
    {.name = "temporal2",
     .step = "two sweeps per pass over memory; coefficients stay on the chip",
     .rung = 6,
     .trial = 1,
     .extra_arrays = HIMENO_COEFFICIENTS,
     TEMPORAL(2, cuda_temporal_2)},
    {.name = "temporal3",
     .step = "three sweeps per pass over memory",
     .rung = 7,
     .trial = 1,
     .extra_arrays = HIMENO_COEFFICIENTS,
     TEMPORAL(3, cuda_temporal_3)},
    {.name = "temporal4",
     .step = "four sweeps per pass over memory",
     .rung = 8,
     .trial = 1,
     .extra_arrays = HIMENO_COEFFICIENTS,
     TEMPORAL(4, cuda_temporal_4)},
    {.name = "resident",
     .step = "all sweeps in one launch, all data on the chip; only for grids that fit",
     .class_ = HIMENO_TEMPORAL,
     .sweeps = 1,
     .resident = 1,
     .rung = 9,
     .trial = 1,
     .points_max = 1 << 21,
     .extra_arrays = CUDA_RESIDENT_FIELDS,
     .ops = &cuda_resident_ops,
     .variant = &cuda_variant_stream},
    {.name = "paced-64", .step = "paced, with 64 planes per block (2009)", CLASSIC(cuda_variant_paced_64)},
    {.name = "paced-128", .step = "paced-64, with blocks of 128x4", CLASSIC(cuda_variant_paced_128)},
    {.name = "paced-j", .step = "paced-64, stepping along j", CLASSIC(cuda_variant_paced_j)},
    {.name = "paced-cached", .step = "paced, p through the caches", CLASSIC(cuda_variant_paced_cached)},
    {.name = "unpaced", .step = "paced-cached without barriers", CLASSIC(cuda_variant_unpaced)},
    {.name = "stream-32x2", .step = "stream, blocks of 32x2 threads", CLASSIC(cuda_variant_stream_32x2)},
    {.name = "stream-32x8",
     .step = "stream, blocks of 32x8 threads",
     .trial = 1,
     CLASSIC(cuda_variant_stream_32x8)},
    {.name = "stream-32x16",
     .step = "stream, blocks of 32x16 threads",
     .trial = 1,
     CLASSIC(cuda_variant_stream_32x16)},
    {.name = "stream-128x1",
     .step = "stream, blocks of 128x1 threads (one row)",
     CLASSIC(cuda_variant_stream_128x1)},
    {.name = "stream-j", .step = "stream, neighbouring blocks along j", CLASSIC(cuda_variant_stream_j)},
    {.name = "stream-i", .step = "stream, neighbouring blocks along i", CLASSIC(cuda_variant_stream_i)},
    {.name = "stream-keep",
     .step = "stream-32x16, coefficients kept in L2; only for grids that fit",
     .trial = 1,
     CLASSIC(cuda_variant_stream_keep)},
};

static const struct himeno_kernel own = {.sweeps = 1, .ops = &cuda_user_ops};

status_t cuda_exec_check(const struct cuda_exec *exec, cudaError_t error, const char *what)
{
  char text[96];
  if (error == cudaSuccess) return STATUS_OK;
  snprintf(text, sizeof text, "%s (CUDA kernel %s)", what, exec->kernel->name);
  return cuda_fail(error, text);
}

status_t cuda_exec_code(const struct cuda_exec *exec, const void *kernel, int *number)
{
  return cuda_exec_check(exec, cuda_code_of(kernel, number), "loading the kernel");
}

status_t cuda_exec_state(struct cuda_exec *exec, size_t bytes)
{
  exec->state = calloc(1, bytes);
  if (exec->state) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel %s", exec->kernel->name);
}

cudaStream_t cuda_exec_alone(struct gpu_queue *queue)
{
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_queue_handle(queue);
}

int cuda_exec_overlap(const struct cuda_exec *exec, struct gpu_queue *queue)
{
  struct cuda_queue *q = (struct cuda_queue *)queue;
  const int overlap = q->overlap && exec->overlaps;
  q->overlap = exec->overlaps;
  return overlap;
}

cudaError_t cuda_exec_launch(struct cuda_exec *exec, struct gpu_queue *queue, const void *kernel, dim3 grid,
                             dim3 threads, void **arguments)
{
  cudaLaunchAttribute overlap = {.id = cudaLaunchAttributeProgrammaticStreamSerialization,
                                 .val.programmaticStreamSerializationAllowed = 1};
  cudaLaunchConfig_t config = {
      .gridDim = grid, .blockDim = threads, .stream = cuda_queue_handle(queue), .attrs = &overlap};
  config.numAttrs = (unsigned)cuda_exec_overlap(exec, queue);
  return cudaLaunchKernelExC(&config, kernel, arguments);
}

void cuda_box_set(struct cuda_pass *pass, const struct box *box)
{
  for (int d = 0; d < 3; d++) {
    pass->lo[d] = (int)box->lo[d];
    pass->hi[d] = (int)box->hi[d];
  }
}

int cuda_is_owned(const struct cuda_exec *exec, const struct box *box)
{
  return memcmp(box, &exec->fields.layout.owned, sizeof *box) == 0;
}

cudaError_t cuda_block_read(const void *kernel, int threads, int shared_bytes, struct cuda_block *block)
{
  struct cudaFuncAttributes attributes;
  cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error != cudaSuccess) return error;
  block->threads = threads;
  block->registers = attributes.numRegs;
  block->local_bytes = (int)attributes.sharedSizeBytes + shared_bytes;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&block->at_once, kernel, threads,
                                                       (size_t)shared_bytes);
}

static void pass_init(struct cuda_exec *exec, int source)
{
  const struct himeno_fields *f = &exec->fields;
  struct cuda_pass *pass = &exec->pass[source];
  pass->p = f->p[source].handle;
  pass->out = f->p[1 - source].handle;
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) pass->coefficient[m] = f->coefficient[m].handle;
  pass->plane = f->layout.plane;
  pass->pitch = (int)f->layout.pitch;
  pass->backward = source;
}

static void close_exec(struct himeno_exec *handle)
{
  struct cuda_exec *exec = (struct cuda_exec *)handle;
  if (!exec) return;
  gpu_free_host(exec->device, GPU_HOST_PINNED, exec->host_sum);
  gpu_free(exec->device, &exec->sum);
  for (int g = 0; g < CUDA_PACKS; g++) gpu_free(exec->device, &exec->pack[g]);
  if (exec->kernel->ops->close) exec->kernel->ops->close(exec);
  free(exec->state);
  free(exec);
}

static status_t trap(struct cuda_exec *exec, struct gpu_queue *queue)
{
  return cuda_exec_check(exec, cuda_trap(cuda_queue_handle(queue)), "planting a fault");
}

static status_t sweep_or_trap(struct cuda_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass,
                              const struct himeno_sweep *sweep)
{
  return --exec->trap ? exec->kernel->ops->sweep(exec, queue, pass, sweep) : trap(exec, queue);
}

static status_t linked_or_trap(struct cuda_exec *exec, struct gpu_queue *queue,
                               const struct himeno_linked *linked)
{
  return --exec->trap ? exec->kernel->ops->linked(exec, queue, linked) : trap(exec, queue);
}

/* For tests, HIMENO_CUDA_TRAP=N makes an assertion on the device fail in the Nth sweep. */
static void ops_choose(struct cuda_exec *exec)
{
  exec->ops = *exec->kernel->ops;
  exec->trap = (long)switch_number("HIMENO_CUDA_TRAP", 0);
  if (!exec->trap) return;
  exec->ops.sweep = sweep_or_trap;
  if (exec->ops.linked) exec->ops.linked = linked_or_trap;
}

static status_t pack_alloc(struct cuda_exec *exec, int g)
{
  const size_t bytes = (size_t)layout_floats(&exec->fields.layout) * 4 * sizeof(float);
  RETURN_IF_FAILED(gpu_alloc(exec->device, bytes, &exec->pack[g]));
  for (int source = 0; source < 2; source++) exec->pass[source].pack[g] = exec->pack[g].handle;
  return STATUS_OK;
}

static status_t open_exec(struct gpu_device *device, const struct himeno_fields *fields,
                          const struct himeno_kernel *kernel, struct himeno_exec **exec)
{
  status_t status;
  int code = 0;
  struct cuda_exec *x = calloc(1, sizeof *x);
  if (!x) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel %s", kernel->name);
  x->device = device;
  x->fields = *fields;
  x->kernel = kernel;
  x->launch = cuda_exec_launch;
  ops_choose(x);
  for (int source = 0; source < 2; source++) pass_init(x, source);
  TRY(cuda_use(device), fail);
  TRY(cuda_exec_code(x, (const void *)(uintptr_t)cuda_ceiling, &code), fail);
  x->overlaps = code >= 90;
  TRY(kernel->ops->open(x), fail);
  for (int g = 0; g < CUDA_PACKS && x->packing != CUDA_NOT_PACKED; g++) TRY(pack_alloc(x, g), fail);
  TRY(gpu_alloc(device, sizeof *x->host_sum, &x->sum), fail);
  TRY(gpu_alloc_host(device, sizeof *x->host_sum, GPU_HOST_PINNED, (void **)&x->host_sum), fail);
  *exec = (struct himeno_exec *)x;
  return STATUS_OK;
fail:
  close_exec((struct himeno_exec *)x);
  return status;
}

static status_t cuda_sweep_sweep(struct himeno_exec *handle, struct gpu_queue *queue,
                                 const struct himeno_sweep *sweep)
{
  struct cuda_exec *exec = (struct cuda_exec *)handle;
  struct cuda_pass pass = exec->pass[sweep->source];
  if (box_points(&sweep->box) == 0) return STATUS_OK;
  RETURN_IF_FAILED(cuda_use(exec->device));
  pass.gosa = (double *)exec->fields.gosa.handle + sweep->slot;
  cuda_box_set(&pass, &sweep->box);
  return exec->ops.sweep(exec, queue, &pass, sweep);
}

static int cuda_sweep_concurrent(const struct himeno_exec *exec)
{
  (void)exec;
  return 1;
}

static int cuda_sweep_slab_rows(const struct himeno_exec *handle)
{
  const struct cuda_exec *exec = (const struct cuda_exec *)handle;
  return exec->ops.slab_rows ? exec->ops.slab_rows(exec) : 0;
}

static int cuda_sweep_links(const struct himeno_exec *handle)
{
  const struct cuda_exec *exec = (const struct cuda_exec *)handle;
  return exec->kernel->ops->linked && exec->variant->linked;
}

static status_t cuda_sweep_linked(struct himeno_exec *handle, struct gpu_queue *queue,
                                  const struct himeno_linked *linked)
{
  struct cuda_exec *exec = (struct cuda_exec *)handle;
  RETURN_IF_FAILED(cuda_use(exec->device));
  return exec->ops.linked(exec, queue, linked);
}

static status_t ceiling(struct himeno_exec *handle, struct gpu_queue *queue)
{
  struct cuda_exec *exec = (struct cuda_exec *)handle;
  struct cuda_pass pass = exec->pass[0];
  int64_t quads = layout_floats(&exec->fields.layout) / 4;
  dim3 grid = {(unsigned)((quads + CUDA_CEILING_THREADS - 1) / CUDA_CEILING_THREADS), 1, 1};
  dim3 threads = {CUDA_CEILING_THREADS, 1, 1};
  void *arguments[] = {&pass, &quads};
  RETURN_IF_FAILED(cuda_use(exec->device));
  return cuda_exec_check(
      exec, cuda_exec_launch(exec, queue, (const void *)(uintptr_t)cuda_ceiling, grid, threads, arguments),
      "launching the ceiling kernel");
}

/* Returns the address of an array's first value in the interleaved copy; NULL if there is none. */
static float *packed_place(const struct cuda_exec *exec, enum himeno_array array)
{
  static const struct {
    int pack, component;
  } place[HIMENO_COEFFICIENTS] = {
      [HIMENO_A0] = {0, 0}, [HIMENO_A1] = {0, 1}, [HIMENO_A2] = {0, 2}, [HIMENO_A3] = {0, 3},
      [HIMENO_B0] = {1, 0}, [HIMENO_B1] = {1, 1}, [HIMENO_B2] = {1, 2}, [HIMENO_WRK1] = {1, 3},
      [HIMENO_C0] = {2, 0}, [HIMENO_C1] = {2, 1}, [HIMENO_C2] = {2, 2}, [HIMENO_BND] = {2, 3}};
  if (exec->packing == CUDA_NOT_PACKED || array == HIMENO_P) return NULL;
  return (float *)exec->pack[place[array].pack].handle + place[array].component;
}

static status_t cuda_sweep_fill(struct himeno_exec *handle, struct gpu_queue *queue, enum himeno_array array,
                                enum himeno_data data)
{
  struct cuda_exec *exec = (struct cuda_exec *)handle;
  const struct layout *layout = &exec->fields.layout;
  struct cuda_fill_job job = {.packed = packed_place(exec, array),
                              .swapped = exec->packing == CUDA_PACKED_SWAPPED,
                              .pitch = layout->pitch,
                              .plane = layout->plane,
                              .rule = himeno_rules[array],
                              .array = array,
                              .data = data};
  memcpy(job.origin, layout->origin, sizeof job.origin);
  memcpy(job.extent, layout->extent, sizeof job.extent);
  memcpy(job.global, layout->global, sizeof job.global);
  RETURN_IF_FAILED(cuda_use(exec->device));
  for (int n = 0; n < (array == HIMENO_P ? 2 : 1); n++) {
    job.out = array == HIMENO_P ? exec->fields.p[n].handle : exec->fields.coefficient[array].handle;
    RETURN_IF_FAILED(cuda_exec_check(exec, cuda_fill(&job, cuda_exec_alone(queue)), "filling an array"));
  }
  return STATUS_OK;
}

static status_t cuda_sweep_checksum(struct himeno_exec *handle, struct gpu_queue *queue,
                                    const struct gpu_mem *arrays, int n, const struct box *box, uint64_t *sum)
{
  struct cuda_exec *exec = (struct cuda_exec *)handle;
  const struct layout *layout = &exec->fields.layout;
  struct cuda_checksum_job job = {.n = n, .box = *box, .pitch = layout->pitch, .plane = layout->plane};
  for (int a = 0; a < n; a++) job.array[a] = arrays[a].handle;
  memcpy(job.origin, layout->origin, sizeof job.origin);
  memcpy(job.global, layout->global, sizeof job.global);
  RETURN_IF_FAILED(cuda_use(exec->device));
  RETURN_IF_FAILED(gpu_clear(queue, exec->sum, 0, sizeof *exec->host_sum));
  RETURN_IF_FAILED(cuda_exec_check(exec, cuda_checksum(&job, exec->sum.handle, cuda_queue_handle(queue)),
                                   "launching the checksum"));
  RETURN_IF_FAILED(gpu_read(queue, exec->host_sum, exec->sum, 0, sizeof *exec->host_sum));
  *sum = *exec->host_sum;
  return STATUS_OK;
}

static status_t cuda_sweep_repeat(struct himeno_exec *handle, struct gpu_queue *queue,
                                  const struct himeno_fields *fields, int source, const struct box *box,
                                  int times, const struct himeno_stuck *stuck, float *values, int *processors)
{
  struct cuda_exec *exec = (struct cuda_exec *)handle;
  const size_t bytes = (size_t)times * (size_t)box_points(box) * sizeof *values;
  struct cuda_pass pass = exec->pass[source];
  struct gpu_mem on_device = {0}, numbers = {0};
  status_t status;
  (void)fields;
  cuda_box_set(&pass, box);
  TRY(cuda_use(exec->device), end);
  TRY(gpu_alloc(exec->device, bytes, &on_device), end);
  TRY(gpu_alloc(exec->device, (size_t)times * sizeof *processors, &numbers), end);
  TRY(cuda_exec_check(exec,
                      cuda_repeat(&pass, times, stuck->processor, stuck->bit, on_device.handle,
                                  numbers.handle, cuda_exec_alone(queue)),
                      "launching the same points on all multiprocessors"),
      end);
  TRY(gpu_copy_out(queue, values, on_device, 0, bytes), end);
  TRY(gpu_copy_out(queue, processors, numbers, 0, (size_t)times * sizeof *processors), end);
  status = gpu_sync(queue);
end:
  gpu_free(exec->device, &on_device);
  gpu_free(exec->device, &numbers);
  return status;
}

static status_t cuda_sweep_resources(struct himeno_exec *handle, struct himeno_resources *resources)
{
  struct cuda_exec *exec = (struct cuda_exec *)handle;
  int most = ((struct cuda_device *)exec->device)->properties.maxThreadsPerMultiProcessor;
  struct cuda_block block = {0};
  RETURN_IF_FAILED(cuda_use(exec->device));
  RETURN_IF_FAILED(cuda_exec_check(exec, exec->kernel->ops->block(exec, &block), "reading its resources"));
  *resources = (struct himeno_resources){.threads = block.threads,
                                         .registers = block.registers,
                                         .local_bytes = block.local_bytes,
                                         .occupancy = (double)(block.at_once * block.threads) / most};
  return STATUS_OK;
}

const struct himeno_kernel_set himeno_kernels_cuda = {
    .backend = "cuda",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .own = &own,
    .open = open_exec,
    .close = close_exec,
    .fill = cuda_sweep_fill,
    .sweep = cuda_sweep_sweep,
    .concurrent = cuda_sweep_concurrent,
    .slab_rows = cuda_sweep_slab_rows,
    .links = cuda_sweep_links,
    .linked = cuda_sweep_linked,
    .ceiling = ceiling,
    .checksum = cuda_sweep_checksum,
    .repeat = cuda_sweep_repeat,
    .resources = cuda_sweep_resources,
};
