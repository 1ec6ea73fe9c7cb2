/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A study apart from the products: the layout of fragments of the tensor cores' WMMA
 * interface. */
#ifndef GEMM_KERNELS_CUDA_TENSOR_STUDY_H
#define GEMM_KERNELS_CUDA_TENSOR_STUDY_H

#include <stdio.h>

#include "gpu/gpu.h"

/** \brief Prints which lane holds which element of each fragment, measured on the device.
 * STATUS_WRONG if no lane holds an element. */
status_t gemm_study_fragments(struct gpu_device *device, struct gpu_queue *queue, FILE *out);

#endif
