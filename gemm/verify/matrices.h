/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A, B and C of a problem: on the host as they were made, and on the device. */
#ifndef GEMM_VERIFY_MATRICES_H
#define GEMM_VERIFY_MATRICES_H

#include "gemm/data.h"
#include "gemm/kernels/kernels.h"

struct gemm_matrices {
  struct gpu_device *device;
  struct gpu_queue *queue;
  struct gemm_problem problem;
  void *host[GEMM_MATRICES]; /**< as made; C before the product */
  void *out;                 /**< C as fetched */
  struct gemm_operands on;   /**< the device */
};

/** \brief Bytes on the device and on the host, with what verification takes there. */
uint64_t gemm_matrices_bytes(const struct gemm_problem *problem);

/** \brief Makes all three and copies them to the device. Closed by gemm_matrices_close, also if
 * this fails. With \a places, of A, B and C, they are parts of a product of many ranks, and C alone
 * is copied: NULL, they are a product. */
status_t gemm_matrices_open(struct gemm_matrices *matrices, struct gpu_device *device,
                            struct gpu_queue *queue, const struct gemm_problem *problem, enum gemm_data data,
                            uint64_t seed, const struct gemm_place *places);
void gemm_matrices_close(struct gemm_matrices *matrices);

/** \brief C on the device as it was before the product: with beta 0 all poison. */
status_t gemm_matrices_reset(struct gemm_matrices *matrices);

/** \brief STATUS_WRONG, logged with the first element, where A or B on the device is no longer what
 * was copied there: no product writes to them. */
status_t gemm_matrices_check(struct gemm_matrices *matrices);

/** \brief Copies C from the device into \a out and waits for it. */
status_t gemm_matrices_fetch(struct gemm_matrices *matrices, void *out);

/** \brief memcmp() == 0 and memcpy() by all host threads. */
int gemm_same_bits(const void *x, const void *y, size_t bytes);
void gemm_copy_bits(void *to, const void *from, size_t bytes);

#endif
