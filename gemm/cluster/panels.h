/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One operand of a distributed product: this rank's slices of its panels, and how those of
 * the others come to be on the device.
 *
 * The ranks of a process row (A) or column (B) are a ring. A rank has a slice of each panel of K:
 * all its k, and some of the rows of C (A) or of its columns (B) that the ring has. A slice is a
 * matrix of its own, so it is sent from where it is stored, in one piece, and multiplied where it
 * arrived. In step s each rank sends the slice that arrived in the step before, its own at first,
 * and receives another: after ring − 1 steps each has the panel. A slice is a field of comm/halo
 * that is all halo, and a step an exchange by a route of its own, so that every transport for halos
 * serves.
 *
 * A neighbour may store panel n + 2 of a route once it has seen this rank begin n + 1, while this
 * one may still multiply n. So steps alternate between four fields and two routes: the store into
 * panel n's field has seen the begin of n + 2, which comes after the product with n. */
#ifndef GEMM_CLUSTER_PANELS_H
#define GEMM_CLUSTER_PANELS_H

#include "comm/halo/route.h"
#include "gemm/cluster/grid.h"

#define GEMM_PANEL_FIELDS 4
#define GEMM_PANEL_SETS   2

/** Rows of C are apart by a multiple of so many elements, and slices of B of so many columns: a
 * part of C may begin anywhere then, of elements of 2 bytes too. */
#define GEMM_C_STEP (GPU_PART_BYTES / 2)

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
  int64_t ld;                /**< elements from one stored row of a slice to the next */
  struct layout layout;      /**< of a slice, in floats, whatever the elements are */
  struct gpu_mem *own;       /**< a panel's slice each */
  struct gpu_mem *field;     /**< [turn][step]: what came in it */
  const struct halo_transport *transport;
  struct halo_route **route; /**< [set][step] */
};

/** \brief Bytes that a rank needs of its device. */
uint64_t gemm_panels_bytes(const struct gemm_problem *local, const struct gemm_grid *grid,
                           enum gemm_matrix matrix);

/** \brief The rows (A) or columns (B) of a rank's C of the slices at \a place of the ring. The
 * first is the largest, the last may be smaller or empty. */
struct gemm_span gemm_panels_slice(const struct gemm_grid *grid, enum gemm_matrix matrix, int place);

/** \brief Elements from row to row of a slice on every rank of the ring. */
int64_t gemm_panels_ld(const struct gemm_problem *local, const struct gemm_grid *grid,
                       enum gemm_matrix matrix);

/** \brief Copies this rank's slices of \a host, a matrix of \a local, to the device. Not
 * collective. Closed by gemm_panels_close, also if it fails. */
status_t gemm_panels_open(struct gemm_panels *panels, MPI_Comm comm, struct gpu_queue *compute,
                          const struct gemm_problem *local, const struct gemm_grid *grid,
                          enum gemm_matrix matrix, const void *host);
void gemm_panels_close(struct gemm_panels *panels);

/** \brief Collective over all ranks, as gemm_panels_unlink is: allocates fields and opens routes by
 * \a transport. Does nothing for a ring of one rank. */
status_t gemm_panels_link(struct gemm_panels *panels, const struct halo_transport *transport);
void gemm_panels_unlink(struct gemm_panels *panels);

/** \brief Steps of a panel's broadcast: 0 for a ring of one rank. */
static inline int gemm_panels_steps(const struct gemm_panels *p)
{
  return p->ring - 1;
}

/** \brief The route of a step; \a turn counts panels over all products. */
static inline struct halo_route *gemm_panels_route(const struct gemm_panels *p, long panel, int step)
{
  return p->route[panel % GEMM_PANEL_SETS * gemm_panels_steps(p) + step];
}

/** \brief Begins a step of panel \a j once \a ready has passed. */
status_t gemm_panels_start(struct gemm_panels *panels, long panel, int j, int step, struct gpu_event *ready);

/** \brief Bytes of a slice: what goes to the next rank in a step. */
size_t gemm_panels_slice_bytes(const struct gemm_panels *panels);

/** \brief The slice that a rank has before \a step, its own before the first: where it is, and
 * whose place in the ring it is of. */
struct gpu_mem gemm_panels_operand(const struct gemm_panels *panels, long panel, int j, int step);
static inline int gemm_panels_place(const struct gemm_panels *p, int step)
{
  return (p->place + p->ring - step) % p->ring;
}

/** \brief STATUS_WRONG, logged, if an own slice on the device has changed. */
status_t gemm_panels_check(struct gemm_panels *panels, struct gpu_queue *queue);

#endif
