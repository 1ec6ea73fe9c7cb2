/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What buffered.c sets up for the transports of staged.c. */
#ifndef COMM_TRANSPORTS_BUFFERED_H
#define COMM_TRANSPORTS_BUFFERED_H

#include "comm/halo/chunks.h"
#include "comm/halo/transport.h"
#include "comm/transports/handover.h"

/* Device timestamps of so many exchanges are kept. The oldest are read while the newest exchange
 * starts, and have surely passed: its turn came after the copy in of the one but last. */
#define BUFFERED_EVENTS 4

/* Packed from BEGIN, copied out from PACKED to OUT, in from BACK to IN, unpacked from READY. At
 * HERE the last of several pieces has come. */
enum buffered_mark {
  MARK_BEGIN,
  MARK_PACKED,
  MARK_OUT,
  MARK_BACK,
  MARK_HERE,
  MARK_IN,
  MARK_READY,
  MARK_UNPACKED,
  MARKS
};

struct buffered_marks {
  struct gpu_event *event[MARKS];
  int used;
};

enum buffered_way { WAY_PINNED, WAY_PAGEABLE, WAY_DEVICE };

/* MPI requests of one kind, in the order of chunks or messages. */
struct buffered_requests {
  MPI_Request *at;
  int n;
};

struct halo_exchange {
  struct halo_context context;
  struct halo_plan plan;
  enum buffered_way way;
  const struct halo_packer *packer;
  struct halo_packer_state *packer_state;
  struct gpu_queue *out, *in; /* copies both ways at once */
  int packs_there;            /* the device packs to where others read: nothing is copied out */
  struct gpu_mem send[2], recv[2];
  /* by turns: what is sent from, the device's buffers where it packs there */
  float *host_send[2];
  /* by turns: the device may still read one while the next halo arrives */
  float *host_recv[2];
  struct gpu_event *before;  /* where the caller has no event */
  struct gpu_event **copied; /* a piece is in host memory */
  struct halo_chunks outgoing, incoming;
  int first[HALO_MESSAGES_MAX], chunks[HALO_MESSAGES_MAX]; /* of a message that comes in */
  struct buffered_marks ring[BUFFERED_EVENTS];
  struct halo_times times;
  long n; /* exchanges begun */

  struct handover handover;
  struct halo_reach shared[HALO_MESSAGES_MAX]; /* whether a message is handed over, else why not */
  int by_mpi;                                  /* messages that are not */
  /* chunks of a message so far */
  uint64_t handed[HALO_MESSAGES_MAX], got[HALO_MESSAGES_MAX];
  long took; /* exchanges whose halos were copied in */

  /* the exchange under way */
  struct gpu_mem field;
  struct buffered_requests tokens_in, tokens_out, data_in, data_out;
  int heard[HALO_MESSAGES_MAX]; /* its token has come */
  int *missing;                 /* chunks of each incoming piece */
  int *indices;                 /* room for finished requests, and what they got */
  MPI_Status *statuses;
  int sent; /* chunks */
  int tokens_left, data_left, out_left, in_transfer;
  int arriving; /* the first piece has been copied in */
  double since; /* time up to which wait and transfer are accounted */
};

/** \brief A transport's set-up for \a way; ranks agree. */
status_t buffered_setup(const struct halo_context *context, enum buffered_way way,
                        struct halo_exchange **exchange);
void buffered_teardown(struct halo_exchange *exchange);

#endif
