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
  void *host[GEMM_MATRICES]; /**< initial values of A, B and C */
  void *out;                 /**< C fetched from the device */
  struct gemm_operands on;   /**< copies on the device */
};

uint64_t gemm_matrices_bytes(const struct gemm_problem *problem);

/** \brief Creates A, B and C on the host and copies them to the device. Close with
 * gemm_matrices_close even if this fails. \a places is NULL, or has the positions of A, B and C in
 * a distributed product; then only C is copied. */
status_t gemm_matrices_open(struct gemm_matrices *matrices, struct gpu_device *device,
                            struct gpu_queue *queue, const struct gemm_problem *problem, enum gemm_data data,
                            uint64_t seed, const struct gemm_place *places);
void gemm_matrices_close(struct gemm_matrices *matrices);

/** \brief Sets C on the device to its initial value, which is poison if beta is 0. */
status_t gemm_matrices_reset(struct gemm_matrices *matrices);

/** \brief Logs the first changed element and returns STATUS_WRONG if A or B on the device differs
 * from the host's copy: no product writes to them. */
status_t gemm_matrices_check(struct gemm_matrices *matrices);

status_t gemm_matrices_fetch(struct gemm_matrices *matrices, void *out);

/** \brief gemm_same_bits is memcmp() == 0 and gemm_copy_bits is memcpy(), with all host threads. */
int gemm_same_bits(const void *x, const void *y, size_t bytes);
void gemm_copy_bits(void *to, const void *from, size_t bytes);

#endif
