/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One transport between ranks of a communicator: batches of exchanges whose content is
 * compared.
 *
 * Exchanges alternate between two fields and wait for one another, as the sweeps of a solver do.
 * Before a batch both fields get new content in the points that a rank sends; after the batch, the
 * halos and the sent points of both fields are compared. The first batch and bench_exchange_check
 * compare every point, including those that no message may change, because nothing else changes
 * those in between. A batch of two checks each transfer. A longer batch checks the last transfer of
 * each field, and finds any earlier damage that remains. If exchanges need no action of the host, a
 * batch is one graph. */
#ifndef TOOLS_NETWORK_EXCHANGE_H
#define TOOLS_NETWORK_EXCHANGE_H

#include "comm/halo/route.h"

#define BENCH_FIELDS 2

struct bench_exchange_config {
  MPI_Comm comm;
  struct gpu_device *device;
  const struct halo_transport *transport;
  /** bytes that each of two ranks sends to the other; 0: exchange halos of the grid below */
  int64_t pair_bytes;
  int one_way; /**< for a pair: only rank 0 sends */
  int64_t global[3];
  int procs[3];
  int depth;
};

/** Callers may read the plan and the route. */
struct bench_exchange {
  struct bench_exchange_config config;
  int rank;
  struct decomp decomp;
  struct layout layout;
  struct halo_plan plan;
  struct gpu_queue *queue;
  /** graph of a batch of graph_n exchanges that begins with field 0; NULL: not yet captured */
  struct gpu_graph *graph;
  int graph_n;
  struct gpu_mem fields[BENCH_FIELDS];
  size_t bytes;                            /**< size of a field */
  uint32_t *host, *expected[BENCH_FIELDS]; /**< one field each */
  uint64_t version;
  long exchanges;
  struct halo_route *route;
};

/** \brief Collective; ranks agree on the status. */
status_t bench_exchange_open(const struct bench_exchange_config *config, struct bench_exchange **x);
void bench_exchange_close(struct bench_exchange *x);

/** \brief Collective: runs a batch of \a n ≥ 2 exchanges. Sets *seconds to the time per exchange on
 * this rank. Logs an error and returns STATUS_WRONG if content differs. */
status_t bench_exchange_batch(struct bench_exchange *x, int n, double *seconds);

/** \brief Compares every point of both fields after the last batch. Returns errors as a batch
 * does. */
status_t bench_exchange_check(struct bench_exchange *x);

#endif
