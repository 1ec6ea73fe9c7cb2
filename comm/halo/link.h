/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Flags and faces in each other's memory: what lies under the transports p2p and ipc.
 *
 * Exchanges are numbered from 1. A rank stores its faces into its neighbours' memory and then sets
 * the flag that each of them keeps for it to the exchange's number; it reads a halo only once its
 * own flag has reached the number. Flags only grow, so none has to be reset.
 * doc/explanation/transport.md gives the reasons why this is enough. Plain C and CUDA. */
#ifndef COMM_HALO_LINK_H
#define COMM_HALO_LINK_H

#include "comm/halo/halo.h"
#include "gpu/gpu.h"

#define HALO_TAGS       27
#define HALO_FLAG_WORDS 16 /**< a flag has 128 bytes of its own */
#define HALO_FLAG_UNIT                                                                                       \
  ((uint64_t)1 << 20) /**< what one exchange adds to a flag, in one or in several parts */

/** Device memory of a rank that its neighbours write. */
struct halo_mailbox {
  /** by recv_tag: exchanges that have arrived, in units */
  uint64_t flag[HALO_TAGS][HALO_FLAG_WORDS];
  /** by recv_tag: what the neighbour stored when the link was tried */
  uint64_t trial[HALO_TAGS + 5];
};

/** Device memory that only its rank writes, zero at first. */
struct halo_state {
  uint64_t base;   /**< exchanges before this block of sweeps */
  unsigned blocks; /**< of the sending kernel, that have stored their part */
  /** the deadline has passed: this rank neither waits nor sends any more */
  int broken;
  /** waiting, storing faces, sweeping and storing them at once */
  uint64_t wait_ns, push_ns, edge_ns;
};

/** Host memory that the device writes. */
struct halo_plea {
  volatile uint64_t step;    /**< exchange since base that is waited for */
  volatile uint32_t missing; /**< one bit per message that has not come; 0 while no wait is long */
  volatile uint32_t hung;
};

struct halo_link_message {
  int lo[3], hi[3]; /**< points to send, local indices */
  int dir[3];       /**< where the neighbour lies */
  /** where the first of them goes, in the neighbour's fields; NULL if not by stores */
  float *to[2];
  int64_t plane, pitch; /**< of the neighbour's fields, multiples of 4 */
  uint64_t *flag;       /**< at the neighbour */
  const uint64_t *here; /**< own flag, which the neighbour sets */
};

/** Passed to kernels by value. */
struct halo_link {
  int n;
  int64_t plane, pitch; /**< of the own fields */
  int adds;             /**< the device can add to the neighbours' flags, as well as set them */
  uint64_t timeout_ns;
  struct halo_state *state;
  struct halo_plea *plea;
  struct halo_link_message message[HALO_MESSAGES_MAX];
};

/** Device operations on a link; asynchronous on backends with queues. */
struct halo_link_ops {
  /** \brief Whether additions to the memory of the neighbour's device \a uuid are atomic; NULL
   * where all are. */
  int (*adds)(struct gpu_device *device, const char *uuid);
  /** \brief Stores the faces of \a field into the fields `which` of the neighbours, then sets the
   * flags to base + \a step. */
  status_t (*push)(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field, int which,
                   uint64_t step);
  /** \brief Sets the flags to base + \a step once all before in the queue is done. */
  status_t (*raise)(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);
  /** \brief The queue goes on once all own flags have reached base + \a step, or the deadline has
   * passed. NULL where the host has to look at the flags. */
  status_t (*await)(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);
  /** \brief Push and await at once. NULL where await is. */
  status_t (*exchange)(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field, int which,
                       uint64_t step);
  /** \brief Adds \a steps to base. */
  status_t (*advance)(struct gpu_queue *queue, const struct halo_link *link, uint64_t steps);
};

extern const struct halo_link_ops halo_link_ops_cpu;
extern const struct halo_link_ops halo_link_ops_null;
extern const struct halo_link_ops halo_link_ops_cuda;

/** \brief A backend's operations on links, NULL where there is none. */
const struct halo_link_ops *halo_link_ops_find(const char *backend);

#endif
