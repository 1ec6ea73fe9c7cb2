// SPDX-License-Identifier: MIT
// Many sweeps in one launch, with the quads of stream.cl. Groups draw tickets, one per tile, sweep
// after sweep; tickets of the next sweep are drawn while the last tiles of this one are computed. A
// group requests the coefficients of its tile before it waits for the new p. Groups wait only for
// tickets that were drawn, and a group that drew one is running, so the kernel works with any
// number of concurrent groups.

// state: number of tickets drawn, and of tiles completed in all sweeps, each in its own cache line
// because waiting groups poll the second.
#define STATE_DRAWN 0
#define STATE_DONE  32

#ifdef __NV_CL_C_VERSION
// OpenCL C 1.2 cannot order memory accesses between groups; PTX can from sm_70 on.
uint ticket_draw(__global uint *state)
{
  uint drawn;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(drawn)
               : "l"(state + STATE_DRAWN)
               : "memory");
  return drawn;
}

// Reports the number of tiles whose points are written. Does nothing for 0.
void tiles_report(__global uint *state, uint tiles)
{
  if (tiles > 0)
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(state + STATE_DONE), "r"(tiles) : "memory");
}

// Frequent polls delay all accesses to the same part of L2: pauses of 1000 ns gain 1% over polling
// without a pause on an H100.
void tiles_await(__global uint *state, uint tiles)
{
  for (;;) {
    uint done;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(done) : "l"(state + STATE_DONE) : "memory");
    if (done >= tiles) break;
    asm volatile("nanosleep.u32 1000;" ::: "memory");
  }
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// Like load_once, but issued here, before a wait, and not where the value is used.
float4 load_now(__global const float *from)
{
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(from));
  return v;
}
#else
// This branch is for CPUs, where an atomic operation also orders the accesses around it.
uint ticket_draw(__global uint *state)
{
  return atomic_inc((volatile __global uint *)state + STATE_DRAWN);
}

void tiles_report(__global uint *state, uint tiles)
{
  atomic_add((volatile __global uint *)state + STATE_DONE, tiles);
}

void tiles_await(__global uint *state, uint tiles)
{
  while (atomic_add((volatile __global uint *)state + STATE_DONE, 0) < tiles) continue;
}

float4 load_now(__global const float *from)
{
  return *(__global const float4 *)from;
}
#endif

// A work-item's quad: its offset and its coefficients.
struct quad {
  long at;
  int k, used;
  float4 a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1;
};

// Returns the work-item's quad of tile number `tile`; `tiles` is the number of tiles in k, j, i and
// in total. A backward sweep takes tiles from the end.
struct quad quad_of(int tile, int backward, int4 tiles, long2 stride, int8 box)
{
  struct quad q;
  if (backward) tile = tiles.w - 1 - tile;
  const int row = tile / tiles.x, plane = row / tiles.y;
  q.k = box.s7 + 4 * (tile % tiles.x * GROUP_K + (int)get_local_id(0));
  const int j = box.s1 + row % tiles.y * GROUP_J + (int)get_local_id(1);
  q.used = q.k < box.s5 && j < box.s4;
  q.at = q.used ? (box.s0 + plane) * stride.x + j * stride.y + q.k : 0;
  return q;
}

// first: p before the first sweep; second: the field that this sweep writes and the next one reads.
__kernel __attribute__((reqd_work_group_size(GROUP_K, GROUP_J, 1))) void
persistent(COEFFICIENT_ARGS, __global float *first, __global float *second, __global sum_t *sums,
           const long2 stride, const int8 box, const int slot, const int4 tiles, const int sweeps,
           __global uint *state)
{
  __local sum_t scratch[GROUP];
  __local uint drawn[2]; // double-buffered: one is read while the other is written
  const int me = get_local_id(0) + GROUP_K * get_local_id(1);
  const uint last = (uint)sweeps * tiles.w;
  // tickets of the current sweep, and number of tiles that the group has completed
  uint begin = 0, end = 0, done = 0;
  int sweep = 0, round = 0;
  sum_t gosa = SUM_ZERO;

  if (me == 0) drawn[round] = ticket_draw(state);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint ticket = drawn[round];; ticket = drawn[round]) {
    if (ticket >= end) {
      if (done > 0) {
        group_sum(gosa, scratch, GROUP, sums, slot + sweep);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        tiles_report(state, me == 0 ? done : 0);
      }
      if (ticket >= last) break;
      sweep = ticket / tiles.w;
      begin = (uint)sweep * tiles.w, end = begin + tiles.w;
      done = 0;
      gosa = SUM_ZERO;
    }
#define LOAD(array)   q.array = load_now(array + q.at)
#define C(array)      q.array
#define P(di, dj, dk) row_at(p + q.at + (di)*stride.x + (dj)*stride.y, dk)
    struct quad q = quad_of((int)(ticket - begin), (sweep + box.s6) & 1, tiles, stride, box);
    LOAD(a0), LOAD(a1), LOAD(a2), LOAD(b0), LOAD(b1), LOAD(b2);
    LOAD(c0), LOAD(c1), LOAD(c2), LOAD(wrk1), LOAD(a3), LOAD(bnd);
    if (me == 0 && done == 0) tiles_await(state, begin);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    __global const float *p = sweep & 1 ? second : first;
    __global float *out = sweep & 1 ? first : second;
    if (q.used) gosa = sum_add(gosa, quad_store(out + q.at, P(0, 0, 0), RESIDUAL(C, P), q.k, box));
    done++;
    round ^= 1;
    if (me == 0) drawn[round] = ticket_draw(state);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
