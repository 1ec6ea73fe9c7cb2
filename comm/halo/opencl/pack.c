/* SPDX-License-Identifier: MIT */
/* Halo packing on OpenCL devices: all messages of a rank in one launch. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "comm/halo/opencl/pack_cl.h"
#include "comm/halo/pack.h"
#include "gpu/opencl/opencl_device.h"

#define GROUP_MAX     256
#define EACH          4 /* floats per work-item */
#define PIECE_NUMBERS 6 /* numbers per row of the table in pack.cl */

/** The kernel that packs or unpacks, and its table of boxes: one row per message. */
struct mover {
  const char *name;
  cl_kernel kernel;
  cl_mem pieces;
  size_t groups;
};

struct opencl_packer {
  struct opencl_device *device;
  struct layout layout;
  int messages;
  size_t group;
  cl_program program;
  struct mover pack, unpack;
};

/** Appends a message to the table. Returns the number of work-groups that copy it. */
static size_t opencl_piece_add(const struct opencl_packer *s, cl_long *piece, const struct box *b,
                               int64_t offset, size_t first_group)
{
  const int64_t share = (int64_t)s->group * EACH;
  piece[0] = b->lo[0] * s->layout.plane + b->lo[1] * s->layout.pitch + b->lo[2];
  piece[1] = offset;
  piece[2] = box_extent(b, 1);
  piece[3] = box_extent(b, 2);
  piece[4] = box_points(b);
  piece[5] = (cl_long)first_group;
  return (size_t)((piece[4] + share - 1) / share);
}

static status_t mover_init(struct opencl_packer *s, struct mover *mover, const char *name,
                           const struct halo_plan *plan, int gather)
{
  cl_long table[HALO_MESSAGES_MAX * PIECE_NUMBERS] = {0};
  cl_int error;

  mover->name = name;
  for (int n = 0; n < plan->n; n++) {
    const struct halo_message *m = &plan->messages[n];
    mover->groups += opencl_piece_add(s, table + n * PIECE_NUMBERS, gather ? &m->send : &m->recv,
                                      gather ? m->send_offset : m->recv_offset, mover->groups);
  }
  mover->kernel = clCreateKernel(s->program, name, &error);
  if (error != CL_SUCCESS) {
    mover->kernel = NULL;
    return opencl_check(error, gather ? "clCreateKernel pack" : "clCreateKernel unpack");
  }
  mover->pieces = clCreateBuffer(s->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof table,
                                 table, &error);
  if (error != CL_SUCCESS) {
    mover->pieces = NULL;
    return opencl_check(error, "clCreateBuffer for the halo's table");
  }
  return STATUS_OK;
}

static void mover_release(struct mover *mover)
{
  if (mover->pieces) clReleaseMemObject(mover->pieces);
  if (mover->kernel) clReleaseKernel(mover->kernel);
}

static void opencl_packer_close(struct halo_packer_state *state)
{
  struct opencl_packer *s = (struct opencl_packer *)state;
  if (!s) return;
  mover_release(&s->unpack);
  mover_release(&s->pack);
  if (s->program) clReleaseProgram(s->program);
  free(s);
}

static status_t opencl_packer_open(struct gpu_device *device, const struct layout *layout,
                                   const struct halo_plan *plan, struct halo_packer_state **state)
{
  char options[64];
  status_t status;
  struct opencl_packer *s = calloc(1, sizeof *s);

  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the halo packer");
  s->device = (struct opencl_device *)device;
  s->layout = *layout;
  s->messages = plan->n;
  TRY(opencl_query(s->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof s->group, &s->group), fail);
  if (s->group > GROUP_MAX) s->group = GROUP_MAX;
  snprintf(options, sizeof options, "-cl-std=CL1.2 -D GROUP=%zu -D EACH=%d", s->group, EACH);
  TRY(opencl_program_build(s->device, comm_pack_cl, options, &s->program), fail);
  TRY(mover_init(s, &s->pack, "pack", plan, 1), fail);
  TRY(mover_init(s, &s->unpack, "unpack", plan, 0), fail);
  *state = (struct halo_packer_state *)s;
  return STATUS_OK;
fail:
  opencl_packer_close((struct halo_packer_state *)s);
  return status;
}

static status_t opencl_packer_move(struct halo_packer_state *state, struct gpu_queue *queue,
                                   struct gpu_mem field, struct gpu_mem buffer, int gather)
{
  struct opencl_packer *s = (struct opencl_packer *)state;
  const struct mover *mover = gather ? &s->pack : &s->unpack;
  const cl_long2 stride = {{s->layout.plane, s->layout.pitch}};
  const size_t global = mover->groups * s->group;
  cl_mem memories[] = {field.handle, buffer.handle, mover->pieces};
  cl_int messages = s->messages, error = CL_SUCCESS;
  char what[64];

  if (!mover->groups) return STATUS_OK;
  for (cl_uint n = 0; n < 3 && error == CL_SUCCESS; n++)
    error = clSetKernelArg(mover->kernel, n, sizeof *memories, &memories[n]);
  if (error == CL_SUCCESS) error = clSetKernelArg(mover->kernel, 3, sizeof messages, &messages);
  if (error == CL_SUCCESS) error = clSetKernelArg(mover->kernel, 4, sizeof stride, &stride);
  if (error == CL_SUCCESS)
    error = clEnqueueNDRangeKernel(opencl_queue_handle(queue), mover->kernel, 1, NULL, &global, &s->group, 0,
                                   NULL, NULL);
  if (error == CL_SUCCESS) return STATUS_OK;
  snprintf(what, sizeof what, "launch of OpenCL kernel %s", mover->name);
  return opencl_check(error, what);
}

const struct halo_packer halo_packer_opencl = {"opencl", opencl_packer_open, opencl_packer_move,
                                               opencl_packer_close, NULL};
