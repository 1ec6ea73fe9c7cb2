/* SPDX-License-Identifier: MIT */
/* Classic kernels: a box is divided into tiles of the variant, one block per tile. */
#include "himeno/kernels/cuda/exec.h"

/* Maximum y and z extent of a grid, the same on every chip. */
#define GRID_MAX 65535
/* Tiles start at multiples of this many floats along k: a cache line. */
#define ROW_ALIGNMENT 32
/* Boxes that fill less than this share of their tiles are swept by the slab kernel. */
#define SLAB_SHARE 0.25

static status_t classic_open(struct cuda_exec *exec)
{
  int code;
  exec->variant = exec->kernel->variant;
  exec->packing = exec->variant->packed ? CUDA_PACKED : CUDA_NOT_PACKED;
  return cuda_exec_code(exec, (const void *)(uintptr_t)exec->variant->kernel, &code);
}

static dim3 classic_threads(const struct cuda_variant *variant)
{
  return (dim3){(unsigned)variant->threads[0], (unsigned)variant->threads[1], (unsigned)variant->threads[2]};
}

/* Sets the first tile of the pass's box, and the number of tiles along each dimension. */
static void tile_box(const struct cuda_variant *variant, struct cuda_pass *pass, unsigned blocks[3])
{
  pass->first_k = pass->lo[2] / ROW_ALIGNMENT * ROW_ALIGNMENT;
  for (int d = 0; d < 3; d++) {
    int first = d == 2 ? pass->first_k : pass->lo[d];
    blocks[d] = (unsigned)((pass->hi[d] - first + variant->tile[d] - 1) / variant->tile[d]);
  }
}

/* Returns whether the box is a part whose tiles would be mostly idle, e.g. the points next to a
 * neighbour. A whole grid always runs the requested kernel. */
static int classic_is_slab(const struct cuda_exec *exec, struct cuda_pass *pass, const struct box *box)
{
  const int *tile = exec->variant->tile;
  unsigned blocks[3];
  tile_box(exec->variant, pass, blocks);
  double capacity = (double)blocks[0] * blocks[1] * blocks[2] * tile[0] * tile[1] * tile[2];
  return !cuda_is_owned(exec, box) && (double)box_points(box) < SLAB_SHARE * capacity &&
         box_points(box) < INT32_MAX / 2;
}

static dim3 slab_grid(const struct box *box)
{
  return (dim3){(unsigned)((box_points(box) + CUDA_SLAB_THREADS - 1) / CUDA_SLAB_THREADS), 1, 1};
}

/* Launches one grid, or several for very long boxes, because a grid's extent is limited. */
status_t cuda_tiles_sweep(struct cuda_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass,
                          const struct himeno_sweep *sweep)
{
  const struct cuda_variant *variant = exec->variant;
  const int y = variant->axis[1], z = variant->axis[2];
  const int lo_y = pass->lo[y], hi_y = pass->hi[y], lo_z = pass->lo[z], hi_z = pass->hi[z];
  const int64_t part_y = (int64_t)(GRID_MAX - 1) * variant->tile[y],
                part_z = (int64_t)(GRID_MAX - 1) * variant->tile[z];
  const dim3 slab_threads = {CUDA_SLAB_THREADS, 1, 1};
  void *arguments[] = {pass};
  unsigned blocks[3];
  cudaError_t error = cudaSuccess;

  if (classic_is_slab(exec, pass, &sweep->box))
    return cuda_exec_check(exec,
                           cuda_exec_launch(exec, queue, (const void *)(uintptr_t)cuda_slab,
                                            slab_grid(&sweep->box), slab_threads, arguments),
                           "launching a slab");
  for (int64_t at_z = lo_z; at_z < hi_z; at_z += part_z)
    for (int64_t at_y = lo_y; at_y < hi_y && error == cudaSuccess; at_y += part_y) {
      pass->lo[y] = (int)at_y;
      pass->hi[y] = (int)(at_y + part_y < hi_y ? at_y + part_y : hi_y);
      pass->lo[z] = (int)at_z;
      pass->hi[z] = (int)(at_z + part_z < hi_z ? at_z + part_z : hi_z);
      tile_box(variant, pass, blocks);
      error = exec->launch(exec, queue, (const void *)(uintptr_t)variant->kernel,
                           (dim3){blocks[variant->axis[0]], blocks[y], blocks[z]}, classic_threads(variant),
                           arguments);
    }
  return cuda_exec_check(exec, error, "launching a sweep");
}

/* Maximum distance in the launch between two blocks of slabs. These mostly wait for halos, which
 * leaves the multiprocessor to the blocks between them. */
#define LINKED_SPREAD 4

/* Numbers the blocks of the slabs, then those of the inner box. Returns the number of blocks. */
static unsigned linked_plan(const struct cuda_variant *variant, const struct halo_cut *cut,
                            struct cuda_linked *job)
{
  const unsigned threads = (unsigned)(variant->threads[0] * variant->threads[1] * variant->threads[2]);
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
  cuda_box_set(&job->pass, &cut->inner);
  if (box_points(&cut->inner) > 0) tile_box(variant, &job->pass, blocks);
  job->grid = (uint3){blocks[variant->axis[0]], blocks[variant->axis[1]], blocks[variant->axis[2]]};
  unsigned all = job->slab_blocks + job->grid.x * job->grid.y * job->grid.z, most = all / job->slab_blocks;
  job->spread = most < LINKED_SPREAD ? most : LINKED_SPREAD;
  return all;
}

static status_t classic_linked(struct cuda_exec *exec, struct gpu_queue *queue,
                               const struct himeno_linked *linked)
{
  const struct cuda_variant *variant = exec->variant;
  struct cuda_linked job = {.pass = exec->pass[linked->source],
                            .which = 1 - linked->source,
                            .step = linked->step,
                            .link = *linked->link};
  void *arguments[] = {&job};
  job.pass.gosa = (double *)exec->fields.gosa.handle + linked->slot;
  dim3 grid = {linked_plan(variant, linked->cut, &job), 1, 1};
  return cuda_exec_check(exec,
                         cuda_exec_launch(exec, queue, (const void *)(uintptr_t)variant->linked, grid,
                                          classic_threads(variant), arguments),
                         "launching a linked sweep");
}

static cudaError_t classic_block(const struct cuda_exec *exec, struct cuda_block *block)
{
  const int *threads = exec->variant->threads;
  return cuda_block_read((const void *)(uintptr_t)exec->variant->kernel, threads[0] * threads[1] * threads[2],
                         0, block);
}

const struct himeno_ops cuda_classic_ops = {
    .open = classic_open, .sweep = cuda_tiles_sweep, .linked = classic_linked, .block = classic_block};
