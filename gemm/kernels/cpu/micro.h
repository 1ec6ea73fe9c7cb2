/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The innermost product of `simd`, one file an instruction set around micro_body.h. */
#ifndef GEMM_KERNELS_CPU_MICRO_H
#define GEMM_KERNELS_CPU_MICRO_H

#include <stdint.h>

#include "base/status.h"

/** Tiles of C are at most this large. */
#define MICRO_ROWS_MAX    16
#define MICRO_COLUMNS_MAX 64

/** One instruction set. Tiles of rows × columns elements of C are kept in vector registers. */
struct gemm_micro {
  const char *name;
  int (*supported)(void);
  int rows, columns;
  /** \brief tile[r·columns + j] = Σ a[l·rows + r]·b[l·columns + j] over k terms; b starts at a
   * multiple of 64 bytes, tile too. */
  void (*tile)(int64_t k, const float *a, const float *b, float *tile);
  /** \brief Multiply-adds on registers alone, \a turns times over as many as a tile has. Returns
   * operations done. */
  double (*spin)(int64_t iterations);
};

extern const struct gemm_micro gemm_micro_generic;
#ifdef __x86_64__
extern const struct gemm_micro gemm_micro_avx2;
extern const struct gemm_micro gemm_micro_avx512;
#endif

/** \brief The widest one that this CPU has, or the one that HIMENO_CPU_SIMD names: STATUS_USAGE if
 * there is none of that name, STATUS_ENVIRONMENT if this CPU does not have it. */
status_t gemm_micro_choose(const struct gemm_micro **micro);

#endif
