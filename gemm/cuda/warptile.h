/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The two ways in which the warptile rung brings tiles to shared memory, and their tiles. C++. */
#ifndef GEMM_CUDA_WARPTILE_H
#define GEMM_CUDA_WARPTILE_H

#include "gemm/cuda/fp32.h"

/** A tile of C as one kernel makes it. */
struct warptile_tile {
  int m, n, k, item_m, item_n, threads;
  int blocks;  /**< that a multiprocessor shall hold at one time */
  double rate; /**< share of the peak on an H100 where tiles fill it, by measurement: to compare tiles */
};

struct warptile_path {
  const warptile_tile *tiles; /**< best first */
  int n_tiles;
  double split_seconds;         /**< what a part of k costs beside its share, a launch */
  double split_element_seconds; /**< the same, an element of a tile, a round of blocks */
  /** \brief Whether the chip, this program's code and the matrices allow it. */
  bool (*able)(const fp32_job *job, const fp32_chip *chip);
  /** \brief Tiles of k that are kept in shared memory; 0: they do not fit. */
  int (*stages)(const fp32_job *job, const fp32_chip *chip, int tile, int splits);
  size_t (*work)(const fp32_job *job, int splits);
  fp32_launch (*describe)(const fp32_job *job, int tile, int stages);
  cudaError_t (*launch)(const fp32_job *job, int tile, int stages, int splits, cudaStream_t stream);
};

/** Bulk copies: sm_90 and later, rows that begin at multiples of 16 bytes. */
extern const warptile_path warptile_bulk_path;
/** Copies by threads: everything. */
extern const warptile_path warptile_copy_path;

#endif
