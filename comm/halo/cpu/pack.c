/* SPDX-License-Identifier: MIT */
/* Packers in host memory. The backends cpu, qpu (whose memory the host can access) and null use
 * them; null adds calls that fail on demand. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/halo/link.h"
#include "comm/halo/pack.h"
#include "gpu/null/null_device.h"

/** Copies of fewer floats run on one thread, because waking threads would take longer. */
#define PARALLEL_FLOATS 16384

struct cpu_packer {
  struct layout layout;
  struct halo_plan plan;
};

static status_t cpu_packer_open(struct gpu_device *device, const struct layout *layout,
                                const struct halo_plan *plan, struct halo_packer_state **state)
{
  struct cpu_packer *s = malloc(sizeof *s);

  (void)device;
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the halo packer");
  s->layout = *layout;
  s->plan = *plan;
  *state = (struct halo_packer_state *)s;
  return STATUS_OK;
}

static void cpu_packer_close(struct halo_packer_state *state)
{
  free(state);
}

/** Copies the rows of a box to a contiguous buffer (\a gather is 1) or back from the buffer (0). */
static void copy_box(const struct layout *layout, const struct box *b, float *field, float *buffer,
                     int gather)
{
  const int64_t rows = box_extent(b, 1), n = box_extent(b, 2), all = box_extent(b, 0) * rows;

#pragma omp parallel for schedule(static) if (all * n >= PARALLEL_FLOATS)
  for (int64_t row = 0; row < all; row++) {
    float *line =
        field + (b->lo[0] + row / rows) * layout->plane + (b->lo[1] + row % rows) * layout->pitch + b->lo[2];
    float *packed = buffer + row * n;
    if (gather)
      memcpy(packed, line, (size_t)n * sizeof *line);
    else
      memcpy(line, packed, (size_t)n * sizeof *line);
  }
}

static status_t cpu_packer_move(struct halo_packer_state *handle, struct gpu_queue *queue,
                                struct gpu_mem field, struct gpu_mem buffer, int gather)
{
  struct cpu_packer *state = (struct cpu_packer *)handle;
  (void)queue;
  for (int n = 0; n < state->plan.n; n++) {
    const struct halo_message *m = &state->plan.messages[n];
    copy_box(&state->layout, gather ? &m->send : &m->recv, field.handle,
             (float *)buffer.handle + (gather ? m->send_offset : m->recv_offset), gather);
  }
  return STATUS_OK;
}

static status_t null_packer_open(struct gpu_device *device, const struct layout *layout,
                                 const struct halo_plan *plan, struct halo_packer_state **state)
{
  RETURN_IF_FAILED(null_call("open packer", STATUS_ENVIRONMENT));
  return cpu_packer_open(device, layout, plan, state);
}

static status_t null_packer_move(struct halo_packer_state *state, struct gpu_queue *queue,
                                 struct gpu_mem field, struct gpu_mem buffer, int gather)
{
  RETURN_IF_FAILED(null_call(gather ? "launch pack" : "launch unpack", STATUS_FAULT));
  return cpu_packer_move(state, queue, field, buffer, gather);
}

const struct halo_packer halo_packer_cpu = {"cpu", cpu_packer_open, cpu_packer_move, cpu_packer_close,
                                            &halo_link_ops_cpu};
const struct halo_packer halo_packer_qpu = {"qpu", cpu_packer_open, cpu_packer_move, cpu_packer_close, NULL};
const struct halo_packer halo_packer_null = {"null", null_packer_open, null_packer_move, cpu_packer_close,
                                             &halo_link_ops_null};
