/* SPDX-License-Identifier: MIT */
#include "tools/predict/geometry.h"

#include <math.h>
#include <string.h>

#include "comm/halo/halo.h"
#include "himeno/problem.h"

/* A rank's part of the grid, and the messages that it sends. */
struct geometry_part {
  struct decomp decomp;
  struct layout layout;
  struct halo_plan plan;
};

static status_t part_make(const struct geometry *all, int rank, struct geometry_part *part)
{
  decomp_init(&part->decomp, all->global, all->procs, rank);
  RETURN_IF_FAILED(layout_init(&part->layout, &part->decomp, all->depth, 0));
  halo_plan_init(&part->plan, &part->decomp, &part->layout, all->depth);
  return STATUS_OK;
}

static void messages_count(const struct halo_plan *plan, int rank, int per_host,
                           double messages[STUDY_WHERES], double bytes[STUDY_WHERES])
{
  for (int m = 0; m < plan->n; m++) {
    const struct halo_message *message = &plan->messages[m];
    const int where = message->peer / per_host == rank / per_host ? STUDY_SAME_HOST : STUDY_OTHER_HOST;
    messages[where]++;
    bytes[where] += (double)message->count * (double)sizeof(float);
  }
}

/* Returns the bytes that all ranks together send in one direction. In dimensions with dir[d] = 0,
 * the ranks' extents add up to the grid's extent, regardless of the cut. */
static double direction_bytes(const struct geometry *all, const int dir[3])
{
  double points = 1;
  if (!halo_dir_is_needed(dir, all->depth)) return 0;
  for (int d = 0; d < 3; d++)
    points *= dir[d] == 0 ? (double)(all->global[d] - 2) : (double)all->depth * (all->procs[d] - 1);
  return points * (double)sizeof(float);
}

static double grid_bytes(const struct geometry *all)
{
  double bytes = 0;
  for (int n = 0; n < 27; n++)
    bytes += direction_bytes(all, (const int[3]){n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1});
  return bytes;
}

/* Sets g->host_bytes, the bytes that all ranks of the rank's host send within it. A single host may
 * have thousands of ranks in a prediction, so its sum is computed without a loop over them. */
static status_t host_bytes_set(int rank, int per_host, struct geometry *g)
{
  const int first = rank / per_host * per_host;
  double messages[STUDY_WHERES] = {0}, bytes[STUDY_WHERES] = {0};
  struct geometry_part part;
  if (g->hosts == 1) {
    g->host_bytes = grid_bytes(g);
    return STATUS_OK;
  }
  for (int r = first; r < first + per_host && r < g->ranks; r++) {
    RETURN_IF_FAILED(part_make(g, r, &part));
    messages_count(&part.plan, r, per_host, messages, bytes);
  }
  g->host_bytes = bytes[STUDY_SAME_HOST];
  return STATUS_OK;
}

/* Counts the slabs and their points. \a cut lists the slabs by dimension, then by side, and only
 * for sides that have a neighbour. */
static void slabs_count(const struct halo_cut *cut, const struct decomp *decomp, struct geometry *g)
{
  int next = 0;
  for (int d = 0; d < 3; d++)
    for (int side = -1; side <= 1; side += 2) {
      int dir[3] = {0, 0, 0};
      dir[d] = side;
      if (decomp_neighbour(decomp, dir) < 0 || next >= cut->n) continue;
      g->slab_points[d] += (double)box_points(&cut->boundary[next++]);
    }
  g->slabs = next;
}

static status_t rank_geometry(const struct geometry *all, int rank, int per_host, struct geometry *g)
{
  struct geometry_part part;
  struct halo_cut cut;
  *g = *all;
  RETURN_IF_FAILED(part_make(all, rank, &part));
  halo_cut_init(&cut, &part.plan, &part.layout, 0);
  g->points = (double)box_points(&part.decomp.owned);
  g->neighbours = part.plan.n;
  messages_count(&part.plan, rank, per_host, g->messages, g->bytes);
  const struct box *inner = all->overlap ? &cut.inner : &part.decomp.owned;
  g->inner = (double)box_points(inner);
  g->row = (double)box_extent(inner, 2);
  if (all->overlap) slabs_count(&cut, &part.decomp, g);
  return STATUS_OK;
}

static int is_busier(const struct geometry *a, const struct geometry *b)
{
  if (a->messages[STUDY_OTHER_HOST] != b->messages[STUDY_OTHER_HOST])
    return a->messages[STUDY_OTHER_HOST] > b->messages[STUDY_OTHER_HOST];
  if (a->neighbours != b->neighbours) return a->neighbours > b->neighbours;
  return a->points > b->points;
}

static status_t other_rank(const struct geometry *of, int rank, int per_host, struct geometry *geometry);

static status_t grid_geometry(const int64_t global[3], const int procs[3], int depth, int overlap,
                              int per_host, struct geometry *geometry)
{
  struct geometry all = {.ranks = procs[0] * procs[1] * procs[2],
                         .depth = depth,
                         .overlap = overlap,
                         .launches = 1,
                         .rounds = 1,
                         .of_rank = other_rank};
  const struct decomp_rules rules = {.depth = depth, .whole_planes = 0};
  memcpy(all.global, global, sizeof all.global);
  memcpy(all.procs, procs, sizeof all.procs);
  RETURN_IF_FAILED(decomp_check(all.ranks, global, procs, &rules));
  all.hosts = (all.ranks + per_host - 1) / per_host;
  all.all_points = himeno_points(global);
  *geometry = all;
  return STATUS_OK;
}

static status_t other_rank(const struct geometry *of, int rank, int per_host, struct geometry *geometry)
{
  struct geometry all;
  RETURN_IF_FAILED(grid_geometry(of->global, of->procs, of->depth, of->overlap > 0, per_host, &all));
  all.sharers = of->sharers;
  RETURN_IF_FAILED(rank_geometry(&all, rank, per_host, geometry));
  return host_bytes_set(rank, per_host, geometry);
}

status_t geometry_make(const int64_t global[3], const int procs[3], int depth, int overlap, int per_host,
                       struct geometry *geometry)
{
  struct geometry all, best, one;
  int busiest = 0;
  RETURN_IF_FAILED(grid_geometry(global, procs, depth, overlap, per_host, &all));
  RETURN_IF_FAILED(rank_geometry(&all, 0, per_host, &best));
  for (int r = 1; r < all.ranks; r++) {
    RETURN_IF_FAILED(rank_geometry(&all, r, per_host, &one));
    if (is_busier(&one, &best)) best = one, busiest = r;
  }
  *geometry = best;
  return host_bytes_set(busiest, per_host, geometry);
}
