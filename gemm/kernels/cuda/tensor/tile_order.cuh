// SPDX-License-Identifier: MIT
// In which order blocks take tiles: down a band of a few rows, then on to the next column, so that
// what runs at one time shares rows and columns in the L2 cache; every other band goes backward and
// begins with columns still there.
#ifndef GEMM_KERNELS_CUDA_TENSOR_TILE_ORDER_CUH
#define GEMM_KERNELS_CUDA_TENSOR_TILE_ORDER_CUH

struct tile_order {
  int rows, columns; // of tiles
  int band;          // rows that go together
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

// For C of m×n in tiles of so many rows and columns.
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
