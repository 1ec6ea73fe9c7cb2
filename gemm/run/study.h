/* SPDX-License-Identifier: MIT */
/** \file
 * \brief --fragment-map: a study instead of a product. */
#ifndef GEMM_RUN_STUDY_H
#define GEMM_RUN_STUDY_H

#include <stdio.h>

#include "comm/ranks/placement.h"
#include "gemm/config/cmdline.h"

/** \brief Collective: prints the fragments of rank 0's CUDA device. All get the same status. */
status_t gemm_study_run(struct placement *placement, const struct gemm_config *config, FILE *out);

#endif
