/* SPDX-License-Identifier: MIT */
#include "comm/transports/neighbours.h"

#include <sched.h>
#include <stdio.h>

#include "base/log.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/mpi_check.h"
#include "comm/ranks/watch.h"

/* Offset of the MPI tag of an agreement from the tag of the halo message that it concerns. */
#define VERDICT_TAG 96

struct swap {
  const struct halo_context *context;
  MPI_Request requests[2 * HALO_MESSAGES_MAX];
  MPI_Status statuses[2 * HALO_MESSAGES_MAX];
};

static void neighbours_describe(const void *of, struct watch_targets *targets)
{
  const struct swap *swap = of;
  const struct halo_plan *plan = swap->context->plan;
  for (int m = 0; m < plan->n; m++)
    if (swap->requests[m] != MPI_REQUEST_NULL) halo_target_add(targets, &plan->messages[m]);
}

static status_t swap_await(struct swap *swap)
{
  struct watch_wait wait;
  int done = 0;
  watch_begin(&wait, swap->context->comm, "setting up", neighbours_describe, swap);
  while (!done) {
    RETURN_IF_FAILED(mpi_check(MPI_Testall(2 * swap->context->plan->n, swap->requests, &done, swap->statuses),
                               "MPI_Testall"));
    if (done) break;
    RETURN_IF_FAILED(watch_poll(&wait));
    sched_yield();
  }
  return STATUS_OK;
}

status_t neighbours_swap(const struct halo_context *context, int tag, const void *out, void *in, size_t size)
{
  struct swap swap = {.context = context};
  const struct halo_plan *plan = context->plan;
  for (int m = 0; m < plan->n; m++) {
    const struct halo_message *message = &plan->messages[m];
    RETURN_IF_FAILED(mpi_check(MPI_Irecv((char *)in + (size_t)m * size, (int)size, MPI_BYTE, message->peer,
                                         tag + message->recv_tag, context->comm, &swap.requests[m]),
                               "MPI_Irecv of a neighbour's offer"));
    RETURN_IF_FAILED(
        mpi_check(MPI_Isend((const char *)out + (size_t)m * size, (int)size, MPI_BYTE, message->peer,
                            tag + message->send_tag, context->comm, &swap.requests[plan->n + m]),
                  "MPI_Isend of an offer"));
  }
  RETURN_IF_FAILED(swap_await(&swap));
  for (int m = 0; m < plan->n; m++) {
    char name[WATCH_NAME_MAX];
    int bytes = 0;
    MPI_Get_count(&swap.statuses[m], MPI_BYTE, &bytes);
    if (bytes != (int)size)
      return log_fail(STATUS_WRONG, "wrong set-up message from %s: %d bytes instead of %zu",
                      watch_rank_name(context->comm, plan->messages[m].peer, name), bytes, size);
  }
  return STATUS_OK;
}

status_t neighbours_agree(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX])
{
  struct halo_reach theirs[HALO_MESSAGES_MAX];
  RETURN_IF_FAILED(neighbours_swap(context, VERDICT_TAG, reach, theirs, sizeof *reach));
  for (int m = 0; m < context->plan->n; m++)
    if (reach[m].carried && !theirs[m].carried) reach[m] = theirs[m];
  return STATUS_OK;
}

void neighbours_refuse(struct halo_reach *reach, const char *why)
{
  if (!reach->carried) return;
  reach->carried = 0;
  snprintf(reach->why, sizeof reach->why, "%s", why);
}

status_t neighbours_on_host(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX])
{
  MPI_Comm host;
  MPI_Group all, near;
  RETURN_IF_FAILED(guard_mpi(
      context->comm, MPI_Comm_split_type(context->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
      "MPI_Comm_split_type"));
  MPI_Comm_group(context->comm, &all);
  MPI_Comm_group(host, &near);
  for (int m = 0; m < context->plan->n; m++) {
    int there;
    MPI_Group_translate_ranks(all, 1, &context->plan->messages[m].peer, near, &there);
    if (there == MPI_UNDEFINED) neighbours_refuse(&reach[m], "on another host");
  }
  MPI_Group_free(&near);
  MPI_Group_free(&all);
  MPI_Comm_free(&host);
  return STATUS_OK;
}
