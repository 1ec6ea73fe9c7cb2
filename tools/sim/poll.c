/* SPDX-License-Identifier: MIT */
/* All ranks are one process and share its variables; they take turns only inside of MPI calls and
 * sleeps. */
#include "config.h"

#include "tools/sim/poll.h"

#include <simgrid/actor.h>
#include <stdlib.h>

#include "base/log.h"

/* Arrays that a transport polls in one round, and requests in all of them. */
#define ARRAYS_MAX   8
#define REQUESTS_MAX 512

/** Requests as the transport holds them. */
struct polled {
  MPI_Request *requests;
  int n;
};

/** Of one rank. */
struct poll {
  struct polled arrays[ARRAYS_MAX]; /* polled since the last yield */
  int n_arrays;
  struct {
    status_t (*progress)(void *of);
    void *of;
    MPI_Request *request;
  } background;
  double device; /* when the device is next to be looked at; 0: nobody asked */
  struct {
    MPI_Request *array;
    int index;
    MPI_Status status;
  } finished[REQUESTS_MAX]; /* by the yield, and not yet told */
  int n_finished;
  struct sim_sent sent;
};

static struct poll *polls;

static struct poll *mine(void)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return &polls[rank];
}

status_t poll_open(int ranks)
{
  polls = calloc((size_t)ranks, sizeof *polls);
  return polls ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of memory for %d simulated ranks", ranks);
}

void poll_until(double time)
{
  struct poll *p = mine();
  if (p->device == 0 || time < p->device) p->device = time;
}

void poll_background(status_t (*progress)(void *of), void *of, MPI_Request *request)
{
  struct poll *p = mine();
  p->background.progress = progress;
  p->background.of = of;
  p->background.request = request;
}

const struct sim_sent *poll_sent(int rank)
{
  return &polls[rank].sent;
}

void poll_sent_reset(int rank)
{
  polls[rank].sent = (struct sim_sent){0};
}

int sim_isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  struct sim_sent *sent = &mine()->sent;
  int size;
  MPI_Type_size(type, &size);
  if (count > 0)
    sent->messages++;
  else
    sent->tokens++;
  sent->bytes += (double)count * size;
  return MPI_Isend(buffer, count, type, peer, tag, comm, request);
}

int sim_iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
  *request = MPI_REQUEST_NULL;
  return MPI_Allreduce(send, receive, count, type, op, comm);
}

int sim_test(MPI_Request *request, int *done, MPI_Status *status)
{
  *done = *request == MPI_REQUEST_NULL;
  return *done ? MPI_SUCCESS : MPI_Test(request, done, status);
}

/* ---- polling ---- */

static void array_note(struct poll *p, int n, MPI_Request *requests)
{
  for (int a = 0; a < p->n_arrays; a++)
    if (p->arrays[a].requests == requests) {
      p->arrays[a].n = n;
      return;
    }
  if (p->n_arrays < ARRAYS_MAX) p->arrays[p->n_arrays++] = (struct polled){requests, n};
}

/* What the yield found finished in this array. */
static int finished_take(struct poll *p, const MPI_Request *requests, int indices[], MPI_Status statuses[])
{
  int taken = 0, kept = 0;
  for (int f = 0; f < p->n_finished; f++)
    if (p->finished[f].array == requests) {
      statuses[taken] = p->finished[f].status;
      indices[taken++] = p->finished[f].index;
    } else {
      p->finished[kept++] = p->finished[f];
    }
  p->n_finished = kept;
  return taken;
}

/* Asking SimGrid about each request would be most of the work; the yield asks about all at once. */
int sim_testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
  struct poll *p = mine();
  array_note(p, n, requests);
  *done = finished_take(p, requests, indices, statuses);
  return MPI_SUCCESS;
}

/* Waits for one of all the requests; it is told at the next sim_testsome of its array. */
static int any_wait(struct poll *p)
{
  MPI_Request all[REQUESTS_MAX];
  struct {
    MPI_Request *array;
    int index;
  } from[REQUESTS_MAX];
  MPI_Status status;
  int n = 0, which;
  for (int a = 0; a < p->n_arrays; a++)
    for (int r = 0; r < p->arrays[a].n && n < REQUESTS_MAX - 1; r++) {
      if (p->arrays[a].requests[r] == MPI_REQUEST_NULL) continue;
      all[n] = p->arrays[a].requests[r];
      from[n].array = p->arrays[a].requests;
      from[n++].index = r;
    }
  MPI_Request *behind = p->background.request;
  if (behind && *behind != MPI_REQUEST_NULL) {
    all[n] = *behind;
    from[n].array = behind;
    from[n++].index = 0;
  }
  if (n == 0) return 0;
  if (MPI_Waitany(n, all, &which, &status) != MPI_SUCCESS || which == MPI_UNDEFINED) return 0;
  from[which].array[from[which].index] = MPI_REQUEST_NULL;
  if (from[which].array != behind && p->n_finished < REQUESTS_MAX) {
    p->finished[p->n_finished].array = from[which].array;
    p->finished[p->n_finished].status = status;
    p->finished[p->n_finished++].index = from[which].index;
  }
  return 1;
}

/* Where nothing was asked for, somebody polls for what only time brings. */
#define IDLE_SECONDS 1e-6

int sim_yield(void)
{
  struct poll *p = mine();
  double now = MPI_Wtime(), device = p->device;
  p->device = 0;
  if (p->background.progress && p->background.progress(p->background.of) != STATUS_OK) return 1;
  if (device > now)
    sg_actor_sleep_for(device - now);
  else if (!any_wait(p))
    sg_actor_sleep_for(IDLE_SECONDS);
  p->n_arrays = 0;
  return 0;
}
