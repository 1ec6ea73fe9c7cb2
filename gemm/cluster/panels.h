/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One operand of a distributed product: this rank's slices of its panels, and how whole
 * panels come to be on the device.
 *
 * The ranks of a process row (A) or column (B) are a ring. In step s each sends the slice that came
 * in the step before, its own at first, and gets another: after ring − 1 steps each has the panel.
 * A panel is a field of comm/halo with the slices as boxes, and a step an exchange by a route of
 * its own, so that all transports serve, as they serve halos.
 *
 * A neighbour may store panel n + 2 of a route once it has seen this rank begin n + 1, while this
 * one may still multiply n. So panels take four fields and two sets of routes by turns: what
 * overwrites panel n's field has seen the begin of n + 2, which comes after the product with n. */
#ifndef GEMM_CLUSTER_PANELS_H
#define GEMM_CLUSTER_PANELS_H

#include "comm/halo/route.h"
#include "gemm/cluster/grid.h"

#define GEMM_PANEL_FIELDS 4
#define GEMM_PANEL_SETS   2

struct gemm_panels {
  MPI_Comm comm;
  struct gpu_device *device;
  struct gpu_queue *compute;
  enum gemm_matrix matrix;
  int ring, place; /**< ranks in the ring, and this one's place */
  int peers[2];    /**< the ranks to send to, and to receive from */
  struct gemm_grid grid;
  struct gemm_problem local; /**< this rank's block with all of K, as the host has it */
  const void *host;          /**< A or B of it */
  int by_rows;               /**< a stored row is of one k */
  int64_t slice;             /**< k of a slice; what lies beyond the panel's is zero */
  int64_t ld;                /**< elements from one stored row of a panel to the next */
  struct layout layout;      /**< of a panel, in floats, whatever the elements are */
  struct gpu_mem *own;       /**< a panel's slice each, packed; with one rank the whole panel */
  struct gpu_mem field[GEMM_PANEL_FIELDS];
  const struct halo_packer *packer;
  struct halo_packer_state *packing; /**< from an own slice into a field */
  const struct halo_transport *transport;
  struct halo_route **route; /**< [set][step] */
};

/** \brief Bytes that a rank needs of its device. */
uint64_t gemm_panels_bytes(const struct gemm_problem *local, const struct gemm_grid *grid,
                           enum gemm_matrix matrix);

/** \brief Elements from row to row of a panel on every rank of the ring. */
int64_t gemm_panels_ld(const struct gemm_problem *local, const struct gemm_grid *grid,
                       enum gemm_matrix matrix);

/** \brief Copies this rank's slices of \a host, a matrix of \a local, to the device. This rank's
 * alone. Closed by gemm_panels_close, also when it fails half-way. */
status_t gemm_panels_open(struct gemm_panels *panels, MPI_Comm comm, struct gpu_queue *compute,
                          const struct gemm_problem *local, const struct gemm_grid *grid,
                          enum gemm_matrix matrix, const void *host);
void gemm_panels_close(struct gemm_panels *panels);

/** \brief Collective over all ranks, as gemm_panels_unlink is: fields and routes by \a transport.
 * Nothing where the ring is of one rank. */
status_t gemm_panels_link(struct gemm_panels *panels, const struct halo_transport *transport);
void gemm_panels_unlink(struct gemm_panels *panels);

/** \brief Steps of a panel's broadcast: 0 where the ring is of one rank. */
static inline int gemm_panels_steps(const struct gemm_panels *p)
{
  return p->ring - 1;
}

/** \brief The route of a step; \a turn counts panels over all products. */
static inline struct halo_route *gemm_panels_route(const struct gemm_panels *p, long turn, int step)
{
  return p->route[turn % GEMM_PANEL_SETS * gemm_panels_steps(p) + step];
}

/** \brief Puts this rank's slice of panel \a j into the turn's field. */
status_t gemm_panels_put(struct gemm_panels *panels, struct gpu_queue *queue, long turn, int j);

/** \brief Begins a step once \a ready has passed. */
status_t gemm_panels_start(struct gemm_panels *panels, long turn, int step, struct gpu_event *ready);

/** \brief Bytes of an own slice: what goes to the next rank in a step. */
size_t gemm_panels_slice_bytes(const struct gemm_panels *panels);

/** \brief Where panel \a j is, once its broadcast is over. */
struct gpu_mem gemm_panels_operand(const struct gemm_panels *panels, long turn, int j);

/** \brief STATUS_WRONG, logged, where an own slice on the device is no longer what was copied. */
status_t gemm_panels_check(struct gemm_panels *panels, struct gpu_queue *queue);

#endif
