/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A study beside the products: fragments of the tensor cores' WMMA interface. */
#ifndef GEMM_STUDY_H
#define GEMM_STUDY_H

#include <stdio.h>

#include "comm/ranks/placement.h"
#include "gemm/cmdline.h"

/** \brief Prints which lane holds which element of each fragment, measured on the device.
 * STATUS_WRONG when an element is held by nobody. */
status_t gemm_study_fragments(struct gpu_device *device, struct gpu_queue *queue, FILE *out);

/** \brief Collective: prints the fragments of rank 0's CUDA device. All get the same status. */
status_t gemm_study_run(struct placement *placement, const struct gemm_config *config, FILE *out);

#endif
