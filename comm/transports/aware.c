/* SPDX-License-Identifier: MIT */
#include "comm/transports/aware.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/switches.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/mpi_check.h"
#include "comm/ranks/watch.h"
#include "comm/transports/neighbours.h"

SWITCH("HIMENO_MPI_DEVICE", USER, AGREED, CHOICE("0|1"),
       "1: transport `mpi` tries device memory with any MPI library; 0: only with one that reports support; "
       "unset: also with one that cannot report it, or whose UCX has CUDA");

/* Floats per test message: enough for MPI to use its rendezvous protocol. */
#define TRY_FLOATS 65536
#define TRY_TAG    128

/* Returns 1 or 0 as the MPI library reports for device memory, or -1 if it cannot be queried. */
static int library_supports(void)
{
  int (*query)(void);
  *(void **)&query = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
  return query ? query() : -1;
}

static int is_ucx_cuda(struct dl_phdr_info *object, size_t size, void *found)
{
  (void)size;
  return *(int *)found = strstr(object->dlpi_name, "libuct_cuda") != NULL;
}

/* Returns 1 if Open MPI sends by UCX (`mca_pml` then has functions of its UCX component) and UCX
 * has CUDA transports. Open MPI's own answer, fixed when it is built, does not show this. */
static int ucx_supports(void)
{
  const char *transports = getenv("UCX_TLS");
  void *const *pml = dlsym(RTLD_DEFAULT, "mca_pml");
  int found = 0;
  Dl_info info = {.dli_fname = NULL};
  if (transports && strcmp(transports, "all") != 0 &&
      (*transports == '^') == (strstr(transports, "cuda") != NULL))
    return 0;
  if (!pml || !*pml || !dladdr(*pml, &info) || !info.dli_fname) return 0;
  if (!strstr(info.dli_fname, "pml_ucx") && !(info.dli_sname && strstr(info.dli_sname, "pml_ucx"))) return 0;
  return dl_iterate_phdr(is_ucx_cuda, &found);
}

static int ucx = -1; /* whether UCX supports CUDA on all ranks; -1: not agreed yet */

status_t aware_agree(MPI_Comm comm)
{
  const int mine = ucx_supports();
  return watch_allreduce(comm, &mine, &ucx, 1, MPI_INT, MPI_MIN, "whether MPI takes device memory");
}

/* The component through which MPI accepts device memory; otherwise NULL, as for host memory. */
static const char *mover;

const char *aware_mover(void)
{
  return mover;
}

int aware_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX])
{
  if (backend->memory == GPU_MEMORY_HOST) return 1;
  if (backend->memory == GPU_MEMORY_OPAQUE) {
    snprintf(reason, GPU_TEXT_MAX, "memory of backend %s has no pointer that MPI could take", backend->name);
    return 0;
  }
  const int64_t asked = switch_number("HIMENO_MPI_DEVICE", -1);
  const int reported = library_supports();
  mover = reported > 0                                    ? "MPI, CUDA-aware as it says"
          : asked > 0 || (asked < 0 && reported < 0)      ? "MPI, CUDA-aware as a trial showed"
          : asked < 0 && (ucx < 0 ? ucx_supports() : ucx) ? "MPI by UCX with CUDA (cuda_ipc, cuda_copy)"
                                                          : NULL;
  if (mover) return 1;
  snprintf(reason, GPU_TEXT_MAX,
           "this MPI library takes no CUDA memory, nor has its UCX CUDA (HIMENO_MPI_DEVICE=1 tries it)");
  return 0;
}

/* ---- test on one rank: an MPI without device support crashes at a device address ---- */

static sigjmp_buf crashed;

static void on_crash(int signal)
{
  siglongjmp(crashed, signal);
}

/* Sends the first TRY_FLOATS floats of \a memory to the floats after them. Fails if MPI crashes. */
static status_t try_alone(float *memory)
{
  struct sigaction guard = {.sa_handler = on_crash}, segv, bus;
  status_t status;
  sigaction(SIGSEGV, &guard, &segv);
  sigaction(SIGBUS, &guard, &bus);
  if (sigsetjmp(crashed, 1) == 0)
    status = mpi_check(MPI_Sendrecv(memory, TRY_FLOATS, MPI_FLOAT, 0, TRY_TAG, memory + TRY_FLOATS,
                                    TRY_FLOATS, MPI_FLOAT, 0, TRY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE),
                       "MPI_Sendrecv of device memory");
  else
    status = log_fail(STATUS_ENVIRONMENT, "--transport mpi: this MPI library crashes on device memory");
  sigaction(SIGSEGV, &segv, NULL);
  sigaction(SIGBUS, &bus, NULL);
  return status;
}

static void aware_pattern_fill(float *values, int rank, int tag)
{
  for (int n = 0; n < TRY_FLOATS; n++)
    values[n] = (float)(hash_mix((uint64_t)rank << 40 | (uint64_t)tag << 32 | (uint64_t)n) >> 40);
}

struct aware_trial {
  const struct halo_context *context;
  struct gpu_queue *queue;
  struct gpu_mem send, recv; /* TRY_FLOATS floats for each message */
  float *values;             /* first the values to send, later the values received */
  int rank;
};

static size_t aware_place(int message)
{
  return (size_t)message * TRY_FLOATS;
}

/* Does the steps that may fail on one rank, before any other rank waits for this rank. */
static status_t trial_create(struct aware_trial *t)
{
  struct gpu_device *device = t->context->device;
  const struct halo_plan *plan = t->context->plan;
  size_t bytes = aware_place(plan->n > 2 ? plan->n : 2) * sizeof(float);
  t->values = calloc(1, bytes);
  if (!t->values) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a test exchange by MPI");
  for (int m = 0; m < plan->n; m++)
    aware_pattern_fill(t->values + aware_place(m), t->rank, plan->messages[m].send_tag);
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_NORMAL, &t->queue));
  RETURN_IF_FAILED(gpu_alloc(device, bytes, &t->send));
  RETURN_IF_FAILED(gpu_alloc(device, bytes, &t->recv));
  RETURN_IF_FAILED(try_alone(t->send.handle));
  RETURN_IF_FAILED(gpu_copy_in(t->queue, t->send, 0, t->values, bytes));
  RETURN_IF_FAILED(gpu_clear(t->queue, t->recv, 0, bytes));
  return gpu_sync(t->queue);
}

static status_t aware_compare(struct aware_trial *t, struct halo_reach reach[HALO_MESSAGES_MAX])
{
  static float wanted[TRY_FLOATS];
  const struct halo_plan *plan = t->context->plan;
  RETURN_IF_FAILED(gpu_read(t->queue, t->values, t->recv, 0, aware_place(plan->n) * sizeof(float)));
  for (int m = 0; m < plan->n; m++) {
    aware_pattern_fill(wanted, plan->messages[m].peer, plan->messages[m].recv_tag);
    if (memcmp(t->values + aware_place(m), wanted, sizeof wanted) == 0) continue;
    neighbours_refuse(&reach[m], "device memory came through MPI with other content");
  }
  return STATUS_OK;
}

/* If a message fails on any rank, all messages are refused on all ranks. */
static status_t verdict_share(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX])
{
  int bad = 0, any = 0;
  for (int m = 0; m < context->plan->n; m++) bad |= !reach[m].carried;
  RETURN_IF_FAILED(watch_allreduce(context->comm, &bad, &any, 1, MPI_INT, MPI_MAX, "a trial of MPI"));
  for (int m = 0; m < context->plan->n && any; m++)
    neighbours_refuse(&reach[m], "device memory came through MPI with other content elsewhere");
  return STATUS_OK;
}

status_t aware_try(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX])
{
  struct aware_trial t = {.context = context};
  MPI_Comm_rank(context->comm, &t.rank);
  status_t status = agree_status(context->comm, trial_create(&t));
  if (status == STATUS_OK) {
    /* abort on errors: neighbours wait for this rank, and MPI may still read its device memory */
    const status_t sent =
        neighbours_swap(context, TRY_TAG, t.send.handle, t.recv.handle, TRY_FLOATS * sizeof(float));
    if (sent != STATUS_OK) agree_abort(sent);
    status = agree_status(context->comm, aware_compare(&t, reach));
  }
  free(t.values);
  gpu_free(context->device, &t.recv);
  gpu_free(context->device, &t.send);
  gpu_queue_destroy(t.queue);
  RETURN_IF_FAILED(status);
  return verdict_share(context, reach);
}
