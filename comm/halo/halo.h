/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The halo messages of a rank: one per neighbour, up to 26, all sent at the same time.
 *
 * The messages of a rank are contiguous in one send and one receive buffer, so that one kernel
 * packs all of them and another one unpacks all of them. With depth 1, 18 neighbours suffice,
 * because a sweep does not read the eight corners of a point's 3×3×3 cube. */
#ifndef COMM_HALO_HALO_H
#define COMM_HALO_HALO_H

#include "comm/halo/decomp.h"

#define HALO_MESSAGES_MAX 26

struct halo_message {
  int peer;            /**< rank of the neighbour */
  int dir[3];          /**< direction of the neighbour, −1, 0 or 1 per dimension */
  struct box send;     /**< owned points that the neighbour needs, local indices */
  struct box recv;     /**< halo layers that the neighbour fills, local indices */
  int64_t count;       /**< floats sent */
  int64_t recv_count;  /**< floats received; equal to count in plans of halo_plan_init */
  int64_t send_offset; /**< start in the send buffer, in floats */
  int64_t recv_offset; /**< start in the receive buffer, in floats */
  /** MPI tags: number (0 … 26) of the direction from the message's sender to its receiver */
  int send_tag, recv_tag;
};

struct halo_plan {
  int depth;
  int n;
  struct halo_message messages[HALO_MESSAGES_MAX]; /**< each with another rank */
  int64_t floats, recv_floats; /**< sizes of the send and of the receive buffer, in floats */
};

void halo_plan_init(struct halo_plan *plan, const struct decomp *decomp, const struct layout *layout,
                    int depth);

/** \brief Plans a message of \a n floats between ranks 0 and 1, in both directions or, with \a
 * one_way, only from rank 0 to rank 1. The layout is one row: the floats to send, then the floats
 * to receive. Both begin at a cache line of a GPU. */
void halo_plan_pair(struct halo_plan *plan, struct layout *layout, int rank, int64_t n, int one_way);

/** \brief Returns STATUS_USAGE if a message has more floats than MPI can count (INT_MAX). */
status_t halo_plan_check(const struct halo_plan *plan);

#define HALO_BOUNDARIES_MAX 6

/** The owned points, divided into boundary slabs, which neighbours need, and the inner box, which
 * is computed during the exchange. */
struct halo_cut {
  int n;
  struct box boundary[HALO_BOUNDARIES_MAX];
  struct box inner;
};

/** \brief Divides the owned box into one slab per side with a neighbour, and the inner box. Slabs
 * have the plan's depth. Those normal to j have \a rows rows instead if that is more and leaves at
 * least \a rows rows in the inner box. */
void halo_cut_init(struct halo_cut *cut, const struct halo_plan *plan, const struct layout *layout, int rows);

/** \brief Returns 1 if a halo of \a depth layers has points in direction \a dir. */
int halo_dir_is_needed(const int dir[3], int depth);

/** \brief Writes the direction to \a text as "i-", "j+k+", …, for error messages. Returns text. */
const char *halo_dir_name(const int dir[3], char text[8]);

#endif
