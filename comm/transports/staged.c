/* SPDX-License-Identifier: MIT */
/* Packed halos in chunks: while one is on its way the next is copied out, and another in. `staged`
 * hands them over through pinned memory that both ranks of a host map, and else by MPI; `pageable`
 * gives MPI plain memory, `mpi` the device's own pointers. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/mpi_check.h"
#include "comm/ranks/watch.h"
#include "comm/transports/aware.h"
#include "comm/transports/buffered.h"

/* Added to a message's tag for its token. */
#define TOKEN_TAG 32

/* ---- set-up ---- */

static status_t staged_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                             struct halo_exchange **exchange)
{
  struct halo_exchange *x;
  (void)reach;
  RETURN_IF_FAILED(buffered_setup(context, BUFFERED_PINNED, &x));
  status_t status = buffered_chunk_choose(x);
  if (status == STATUS_OK)
    *exchange = x;
  else
    buffered_teardown(x);
  return status;
}

static status_t pageable_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                               struct halo_exchange **exchange)
{
  (void)reach;
  return buffered_setup(context, BUFFERED_PAGEABLE, exchange);
}

static status_t mpi_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                          struct halo_exchange **exchange)
{
  RETURN_IF_FAILED(aware_try(context, reach));
  return buffered_setup(context, BUFFERED_DEVICE, exchange);
}

static int buffered_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX])
{
  if (halo_packer_find(backend->name)) return 1;
  snprintf(reason, GPU_TEXT_MAX, "backend %s has no halo packer", backend->name);
  return 0;
}

/* ---- one exchange ---- */

/* Time since the last look belongs to `transfer` while bytes are on their way, and to `wait` while
 * the halo is late. */
static void account(struct halo_exchange *x)
{
  double now = stats_now();
  if (x->sent > 0 && x->in_transfer > 0) x->times.seconds[HALO_TRANSFER] += now - x->since;
  if (x->sent > 0 && x->tokens_left > 0) x->times.seconds[HALO_WAIT] += now - x->since;
  x->since = now;
}

static int is_shared(const struct halo_exchange *x, int message)
{
  return x->shared[message].carried;
}

static status_t receives_post(struct halo_exchange *x)
{
  x->out_left = 0;
  for (int m = 0; m < x->plan.n; m++) {
    x->heard[m] = 0;
    if (is_shared(x, m)) continue;
    x->out_left++;
    RETURN_IF_FAILED(
        mpi_check(MPI_Irecv(NULL, 0, MPI_BYTE, x->plan.messages[m].peer,
                            TOKEN_TAG + x->plan.messages[m].recv_tag, x->context.comm, &x->tokens_in.at[m]),
                  "MPI_Irecv of a token"));
  }
  for (int c = 0; c < x->incoming.n; c++) {
    const struct halo_chunk *chunk = &x->incoming.chunk[c];
    const struct halo_message *message = &x->plan.messages[chunk->message];
    if (is_shared(x, chunk->message)) continue;
    RETURN_IF_FAILED(
        mpi_check(MPI_Irecv(x->host_recv[x->n % 2] + chunk->begin, (int)chunk->count, MPI_FLOAT,
                            message->peer, message->recv_tag, x->context.comm, &x->data_in.at[c]),
                  "MPI_Irecv of a halo"));
  }
  for (int p = 0; p < x->incoming.pieces; p++) x->missing[p] = x->incoming.piece[p].chunks;
  x->tokens_left = x->plan.n;
  x->data_left = x->incoming.n;
  for (int c = 0; c < x->outgoing.n; c++) x->out_left += !is_shared(x, x->outgoing.chunk[c].message);
  return STATUS_OK;
}

static status_t tokens_send(struct halo_exchange *x)
{
  handover_begin(&x->handover, (uint64_t)x->n + 1);
  for (int m = 0; m < x->plan.n; m++)
    if (!is_shared(x, m))
      RETURN_IF_FAILED(mpi_check(MPI_Isend(NULL, 0, MPI_BYTE, x->plan.messages[m].peer,
                                           TOKEN_TAG + x->plan.messages[m].send_tag, x->context.comm,
                                           &x->tokens_out.at[m]),
                                 "MPI_Isend of a token"));
  x->since = stats_now();
  return STATUS_OK;
}

static status_t piece_out(struct halo_exchange *x, const struct halo_piece *piece)
{
  int m = x->outgoing.chunk[piece->first].message;
  float *to = x->host_send[x->n % 2] + piece->begin;
  if (!x->by_rows[m])
    return gpu_copy_out(x->out, to, x->send[0], (size_t)piece->begin * sizeof(float),
                        (size_t)piece->count * sizeof(float));
  const struct halo_message *message = &x->plan.messages[m];
  struct gpu_rows rows =
      halo_rows(x->context.layout, &message->send, piece->begin - message->send_offset, piece->count);
  return gpu_copy_rows_out(x->out, to, x->from, &rows);
}

static status_t piece_in(struct halo_exchange *x, const struct halo_piece *piece)
{
  int m = x->incoming.chunk[piece->first].message, buffer = (int)(x->n % 2);
  const struct halo_message *message = &x->plan.messages[m];
  const float *from =
      piece->begin +
      (is_shared(x, m) ? x->handover.peer[m].buffer[buffer] - message->recv_offset : x->host_recv[buffer]);
  if (!x->by_rows[m])
    return gpu_copy_in(x->in, x->recv[0], (size_t)piece->begin * sizeof(float), from,
                       (size_t)piece->count * sizeof(float));
  struct gpu_rows rows =
      halo_rows(x->context.layout, &message->recv, piece->begin - message->recv_offset, piece->count);
  return gpu_copy_rows_in(x->in, x->field, &rows, from);
}

static status_t staged_copies_start(struct halo_exchange *x)
{
  for (int p = 0; p < x->outgoing.pieces; p++) {
    if (!x->packs_there) RETURN_IF_FAILED(piece_out(x, &x->outgoing.piece[p]));
    RETURN_IF_FAILED(gpu_record(x->copied[p], x->out));
  }
  return STATUS_OK;
}

static status_t staged_pack(struct halo_exchange *x)
{
  RETURN_IF_FAILED(buffered_mark(x, MARK_BEGIN, x->out));
  if (x->packed.n == 0) return STATUS_OK;
  if (x->plan.floats > 0)
    RETURN_IF_FAILED(x->packer->pack(x->packer_state, x->out, x->from, x->send[x->n % 2]));
  return buffered_mark(x, MARK_PACKED, x->out);
}

/* ---- buffers: a buffer is written again once all neighbours took what was in it ---- */

static status_t takes_send(struct halo_exchange *x)
{
  int passed = 1;
  while (x->took < x->n && passed) {
    RETURN_IF_FAILED(gpu_ready(x->arrived[x->took % BUFFERED_EVENTS], &passed));
    x->took += passed;
  }
  handover_take(&x->handover, (uint64_t)x->took);
  return STATUS_OK;
}

static int is_taken(const struct halo_exchange *x, int message)
{
  return !is_shared(x, message) || (long)handover_taken(&x->handover.peer[message]) >= x->n - 1;
}

static void buffer_describe(const void *of, struct watch_targets *targets)
{
  const struct halo_exchange *x = of;
  for (int m = 0; m < x->plan.n; m++)
    if (!is_taken(x, m)) halo_target_add(targets, &x->plan.messages[m]);
}

/* Between neighbours that send to each other this is so already: what came from them in the last
 * exchange was computed with what they took, and likewise here. */
static status_t buffer_await(struct halo_exchange *x)
{
  struct watch_wait wait;
  watch_begin(&wait, x->context.comm, NULL, NULL, NULL);
  for (;;) {
    RETURN_IF_FAILED(takes_send(x));
    int own = x->took >= x->n - 1, taken = 1;
    for (int m = 0; m < x->plan.n; m++) taken &= is_taken(x, m);
    if (own && taken) return STATUS_OK;
    if (own && !wait.what) watch_begin(&wait, x->context.comm, "halos", buffer_describe, x);
    RETURN_IF_FAILED(wait.what ? watch_poll(&wait) : watch_serve(&wait));
    sched_yield();
  }
}

/* ---- one exchange, continued ---- */

static status_t buffered_start(struct halo_exchange *x, struct gpu_mem from, struct gpu_mem field,
                               struct gpu_event *computed)
{
  x->from = from;
  x->field = field;
  x->sent = x->in_transfer = x->arriving = 0;
  RETURN_IF_FAILED(buffer_await(x));
  buffered_marks_choose(x);
  RETURN_IF_FAILED(receives_post(x));
  if (!computed) {
    RETURN_IF_FAILED(gpu_record(x->before, x->context.compute));
    computed = x->before;
  }
  RETURN_IF_FAILED(gpu_wait(x->out, computed));
  RETURN_IF_FAILED(gpu_wait(x->in, computed));
  RETURN_IF_FAILED(staged_pack(x));
  RETURN_IF_FAILED(staged_copies_start(x));
  RETURN_IF_FAILED(buffered_mark(x, MARK_OUT, x->out));
  RETURN_IF_FAILED(buffered_marks_renew(x));
  return x->outgoing.n == 0 ? tokens_send(x) : STATUS_OK;
}

/* Sends what has been copied out, in order. */
static status_t chunks_send(struct halo_exchange *x)
{
  while (x->sent < x->outgoing.n) {
    const struct halo_chunk *chunk = &x->outgoing.chunk[x->sent];
    const struct halo_message *message = &x->plan.messages[chunk->message];
    int copied = 0;
    RETURN_IF_FAILED(gpu_ready(x->copied[chunk->piece], &copied));
    if (!copied) return STATUS_OK;
    if (x->sent == 0) RETURN_IF_FAILED(tokens_send(x));
    if (is_shared(x, chunk->message))
      handover_send(&x->handover, message->send_tag, ++x->handed[chunk->message]);
    else
      RETURN_IF_FAILED(
          mpi_check(MPI_Isend(x->host_send[x->n % 2] + chunk->begin, (int)chunk->count, MPI_FLOAT,
                              message->peer, message->send_tag, x->context.comm, &x->data_out.at[x->sent]),
                    "MPI_Isend of a halo"));
    x->sent++;
  }
  return STATUS_OK;
}

/* Copies a piece to the device once all its chunks are here. */
static status_t chunk_arrived(struct halo_exchange *x, int c)
{
  int p = x->incoming.chunk[c].piece;
  const struct halo_piece *piece = &x->incoming.piece[p];
  x->in_transfer--;
  x->data_left--;
  if (--x->missing[p] > 0) return STATUS_OK;
  if (!x->arriving++) RETURN_IF_FAILED(buffered_mark(x, MARK_BACK, x->in));
  if (x->data_left == 0 && buffered_is_marked(x, MARK_HERE))
    RETURN_IF_FAILED(buffered_mark(x, MARK_HERE, x->out));
  if (x->kind == BUFFERED_DEVICE) return STATUS_OK;
  RETURN_IF_FAILED(piece_in(x, piece));
  return x->data_left == 0 ? buffered_mark(x, MARK_IN, x->in) : STATUS_OK;
}

/* How many of \a requests have finished since the last look; which, in x->indices. */
static status_t staged_is_done(struct halo_exchange *x, struct buffered_requests *requests, int n, int *done)
{
  *done = 0;
  if (n == 0 || !x->by_mpi) return STATUS_OK;
  int error = MPI_Testsome(n, requests->at, done, x->indices, x->statuses);
  for (int r = 0; error == MPI_SUCCESS && r < *done; r++) x->statuses[r].MPI_ERROR = MPI_SUCCESS;
  /* A message that is too long is the affair of who takes it. */
  return error == MPI_ERR_IN_STATUS && requests == &x->data_in ? STATUS_OK : mpi_check(error, "MPI_Testsome");
}

/* A halo that is shorter or longer than its chunk is no halo. \a r: of the finished ones. */
static status_t arrival_check(const struct halo_exchange *x, int r)
{
  const struct halo_chunk *chunk = &x->incoming.chunk[x->indices[r]];
  const struct halo_message *message = &x->plan.messages[chunk->message];
  int floats = 0, class = MPI_SUCCESS;
  char dir[8], came[32] = "more", name[WATCH_NAME_MAX];
  MPI_Error_class(x->statuses[r].MPI_ERROR, &class);
  if (class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE)
    return mpi_check(x->statuses[r].MPI_ERROR, "MPI_Testsome");
  if (class == MPI_SUCCESS) {
    RETURN_IF_FAILED(mpi_check(MPI_Get_count(&x->statuses[r], MPI_FLOAT, &floats), "MPI_Get_count"));
    if (floats == chunk->count) return STATUS_OK;
    if (floats == MPI_UNDEFINED)
      snprintf(came, sizeof came, "a part of one");
    else
      snprintf(came, sizeof came, "%d", floats);
  }
  return log_fail(STATUS_WRONG, "a halo from %s, face %s, has %s floats and must have %lld: WRONG",
                  watch_rank_name(x->context.comm, message->peer, name), halo_dir_name(message->dir, dir),
                  came, (long long)chunk->count);
}

static void token_taken(struct halo_exchange *x, int m)
{
  account(x);
  x->heard[m] = 1;
  x->tokens_left--;
  x->in_transfer += x->chunks[m];
}

/* Chunks come in order; a neighbour may be one exchange ahead. */
static status_t handed_take(struct halo_exchange *x, int m)
{
  const struct handover_peer *peer = &x->handover.peer[m];
  uint64_t base = (uint64_t)(x->n * x->chunks[m]), all = base + (uint64_t)x->chunks[m],
           sent = handover_sent(peer, x->plan.messages[m].recv_tag);
  if (!x->heard[m] && handover_begun(peer) > (uint64_t)x->n) token_taken(x, m);
  for (; x->got[m] < all && x->got[m] < sent; x->got[m]++) {
    account(x);
    RETURN_IF_FAILED(chunk_arrived(x, x->first[m] + (int)(x->got[m] - base)));
  }
  return STATUS_OK;
}

/* Data can be here before its token is seen. */
static status_t arrivals_take(struct halo_exchange *x)
{
  int done;
  for (int m = 0; m < x->plan.n; m++)
    if (is_shared(x, m)) RETURN_IF_FAILED(handed_take(x, m));
  RETURN_IF_FAILED(staged_is_done(x, &x->tokens_in, x->plan.n, &done));
  for (int r = 0; r < done; r++) token_taken(x, x->indices[r]);
  RETURN_IF_FAILED(staged_is_done(x, &x->data_in, x->incoming.n, &done));
  if (done > 0) account(x);
  for (int r = 0; r < done; r++) {
    RETURN_IF_FAILED(arrival_check(x, r));
    RETURN_IF_FAILED(chunk_arrived(x, x->indices[r]));
  }
  return STATUS_OK;
}

static status_t buffered_progress(struct halo_exchange *x)
{
  int done;
  RETURN_IF_FAILED(chunks_send(x));
  if (x->handover.block && x->took < x->n) RETURN_IF_FAILED(takes_send(x));
  if (x->tokens_left + x->data_left > 0) RETURN_IF_FAILED(arrivals_take(x));
  if (x->out_left == 0) return STATUS_OK;
  RETURN_IF_FAILED(staged_is_done(x, &x->tokens_out, x->plan.n, &done));
  if (done > 0) x->out_left -= done;
  RETURN_IF_FAILED(staged_is_done(x, &x->data_out, x->sent, &done));
  if (done > 0) x->out_left -= done;
  return STATUS_OK;
}

/* Who has not been heard of, or has not taken what was sent to it. */
static void staged_describe(const void *of, struct watch_targets *targets)
{
  const struct halo_exchange *x = of;
  for (int m = 0; m < x->plan.n; m++) {
    int pending = !x->heard[m] || x->tokens_out.at[m] != MPI_REQUEST_NULL;
    pending |= is_shared(x, m) && x->got[m] < (uint64_t)((x->n + 1) * x->chunks[m]);
    for (int c = 0; c < x->incoming.n; c++)
      pending |= x->incoming.chunk[c].message == m && x->data_in.at[c] != MPI_REQUEST_NULL;
    for (int c = 0; c < x->sent; c++)
      pending |= x->outgoing.chunk[c].message == m && x->data_out.at[c] != MPI_REQUEST_NULL;
    if (pending) halo_target_add(targets, &x->plan.messages[m]);
  }
}

static int left(const struct halo_exchange *x)
{
  return x->outgoing.n - x->sent + x->tokens_left + x->data_left + x->out_left;
}

/* Until the own halos are out, only the own device is waited for. */
static status_t halos_await(struct halo_exchange *x)
{
  struct watch_wait wait;
  watch_begin(&wait, x->context.comm, NULL, NULL, NULL);
  while (left(x) > 0) {
    int before = left(x), out = x->sent == x->outgoing.n;
    RETURN_IF_FAILED(buffered_progress(x));
    if (x->sent == x->outgoing.n && (!out || !wait.what))
      watch_begin(&wait, x->context.comm, "halos", staged_describe, x);
    if (left(x) != before) continue;
    RETURN_IF_FAILED(wait.what ? watch_poll(&wait) : watch_serve(&wait));
    sched_yield();
  }
  return STATUS_OK;
}

static status_t staged_unpack(struct halo_exchange *x)
{
  if (x->packed.n == 0) return STATUS_OK;
  RETURN_IF_FAILED(buffered_mark(x, MARK_READY, x->in));
  if (x->recv[0].bytes > 0)
    RETURN_IF_FAILED(x->packer->unpack(x->packer_state, x->in, x->field,
                                       x->recv[x->kind == BUFFERED_DEVICE ? x->n % 2 : 0]));
  return buffered_mark(x, MARK_UNPACKED, x->in);
}

static status_t buffered_finish(struct halo_exchange *x, struct gpu_event **arrived)
{
  struct gpu_event *all_here = x->arrived[x->n % BUFFERED_EVENTS];
  RETURN_IF_FAILED(halos_await(x));
  if (!x->arriving) RETURN_IF_FAILED(buffered_mark(x, MARK_BACK, x->in));
  if (!x->arriving || x->kind == BUFFERED_DEVICE) RETURN_IF_FAILED(buffered_mark(x, MARK_IN, x->in));
  RETURN_IF_FAILED(staged_unpack(x));
  RETURN_IF_FAILED(gpu_record(all_here, x->in));
  if (x->marks) x->marks->used = 1;
  x->times.exchanges++;
  x->n++;
  *arrived = all_here;
  return STATUS_OK;
}

const char *const halo_handovers[] = {"shared memory", "MPI"};

static const char *staged_handover(const struct halo_exchange *x, int m, const char **why)
{
  *why = is_shared(x, m) ? "on one host" : x->shared[m].why;
  return halo_handovers[!is_shared(x, m)];
}

#define PACKED                                                                                               \
  .start = buffered_start, .progress = buffered_progress, .finish = buffered_finish,                         \
  .times = buffered_times, .teardown = buffered_teardown

const struct halo_transport halo_transport_staged = {
    .name = "staged",
    .about = "pack on the device, copy to pinned host memory; shared memory within a host, otherwise MPI",
    .available = buffered_available,
    .setup = staged_setup,
    .handover = staged_handover,
    .trial = HALO_TRIAL,
    PACKED,
};

const struct halo_transport halo_transport_pageable = {
    .name = "pageable",
    .about = "like staged, with pageable host memory (a baseline)",
    .available = buffered_available,
    .setup = pageable_setup,
    PACKED,
};

const struct halo_transport halo_transport_mpi = {
    .name = "mpi",
    .about = "pack on the device, pass device pointers to MPI; needs a GPU-aware MPI",
    .available = aware_available,
    .setup = mpi_setup,
    .trial = HALO_TRIAL,
    PACKED,
};
