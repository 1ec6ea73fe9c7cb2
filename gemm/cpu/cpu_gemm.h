/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Kernels on host memory. */
#ifndef GEMM_CPU_CPU_GEMM_H
#define GEMM_CPU_CPU_GEMM_H

#include "gemm/kernels.h"

extern const struct gemm_kernel gemm_cpu_naive;

#endif
