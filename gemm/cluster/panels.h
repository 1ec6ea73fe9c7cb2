/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One operand of a distributed product: this rank's slices of the panels, and the broadcast
 * of the other ranks' slices.
 *
 * The ranks of a process row (A) or column (B) form a ring. Each rank has one slice of every panel:
 * for all k of the panel, some of the rows (A) or columns (B) of C that the ring computes. A slice
 * is a contiguous matrix, so it is sent directly from its memory as one message, and multiplied
 * where it arrives. In the first step each rank sends its own slice, and in every further step the
 * slice that it received last. After R − 1 steps in a ring of R ranks, each rank has the whole
 * panel. A slice is a field of comm/halo that consists only of halo, and each step is an exchange
 * on its own route, so that every halo transport can be used.
 *
 * A halo route alternates between two fields. Once this rank has begun the next exchange on a
 * route, a neighbour may overwrite the previous exchange's field, which this rank may still be
 * multiplying. Therefore panels alternate between two routes with four fields: the next exchange on
 * the route of panel n is for panel n + 2, which this rank begins only after it has multiplied
 * panel n. */
#ifndef GEMM_CLUSTER_PANELS_H
#define GEMM_CLUSTER_PANELS_H

#include "comm/halo/route.h"
#include "gemm/cluster/grid.h"

#define GEMM_PANEL_FIELDS 4
#define GEMM_PANEL_SETS   2

/** The leading dimension of C and the columns per slice of B are multiples of this many elements,
 * so that every part of C is aligned to GPU_PART_BYTES even if elements have 2 bytes. */
#define GEMM_C_STEP (GPU_PART_BYTES / 2)

struct gemm_panels {
  MPI_Comm comm;
  struct gpu_device *device;
  struct gpu_queue *compute;
  enum gemm_matrix matrix;
  int ring, place; /**< number of ranks in the ring, and this rank's position */
  int peers[2];    /**< the rank to send to, and the rank to receive from */
  struct gemm_grid grid;
  struct gemm_problem local; /**< this rank's block of C with all of K; ld as on the host */
  const void *host;          /**< matrix A or B of this block, on the host */
  int by_rows;               /**< 1: k is the number of the stored row; 0: k runs along it */
  int64_t ld;                /**< elements between stored rows of a slice */
  struct layout layout;      /**< layout of a slice, counted in floats for every type */
  struct gpu_mem *own;       /**< this rank's slices, one per panel */
  struct gpu_mem *field;     /**< [panel modulo 4][step]: the slice received in that step */
  const struct halo_transport *transport;
  struct halo_route **route; /**< [set][step] */
};

/** \brief Returns the bytes of device memory that a rank needs for this operand. */
uint64_t gemm_panels_bytes(const struct gemm_problem *local, const struct gemm_grid *grid,
                           enum gemm_matrix matrix);

/** \brief Returns the rows (A) or columns (B) of a rank's C that the slice at ring position
 * \a place covers. The first slice is the largest; the last may be smaller or empty. */
struct gemm_span gemm_panels_slice(const struct gemm_grid *grid, enum gemm_matrix matrix, int place);

/** \brief Returns the leading dimension of a slice, equal on every rank of the ring. */
int64_t gemm_panels_ld(const struct gemm_problem *local, const struct gemm_grid *grid,
                       enum gemm_matrix matrix);

/** \brief Copies this rank's slices of the matrix \a host (A or B of \a local) to the device. Not
 * collective. Close with gemm_panels_close even if this fails. */
status_t gemm_panels_open(struct gemm_panels *panels, MPI_Comm comm, struct gpu_queue *compute,
                          const struct gemm_problem *local, const struct gemm_grid *grid,
                          enum gemm_matrix matrix, const void *host);
void gemm_panels_close(struct gemm_panels *panels);

/** \brief Allocates fields and opens routes with \a transport. Collective over all ranks, like
 * gemm_panels_unlink. Does nothing for a ring of one rank. */
status_t gemm_panels_link(struct gemm_panels *panels, const struct halo_transport *transport);
void gemm_panels_unlink(struct gemm_panels *panels);

/** \brief Returns the number of steps to broadcast a panel: 0 for a ring of one rank. */
static inline int gemm_panels_steps(const struct gemm_panels *p)
{
  return p->ring - 1;
}

/** \brief Returns the route of a step. \a panel counts the panels of all products, from 0. */
static inline struct halo_route *gemm_panels_route(const struct gemm_panels *p, long panel, int step)
{
  return p->route[panel % GEMM_PANEL_SETS * gemm_panels_steps(p) + step];
}

/** \brief Starts a step of panel \a j of this product after the event \a ready. */
status_t gemm_panels_start(struct gemm_panels *panels, long panel, int j, int step, struct gpu_event *ready);

/** \brief Returns the bytes of a slice, that is, of the message in a step. */
size_t gemm_panels_slice_bytes(const struct gemm_panels *panels);

/** \brief Returns the slice of panel \a j that this rank has after \a step steps: the slice that it
 * received last, or its own if \a step is 0. gemm_panels_place returns its position in the ring. */
struct gpu_mem gemm_panels_operand(const struct gemm_panels *panels, long panel, int j, int step);
static inline int gemm_panels_place(const struct gemm_panels *p, int step)
{
  return (p->place + p->ring - step) % p->ring;
}

/** \brief Logs an error and returns STATUS_WRONG if one of this rank's own slices on the device has
 * changed. */
status_t gemm_panels_check(struct gemm_panels *panels, struct gpu_queue *queue);

#endif
