/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The two loaders of the warptile rung, which copy tiles to shared memory, and their tiles.
 * C++. */
#ifndef GEMM_KERNELS_CUDA_FP32_WARPTILE_H
#define GEMM_KERNELS_CUDA_FP32_WARPTILE_H

#include "gemm/kernels/cuda/cuda_gemm.h"

/** A tile of C that a kernel computes. */
struct warptile_tile {
  int m, n, k, item_m, item_n, threads;
  int blocks; /**< resident blocks per multiprocessor */
  /** measured share of an H100's peak on full tiles, to compare tiles */
  double rate;
  bool whole,
      /** whole: one block or cluster per tile; stays: persistent blocks share all tiles and steps
       * of k evenly */
      stays;
};

/** A division of a product. */
struct warptile_cut {
  int tile;   /**< index in the loader's tiles */
  int splits; /**< number of parts of k, 1 for none */
  bool stays; /**< persistent blocks, see warptile_tile.stays */
  int stages; /**< number of stages, tiles of k in shared memory */
};

struct warptile_loader {
  const warptile_tile *tiles; /**< in order of preference */
  int n_tiles;
  /** \brief Whether the chip, this program's code and the matrices allow this loader. */
  bool (*able)(const cuda_job *job, const cuda_chip *chip);
  /** \brief Number of stages for a cut whose other fields are set; 0: it does not fit. */
  int (*stages)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut);
  /** \brief Predicted seconds on an H100, to compare cuts. */
  double (*predict)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut);
  size_t (*work)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut);
  cuda_launch (*describe)(const cuda_job *job, const warptile_cut &cut);
  cudaError_t (*launch)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut,
                        cudaStream_t stream);
};

/** \brief Predicted seconds of the busiest multiprocessor, with whole tiles in rounds of blocks and
 * each tile in \a splits parts. \a part_seconds: cost per part and round, in addition to its
 * arithmetic. */
double warptile_rounds(const cuda_job *job, const cuda_chip *chip, const warptile_tile &tile, int splits,
                       double part_seconds);

/** \brief Bytes of \a splits parts of C. */
extern "C" size_t warptile_parts_bytes(const cuda_job *job, int splits);

/** Seconds of a further kernel that adds up parts. */
#define WARPTILE_COMBINE_SECONDS 4e-6
/** Peak of one multiprocessor of an H100, to weigh arithmetic against other costs. */
#define WARPTILE_FLOPS 5.07e11
/** Bandwidth of an H100's device memory. */
#define WARPTILE_BYTES_PER_SECOND 2.5e12
/** Seconds per round of blocks: loading the first tile from device memory, and storing C. */
#define WARPTILE_ROUND_SECONDS 2e-6

/** Bulk copies: for sm_90 and later, and rows that begin at multiples of 16 bytes. */
extern const warptile_loader warptile_bulk_loader;
/** Copies by threads: for all chips and matrices. */
extern const warptile_loader warptile_copy_loader;

#endif
