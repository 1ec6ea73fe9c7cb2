/* SPDX-License-Identifier: MIT */
#include "gemm/kernels/opencl/lds_pipeline_cl.h"
#include "gemm/kernels/opencl/local_cl.h"
#include "gemm/kernels/opencl/naive_cl.h"
#include "gemm/kernels/opencl/opencl_gemm.h"
#include "gemm/kernels/opencl/panel_cl.h"
#include "gemm/kernels/opencl/pipeline_cl.h"
#include "gemm/kernels/opencl/regblock_cl.h"
#include "gemm/kernels/opencl/tile_cl.h"
#include "gemm/kernels/opencl/unroll_cl.h"

#define COMMON(opencl_variant)                                                                               \
  .types = GEMM_BIT(GEMM_F32), .ops = &gemm_opencl_ops, .variant = &(opencl_variant)

static const struct opencl_gemm_variant naive_variant = {.source = gemm_naive_cl};
static const struct gemm_kernel naive = {
    .name = "naive",
    .step = "one work-item per element",
    .rung = 1,
    COMMON(naive_variant),
    GEMM_BLOCKS({.group_m = 16, .group_n = 16, .item_m = 1, .item_n = 1, .stages = 1}),
};

static const struct opencl_gemm_variant regblock_variant = {.source = gemm_regblock_cl};
static const struct gemm_kernel regblock = {
    .name = "regblock",
    .step = "8x8 elements per work-item, in registers",
    .rung = 2,
    COMMON(regblock_variant),
    GEMM_BLOCKS({.group_m = 128, .group_n = 128, .item_m = 8, .item_n = 8, .stages = 1}),
};

static const struct opencl_gemm_variant local_variant = {.source = gemm_local_cl};
static const struct gemm_kernel local = {
    .name = "local",
    .step = "128x128 per work-group in local memory, one step of k at a time",
    .rung = 3,
    COMMON(local_variant),
    GEMM_BLOCKS({.group_m = 128, .group_n = 128, .group_k = 1, .item_m = 8, .item_n = 8, .stages = 1}),
};

static const struct opencl_gemm_variant unroll_variant = {
    .source = gemm_unroll_cl, .shared_source = gemm_tile_cl, .geometry = OPENCL_TILES};
static const struct gemm_kernel unroll = {
    .name = "unroll",
    .step = "8 steps of k at a time, loaded as vectors of four",
    .rung = 4,
    COMMON(unroll_variant),
    GEMM_BLOCKS({.group_m = 128, .group_n = 128, .group_k = 8, .item_m = 8, .item_n = 8, .stages = 1}),
};

static const struct opencl_gemm_variant pipeline_variant = {
    .source = gemm_pipeline_cl, .shared_source = gemm_tile_cl, .geometry = OPENCL_TILES};
static const struct gemm_kernel pipeline = {
    .name = "pipeline",
    .step = "load the next tile while multiplying this one",
    .rung = 5,
    COMMON(pipeline_variant),
    GEMM_BLOCKS({.group_m = 128, .group_n = 128, .group_k = 8, .item_m = 8, .item_n = 8, .stages = 2}),
};

static const struct opencl_gemm_variant lds_variant = {
    .source = gemm_lds_pipeline_cl, .shared_source = gemm_tile_cl, .geometry = OPENCL_TILES};
#define TILE(m, n, k, im, in, parts)                                                                         \
  {                                                                                                          \
    .group_m = (m), .group_n = (n), .group_k = (k), .item_m = (im), .item_n = (in), .stages = 2, .ahead = 1, \
    .splits = (parts)                                                                                        \
  }
static const struct gemm_kernel lds_pipeline = {
    .name = "lds-pipeline",
    .step = "read local memory one step ahead too; compute offsets once",
    .rung = 6,
    .transposes = 1,
    COMMON(lds_variant),
    GEMM_BLOCKS(TILE(128, 128, 8, 8, 8, 1)),
};

/* 16x8 elements per work-item suit devices with 255 registers per thread. */
#define SIZES(parts)                                                                                         \
  TILE(128, 128, 8, 8, 8, parts), TILE(128, 128, 8, 16, 8, parts), TILE(256, 128, 8, 16, 8, parts),          \
      TILE(128, 64, 8, 8, 8, parts), TILE(64, 128, 16, 8, 8, parts), TILE(64, 64, 8, 8, 8, parts),           \
      TILE(64, 64, 16, 8, 4, parts), TILE(32, 32, 8, 4, 4, parts)
static const struct gemm_kernel small = {
    .name = "small-tiles",
    .step = "smaller tiles, chosen by size and device",
    .rung = 7,
    .transposes = 1,
    COMMON(lds_variant),
    GEMM_BLOCKS(SIZES(1)),
};

static const struct gemm_kernel split = {
    .name = "split-k",
    .step = "split k if the tiles do not fill the device",
    .rung = 8,
    .transposes = 1,
    COMMON(lds_variant),
    GEMM_BLOCKS(SIZES(1), SIZES(2), SIZES(4), SIZES(8), SIZES(16)),
};

static const struct opencl_gemm_variant panel_variant = {
    .source = gemm_panel_cl, .geometry = OPENCL_SINGLE, .cpus_only = 1};
static const struct gemm_kernel panel = {
    .name = "panel",
    .step = "for CPUs: one work-item per group multiplies packed panels with vectors",
    .rung = 9,
    .transposes = 1,
    COMMON(panel_variant),
    /* Local memory of a CPU is its cache. The tiles use 480 KiB; those of the second entry, for
     * smaller local memories, use 144 KiB. The last entry is for vectors of 16 floats. */
    GEMM_BLOCKS({.group_m = 96, .group_n = 384, .group_k = 256, .item_m = 6, .item_n = 16, .stages = 1},
                {.group_m = 48, .group_n = 96, .group_k = 256, .item_m = 6, .item_n = 16, .stages = 1},
                {.group_m = 96, .group_n = 384, .group_k = 256, .item_m = 12, .item_n = 32, .stages = 1}),
};

static const struct gemm_kernel *const kernels[] = {
    &naive,
    &regblock,
    &local,
    &unroll,
    &pipeline,
    &lds_pipeline,
    &small,
    &split,
    &panel,
#if HAVE_CLBLAST
    &gemm_opencl_clblast,
#endif
};

const struct gemm_kernel_set gemm_kernels_opencl = {
    .backend = "opencl",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .ceilings = gemm_opencl_ceilings,
};
