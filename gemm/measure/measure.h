/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The timed part of a run: kernels verified, then measured in turns. */
#ifndef GEMM_MEASURE_MEASURE_H
#define GEMM_MEASURE_MEASURE_H

#include "gemm/state/state.h"

/** \brief Collective. Opens each series that fits, verifies one product on poisoned C, times blocks
 * of all series in turns for about \a seconds a series, compares each of them, and verifies another
 * product at the end. STATUS_WRONG when a result of ours is wrong on any rank, or A or B changed on
 * its device; a library that is wrong only says so unless --accept is given, and so does a kernel
 * that this device cannot run (series->status). */
status_t gemm_measure(struct gemm_run *run, struct gemm_series *series, int n, double seconds);

/** \brief Device seconds of that many products, one after the other. */
status_t gemm_block_time(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_exec *exec,
                         int launches, double *seconds);

#endif
