// SPDX-License-Identifier: MIT
// Many sweeps in one launch, for grids whose coefficients fit into the shared memory of all
// multiprocessors together. A block owns a few rows of k: their coefficients and its part of p stay
// in shared memory. After each sweep it publishes its outermost rows through the L2 cache and
// fetches those of its eight neighbours. There are no flags and no barrier over the grid: a float
// that has not been published yet reads as NOTHING. Rows that another rank needs are also stored
// into that rank's memory, where its blocks read them as halo.
//
// Published rows go into BUFFERS copies of the field, used in rotation through all launches. In
// sweep s a block clears its rows of copy s + AHEAD, and the adjacent rows that another rank
// writes. Its neighbours have published sweep s - 1, so they have read the previous contents of
// that copy, the rows of sweep s - 2. A fence orders these stores before the rows of sweep s +
// AHEAD - 1, which every reader or writer of copy s + AHEAD has seen; one fence in FENCED sweeps is
// enough. Readers have no fence: their relaxed loads bypass L1, and nothing is stored before the
// barrier that follows them.
#include <limits.h>

#include "himeno/kernels/cuda/point.cuh"
#include "himeno/kernels/cuda/resident_buffer.cuh"

// Values of one plane that a quad (four points along k) needs: its row from k - 1 to k + 4, and its
// neighbours in j.
struct quad_rows {
  float here[6], north[4], south[4];
};

// Reads a row from one point before the quad to one after it. The two outer values come from
// neighbours in the warp, if possible.
static __device__ __forceinline__ void row_read(float (&r)[6], const float *at)
{
  const int lane = threadIdx.x % 32;
  float4 own = *(const float4 *)at;
  r[0] = __shfl_up_sync(0xffffffffu, own.w, 1), r[5] = __shfl_down_sync(0xffffffffu, own.x, 1);
  if (lane == 0) r[0] = at[-1];
  if (lane == 31) r[5] = at[4];
  r[1] = own.x, r[2] = own.y, r[3] = own.z, r[4] = own.w;
}

static __device__ __forceinline__ void quad_read(float (&r)[4], const float *at)
{
  float4 own = *(const float4 *)at;
  r[0] = own.x, r[1] = own.y, r[2] = own.z, r[3] = own.w;
}

static __device__ __forceinline__ void plane_read(quad_rows &r, const float *at, int pitch)
{
  row_read(r.here, at);
  quad_read(r.north, at + pitch);
  quad_read(r.south, at - pitch);
}

// Reads the three rows of the middle plane, and computes the sum that b1 multiplies at each point.
static __device__ __forceinline__ void middle_read(quad_rows &r, float (&cross)[4], const float *at,
                                                   int pitch)
{
  float north[6], south[6];
  row_read(r.here, at);
  row_read(north, at + pitch);
  row_read(south, at - pitch);
#pragma unroll
  for (int v = 0; v < 4; v++) {
    r.north[v] = north[v + 1], r.south[v] = south[v + 1];
    cross[v] = (rounded(north[v + 2]) - south[v + 2] - north[v] + south[v]).value;
  }
}

// A thread's quads: the same position in PLANES consecutive planes.
template <int PLANES, int THREADS, bool LINKED> struct resident_column {
  const resident_args &args;
  const resident_tile &tile;
  int i, j, quad; // i: first plane, j: row in the tile; quad: index in the row
  bool used;      // whether the quad is in a row of the tile
  int claims;     // one bit per point: 1 if the sweep updates it
  float4 *own;    // the thread's coefficients in shared memory
  float value[PLANES][4];

  __device__ resident_column(const resident_args &a, const resident_tile &t, float *coefficients)
      : args(a), tile(t)
  {
    own = (float4 *)coefficients + threadIdx.x;
    int column = threadIdx.x / t.quads;
    quad = threadIdx.x % t.quads;
    j = column % t.rows[1];
    i = column / t.rows[1] * PLANES;
    used = i < t.rows[0];
    if (!used) i = 0; // an unused thread reads valid memory and writes nothing
    claims = 0;
    for (int v = 0; v < 4; v++)
      if (used && 4 * quad + v >= a.pass.lo[2] && 4 * quad + v < a.pass.hi[2]) claims |= 1 << v;
  }

  __device__ bool has(int n) const
  {
    return used && i + n < tile.rows[0];
  }

  __device__ float4 *coefficient(int n, int c) const
  {
    return own + (n * HIMENO_COEFFICIENTS + c) * THREADS;
  }

  __device__ void load() const
  {
#pragma unroll
    for (int n = 0; n < PLANES; n++)
      for (int c = 0; c < HIMENO_COEFFICIENTS && has(n); c++)
        *coefficient(n, c) =
            __ldcs((const float4 *)(args.pass.coefficient[c] + tile.offset(args.pass, i + n, j)) + quad);
  }

  __device__ float update(const quad_rows &below, const quad_rows &mid, const quad_rows &above, float cross,
                          const float (&c)[HIMENO_COEFFICIENTS], int v, double *gosa) const
  {
    rounded s = rounded(c[HIMENO_A0]) * above.here[v + 1] + rounded(c[HIMENO_A1]) * mid.north[v] +
                rounded(c[HIMENO_A2]) * mid.here[v + 2];
    s = s +
        rounded(c[HIMENO_B0]) * (rounded(above.north[v]) - above.south[v] - below.north[v] + below.south[v]);
    s = s + rounded(c[HIMENO_B1]) * cross;
    s = s + rounded(c[HIMENO_B2]) *
                (rounded(above.here[v + 2]) - below.here[v + 2] - above.here[v] + below.here[v]);
    s = s + rounded(c[HIMENO_C0]) * below.here[v + 1] + rounded(c[HIMENO_C1]) * mid.south[v] +
        rounded(c[HIMENO_C2]) * mid.here[v] + rounded(c[HIMENO_WRK1]);
    rounded ss = (s * c[HIMENO_A3] - mid.here[v + 1]) * c[HIMENO_BND];
    if (!(claims & 1 << v)) return mid.here[v + 1];
    *gosa += squared(ss.value);
    return (rounded(mid.here[v + 1]) + rounded(HIMENO_OMEGA) * ss).value;
  }

  __device__ void quad_update(int n, const quad_rows &below, const quad_rows &mid, const quad_rows &above,
                              const float (&cross)[4], double *gosa)
  {
    float4 c[HIMENO_COEFFICIENTS];
#pragma unroll
    for (int m = 0; m < HIMENO_COEFFICIENTS; m++) c[m] = *coefficient(n, m);
    double mine = 0;
#pragma unroll
    for (int v = 0; v < 4; v++) {
      float at[HIMENO_COEFFICIENTS];
#pragma unroll
      for (int m = 0; m < HIMENO_COEFFICIENTS; m++)
        at[m] = v == 0 ? c[m].x : (v == 1 ? c[m].y : (v == 2 ? c[m].z : c[m].w));
      value[n][v] = update(below, mid, above, cross[v], at, v, &mine);
    }
    if (has(n)) *gosa += mine;
  }

  // One sweep of the thread's quads, from shared memory to `value`. Returns their gosa.
  __device__ double sweep()
  {
    const float *at = tile.row(i, j) + 4 * quad;
    const int plane = (tile.rows[1] + 2) * tile.pitch;
    quad_rows rows[3];
    float cross[4], next[4];
    double gosa = 0;
    plane_read(rows[0], at - plane, tile.pitch);
    middle_read(rows[1], cross, at, tile.pitch);
#pragma unroll
    for (int n = 0; n < PLANES; n++) {
      int above = i + n < tile.rows[0] ? plane : 0; // planes beyond the tile are not used
      if (i + n < tile.rows[0]) at += above;
      if (n + 1 < PLANES)
        middle_read(rows[(n + 2) % 3], next, at, tile.pitch);
      else
        plane_read(rows[(n + 2) % 3], at, tile.pitch);
      quad_update(n, rows[n % 3], rows[(n + 1) % 3], rows[(n + 2) % 3], cross, &gosa);
#pragma unroll
      for (int v = 0; v < 4; v++) cross[v] = next[v];
    }
    return gosa;
  }

  __device__ float4 updated(int n) const
  {
    return make_float4(value[n][0], value[n][1], value[n][2], value[n][3]);
  }

  // Stores quad n of the column into the buffers of the ranks that need it.
  __device__ void send(int sweep, int n, float4 v) const
  {
    const int at_i = tile.lo[0] + i + n, at_j = tile.lo[1] + j;
    for (int m = 0; m < args.link.n; m++) {
      const halo_link_message &to = args.link.message[m];
      if (at_i < to.lo[0] || at_i >= to.hi[0] || at_j < to.lo[1] || at_j >= to.hi[1]) continue;
      // the neighbour's buffers begin one buffer size after the start of its field
      float *row = to.to[0] + args.planes * to.plane + buffer_of(args, sweep, to.plane) - to.lo[2];
      buffer_write<true>(row + (at_i - to.lo[0]) * to.plane + (at_j - to.lo[1]) * to.pitch + 4 * quad, v);
    }
  }

  // Publishes the tile's outermost rows in the buffer of \a sweep, from which neighbours read them.
  __device__ void shelve(int sweep, bool empty) const
  {
    float *buffer = args.buffers + buffer_of(args, sweep, args.pass.plane);
#pragma unroll
    for (int n = 0; n < PLANES; n++) {
      bool rim = i + n == 0 || i + n == tile.rows[0] - 1 || j == 0 || j == tile.rows[1] - 1;
      if (!has(n) || !rim) continue;
      float4 v = empty ? nothing() : updated(n);
      buffer_write<LINKED>(buffer + tile.offset(args.pass, i + n, j) + 4 * quad, v);
      if (LINKED && !empty) send(sweep, n, v);
    }
  }

  __device__ void keep() const
  {
#pragma unroll
    for (int n = 0; n < PLANES; n++)
      if (has(n)) ((float4 *)tile.row(i + n, j))[quad] = updated(n);
  }

  __device__ void store() const
  {
#pragma unroll
    for (int n = 0; n < PLANES; n++) {
      float *out = args.pass.out + tile.offset(args.pass, i + n, j) + 4 * quad;
      if (!has(n)) continue;
      if (claims == 15)
        *(float4 *)out = updated(n);
      else
        for (int v = 0; v < 4; v++)
          if (claims & 1 << v) out[v] = value[n][v];
    }
  }
};

// Loads all of the tile's p and the rows around it from global memory.
static __device__ void field_load(const resident_args &args, const resident_tile &tile)
{
  int quads = (tile.rows[0] + 2) * (tile.rows[1] + 2) * tile.quads;
  for (int n = threadIdx.x; n < quads; n += blockDim.x) {
    int row = n / tile.quads, i = row / (tile.rows[1] + 2) - 1, j = row % (tile.rows[1] + 2) - 1;
    ((float4 *)tile.p)[n] = ((const float4 *)(args.pass.p + tile.offset(args.pass, i, j)))[n % tile.quads];
  }
}

static __device__ __forceinline__ void gosa_gather(double mine, double *sums)
{
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lane);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = mine;
}

static __device__ __forceinline__ void gosa_send(const double *sums, double *total)
{
  if (threadIdx.x >= 32) return;
  double mine = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lane);
  if (threadIdx.x == 0) atomicAdd(total, mine);
}

template <int PLANES, int THREADS, bool LINKED>
static __global__ void __launch_bounds__(THREADS, 1)
    resident_kernel(const CUDA_GRID_CONSTANT resident_args args)
{
  extern __shared__ __align__(16) float shared_memory[];
  __shared__ double sums[THREADS / 32];
  resident_tile tile(args, shared_memory + PLANES * HIMENO_COEFFICIENTS * THREADS * 4);
  resident_column<PLANES, THREADS, LINKED> column(args, tile, shared_memory);
  column.load();
  field_load(args, tile);
  __syncthreads();
  // a constant number of lanes saves arithmetic, and most grids have long rows
  const int lanes_log2 = THREADS > 256 || tile.quads > 16 ? 5 : 32 - __clz(tile.quads - 1);
  double gosa = column.sweep();
  for (int s = 0; s + 1 < args.sweeps; s++) {
    column.shelve(s, false);
    __syncthreads(); // all threads have read p and published
    column.keep();
    gosa_gather(gosa, sums);
    column.shelve(s + AHEAD, true);
    halo_fetch<LINKED>(args, tile, s, lanes_log2);
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1 && s % FENCED == FENCED - 1)
      buffer_fence<LINKED>(); // orders cleared rows before later published ones
    gosa_send(sums, args.pass.gosa + s);
    gosa = column.sweep();
  }
  column.store();
  __syncthreads(); // all threads have read the sums of the previous sweep
  gosa_gather(gosa, sums);
  __syncthreads();
  gosa_send(sums, args.pass.gosa + args.sweeps - 1);
}

typedef void (*resident_function)(resident_args);

static const struct resident_shape {
  int planes, threads;
  resident_function kernel[2]; // without and with neighbours
} shapes[] = {
#define SHAPE(planes, threads)                                                                               \
  {                                                                                                          \
    planes, threads,                                                                                         \
    {                                                                                                        \
      resident_kernel<planes, threads, false>, resident_kernel<planes, threads, true>                        \
    }                                                                                                        \
  }
    SHAPE(1, 128), SHAPE(1, 256), SHAPE(1, 512), SHAPE(2, 256), SHAPE(2, 512)};
#undef SHAPE
static constexpr int SHAPES = sizeof shapes / sizeof shapes[0];

static int resident_divide_up(int n, int by)
{
  return (n + by - 1) / by;
}

static int bytes_of(const cuda_resident *r, const resident_shape *shape)
{
  int coefficients = HIMENO_COEFFICIENTS * shape->planes * shape->threads;
  int field = (r->rows[0] + 2) * (r->rows[1] + 2) * r->quads;
  return (int)sizeof(float) * (4 * (coefficients + field) + 2 * MARGIN);
}

// Sets rows, shape, threads and bytes of the blocks. Returns false if they do not fit.
static bool tile_plan(cuda_resident *r, const int interior[2], int capacity)
{
  for (int d = 0; d < 2; d++) r->rows[d] = resident_divide_up(interior[d], r->blocks[d]);
  if ((int64_t)(r->rows[0] + 2) * (r->rows[1] + 2) * r->quads > capacity) return false;
  for (r->shape = 0; r->shape < SHAPES; r->shape++) {
    const resident_shape *shape = &shapes[r->shape];
    int columns = resident_divide_up(r->rows[0], shape->planes) * r->rows[1] * r->quads;
    r->threads = resident_divide_up(columns, 32) * 32;
    r->bytes = bytes_of(r, shape);
    if (r->threads <= shape->threads) return r->bytes <= capacity;
  }
  return false;
}

// Returns a block's time in arbitrary units, for its points and the rows that it fetches.
static int tile_cost(const cuda_resident *r)
{
  return 3 * r->rows[0] * r->rows[1] + 2 * (r->rows[0] + r->rows[1]);
}

static bool plan(const cuda_pass *pass, int quads, int processors, int capacity, cuda_resident *resident)
{
  const int interior[2] = {pass->hi[0] - pass->lo[0], pass->hi[1] - pass->lo[1]};
  int least = INT_MAX;
  for (int i = 1; i <= processors && i <= interior[0]; i++)
    for (int j = 1; i * j <= processors && j <= interior[1]; j++) {
      cuda_resident r = {{i, j}};
      r.quads = quads;
      if (!tile_plan(&r, interior, capacity) || tile_cost(&r) >= least) continue;
      least = tile_cost(&r);
      *resident = r;
    }
  return least < INT_MAX;
}

static cudaError_t limits_find(int *processors, int *capacity)
{
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(capacity, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  *capacity -= 1024; // reserve for static shared memory
  return error;
}

extern "C" cudaError_t cuda_resident_open(const struct cuda_pass *pass, const struct layout *layout,
                                          struct cuda_resident *resident, int *fits)
{
  cuda_resident r = {};
  int processors, capacity;
  const int64_t buffer = layout->plane * layout->global[0];
  cudaError_t error = limits_find(&processors, &capacity);
  if (error != cudaSuccess) return error;
  *fits = buffer < INT_MAX / (int)sizeof(float) &&
          plan(pass, resident_divide_up((int)layout->extent[2], 4), processors, capacity, &r);
  if (!*fits) return cudaSuccess;
  r.buffers = (float *)pass->p + buffer;
  r.planes = layout->global[0];
  for (int linked = 0; linked < 2 && error == cudaSuccess; linked++)
    error = cudaFuncSetAttribute(shapes[r.shape].kernel[linked], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 r.bytes);
  if (error == cudaSuccess)
    error = cudaMemset2DAsync(r.buffers, (size_t)(r.planes * pass->plane) * sizeof(float), NOTHING & 0xff,
                              (size_t)layout_floats(layout) * sizeof(float), BUFFERS, 0);
  if (error == cudaSuccess) error = cudaStreamSynchronize(0);
  if (error == cudaSuccess) *resident = r;
  return error;
}

extern "C" const void *cuda_resident_kernel(const struct cuda_resident *resident)
{
  return (const void *)shapes[resident->shape].kernel[0];
}

// Uses a cooperative launch, because blocks wait for each other: all must be resident at once. The
// launch uses the buffers in rotation from first_buffer on. The previous launch left rows in two of
// them.
extern "C" cudaError_t cuda_resident_launch(struct cuda_resident *resident, const struct cuda_pass *pass,
                                            int sweeps, const struct halo_link *link, cudaStream_t stream)
{
  resident_args args = {*pass, resident->buffers, resident->planes};
  for (int d = 0; d < 2; d++) {
    args.blocks[d] = resident->blocks[d];
    args.reach_lo[d] = pass->lo[d], args.reach_hi[d] = pass->hi[d];
  }
  args.quads = resident->quads;
  args.sweeps = sweeps;
  args.first_buffer = resident->first_buffer;
  resident->first_buffer = (args.first_buffer + sweeps - 1) % BUFFERS;
  if (link) args.link = *link;
  for (int m = 0; m < args.link.n; m++)
    for (int d = 0; d < 2; d++) {
      const int *dir = args.link.message[m].dir;
      if (dir[d] < 0) args.reach_lo[d] = pass->lo[d] - 1;
      if (dir[d] > 0) args.reach_hi[d] = pass->hi[d] + 1;
    }
  void *arguments[] = {&args};
  return cudaLaunchCooperativeKernel((const void *)shapes[resident->shape].kernel[args.link.n > 0],
                                     dim3(args.blocks[0] * args.blocks[1]), dim3(resident->threads),
                                     arguments, (size_t)resident->bytes, stream);
}
