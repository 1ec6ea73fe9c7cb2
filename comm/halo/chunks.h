/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Divides packed halos into chunks, so that one can be sent while the next is copied. */
#ifndef COMM_HALO_CHUNKS_H
#define COMM_HALO_CHUNKS_H

#include "comm/halo/halo.h"
#include "gpu/gpu.h"

/** Part of a halo message that travels as one MPI message. Both ends compute the same division. */
struct halo_chunk {
  int message, piece;
  int64_t begin, count; /**< position in the packed buffer, and length, in floats */
};

/** One copy between device and host: a large chunk, or several consecutive small ones. */
struct halo_piece {
  int64_t begin, count;
  int first, chunks;
};

struct halo_chunks {
  int n, pieces;
  struct halo_chunk *chunk;
  struct halo_piece *piece;
};

/** How a message is divided: into layers of its box, rows of one layer, or parts of one row. */
struct halo_cutting {
  int64_t most; /**< maximum floats per chunk; 0: one chunk per message, one piece per buffer */
  int alone;    /**< 1: pieces of this message contain no other chunks */
};

/** \brief Divides the send side of a plan, or if \a receive the receive side, each message by its
 * entry in \a cutting. The chunks of messages with `alone` come first. */
status_t halo_chunks_create(struct halo_chunks *chunks, const struct halo_plan *plan, int receive,
                            const struct halo_cutting cutting[HALO_MESSAGES_MAX]);

/** \brief The rows of a field that correspond to a piece of one message: \a count floats starting
 * \a begin floats into the box. */
struct gpu_rows halo_rows(const struct layout *layout, const struct box *box, int64_t begin, int64_t count);

void halo_chunks_free(struct halo_chunks *chunks);

#endif
