/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A run with --distributed: how its product is cut, by which transport it goes, and what
 * each rank tells of that. */
#ifndef GEMM_TUNE_CLUSTER_H
#define GEMM_TUNE_CLUSTER_H

#include "gemm/state/state.h"

/** \brief Makes work->cluster of work->problem, which becomes this rank's block of it. This rank's
 * alone. STATUS_USAGE for a cut that cannot be, STATUS_ENVIRONMENT where memory does not do.
 * Freed by gemm_cluster_free. */
status_t gemm_cluster_cut(const struct gemm_rig *rig, struct gemm_work *work);
void gemm_cluster_free(struct gemm_work *work);

/** \brief Where this rank's A, B and C begin in the whole ones. */
void gemm_cluster_places(const struct gemm_cluster *cluster, struct gemm_place places[GEMM_MATRICES]);

/** \brief Collective; ranks agree. Opens the product and its transport, the fastest of a trial
 * where none is asked for, and puts it in the place of the kernel of run->result.series[0]. */
status_t gemm_cluster_prepare(struct gemm_run *run);

/** \brief Collective. This rank's phases and paths. */
status_t gemm_cluster_collect(struct gemm_work *work, struct gemm_rank *rank);

#endif
