/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Choices before a run: device, problem, matrices, each kernel's blocks, and with
 * --distributed the division and the transport. */
#ifndef GEMM_TUNE_TUNE_H
#define GEMM_TUNE_TUNE_H

#include "gemm/state/state.h"

/** \brief Opens this rank's device, with a queue. Collective. */
status_t gemm_place(struct gemm_rig *rig);

/** \brief Measures the device's ceilings into rig->ceilings, or does nothing if the backend has no
 * way to measure them. Not collective. */
status_t gemm_ceilings_measure(struct gemm_rig *rig);

/** \brief Returns 1 if a product of that size is valid and fits the device with the least
 * memory. */
int gemm_size_fits(const struct gemm_rig *rig, const int64_t size[3]);

/** \brief Creates problem, series, matrices and reference data for \a size or, if it is NULL, for
 * --size or the default. Collective, but each rank returns its own status: the caller makes the
 * ranks agree. Close with gemm_problem_close even if this fails. */
status_t gemm_problem_open(struct gemm_run *run, const int64_t size[3]);
void gemm_problem_close(struct gemm_work *work, struct gemm_result *result);

/** \brief Sets series->blocks. Collective. If the kernel offers several choices, rank 0 tries the
 * few that the model ranks first, and all ranks use the fastest. If none runs, the first choice is
 * used, and opening it reports the cause. Each trial's result is compared. A kernel with a wrong
 * result is not timed, and gemm_measure returns STATUS_WRONG. */
status_t gemm_tune(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *series);

/** \brief Creates work->cluster for the product work->problem, and changes work->problem to this
 * rank's block of it. Not collective. Returns STATUS_USAGE for an impossible division,
 * STATUS_ENVIRONMENT if memory is short. Free with gemm_cluster_free. */
status_t gemm_cluster_cut(const struct gemm_rig *rig, struct gemm_work *work);
void gemm_cluster_free(struct gemm_work *work);

/** \brief Sets \a places to the positions of this rank's A, B and C in the whole matrices. */
void gemm_cluster_places(const struct gemm_cluster *cluster, struct gemm_place places[GEMM_MATRICES]);

/** \brief Opens the distributed product and its transport (by default the fastest in a trial), and
 * makes it the kernel of run->result.series[0]. Collective; ranks agree on the status. */
status_t gemm_cluster_prepare(struct gemm_run *run);

/** \brief Sets the rank's phases and paths. Collective. */
status_t gemm_cluster_collect(struct gemm_work *work, struct gemm_rank *rank);

#endif
