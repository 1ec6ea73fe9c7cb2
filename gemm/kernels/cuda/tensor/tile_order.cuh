// SPDX-License-Identifier: MIT
// The order of tiles: down a band of a few rows, then on to the next column, so that tiles computed
// at the same time share rows and columns in the L2 cache. Every other band is traversed backward,
// and so begins with columns that are still cached.
#ifndef GEMM_KERNELS_CUDA_TENSOR_TILE_ORDER_CUH
#define GEMM_KERNELS_CUDA_TENSOR_TILE_ORDER_CUH

struct tile_order {
  int rows, columns; // numbers of tiles
  int band;          // rows of tiles per band
  int tiles;         // rows × columns

  __device__ __forceinline__ void place(int tile, int *row, int *column) const
  {
    int which = tile / (band * columns), first = which * band, rest = tile - first * columns;
    int height = min(band, rows - first);
    *column = rest / height;
    *row = first + rest - *column * height;
    if (which & 1) *column = columns - 1 - *column;
  }
};

static inline tile_order tile_order_of(int m, int n, int tile_m, int tile_n, int band)
{
  tile_order order;
  order.rows = (m - 1) / tile_m + 1;
  order.columns = (n - 1) / tile_n + 1;
  order.band = band;
  order.tiles = order.rows * order.columns;
  return order;
}

#endif
