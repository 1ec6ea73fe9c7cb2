/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One product over all ranks: SUMMA with stationary C (Van de Geijn and Watts, "SUMMA:
 * scalable universal matrix multiplication algorithm", Concurrency 9, 1997).
 *
 * Panel j + 1 of A and B is broadcast while panel j is multiplied. One slice of A and one of B
 * determine a part of this rank's block of C. So each panel's multiplication begins with the rank's
 * own slices, and continues with the slices that each step of the rings delivers. The product has
 * the interface of a kernel: it computes this rank's block of C, part by part, with the chosen
 * kernel. All ranks must launch it equally often. */
#ifndef GEMM_CLUSTER_PRODUCT_H
#define GEMM_CLUSTER_PRODUCT_H

#include "gemm/cluster/panels.h"
#include "gemm/kernels/kernels.h"

/** Phases of a product: the multiplication, the phases of comm/halo, which move panels, and the
 * remaining time. */
enum gemm_phase {
  GEMM_PHASE_COMPUTE,
  GEMM_PHASE_HALO,
  GEMM_PHASE_EXPOSED = GEMM_PHASE_HALO + HALO_PHASES,
  GEMM_PHASES
};
extern const char *const gemm_phase_names[GEMM_PHASES];

/** Parts of C alternate between queues, so that one queue's launch uses the multiprocessors that
 * become idle at the end of the other queue's launch. */
#define GEMM_QUEUES 2

enum gemm_mark { GEMM_MARK_BEGIN, GEMM_MARK_END, GEMM_MARKS };
struct gemm_marks {
  struct gpu_event *at[GEMM_QUEUES][GEMM_MARKS];
};

struct gemm_cluster {
  /** whole: the problem of all ranks; local: this rank's block of C, with all of K */
  struct gemm_problem whole, local;
  struct gemm_grid grid;
  const struct halo_transport *transport; /**< NULL with one rank */
  int transport_tried;                    /**< 1: a trial chose the transport */
  MPI_Comm comm;
  struct gpu_device *device;
  struct gpu_queue *compute, *second, *moving;
  struct gemm_panels side[2]; /**< panels of A and of B */
  struct gemm_kernel kernel;  /**< has the chosen kernel's name and properties */
  struct gemm_ops ops;
  struct gemm_exec exec; /**< the product in the form of a kernel */
  /** kernel per part of C: [first, middle or last panel][position of A's slice][of B's slice] */
  struct gemm_exec **part;
  struct gemm_marks *marks; /**< [panel][step] */
  struct gpu_event *begin, *ready, *end;
  long panels_done; /**< number of panels of all products so far */
  /** seconds per phase, summed over the products since the last gemm_cluster_phases */
  double seconds[GEMM_PHASES];
  long products;             /**< number of products since the last gemm_cluster_phases */
  struct gemm_counts counts; /**< an emulator's counts, summed over the parts of the last product */
};

/** \brief Returns the problem of the part of C that the slices of panel \a j at ring positions
 * \a places (A, B) determine. The part is empty if it has no rows or columns. */
struct gemm_problem gemm_cluster_part(const struct gemm_cluster *cluster, int j, const int places[2]);

/** \brief Opens a product. Collective; ranks agree on the status. The caller has set
 * cluster->whole, local, grid, comm, device and compute. \a a and \a b are the host's matrices of
 * the local problem. Close with gemm_cluster_close even if this fails. */
status_t gemm_cluster_open(struct gemm_cluster *cluster, const struct gemm_kernel *kernel,
                           const struct gemm_blocks *blocks, const void *a, const void *b);
void gemm_cluster_close(struct gemm_cluster *cluster);

/** \brief Open and close the exchange of panels by \a transport. Opening is collective, and all
 * ranks return the same status. */
status_t gemm_cluster_link(struct gemm_cluster *cluster, const struct halo_transport *transport);
void gemm_cluster_unlink(struct gemm_cluster *cluster);

/** \brief Logs an error and returns STATUS_WRONG if this rank's slices on the device have
 * changed. */
status_t gemm_cluster_check(struct gemm_cluster *cluster);

/** \brief Sets \a phases to the mean seconds per product since the last call. Collective over the
 * product's ranks. */
status_t gemm_cluster_phases(struct gemm_cluster *cluster, double phases[GEMM_PHASES]);

#endif
