/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/sim/reduce.h"

#include <mpi.h>
#include <stdlib.h>

#include "base/log.h"
#include "comm/ranks/mpi_check.h"

#define REDUCE_TAG 900
#define ROUNDS_MAX 34

/** One round: to whom, from whom; −1 for nobody. What comes is added, or is the sum already. */
struct round {
  int to, from, whole;
};

struct reduce {
  struct round rounds[ROUNDS_MAX];
  int n, at; /* rounds; the one under way, n when complete */
  double mine, other;
  MPI_Request send, receive;
};

/* Ranks beyond the largest power of two give theirs to one below first, and get the sum from it at
 * the end. */
static void rounds_make(int rank, int ranks, struct reduce *r)
{
  int power = 1;
  while (2 * power <= ranks) power *= 2;
  int extra = ranks - power;
  if (rank >= power) {
    r->rounds[r->n++] = (struct round){rank - power, -1, 0};
    r->rounds[r->n++] = (struct round){-1, rank - power, 1};
    return;
  }
  if (rank < extra) r->rounds[r->n++] = (struct round){-1, rank + power, 0};
  for (int step = 1; step < power; step *= 2) r->rounds[r->n++] = (struct round){rank ^ step, rank ^ step, 0};
  if (rank < extra) r->rounds[r->n++] = (struct round){rank + power, -1, 0};
}

status_t reduce_create(int rank, int ranks, struct reduce **reduce)
{
  struct reduce *r = calloc(1, sizeof *r);
  if (!r) return log_fail(STATUS_ENVIRONMENT, "out of memory for a sum");
  rounds_make(rank, ranks, r);
  r->at = r->n;
  r->send = r->receive = MPI_REQUEST_NULL;
  *reduce = r;
  return STATUS_OK;
}

void reduce_destroy(struct reduce *reduce)
{
  free(reduce);
}

static status_t round_begin(struct reduce *r)
{
  const struct round *round = &r->rounds[r->at];
  if (r->at == r->n) return STATUS_OK;
  if (round->from >= 0)
    RETURN_IF_FAILED(
        mpi_check(MPI_Irecv(&r->other, 1, MPI_DOUBLE, round->from, REDUCE_TAG, MPI_COMM_WORLD, &r->receive),
                  "MPI_Irecv"));
  if (round->to < 0) return STATUS_OK;
  return mpi_check(MPI_Isend(&r->mine, 1, MPI_DOUBLE, round->to, REDUCE_TAG, MPI_COMM_WORLD, &r->send),
                   "MPI_Isend");
}

status_t reduce_begin(struct reduce *r, double value)
{
  r->at = 0;
  r->mine = value;
  return round_begin(r);
}

MPI_Request *reduce_request(struct reduce *r)
{
  return &r->receive;
}

double reduce_sum(const struct reduce *r)
{
  return r->mine;
}

status_t reduce_progress(void *of)
{
  struct reduce *r = of;
  while (r->at < r->n) {
    int done = 1;
    if (r->receive != MPI_REQUEST_NULL)
      RETURN_IF_FAILED(mpi_check(MPI_Test(&r->receive, &done, MPI_STATUS_IGNORE), "MPI_Test"));
    if (done && r->send != MPI_REQUEST_NULL)
      RETURN_IF_FAILED(mpi_check(MPI_Test(&r->send, &done, MPI_STATUS_IGNORE), "MPI_Test"));
    if (!done) return STATUS_OK;
    if (r->rounds[r->at].from >= 0) r->mine = r->other + (r->rounds[r->at].whole ? 0 : r->mine);
    r->at++;
    RETURN_IF_FAILED(round_begin(r));
  }
  return STATUS_OK;
}

status_t reduce_finish(struct reduce *r)
{
  while (r->at < r->n) {
    RETURN_IF_FAILED(mpi_check(MPI_Wait(&r->receive, MPI_STATUS_IGNORE), "MPI_Wait"));
    RETURN_IF_FAILED(mpi_check(MPI_Wait(&r->send, MPI_STATUS_IGNORE), "MPI_Wait"));
    RETURN_IF_FAILED(reduce_progress(r));
  }
  return STATUS_OK;
}
