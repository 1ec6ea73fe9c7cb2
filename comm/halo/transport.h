/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A halo transport: one const struct and one file for each.
 *
 * Callers go through comm/halo/route.h, which opens a transport, lets `staged` carry what that
 * cannot, and watches deadlines.
 *
 * A sweep computes the points that neighbours need, calls `start`, computes the rest, and calls
 * `finish`. In the meantime the transport moves data without holding the host for long. */
#ifndef COMM_HALO_TRANSPORT_H
#define COMM_HALO_TRANSPORT_H

#include <mpi.h>

#include "comm/halo/halo.h"
#include "comm/halo/pack.h"
#include "comm/ranks/watch.h"
#include "gpu/gpu.h"

struct halo_exchange;
struct halo_link;
struct doc;

/** Seconds summed over all exchanges since they were last read, and their number. */
enum halo_phase { HALO_PACK, HALO_D2H, HALO_WAIT, HALO_TRANSFER, HALO_H2D, HALO_UNPACK, HALO_PHASES };
#define HALO_PHASE_NAMES "pack", "d2h", "wait", "transfer", "h2d", "unpack"

/** The same of transports that pack and unpack, without overlap: each moment is the first stage's
 * that is not over for all of a rank's halos. */
enum halo_stage { STAGE_PACK, STAGE_D2H, STAGE_HANDOVER, STAGE_H2D, STAGE_UNPACK, HALO_STAGES };
/** How two ranks on one host, or of two, hand staged halos over. */
extern const char *const halo_handovers[2];

#define HALO_STAGE_NAMES "pack", "d2h", "handover", "h2d", "unpack"

struct halo_times {
  double seconds[HALO_PHASES];
  double stages[HALO_STAGES];
  double edge_seconds; /**< that kernels with the link took for what they sent */
  long exchanges;
};

struct halo_context {
  MPI_Comm comm;
  struct gpu_device *device;
  const struct layout *layout;
  const struct halo_plan *plan; /**< copied by setup */
  struct gpu_mem fields[2];     /**< whose halos will travel; from halo_field_alloc */
  struct gpu_queue *compute;    /**< the queue that computes the fields */
};

/** \brief Adds the neighbour of a message to whom the rank waits for. */
static inline void halo_target_add(struct watch_targets *targets, const struct halo_message *message)
{
  targets->at[targets->n].rank = message->peer;
  halo_dir_name(message->dir, targets->at[targets->n++].face);
}

/** Whether a transport carries a message of the plan; if not, why. */
struct halo_reach {
  int carried;
  char why[GPU_TEXT_MAX];
};

struct halo_transport {
  const char *name;
  const char *memory; /**< that halos pass through */
  const char *mover;  /**< what carries them from rank to rank */
  /** \brief Whether it can run with this backend; if not, the reason. */
  int (*available)(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX]);
  /** \brief Collective: ranks agree on the outcome. Buffers, packer, queue, and the way to each
   * neighbour. Clears reach[m].carried, with the reason, for messages of the plan that it cannot
   * carry, alike at both ends of a message; it moves only the others from then on. */
  status_t (*setup)(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                    struct halo_exchange **exchange);
  /** \brief Begins to move halos into \a field, one of context.fields. The data to send is in
   * \a from, memory of the same layout or the field itself, and is complete once \a computed has
   * passed. If that is NULL, it is complete once all work in context.compute is, and the exchange's
   * own work may go there, as late as in finish. */
  status_t (*start)(struct halo_exchange *exchange, struct gpu_mem from, struct gpu_mem field,
                    struct gpu_event *computed);
  /** \brief Lets messages move without blocking: for use between pieces of interior work. NULL
   * where they need no host for it. */
  status_t (*progress)(struct halo_exchange *exchange);
  /** \brief Returns when all that needs the host is done; the field's halos are valid once *arrived
   * has passed. If *arrived is NULL, they are valid for later work in context.compute. */
  status_t (*finish)(struct halo_exchange *exchange, struct gpu_event **arrived);
  /** \brief Adds what has passed on the device to the times. Call when its queue is empty. */
  status_t (*times)(struct halo_exchange *exchange, struct halo_times *times);
  /* The next two are NULL where the host does all waiting. */
  /** \brief Whether the device has run into the deadline. */
  int (*hung)(const struct halo_exchange *exchange);
  /** \brief Whom the device waits for just now, and in which sweep if plan.depth sweeps go with an
   * exchange. */
  void (*describe)(const struct halo_exchange *exchange, struct watch_targets *targets);
  /** \brief Collective unless an exchange failed. */
  void (*teardown)(struct halo_exchange *exchange);
  /** \brief How a message of the plan travels, "shared memory" or "MPI", and why. NULL if all
   * messages of the transport travel alike. */
  const char *(*handover)(const struct halo_exchange *exchange, int m, const char **why);
  /** -x auto tries it; HALO_TRIAL_SLOW: it takes a second or two to start, and is tried only where
   * no kernel can store into the memory of all neighbours, which none of this kind has beaten */
  enum { HALO_NO_TRIAL, HALO_TRIAL, HALO_TRIAL_SLOW } trial;
  /** \brief Memory for the fields, where neighbours or a library must reach it, and its end; each
   * rank calls them for itself. NULL where that of gpu_alloc will do, and where gpu_free ends
   * it. */
  status_t (*alloc)(struct gpu_device *device, size_t bytes, struct gpu_mem *mem);
  void (*free)(struct gpu_device *device, struct gpu_mem *mem);
  /** \brief Start and finish only put work into queues, so that a whole block needs no host. */
  int unattended;
  /* The rest only where `unattended`. */
  /** \brief Puts the end of a block into context.compute: exchanges are numbered from 1 again, so
   * that what was put into queues since the last lap, this call included, may be recorded and
   * launched again. */
  status_t (*lap)(struct halo_exchange *exchange);
  /** \brief For kernels that send and wait themselves (comm/halo/link.h): the link, and the number
   * of the exchange to make next, unless \a step is NULL. NULL where there is no such thing. */
  const struct halo_link *(*link)(struct halo_exchange *exchange, uint64_t *step);
  /** \brief Later work in context.compute finds the halos of the last exchange through the link
   * valid. */
  status_t (*settle)(struct halo_exchange *exchange);
};

extern const struct halo_transport halo_transport_staged;
extern const struct halo_transport halo_transport_staged_mpi;
extern const struct halo_transport halo_transport_pageable;
extern const struct halo_transport halo_transport_ipc;
extern const struct halo_transport halo_transport_mpi;
extern const struct halo_transport halo_transport_nccl;
extern const struct halo_transport halo_transport_p2p;

/** \brief All transports; ends with NULL. */
extern const struct halo_transport *const halo_transports[];

const struct halo_transport *halo_transport_find(const char *name);

/** \brief Writes `memory` and `mover` of the transport named \a used, nothing of other names. */
void halo_transport_document(struct doc *d, const char *used);

/** \brief STATUS_USAGE, with what was meant, where there is none of that name. */
status_t halo_transport_check(const char *option, const char *name);
/** \brief Reads a transport into \a field, a const char *: NULL for "auto". Fails as the check
 * does. */
status_t halo_transport_parse(const char *option, const char *text, void *field);

/** \brief Memory for a field whose halos will travel by \a transport. */
static inline status_t halo_field_alloc(const struct halo_transport *transport, struct gpu_device *device,
                                        size_t bytes, struct gpu_mem *mem)
{
  return (transport->alloc ? transport->alloc : gpu_alloc)(device, bytes, mem);
}
static inline void halo_field_free(const struct halo_transport *transport, struct gpu_device *device,
                                   struct gpu_mem *mem)
{
  if (mem->handle) (transport->free ? transport->free : gpu_free)(device, mem);
  mem->handle = NULL;
}

#endif
