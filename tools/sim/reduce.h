/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The sum of gosa over ranks, by recursive doubling, that goes on while halos travel, as MPI
 * libraries do it. SimGrid's own non-blocking sum sends from each rank to all. */
#ifndef TOOLS_SIM_REDUCE_H
#define TOOLS_SIM_REDUCE_H

#include <mpi.h>

#include "base/status.h"

struct reduce;

/** \brief For this rank of \a ranks. */
status_t reduce_create(int rank, int ranks, struct reduce **reduce);
void reduce_destroy(struct reduce *reduce);

/** \brief Begins one of \a value; the last must be complete. */
status_t reduce_begin(struct reduce *reduce, double value);

/** \brief What it waits for next. */
MPI_Request *reduce_request(struct reduce *reduce);

/** \brief Goes on as far as it can without waiting; for poll_background. */
status_t reduce_progress(void *reduce);

/** \brief The sum, once complete. */
double reduce_sum(const struct reduce *reduce);

/** \brief Waits for its end. */
status_t reduce_finish(struct reduce *reduce);

#endif
