// SPDX-License-Identifier: MIT
// Halo packing on CUDA devices: all messages of a rank in one launch.
#include <cuda_runtime.h>
#include <stdlib.h>

extern "C" {
#include "base/log.h"
#include "comm/halo/link.h"
#include "comm/halo/pack.h"
#include "gpu/cuda/cuda_device.h"
}

static const unsigned THREADS = 256, EACH = 4; // threads per block, floats per thread

// One message: its box in the field, its place in the buffer, and its first thread block.
struct piece {
  int64_t field;               // index of the box's first float in the field
  int64_t buffer;              // index of the box's first float in the buffer
  unsigned rows, width, count; // extents of the box along j and k, and its number of floats
  unsigned first_block;
};

struct pieces {
  piece at[HALO_MESSAGES_MAX];
  int n;
  unsigned blocks;
  int64_t plane, pitch;
};

struct halo_packer_state {
  struct gpu_device *device;
  pieces send, recv;
};

template <bool GATHER>
static __global__ void __launch_bounds__(THREADS)
    move_pieces(const CUDA_GRID_CONSTANT pieces all, float *field, float *buffer)
{
  int m = all.n - 1;
  while (m > 0 && blockIdx.x < all.at[m].first_block) m--;
  const piece &box = all.at[m];
  unsigned begin = (blockIdx.x - box.first_block) * THREADS * EACH + threadIdx.x;
  for (unsigned e = 0; e < EACH; e++) {
    unsigned n = begin + e * THREADS;
    if (n >= box.count) return;
    unsigned row = n / box.width, k = n % box.width;
    float *here = field + box.field + row / box.rows * all.plane + row % box.rows * all.pitch + k;
    if (GATHER)
      buffer[box.buffer + n] = *here;
    else
      *here = buffer[box.buffer + n];
  }
}

static void piece_add(pieces *all, const struct layout *layout, const struct box *box, int64_t offset)
{
  piece *p = &all->at[all->n++];
  p->field = box->lo[0] * layout->plane + box->lo[1] * layout->pitch + box->lo[2];
  p->buffer = offset;
  p->rows = (unsigned)box_extent(box, 1);
  p->width = (unsigned)box_extent(box, 2);
  p->count = (unsigned)box_points(box);
  p->first_block = all->blocks;
  all->blocks += (p->count + THREADS * EACH - 1) / (THREADS * EACH);
}

static status_t open_packer(struct gpu_device *device, const struct layout *layout,
                            const struct halo_plan *plan, struct halo_packer_state **state)
{
  halo_packer_state *s = (halo_packer_state *)calloc(1, sizeof *s);
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the halo packer");
  s->device = device;
  s->send.plane = s->recv.plane = layout->plane;
  s->send.pitch = s->recv.pitch = layout->pitch;
  for (int n = 0; n < plan->n; n++) {
    const struct halo_message *message = &plan->messages[n];
    piece_add(&s->send, layout, &message->send, message->send_offset);
    piece_add(&s->recv, layout, &message->recv, message->recv_offset);
  }
  *state = s;
  return STATUS_OK;
}

static void close_packer(struct halo_packer_state *state)
{
  free(state);
}

static status_t move_packer(struct halo_packer_state *state, struct gpu_queue *queue, struct gpu_mem field,
                            struct gpu_mem buffer, int gather)
{
  const pieces &all = gather ? state->send : state->recv;
  if (all.blocks == 0) return STATUS_OK;
  RETURN_IF_FAILED(cuda_use(state->device));
  (gather ? move_pieces<true> : move_pieces<false>)<<<all.blocks, THREADS, 0, cuda_queue_handle(queue)>>>(
      all, (float *)field.handle, (float *)buffer.handle);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return STATUS_OK;
  return cuda_fail(error, gather ? "launching the halo's packing" : "launching the halo's unpacking");
}

const struct halo_packer halo_packer_cuda = {"cuda", open_packer, move_packer, close_packer,
                                             &halo_link_ops_cuda};
