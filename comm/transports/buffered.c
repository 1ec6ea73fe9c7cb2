/* SPDX-License-Identifier: MIT */
/* Buffers, events and requests of an exchange that packs halos and sends them through MPI. */
#include "config.h"

#include "comm/transports/buffered.h"

#include <limits.h>
#include <stdlib.h>

#include "base/log.h"
#include "comm/ranks/agree.h"

/* Longest part of a message that is copied and sent as one. */
#define CHUNK_FLOATS 65536

static status_t events_create(struct halo_exchange *x)
{
  struct gpu_device *device = x->context.device;
  RETURN_IF_FAILED(gpu_event_create(device, &x->before));
  for (int r = 0; r < BUFFERED_EVENTS; r++)
    for (int m = 0; m < MARKS; m++) RETURN_IF_FAILED(gpu_event_create(device, &x->ring[r].event[m]));
  x->copied = calloc((size_t)x->outgoing.pieces + 1, sizeof(struct gpu_event *));
  if (!x->copied) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange");
  for (int p = 0; p < x->outgoing.pieces; p++) RETURN_IF_FAILED(gpu_event_create(device, &x->copied[p]));
  return STATUS_OK;
}

static status_t requests_create(struct buffered_requests *requests, int n)
{
  *requests = (struct buffered_requests){calloc((size_t)n + 1, sizeof(MPI_Request)), n};
  for (int r = 0; requests->at && r < n; r++) requests->at[r] = MPI_REQUEST_NULL;
  return requests->at ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for MPI requests");
}

static status_t lists_create(struct halo_exchange *x)
{
  int most = x->incoming.n > x->outgoing.n ? x->incoming.n : x->outgoing.n;
  RETURN_IF_FAILED(requests_create(&x->tokens_in, x->plan.n));
  RETURN_IF_FAILED(requests_create(&x->tokens_out, x->plan.n));
  RETURN_IF_FAILED(requests_create(&x->data_in, x->incoming.n));
  RETURN_IF_FAILED(requests_create(&x->data_out, x->outgoing.n));
  x->missing = calloc((size_t)x->incoming.pieces + 1, sizeof(int));
  x->indices = calloc((size_t)(most + x->plan.n), sizeof(int));
  x->statuses = calloc((size_t)(most + x->plan.n), sizeof *x->statuses);
  if (x->missing && x->indices && x->statuses) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for MPI requests");
}

static void events_destroy(struct halo_exchange *x)
{
  for (int r = 0; r < BUFFERED_EVENTS; r++)
    for (int m = 0; m < MARKS; m++) gpu_event_destroy(x->ring[r].event[m]);
  for (int p = 0; x->copied && p < x->outgoing.pieces; p++) gpu_event_destroy(x->copied[p]);
  free(x->copied);
  gpu_event_destroy(x->before);
}

static enum gpu_host_kind host_kind(const struct halo_exchange *x)
{
  return x->way == WAY_PINNED ? GPU_HOST_PINNED : GPU_HOST_PAGEABLE;
}

void buffered_teardown(struct halo_exchange *x)
{
  if (!x) return;
  struct gpu_device *device = x->context.device;
  events_destroy(x);
  for (int r = 0; r < 2 && x->way != WAY_DEVICE; r++) gpu_free_host(device, host_kind(x), x->host_recv[r]);
  if (x->way != WAY_DEVICE) gpu_free_host(device, host_kind(x), x->host_send);
  for (int r = 0; r < 2; r++) gpu_free(device, &x->recv[r]);
  gpu_free(device, &x->send);
  gpu_queue_destroy(x->in);
  gpu_queue_destroy(x->out);
  if (x->packer_state) x->packer->close(x->packer_state);
  free(x->tokens_in.at);
  free(x->tokens_out.at);
  free(x->data_in.at);
  free(x->data_out.at);
  free(x->missing);
  free(x->indices);
  free(x->statuses);
  halo_chunks_free(&x->incoming);
  halo_chunks_free(&x->outgoing);
  free(x);
}

static status_t buffers_create(struct halo_exchange *x)
{
  struct gpu_device *device = x->context.device;
  size_t send = (size_t)x->plan.floats * sizeof(float), recv = (size_t)x->plan.recv_floats * sizeof(float);
  int direct = x->way == WAY_DEVICE;
  if (send > 0) RETURN_IF_FAILED(gpu_alloc(device, send, &x->send));
  if (send > 0 && !direct)
    RETURN_IF_FAILED(gpu_alloc_host(device, send, host_kind(x), (void **)&x->host_send));
  for (int r = 0; r < 2 && recv > 0; r++) {
    if (r == 0 || direct) RETURN_IF_FAILED(gpu_alloc(device, recv, &x->recv[r]));
    if (!direct) RETURN_IF_FAILED(gpu_alloc_host(device, recv, host_kind(x), (void **)&x->host_recv[r]));
  }
  if (!direct) return STATUS_OK;
  x->host_send = x->send.handle;
  for (int r = 0; r < 2; r++) x->host_recv[r] = x->recv[r].handle;
  return STATUS_OK;
}

static status_t messages_check(const struct halo_plan *plan)
{
  for (int m = 0; m < plan->n; m++)
    if (plan->messages[m].count > INT_MAX || plan->messages[m].recv_count > INT_MAX)
      return log_fail(STATUS_USAGE,
                      "a halo of %lld floats is more than one MPI message takes; use more ranks",
                      (long long)plan->messages[m].count);
  return STATUS_OK;
}

static status_t exchange_fill(struct halo_exchange *x)
{
  struct gpu_device *device = x->context.device;
  int64_t most = x->way == WAY_DEVICE ? 0 : CHUNK_FLOATS;
  x->packer = halo_packer_find(device->backend->name);
  if (!x->packer) return log_fail(STATUS_ENVIRONMENT, "backend %s has no halo packer", device->backend->name);
  RETURN_IF_FAILED(messages_check(&x->plan));
  RETURN_IF_FAILED(x->packer->open(device, x->context.layout, &x->plan, &x->packer_state));
  RETURN_IF_FAILED(halo_chunks_create(&x->outgoing, &x->plan, 0, most));
  RETURN_IF_FAILED(halo_chunks_create(&x->incoming, &x->plan, 1, most));
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_URGENT, &x->out));
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_URGENT, &x->in));
  RETURN_IF_FAILED(buffers_create(x));
  RETURN_IF_FAILED(lists_create(x));
  return events_create(x);
}

status_t buffered_setup(const struct halo_context *context, enum buffered_way way,
                        struct halo_exchange **exchange)
{
  status_t status = STATUS_OK;
  struct halo_exchange *x = calloc(1, sizeof *x);
  if (!x) status = log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange");
  if (x) {
    x->context = *context;
    x->plan = *context->plan;
    x->context.plan = &x->plan;
    x->way = way;
    status = exchange_fill(x);
  }
  TRY(agree_status(context->comm, status), fail);
  *exchange = x;
  return STATUS_OK;
fail:
  buffered_teardown(x);
  return status;
}
