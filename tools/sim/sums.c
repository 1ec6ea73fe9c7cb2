/* SPDX-License-Identifier: MIT */
/* What all ranks sum up or agree on. A sum of doubles, which is gosa's, goes by recursive doubling
 * while the ranks do other things, as MPI libraries make it. */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/engine.h"
#include "tools/sim/transports.h"

/* Sums under way at once: a rank that begins one has the last but one. */
#define SUMS       4
#define ROUNDS_MAX 34

struct sum {
  long number;
  int begun, timed, count;
  double *values; /* counts and checksums too: those of simulated ranks are small */
  double *at;     /* by rank: when it began, then when it has it */
  char *awaited;  /* by rank */
};

/** A rank's part of one. */
struct sums_part {
  struct sum *sum;
  void *receive;
  MPI_Datatype type;
};

static struct sum sums[SUMS];
static long *begun;                     /* by rank: sums so far */
static struct sums_part (*parts)[SUMS]; /* by rank */
static double *waits[ROUNDS_MAX];       /* by round and rank: a message's latency */

static void sim_sums_open(void)
{
  const size_t n = (size_t)sim.ranks;
  begun = sim_array(n, sizeof *begun);
  parts = sim_array(n, sizeof *parts);
  for (int s = 0; s < SUMS; s++)
    sums[s] = (struct sum){.number = -1, .at = sim_array(n, sizeof(double)), .awaited = sim_array(n, 1)};
}

/* ---- recursive doubling ---- */

static double wait_of(int round, int rank, int peer)
{
  if (!waits[round]) waits[round] = sim_array((size_t)sim.ranks, sizeof(double));
  double *wait = &waits[round][rank];
  if (*wait == 0) *wait = message_wire(peer, rank);
  return *wait;
}

/* Ranks beyond the largest power of two give theirs to one below first, and get the sum from it. */
static void doubling(double *at)
{
  static double *next;
  int power = 1, round = 1;
  while (2 * power <= sim.ranks) power *= 2;
  const int extra = sim.ranks - power;
  if (!next) next = sim_array((size_t)sim.ranks, sizeof *next);
  for (int r = 0; r < extra; r++) at[r] = fmax(at[r], at[r + power] + wait_of(0, r, r + power));
  for (int step = 1; step < power; step *= 2, round++) {
    for (int r = 0; r < power; r++) next[r] = fmax(at[r], at[r ^ step] + wait_of(round, r, r ^ step));
    memcpy(at, next, (size_t)power * sizeof *at);
  }
  for (int r = 0; r < extra; r++) at[r + power] = at[r] + wait_of(round, r + power, r);
}

static void together(double *at)
{
  double last = 0;
  for (int r = 0; r < sim.ranks; r++) last = fmax(last, at[r]);
  for (int r = 0; r < sim.ranks; r++) at[r] = last;
}

/* ---- values ---- */

static double value_get(const void *from, MPI_Datatype type, int n)
{
  if (type == MPI_DOUBLE) return ((const double *)from)[n];
  return type == MPI_INT ? ((const int *)from)[n] : (double)((const uint64_t *)from)[n];
}

static void value_put(void *to, MPI_Datatype type, int n, double value)
{
  if (type == MPI_DOUBLE)
    ((double *)to)[n] = value;
  else if (type == MPI_INT)
    ((int *)to)[n] = (int)value;
  else
    ((uint64_t *)to)[n] = (uint64_t)value;
}

static void values_add(struct sum *s, const void *send, MPI_Datatype type, MPI_Op op)
{
  for (int n = 0; n < s->count; n++) {
    const double value = value_get(send, type, n), before = s->values[n];
    if (s->begun == 0)
      s->values[n] = value;
    else
      s->values[n] = op == MPI_SUM   ? before + value
                     : op == MPI_MAX ? fmax(before, value)
                                     : fmin(before, value);
  }
}

static void sum_renew(struct sum *s, long number, int count, int timed)
{
  free(s->values);
  s->values = sim_array((size_t)count, sizeof *s->values);
  s->number = number;
  s->begun = 0;
  s->count = count;
  s->timed = timed;
}

static void sum_end(struct sum *s)
{
  (s->timed ? doubling : together)(s->at);
  for (int r = 0; r < sim.ranks; r++) {
    if (s->awaited[r]) sim_wake(r, s->at[r]);
    s->awaited[r] = 0;
  }
}

int sim_iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
  if (!begun) sim_sums_open();
  const int me = sim_self();
  const long number = begun[me]++;
  struct sum *s = &sums[number % SUMS];
  struct sums_part *part = &parts[me][number % SUMS];
  (void)comm;
  if (s->number != number) sum_renew(s, number, count, type == MPI_DOUBLE && op == MPI_SUM);
  values_add(s, send, type, op);
  s->at[me] = sim_now();
  *part = (struct sums_part){s, receive, type};
  *request = (MPI_Request)(void *)part;
  if (++s->begun == sim.ranks) sum_end(s);
  return MPI_SUCCESS;
}

int sim_sum_test(MPI_Request *request)
{
  struct sums_part *part = (struct sums_part *)(void *)*request;
  if (!part) return 1;
  struct sum *s = part->sum;
  const int me = sim_self();
  if (s->begun < sim.ranks) {
    s->awaited[me] = 1;
    return 0;
  }
  if (s->at[me] > sim_now() + SIM_MOMENT) {
    sim_wake(me, s->at[me]);
    return 0;
  }
  for (int n = 0; n < s->count; n++) value_put(part->receive, part->type, n, s->values[n]);
  *request = MPI_REQUEST_NULL;
  return 1;
}
