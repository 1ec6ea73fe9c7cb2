/* SPDX-License-Identifier: MIT */
#include "comm/halo/halo.h"

#include <inttypes.h>
#include <limits.h>

#include "base/log.h"

/* Floats in a cache line of a GPU. */
#define LINE_FLOATS 32

static int dir_number(const int dir[3], int sign)
{
  return (sign * dir[0] + 1) * 9 + (sign * dir[1] + 1) * 3 + (sign * dir[2] + 1);
}

/* One sweep reads only points that differ from the computed point in at most two indices. Several
 * sweeps read points in all 26 directions. */
int halo_dir_is_needed(const int dir[3], int depth)
{
  int differing = (dir[0] != 0) + (dir[1] != 0) + (dir[2] != 0);
  return differing > 0 && (depth > 1 || differing < 3);
}

static void message_boxes(struct halo_message *message, const struct box *owned, int depth)
{
  for (int d = 0; d < 3; d++) {
    message->send.lo[d] = message->dir[d] > 0 ? owned->hi[d] - depth : owned->lo[d];
    message->send.hi[d] = message->dir[d] < 0 ? owned->lo[d] + depth : owned->hi[d];
    message->recv.lo[d] = message->dir[d] < 0 ? owned->lo[d] - depth : owned->lo[d];
    message->recv.hi[d] = message->dir[d] > 0 ? owned->hi[d] + depth : owned->hi[d];
    if (message->dir[d] > 0) message->recv.lo[d] = owned->hi[d];
    if (message->dir[d] < 0) message->recv.hi[d] = owned->lo[d];
  }
  message->count = box_points(&message->send);
  message->recv_count = box_points(&message->recv);
}

static void plan_add(struct halo_plan *plan, const struct decomp *decomp, const struct layout *layout,
                     const int dir[3])
{
  int peer = decomp_neighbour(decomp, dir);
  if (peer < 0 || !halo_dir_is_needed(dir, plan->depth)) return;
  struct halo_message *message = &plan->messages[plan->n++];
  message->peer = peer;
  for (int d = 0; d < 3; d++) message->dir[d] = dir[d];
  message_boxes(message, &layout->owned, plan->depth);
  message->send_offset = plan->floats;
  message->recv_offset = plan->recv_floats;
  message->send_tag = dir_number(dir, 1);
  message->recv_tag = dir_number(dir, -1);
  plan->floats += message->count;
  plan->recv_floats += message->recv_count;
}

void halo_plan_init(struct halo_plan *plan, const struct decomp *decomp, const struct layout *layout,
                    int depth)
{
  plan->depth = depth;
  plan->n = 0;
  plan->floats = plan->recv_floats = 0;
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      for (int k = -1; k <= 1; k++) plan_add(plan, decomp, layout, (const int[3]){i, j, k});
}

void halo_plan_pair(struct halo_plan *plan, struct layout *layout, int rank, int64_t n, int one_way)
{
  const int64_t row = (n + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
  const int64_t out = one_way && rank != 0 ? 0 : n, in = one_way && rank == 0 ? 0 : n;
  *layout = (struct layout){
      .extent = {1, 1, 2 * row}, .pitch = 2 * row, .plane = 2 * row, .global = {1, 1, 2 * row}};
  layout->owned = (struct box){{0, 0, 0}, {1, 1, n}};
  *plan = (struct halo_plan){.depth = 1, .n = 1, .floats = out, .recv_floats = in};
  plan->messages[0] = (struct halo_message){.peer = 1 - rank,
                                            .dir = {rank == 0 ? 1 : -1, 0, 0},
                                            .send = {{0, 0, 0}, {1, 1, out}},
                                            .recv = {{0, 0, row}, {1, 1, row + in}},
                                            .count = out,
                                            .recv_count = in,
                                            .send_tag = rank,
                                            .recv_tag = 1 - rank};
}

status_t halo_plan_check(const struct halo_plan *plan)
{
  for (int m = 0; m < plan->n; m++) {
    const struct halo_message *message = &plan->messages[m];
    int64_t count = message->count > message->recv_count ? message->count : message->recv_count;
    if (count > INT_MAX)
      return log_fail(STATUS_USAGE,
                      "a halo of %" PRId64 " floats: one MPI message takes at most %d; use a smaller --size, "
                      "or more ranks without --weak",
                      count, INT_MAX);
  }
  return STATUS_OK;
}

static int has_neighbour(const struct halo_plan *plan, int d, int side)
{
  for (int m = 0; m < plan->n; m++)
    if (plan->messages[m].dir[d] == side) return 1;
  return 0;
}

static void cut_slab(struct halo_cut *cut, int d, int side, int depth)
{
  struct box *inner = &cut->inner;
  if (box_points(inner) == 0) return;
  struct box slab = *inner;
  if (side < 0) {
    slab.hi[d] = slab.lo[d] + depth < slab.hi[d] ? slab.lo[d] + depth : slab.hi[d];
    inner->lo[d] = slab.hi[d];
  } else {
    slab.lo[d] = slab.hi[d] - depth > slab.lo[d] ? slab.hi[d] - depth : slab.lo[d];
    inner->hi[d] = slab.lo[d];
  }
  cut->boundary[cut->n++] = slab;
}

void halo_cut_init(struct halo_cut *cut, const struct halo_plan *plan, const struct layout *layout, int rows)
{
  const int slabs = has_neighbour(plan, 1, -1) + has_neighbour(plan, 1, 1);
  const int fits = box_extent(&layout->owned, 1) >= (int64_t)(slabs + 1) * rows;
  const int along_j = rows > plan->depth && fits ? rows : plan->depth;
  cut->n = 0;
  cut->inner = layout->owned;
  for (int d = 0; d < 3; d++)
    for (int side = -1; side <= 1; side += 2)
      if (has_neighbour(plan, d, side)) cut_slab(cut, d, side, d == 1 ? along_j : plan->depth);
}

const char *halo_dir_name(const int dir[3], char text[8])
{
  char *end = text;
  for (int d = 0; d < 3; d++) {
    if (dir[d] == 0) continue;
    *end++ = "ijk"[d];
    *end++ = dir[d] < 0 ? '-' : '+';
  }
  *end = '\0';
  return text;
}
