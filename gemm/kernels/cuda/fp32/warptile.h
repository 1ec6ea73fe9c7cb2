/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The two loaders of the warptile rung, which bring tiles to shared memory, and their tiles.
 * C++. */
#ifndef GEMM_KERNELS_CUDA_FP32_WARPTILE_H
#define GEMM_KERNELS_CUDA_FP32_WARPTILE_H

#include "gemm/kernels/cuda/cuda_gemm.h"

/** A tile of C as one kernel makes it. */
struct warptile_tile {
  int m, n, k, item_m, item_n, threads;
  int blocks; /**< that a multiprocessor shall hold at one time */
  /** share of the peak on an H100 where tiles fill it, by measurement: to compare tiles */
  double rate;
  bool whole,
      /** a block or cluster a tile; blocks that stay and share all tiles and steps of k evenly */
      stays;
};

/** How a product is cut. */
struct warptile_cut {
  int tile;   /**< of the loader's */
  int splits; /**< parts of k, 1 for none */
  bool stays; /**< as warptile_tile.stays */
  int stages; /**< tiles of k in shared memory */
};

struct warptile_loader {
  const warptile_tile *tiles; /**< best first */
  int n_tiles;
  /** \brief Whether the chip, this program's code and the matrices allow it. */
  bool (*able)(const cuda_job *job, const cuda_chip *chip);
  /** \brief Stages for a cut that is whole but for them; 0: it does not fit. */
  int (*stages)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut);
  /** \brief Seconds on an H100, to compare cuts. */
  double (*predict)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut);
  size_t (*work)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut);
  cuda_launch (*describe)(const cuda_job *job, const warptile_cut &cut);
  cudaError_t (*launch)(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut,
                        cudaStream_t stream);
};

/** \brief Seconds of the busiest multiprocessor for whole tiles in rounds of blocks, each in so
 * many parts. \a part_seconds: cost per part and round, in addition to its share. */
double warptile_rounds(const cuda_job *job, const cuda_chip *chip, const warptile_tile &tile, int splits,
                       double part_seconds);

/** \brief Bytes of so many parts of C. */
extern "C" size_t warptile_parts_bytes(const cuda_job *job, int splits);

/** Of another kernel that adds up parts. */
#define WARPTILE_COMBINE_SECONDS 4e-6
/** Of one multiprocessor of an H100, to weigh arithmetic against the rest. */
#define WARPTILE_FLOPS 5.07e11
/** Of its device memory. */
#define WARPTILE_BYTES_PER_SECOND 2.5e12
/** Seconds per round of blocks: loading the first tile from device memory, and storing C. */
#define WARPTILE_ROUND_SECONDS 2e-6

/** Bulk copies: sm_90 and later, rows that begin at multiples of 16 bytes. */
extern const warptile_loader warptile_bulk_loader;
/** Copies by threads: everything. */
extern const warptile_loader warptile_copy_loader;

#endif
