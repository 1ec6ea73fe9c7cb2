/* SPDX-License-Identifier: MIT */
/* Buffers, events and requests of an exchange that packs halos and sends them through MPI. */
#include "comm/transports/buffered.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"

/* Longest part of a message that is copied and sent as one, unless that is measured; the same where
 * it is handed over. */
#define CHUNK_FLOATS    65536
#define HANDOVER_FLOATS 262144

/* Shorter rows are packed, and so are messages of fewer bytes beside others that must be: a copy
 * each costs more than it saves. */
#define ROW_BYTES_MIN  256
#define ROWS_BYTES_MIN 16384

static status_t buffered_events_create(struct halo_exchange *x)
{
  struct gpu_device *device = x->context.device;
  RETURN_IF_FAILED(gpu_event_create_untimed(device, &x->before));
  for (int r = 0; r < BUFFERED_EVENTS; r++) {
    RETURN_IF_FAILED(gpu_event_create_untimed(device, &x->arrived[r]));
    for (int m = 0; m < MARKS; m++) RETURN_IF_FAILED(gpu_event_create(device, &x->ring[r].event[m]));
  }
  return STATUS_OK;
}

static status_t requests_create(struct buffered_requests *requests, int n)
{
  *requests = (struct buffered_requests){calloc((size_t)n + 1, sizeof(MPI_Request)), n};
  for (int r = 0; requests->at && r < n; r++) requests->at[r] = MPI_REQUEST_NULL;
  return requests->at ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for MPI requests");
}

static status_t copied_create(struct halo_exchange *x)
{
  x->copied = calloc((size_t)x->outgoing.pieces + 1, sizeof(struct gpu_event *));
  if (!x->copied) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange");
  for (int p = 0; p < x->outgoing.pieces; p++)
    RETURN_IF_FAILED(gpu_event_create_untimed(x->context.device, &x->copied[p]));
  return STATUS_OK;
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

static void buffered_events_destroy(struct halo_exchange *x)
{
  for (int r = 0; r < BUFFERED_EVENTS; r++) {
    gpu_event_destroy(x->arrived[r]);
    for (int m = 0; m < MARKS; m++) gpu_event_destroy(x->ring[r].event[m]);
  }
  gpu_event_destroy(x->before);
}

static void cut_free(struct halo_exchange *x)
{
  for (int p = 0; x->copied && p < x->outgoing.pieces; p++) gpu_event_destroy(x->copied[p]);
  free(x->copied);
  free(x->tokens_in.at);
  free(x->tokens_out.at);
  free(x->data_in.at);
  free(x->data_out.at);
  free(x->missing);
  free(x->indices);
  free(x->statuses);
  halo_chunks_free(&x->incoming);
  halo_chunks_free(&x->outgoing);
  x->copied = NULL;
  x->tokens_in.at = x->tokens_out.at = x->data_in.at = x->data_out.at = NULL;
  x->missing = x->indices = NULL;
  x->statuses = NULL;
}

static enum gpu_host_kind host_kind(const struct halo_exchange *x)
{
  return x->kind == BUFFERED_PINNED ? GPU_HOST_PINNED : GPU_HOST_PAGEABLE;
}

static int is_pending(const struct buffered_requests *requests)
{
  for (int r = 0; requests->at && r < requests->n; r++)
    if (requests->at[r] != MPI_REQUEST_NULL) return 1;
  return 0;
}

/* After a failed exchange MPI may still write to buffers: they stay until the job ends. */
void buffered_teardown(struct halo_exchange *x)
{
  if (!x || is_pending(&x->data_in) || is_pending(&x->data_out) || is_pending(&x->tokens_in)) return;
  struct gpu_device *device = x->context.device;
  /* After an error copies may be under way in memory that goes now. */
  if (x->in) gpu_sync(x->in);
  if (x->out) gpu_sync(x->out);
  buffered_events_destroy(x);
  for (int r = 0; r < 2 && x->kind != BUFFERED_DEVICE; r++)
    gpu_free_host(device, host_kind(x), x->host_recv[r]);
  if (x->kind != BUFFERED_DEVICE && !x->handover.block) gpu_free_host(device, host_kind(x), x->host_send[0]);
  for (int r = 0; r < 2; r++) gpu_free(device, &x->recv[r]);
  if (!x->packs_there || !x->handover.block) gpu_free(device, &x->send[0]);
  handover_close(&x->handover);
  gpu_queue_destroy(x->in);
  gpu_queue_destroy(x->out);
  if (x->packer_state) x->packer->close(x->packer_state);
  cut_free(x);
  free(x);
}

/* If one buffer is enough, both indices refer to it. */
static status_t send_create(struct halo_exchange *x)
{
  struct gpu_device *device = x->context.device;
  const struct handover *h = &x->handover;
  size_t bytes = (size_t)x->plan.floats * sizeof(float);
  if (bytes == 0) return STATUS_OK;
  for (int t = 0; t < 2 && h->block; t++) x->host_send[t] = h->buffer[t];
  if (h->block && x->packs_there) {
    for (int t = 0; t < 2; t++) x->send[t] = (struct gpu_mem){h->buffer[t], bytes};
    return STATUS_OK;
  }
  if (x->packed.n > 0) RETURN_IF_FAILED(gpu_alloc(device, bytes, &x->send[0]));
  x->send[1] = x->send[0];
  if (h->block) return STATUS_OK;
  if (x->packs_there)
    x->host_send[0] = x->send[0].handle;
  else
    RETURN_IF_FAILED(gpu_alloc_host(device, bytes, host_kind(x), (void **)&x->host_send[0]));
  x->host_send[1] = x->host_send[0];
  return STATUS_OK;
}

static status_t recv_create(struct halo_exchange *x)
{
  struct gpu_device *device = x->context.device;
  size_t bytes = (size_t)x->plan.recv_floats * sizeof(float);
  for (int r = 0; r < 2 && bytes > 0; r++) {
    if (x->packed.n > 0 && (r == 0 || x->kind == BUFFERED_DEVICE))
      RETURN_IF_FAILED(gpu_alloc(device, bytes, &x->recv[r]));
    if (x->kind == BUFFERED_DEVICE)
      x->host_recv[r] = x->recv[r].handle;
    else
      RETURN_IF_FAILED(gpu_alloc_host(device, bytes, host_kind(x), (void **)&x->host_recv[r]));
  }
  return STATUS_OK;
}

static int64_t row_bytes(const struct halo_message *message)
{
  int64_t sent = box_extent(&message->send, 2), received = box_extent(&message->recv, 2);
  return (sent > received ? sent : received) * (int64_t)sizeof(float);
}

/* Each rank for itself: the buffers hold the same either way. */
static void rows_choose(struct halo_exchange *x)
{
  const struct gpu_backend *backend = x->context.device->backend;
  int may = x->kind == BUFFERED_PINNED && gpu_has(backend, row_copies) && !x->packs_there, packs = !may;
  for (int m = 0; m < x->plan.n; m++) packs |= row_bytes(&x->plan.messages[m]) < ROW_BYTES_MIN;
  x->packed = x->plan;
  x->packed.n = 0;
  for (int m = 0; m < x->plan.n; m++) {
    const struct halo_message *message = &x->plan.messages[m];
    int64_t bytes = (message->count + message->recv_count) * (int64_t)sizeof(float) / 2;
    x->by_rows[m] = may && row_bytes(message) >= ROW_BYTES_MIN && (!packs || bytes >= ROWS_BYTES_MIN);
    if (!x->by_rows[m]) x->packed.messages[x->packed.n++] = *message;
  }
}

/* What is handed over comes from another place than what MPI brought. */
static status_t chunks_create(struct halo_exchange *x, int64_t floats)
{
  struct halo_cutting send[HALO_MESSAGES_MAX], recv[HALO_MESSAGES_MAX];
  for (int m = 0; m < x->plan.n; m++) {
    int64_t most = x->kind == BUFFERED_DEVICE ? 0 : x->shared[m].carried ? HANDOVER_FLOATS : floats;
    send[m] = (struct halo_cutting){.most = most, .alone = x->by_rows[m]};
    recv[m] = (struct halo_cutting){.most = most, .alone = x->by_rows[m] || x->shared[m].carried};
  }
  RETURN_IF_FAILED(halo_chunks_create(&x->outgoing, &x->plan, 0, send));
  RETURN_IF_FAILED(halo_chunks_create(&x->incoming, &x->plan, 1, recv));
  memset(x->chunks, 0, sizeof x->chunks);
  for (int c = x->incoming.n - 1; c >= 0; c--) {
    x->first[x->incoming.chunk[c].message] = c;
    x->chunks[x->incoming.chunk[c].message]++;
  }
  return STATUS_OK;
}

/* The device's times that were not read yet are of chunks that go. */
status_t buffered_cut(struct halo_exchange *x, int64_t floats)
{
  struct halo_times dropped = {.exchanges = 0};
  RETURN_IF_FAILED(gpu_sync(x->out));
  RETURN_IF_FAILED(gpu_sync(x->in));
  RETURN_IF_FAILED(buffered_times(x, &dropped));
  cut_free(x);
  RETURN_IF_FAILED(chunks_create(x, floats));
  RETURN_IF_FAILED(lists_create(x));
  return copied_create(x);
}

static status_t exchange_fill(struct halo_exchange *x)
{
  struct gpu_device *device = x->context.device;
  x->packer = halo_packer_find(device->backend->name);
  if (!x->packer) return log_fail(STATUS_ENVIRONMENT, "backend %s has no halo packer", device->backend->name);
  RETURN_IF_FAILED(halo_plan_check(&x->plan));
  x->packs_there =
      x->kind == BUFFERED_DEVICE || (x->handover.block && device->backend->memory == GPU_MEMORY_HOST);
  rows_choose(x);
  RETURN_IF_FAILED(x->packer->open(device, x->context.layout, &x->packed, &x->packer_state));
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_URGENT, &x->out));
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_URGENT, &x->in));
  RETURN_IF_FAILED(send_create(x));
  RETURN_IF_FAILED(recv_create(x));
  RETURN_IF_FAILED(buffered_events_create(x));
  return buffered_cut(x, CHUNK_FLOATS);
}

status_t buffered_setup(const struct halo_context *context, enum buffered_kind kind,
                        struct halo_exchange **exchange)
{
  status_t status;
  struct halo_exchange *x = calloc(1, sizeof *x);
  TRY(agree_status(context->comm,
                   x ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange")),
      fail);
  x->context = *context;
  x->plan = *context->plan;
  x->context.plan = &x->plan;
  x->layout = *context->layout;
  x->context.layout = &x->layout;
  x->kind = kind;
  for (int m = 0; m < x->plan.n; m++) x->shared[m].carried = kind == BUFFERED_PINNED;
  if (kind == BUFFERED_PINNED) TRY(handover_open(&x->handover, &x->context, x->shared), fail);
  for (int m = 0; m < x->plan.n; m++) x->by_mpi += !x->shared[m].carried;
  TRY(agree_status(context->comm, exchange_fill(x)), fail);
  *exchange = x;
  return STATUS_OK;
fail:
  buffered_teardown(x);
  return status;
}
