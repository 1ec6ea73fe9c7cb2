/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What buffered.c sets up for the transports of staged.c. */
#ifndef COMM_TRANSPORTS_BUFFERED_H
#define COMM_TRANSPORTS_BUFFERED_H

#include "comm/halo/chunks.h"
#include "comm/halo/transport.h"
#include "comm/transports/handover.h"

/* An exchange's events are reused so many exchanges later, when they have surely passed: it began
 * after the copy in of the last but one. Timestamps are read while the newest exchange is in
 * progress. */
#define BUFFERED_EVENTS 4
/* The device's times are taken in one exchange of so many, since a timestamp holds its queue up. */
#define BUFFERED_TIMED 8

/* Packed from BEGIN, copied out from PACKED to OUT, in from BACK to IN, unpacked from READY. At
 * HERE the last of several pieces has come. Those of steps that are left out are not recorded. */
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

/* The memory that halos pass through. SHARED: pinned, and mapped by neighbours of the same host. */
enum buffered_kind { BUFFERED_SHARED, BUFFERED_PINNED, BUFFERED_PAGEABLE, BUFFERED_DEVICE };

/* MPI requests of one kind, in the order of chunks or messages. */
struct buffered_requests {
  MPI_Request *at;
  int n;
};

/* Set up once, and divided into chunks anew between exchanges. */
struct buffered_fixed {
  struct halo_context context;
  struct halo_plan plan;
  struct layout layout;
  enum buffered_kind kind;
  const struct halo_packer *packer;
  struct halo_packer_state *packer_state;
  struct gpu_queue *out, *in; /* copies both ways at once */
  /* messages whose rows are copied from and to the field, and the plan of those that are packed */
  int by_rows[HALO_MESSAGES_MAX];
  struct halo_plan packed;
  int packs_there; /* the device packs to where others read: nothing is copied out */
  struct gpu_mem send[2], recv[2];
  /* double-buffered: the send buffers, on the device if it packs there */
  float *host_send[2];
  /* double-buffered: the device may still read one while the next halo arrives */
  float *host_recv[2];
  struct gpu_event *before;  /* where the caller has no event */
  struct gpu_event **copied; /* a piece is in host memory */
  struct halo_chunks outgoing, incoming;
  int first[HALO_MESSAGES_MAX], chunks[HALO_MESSAGES_MAX]; /* of a message that comes in */
  struct gpu_event *arrived[BUFFERED_EVENTS];
};

/* Times of exchanges. */
struct buffered_clock {
  struct buffered_marks ring[BUFFERED_EVENTS];
  struct buffered_marks *marks; /* of the current exchange, NULL where it is not timed */
  long timed;                   /* exchanges so far, and since times were read last */
  long timed_lately;
  struct halo_times times;
  double since; /* time up to which wait and transfer are accounted */
};

/* Messages that are handed over within a host. */
struct buffered_local {
  struct handover handover;
  struct halo_reach shared[HALO_MESSAGES_MAX]; /* whether a message is handed over, else why not */
  int by_mpi;                                  /* messages that are not */
  /* chunks of a message so far */
  uint64_t handed[HALO_MESSAGES_MAX], got[HALO_MESSAGES_MAX];
  long took; /* exchanges whose halos were copied in */
};

/* The current exchange. */
struct buffered_current {
  long n; /* exchanges begun */
  struct gpu_mem from, field;
  struct buffered_requests tokens_in, tokens_out, data_in, data_out;
  int heard[HALO_MESSAGES_MAX]; /* its token has come */
  int *missing;                 /* chunks of each incoming piece */
  int *indices;                 /* room for finished requests, and what they got */
  MPI_Status *statuses;
  int sent; /* chunks */
  int tokens_left, data_left, out_left, in_transfer;
  int arriving; /* the first piece has been copied in */
};

struct buffered_exchange {
  struct buffered_fixed fixed;
  struct buffered_clock clock;
  struct buffered_local local;
  struct buffered_current current;
};

/** \brief Sets up a transport of \a kind; ranks agree. */
status_t buffered_setup(const struct halo_context *context, enum buffered_kind kind,
                        struct halo_exchange **exchange);
void buffered_teardown(struct halo_exchange *exchange);

/** \brief Cuts what MPI sends into chunks of \a floats, 0 for whole messages, between exchanges. */
status_t buffered_cut(struct buffered_exchange *exchange, int64_t floats);

/** \brief Collective: tries chunks with exchanges of the first field and cuts to the best. */
status_t buffered_chunk_choose(struct buffered_exchange *exchange);

/** \brief Whether exchanges have that mark: what they leave out has none. */
int buffered_is_marked(const struct buffered_fixed *fixed, int mark);

/** \brief Whether the exchange that begins is timed: the first is since times were read, and then
 * one of BUFFERED_TIMED. */
void buffered_marks_choose(struct buffered_clock *clock);

/** \brief Records a mark where the exchange is timed. */
status_t buffered_mark(struct buffered_clock *clock, enum buffered_mark mark, struct gpu_queue *queue);

/** \brief Reads the marks that the next timed exchange uses again: while the device works. */
status_t buffered_marks_renew(const struct buffered_fixed *fixed, struct buffered_clock *clock);

status_t buffered_times(struct halo_exchange *exchange, struct halo_times *times);

#endif
