/* SPDX-License-Identifier: MIT */
/* Transports that send packed halos in chunks: while one chunk is sent, another is copied from the
 * device, and a third one to the device. `staged` passes chunks through pinned memory that both
 * ranks of a host map, and between hosts by MPI. `staged-mpi` always uses MPI. `pageable` gives MPI
 * pageable host memory, and `mpi` gives it device pointers. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/mpi_check.h"
#include "comm/ranks/watch.h"
#include "comm/transports/aware.h"
#include "comm/transports/buffered.h"

/* Offset of a token's MPI tag from the tag of the halo message. A token is an empty message sent
 * before the data. */
#define TOKEN_TAG 32

static status_t chunked_setup(const struct halo_context *context, enum buffered_kind kind,
                              struct halo_exchange **exchange)
{
  struct halo_exchange *x;
  RETURN_IF_FAILED(buffered_setup(context, kind, &x));
  status_t status = buffered_chunk_choose((struct buffered_exchange *)x);
  if (status == STATUS_OK)
    *exchange = x;
  else
    buffered_teardown(x);
  return status;
}

static status_t staged_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                             struct halo_exchange **exchange)
{
  (void)reach;
  return chunked_setup(context, BUFFERED_SHARED, exchange);
}

static status_t staged_mpi_setup(const struct halo_context *context,
                                 struct halo_reach reach[HALO_MESSAGES_MAX], struct halo_exchange **exchange)
{
  (void)reach;
  return chunked_setup(context, BUFFERED_PINNED, exchange);
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

/* Adds the time since the last poll to `transfer` if data is in flight, and to `wait` if a
 * neighbour has not begun to send. */
static void account(struct buffered_current *current, struct buffered_clock *clock)
{
  double now = stats_now();
  if (current->sent > 0 && current->in_transfer > 0)
    clock->times.seconds[HALO_TRANSFER] += now - clock->since;
  if (current->sent > 0 && current->tokens_left > 0) clock->times.seconds[HALO_WAIT] += now - clock->since;
  clock->since = now;
}

static int is_shared(const struct buffered_local *local, int message)
{
  return local->shared[message].carried;
}

static status_t receives_post(struct buffered_exchange *x)
{
  x->current.out_left = 0;
  for (int m = 0; m < x->fixed.plan.n; m++) {
    x->current.heard[m] = 0;
    if (is_shared(&x->local, m)) continue;
    x->current.out_left++;
    RETURN_IF_FAILED(mpi_check(MPI_Irecv(NULL, 0, MPI_BYTE, x->fixed.plan.messages[m].peer,
                                         TOKEN_TAG + x->fixed.plan.messages[m].recv_tag,
                                         x->fixed.context.comm, &x->current.tokens_in.at[m]),
                               "MPI_Irecv of a token"));
  }
  for (int c = 0; c < x->fixed.incoming.n; c++) {
    const struct halo_chunk *chunk = &x->fixed.incoming.chunk[c];
    const struct halo_message *message = &x->fixed.plan.messages[chunk->message];
    if (is_shared(&x->local, chunk->message)) continue;
    RETURN_IF_FAILED(mpi_check(MPI_Irecv(x->fixed.host_recv[x->current.n % 2] + chunk->begin,
                                         (int)chunk->count, MPI_FLOAT, message->peer, message->recv_tag,
                                         x->fixed.context.comm, &x->current.data_in.at[c]),
                               "MPI_Irecv of a halo"));
  }
  for (int p = 0; p < x->fixed.incoming.pieces; p++)
    x->current.missing[p] = x->fixed.incoming.piece[p].chunks;
  x->current.tokens_left = x->fixed.plan.n;
  x->current.data_left = x->fixed.incoming.n;
  for (int c = 0; c < x->fixed.outgoing.n; c++)
    x->current.out_left += !is_shared(&x->local, x->fixed.outgoing.chunk[c].message);
  return STATUS_OK;
}

static status_t tokens_send(struct buffered_exchange *x)
{
  handover_begin(&x->local.handover, (uint64_t)x->current.n + 1);
  for (int m = 0; m < x->fixed.plan.n; m++)
    if (!is_shared(&x->local, m))
      RETURN_IF_FAILED(mpi_check(MPI_Isend(NULL, 0, MPI_BYTE, x->fixed.plan.messages[m].peer,
                                           TOKEN_TAG + x->fixed.plan.messages[m].send_tag,
                                           x->fixed.context.comm, &x->current.tokens_out.at[m]),
                                 "MPI_Isend of a token"));
  x->clock.since = stats_now();
  return STATUS_OK;
}

static status_t piece_out(const struct buffered_fixed *fixed, struct buffered_current *current,
                          const struct halo_piece *piece)
{
  int m = fixed->outgoing.chunk[piece->first].message;
  float *to = fixed->host_send[current->n % 2] + piece->begin;
  if (!fixed->by_rows[m])
    return gpu_copy_out(fixed->out, to, fixed->send[0], (size_t)piece->begin * sizeof(float),
                        (size_t)piece->count * sizeof(float));
  const struct halo_message *message = &fixed->plan.messages[m];
  struct gpu_rows rows =
      halo_rows(fixed->context.layout, &message->send, piece->begin - message->send_offset, piece->count);
  return gpu_copy_rows_out(fixed->out, to, current->from, &rows);
}

static status_t piece_in(struct buffered_exchange *x, const struct halo_piece *piece)
{
  int m = x->fixed.incoming.chunk[piece->first].message, buffer = (int)(x->current.n % 2);
  const struct halo_message *message = &x->fixed.plan.messages[m];
  const float *from = piece->begin + (is_shared(&x->local, m)
                                          ? x->local.handover.peer[m].buffer[buffer] - message->recv_offset
                                          : x->fixed.host_recv[buffer]);
  if (!x->fixed.by_rows[m])
    return gpu_copy_in(x->fixed.in, x->fixed.recv[0], (size_t)piece->begin * sizeof(float), from,
                       (size_t)piece->count * sizeof(float));
  struct gpu_rows rows =
      halo_rows(x->fixed.context.layout, &message->recv, piece->begin - message->recv_offset, piece->count);
  return gpu_copy_rows_in(x->fixed.in, x->current.field, &rows, from);
}

static status_t staged_copies_start(const struct buffered_fixed *fixed, struct buffered_current *current)
{
  for (int p = 0; p < fixed->outgoing.pieces; p++) {
    if (!fixed->packs_there) RETURN_IF_FAILED(piece_out(fixed, current, &fixed->outgoing.piece[p]));
    RETURN_IF_FAILED(gpu_record(fixed->copied[p], fixed->out));
  }
  return STATUS_OK;
}

static status_t staged_pack(struct buffered_exchange *x)
{
  RETURN_IF_FAILED(buffered_mark(&x->clock, MARK_BEGIN, x->fixed.out));
  if (x->fixed.packed.n == 0) return STATUS_OK;
  if (x->fixed.plan.floats > 0)
    RETURN_IF_FAILED(x->fixed.packer->move(x->fixed.packer_state, x->fixed.out, x->current.from,
                                           x->fixed.send[x->current.n % 2], 1));
  return buffered_mark(&x->clock, MARK_PACKED, x->fixed.out);
}

/* ---- buffers: reused after all neighbours have copied the data in them ---- */

static status_t takes_send(struct buffered_exchange *x)
{
  int passed = 1;
  while (x->local.took < x->current.n && passed) {
    RETURN_IF_FAILED(gpu_ready(x->fixed.arrived[x->local.took % BUFFERED_EVENTS], &passed));
    x->local.took += passed;
  }
  handover_take(&x->local.handover, (uint64_t)x->local.took);
  return STATUS_OK;
}

static int is_taken(const struct buffered_local *local, const struct buffered_current *current, int message)
{
  return !is_shared(local, message) || (long)handover_taken(&local->handover.peer[message]) >= current->n - 1;
}

static void buffer_describe(const void *of, struct watch_targets *targets)
{
  const struct buffered_exchange *x = of;
  for (int m = 0; m < x->fixed.plan.n; m++)
    if (!is_taken(&x->local, &x->current, m)) halo_target_add(targets, &x->fixed.plan.messages[m]);
}

/* Waits until the next send buffer may be overwritten. If neighbours send to each other, this
 * returns at once: a neighbour has computed its last data from the halo that this buffer held. */
static status_t buffer_await(struct buffered_exchange *x)
{
  struct watch_wait wait;
  watch_begin(&wait, x->fixed.context.comm, NULL, NULL, NULL);
  for (;;) {
    RETURN_IF_FAILED(takes_send(x));
    int own = x->local.took >= x->current.n - 1, taken = 1;
    for (int m = 0; m < x->fixed.plan.n; m++) taken &= is_taken(&x->local, &x->current, m);
    if (own && taken) return STATUS_OK;
    if (own && !wait.what) watch_begin(&wait, x->fixed.context.comm, "halos", buffer_describe, x);
    RETURN_IF_FAILED(wait.what ? watch_poll(&wait) : watch_serve(&wait));
    sched_yield();
  }
}

static status_t buffered_start(struct halo_exchange *exchange, struct gpu_mem from, struct gpu_mem field,
                               struct gpu_event *computed)
{
  struct buffered_exchange *x = (struct buffered_exchange *)exchange;
  x->current.from = from;
  x->current.field = field;
  x->current.sent = x->current.in_transfer = x->current.arriving = 0;
  RETURN_IF_FAILED(buffer_await(x));
  buffered_marks_choose(&x->clock);
  RETURN_IF_FAILED(receives_post(x));
  if (!computed) {
    RETURN_IF_FAILED(gpu_record(x->fixed.before, x->fixed.context.compute));
    computed = x->fixed.before;
  }
  RETURN_IF_FAILED(gpu_wait(x->fixed.out, computed));
  RETURN_IF_FAILED(gpu_wait(x->fixed.in, computed));
  RETURN_IF_FAILED(staged_pack(x));
  RETURN_IF_FAILED(staged_copies_start(&x->fixed, &x->current));
  RETURN_IF_FAILED(buffered_mark(&x->clock, MARK_OUT, x->fixed.out));
  RETURN_IF_FAILED(buffered_marks_renew(&x->fixed, &x->clock));
  return x->fixed.outgoing.n == 0 ? tokens_send(x) : STATUS_OK;
}

/* Sends, in order, the chunks whose pieces have been copied from the device. */
static status_t chunks_send(struct buffered_exchange *x)
{
  while (x->current.sent < x->fixed.outgoing.n) {
    const struct halo_chunk *chunk = &x->fixed.outgoing.chunk[x->current.sent];
    const struct halo_message *message = &x->fixed.plan.messages[chunk->message];
    int copied = 0;
    RETURN_IF_FAILED(gpu_ready(x->fixed.copied[chunk->piece], &copied));
    if (!copied) return STATUS_OK;
    if (x->current.sent == 0) RETURN_IF_FAILED(tokens_send(x));
    if (is_shared(&x->local, chunk->message))
      handover_send(&x->local.handover, message->send_tag, ++x->local.handed[chunk->message]);
    else
      RETURN_IF_FAILED(mpi_check(MPI_Isend(x->fixed.host_send[x->current.n % 2] + chunk->begin,
                                           (int)chunk->count, MPI_FLOAT, message->peer, message->send_tag,
                                           x->fixed.context.comm, &x->current.data_out.at[x->current.sent]),
                                 "MPI_Isend of a halo"));
    x->current.sent++;
  }
  return STATUS_OK;
}

/* Copies a piece to the device when all its chunks have arrived. */
static status_t chunk_arrived(struct buffered_exchange *x, int c)
{
  int p = x->fixed.incoming.chunk[c].piece;
  const struct halo_piece *piece = &x->fixed.incoming.piece[p];
  x->current.in_transfer--;
  x->current.data_left--;
  if (--x->current.missing[p] > 0) return STATUS_OK;
  if (!x->current.arriving++) RETURN_IF_FAILED(buffered_mark(&x->clock, MARK_BACK, x->fixed.in));
  if (x->current.data_left == 0 && buffered_is_marked(&x->fixed, MARK_HERE))
    RETURN_IF_FAILED(buffered_mark(&x->clock, MARK_HERE, x->fixed.out));
  if (x->fixed.kind == BUFFERED_DEVICE) return STATUS_OK;
  RETURN_IF_FAILED(piece_in(x, piece));
  return x->current.data_left == 0 ? buffered_mark(&x->clock, MARK_IN, x->fixed.in) : STATUS_OK;
}

/* Sets *done to the number of \a requests that finished since the last call, and current->indices
 * to their indices. */
static status_t staged_is_done(struct buffered_local *local, struct buffered_current *current,
                               struct buffered_requests *requests, int n, int *done)
{
  *done = 0;
  if (n == 0 || !local->by_mpi) return STATUS_OK;
  int error = MPI_Testsome(n, requests->at, done, current->indices, current->statuses);
  for (int r = 0; error == MPI_SUCCESS && r < *done; r++) current->statuses[r].MPI_ERROR = MPI_SUCCESS;
  /* arrival_check reports messages that are too long. */
  return error == MPI_ERR_IN_STATUS && requests == &current->data_in ? STATUS_OK
                                                                     : mpi_check(error, "MPI_Testsome");
}

/* Checks that the chunk of finished request \a r has arrived with its full length. */
static status_t arrival_check(const struct buffered_fixed *fixed, const struct buffered_current *current,
                              int r)
{
  const struct halo_chunk *chunk = &fixed->incoming.chunk[current->indices[r]];
  const struct halo_message *message = &fixed->plan.messages[chunk->message];
  MPI_Count bytes = 0;
  int class = MPI_SUCCESS;
  char dir[8], came[32] = "more", name[WATCH_NAME_MAX];
  MPI_Error_class(current->statuses[r].MPI_ERROR, &class);
  if (class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE)
    return mpi_check(current->statuses[r].MPI_ERROR, "MPI_Testsome");
  if (class == MPI_SUCCESS) {
    RETURN_IF_FAILED(
        mpi_check(MPI_Get_elements_x(&current->statuses[r], MPI_BYTE, &bytes), "MPI_Get_elements_x"));
    if (bytes == chunk->count * (int64_t)sizeof(float)) return STATUS_OK;
    snprintf(came, sizeof came, "%.10g", (double)bytes / sizeof(float));
  }
  return log_fail(STATUS_WRONG, "wrong halo from %s, face %s: %s floats instead of %lld",
                  watch_rank_name(fixed->context.comm, message->peer, name), halo_dir_name(message->dir, dir),
                  came, (long long)chunk->count);
}

static void token_taken(struct buffered_exchange *x, int m)
{
  account(&x->current, &x->clock);
  x->current.heard[m] = 1;
  x->current.tokens_left--;
  x->current.in_transfer += x->fixed.chunks[m];
}

/* Receives chunks from shared memory, in order; the neighbour may be one exchange ahead. */
static status_t handed_take(struct buffered_exchange *x, int m)
{
  const struct handover_peer *peer = &x->local.handover.peer[m];
  uint64_t base = (uint64_t)(x->current.n * x->fixed.chunks[m]), all = base + (uint64_t)x->fixed.chunks[m],
           sent = handover_sent(peer, x->fixed.plan.messages[m].recv_tag);
  if (!x->current.heard[m] && handover_begun(peer) > (uint64_t)x->current.n) token_taken(x, m);
  for (; x->local.got[m] < all && x->local.got[m] < sent; x->local.got[m]++) {
    account(&x->current, &x->clock);
    RETURN_IF_FAILED(chunk_arrived(x, x->fixed.first[m] + (int)(x->local.got[m] - base)));
  }
  return STATUS_OK;
}

/* Receives all tokens and halo data that have arrived. Data may be seen before its token. */
static status_t arrivals_take(struct buffered_exchange *x)
{
  int done;
  for (int m = 0; m < x->fixed.plan.n; m++)
    if (is_shared(&x->local, m)) RETURN_IF_FAILED(handed_take(x, m));
  RETURN_IF_FAILED(staged_is_done(&x->local, &x->current, &x->current.tokens_in, x->fixed.plan.n, &done));
  for (int r = 0; r < done; r++) token_taken(x, x->current.indices[r]);
  RETURN_IF_FAILED(staged_is_done(&x->local, &x->current, &x->current.data_in, x->fixed.incoming.n, &done));
  if (done > 0) account(&x->current, &x->clock);
  for (int r = 0; r < done; r++) {
    RETURN_IF_FAILED(arrival_check(&x->fixed, &x->current, r));
    RETURN_IF_FAILED(chunk_arrived(x, x->current.indices[r]));
  }
  return STATUS_OK;
}

static status_t buffered_progress(struct halo_exchange *exchange)
{
  struct buffered_exchange *x = (struct buffered_exchange *)exchange;
  int done;
  RETURN_IF_FAILED(chunks_send(x));
  if (x->local.handover.block && x->local.took < x->current.n) RETURN_IF_FAILED(takes_send(x));
  if (x->current.tokens_left + x->current.data_left > 0) RETURN_IF_FAILED(arrivals_take(x));
  if (x->current.out_left == 0) return STATUS_OK;
  RETURN_IF_FAILED(staged_is_done(&x->local, &x->current, &x->current.tokens_out, x->fixed.plan.n, &done));
  if (done > 0) x->current.out_left -= done;
  RETURN_IF_FAILED(staged_is_done(&x->local, &x->current, &x->current.data_out, x->current.sent, &done));
  if (done > 0) x->current.out_left -= done;
  return STATUS_OK;
}

/* Lists neighbours from which data is missing, or which have not received the data sent to them. */
static void staged_describe(const void *of, struct watch_targets *targets)
{
  const struct buffered_exchange *x = of;
  for (int m = 0; m < x->fixed.plan.n; m++) {
    int pending = !x->current.heard[m] || x->current.tokens_out.at[m] != MPI_REQUEST_NULL;
    pending |=
        is_shared(&x->local, m) && x->local.got[m] < (uint64_t)((x->current.n + 1) * x->fixed.chunks[m]);
    for (int c = 0; c < x->fixed.incoming.n; c++)
      pending |= x->fixed.incoming.chunk[c].message == m && x->current.data_in.at[c] != MPI_REQUEST_NULL;
    for (int c = 0; c < x->current.sent; c++)
      pending |= x->fixed.outgoing.chunk[c].message == m && x->current.data_out.at[c] != MPI_REQUEST_NULL;
    if (pending) halo_target_add(targets, &x->fixed.plan.messages[m]);
  }
}

static int left(const struct buffered_fixed *fixed, const struct buffered_current *current)
{
  return fixed->outgoing.n - current->sent + current->tokens_left + current->data_left + current->out_left;
}

/* Waits for the halos. Until this rank's own halos are sent, it waits for its own device only. */
static status_t halos_await(struct buffered_exchange *x)
{
  struct watch_wait wait;
  watch_begin(&wait, x->fixed.context.comm, NULL, NULL, NULL);
  while (left(&x->fixed, &x->current) > 0) {
    int before = left(&x->fixed, &x->current), out = x->current.sent == x->fixed.outgoing.n;
    RETURN_IF_FAILED(buffered_progress((struct halo_exchange *)x));
    if (x->current.sent == x->fixed.outgoing.n && (!out || !wait.what))
      watch_begin(&wait, x->fixed.context.comm, "halos", staged_describe, x);
    if (left(&x->fixed, &x->current) != before) continue;
    RETURN_IF_FAILED(wait.what ? watch_poll(&wait) : watch_serve(&wait));
    sched_yield();
  }
  return STATUS_OK;
}

static status_t staged_unpack(struct buffered_exchange *x)
{
  if (x->fixed.packed.n == 0) return STATUS_OK;
  RETURN_IF_FAILED(buffered_mark(&x->clock, MARK_READY, x->fixed.in));
  if (x->fixed.recv[0].bytes > 0)
    RETURN_IF_FAILED(
        x->fixed.packer->move(x->fixed.packer_state, x->fixed.in, x->current.field,
                              x->fixed.recv[x->fixed.kind == BUFFERED_DEVICE ? x->current.n % 2 : 0], 0));
  return buffered_mark(&x->clock, MARK_UNPACKED, x->fixed.in);
}

static status_t buffered_finish(struct halo_exchange *exchange, struct gpu_event **arrived)
{
  struct buffered_exchange *x = (struct buffered_exchange *)exchange;
  struct gpu_event *all_here = x->fixed.arrived[x->current.n % BUFFERED_EVENTS];
  RETURN_IF_FAILED(halos_await(x));
  if (!x->current.arriving) RETURN_IF_FAILED(buffered_mark(&x->clock, MARK_BACK, x->fixed.in));
  if (!x->current.arriving || x->fixed.kind == BUFFERED_DEVICE)
    RETURN_IF_FAILED(buffered_mark(&x->clock, MARK_IN, x->fixed.in));
  RETURN_IF_FAILED(staged_unpack(x));
  RETURN_IF_FAILED(gpu_record(all_here, x->fixed.in));
  if (x->clock.marks) x->clock.marks->used = 1;
  x->clock.times.exchanges++;
  x->current.n++;
  *arrived = all_here;
  return STATUS_OK;
}

const char *const halo_handovers[] = {"shared memory", "MPI"};

static const char *staged_handover(const struct halo_exchange *exchange, int m, const char **why)
{
  const struct buffered_exchange *x = (const struct buffered_exchange *)exchange;
  *why = is_shared(&x->local, m) ? "on one host" : x->local.shared[m].why;
  return halo_handovers[!is_shared(&x->local, m)];
}

#define PACKED                                                                                               \
  .start = buffered_start, .progress = buffered_progress, .finish = buffered_finish,                         \
  .times = buffered_times, .teardown = buffered_teardown

const struct halo_transport halo_transport_staged = {
    .name = "staged",
    .memory = "pinned host memory, which ranks of a host share",
    .mover = "copy engines within a host, MPI between hosts",
    .on_cpus = "packed into memory that both ranks map, copied and unpacked; between hosts sent by MPI",
    .available = buffered_available,
    .setup = staged_setup,
    .handover = staged_handover,
    .trial = HALO_TRIAL,
    PACKED,
};

const struct halo_transport halo_transport_staged_mpi = {
    .name = "staged-mpi",
    .memory = "pinned host memory",
    .mover = "MPI, also within a host",
    .on_cpus = "packed, copied to a buffer, sent by MPI, copied again and unpacked",
    .available = buffered_available,
    .setup = staged_mpi_setup,
    .handover = staged_handover,
    PACKED,
};

const struct halo_transport halo_transport_pageable = {
    .name = "pageable",
    .memory = "pageable host memory",
    .mover = "MPI",
    .on_cpus = "the same as staged-mpi; the two differ only on GPUs",
    .available = buffered_available,
    .setup = pageable_setup,
    PACKED,
};

const struct halo_transport halo_transport_mpi = {
    .name = "mpi",
    .memory = "device memory",
    .mover = "MPI, if it is GPU-aware",
    .on_cpus = "packed, sent by MPI and unpacked, without the copies of staged-mpi",
    .available = aware_available,
    .setup = mpi_setup,
    .trial = HALO_TRIAL,
    PACKED,
};
