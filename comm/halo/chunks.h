/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Divides packed halos into chunks, so that one can be sent while the next is copied. */
#ifndef COMM_HALO_CHUNKS_H
#define COMM_HALO_CHUNKS_H

#include "comm/halo/halo.h"
#include "gpu/gpu.h"

/** Part of a halo message, sent as one MPI message. Sender and receiver use the same division. */
struct halo_chunk {
  int message, piece;   /**< indices into the plan's messages and into halo_chunks.piece */
  int64_t begin, count; /**< position in the packed buffer, and length, in floats */
};

/** One copy between device and host: a large chunk, or several consecutive small ones. */
struct halo_piece {
  int64_t begin, count; /**< position in the packed buffer, and length, in floats */
  int first, chunks;    /**< index of the first chunk, and number of chunks */
};

struct halo_chunks {
  int n, pieces;
  struct halo_chunk *chunk;
  struct halo_piece *piece;
};

/** How a message is divided. A chunk is whole layers of its box, whole rows, or part of one row. */
struct halo_cutting {
  int64_t most; /**< maximum floats per chunk; if 0, the message is one chunk */
  int alone;    /**< 1: every chunk of this message is a piece of its own */
};

/** \brief Divides the boxes that a plan receives (\a receive is 1) or sends (0). cutting[m] says
 * how message m is divided. Chunks of messages with `alone` come first. */
status_t halo_chunks_create(struct halo_chunks *chunks, const struct halo_plan *plan, int receive,
                            const struct halo_cutting cutting[HALO_MESSAGES_MAX]);

/** \brief Returns the rows of a field, in bytes, that contain floats \a begin to \a begin + \a
 * count − 1 of \a box in its packed order. */
struct gpu_rows halo_rows(const struct layout *layout, const struct box *box, int64_t begin, int64_t count);

void halo_chunks_free(struct halo_chunks *chunks);

#endif
