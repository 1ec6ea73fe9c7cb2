/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Measures the layout of fragments of the tensor cores' WMMA interface. */
#ifndef GEMM_KERNELS_CUDA_TENSOR_STUDY_H
#define GEMM_KERNELS_CUDA_TENSOR_STUDY_H

#include <stdio.h>

#include "gpu/gpu.h"

/** \brief Prints which lane holds which element of each fragment, measured on the device. Returns
 * STATUS_WRONG if not all elements are held by equally many lanes. */
status_t gemm_study_fragments(struct gpu_device *device, struct gpu_queue *queue, FILE *out);

#endif
