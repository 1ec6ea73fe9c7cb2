/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The state of an exchange in staged.c, and its set-up in buffered.c. */
#ifndef COMM_TRANSPORTS_BUFFERED_H
#define COMM_TRANSPORTS_BUFFERED_H

#include "comm/halo/chunks.h"
#include "comm/halo/transport.h"
#include "comm/transports/handover.h"

/* An exchange's events are reused after this many exchanges. They have passed by then, because
 * exchange n begins only after exchange n − 2 was copied to the device. Timestamps are read while
 * the newest exchange is in progress. */
#define BUFFERED_EVENTS 4
/* Only every BUFFERED_TIMED-th exchange is timed, because timestamps delay queues. */
#define BUFFERED_TIMED 8

/* Marks are events in the queues, with timestamps. Packing is from BEGIN to PACKED, the copy to the
 * host ends at OUT, the copy to the device is from BACK to IN, unpacking from READY to UNPACKED. At
 * HERE the last of several pieces has arrived. Marks of skipped steps are not recorded. */
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

/* The memory that halos pass through. SHARED is pinned, and neighbours on the host map it. */
enum buffered_kind { BUFFERED_SHARED, BUFFERED_PINNED, BUFFERED_PAGEABLE, BUFFERED_DEVICE };

/* MPI requests of one kind, in the order of chunks or messages. */
struct buffered_requests {
  MPI_Request *at;
  int n;
};

/* Members that are created once; only the division into chunks may change between exchanges. */
struct buffered_fixed {
  struct halo_context context;
  struct halo_plan plan;
  struct layout layout;
  enum buffered_kind kind;
  const struct halo_packer *packer;
  struct halo_packer_state *packer_state;
  struct gpu_queue *out, *in; /* separate queues, so that copies run in both directions at once */
  /* by_rows[m] is 1 if the rows of message m are copied between field and buffer without packing;
   * packed is the plan of the other messages */
  int by_rows[HALO_MESSAGES_MAX];
  struct halo_plan packed;
  int packs_there; /* 1: the packer writes directly to the buffers that MPI or neighbours read */
  struct gpu_mem send[2], recv[2];
  /* the two send buffers that MPI or a neighbour reads */
  float *host_send[2];
  /* two receive buffers: the device may still read one while the next halo arrives */
  float *host_recv[2];
  struct gpu_event *before;  /* recorded in place of `computed` if the caller passes none */
  struct gpu_event **copied; /* per piece: event recorded after the piece's copy to host memory */
  struct halo_chunks outgoing, incoming;
  /* per incoming message: index of its first chunk, and number of its chunks */
  int first[HALO_MESSAGES_MAX], chunks[HALO_MESSAGES_MAX];
  struct gpu_event *arrived[BUFFERED_EVENTS];
};

/* Times of exchanges. */
struct buffered_clock {
  struct buffered_marks ring[BUFFERED_EVENTS];
  struct buffered_marks *marks; /* marks of the current exchange; NULL if it is not timed */
  long timed;                   /* number of timed exchanges */
  long timed_lately;            /* number of timed exchanges since times were last read */
  struct halo_times times;
  double since; /* time (stats_now) up to which wait and transfer are accounted */
};

/* Messages that pass through shared memory within a host. */
struct buffered_local {
  struct handover handover;
  /* per message: whether it passes through shared memory, and if not, the reason */
  struct halo_reach shared[HALO_MESSAGES_MAX];
  int by_mpi; /* number of messages that go by MPI */
  /* per message: total number of chunks written to shared memory, and read from it */
  uint64_t handed[HALO_MESSAGES_MAX], got[HALO_MESSAGES_MAX];
  long took; /* number of exchanges whose halos were copied to the device */
};

/* The current exchange. */
struct buffered_current {
  long n; /* index of the exchange, from 0 */
  struct gpu_mem from, field;
  struct buffered_requests tokens_in, tokens_out, data_in, data_out;
  int heard[HALO_MESSAGES_MAX]; /* 1: the token that precedes the message has arrived */
  int *missing;                 /* per incoming piece: number of chunks that have not arrived */
  int *indices;                 /* workspace of MPI_Testsome: indices of finished requests */
  MPI_Status *statuses;
  int sent; /* number of chunks sent */
  int tokens_left, data_left, out_left, in_transfer;
  int arriving; /* number of pieces that have arrived */
};

struct buffered_exchange {
  struct buffered_fixed fixed;
  struct buffered_clock clock;
  struct buffered_local local;
  struct buffered_current current;
};

/** \brief Creates an exchange of \a kind; ranks agree on the outcome. */
status_t buffered_setup(const struct halo_context *context, enum buffered_kind kind,
                        struct halo_exchange **exchange);
void buffered_teardown(struct halo_exchange *exchange);

/** \brief Divides messages sent by MPI into chunks of at most \a floats floats; 0: whole messages.
 * Call only between exchanges. */
status_t buffered_cut(struct buffered_exchange *exchange, int64_t floats);

/** \brief Collective: times exchanges with several chunk lengths, and keeps the fastest. */
status_t buffered_chunk_choose(struct buffered_exchange *exchange);

/** \brief Returns 1 if exchanges record \a mark; a skipped step has no marks. */
int buffered_is_marked(const struct buffered_fixed *fixed, int mark);

/** \brief Chooses whether the exchange that begins is timed. The first one since times were read is
 * timed, and then every BUFFERED_TIMED-th one. */
void buffered_marks_choose(struct buffered_clock *clock);

/** \brief Records a mark if the exchange is timed. */
status_t buffered_mark(struct buffered_clock *clock, enum buffered_mark mark, struct gpu_queue *queue);

/** \brief If the current exchange is timed, reads the marks that the next timed exchange will
 * reuse. Call it while the device works. */
status_t buffered_marks_renew(const struct buffered_fixed *fixed, struct buffered_clock *clock);

status_t buffered_times(struct halo_exchange *exchange, struct halo_times *times);

#endif
