/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The halo messages of a rank: one per neighbour, up to 26, all in one round.
 *
 * All messages of a rank are contiguous in one send and one receive buffer, so one kernel packs and
 * one unpacks them. With depth 1 the sweep needs no corners of the cube: 18 neighbours suffice. */
#ifndef COMM_HALO_HALO_H
#define COMM_HALO_HALO_H

#include "comm/halo/decomp.h"

#define HALO_MESSAGES_MAX 26

struct halo_message {
  int peer;            /**< rank */
  int dir[3];          /**< where the peer lies */
  struct box send;     /**< owned points that it needs, local indices */
  struct box recv;     /**< layers that it fills */
  int64_t count;       /**< floats sent */
  int64_t recv_count;  /**< floats received; the same in plans of halo_plan_init */
  int64_t send_offset; /**< floats into the send buffer */
  int64_t recv_offset;
  int send_tag, recv_tag; /**< direction numbers 0 … 26, of the sender's view */
};

struct halo_plan {
  int depth;
  int n;
  struct halo_message messages[HALO_MESSAGES_MAX];
  int64_t floats, recv_floats; /**< of the send and of the receive buffer */
};

/** \brief The plan of this rank. */
void halo_plan_init(struct halo_plan *plan, const struct decomp *decomp, const struct layout *layout,
                    int depth);

/** \brief The plan of rank 0 or 1 of a pair: \a n floats to the other, \a one_way by rank 0 only.
 * The layout has one row, of what is sent and after it what arrives, each from a line of a GPU's
 * memory on. */
void halo_plan_pair(struct halo_plan *plan, struct layout *layout, int rank, int64_t n, int one_way);

/** \brief STATUS_USAGE if a message has more floats than MPI can count. */
status_t halo_plan_check(const struct halo_plan *plan);

#define HALO_BOUNDARIES_MAX 6

/** The owned points in pieces: slabs that a neighbour needs, and the rest, which can be computed
 * meanwhile. */
struct halo_cut {
  int n;
  struct box boundary[HALO_BOUNDARIES_MAX];
  struct box inner;
};

/** \brief Cuts slabs of the plan's depth off the owned box, at the sides where neighbours are. */
void halo_cut_init(struct halo_cut *cut, const struct halo_plan *plan, const struct layout *layout);

/** \brief Whether a halo of that depth has points in direction \a dir. */
int halo_dir_is_needed(const int dir[3], int depth);

/** \brief "i-", "j+k+", … for messages. */
const char *halo_dir_name(const int dir[3], char text[8]);

#endif
