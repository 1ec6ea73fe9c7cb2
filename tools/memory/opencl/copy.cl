// SPDX-License-Identifier: MIT
// The copies of cuda/copy.cu: study_* with 4 or 16 bytes per access, paced or not; the suite's own
// copies tile and word; BabelStream's copy babel. The host defines TILE_GROUP and TILE_WORDS.

#define CYCLIC 0
#define BLOCK  1
#define GROUP  2

// The elements of a stream that a work-item copies. `trips` is the same for all work-items of a
// group, so that all of them reach each barrier.
struct walk {
  ulong begin, step, end, trips;
};

struct walk walk_of(ulong n, int assign)
{
  ulong items = get_global_size(0), id = get_global_id(0), lanes = get_local_size(0);
  ulong parts = assign == GROUP ? get_num_groups(0) : items, run = (n + parts - 1) / parts;
  struct walk w = {id, items, n, run};
  if (assign == CYCLIC) return w;
  w.begin = (assign == GROUP ? get_group_id(0) : id) * run;
  w.end = min(w.begin + run, n);
  w.step = 1;
  if (assign == BLOCK) return w;
  w.begin += get_local_id(0);
  w.step = lanes;
  w.trips = (run + lanes - 1) / lanes;
  return w;
}

#define STUDY(name, type, pace)                                                                              \
  __kernel void name(__global const type *restrict from, __global type *restrict to, ulong n, int streams,   \
                     int assign)                                                                             \
  {                                                                                                          \
    struct walk w = walk_of(n, assign);                                                                      \
    ulong i = w.begin;                                                                                       \
    for (ulong trip = 0; trip < w.trips; trip++, i += w.step) {                                              \
      ulong at = i;                                                                                          \
      for (int s = 0; s < streams; s++, at += n) {                                                           \
        pace;                                                                                                \
        if (i < w.end) to[at] = from[at];                                                                    \
      }                                                                                                      \
    }                                                                                                        \
  }

STUDY(study_4, uint, )
STUDY(study_16, uint4, )
STUDY(study_4_paced, uint, barrier(CLK_LOCAL_MEM_FENCE))
STUDY(study_16_paced, uint4, barrier(CLK_LOCAL_MEM_FENCE))

__kernel void tile(__global const uint4 *restrict from, __global uint4 *restrict to, ulong n)
{
  ulong first = get_group_id(0) * (ulong)(TILE_GROUP * TILE_WORDS) + get_local_id(0);
  uint4 word[TILE_WORDS];
  for (int w = 0; w < TILE_WORDS; w++)
    if (first + w * TILE_GROUP < n) word[w] = from[first + w * TILE_GROUP];
  for (int w = 0; w < TILE_WORDS; w++)
    if (first + w * TILE_GROUP < n) to[first + w * TILE_GROUP] = word[w];
}

__kernel void word(__global const uint4 *restrict from, __global uint4 *restrict to, ulong n)
{
  ulong i = get_global_id(0);
  if (i < n) to[i] = from[i];
}

__kernel void babel(__global const uint2 *restrict from, __global uint2 *restrict to)
{
  to[get_global_id(0)] = from[get_global_id(0)];
}
