/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Cuts packed halos into chunks, so that one can travel while the next is copied. */
#ifndef COMM_HALO_CHUNKS_H
#define COMM_HALO_CHUNKS_H

#include "comm/halo/halo.h"

/** What one MPI message carries: a part of a halo message. Both ends cut alike. */
struct halo_chunk {
  int message, piece;
  int64_t begin, count; /**< floats of the packed buffer */
};

/** What one copy between device and host moves: a large chunk, or several small ones that follow
 * each other. */
struct halo_piece {
  int64_t begin, count;
  int chunks;
};

struct halo_chunks {
  int n, pieces;
  struct halo_chunk *chunk;
  struct halo_piece *piece;
};

/** \brief Cuts the send side, or with \a receive the receive side, of a plan at \a most floats; 0
 * leaves messages and buffer whole. */
status_t halo_chunks_create(struct halo_chunks *chunks, const struct halo_plan *plan, int receive,
                            int64_t most);
void halo_chunks_free(struct halo_chunks *chunks);

#endif
