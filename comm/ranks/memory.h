/* SPDX-License-Identifier: MIT */
/** \file
 * \brief How much memory each rank may take, measured by all ranks together. */
#ifndef COMM_RANKS_MEMORY_H
#define COMM_RANKS_MEMORY_H

#include <mpi.h>

#include "gpu/memory.h"

struct memory_budget {
  struct gpu_device *device;
  uint64_t share;                     /**< of this rank in what is free, bytes */
  uint64_t usable;                    /**< the share less what MPI, drivers and threads take */
  uint64_t share_least, usable_least; /**< of all ranks */
  struct host_limit limit;            /**< the one that sets the share */
  int sharing;                        /**< ranks that share that limit */
};

/** \brief Collective: reads what is free once no rank allocates any more, so the caller's trial
 * arrays must be freed. Ranks of a host share its memory, those of a control group that group's,
 * and \a sharing ranks share this rank's device if it is no CPU. Ranks agree on the outcome. */
status_t memory_measure(MPI_Comm comm, struct gpu_device *device, int sharing, struct memory_budget *budget);

/** \brief Whether this rank may take \a need bytes for \a what ("size L"): STATUS_ENVIRONMENT, with
 * the limit, who holds the memory, and \a advice ("; use …"), if not. A rank that has enough logs
 * nothing and succeeds, so the caller agrees. */
status_t memory_check(const struct memory_budget *budget, uint64_t need, const char *what,
                      const char *advice);

#endif
