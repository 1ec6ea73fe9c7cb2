/* SPDX-License-Identifier: MIT */
/** \file
 * \brief SGEMM on QPUs: a ladder of kernels based on the 2015 article, from a dot product with one
 * multiplication in 14 instructions to an outer product with 64 in 67. Two more kernels read B by
 * the second TMU, or run two threads per QPU.
 *
 * Matrices are row-major. The host copies them into the QPUs' memory, padded with zeros to whole
 * tiles, so that any size from 1 on works, and assigns tiles round-robin. */
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
  int trans_a, trans_b; /**< 1: the matrix is stored by columns */
};

/** The sources from which kernels read B. */
enum qpu_sgemm_kind {
  QPU_SGEMM_DOT,     /**< columns of B by TMU1, sixteen elements at a time */
  QPU_SGEMM_UNIFORM, /**< rows of B by the uniform stream */
  QPU_SGEMM_TMU1,    /**< rows of B by TMU1 */
  QPU_SGEMM_THREADS  /**< rows of B by the uniform stream, for two threads per QPU */
};

struct qpu_sgemm_kernel {
  const char *name;
  const uint64_t *words;
  size_t n_words;
  uint32_t loop, loop_end; /**< byte addresses of the innermost loop's begin and end */
  enum qpu_sgemm_kind kind;
  size_t tile_rows, tile_columns; /**< size of a tile of C; 1 each for a dot product */
  int threads;                    /**< threads per QPU */
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

/** \brief Returns 1 if a device can run the kernel; if not, 0 with the reason in \a why. Two
 * threads per QPU need the emulator. */
int qpu_sgemm_fits(const struct qpu_sgemm_kernel *kernel, const struct gpu_device *device,
                   char why[GPU_TEXT_MAX]);

struct qpu_sgemm;

/** \brief Allocates memory on a device of the backend "qpu" for products of A (p × q) and B (q ×
 * r). Returns STATUS_USAGE for a size of 0 or strides beyond the 24 bits that the kernels multiply,
 * STATUS_ENVIRONMENT if memory is short. */
status_t qpu_sgemm_open(struct gpu_device *device, const struct qpu_sgemm_kernel *kernel, size_t p, size_t q,
                        size_t r, struct qpu_sgemm **sgemm);
void qpu_sgemm_close(struct qpu_sgemm *sgemm);

/** \brief Sets *seconds to the time of a product, estimated from its first tiles, or to 0 on a Pi.
 * Works before the first run too. */
status_t qpu_sgemm_estimate(struct qpu_sgemm *sgemm, int n_qpus, double *seconds);

/** \brief Computes one product of the size given to qpu_sgemm_open, on \a n_qpus QPUs (1 to 12).
 * Returns STATUS_USAGE for another number; other errors are those of qpu_device_run. \a
 * counts (may be NULL) receives the emulator's counts, zeros on a Pi. The first run also estimates
 * the time, by qpu_sgemm_estimate if it is long. */
status_t qpu_sgemm_run(struct qpu_sgemm *sgemm, const struct qpu_sgemm_problem *problem, int n_qpus,
                       struct gemm_counts *counts);

#endif
