/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Cuts packed halos into chunks, so that one can travel while the next is copied. */
#ifndef COMM_HALO_CHUNKS_H
#define COMM_HALO_CHUNKS_H

#include "comm/halo/halo.h"
#include "gpu/gpu.h"

/** Part of a halo message that travels as one MPI message. Both ends compute the same division. */
struct halo_chunk {
  int message, piece;
  int64_t begin, count; /**< floats of the packed buffer */
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

/** How a message is cut: into layers of its box, rows of one layer, or parts of one row. */
struct halo_cutting {
  int64_t most; /**< floats of a chunk; 0 leaves message and buffer whole */
  int alone;    /**< no piece of it has chunks of other messages */
};

/** \brief Cuts the send side, or with \a receive the receive side, of a plan, each message as
 * \a cutting says; those that stay alone come first. */
status_t halo_chunks_create(struct halo_chunks *chunks, const struct halo_plan *plan, int receive,
                            const struct halo_cutting cutting[HALO_MESSAGES_MAX]);

/** \brief The rows of a field that a piece of one message holds: \a count floats from \a begin of
 * the box. */
struct gpu_rows halo_rows(const struct layout *layout, const struct box *box, int64_t begin, int64_t count);

void halo_chunks_free(struct halo_chunks *chunks);

#endif
