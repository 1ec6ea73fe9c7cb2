/* SPDX-License-Identifier: MIT */
/* Ranks that stay silent. Rank 0 exchanges halos, while rank 1 opens the route and then stops or
 * only sleeps. Rank 0 must reach the deadline (on the device, if that waits by itself) and end the
 * job with 6. Or a rank stops while the others make a communicator: they must end the job. Or a
 * rank is busy for longer than the deadline while others wait for all: that is no hang. Or a rank
 * fails long after rank 0 did: both errors must be reported.
 *
 * Usage: mpirun -np N silent BACKEND TRANSPORT stop|sleep|starve|kernel, or
 * silent stop|work|fail RANK
 * In the first form with more than two ranks, the last two exchange halos, and the others wait for
 * them, or sleep if one of the two does. With `kernel`, rank 1 sleeps, and a kernel of rank 0 waits
 * for its halo. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/halo/route.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/begin.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/watch.h"
#include "comm/transports/linked.h"
#include "tests/mpi/pair.h"

#define SECONDS 2.0
#define SILENCE 60
#define WORK    6

/* Prints the time after which a hang was found. */
static status_t timed(status_t status, double begin)
{
  if (status == STATUS_HANG) fprintf(stderr, "after %.1f s\n", stats_now() - begin);
  return status;
}

/* Uses a fraction of the deadline in processor time, with a low priority. */
static void be_starved(void)
{
  struct timespec now, begin;
  if (nice(7) < 0) return;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < SECONDS / 4);
}

static void be_silent(const char *how)
{
  if (strcmp(how, "starve") == 0)
    be_starved();
  else if (strcmp(how, "stop") == 0)
    raise(SIGSTOP);
  else
    sleep(SILENCE);
}

static int fail_late(int rank, int late)
{
  status_t status = STATUS_OK;
  log_hold(1);
  if (rank == late) sleep(WORK / 2);
  if (rank == late) status = log_fail(STATUS_FAULT, "rank %d fails late", rank);
  if (rank == 0) status = log_fail(STATUS_WRONG, "rank 0 fails at once");
  status = agree_status(MPI_COMM_WORLD, status);
  end_mpi();
  return status_exit_code(status);
}

static int split_without(const char *how, int rank)
{
  MPI_Comm host;
  if (rank >= 0 && strcmp(how, "work") == 0) sleep(WORK);
  if (rank >= 0 && strcmp(how, "stop") == 0) be_silent(how);
  give_up(guard_mpi(MPI_COMM_WORLD,
                    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                    "MPI_Comm_split_type"));
  MPI_Comm_free(&host);
  end_mpi();
  return 0;
}

/* Returns a communicator of the last two ranks, with *rank in it; never returns on others. */
static MPI_Comm pair_make(int *rank, const char *how)
{
  int all;
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  give_up(guard_mpi(MPI_COMM_WORLD, MPI_Comm_split(MPI_COMM_WORLD, *rank >= all - 2, 0, &pair),
                    "MPI_Comm_split"));
  if (*rank < all - 2 && strcmp(how, "sleep") == 0) be_silent(how);
  if (*rank < all - 2) give_up(watch_patiently(MPI_COMM_WORLD, "the pair"));
  MPI_Comm_rank(pair, rank);
  return pair;
}

/* `finish` of a transport whose kernel waits for the halo of exchange 3 until the deadline. */
static status_t kernel_waits(struct halo_exchange *exchange, struct gpu_event **arrived)
{
  const struct linked_exchange *x = (struct linked_exchange *)exchange;
  *arrived = NULL;
  sleep((unsigned)SECONDS);
  *x->plea = (struct halo_plea){.hung = 1, .missing = 1, .step = 3};
  return STATUS_OK;
}

int main(int argc, char **argv)
{
  int rank;
  struct decomp decomp;
  struct layout layout;
  struct halo_plan plan;
  struct halo_route *route;
  struct gpu_event *arrived;
  log_set_program("silent");
  if (begin_mpi(&argc, &argv, SECONDS, NULL) != STATUS_OK) return STATUS_ENVIRONMENT;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc == 3 && strcmp(argv[1], "fail") == 0) return fail_late(rank, atoi(argv[2]));
  if (argc == 3) return split_without(argv[1], atoi(argv[2]) == rank ? rank : -1);
  const struct halo_transport *transport = argc == 4 ? halo_transport_find(argv[2]) : NULL;
  if (!transport) agree_abort(STATUS_USAGE);
  struct halo_transport by_kernel = *transport;
  by_kernel.finish = kernel_waits;
  if (strcmp(argv[3], "kernel") == 0) transport = &by_kernel;
  struct halo_context context = {.comm = pair_make(&rank, argv[3]),
                                 .device = device_open(argv[1], rank),
                                 .layout = &layout,
                                 .plan = &plan};
  geometry_init(rank, 32, &decomp, &layout, &plan);
  fields_open(&context);
  give_up(halo_route_open(transport, &context, &route));
  if (rank == 1) be_silent(argv[3]);
  double begin = stats_now();
  give_up(timed(halo_route_start(route, context.fields[0], NULL), begin));
  give_up(timed(halo_route_finish(route, &arrived), begin));
  give_up(timed(halo_route_wait(route, context.compute), begin));
  end_mpi();
  return 0;
}
