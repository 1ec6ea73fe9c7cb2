/* SPDX-License-Identifier: MIT */
/* Links in host memory: for the CPU, and for the null backend, whose calls fail on demand. */
#include "comm/halo/link.h"

#include <string.h>

#include "comm/halo/pack.h"
#include "gpu/null/null_device.h"

const struct halo_link_ops *halo_link_ops_find(const char *backend)
{
  const struct halo_packer *packer = halo_packer_find(backend);
  return packer ? packer->link_ops : NULL;
}

static void store_face(const struct halo_link *link, const struct halo_link_message *m, const float *field,
                       int which)
{
  const int64_t rows = m->hi[1] - m->lo[1], width = m->hi[2] - m->lo[2], all = (m->hi[0] - m->lo[0]) * rows;
  for (int64_t r = 0; r < all; r++)
    memcpy(m->to[which] + r / rows * m->plane + r % rows * m->pitch,
           field + (m->lo[0] + r / rows) * link->plane + (m->lo[1] + r % rows) * link->pitch + m->lo[2],
           (size_t)width * sizeof *field);
}

static status_t cpu_raise(struct gpu_queue *queue, const struct halo_link *link, uint64_t step)
{
  (void)queue;
  for (int m = 0; m < link->n; m++)
    __atomic_store_n(link->message[m].flag, (link->state->base + step) * HALO_FLAG_UNIT, __ATOMIC_RELEASE);
  return STATUS_OK;
}

static status_t cpu_push(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field,
                         int which, uint64_t step)
{
  for (int m = 0; m < link->n; m++) store_face(link, &link->message[m], field.handle, which);
  return cpu_raise(queue, link, step);
}

static status_t cpu_advance(struct gpu_queue *queue, const struct halo_link *link, uint64_t steps)
{
  (void)queue;
  link->state->base += steps;
  return STATUS_OK;
}

static status_t null_push(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field,
                          int which, uint64_t step)
{
  RETURN_IF_FAILED(null_call("launch push", STATUS_FAULT));
  for (int m = 0; m < link->n && !null_peer_fault("faces"); m++)
    store_face(link, &link->message[m], field.handle, which);
  return null_peer_fault("flags") ? STATUS_OK : cpu_raise(queue, link, step);
}

static status_t null_raise(struct gpu_queue *queue, const struct halo_link *link, uint64_t step)
{
  RETURN_IF_FAILED(null_call("launch raise", STATUS_FAULT));
  return null_peer_fault("store") ? STATUS_OK : cpu_raise(queue, link, step);
}

const struct halo_link_ops halo_link_ops_cpu = {.push = cpu_push, .raise = cpu_raise, .advance = cpu_advance};

const struct halo_link_ops halo_link_ops_null = {
    .push = null_push, .raise = null_raise, .advance = cpu_advance};
