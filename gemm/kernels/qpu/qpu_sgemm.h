/* SPDX-License-Identifier: MIT */
/** \file
 * \brief SGEMM on QPUs: the ladder of kernels after the article of 2015, from a dot product that
 * computes in one instruction of 14 to an outer product that does in 64 of 67, one that takes B by
 * the second TMU, and one with two threads per QPU.
 *
 * Matrices are row-major. The host lays them out in the QPUs' memory, padded with zeros to whole
 * tiles, so that any size from 1 on works, and deals tiles out round-robin. */
#ifndef QPU_SGEMM_H
#define QPU_SGEMM_H

#include <stddef.h>
#include <stdint.h>

#include "gemm/kernels/kernels.h"

/** C (p × r) = alpha · A (p × q) · B (q × r) + beta · C; leading dimensions in elements. */
struct qpu_sgemm_problem {
  size_t p, q, r;
  float alpha, beta;
  const float *a, *b;
  float *c;
  size_t lda, ldb, ldc;
  int trans_a, trans_b; /**< stored by columns */
};

/** From where a kernel reads B, and C. */
enum qpu_sgemm_kind {
  QPU_SGEMM_DOT,     /**< columns of B by TMU1, sixteen numbers at a time */
  QPU_SGEMM_UNIFORM, /**< rows of B by the uniform stream */
  QPU_SGEMM_TMU1,    /**< rows of B by TMU1 */
  QPU_SGEMM_THREADS  /**< rows of B by the uniform stream, for two threads per QPU */
};

struct qpu_sgemm_kernel {
  const char *name;
  const uint64_t *words;
  size_t n_words;
  uint32_t loop, loop_end; /**< bytes: the innermost loop */
  enum qpu_sgemm_kind kind;
  size_t tile_rows, tile_columns; /**< of C; a dot product has none: 1 each */
  int threads;                    /**< per QPU */
};

enum qpu_sgemm_place {
  qpu_sgemm_dot,
  qpu_sgemm_138,
  qpu_sgemm_72,
  qpu_sgemm_68,
  qpu_sgemm_67,
  qpu_sgemm_tmu1,
  qpu_sgemm_ctmu,
  qpu_sgemm_vertical,
  qpu_sgemm_threads,
  qpu_sgemm_half,
  QPU_SGEMM_KERNELS
};

extern const struct qpu_sgemm_kernel qpu_sgemm_kernels[QPU_SGEMM_KERNELS];

/** \brief Why a device cannot run a kernel, in \a why; 1 where it can. Two threads a QPU take the
 * emulator. */
int qpu_sgemm_fits(const struct qpu_sgemm_kernel *kernel, const struct gpu_device *device,
                   char why[GPU_TEXT_MAX]);

struct qpu_sgemm;

/** \brief Makes room on a device of the backend "qpu" for p × q by q × r. STATUS_USAGE for a size
 * of 0 or strides beyond the 24 bits that the kernels multiply, STATUS_ENVIRONMENT without
 * memory. */
status_t qpu_sgemm_open(struct gpu_device *device, const struct qpu_sgemm_kernel *kernel, size_t p, size_t q,
                        size_t r, struct qpu_sgemm **sgemm);
void qpu_sgemm_close(struct qpu_sgemm *sgemm);

/** \brief Estimates a product from its first tiles, before the first run; 0 on a Pi. */
status_t qpu_sgemm_estimate(struct qpu_sgemm *sgemm, int n_qpus, double *seconds);

/** \brief Computes a product of the size that there is room for, on \a n_qpus QPUs (1 to 12); else
 * as qpu_device_run. \a counts, which may be NULL, are of the emulator, and zeros on a Pi; the
 * estimate is that of the first run, for long products as qpu_sgemm_estimate has it. */
status_t qpu_sgemm_run(struct qpu_sgemm *sgemm, const struct qpu_sgemm_problem *problem, int n_qpus,
                       struct gemm_counts *counts);

#endif
