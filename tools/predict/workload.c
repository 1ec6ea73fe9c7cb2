/* SPDX-License-Identifier: MIT */
#include "tools/predict/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "comm/halo/decomp.h"
#include "gemm/cluster/grid.h"
#include "himeno/problem.h"

static const int alone[3] = {1, 1, 1};

static status_t sweeps_cut(const int asked[3], struct study_run *run)
{
  const struct decomp_rules rules = {.depth = run->depth};
  int64_t size[3];
  memcpy(size, run->global, sizeof size);
  return decomp_cut(run->ranks, size, run->weak, &rules, run->ranks == 1 ? alone : asked, run->procs,
                    run->global);
}

static status_t sweeps_geometry(const struct study_run *run, int per_host, struct geometry *geometry)
{
  return geometry_make(run->global, run->procs, run->depth, run->overlap, per_host, geometry);
}

static status_t product_size_parse(const char *option, const char *text, void *field)
{
  struct grid_size size = {.name = ""};
  RETURN_IF_FAILED(gemm_size_parse(option, text, size.extent));
  const int cube = size.extent[0] == size.extent[1] && size.extent[1] == size.extent[2];
  snprintf(size.name, sizeof size.name, "%.*s", cube ? (int)strcspn(text, "x") : 63, text);
  *(struct grid_size *)field = size;
  return STATUS_OK;
}

static struct gemm_problem problem_of(const int64_t global[3], const struct study_product *product)
{
  return (struct gemm_problem){
      .type = (enum gemm_type)product->type, .m = global[0], .n = global[1], .k = global[2]};
}

static int64_t width_of(const struct gemm_problem *problem, const struct study_product *product)
{
  return gemm_grid_width(problem, product->panel, product->on_cpu);
}

static status_t products_cut(const int asked[3], struct study_run *run)
{
  const struct gemm_problem problem = problem_of(run->global, &run->product);
  RETURN_IF_FAILED(gemm_grid_choose(&problem, run->weak, run->ranks, run->ranks == 1 ? alone : asked,
                                    width_of(&problem, &run->product), run->procs));
  for (int d = 0; d < 2 && run->weak; d++) {
    if (run->global[d] > GEMM_EXTENT_MAX / run->procs[d])
      return log_fail(STATUS_USAGE, "C of all %dx%d ranks is too large for 64-bit sizes", run->procs[0],
                      run->procs[1]);
    run->global[d] *= run->procs[d];
  }
  run->procs[2] = 0;
  return STATUS_OK;
}

/* Returns the bytes that a rank sends of A (side 0, along a row of ranks) or of B (side 1, along a
 * column): one slice per step of each panel. \a across is the number of its rows of A or columns of
 * B. */
static double ring_bytes(const struct geometry *all, const struct gemm_grid *grid, int side, double across)
{
  const int ring = all->procs[1 - side];
  const double slice = ceil(across / ring) * (double)gemm_types[all->product.type].operand_bytes;
  return grid->panels * (ring - 1.0) * (double)grid->width * slice;
}

static void product_rank(const struct geometry *all, int rank, int per_host, struct geometry *g)
{
  const struct gemm_problem problem = problem_of(all->global, &all->product);
  struct gemm_grid grid;
  *g = *all;
  gemm_grid_init(&grid, &problem, all->procs, rank, width_of(&problem, &all->product));
  g->points = g->inner = (double)grid.m.extent * (double)grid.n.extent * (double)problem.k;
  g->part[0] = ceil((double)grid.m.extent / all->procs[1]);
  g->part[1] = ceil((double)grid.n.extent / all->procs[0]);
  g->part[2] = (double)problem.k / grid.panels;
  g->host_bytes = 0;
  memset(g->messages, 0, sizeof g->messages);
  memset(g->bytes, 0, sizeof g->bytes);
  for (int side = 0; side < 2; side++) {
    const int ring = all->procs[1 - side], place = grid.at[1 - side], step = side ? all->procs[1] : 1,
              next = rank + ((place + 1) % ring - place) * step,
              where = next / per_host == rank / per_host ? STUDY_SAME_HOST : STUDY_OTHER_HOST;
    g->messages[where] += grid.panels * (ring - 1.0);
    g->bytes[where] += ring_bytes(all, &grid, side, (double)(side ? grid.n.extent : grid.m.extent));
    /* the ranks' blocks add up to the extent of C, unless ranks outnumber its rows or columns */
    g->host_bytes += ring_bytes(all, &grid, side, fmax((double)all->global[side], all->procs[side])) * ring;
  }
  g->neighbours = (int)(g->messages[0] + g->messages[1]);
  g->slabs = g->neighbours > 0;
}

static status_t product_of_rank(const struct geometry *all, int rank, int per_host, struct geometry *g)
{
  const int first = rank / per_host * per_host;
  struct geometry one;
  product_rank(all, rank, per_host, g);
  if (g->hosts == 1) return STATUS_OK;
  g->host_bytes = 0;
  for (int r = first; r < first + per_host && r < all->ranks; r++) {
    product_rank(all, r, per_host, &one);
    g->host_bytes += one.bytes[STUDY_SAME_HOST];
  }
  return STATUS_OK;
}

/* Sets the geometry of the last rank, whose block of C is one of the largest: blocks that are a row
 * or column longer are spread evenly, and the last block is one of them if there are any. */
static status_t products_geometry(const struct study_run *run, int per_host, struct geometry *geometry)
{
  const struct gemm_problem problem = problem_of(run->global, &run->product);
  struct gemm_grid grid;
  gemm_grid_init(&grid, &problem, run->procs, 0, width_of(&problem, &run->product));
  const struct geometry all = {.ranks = run->ranks,
                               .hosts = (run->ranks + per_host - 1) / per_host,
                               .depth = 1,
                               .overlap = 1 - 1.0 / grid.panels,
                               .launches = (double)grid.panels * run->procs[0] * run->procs[1],
                               .rounds = (double)grid.panels * geometry_ring_steps(run->procs),
                               .product = run->product,
                               .of_rank = product_of_rank,
                               .global = {problem.m, problem.n, problem.k},
                               .procs = {run->procs[0], run->procs[1], 0},
                               .all_points = (double)problem.m * (double)problem.n * (double)problem.k,
                               .row = 1};
  return product_of_rank(&all, run->ranks - 1, per_host, geometry);
}

struct study_product workload_product(const struct study *study)
{
  struct study_product widest = {.type = 0};
  /* whether every run used gemm-gpu's default panels: [0] those for GPUs, [1] those for CPUs */
  int chosen[2] = {1, 1};
  for (int r = 0; r < study->n && study->program == STUDY_GEMM; r++) {
    const struct study_run *run = &study->runs[r];
    const struct gemm_problem problem = problem_of(run->global, &run->product);
    if (run->product.panel > widest.panel) widest = run->product;
    for (int cpu = 0; cpu < 2; cpu++) chosen[cpu] &= run->product.panel == gemm_grid_width(&problem, 0, cpu);
  }
  widest.on_cpu = !chosen[0];
  if (chosen[0] || chosen[1]) widest.panel = 0;
  return widest;
}

const struct workload workloads[STUDY_PROGRAMS] = {
    [STUDY_HIMENO] = {.command = "himeno-gpu",
                      .work = "sweep",
                      .point = "point",
                      .extents = {"imax", "jmax", "kmax"},
                      .dimensions = 3,
                      .formula = {"interior + exchange + reduction", "max(interior, exchange) + reduction"},
                      .flop = HIMENO_FLOP_PER_POINT,
                      .host_guess = 0.165,
                      .host_width = 1.2,
                      .regimes = 1,
                      .slabs_first = 1,
                      .size_parse = grid_size_parse,
                      .cut = sweeps_cut,
                      .geometry = sweeps_geometry},
    [STUDY_GEMM] = {.command = "gemm-gpu --distributed",
                    .work = "product",
                    .point = "multiply-add",
                    .extents = {"m", "n", "k"},
                    .dimensions = 2,
                    .formula = {"interior + exchange + reduction",
                                "interior + exchange that does not overlap + reduction"},
                    .flop = 2,
                    .host_guess = 0.02,
                    .host_width = 2.5,
                    .hinders = 1,
                    .size_parse = product_size_parse,
                    .cut = products_cut,
                    .geometry = products_geometry},
};
