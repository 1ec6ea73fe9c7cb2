/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a run works on: device, problem, kernels, matrices. */
#ifndef GEMM_TUNE_CHOOSE_H
#define GEMM_TUNE_CHOOSE_H

#include "gemm/state/state.h"

/** \brief Collective: this rank's device, opened, with a queue. */
status_t gemm_place(struct gemm_rig *rig);

/** \brief What the device can do at most, into rig->ceilings; nothing where its backend cannot
 * tell. This rank's alone. */
status_t gemm_ceilings_measure(struct gemm_rig *rig);

/** \brief Whether a product of that size is one, and fits the device with least memory. */
int gemm_size_fits(const struct gemm_rig *rig, const int64_t size[3]);

/** \brief Makes problem, series, matrices and what results are compared with, for \a size, NULL: as
 * asked for, or by default. This rank's alone: the caller has the ranks agree. Closed by
 * gemm_problem_close, also when it fails half-way. */
status_t gemm_problem_open(struct gemm_run *run, const int64_t size[3]);
void gemm_problem_close(struct gemm_work *work, struct gemm_result *result);

#endif
