/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a run works on: device, problem, matrices, each kernel's blocks, and with
 * --distributed the cut and the transport. */
#ifndef GEMM_TUNE_TUNE_H
#define GEMM_TUNE_TUNE_H

#include "gemm/state/state.h"

/** \brief Collective: this rank's device, opened, with a queue. */
status_t gemm_place(struct gemm_rig *rig);

/** \brief Measures the device's ceilings into rig->ceilings; nothing if its backend cannot. This
 * rank's alone. */
status_t gemm_ceilings_measure(struct gemm_rig *rig);

/** \brief Whether a product of that size is one, and fits the device with least memory. */
int gemm_size_fits(const struct gemm_rig *rig, const int64_t size[3]);

/** \brief Makes problem, series, matrices and the data that results are compared with, for \a size;
 * NULL: as asked for, or the default. Not collective: the caller has the ranks agree. Closed by
 * gemm_problem_close, also if it fails. */
status_t gemm_problem_open(struct gemm_run *run, const int64_t size[3]);
void gemm_problem_close(struct gemm_work *work, struct gemm_result *result);

/** \brief Collective. Sets series->blocks: the only ones, or those that are fastest on rank 0 in a
 * trial of the few that the model ranks first. If none runs, the first ones, whose opening reports
 * why. Each trial's result is compared: a kernel with a wrong one is not timed, and gemm_measure
 * makes that the verdict. */
status_t gemm_tune(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *series);

/** \brief Makes work->cluster from work->problem, which becomes this rank's block of it. This
 * rank's alone. STATUS_USAGE for an impossible cut, STATUS_ENVIRONMENT if memory is short. Freed by
 * gemm_cluster_free. */
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
