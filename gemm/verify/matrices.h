/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A, B and C of a problem: the initial values on the host, and the copies on the device. */
#ifndef GEMM_VERIFY_MATRICES_H
#define GEMM_VERIFY_MATRICES_H

#include "gemm/data.h"
#include "gemm/kernels/kernels.h"

struct gemm_matrices {
  struct gpu_device *device;
  struct gpu_queue *queue;
  struct gemm_problem problem;
  void *host[GEMM_MATRICES]; /**< initial values; C before the product */
  void *out;                 /**< C fetched from the device */
  struct gemm_operands on;   /**< copies on the device */
};

/** \brief Total bytes of A, B and C. */
uint64_t gemm_matrices_bytes(const struct gemm_problem *problem);

/** \brief Creates all three and copies them to the device. Close with gemm_matrices_close, also if
 * this fails. \a places: NULL, or the positions of A, B and C in a product of many ranks; then only
 * C is copied. */
status_t gemm_matrices_open(struct gemm_matrices *matrices, struct gpu_device *device,
                            struct gpu_queue *queue, const struct gemm_problem *problem, enum gemm_data data,
                            uint64_t seed, const struct gemm_place *places);
void gemm_matrices_close(struct gemm_matrices *matrices);

/** \brief Sets C on the device to its value before the product; if beta is 0, to poison. */
status_t gemm_matrices_reset(struct gemm_matrices *matrices);

/** \brief Returns STATUS_WRONG, logged with the first element, if A or B on the device has changed
 * since it was copied there: no product writes to them. */
status_t gemm_matrices_check(struct gemm_matrices *matrices);

/** \brief Copies C from the device into \a out and waits for it. */
status_t gemm_matrices_fetch(struct gemm_matrices *matrices, void *out);

/** \brief memcmp() == 0 and memcpy(), each with all host threads. */
int gemm_same_bits(const void *x, const void *y, size_t bytes);
void gemm_copy_bits(void *to, const void *from, size_t bytes);

#endif
