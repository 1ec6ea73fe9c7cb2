/* SPDX-License-Identifier: MIT */
#include "gemm/kernels/cuda/cuda_gemm.h"

#define FP32(operation) .types = GEMM_BIT(GEMM_F32), .ops = &gemm_cuda_ops, .variant = &(operation)
/* Tensor cores truncate sums. */
#define TENSOR(operation)                                                                                    \
  .transposes = 1, .truncates = 1, .ops = &gemm_cuda_tensor_ops, .variant = &(operation)
#define HALVES (GEMM_BIT(GEMM_F16) | GEMM_BIT(GEMM_BF16))

static const struct gemm_kernel naive = {
    .name = "naive",
    .step = "one thread per element",
    .rung = 1,
    .types = GEMM_BIT(GEMM_F32) | GEMM_BIT(GEMM_F64),
    .ops = &gemm_cuda_ops,
    .variant = &fp32_naive,
    GEMM_BLOCKS({.group_m = 16, .group_n = 16, .item_m = 1, .item_n = 1, .stages = 1}),
};

static const struct gemm_kernel regblock = {
    .name = "regblock",
    .step = "8x8 elements per thread, in registers",
    .rung = 2,
    FP32(fp32_regblock),
    GEMM_BLOCKS({.group_m = 128, .group_n = 128, .item_m = 8, .item_n = 8, .stages = 1}),
};

static const struct gemm_kernel local = {
    .name = "local",
    .step = "128x128 per block in shared memory, one step of k at a time",
    .rung = 3,
    FP32(fp32_local),
    GEMM_BLOCKS({.group_m = 128, .group_n = 128, .group_k = 1, .item_m = 8, .item_n = 8, .stages = 1}),
};

static const struct gemm_kernel unroll = {
    .name = "unroll",
    .step = "8 steps of k at a time, loaded as vectors of four",
    .rung = 4,
    FP32(fp32_unroll),
    GEMM_BLOCKS({.group_m = 128, .group_n = 128, .group_k = 8, .item_m = 8, .item_n = 8, .stages = 1}),
};

static const struct gemm_kernel pipeline = {
    .name = "pipeline",
    .step = "load the next tile while multiplying this one",
    .rung = 5,
    FP32(fp32_pipeline),
    GEMM_BLOCKS({.group_m = 128, .group_n = 128, .group_k = 8, .item_m = 8, .item_n = 8, .stages = 2}),
};

static const struct gemm_kernel lds_pipeline = {
    .name = "lds-pipeline",
    .step = "read shared memory one step ahead too",
    .rung = 6,
    FP32(fp32_lds_pipeline),
    GEMM_BLOCKS(
        {.group_m = 128, .group_n = 128, .group_k = 8, .item_m = 8, .item_n = 8, .stages = 2, .ahead = 1}),
};

#define TILE(m, n, im, in, parts, stay)                                                                      \
  {                                                                                                          \
    .group_m = (m), .group_n = (n), .group_k = 16, .item_m = (im), .item_n = (in), .stages = 4, .ahead = 1,  \
    .splits = (parts), .stays = (stay)                                                                       \
  }
#define SIZES(parts, stay, item_128)                                                                         \
  TILE(128, 256, 8, 16, parts, stay), TILE(128, 128, 8, item_128, parts, stay),                              \
      TILE(64, 128, 8, 8, parts, stay), TILE(64, 64, 8, 4, parts, stay)
static const struct gemm_kernel warptile = {
    .name = "warptile",
    .step = "tiles per warp, asynchronous copies; smaller tiles and split k if small",
    .rung = 7,
    .transposes = 1,
    FP32(fp32_warptile),
    /* The first entry is all 0: the rung's own model chooses the blocks. */
    GEMM_BLOCKS({0}, SIZES(1, 0, 8), SIZES(1, 1, 16), SIZES(2, 0, 8), SIZES(4, 0, 8)),
};

static const struct gemm_kernel f16x2 = {
    .name = "f16x2",
    .step = "half precision without tensor cores: two products per instruction",
    .rung = 8,
    .types = GEMM_BIT(GEMM_F16_F16),
    .ops = &gemm_cuda_tensor_ops,
    .variant = &tensor_f16x2,
};

static const struct gemm_kernel wmma_warp = {
    .name = "wmma-warp",
    .step = "tensor cores through WMMA, a warp per tile of 16x16 from shared memory",
    .rung = 9,
    .types = GEMM_BIT(GEMM_F16) | GEMM_BIT(GEMM_F16_F16),
    TENSOR(tensor_wmma_warp),
};

static const struct gemm_kernel wmma = {
    .name = "wmma",
    .step = "several warps per tile, each with several fragments; smaller tiles if small",
    .rung = 10,
    .types = GEMM_BIT(GEMM_F16) | GEMM_BIT(GEMM_F16_F16),
    TENSOR(tensor_wmma),
    /* For the first entry, the rung's own rule chooses the tile. */
    GEMM_BLOCKS({0}, {.group_m = 64, .group_n = 64}, {.group_m = 128, .group_n = 128},
                {.group_m = 128, .group_n = 256}, {.group_m = 256, .group_n = 256}),
};

static const struct gemm_kernel mma = {
    .name = "mma",
    .step = "instruction mma m16n8k16, loads by ldmatrix, stores from registers",
    .rung = 11,
    .types = HALVES,
    TENSOR(tensor_mma),
};

static const struct gemm_kernel dmma = {
    .name = "dmma",
    .step = "double precision on tensor cores: mma m16n8k8, smaller tiles and split k if small",
    .rung = 12,
    .types = GEMM_BIT(GEMM_F64),
    TENSOR(tensor_dmma),
    /* For the first entry, the rung's own model chooses the tile. For all entries but the last, it
     * chooses the number of parts of k. */
    GEMM_BLOCKS({0}, {.group_m = 128, .group_n = 128}, {.group_m = 128, .group_n = 64},
                {.group_m = 64, .group_n = 128}, {.group_m = 64, .group_n = 64},
                {.group_m = 64, .group_n = 32}, {.group_m = 16, .group_n = 128},
                {.group_m = 128, .group_n = 16}, {.group_m = 64, .group_n = 64, .splits = 3}),
};

static const struct gemm_kernel wgmma = {
    .name = "wgmma",
    .step = "warpgroup MMA, TMA copies to pairs of blocks, persistent blocks",
    .rung = 13,
    .types = HALVES | GEMM_BIT(GEMM_TF32),
    .stays = 1,
    TENSOR(tensor_wgmma),
    /* For the first entry, the rung's own model chooses the tile. For all entries but the last, it
     * chooses the number of parts of k. */
    GEMM_BLOCKS({0}, {.group_m = 256, .group_n = 256}, {.group_m = 256, .group_n = 192},
                {.group_m = 256, .group_n = 128}, {.group_m = 256, .group_n = 64},
                {.group_m = 64, .group_n = 256}, {.group_m = 128, .group_n = 256},
                {.group_m = 256, .group_n = 256, .splits = 1}),
};

static const struct gemm_kernel *const kernels[] = {
    &naive,
    &regblock,
    &local,
    &unroll,
    &pipeline,
    &lds_pipeline,
    &warptile,
    &f16x2,
    &wmma_warp,
    &wmma,
    &mma,
    &dmma,
    &wgmma,
#if HAVE_CUBLAS
    &gemm_cuda_cublas,
#endif
};

const struct gemm_kernel_set gemm_kernels_cuda = {
    .backend = "cuda",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .ceilings = gemm_cuda_ceilings,
};
