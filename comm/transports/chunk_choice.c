/* SPDX-License-Identifier: MIT */
/* Times exchanges with several lengths of the chunks in which `staged` and `staged-mpi` send halos
 * by MPI. The best length depends on the network, the copies and the host's cost per message. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "comm/transports/buffered.h"

/* There are ROUNDS rounds, or fewer if they take SECONDS_MOST together. Per length, a round has one
 * untimed exchange and EXCHANGES timed ones. */
#define ROUNDS       3
#define EXCHANGES    2
#define SECONDS_MOST 0.3

/* A shorter length is chosen only if its time is at most this fraction of the time of the best
 * longer length. */
#define GAIN 0.9

#define CANDIDATES 5

/* Sets the lengths to try, ascending; the last is 0, whole messages. Returns their number. */
static int candidates(int64_t longest, int64_t floats[CANDIDATES])
{
  static const int64_t parts[] = {1 << 14, 1 << 16, 1 << 18, 1 << 20};
  int n = 0;
  for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
    if (parts[p] < longest) floats[n++] = parts[p];
  floats[n++] = 0;
  return n;
}

static int64_t longest_by_mpi(const struct buffered_fixed *fixed, const struct buffered_local *local)
{
  int64_t longest = 0;
  for (int m = 0; m < fixed->plan.n; m++) {
    const struct halo_message *message = &fixed->plan.messages[m];
    if (local->shared[m].carried) continue;
    if (message->count > longest) longest = message->count;
    if (message->recv_count > longest) longest = message->recv_count;
  }
  return longest;
}

static status_t chunk_trial_exchange(struct buffered_exchange *x)
{
  struct halo_exchange *exchange = (struct halo_exchange *)x;
  struct gpu_event *arrived;
  RETURN_IF_FAILED(
      halo_transport_staged.start(exchange, x->fixed.context.fields[0], x->fixed.context.fields[0], NULL));
  return halo_transport_staged.finish(exchange, &arrived);
}

/* Sets *seconds to the slowest rank's time for EXCHANGES exchanges with chunks of \a floats. */
static status_t exchanges_time(struct buffered_exchange *x, int64_t floats, double *seconds)
{
  RETURN_IF_FAILED(agree_status(x->fixed.context.comm, buffered_cut(x, floats)));
  RETURN_IF_FAILED(chunk_trial_exchange(x));
  RETURN_IF_FAILED(gpu_sync(x->fixed.in));
  double begin = stats_now(), mine;
  for (int e = 0; e < EXCHANGES; e++) RETURN_IF_FAILED(chunk_trial_exchange(x));
  RETURN_IF_FAILED(gpu_sync(x->fixed.in));
  mine = stats_now() - begin;
  return watch_allreduce(x->fixed.context.comm, &mine, seconds, 1, MPI_DOUBLE, MPI_MAX,
                         "the choice of the halos' chunks");
}

static void choice_note(struct buffered_fixed *fixed, struct buffered_local *local, int64_t floats)
{
  for (int m = 0; m < fixed->plan.n; m++) {
    char *why = local->shared[m].why;
    size_t used = strlen(why), left = sizeof local->shared[m].why - used;
    if (local->shared[m].carried) continue;
    if (floats == 0)
      snprintf(why + used, left, "; messages whole");
    else
      snprintf(why + used, left, "; in chunks of %d KiB", (int)(floats * (int64_t)sizeof(float) >> 10));
  }
}

status_t buffered_chunk_choose(struct buffered_exchange *x)
{
  int64_t mine = longest_by_mpi(&x->fixed, &x->local), longest, floats[CANDIDATES];
  double seconds[CANDIDATES][ROUNDS], spent = 0;
  int rounds = 0;
  RETURN_IF_FAILED(watch_allreduce(x->fixed.context.comm, &mine, &longest, 1, MPI_INT64_T, MPI_MAX,
                                   "the choice of the halos' chunks"));
  int n = candidates(longest, floats), best = n - 1;
  if (n == 1) return STATUS_OK;
  for (; rounds < ROUNDS && spent < SECONDS_MOST; rounds++)
    for (int c = 0; c < n; c++) {
      RETURN_IF_FAILED(exchanges_time(x, floats[c], &seconds[c][rounds]));
      spent += seconds[c][rounds];
    }
  for (int c = 0; c < n; c++) seconds[c][0] = stats_summarise(seconds[c], (size_t)rounds).median;
  for (int c = n - 2; c >= 0; c--)
    if (seconds[c][0] <= GAIN * seconds[best][0]) best = c;
  RETURN_IF_FAILED(agree_status(x->fixed.context.comm, buffered_cut(x, floats[best])));
  choice_note(&x->fixed, &x->local, floats[best]);
  return STATUS_OK;
}
