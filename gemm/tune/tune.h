/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Chooses a kernel's blocks for a problem and a device: the model ranks them, a short trial
 * decides. */
#ifndef GEMM_TUNE_TUNE_H
#define GEMM_TUNE_TUNE_H

#include "gemm/state/state.h"

/** \brief Collective. Sets series->blocks: the only ones, or those that are fastest on rank 0 in a
 * trial of the few that the model puts first. Where none runs, the first ones: opening them says
 * why. Each trial's result is compared: of a kernel with a wrong one nothing is timed, and
 * gemm_measure makes that the verdict. */
status_t gemm_tune(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *series);

#endif
