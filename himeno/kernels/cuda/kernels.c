/* SPDX-License-Identifier: MIT */
/* The CUDA kernel set: the host side of a launch. What is on the ladder, and the steps, are in himeno/kernels/cuda/. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/log.h"
#include "gpu/cuda/cuda_device.h"
#include "himeno/kernels/cuda/resident.h"
#include "himeno/kernels/cuda/step.h"
#include "himeno/kernels/cuda/temporal.h"
#include "himeno/kernels/cuda/user.h"
#include "himeno/kernels/cuda/variants.h"
#include "himeno/kernels/kernels.h"

/* Largest y and z of a grid, on every chip. */
#define GRID_MAX 65535
/* Tiles begin at multiples of this many floats along k: a cache line. */
#define ROW_ALIGNMENT 32
/* Parts that fill less than this share of their tiles go to the slab kernel. */
#define SLAB_SHARE 0.25

struct himeno_exec {
  struct gpu_device *device;
  struct himeno_fields fields;
  const struct himeno_kernel *kernel;
  const struct cuda_step *step;
  const struct cuda_temporal *temporal; /* NULL for classic kernels */
  struct cuda_temporal_chip chip;
  struct cuda_resident resident; /* without shelves for others */
  struct cuda_user user;         /* the kernel of a file, unless kernel->file is NULL */
  struct cuda_pass pass[2];      /* by source: all but the box and the slot */
  struct gpu_mem pack[CUDA_PACKS];
  struct gpu_mem sum;
  uint64_t *host_sum;
  int overlaps; /* kernels know programmatic launches */
  long trap;    /* sweeps left until the planted fault, 0 for none */
};

static status_t check(const struct himeno_exec *exec, cudaError_t error, const char *what)
{
  char text[96];
  if (error == cudaSuccess) return STATUS_OK;
  snprintf(text, sizeof text, "%s (CUDA kernel %s)", what, exec->kernel->name);
  return cuda_fail(error, text);
}

/* ---- open and close ---- */

static void pass_init(struct himeno_exec *exec, int source)
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

static void close_exec(struct himeno_exec *exec)
{
  if (!exec) return;
  gpu_free_host(exec->device, GPU_HOST_PINNED, exec->host_sum);
  gpu_free(exec->device, &exec->sum);
  for (int g = 0; g < CUDA_PACKS; g++) gpu_free(exec->device, &exec->pack[g]);
  cuda_user_close(&exec->user);
  if (exec->chip.progress) cuda_temporal_close(&exec->chip);
  if (exec->resident.shelves) cuda_resident_close(&exec->resident);
  free(exec);
}

/* A test hook: with HIMENO_CUDA_TRAP=N in the environment the Nth sweep that a kernel is asked for runs into
 * a failing assertion on the device. */
static long trap_count(void)
{
  return (long)environment_number("HIMENO_CUDA_TRAP", 0);
}

static int trap_is_due(struct himeno_exec *exec)
{
  return exec->trap > 0 && --exec->trap == 0;
}

static status_t code_number(const struct himeno_exec *exec, const void *kernel, int *number)
{
  return check(exec, cuda_code_of(kernel, number), "loading the kernel");
}

/* Whether the chip runs a form of a temporal kernel. HIMENO_CUDA_BULK=0 in the environment takes the copy engine
 * away, so that tests reach what older chips run. */
static int form_runs(const struct cudaDeviceProp *chip, int code, const struct cuda_temporal *form)
{
  int major = environment_number("HIMENO_CUDA_BULK", 1) ? code / 10 : 8;
  return major >= form->major && (size_t)form->shared_bytes <= chip->sharedMemPerBlockOptin;
}

static status_t temporal_open(struct himeno_exec *exec, const struct cuda_temporal *forms)
{
  const struct cudaDeviceProp *chip = &((struct cuda_device *)exec->device)->properties;
  for (int f = 0; f < CUDA_TEMPORAL_FORMS && !exec->temporal; f++) {
    int code = 0;
    RETURN_IF_FAILED(code_number(exec, forms[f].kernel, &code));
    if (form_runs(chip, code, &forms[f])) exec->temporal = &forms[f];
  }
  if (exec->temporal) return check(exec, cuda_temporal_open(&exec->chip), "preparing temporal passes");
  return log_fail(STATUS_ENVIRONMENT, "kernel %s needs %d bytes of shared memory a block, and %s has %zu",
                  exec->kernel->name, forms[CUDA_TEMPORAL_FORMS - 1].shared_bytes, chip->name,
                  chip->sharedMemPerBlockOptin);
}

static void box_set(struct cuda_pass *pass, const struct box *box)
{
  for (int d = 0; d < 3; d++) {
    pass->lo[d] = (int)box->lo[d];
    pass->hi[d] = (int)box->hi[d];
  }
}

static status_t resident_open(struct himeno_exec *exec)
{
  const struct layout *layout = &exec->fields.layout;
  const int extent[3] = {(int)layout->extent[0], (int)layout->extent[1], (int)layout->extent[2]};
  struct cuda_pass pass = exec->pass[0];
  int fits;
  if (memcmp(layout->extent, layout->global, sizeof layout->global) != 0)
    return log_fail(STATUS_USAGE, "kernel %s needs the whole grid on one rank", exec->kernel->name);
  box_set(&pass, &layout->owned);
  RETURN_IF_FAILED(
      check(exec, cuda_resident_open(&pass, extent, &exec->resident, &fits), "preparing resident sweeps"));
  if (fits) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT,
                  "kernel %s: the coefficients of %dx%dx%d do not fit into %s's shared memory",
                  exec->kernel->name, extent[0], extent[1], extent[2], exec->device->info.name);
}

/* Finds the step, or compiles the user's; loads its code, so that no sweep has to. */
static status_t step_open(struct himeno_exec *exec)
{
  int code = 0;
  const struct cuda_variant *variant =
      exec->kernel->file ? NULL : &cuda_variants[exec->kernel - cuda_kernels];
  RETURN_IF_FAILED(code_number(exec, (const void *)cuda_ceiling, &code));
  exec->overlaps = code >= 90;
  exec->step = !variant ? &exec->user.step : (variant->step ? variant->step : &cuda_step_stream);
  if (exec->kernel->file) return cuda_user_open(exec->device, exec->kernel->file, &exec->user);
  if (variant->temporal) return temporal_open(exec, variant->temporal);
  if (exec->kernel->resident) RETURN_IF_FAILED(resident_open(exec));
  return code_number(exec, (const void *)exec->step->kernel, &code);
}

static int is_packed(const struct himeno_exec *exec)
{
  return exec->step->packed || exec->temporal;
}

static status_t pack_alloc(struct himeno_exec *exec, int g)
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
  struct himeno_exec *x = calloc(1, sizeof *x);
  if (!x) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel %s", kernel->name);
  x->device = device;
  x->fields = *fields;
  x->kernel = kernel;
  x->trap = trap_count();
  for (int source = 0; source < 2; source++) pass_init(x, source);
  TRY(cuda_use(device), fail);
  TRY(step_open(x), fail);
  for (int g = 0; g < CUDA_PACKS && is_packed(x); g++) TRY(pack_alloc(x, g), fail);
  TRY(gpu_alloc(device, sizeof *x->host_sum, &x->sum), fail);
  TRY(gpu_alloc_host(device, sizeof *x->host_sum, GPU_HOST_PINNED, (void **)&x->host_sum), fail);
  *exec = x;
  return STATUS_OK;
fail:
  close_exec(x);
  return status;
}

/* ---- launches ---- */

/* Launches. On Hopper and later the kernel may start while the one before it in the queue drains: until
 * that is complete it reads coefficients only, and those are written by fills alone. */
static cudaError_t launch(struct himeno_exec *exec, struct gpu_queue *queue, const void *kernel, dim3 grid,
                          dim3 threads, void **arguments)
{
  struct cuda_queue *q = (struct cuda_queue *)queue;
  cudaLaunchAttribute overlap = {.id = cudaLaunchAttributeProgrammaticStreamSerialization,
                                 .val.programmaticStreamSerializationAllowed = 1};
  cudaLaunchConfig_t config = {.gridDim = grid, .blockDim = threads, .stream = q->stream, .attrs = &overlap};
  config.numAttrs = q->overlap && exec->overlaps;
  q->overlap = exec->overlaps;
  return cudaLaunchKernelExC(&config, kernel, arguments);
}

/* A user's kernel says nothing about what it reads early: nothing overlaps it. */
static cudaError_t launch_user(struct himeno_exec *exec, struct gpu_queue *queue, dim3 grid, void **arguments)
{
  struct cuda_queue *q = (struct cuda_queue *)queue;
  q->overlap = 0;
  return cuda_user_launch(&exec->user, grid, q->stream, arguments);
}

/* Where the tiles of the pass's box begin, and how many there are along each dimension. */
static void tile_box(const struct cuda_step *step, struct cuda_pass *pass, unsigned blocks[3])
{
  pass->first_k = pass->lo[2] / ROW_ALIGNMENT * ROW_ALIGNMENT;
  for (int d = 0; d < 3; d++) {
    int first = d == 2 ? pass->first_k : pass->lo[d];
    blocks[d] = (unsigned)((pass->hi[d] - first + step->tile[d] - 1) / step->tile[d]);
  }
}

/* Launches the box in as many parts as a grid has room for: one, but for very long boxes. */
static cudaError_t launch_box(struct himeno_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass)
{
  const struct cuda_step *step = exec->step;
  const int y = step->axis[1], z = step->axis[2];
  const int lo_y = pass->lo[y], hi_y = pass->hi[y], lo_z = pass->lo[z], hi_z = pass->hi[z];
  const int64_t part_y = (int64_t)(GRID_MAX - 1) * step->tile[y],
                part_z = (int64_t)(GRID_MAX - 1) * step->tile[z];
  const dim3 threads = {(unsigned)step->threads[0], (unsigned)step->threads[1], (unsigned)step->threads[2]};
  void *arguments[] = {pass};
  unsigned blocks[3];
  cudaError_t error = cudaSuccess;
  for (int64_t at_z = lo_z; at_z < hi_z; at_z += part_z)
    for (int64_t at_y = lo_y; at_y < hi_y && error == cudaSuccess; at_y += part_y) {
      pass->lo[y] = (int)at_y;
      pass->hi[y] = (int)(at_y + part_y < hi_y ? at_y + part_y : hi_y);
      pass->lo[z] = (int)at_z;
      pass->hi[z] = (int)(at_z + part_z < hi_z ? at_z + part_z : hi_z);
      tile_box(step, pass, blocks);
      dim3 grid = {blocks[step->axis[0]], blocks[y], blocks[z]};
      error = exec->kernel->file ? launch_user(exec, queue, grid, arguments)
                                 : launch(exec, queue, (const void *)step->kernel, grid, threads, arguments);
    }
  return error;
}

static int is_owned(const struct himeno_exec *exec, const struct box *box)
{
  return memcmp(box, &exec->fields.layout.owned, sizeof *box) == 0;
}

/* Whether the box is a part whose tiles would be mostly idle, as the points next to a neighbour are. A whole
 * grid always runs the kernel that was asked for. */
static int is_slab(const struct himeno_exec *exec, struct cuda_pass *pass, const struct box *box)
{
  const int *tile = exec->step->tile;
  unsigned blocks[3];
  tile_box(exec->step, pass, blocks);
  double room = (double)blocks[0] * blocks[1] * blocks[2] * tile[0] * tile[1] * tile[2];
  return !is_owned(exec, box) && (double)box_points(box) < SLAB_SHARE * room &&
         box_points(box) < INT32_MAX / 2;
}

static cudaError_t launch_slab(struct himeno_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass,
                               int64_t points)
{
  dim3 grid = {(unsigned)((points + CUDA_SLAB_THREADS - 1) / CUDA_SLAB_THREADS), 1, 1};
  dim3 threads = {CUDA_SLAB_THREADS, 1, 1};
  void *arguments[] = {pass};
  return launch(exec, queue, (const void *)cuda_slab, grid, threads, arguments);
}

static cudaError_t launch_temporal(struct himeno_exec *exec, struct gpu_queue *queue,
                                   const struct cuda_pass *pass)
{
  const struct layout *layout = &exec->fields.layout;
  struct cuda_temporal_job job = {.pass = *pass};
  for (int d = 0; d < 3; d++) {
    job.extent[d] = (int)layout->extent[d];
    job.interior_lo[d] = (int)layout->interior.lo[d];
    job.interior_hi[d] = (int)layout->interior.hi[d];
  }
  ((struct cuda_queue *)queue)->overlap = 0;
  return exec->temporal->launch(&exec->chip, &job, cuda_queue_handle(queue));
}

static cudaError_t launch_resident(struct himeno_exec *exec, struct gpu_queue *queue,
                                   const struct cuda_pass *pass, int sweeps)
{
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_resident_launch(&exec->resident, pass, sweeps, cuda_queue_handle(queue));
}

static status_t sweep(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_sweep *sweep)
{
  struct cuda_pass pass = exec->pass[sweep->source];
  if (box_points(&sweep->box) == 0) return STATUS_OK;
  RETURN_IF_FAILED(cuda_use(exec->device));
  if (trap_is_due(exec)) return check(exec, cuda_trap(cuda_queue_handle(queue)), "planting a fault");
  pass.gosa = (double *)exec->fields.gosa.handle + sweep->slot;
  box_set(&pass, &sweep->box);
  if (exec->resident.shelves && is_owned(exec, &sweep->box))
    return check(exec, launch_resident(exec, queue, &pass, sweep->sweeps), "launching resident sweeps");
  if (exec->temporal) return check(exec, launch_temporal(exec, queue, &pass), "launching a temporal pass");
  if (is_slab(exec, &pass, &sweep->box))
    return check(exec, launch_slab(exec, queue, &pass, box_points(&sweep->box)), "launching a slab");
  return check(exec, launch_box(exec, queue, &pass), "launching a sweep");
}

/* Slabs' blocks are one of so many while they last: their waiting leaves most of a processor to others. */
#define LINKED_SPREAD 4

static int links(const struct himeno_exec *exec)
{
  return !exec->temporal && !exec->resident.shelves && !exec->kernel->file && exec->step->linked != NULL;
}

/* Blocks of the slabs, and then those of the rest. */
static unsigned linked_plan(const struct cuda_step *step, const struct halo_cut *cut, struct cuda_linked *job)
{
  const unsigned threads = (unsigned)(step->threads[0] * step->threads[1] * step->threads[2]);
  unsigned blocks[3] = {0, 0, 0};
  for (int b = 0; b < cut->n; b++) {
    struct cuda_linked_box *box = &job->box[job->n++];
    for (int d = 0; d < 3; d++) {
      box->lo[d] = (int)cut->boundary[b].lo[d];
      box->hi[d] = (int)cut->boundary[b].hi[d];
    }
    box->quads = (unsigned)((box->hi[2] + 3) / 4 - box->lo[2] / 4);
    box->first_block = job->slab_blocks;
    uint64_t quads = (uint64_t)(box->hi[0] - box->lo[0]) * (uint64_t)(box->hi[1] - box->lo[1]) * box->quads;
    job->slab_blocks += (unsigned)((quads + threads - 1) / threads);
  }
  for (int d = 0; d < 3; d++) {
    job->pass.lo[d] = (int)cut->inner.lo[d];
    job->pass.hi[d] = (int)cut->inner.hi[d];
  }
  if (box_points(&cut->inner) > 0) tile_box(step, &job->pass, blocks);
  job->grid = (uint3){blocks[step->axis[0]], blocks[step->axis[1]], blocks[step->axis[2]]};
  unsigned all = job->slab_blocks + job->grid.x * job->grid.y * job->grid.z, most = all / job->slab_blocks;
  job->spread = most < LINKED_SPREAD ? most : LINKED_SPREAD;
  return all;
}

static status_t linked(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_linked *linked)
{
  const struct cuda_step *step = exec->step;
  struct cuda_linked job = {.pass = exec->pass[linked->source],
                            .which = 1 - linked->source,
                            .step = linked->step,
                            .link = *linked->link};
  const dim3 threads = {(unsigned)step->threads[0], (unsigned)step->threads[1], (unsigned)step->threads[2]};
  void *arguments[] = {&job};
  RETURN_IF_FAILED(cuda_use(exec->device));
  if (trap_is_due(exec)) return check(exec, cuda_trap(cuda_queue_handle(queue)), "planting a fault");
  job.pass.gosa = (double *)exec->fields.gosa.handle + linked->slot;
  dim3 grid = {linked_plan(step, linked->cut, &job), 1, 1};
  return check(exec, launch(exec, queue, (const void *)step->linked, grid, threads, arguments),
               "launching a linked sweep");
}

static status_t ceiling(struct himeno_exec *exec, struct gpu_queue *queue)
{
  struct cuda_pass pass = exec->pass[0];
  int64_t quads = layout_floats(&exec->fields.layout) / 4;
  dim3 grid = {(unsigned)((quads + CUDA_CEILING_THREADS - 1) / CUDA_CEILING_THREADS), 1, 1};
  dim3 threads = {CUDA_CEILING_THREADS, 1, 1};
  void *arguments[] = {&pass, &quads};
  RETURN_IF_FAILED(cuda_use(exec->device));
  return check(exec, launch(exec, queue, (const void *)cuda_ceiling, grid, threads, arguments),
               "launching the ceiling kernel");
}

/* ---- data ---- */

/* Where the interleaved copy has an array's values; NULL when there is none. */
static float *packed_place(const struct himeno_exec *exec, enum himeno_array array)
{
  static const struct {
    int pack, component;
  } place[HIMENO_COEFFICIENTS] = {
      [HIMENO_A0] = {0, 0}, [HIMENO_A1] = {0, 1}, [HIMENO_A2] = {0, 2}, [HIMENO_A3] = {0, 3},
      [HIMENO_B0] = {1, 0}, [HIMENO_B1] = {1, 1}, [HIMENO_B2] = {1, 2}, [HIMENO_WRK1] = {1, 3},
      [HIMENO_C0] = {2, 0}, [HIMENO_C1] = {2, 1}, [HIMENO_C2] = {2, 2}, [HIMENO_BND] = {2, 3}};
  if (!is_packed(exec) || array == HIMENO_P) return NULL;
  return (float *)exec->pack[place[array].pack].handle + place[array].component;
}

static status_t fill(struct himeno_exec *exec, struct gpu_queue *queue, enum himeno_array array,
                     enum himeno_data data)
{
  const struct layout *layout = &exec->fields.layout;
  struct cuda_fill_job job = {.packed = packed_place(exec, array),
                              .swapped = exec->temporal != NULL,
                              .pitch = layout->pitch,
                              .plane = layout->plane,
                              .rule = himeno_rules[array],
                              .array = array,
                              .data = data};
  memcpy(job.origin, layout->origin, sizeof job.origin);
  memcpy(job.extent, layout->extent, sizeof job.extent);
  memcpy(job.global, layout->global, sizeof job.global);
  RETURN_IF_FAILED(cuda_use(exec->device));
  ((struct cuda_queue *)queue)->overlap = 0;
  for (int n = 0; n < (array == HIMENO_P ? 2 : 1); n++) {
    job.out = array == HIMENO_P ? exec->fields.p[n].handle : exec->fields.coefficient[array].handle;
    RETURN_IF_FAILED(check(exec, cuda_fill(&job, cuda_queue_handle(queue)), "filling an array"));
  }
  return STATUS_OK;
}

static status_t checksum(struct himeno_exec *exec, struct gpu_queue *queue, const struct gpu_mem *arrays,
                         int n, const struct box *box, uint64_t *sum)
{
  const struct layout *layout = &exec->fields.layout;
  struct cuda_checksum_job job = {.n = n, .box = *box, .pitch = layout->pitch, .plane = layout->plane};
  for (int a = 0; a < n; a++) job.array[a] = arrays[a].handle;
  memcpy(job.origin, layout->origin, sizeof job.origin);
  memcpy(job.global, layout->global, sizeof job.global);
  RETURN_IF_FAILED(cuda_use(exec->device));
  RETURN_IF_FAILED(gpu_clear(queue, exec->sum, 0, sizeof *exec->host_sum));
  RETURN_IF_FAILED(
      check(exec, cuda_checksum(&job, exec->sum.handle, cuda_queue_handle(queue)), "launching the checksum"));
  RETURN_IF_FAILED(gpu_copy_out(queue, exec->host_sum, exec->sum, 0, sizeof *exec->host_sum));
  RETURN_IF_FAILED(gpu_sync(queue));
  *sum = *exec->host_sum;
  return STATUS_OK;
}

/* What a block of the kernel takes. */
struct block_shape {
  const void *kernel;
  int threads, shared_bytes; /* shared_bytes: those given at launch */
};

static struct block_shape shape_of(const struct himeno_exec *exec)
{
  const int *threads = exec->step->threads;
  if (exec->temporal)
    return (struct block_shape){exec->temporal->kernel, exec->temporal->threads,
                                exec->temporal->shared_bytes};
  if (exec->resident.shelves)
    return (struct block_shape){cuda_resident_kernel(&exec->resident), exec->resident.threads,
                                exec->resident.bytes};
  return (struct block_shape){(const void *)exec->step->kernel, threads[0] * threads[1] * threads[2], 0};
}

/* Registers and shared memory of a block, and how many blocks a multiprocessor holds. */
static cudaError_t step_resources(const struct himeno_exec *exec, struct himeno_resources *found, int *blocks)
{
  const struct block_shape shape = shape_of(exec);
  struct cudaFuncAttributes attributes;
  found->threads = shape.threads;
  if (exec->kernel->file)
    return cuda_user_resources(&exec->user, &found->registers, &found->local_bytes, blocks);
  cudaError_t error = cudaFuncGetAttributes(&attributes, shape.kernel);
  if (error != cudaSuccess) return error;
  found->registers = attributes.numRegs;
  found->local_bytes = (int)attributes.sharedSizeBytes + shape.shared_bytes;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, shape.kernel, shape.threads,
                                                       (size_t)shape.shared_bytes);
}

static status_t resources(struct himeno_exec *exec, struct himeno_resources *resources)
{
  int blocks, most = ((struct cuda_device *)exec->device)->properties.maxThreadsPerMultiProcessor;
  struct himeno_resources found = {0};
  RETURN_IF_FAILED(cuda_use(exec->device));
  RETURN_IF_FAILED(check(exec, step_resources(exec, &found, &blocks), "reading its resources"));
  found.occupancy = (double)(blocks * found.threads) / most;
  *resources = found;
  return STATUS_OK;
}

const struct himeno_kernel_set himeno_kernels_cuda = {
    .backend = "cuda",
    .kernels = cuda_kernels,
    .n = CUDA_KERNELS,
    .takes_files = 1,
    .open = open_exec,
    .close = close_exec,
    .fill = fill,
    .sweep = sweep,
    .links = links,
    .linked = linked,
    .ceiling = ceiling,
    .checksum = checksum,
    .resources = resources,
};
