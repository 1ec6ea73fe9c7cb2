/* SPDX-License-Identifier: MIT */
/* Halos through host memory: pack on the device, copy out, MPI between hosts, copy in, unpack. `staged` takes pinned
 * host buffers, `pageable` plain ones: the baseline. */
#include "config.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/agree.h"
#include "comm/transport.h"
#include "comm/watch.h"

/* Added to a message's tag for its token. */
#define TOKEN_TAG 32

/* Device timestamps of an exchange are read this many exchanges later, when they have surely passed: the copy out of
 * exchange n comes after the unpacking of exchange n − 2 in every sweep's dependencies. */
#define RING 4

enum mark { MARK_BEGIN, MARK_PACKED, MARK_OUT, MARK_BACK, MARK_IN, MARK_UNPACKED, MARKS };

struct marks {
  struct gpu_event *event[MARKS];
  int used;
};

enum request_kind { TOKEN_IN, DATA_IN, TOKEN_OUT, DATA_OUT, REQUEST_KINDS };

struct halo_exchange {
  struct halo_context context;
  struct halo_plan plan;
  enum gpu_host_kind host_kind;
  const struct halo_packer *packer;
  struct halo_packer_state *packer_state;
  struct gpu_queue *queue;
  struct gpu_mem send, recv;
  float *host_send;
  float *host_recv[2];        /* by turns: the device may still copy one in while the next halo arrives */
  struct gpu_event *computed; /* where the caller has none */
  struct marks ring[RING];
  struct halo_times times;
  long n; /* exchanges begun */

  /* the exchange under way */
  struct gpu_mem field;
  int sent;
  MPI_Request requests[REQUEST_KINDS * HALO_MESSAGES_MAX];
  int tokens_left, left,
      in_transfer; /* receives without token; all requests; receives between token and last byte */
  double since;    /* time up to which wait and transfer are accounted */
};

static struct marks *marks_now(struct halo_exchange *x)
{
  return &x->ring[x->n % RING];
}

static int request_index(const struct halo_exchange *x, enum request_kind kind, int message)
{
  return (int)kind * x->plan.n + message;
}

/* ---- set-up ---- */

static status_t ring_create(struct halo_exchange *x)
{
  RETURN_IF_FAILED(gpu_event_create(x->context.device, &x->computed));
  for (int r = 0; r < RING; r++)
    for (int m = 0; m < MARKS; m++)
      RETURN_IF_FAILED(gpu_event_create(x->context.device, &x->ring[r].event[m]));
  return STATUS_OK;
}

static void staged_teardown(struct halo_exchange *x)
{
  if (!x) return;
  struct gpu_device *device = x->context.device;
  for (int r = 0; r < RING; r++)
    for (int m = 0; m < MARKS; m++) gpu_event_destroy(x->ring[r].event[m]);
  gpu_event_destroy(x->computed);
  for (int r = 0; r < 2; r++) gpu_free_host(device, x->host_kind, x->host_recv[r]);
  gpu_free_host(device, x->host_kind, x->host_send);
  gpu_free(device, &x->recv);
  gpu_free(device, &x->send);
  gpu_queue_destroy(x->queue);
  if (x->packer_state) x->packer->close(x->packer_state);
  free(x);
}

static status_t buffers_create(struct halo_exchange *x)
{
  struct gpu_device *device = x->context.device;
  size_t send = (size_t)x->plan.floats * sizeof(float), recv = (size_t)x->plan.recv_floats * sizeof(float);
  if (send > 0) {
    RETURN_IF_FAILED(gpu_alloc(device, send, &x->send));
    RETURN_IF_FAILED(gpu_alloc_host(device, send, x->host_kind, (void **)&x->host_send));
  }
  if (recv == 0) return STATUS_OK;
  RETURN_IF_FAILED(gpu_alloc(device, recv, &x->recv));
  for (int r = 0; r < 2; r++)
    RETURN_IF_FAILED(gpu_alloc_host(device, recv, x->host_kind, (void **)&x->host_recv[r]));
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

static status_t setup(const struct halo_context *context, enum gpu_host_kind host_kind,
                      struct halo_exchange **exchange)
{
  status_t status;
  struct halo_exchange *x = calloc(1, sizeof *x);
  if (!x) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange");
  x->context = *context;
  x->plan = *context->plan;
  x->context.plan = &x->plan;
  x->host_kind = host_kind;
  x->packer = halo_packer_find(context->device->backend->name);
  if (!x->packer) {
    status = log_fail(STATUS_ENVIRONMENT, "backend %s has no halo packer", context->device->backend->name);
    goto fail;
  }
  TRY(messages_check(&x->plan), fail);
  TRY(x->packer->open(context->device, context->layout, &x->plan, &x->packer_state), fail);
  TRY(gpu_queue_create(context->device, GPU_URGENT, &x->queue), fail);
  TRY(buffers_create(x), fail);
  TRY(ring_create(x), fail);
  *exchange = x;
  return STATUS_OK;
fail:
  staged_teardown(x);
  return status;
}

static status_t staged_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                             struct halo_exchange **exchange)
{
  (void)reach;
  return setup(context, GPU_HOST_PINNED, exchange);
}

static status_t pageable_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                               struct halo_exchange **exchange)
{
  (void)reach;
  return setup(context, GPU_HOST_PAGEABLE, exchange);
}

static int staged_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX])
{
  if (halo_packer_find(backend->name)) return 1;
  snprintf(reason, GPU_TEXT_MAX, "backend %s has no halo packer", backend->name);
  return 0;
}

/* ---- times ---- */

static status_t marks_read(struct halo_exchange *x, struct marks *marks)
{
  static const struct {
    enum halo_phase phase;
    enum mark begin, end;
  } spans[] = {{HALO_PACK, MARK_BEGIN, MARK_PACKED},
               {HALO_D2H, MARK_PACKED, MARK_OUT},
               {HALO_H2D, MARK_BACK, MARK_IN},
               {HALO_UNPACK, MARK_IN, MARK_UNPACKED}};
  for (size_t s = 0; marks->used && s < sizeof spans / sizeof spans[0]; s++) {
    double seconds;
    RETURN_IF_FAILED(gpu_elapsed(marks->event[spans[s].begin], marks->event[spans[s].end], &seconds));
    x->times.seconds[spans[s].phase] += seconds;
  }
  marks->used = 0;
  return STATUS_OK;
}

static status_t staged_times(struct halo_exchange *x, struct halo_times *times)
{
  for (int r = 0; r < RING; r++) RETURN_IF_FAILED(marks_read(x, &x->ring[r]));
  for (int p = 0; p < HALO_PHASES; p++) times->seconds[p] += x->times.seconds[p];
  times->exchanges += x->times.exchanges;
  memset(&x->times, 0, sizeof x->times);
  return STATUS_OK;
}

/* Time since the last look belongs to `transfer` while bytes are on their way, and to `wait` while the halo is late. */
static void account(struct halo_exchange *x)
{
  double now = stats_now();
  if (x->sent && x->in_transfer > 0) x->times.seconds[HALO_TRANSFER] += now - x->since;
  if (x->sent && x->tokens_left > 0) x->times.seconds[HALO_WAIT] += now - x->since;
  x->since = now;
}

/* ---- one exchange ---- */

static status_t receives_post(struct halo_exchange *x)
{
  const struct halo_plan *plan = &x->plan;
  for (int m = 0; m < plan->n; m++) {
    const struct halo_message *message = &plan->messages[m];
    RETURN_IF_FAILED(agree_mpi(MPI_Irecv(NULL, 0, MPI_BYTE, message->peer, TOKEN_TAG + message->recv_tag,
                                         x->context.comm, &x->requests[request_index(x, TOKEN_IN, m)]),
                               "MPI_Irecv of a token"));
    RETURN_IF_FAILED(
        agree_mpi(MPI_Irecv(x->host_recv[x->n % 2] + message->recv_offset, (int)message->recv_count,
                            MPI_FLOAT, message->peer, message->recv_tag, x->context.comm,
                            &x->requests[request_index(x, DATA_IN, m)]),
                  "MPI_Irecv of a halo"));
  }
  x->tokens_left = plan->n;
  x->left = REQUEST_KINDS * plan->n;
  return STATUS_OK;
}

static status_t sends_post(struct halo_exchange *x)
{
  const struct halo_plan *plan = &x->plan;
  for (int m = 0; m < plan->n; m++) {
    const struct halo_message *message = &plan->messages[m];
    RETURN_IF_FAILED(agree_mpi(MPI_Isend(NULL, 0, MPI_BYTE, message->peer, TOKEN_TAG + message->send_tag,
                                         x->context.comm, &x->requests[request_index(x, TOKEN_OUT, m)]),
                               "MPI_Isend of a token"));
    RETURN_IF_FAILED(agree_mpi(MPI_Isend(x->host_send + message->send_offset, (int)message->count, MPI_FLOAT,
                                         message->peer, message->send_tag, x->context.comm,
                                         &x->requests[request_index(x, DATA_OUT, m)]),
                               "MPI_Isend of a halo"));
  }
  x->sent = 1;
  x->since = stats_now();
  return STATUS_OK;
}

static status_t staged_start(struct halo_exchange *x, struct gpu_mem field, struct gpu_event *computed)
{
  struct marks *marks = marks_now(x);
  x->field = field;
  x->sent = x->in_transfer = x->left = x->tokens_left = 0;
  for (int r = 0; r < REQUEST_KINDS * HALO_MESSAGES_MAX; r++) x->requests[r] = MPI_REQUEST_NULL;
  RETURN_IF_FAILED(marks_read(x, marks));
  RETURN_IF_FAILED(receives_post(x));
  if (!computed) {
    RETURN_IF_FAILED(gpu_record(x->computed, x->context.compute));
    computed = x->computed;
  }
  RETURN_IF_FAILED(gpu_wait(x->queue, computed));
  RETURN_IF_FAILED(gpu_record(marks->event[MARK_BEGIN], x->queue));
  if (x->send.bytes > 0) RETURN_IF_FAILED(x->packer->pack(x->packer_state, x->queue, field, x->send));
  RETURN_IF_FAILED(gpu_record(marks->event[MARK_PACKED], x->queue));
  if (x->send.bytes > 0) RETURN_IF_FAILED(gpu_copy_out(x->queue, x->host_send, x->send, 0, x->send.bytes));
  return gpu_record(marks->event[MARK_OUT], x->queue);
}

/* Takes in finished requests; data can be here before its token is seen. */
static status_t requests_test(struct halo_exchange *x)
{
  int n = x->plan.n, done = 0, indices[REQUEST_KINDS * HALO_MESSAGES_MAX];
  RETURN_IF_FAILED(agree_mpi(
      MPI_Testsome(REQUEST_KINDS * n, x->requests, &done, indices, MPI_STATUSES_IGNORE), "MPI_Testsome"));
  if (done <= 0) return STATUS_OK;
  account(x);
  for (int r = 0; r < done; r++) {
    if (indices[r] / n == TOKEN_IN) x->tokens_left--, x->in_transfer++;
    if (indices[r] / n == DATA_IN) x->in_transfer--;
  }
  x->left -= done;
  return STATUS_OK;
}

static status_t staged_progress(struct halo_exchange *x)
{
  if (!x->sent) {
    int out = 0;
    RETURN_IF_FAILED(gpu_ready(marks_now(x)->event[MARK_OUT], &out));
    if (out) RETURN_IF_FAILED(sends_post(x));
  }
  return x->left > 0 ? requests_test(x) : STATUS_OK;
}

/* Who has not been heard of, or has not taken what was sent to it. */
static void describe(const void *of, struct watch_targets *targets)
{
  const struct halo_exchange *x = of;
  for (int m = 0; m < x->plan.n; m++) {
    int pending = 0;
    for (int kind = 0; kind < REQUEST_KINDS; kind++)
      pending |= x->requests[request_index(x, (enum request_kind)kind, m)] != MPI_REQUEST_NULL;
    if (!x->sent || !pending) continue;
    targets->at[targets->n].rank = x->plan.messages[m].peer;
    halo_dir_name(x->plan.messages[m].dir, targets->at[targets->n++].face);
  }
}

static status_t halos_await(struct halo_exchange *x)
{
  struct watch_wait wait;
  watch_begin(&wait, x->context.comm, x->sent ? "halos" : NULL, describe, x);
  while (!x->sent || x->left > 0) {
    int left = x->left, sent = x->sent;
    RETURN_IF_FAILED(staged_progress(x));
    if (x->sent != sent) watch_begin(&wait, x->context.comm, "halos", describe, x);
    if (x->left != left) continue;
    RETURN_IF_FAILED(x->sent ? watch_look(&wait) : watch_serve(&wait));
    sched_yield();
  }
  return STATUS_OK;
}

static status_t staged_finish(struct halo_exchange *x, struct gpu_event **arrived)
{
  struct marks *marks = marks_now(x);
  RETURN_IF_FAILED(halos_await(x));
  RETURN_IF_FAILED(gpu_record(marks->event[MARK_BACK], x->queue));
  if (x->recv.bytes > 0)
    RETURN_IF_FAILED(gpu_copy_in(x->queue, x->recv, 0, x->host_recv[x->n % 2], x->recv.bytes));
  RETURN_IF_FAILED(gpu_record(marks->event[MARK_IN], x->queue));
  if (x->recv.bytes > 0) RETURN_IF_FAILED(x->packer->unpack(x->packer_state, x->queue, x->field, x->recv));
  RETURN_IF_FAILED(gpu_record(marks->event[MARK_UNPACKED], x->queue));
  marks->used = 1;
  x->times.exchanges++;
  x->n++;
  *arrived = marks->event[MARK_UNPACKED];
  return STATUS_OK;
}

const struct halo_transport halo_transport_staged = {
    .name = "staged",
    .about = "pack on the device, pinned host buffers, non-blocking MPI",
    .available = staged_available,
    .setup = staged_setup,
    .start = staged_start,
    .progress = staged_progress,
    .finish = staged_finish,
    .times = staged_times,
    .teardown = staged_teardown,
};

const struct halo_transport halo_transport_pageable = {
    .name = "pageable",
    .about = "the baseline: like staged, with pageable host buffers",
    .available = staged_available,
    .setup = pageable_setup,
    .start = staged_start,
    .progress = staged_progress,
    .finish = staged_finish,
    .times = staged_times,
    .teardown = staged_teardown,
};
