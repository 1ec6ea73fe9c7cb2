/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the CUDA kernel set offers, and what runs each of it. */
#ifndef HIMENO_KERNELS_CUDA_VARIANTS_H
#define HIMENO_KERNELS_CUDA_VARIANTS_H

#include "himeno/kernels/cuda/step.h"
#include "himeno/kernels/cuda/temporal.h"
#include "himeno/kernels/kernels.h"

/** A classic kernel has a step; the others have launches of their own, and a resident one sweeps what is not all of
 * its grid like its step. */
struct cuda_variant {
  const struct cuda_step *step;
  const struct cuda_temporal *temporal; /**< its forms, NULL for none */
};

enum { CUDA_KERNELS = 19 };

/** The set, and beside it in the same order what runs it. */
extern const struct himeno_kernel cuda_kernels[CUDA_KERNELS];
extern const struct cuda_variant cuda_variants[CUDA_KERNELS];

#endif
