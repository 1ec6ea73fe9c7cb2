/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Exchange by stores into the neighbours' memory: first faces, then flags. The transports
 * p2p and ipc use it.
 *
 * Exchanges are numbered from 1. A rank stores its faces into its neighbours' memory and then
 * writes the exchange's number to its flag at each neighbour. A rank reads a halo only after its
 * own flag for that neighbour has reached the number. Flags only grow, so none has to be reset.
 * doc/explanation/transport.md explains why this is sufficient. C and CUDA share this file. */
#ifndef COMM_HALO_LINK_H
#define COMM_HALO_LINK_H

#include "comm/halo/halo.h"
#include "gpu/gpu.h"

#define HALO_TAGS 27
/** 64-bit words per flag: 128 bytes, so that no two flags share a cache line */
#define HALO_FLAG_WORDS 16
/** increase of a flag per exchange; the blocks of a kernel may add parts of it */
#define HALO_FLAG_UNIT ((uint64_t)1 << 20)

/** Device memory of a rank to which its neighbours write. */
struct halo_mailbox {
  /** per recv_tag: number of exchanges that have arrived, times HALO_FLAG_UNIT */
  uint64_t flag[HALO_TAGS][HALO_FLAG_WORDS];
  /** per recv_tag: the value that the neighbour stored to test the link */
  uint64_t trial[HALO_TAGS + 5];
};

/** Device memory that only its own rank writes; initially zero. */
struct halo_state {
  uint64_t base;   /**< number of exchanges before this block of sweeps */
  unsigned blocks; /**< number of thread blocks of the sending kernel that are done */
  /** 1 after a wait has passed its deadline: this rank then no longer waits or sends */
  int broken;
  /** total times of waits, of kernels that store faces, and of sweeps that store faces */
  uint64_t wait_ns, push_ns, edge_ns;
};

/** Host memory in which the device reports long waits. */
struct halo_plea {
  volatile uint64_t step;    /**< number of the awaited exchange, relative to `base` */
  volatile uint32_t missing; /**< one bit per message still awaited; 0 unless a wait is long */
  volatile uint32_t hung;    /**< 1 after the deadline has passed */
};

struct halo_link_message {
  int lo[3], hi[3]; /**< points to send, local indices */
  int dir[3];       /**< direction of the neighbour */
  /** addresses of the first point in the neighbour's two fields; NULL if faces are not stored */
  float *to[2];
  int64_t plane, pitch; /**< strides of the neighbour's fields, multiples of 4 */
  uint64_t *flag;       /**< flag in the neighbour's memory, which this rank sets */
  const uint64_t *here; /**< flag in this rank's memory, which the neighbour sets */
};

/** A rank's links to all neighbours. Passed to kernels by value. */
struct halo_link {
  int n;
  int64_t plane, pitch; /**< strides of this rank's fields */
  int adds;             /**< 1: the device can add to the neighbours' flags atomically */
  uint64_t timeout_ns;
  struct halo_state *state;
  struct halo_plea *plea;
  struct halo_link_message message[HALO_MESSAGES_MAX];
};

/** Device operations on a link; asynchronous if the backend has queues. */
struct halo_link_ops {
  /** \brief Returns 1 if \a device can add atomically to memory of the device \a uuid. The member
   * is NULL if every device can. */
  int (*adds)(struct gpu_device *device, const char *uuid);
  /** \brief Stores the faces of \a field into field `which` of the neighbours, then sets the flags
   * to base + \a step. */
  status_t (*push)(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field, int which,
                   uint64_t step);
  /** \brief Sets the flags to base + \a step after all earlier work in the queue. */
  status_t (*raise)(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);
  /** \brief Blocks the queue until all own flags have reached base + \a step, or the deadline has
   * passed. NULL if the host has to poll the flags. */
  status_t (*await)(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);
  /** \brief Does push and await in one launch. NULL if await is NULL. */
  status_t (*exchange)(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field, int which,
                       uint64_t step);
  /** \brief Adds \a steps to base. */
  status_t (*advance)(struct gpu_queue *queue, const struct halo_link *link, uint64_t steps);
};

extern const struct halo_link_ops halo_link_ops_cpu;
extern const struct halo_link_ops halo_link_ops_null;
extern const struct halo_link_ops halo_link_ops_cuda;

/** \brief Returns a backend's operations on links, or NULL if it has none. */
const struct halo_link_ops *halo_link_ops_find(const char *backend);

#endif
