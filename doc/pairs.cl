// SPDX-License-Identifier: MIT
// Kernel pairs after the article of 2015 on address arithmetic, as in pairs.cu, which describes
// them.

#define PAIR_LANES        32
#define PAIR_SHARED_WORDS 1024

int op(int x)
{
  return 3 * x + 1;
}

__kernel void pair_pointer_before(__global int *mem, int n, int rows)
{
  int row = get_global_id(0);
  if (row >= rows) return;
  __global int *p = mem + (size_t)row * 2 * n;
  for (int i = 0; i < n; i++) p[i * 2] = 100;
}

__kernel void pair_pointer_after(__global int *mem, int n, int rows)
{
  int row = get_global_id(0);
  if (row >= rows) return;
  __global int *p = mem + (size_t)row * 2 * n;
  for (int i = 0; i < n; i++) {
    p[0] = 100;
    p += 2;
  }
}

__kernel void pair_row_before(__global int *mem, int n, int rows)
{
  int x = get_global_id(0), y = get_global_id(1);
  if (x < n && y < rows) mem[(size_t)y * n + x] = op(mem[(size_t)y * n + x]);
}

__kernel void pair_row_after(__global int *mem, int n, int rows)
{
  int y = get_global_id(0);
  if (y >= rows) return;
  __global int *p = mem + (size_t)y * n;
  for (int x = 0; x < n; x++) {
    *p = op(*p);
    p++;
  }
}

__kernel void pair_column_after(__global int *mem, int n, int rows)
{
  int x = get_global_id(0);
  if (x >= n) return;
  __global int *p = mem + x;
  for (int y = 0; y < rows; y++) {
    *p = op(*p);
    p += n;
  }
}

__kernel void pair_scalar_before(__global int *mem, int n)
{
  int lane = get_local_id(0);
  if (lane < PAIR_LANES) {
    __global int *p = mem + (size_t)get_group_id(0) * n * PAIR_LANES;
    for (int i = lane; i < n * PAIR_LANES; i += PAIR_LANES) p[i]++;
  }
}

__kernel void pair_scalar_after(__global int *mem, int n)
{
  int lane = get_local_id(0);
  __global int *p = mem + (size_t)get_group_id(0) * n * PAIR_LANES;
  for (int i = 0; i < n * PAIR_LANES; i += PAIR_LANES)
    if (lane < PAIR_LANES) p[i + lane]++;
}

__kernel void pair_byte_after(__global int *mem, int n)
{
  int lane = get_local_id(0);
  if (lane < PAIR_LANES) {
    __global char *p = (__global char *)(mem + (size_t)get_group_id(0) * n * PAIR_LANES + lane);
    int bytes = n * PAIR_LANES * (int)sizeof(int);
    for (int i = 0; i < bytes; i += PAIR_LANES * (int)sizeof(int)) (*(__global int *)(p + i))++;
  }
}

__kernel void pair_shared_before(__global int *mem, int n, int rows)
{
  __local int a[PAIR_SHARED_WORDS];
  __local int b[PAIR_SHARED_WORDS];
  int row = get_global_id(0);
  for (int i = get_local_id(0); i < n; i += get_local_size(0)) {
    a[i] = i;
    b[i] = 2 * i;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (row >= rows) return;
  __global int *p = mem + (size_t)row * n;
  for (int i = 0; i < n; i++) p[i] = a[i] + b[i];
}

__kernel void pair_shared_after(__global int *mem, int n, int rows)
{
  __local int ab[2 * PAIR_SHARED_WORDS];
  __local int *a = ab, *b = ab + PAIR_SHARED_WORDS;
  int row = get_global_id(0);
  for (int i = get_local_id(0); i < n; i += get_local_size(0)) {
    a[i] = i;
    b[i] = 2 * i;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (row >= rows) return;
  __global int *p = mem + (size_t)row * n;
  for (int i = 0; i < n; i++) p[i] = a[i] + b[i];
}
