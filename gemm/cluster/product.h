/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One product over all ranks: SUMMA with stationary C (Van de Geijn and Watts, "SUMMA:
 * scalable universal matrix multiplication algorithm", Concurrency 9, 1997).
 *
 * Panel j + 1 of A and B is broadcast while panel j is multiplied. A slice of A and one of B make a
 * part of this rank's block of C by themselves, so a panel begins with the own ones, and goes on
 * with what each step of the rings brings. The product is a kernel like the others: that of this
 * rank's block of C, made by the chosen kernel part by part, whose launch all ranks call as
 * often. */
#ifndef GEMM_CLUSTER_PRODUCT_H
#define GEMM_CLUSTER_PRODUCT_H

#include "gemm/cluster/panels.h"
#include "gemm/kernels/kernels.h"

/** Phases of a product: multiplying, moving panels as in comm/halo, and the rest of its time. */
enum gemm_phase {
  GEMM_PHASE_COMPUTE,
  GEMM_PHASE_HALO,
  GEMM_PHASE_EXPOSED = GEMM_PHASE_HALO + HALO_PHASES,
  GEMM_PHASES
};
extern const char *const gemm_phase_names[GEMM_PHASES];

/** Parts of C alternate between two queues, so that one queue's launch fills the multiprocessors
 * that become idle at the end of the other's. */
#define GEMM_QUEUES 2

/** Events of what is multiplied once a step of a panel is over. */
enum gemm_mark { GEMM_MARK_BEGIN, GEMM_MARK_END, GEMM_MARKS };
struct gemm_marks {
  struct gpu_event *at[GEMM_QUEUES][GEMM_MARKS];
};

struct gemm_cluster {
  struct gemm_problem whole, local; /**< of all ranks, and of this one's block with all of K */
  struct gemm_grid grid;
  const struct halo_transport *transport; /**< NULL with one rank */
  int transport_tried;                    /**< it was the fastest of a trial */
  MPI_Comm comm;
  struct gpu_device *device;
  struct gpu_queue *compute, *second, *moving;
  struct gemm_panels side[2]; /**< A, B */
  struct gemm_kernel kernel;  /**< the chosen one's name and properties */
  struct gemm_ops ops;
  struct gemm_exec exec; /**< of the product: what series hold */
  /** the chosen kernel: [first, other, last panel][place in the ring of A][of B] */
  struct gemm_exec **part;
  struct gemm_marks *marks; /**< [panel][step] */
  struct gpu_event *begin, *ready, *end;
  long panels_done;            /**< panels of all products so far */
  double seconds[GEMM_PHASES]; /**< summed over the products since they were read last */
  long products;               /**< of those */
  struct gemm_counts counts;   /**< of this rank's parts of the last product */
};

/** \brief The problem of a part: the slices of panel \a j at \a places of the rings of A and B.
 * Without rows or columns there is no such part. */
struct gemm_problem gemm_cluster_part(const struct gemm_cluster *cluster, int j, const int places[2]);

/** \brief Collective; ranks agree. cluster->whole, local, grid, comm, device and compute are set;
 * \a a and \a b are the host's matrices of the local problem. Closed by gemm_cluster_close, also if
 * it fails. */
status_t gemm_cluster_open(struct gemm_cluster *cluster, const struct gemm_kernel *kernel,
                           const struct gemm_blocks *blocks, const void *a, const void *b);
void gemm_cluster_close(struct gemm_cluster *cluster);

/** \brief Collective; ranks agree. Opens the exchange of panels by \a transport, and closes it. */
status_t gemm_cluster_link(struct gemm_cluster *cluster, const struct halo_transport *transport);
void gemm_cluster_unlink(struct gemm_cluster *cluster);

/** \brief STATUS_WRONG, logged, if this rank's slices on the device have changed. */
status_t gemm_cluster_check(struct gemm_cluster *cluster);

/** \brief Mean seconds per product of each phase since the last call. Collective if the product
 * is. */
status_t gemm_cluster_phases(struct gemm_cluster *cluster, double phases[GEMM_PHASES]);

#endif
