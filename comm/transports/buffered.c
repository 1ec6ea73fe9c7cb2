/* SPDX-License-Identifier: MIT */
/* Buffers, events and requests of an exchange that packs halos and sends them through MPI. */
#include "comm/transports/buffered.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"

/* CHUNK_FLOATS: maximum floats per chunk of messages sent by MPI, until measurements choose another
 * length. HANDOVER_FLOATS: maximum floats per chunk of messages in shared memory. */
#define CHUNK_FLOATS    65536
#define HANDOVER_FLOATS 262144

/* Messages with rows shorter than ROW_BYTES_MIN are packed. If any message is packed, so are
 * messages smaller than ROWS_BYTES_MIN: separate copies would cost more than they save. */
#define ROW_BYTES_MIN  256
#define ROWS_BYTES_MIN 16384

static status_t buffered_events_create(struct buffered_fixed *fixed, struct buffered_clock *clock)
{
  struct gpu_device *device = fixed->context.device;
  RETURN_IF_FAILED(gpu_event_create_untimed(device, &fixed->before));
  for (int r = 0; r < BUFFERED_EVENTS; r++) {
    RETURN_IF_FAILED(gpu_event_create_untimed(device, &fixed->arrived[r]));
    for (int m = 0; m < MARKS; m++) RETURN_IF_FAILED(gpu_event_create(device, &clock->ring[r].event[m]));
  }
  return STATUS_OK;
}

static status_t requests_create(struct buffered_requests *requests, int n)
{
  *requests = (struct buffered_requests){calloc((size_t)n + 1, sizeof(MPI_Request)), n};
  for (int r = 0; requests->at && r < n; r++) requests->at[r] = MPI_REQUEST_NULL;
  return requests->at ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for MPI requests");
}

static status_t copied_create(struct buffered_fixed *fixed)
{
  fixed->copied = calloc((size_t)fixed->outgoing.pieces + 1, sizeof(struct gpu_event *));
  if (!fixed->copied) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange");
  for (int p = 0; p < fixed->outgoing.pieces; p++)
    RETURN_IF_FAILED(gpu_event_create_untimed(fixed->context.device, &fixed->copied[p]));
  return STATUS_OK;
}

static status_t lists_create(struct buffered_fixed *fixed, struct buffered_current *current)
{
  int most = fixed->incoming.n > fixed->outgoing.n ? fixed->incoming.n : fixed->outgoing.n;
  RETURN_IF_FAILED(requests_create(&current->tokens_in, fixed->plan.n));
  RETURN_IF_FAILED(requests_create(&current->tokens_out, fixed->plan.n));
  RETURN_IF_FAILED(requests_create(&current->data_in, fixed->incoming.n));
  RETURN_IF_FAILED(requests_create(&current->data_out, fixed->outgoing.n));
  current->missing = calloc((size_t)fixed->incoming.pieces + 1, sizeof(int));
  current->indices = calloc((size_t)(most + fixed->plan.n), sizeof(int));
  current->statuses = calloc((size_t)(most + fixed->plan.n), sizeof *current->statuses);
  if (current->missing && current->indices && current->statuses) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for MPI requests");
}

static void buffered_events_destroy(struct buffered_fixed *fixed, struct buffered_clock *clock)
{
  for (int r = 0; r < BUFFERED_EVENTS; r++) {
    gpu_event_destroy(fixed->arrived[r]);
    for (int m = 0; m < MARKS; m++) gpu_event_destroy(clock->ring[r].event[m]);
  }
  gpu_event_destroy(fixed->before);
}

static void cut_free(struct buffered_fixed *fixed, struct buffered_current *current)
{
  for (int p = 0; fixed->copied && p < fixed->outgoing.pieces; p++) gpu_event_destroy(fixed->copied[p]);
  free(fixed->copied);
  free(current->tokens_in.at);
  free(current->tokens_out.at);
  free(current->data_in.at);
  free(current->data_out.at);
  free(current->missing);
  free(current->indices);
  free(current->statuses);
  halo_chunks_free(&fixed->incoming);
  halo_chunks_free(&fixed->outgoing);
  fixed->copied = NULL;
  current->tokens_in.at = current->tokens_out.at = current->data_in.at = current->data_out.at = NULL;
  current->missing = current->indices = NULL;
  current->statuses = NULL;
}

static enum gpu_host_kind host_kind(const struct buffered_fixed *fixed)
{
  return fixed->kind == BUFFERED_PAGEABLE ? GPU_HOST_PAGEABLE : GPU_HOST_PINNED;
}

static int is_pending(const struct buffered_requests *requests)
{
  for (int r = 0; requests->at && r < requests->n; r++)
    if (requests->at[r] != MPI_REQUEST_NULL) return 1;
  return 0;
}

/* After a failed exchange MPI may still write to the buffers: keep them until the job ends. */
void buffered_teardown(struct halo_exchange *exchange)
{
  struct buffered_exchange *x = (struct buffered_exchange *)exchange;
  if (!x || is_pending(&x->current.data_in) || is_pending(&x->current.data_out) ||
      is_pending(&x->current.tokens_in))
    return;
  struct gpu_device *device = x->fixed.context.device;
  /* After an error, copies to memory that is about to be freed may still be in flight. */
  if (x->fixed.in) gpu_sync(x->fixed.in);
  if (x->fixed.out) gpu_sync(x->fixed.out);
  buffered_events_destroy(&x->fixed, &x->clock);
  for (int r = 0; r < 2 && x->fixed.kind != BUFFERED_DEVICE; r++)
    gpu_free_host(device, host_kind(&x->fixed), x->fixed.host_recv[r]);
  if (x->fixed.kind != BUFFERED_DEVICE && !x->local.handover.block)
    gpu_free_host(device, host_kind(&x->fixed), x->fixed.host_send[0]);
  for (int r = 0; r < 2; r++) gpu_free(device, &x->fixed.recv[r]);
  if (!x->fixed.packs_there || !x->local.handover.block) gpu_free(device, &x->fixed.send[0]);
  handover_close(&x->local.handover);
  gpu_queue_destroy(x->fixed.in);
  gpu_queue_destroy(x->fixed.out);
  if (x->fixed.packer_state) x->fixed.packer->close(x->fixed.packer_state);
  cut_free(&x->fixed, &x->current);
  free(x);
}

/* Creates the two send buffers. If one is enough, both elements refer to it. */
static status_t send_create(struct buffered_fixed *fixed, struct buffered_local *local)
{
  struct gpu_device *device = fixed->context.device;
  const struct handover *h = &local->handover;
  size_t bytes = (size_t)fixed->plan.floats * sizeof(float);
  if (bytes == 0) return STATUS_OK;
  for (int t = 0; t < 2 && h->block; t++) fixed->host_send[t] = h->buffer[t];
  if (h->block && fixed->packs_there) {
    for (int t = 0; t < 2; t++) fixed->send[t] = (struct gpu_mem){h->buffer[t], bytes};
    return STATUS_OK;
  }
  if (fixed->packed.n > 0) RETURN_IF_FAILED(gpu_alloc(device, bytes, &fixed->send[0]));
  fixed->send[1] = fixed->send[0];
  if (h->block) return STATUS_OK;
  if (fixed->packs_there)
    fixed->host_send[0] = fixed->send[0].handle;
  else
    RETURN_IF_FAILED(gpu_alloc_host(device, bytes, host_kind(fixed), (void **)&fixed->host_send[0]));
  fixed->host_send[1] = fixed->host_send[0];
  return STATUS_OK;
}

static status_t recv_create(struct buffered_fixed *fixed)
{
  struct gpu_device *device = fixed->context.device;
  size_t bytes = (size_t)fixed->plan.recv_floats * sizeof(float);
  for (int r = 0; r < 2 && bytes > 0; r++) {
    if (fixed->packed.n > 0 && (r == 0 || fixed->kind == BUFFERED_DEVICE))
      RETURN_IF_FAILED(gpu_alloc(device, bytes, &fixed->recv[r]));
    if (fixed->kind == BUFFERED_DEVICE)
      fixed->host_recv[r] = fixed->recv[r].handle;
    else
      RETURN_IF_FAILED(gpu_alloc_host(device, bytes, host_kind(fixed), (void **)&fixed->host_recv[r]));
  }
  return STATUS_OK;
}

static int64_t row_bytes(const struct halo_message *message)
{
  int64_t sent = box_extent(&message->send, 2), received = box_extent(&message->recv, 2);
  return (sent > received ? sent : received) * (int64_t)sizeof(float);
}

/* Chooses packing or copies of rows for each message. Ranks need not agree, because the buffers
 * have the same data in both cases. */
static void rows_choose(struct buffered_fixed *fixed)
{
  const struct gpu_backend *backend = fixed->context.device->backend;
  int may = fixed->kind <= BUFFERED_PINNED && gpu_has(backend, row_copies) && !fixed->packs_there, packs = 0;
  for (int m = 0; m < fixed->plan.n; m++) packs |= row_bytes(&fixed->plan.messages[m]) < ROW_BYTES_MIN;
  fixed->packed = fixed->plan;
  fixed->packed.n = 0;
  for (int m = 0; m < fixed->plan.n; m++) {
    const struct halo_message *message = &fixed->plan.messages[m];
    int64_t bytes = (message->count + message->recv_count) * (int64_t)sizeof(float) / 2;
    fixed->by_rows[m] = may && row_bytes(message) >= ROW_BYTES_MIN && (!packs || bytes >= ROWS_BYTES_MIN);
    if (!fixed->by_rows[m]) fixed->packed.messages[fixed->packed.n++] = *message;
  }
}

/* Divides the messages into chunks. Messages in shared memory are copied separately from messages
 * received by MPI, because the buffers differ. */
static status_t chunks_create(struct buffered_fixed *fixed, struct buffered_local *local, int64_t floats)
{
  struct halo_cutting send[HALO_MESSAGES_MAX], recv[HALO_MESSAGES_MAX];
  for (int m = 0; m < fixed->plan.n; m++) {
    int64_t most = fixed->kind == BUFFERED_DEVICE ? 0 : local->shared[m].carried ? HANDOVER_FLOATS : floats;
    send[m] = (struct halo_cutting){.most = most, .alone = fixed->by_rows[m]};
    recv[m] = (struct halo_cutting){.most = most, .alone = fixed->by_rows[m] || local->shared[m].carried};
  }
  RETURN_IF_FAILED(halo_chunks_create(&fixed->outgoing, &fixed->plan, 0, send));
  RETURN_IF_FAILED(halo_chunks_create(&fixed->incoming, &fixed->plan, 1, recv));
  memset(fixed->chunks, 0, sizeof fixed->chunks);
  for (int c = fixed->incoming.n - 1; c >= 0; c--) {
    fixed->first[fixed->incoming.chunk[c].message] = c;
    fixed->chunks[fixed->incoming.chunk[c].message]++;
  }
  return STATUS_OK;
}

/* Discards unread device timings, because they belong to chunks that are being freed. */
status_t buffered_cut(struct buffered_exchange *x, int64_t floats)
{
  struct halo_times dropped = {.exchanges = 0};
  RETURN_IF_FAILED(gpu_sync(x->fixed.out));
  RETURN_IF_FAILED(gpu_sync(x->fixed.in));
  RETURN_IF_FAILED(buffered_times((struct halo_exchange *)x, &dropped));
  cut_free(&x->fixed, &x->current);
  RETURN_IF_FAILED(chunks_create(&x->fixed, &x->local, floats));
  RETURN_IF_FAILED(lists_create(&x->fixed, &x->current));
  return copied_create(&x->fixed);
}

static status_t exchange_fill(struct buffered_exchange *x)
{
  struct gpu_device *device = x->fixed.context.device;
  x->fixed.packer = halo_packer_find(device->backend->name);
  if (!x->fixed.packer)
    return log_fail(STATUS_ENVIRONMENT, "backend %s has no halo packer", device->backend->name);
  RETURN_IF_FAILED(halo_plan_check(&x->fixed.plan));
  x->fixed.packs_there = x->fixed.kind == BUFFERED_DEVICE ||
                         (x->local.handover.block && device->backend->memory == GPU_MEMORY_HOST);
  rows_choose(&x->fixed);
  RETURN_IF_FAILED(
      x->fixed.packer->open(device, x->fixed.context.layout, &x->fixed.packed, &x->fixed.packer_state));
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_URGENT, &x->fixed.out));
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_URGENT, &x->fixed.in));
  RETURN_IF_FAILED(send_create(&x->fixed, &x->local));
  RETURN_IF_FAILED(recv_create(&x->fixed));
  RETURN_IF_FAILED(buffered_events_create(&x->fixed, &x->clock));
  return buffered_cut(x, CHUNK_FLOATS);
}

status_t buffered_setup(const struct halo_context *context, enum buffered_kind kind,
                        struct halo_exchange **exchange)
{
  status_t status;
  struct buffered_exchange *x = calloc(1, sizeof *x);
  TRY(agree_status(context->comm,
                   x ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange")),
      fail);
  x->fixed.context = *context;
  x->fixed.plan = *context->plan;
  x->fixed.context.plan = &x->fixed.plan;
  x->fixed.layout = *context->layout;
  x->fixed.context.layout = &x->fixed.layout;
  x->fixed.kind = kind;
  for (int m = 0; m < x->fixed.plan.n; m++)
    x->local.shared[m] = (struct halo_reach){kind == BUFFERED_SHARED, "no memory is shared"};
  if (kind == BUFFERED_SHARED)
    TRY(handover_open(&x->local.handover, &x->fixed.context, x->local.shared), fail);
  for (int m = 0; m < x->fixed.plan.n; m++) x->local.by_mpi += !x->local.shared[m].carried;
  TRY(agree_status(context->comm, exchange_fill(x)), fail);
  *exchange = (struct halo_exchange *)x;
  return STATUS_OK;
fail:
  buffered_teardown((struct halo_exchange *)x);
  return status;
}
