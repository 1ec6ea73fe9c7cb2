/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The two loaders of the warptile rung, which copy tiles to shared memory, and their tiles.
 * For C++ only. */
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
  int splits; /**< number of parts of k; 1 if k is not split */
  bool stays; /**< persistent blocks, see warptile_tile.stays */
  int stages; /**< number of tiles along k in shared memory */
};

struct warptile_loader {
  const warptile_tile *tiles; /**< in order of preference */
  int n_tiles;
  /** \brief Returns whether the chip, this program's code and the matrices allow this loader. */
  bool (*able)(const cuda_job *job, const cuda_chip *chip);
  /** \brief Returns the stages for a cut whose other fields are set; 0 if the cut cannot run. */
  int (*stages)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut);
  /** \brief Returns the predicted seconds on an H100, to compare cuts. */
  double (*predict)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut);
  size_t (*work)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut);
  cuda_launch (*describe)(const cuda_job *job, const warptile_cut &cut);
  cudaError_t (*launch)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut,
                        cudaStream_t stream);
};

/** \brief Returns the predicted seconds of the busiest multiprocessor. It computes tiles, each in
 * \a splits parts of k, in rounds of resident blocks. \a part_seconds is the cost per part and
 * round in addition to the arithmetic. */
double warptile_rounds(const cuda_job *job, const cuda_chip *chip, const warptile_tile &tile, int splits,
                       double part_seconds);

/** \brief Returns the bytes of \a splits partial sums of C. */
extern "C" size_t warptile_parts_bytes(const cuda_job *job, int splits);

/** Seconds of the kernel that adds up the parts of k. */
#define WARPTILE_COMBINE_SECONDS 4e-6
/** Peak arithmetic of one multiprocessor of an H100, in operations per second. */
#define WARPTILE_FLOPS 5.07e11
/** Bandwidth of an H100's device memory. */
#define WARPTILE_BYTES_PER_SECOND 2.5e12
/** Seconds per round of blocks: loading the first tile from device memory, and storing C. */
#define WARPTILE_ROUND_SECONDS 2e-6

/** Bulk copies: for chips from sm_90 on, and matrices whose rows begin at multiples of 16 bytes. */
extern const warptile_loader warptile_bulk_loader;
/** Copies by threads: for all chips and matrices. */
extern const warptile_loader warptile_copy_loader;

#endif
