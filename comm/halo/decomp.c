/* SPDX-License-Identifier: MIT */
#include "comm/halo/decomp.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/log.h"

/* Cost model of an exchange, in bytes, used only to choose a decomposition. Each message costs
 * MESSAGE_BYTES (10 µs at 10 GB/s) in addition to its data. The data of a face normal to dimension
 * d costs pack_factor[d] per byte, because shorter contiguous runs are slower to pack. */
#define MESSAGE_BYTES 100e3
static const double pack_factor[3] = {1.0, 1.25, 3.0};

/* Rows are aligned to this many floats: 128 bytes, a cache line of a GPU. */
#define ROW_FLOATS 32

static const char dimension_name[] = "ijk";

static int64_t thinnest(int64_t global, int procs)
{
  return (global - 2) / procs;
}

static int64_t thickest(int64_t global, int procs)
{
  return (global - 2 + procs - 1) / procs;
}

static int dimension_fits(int64_t global, int procs, int depth)
{
  return thinnest(global, procs) >= (procs > 1 ? depth : 1);
}

static double exchange_cost(const int64_t global[3], const int procs[3], int depth)
{
  double side[3], cost = 0, messages = 1;
  for (int d = 0; d < 3; d++) side[d] = (double)thickest(global[d], procs[d]);
  for (int d = 0; d < 3; d++) {
    int faces = procs[d] > 2 ? 2 : procs[d] - 1;
    double face = side[0] * side[1] * side[2] / side[d];
    cost += faces * face * depth * sizeof(float) * pack_factor[d];
    messages *= 1 + faces;
  }
  return cost + (messages - 1) * MESSAGE_BYTES;
}

static int cut_fits(const int64_t global[3], const int procs[3], const struct decomp_rules *rules)
{
  for (int d = 0; d < 3; d++) {
    if (!dimension_fits(global[d], procs[d], rules->depth)) return 0;
    if (d > 0 && rules->whole_planes && procs[d] > 1) return 0;
    if (d == 2 && rules->whole_rows && procs[d] > 1) return 0;
  }
  return 1;
}

status_t decomp_choose(int ranks, const int64_t global[3], int weak, const struct decomp_rules *rules,
                       int procs[3])
{
  double least = -1;
  for (int p = 1; p <= ranks; p++) {
    for (int q = 1; ranks % p == 0 && q <= ranks / p; q++) {
      if (ranks / p % q != 0) continue;
      int cut[3] = {p, q, ranks / p / q};
      int64_t whole[3];
      for (int d = 0; d < 3; d++) whole[d] = weak ? (global[d] - 2) * cut[d] + 2 : global[d];
      if (!cut_fits(whole, cut, rules)) continue;
      double cost = exchange_cost(whole, cut, rules->depth);
      if (least >= 0 && cost >= least) continue;
      least = cost;
      for (int d = 0; d < 3; d++) procs[d] = cut[d];
    }
  }
  if (least < 0)
    return log_fail(STATUS_USAGE,
                    "%" PRId64 "x%" PRId64 "x%" PRId64
                    " cannot be cut for %d rank%s: each needs at least %d point%s in "
                    "every dimension that is cut%s; use fewer ranks or a larger --size",
                    global[0], global[1], global[2], ranks, ranks == 1 ? "" : "s", rules->depth,
                    rules->depth > 1 ? "s" : "",
                    rules->whole_rows     ? ", and this kernel needs whole rows (k is not cut)"
                    : rules->whole_planes ? ", and this kernel needs whole planes (only i is cut)"
                                          : "");
  return STATUS_OK;
}

status_t decomp_check(int ranks, const int64_t global[3], const int procs[3],
                      const struct decomp_rules *rules)
{
  if ((int64_t)procs[0] * procs[1] * procs[2] != ranks)
    return log_fail(STATUS_USAGE, "--procs %dx%dx%d needs %" PRId64 " ranks, but there are %d", procs[0],
                    procs[1], procs[2], (int64_t)procs[0] * procs[1] * procs[2], ranks);
  for (int d = 0; d < 3; d++) {
    if (!dimension_fits(global[d], procs[d], rules->depth))
      return log_fail(
          STATUS_USAGE,
          "--procs %dx%dx%d cuts %c too thin: %" PRId64 " interior points over %d rank%s leave one with "
          "%" PRId64 ", but it needs %d",
          procs[0], procs[1], procs[2], dimension_name[d], global[d] - 2, procs[d], procs[d] == 1 ? "" : "s",
          thinnest(global[d], procs[d]), procs[d] > 1 ? rules->depth : 1);
    if (d > 0 && rules->whole_planes && procs[d] > 1)
      return log_fail(STATUS_USAGE,
                      "--procs %dx%dx%d cuts %c, but this kernel needs whole planes: cut only i", procs[0],
                      procs[1], procs[2], dimension_name[d]);
    if (d == 2 && rules->whole_rows && procs[d] > 1)
      return log_fail(STATUS_USAGE,
                      "--procs %dx%dx%d cuts %c, but this kernel needs whole rows: cut only i and j",
                      procs[0], procs[1], procs[2], dimension_name[d]);
  }
  return STATUS_OK;
}

status_t decomp_cut(int ranks, const int64_t extent[3], int weak, const struct decomp_rules *rules,
                    const int wanted[3], int procs[3], int64_t global[3])
{
  memcpy(procs, wanted, 3 * sizeof *procs);
  if (procs[0] == 0) RETURN_IF_FAILED(decomp_choose(ranks, extent, weak, rules, procs));
  for (int d = 0; d < 3; d++) {
    int64_t interior;
    if (__builtin_mul_overflow(extent[d] - 2, weak ? procs[d] : 1, &interior) || interior > INT64_MAX - 2)
      return log_fail(STATUS_USAGE, "--weak: the grid of all ranks is too large for 64-bit sizes");
    global[d] = interior + 2;
  }
  return decomp_check(ranks, global, procs, rules);
}

void decomp_init(struct decomp *decomp, const int64_t global[3], const int procs[3], int rank)
{
  int coord[3] = {rank / (procs[1] * procs[2]), rank / procs[2] % procs[1], rank % procs[2]};
  for (int d = 0; d < 3; d++) {
    int64_t points = global[d] - 2, each = points / procs[d], larger = points % procs[d], c = coord[d];
    decomp->procs[d] = procs[d];
    decomp->coord[d] = coord[d];
    decomp->global[d] = global[d];
    decomp->owned.lo[d] = 1 + c * each + (c < larger ? c : larger);
    decomp->owned.hi[d] = decomp->owned.lo[d] + each + (c < larger);
  }
}

int decomp_neighbour(const struct decomp *decomp, const int dir[3])
{
  struct decomp there = *decomp;
  for (int d = 0; d < 3; d++) {
    there.coord[d] += dir[d];
    if (there.coord[d] < 0 || there.coord[d] >= decomp->procs[d]) return -1;
  }
  return (there.coord[0] * there.procs[1] + there.coord[1]) * there.procs[2] + there.coord[2];
}

/* Computes the extents and boxes of dimension d. On each side, the array has \a depth halo layers
 * if there is a neighbour, or one fixed layer at the end of the grid. */
static void layout_dimension(struct layout *layout, const struct decomp *decomp, int depth, int d)
{
  int first = decomp->coord[d] == 0, last = decomp->coord[d] == decomp->procs[d] - 1;
  int64_t low = first ? 1 : depth, high = last ? 1 : depth;
  int64_t owned = box_extent(&decomp->owned, d);
  layout->global[d] = decomp->global[d];
  layout->origin[d] = decomp->owned.lo[d] - low;
  layout->extent[d] = low + owned + high;
  layout->owned.lo[d] = low;
  layout->owned.hi[d] = low + owned;
  layout->counted.lo[d] = low - first;
  layout->counted.hi[d] = low + owned + last;
  layout->interior.lo[d] = first;
  layout->interior.hi[d] = layout->extent[d] - last;
}

status_t layout_init(struct layout *layout, const struct decomp *decomp, int depth, int pad)
{
  int64_t floats;
  for (int d = 0; d < 3; d++) layout_dimension(layout, decomp, depth, d);
  layout->pitch = (layout->extent[2] + pad + ROW_FLOATS - 1) / ROW_FLOATS * ROW_FLOATS;
  if (__builtin_mul_overflow(layout->pitch, layout->extent[1], &layout->plane) ||
      __builtin_mul_overflow(layout->plane, layout->extent[0], &floats) || floats > INT64_MAX / 64)
    return log_fail(STATUS_USAGE,
                    "%" PRId64 "x%" PRId64 "x%" PRId64 " is too large: an array would exceed 64-bit sizes",
                    decomp->global[0], decomp->global[1], decomp->global[2]);
  return STATUS_OK;
}
