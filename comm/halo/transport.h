/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The interface of a halo transport. Each transport is one const struct in a file of its
 * own.
 *
 * Callers use comm/halo/route.h, which opens a transport, lets `staged` carry messages that the
 * transport cannot carry, and enforces deadlines.
 *
 * A sweep computes the points that neighbours need, calls `start`, computes the rest, and calls
 * `finish`. Meanwhile the transport moves data without blocking the host for long. */
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

/** Phases of an exchange. Times are summed over all exchanges since the times were last read. */
enum halo_phase { HALO_PACK, HALO_D2H, HALO_WAIT, HALO_TRANSFER, HALO_H2D, HALO_UNPACK, HALO_PHASES };
#define HALO_PHASE_NAMES "pack", "d2h", "wait", "transfer", "h2d", "unpack"

/** Stages of an exchange that packs and unpacks. They do not overlap: each moment counts for the
 * earliest stage that some halo of the rank has not finished. */
enum halo_stage { STAGE_PACK, STAGE_D2H, STAGE_HANDOVER, STAGE_H2D, STAGE_UNPACK, HALO_STAGES };
/** Names of the handovers of `staged`: "shared memory" within a host, "MPI" between hosts. */
extern const char *const halo_handovers[2];

#define HALO_STAGE_NAMES "pack", "d2h", "handover", "h2d", "unpack"

struct halo_times {
  double seconds[HALO_PHASES];
  double stages[HALO_STAGES];
  double edge_seconds; /**< time in which kernels computed points and stored them at neighbours */
  long exchanges;
};

struct halo_context {
  MPI_Comm comm;
  struct gpu_device *device;
  const struct layout *layout;
  const struct halo_plan *plan; /**< copied by setup */
  struct gpu_mem fields[2];     /**< the fields whose halos are exchanged, from halo_field_alloc */
  struct gpu_queue *compute;    /**< the queue that computes the fields */
};

/** \brief Adds the neighbour of a message to the ranks that are waited for. */
static inline void halo_target_add(struct watch_targets *targets, const struct halo_message *message)
{
  targets->at[targets->n].rank = message->peer;
  halo_dir_name(message->dir, targets->at[targets->n++].face);
}

/** Whether a transport carries a message of the plan, and if not, the reason. */
struct halo_reach {
  int carried;
  char why[GPU_TEXT_MAX];
};

struct halo_transport {
  const char *name;
  const char *memory;  /**< kind of memory that halos pass through */
  const char *mover;   /**< library or hardware that moves halos between ranks */
  const char *on_cpus; /**< how halos move between ranks on CPUs; NULL if unavailable there */
  /** \brief Returns 1 if the transport works with this backend; if not, sets the reason. */
  int (*available)(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX]);
  /** \brief Collective: ranks agree on the outcome. Creates buffers, packer, queue, and the path to
   * each neighbour. If the transport cannot carry message m of the plan, clears reach[m].carried
   * and sets the reason, at both ends of the message. Only the other messages then move. */
  status_t (*setup)(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                    struct halo_exchange **exchange);
  /** \brief Begins to move halos into \a field, one of context.fields. The data to send is in
   * \a from, which is memory of the same layout or the field itself, and is complete after the
   * event \a computed. If \a computed is NULL, the data is complete after all work in
   * context.compute, and the exchange may use that queue for its own work, until finish returns. */
  status_t (*start)(struct halo_exchange *exchange, struct gpu_mem from, struct gpu_mem field,
                    struct gpu_event *computed);
  /** \brief Lets messages progress without blocking; called between parts of interior work. NULL if
   * messages progress without the host. */
  status_t (*progress)(struct halo_exchange *exchange);
  /** \brief Returns when the host has nothing left to do for the exchange. The field's halos are
   * valid after the event *arrived or, if *arrived is NULL, for work enqueued in context.compute
   * from now on. */
  status_t (*finish)(struct halo_exchange *exchange, struct gpu_event **arrived);
  /** \brief Adds the times of finished exchanges. Call it when the device's queue is empty. */
  status_t (*times)(struct halo_exchange *exchange, struct halo_times *times);
  /* `hung` and `describe` are NULL if only the host waits. */
  /** \brief Returns 1 if a wait on the device has passed the deadline. */
  int (*hung)(const struct halo_exchange *exchange);
  /** \brief Lists the ranks that the device waits for. Sets targets->sweep to the device's
   * sweep. */
  void (*describe)(const struct halo_exchange *exchange, struct watch_targets *targets);
  /** \brief Closes the exchange and frees its memory. Collective unless an exchange failed. */
  void (*teardown)(struct halo_exchange *exchange);
  /** \brief Returns how message \a m of the plan is handed over, "shared memory" or "MPI", and sets
   * the reason. NULL if the transport hands over all messages in the same manner. */
  const char *(*handover)(const struct halo_exchange *exchange, int m, const char **why);
  /** Whether `-x auto` tries the transport. HALO_TRIAL_SLOW: its setup takes seconds, so it is
   * skipped if kernels can store into all neighbours' memory: such stores were always faster. */
  enum { HALO_NO_TRIAL, HALO_TRIAL, HALO_TRIAL_SLOW } trial;
  /** \brief Allocates memory for fields that neighbours or a library must access; `free` frees it.
   * Not collective. If NULL, gpu_alloc and gpu_free are used. */
  status_t (*alloc)(struct gpu_device *device, size_t bytes, struct gpu_mem *mem);
  void (*free)(struct gpu_device *device, struct gpu_mem *mem);
  /** 1: start and finish only enqueue work, so the host need not act during a block */
  int unattended;
  /* The members from here on are only for `unattended` transports. */
  /** \brief Ends a block in context.compute: exchanges are numbered from 1 again, so that the work
   * enqueued since the last lap, this call included, can be captured and launched again. */
  status_t (*lap)(struct halo_exchange *exchange);
  /** \brief For kernels that send and wait themselves (comm/halo/link.h): returns the link, and
   * sets \a step, unless NULL, to the next exchange's number. NULL if the transport has no link. */
  const struct halo_link *(*link)(struct halo_exchange *exchange, uint64_t *step);
  /** \brief Makes halos that arrived through the link valid for work in context.compute. */
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

/** \brief Writes `memory` and `mover` of the transport named \a used to a document, or neither if
 * there is no such transport. */
void halo_transport_document(struct doc *d, const char *used);

/** \brief Returns STATUS_USAGE if no transport has that name; the error suggests a similar one. */
status_t halo_transport_check(const char *option, const char *name);
/** \brief Reads a transport's name into \a field, a const char *, which is set to NULL for "auto".
 * Returns errors as halo_transport_check does. */
status_t halo_transport_parse(const char *option, const char *text, void *field);

/** \brief Allocates a field whose halos \a transport will exchange. */
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
