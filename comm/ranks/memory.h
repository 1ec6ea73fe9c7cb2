/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The memory that each rank may use, measured by all ranks together. */
#ifndef COMM_RANKS_MEMORY_H
#define COMM_RANKS_MEMORY_H

#include <mpi.h>

#include "gpu/memory.h"

struct memory_budget {
  struct gpu_device *device;
  uint64_t share;                     /**< this rank's share of the free memory, bytes */
  uint64_t usable;                    /**< the share less a reserve for MPI, drivers and threads */
  uint64_t share_least, usable_least; /**< minima of share and usable over all ranks */
  struct host_limit limit;            /**< the limit that determines the share */
  int sharing;                        /**< number of ranks that share that limit */
};

/** \brief Collective: measures the free memory. The caller must have freed its trial arrays. The
 * ranks of a host share its memory, the ranks of a control group share the group's memory, and \a
 * sharing ranks share this rank's device if it is not a CPU. Ranks agree on the outcome. */
status_t memory_measure(MPI_Comm comm, struct gpu_device *device, int sharing, struct memory_budget *budget);

/** \brief Checks that this rank may use \a need bytes for \a what ("size L"). Returns
 * STATUS_ENVIRONMENT if not; the error names the limit, the processes that hold the memory, and \a
 * advice ("; use …"). The caller must let all ranks agree on the result. */
status_t memory_check(const struct memory_budget *budget, uint64_t need, const char *what,
                      const char *advice);

#endif
