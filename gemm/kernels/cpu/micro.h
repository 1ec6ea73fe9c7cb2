/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The innermost product of kernel `simd`. Each instruction set has a file that includes
 * micro_body.h. */
#ifndef GEMM_KERNELS_CPU_MICRO_H
#define GEMM_KERNELS_CPU_MICRO_H

#include <stdint.h>

#include "base/status.h"
#include "gemm/types.h"

#define MICRO_ROWS_MAX    16
#define MICRO_COLUMNS_MAX 64

/** The functions for one instruction set and type. A tile of C, rows × columns elements, is kept in
 * vector registers. */
struct gemm_micro {
  const char *name;
  int (*supported)(void);
  int rows, columns;
  /** \brief Sets tile[r·columns + j] = Σ a[l·rows + r]·b[l·columns + j] over k terms. \a b and
   * \a tile start at multiples of 64 bytes. */
  void (*tile)(int64_t k, const void *a, const void *b, void *tile);
  /** \brief Runs \a iterations rounds of multiply-adds on registers only. A round has one
   * multiply-add per element of a tile. Returns the number of operations. */
  double (*spin)(int64_t iterations);
};

/** The functions of each instruction set: [0] for float, [1] for double. */
extern const struct gemm_micro gemm_micro_generic[2];
#ifdef __x86_64__
extern const struct gemm_micro gemm_micro_avx2[2];
extern const struct gemm_micro gemm_micro_avx512[2];
#endif

/** \brief Chooses the instruction set that HIMENO_CPU_SIMD names, or the widest that this CPU
 * supports. \a type is GEMM_F64 or a type with float sums. Returns STATUS_USAGE if the name is
 * unknown, STATUS_ENVIRONMENT if this CPU lacks the instruction set. */
status_t gemm_micro_choose(enum gemm_type type, const struct gemm_micro **micro);

#endif
