/* SPDX-License-Identifier: MIT */
/* Sends packed halos by NCCL, whose library is loaded on demand. NCCL's kernels wait without a
 * deadline, so the host watches them. */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/switches.h"
#include "comm/halo/transport.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/watch.h"
#include "comm/transports/nccl.h"
#include "gpu/cuda/cuda_device.h"

SWITCH("HIMENO_NCCL", USER, OWN, FREE("a file"),
       "library that transport `nccl` loads, instead of `libnccl.so.2`");

/* The part of nccl.h that is used; its binary interface has been the same since 2.7. */
#define NCCL_SUCCESS 0
#define NCCL_FLOAT   7
#define NCCL_DOUBLE  8
#define NCCL_SUM     0
typedef struct {
  char internal[128];
} nccl_id;
typedef void *nccl_comm;

static struct library {
  void *handle;
  int (*get_unique_id)(nccl_id *);
  int (*comm_init_rank)(nccl_comm *, int, nccl_id, int);
  int (*comm_destroy)(nccl_comm);
  int (*group_start)(void);
  int (*group_end)(void);
  int (*send)(const void *, size_t, int, int, nccl_comm, cudaStream_t);
  int (*recv)(void *, size_t, int, int, nccl_comm, cudaStream_t);
  int (*all_reduce)(const void *, void *, size_t, int, int, nccl_comm, cudaStream_t);
  const char *(*get_error_string)(int);
} nccl;

enum mark { MARK_BEGIN, MARK_PACKED, MARK_HERE, MARK_UNPACKED, MARKS };

struct nccl_exchange {
  struct halo_context context;
  struct halo_plan plan;
  nccl_comm comm;
  const struct halo_packer *packer;
  struct halo_packer_state *packer_state;
  struct gpu_queue *queue;
  struct gpu_mem send, recv;
  struct gpu_event *before, *mark[MARKS];
  struct gpu_mem field; /* field of the current exchange */
  struct halo_times times;
};

static int symbol_find(const char *name, void *function)
{
  void *found = dlsym(nccl.handle, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

static int library_open(char reason[GPU_TEXT_MAX])
{
  const char *path = switch_text("HIMENO_NCCL");
  if (nccl.handle) return 1;
  nccl.handle = dlopen(path ? path : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!nccl.handle) {
    snprintf(reason, GPU_TEXT_MAX, "libnccl.so.2 was not found (HIMENO_NCCL names another place)");
    return 0;
  }
  if (symbol_find("ncclGetUniqueId", &nccl.get_unique_id) &&
      symbol_find("ncclCommInitRank", &nccl.comm_init_rank) &&
      symbol_find("ncclCommDestroy", &nccl.comm_destroy) &&
      symbol_find("ncclGroupStart", &nccl.group_start) && symbol_find("ncclGroupEnd", &nccl.group_end) &&
      symbol_find("ncclSend", &nccl.send) && symbol_find("ncclRecv", &nccl.recv) &&
      symbol_find("ncclAllReduce", &nccl.all_reduce) &&
      symbol_find("ncclGetErrorString", &nccl.get_error_string))
    return 1;
  dlclose(nccl.handle);
  nccl.handle = NULL;
  snprintf(reason, GPU_TEXT_MAX, "libnccl.so.2 is older than 2.7: it has no ncclSend");
  return 0;
}

static int nccl_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX])
{
  if (backend->memory == GPU_MEMORY_CUDA) return library_open(reason);
  snprintf(reason, GPU_TEXT_MAX, "NCCL moves CUDA memory only");
  return 0;
}

static status_t nccl_check(int result, const char *what)
{
  return result == NCCL_SUCCESS ? STATUS_OK
                                : log_fail(STATUS_ENVIRONMENT, "%s: %s", what, nccl.get_error_string(result));
}

static void nccl_teardown(struct halo_exchange *exchange)
{
  struct nccl_exchange *x = (struct nccl_exchange *)exchange;
  if (!x) return;
  struct gpu_device *device = x->context.device;
  if (x->comm) nccl.comm_destroy(x->comm);
  for (int m = 0; m < MARKS; m++) gpu_event_destroy(x->mark[m]);
  gpu_event_destroy(x->before);
  gpu_free(device, &x->recv);
  gpu_free(device, &x->send);
  gpu_queue_destroy(x->queue);
  if (x->packer_state) x->packer->close(x->packer_state);
  free(x);
}

static status_t nccl_buffers_create(struct nccl_exchange *x)
{
  struct gpu_device *device = x->context.device;
  x->packer = halo_packer_find(device->backend->name);
  RETURN_IF_FAILED(x->packer->open(device, x->context.layout, &x->plan, &x->packer_state));
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_URGENT, &x->queue));
  RETURN_IF_FAILED(gpu_alloc(device, (size_t)x->plan.floats * sizeof(float), &x->send));
  RETURN_IF_FAILED(gpu_alloc(device, (size_t)x->plan.recv_floats * sizeof(float), &x->recv));
  for (int m = 0; m < MARKS; m++) RETURN_IF_FAILED(gpu_event_create(device, &x->mark[m]));
  return gpu_event_create(device, &x->before);
}

/* Collective: sets *shared to 1 if any two ranks share a device, which NCCL refuses. */
static status_t devices_shared(MPI_Comm comm, const struct gpu_device *device, int *shared)
{
  int ranks, rank;
  char mine[48], *all;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  snprintf(mine, sizeof mine, "%s", device->info.uuid);
  all = calloc((size_t)ranks, sizeof mine);
  RETURN_IF_FAILED(agree_status(
      comm, all ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for NCCL's devices")));
  status_t status = watch_allgather(comm, mine, all, sizeof mine, "NCCL's devices");
  int twice = 0;
  for (int r = 0; r < ranks; r++)
    for (int s = r + 1; s < ranks && !twice; s++)
      twice = strcmp(all + (size_t)r * sizeof mine, all + (size_t)s * sizeof mine) == 0;
  free(all);
  *shared = twice;
  return agree_status(comm, status);
}

static status_t communicator_create(MPI_Comm comm, struct gpu_device *device, nccl_comm *created)
{
  nccl_id id = {{0}};
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  status_t status = rank == 0 ? nccl_check(nccl.get_unique_id(&id), "ncclGetUniqueId") : STATUS_OK;
  RETURN_IF_FAILED(agree_status(comm, status));
  RETURN_IF_FAILED(watch_bcast(comm, &id, sizeof id, MPI_BYTE, 0, "NCCL's name"));
  RETURN_IF_FAILED(cuda_use(device));
  RETURN_IF_FAILED(guard_begin(comm, "ncclCommInitRank"));
  status = nccl_check(nccl.comm_init_rank(created, ranks, id, rank), "ncclCommInitRank");
  RETURN_IF_FAILED(guard_end(MPI_SUCCESS, "ncclCommInitRank"));
  return agree_status(comm, status);
}

static void refuse_all(struct nccl_exchange *x, struct halo_reach reach[HALO_MESSAGES_MAX])
{
  for (int m = 0; m < x->plan.n; m++)
    reach[m] = (struct halo_reach){.why = "NCCL wants a device for each rank"};
  x->plan = (struct halo_plan){.depth = x->plan.depth};
}

static status_t nccl_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                           struct halo_exchange **exchange)
{
  status_t status = STATUS_OK;
  int shared;
  RETURN_IF_FAILED(devices_shared(context->comm, context->device, &shared));
  struct nccl_exchange *x = calloc(1, sizeof *x);
  if (!x) status = log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange");
  if (x) {
    x->context = *context;
    x->plan = *context->plan;
    x->context.plan = &x->plan;
    if (shared) refuse_all(x, reach);
    status = nccl_buffers_create(x);
  }
  TRY(agree_status(context->comm, status), fail);
  if (!shared) TRY(communicator_create(context->comm, context->device, &x->comm), fail);
  *exchange = (struct halo_exchange *)x;
  return STATUS_OK;
fail:
  nccl_teardown((struct halo_exchange *)x);
  return status;
}

static status_t nccl_marks_read(struct nccl_exchange *x)
{
  static const enum halo_phase phase[] = {HALO_PACK, HALO_TRANSFER, HALO_UNPACK};
  for (int m = 0; m + 1 < MARKS; m++) {
    double seconds;
    RETURN_IF_FAILED(gpu_elapsed(x->mark[m], x->mark[m + 1], &seconds));
    x->times.seconds[phase[m]] += seconds;
  }
  return STATUS_OK;
}

static status_t messages_put(struct nccl_exchange *x)
{
  cudaStream_t stream = cuda_queue_handle(x->queue);
  if (x->plan.n == 0) return STATUS_OK;
  RETURN_IF_FAILED(nccl_check(nccl.group_start(), "ncclGroupStart"));
  for (int m = 0; m < x->plan.n; m++) {
    const struct halo_message *message = &x->plan.messages[m];
    if (message->count > 0)
      RETURN_IF_FAILED(
          nccl_check(nccl.send((float *)x->send.handle + message->send_offset, (size_t)message->count,
                               NCCL_FLOAT, message->peer, x->comm, stream),
                     "ncclSend"));
    if (message->recv_count > 0)
      RETURN_IF_FAILED(
          nccl_check(nccl.recv((float *)x->recv.handle + message->recv_offset, (size_t)message->recv_count,
                               NCCL_FLOAT, message->peer, x->comm, stream),
                     "ncclRecv"));
  }
  return nccl_check(nccl.group_end(), "ncclGroupEnd");
}

static status_t nccl_start(struct halo_exchange *exchange, struct gpu_mem from, struct gpu_mem field,
                           struct gpu_event *computed)
{
  struct nccl_exchange *x = (struct nccl_exchange *)exchange;
  x->field = field;
  RETURN_IF_FAILED(cuda_use(x->context.device));
  if (!computed) {
    RETURN_IF_FAILED(gpu_record(x->before, x->context.compute));
    computed = x->before;
  }
  RETURN_IF_FAILED(gpu_wait(x->queue, computed));
  RETURN_IF_FAILED(gpu_record(x->mark[MARK_BEGIN], x->queue));
  if (x->plan.floats > 0) RETURN_IF_FAILED(x->packer->move(x->packer_state, x->queue, from, x->send, 1));
  RETURN_IF_FAILED(gpu_record(x->mark[MARK_PACKED], x->queue));
  RETURN_IF_FAILED(messages_put(x));
  return gpu_record(x->mark[MARK_HERE], x->queue);
}

/* NCCL does not report which message is missing, so all neighbours are named. */
static void nccl_describe(const void *of, struct watch_targets *targets)
{
  const struct nccl_exchange *x = of;
  for (int m = 0; m < x->plan.n; m++) halo_target_add(targets, &x->plan.messages[m]);
}

static status_t event_await(struct nccl_exchange *x, struct gpu_event *event, int deadline)
{
  struct watch_wait wait;
  watch_begin(&wait, x->context.comm, deadline ? "halos" : NULL, deadline ? nccl_describe : NULL, x);
  for (int ready = 0;;) {
    RETURN_IF_FAILED(gpu_ready(event, &ready));
    if (ready) return STATUS_OK;
    RETURN_IF_FAILED(deadline ? watch_poll(&wait) : watch_serve(&wait));
    sched_yield();
  }
}

static status_t nccl_finish(struct halo_exchange *exchange, struct gpu_event **arrived)
{
  struct nccl_exchange *x = (struct nccl_exchange *)exchange;
  if (x->plan.recv_floats > 0)
    RETURN_IF_FAILED(x->packer->move(x->packer_state, x->queue, x->field, x->recv, 0));
  RETURN_IF_FAILED(gpu_record(x->mark[MARK_UNPACKED], x->queue));
  RETURN_IF_FAILED(event_await(x, x->mark[MARK_PACKED], 0));
  RETURN_IF_FAILED(event_await(x, x->mark[MARK_UNPACKED], 1));
  RETURN_IF_FAILED(nccl_marks_read(x));
  x->times.exchanges++;
  *arrived = x->mark[MARK_UNPACKED];
  return STATUS_OK;
}

static status_t nccl_times(struct halo_exchange *exchange, struct halo_times *times)
{
  struct nccl_exchange *x = (struct nccl_exchange *)exchange;
  for (int p = 0; p < HALO_PHASES; p++) times->seconds[p] += x->times.seconds[p];
  times->exchanges += x->times.exchanges;
  memset(&x->times, 0, sizeof x->times);
  return STATUS_OK;
}

const struct halo_transport halo_transport_nccl = {
    .name = "nccl",
    .memory = "device memory",
    .mover = "NCCL; needs its library",
    .available = nccl_available,
    .setup = nccl_setup,
    .start = nccl_start,
    .finish = nccl_finish,
    .times = nccl_times,
    .teardown = nccl_teardown,
    .trial = HALO_TRIAL_SLOW,
};

static status_t group_open(MPI_Comm comm, struct gpu_device *device, void **group)
{
  int shared;
  RETURN_IF_FAILED(devices_shared(comm, device, &shared));
  if (shared) return log_fail(STATUS_ENVIRONMENT, "collectives: NCCL wants a device for each rank");
  return communicator_create(comm, device, group);
}

static status_t group_reduce(void *group, int ranks, const double *in, double *out, size_t n,
                             struct gpu_queue *queue)
{
  (void)ranks;
  return nccl_check(nccl.all_reduce(in, out, n, NCCL_DOUBLE, NCCL_SUM, group, cuda_queue_handle(queue)),
                    "ncclAllReduce");
}

static status_t group_to_all(void *group, int ranks, const double *in, double *out, size_t n,
                             struct gpu_queue *queue)
{
  cudaStream_t stream = cuda_queue_handle(queue);
  RETURN_IF_FAILED(nccl_check(nccl.group_start(), "ncclGroupStart"));
  for (int r = 0; r < ranks; r++) {
    const size_t at = (size_t)r * n;
    RETURN_IF_FAILED(nccl_check(nccl.send(in + at, n, NCCL_DOUBLE, r, group, stream), "ncclSend"));
    RETURN_IF_FAILED(nccl_check(nccl.recv(out + at, n, NCCL_DOUBLE, r, group, stream), "ncclRecv"));
  }
  return nccl_check(nccl.group_end(), "ncclGroupEnd");
}

static void group_close(void *group)
{
  nccl.comm_destroy(group);
}

const struct nccl_collectives nccl_collectives = {group_open, {group_reduce, group_to_all}, group_close};
