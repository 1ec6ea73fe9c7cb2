/* SPDX-License-Identifier: MIT */
/* Kernel pairs after the article of 2015 on address arithmetic: what the compiler makes of
 * addresses, before and after. scripts/isa-report --pairs counts their instructions. Each kernel
 * treats `rows` rows of `n` words and writes every word of its result. As in pairs.cl. */

/* Lanes of the groups of the scalar and byte pairs, and words of their rows' steps. */
#define PAIR_LANES 32
/* Words of each of the two shared arrays. */
#define PAIR_SHARED_WORDS 1024

static __device__ __forceinline__ int op(int x)
{
  return 3 * x + 1;
}

/* Each thread writes every second word of a row of 2·n. */
extern "C" __global__ void pair_pointer_before(int *mem, int n, int rows)
{
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int *p = mem + (size_t)row * 2 * n;
  for (int i = 0; i < n; i++) p[i * 2] = 100;
}

extern "C" __global__ void pair_pointer_after(int *mem, int n, int rows)
{
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int *p = mem + (size_t)row * 2 * n;
  for (int i = 0; i < n; i++) {
    p[0] = 100;
    p += 2;
  }
}

/* An image of n columns and `rows` rows: one thread per pixel; one per row, as in the article; one
 * per column, so that neighbours in a warp access neighbouring words. */
extern "C" __global__ void pair_row_before(int *mem, int n, int rows)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < n && y < rows) mem[(size_t)y * n + x] = op(mem[(size_t)y * n + x]);
}

extern "C" __global__ void pair_row_after(int *mem, int n, int rows)
{
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= rows) return;
  int *p = mem + (size_t)y * n;
  for (int x = 0; x < n; x++) {
    *p = op(*p);
    p++;
  }
}

extern "C" __global__ void pair_column_after(int *mem, int n, int rows)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  int *p = mem + x;
  for (int y = 0; y < rows; y++) {
    *p = op(*p);
    p += n;
  }
}

/* A group processes n·32 words, 32 at a time. */
extern "C" __global__ void pair_scalar_before(int *mem, int n)
{
  int lane = threadIdx.x;
  if (lane < PAIR_LANES) {
    int *p = mem + (size_t)blockIdx.x * n * PAIR_LANES;
    for (int i = lane; i < n * PAIR_LANES; i += PAIR_LANES) p[i]++;
  }
}

extern "C" __global__ void pair_scalar_after(int *mem, int n)
{
  int lane = threadIdx.x;
  int *p = mem + (size_t)blockIdx.x * n * PAIR_LANES;
  for (int i = 0; i < n * PAIR_LANES; i += PAIR_LANES)
    if (lane < PAIR_LANES) p[i + lane]++;
}

extern "C" __global__ void pair_byte_after(int *mem, int n)
{
  int lane = threadIdx.x;
  if (lane < PAIR_LANES) {
    char *p = (char *)(mem + (size_t)blockIdx.x * n * PAIR_LANES + lane);
    int bytes = n * PAIR_LANES * (int)sizeof(int);
    for (int i = 0; i < bytes; i += PAIR_LANES * (int)sizeof(int)) (*(int *)(p + i))++;
  }
}

/* Each thread adds two shared arrays up, word by word, into a row of its own. */
extern "C" __global__ void pair_shared_before(int *mem, int n, int rows)
{
  __shared__ int a[PAIR_SHARED_WORDS];
  __shared__ int b[PAIR_SHARED_WORDS];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    a[i] = i;
    b[i] = 2 * i;
  }
  __syncthreads();
  if (row >= rows) return;
  int *p = mem + (size_t)row * n;
  for (int i = 0; i < n; i++) p[i] = a[i] + b[i];
}

extern "C" __global__ void pair_shared_after(int *mem, int n, int rows)
{
  __shared__ int ab[2 * PAIR_SHARED_WORDS];
  int *a = ab, *b = ab + PAIR_SHARED_WORDS;
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    a[i] = i;
    b[i] = 2 * i;
  }
  __syncthreads();
  if (row >= rows) return;
  int *p = mem + (size_t)row * n;
  for (int i = 0; i < n; i++) p[i] = a[i] + b[i];
}
