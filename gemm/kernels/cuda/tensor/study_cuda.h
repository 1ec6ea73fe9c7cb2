/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the studies of fragments share. */
#ifndef GEMM_KERNELS_CUDA_TENSOR_STUDY_CUDA_H
#define GEMM_KERNELS_CUDA_TENSOR_STUDY_CUDA_H

#include <stdio.h>

#include "gemm/kernels/cuda/tensor/fragment.h"
#include "gpu/cuda/cuda_device.h"

/** \brief STATUS_ENVIRONMENT, saying which chip it takes, where there are no tensor cores. */
status_t study_chip_check(struct gpu_device *device);

/** \brief Measures one map and fetches it. */
status_t study_fragment_map(struct gpu_device *device, struct gpu_queue *queue,
                            const struct fragment_kind *kind, struct fragment_map *map);

/** \brief Prints the instructions of this program's kernel \a symbol that load from memory, found
 * by cuobjdump for the device's chip; says so where there is no cuobjdump. */
void study_machine_loads(const char *symbol, const struct gpu_device *device, FILE *out);

#endif
