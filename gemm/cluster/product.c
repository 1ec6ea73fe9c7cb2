/* SPDX-License-Identifier: MIT */
#include "gemm/cluster/product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"

const char *const gemm_phase_names[GEMM_PHASES] = {"compute", HALO_PHASE_NAMES, "exposed"};

/* Number of multiprocessors that persistent kernels leave free in rings of more than two ranks.
 * These rings forward slices with kernels that set and await flags, and that need a multiprocessor.
 * In rings of two, `wgmma` is up to 3% faster on all 132 multiprocessors of an H100. */
#define SPARE 4

struct gemm_problem gemm_cluster_part(const struct gemm_cluster *c, int j, const int places[2])
{
  struct gemm_problem p = c->local;
  int64_t left = c->whole.k - j * c->grid.width;
  p.m = gemm_panels_slice(&c->grid, GEMM_A, places[0]).extent;
  p.n = gemm_panels_slice(&c->grid, GEMM_B, places[1]).extent;
  p.k = left < c->grid.width ? left : c->grid.width;
  p.ld[GEMM_A] = gemm_panels_ld(&c->local, &c->grid, GEMM_A);
  p.ld[GEMM_B] = gemm_panels_ld(&c->local, &c->grid, GEMM_B);
  if (j > 0) p.beta = 1;
  return p;
}

static int parts(const struct gemm_cluster *c)
{
  return c->grid.procs[0] * c->grid.procs[1];
}

/* Returns the address of the kernel for a part of C; the kernel is NULL if the part is empty. The
 * first panel's kernel applies beta, and the last panel's kernel may multiply fewer k. */
static struct gemm_exec **part_of(const struct gemm_cluster *c, int j, const int places[2])
{
  int last = c->grid.panels - 1, which = j == 0 ? 0 : j == last && c->whole.k % c->grid.width != 0 ? 2 : 1;
  return &c->part[which * parts(c) + places[0] * c->grid.procs[0] + places[1]];
}

static int steps_most(const struct gemm_cluster *c)
{
  int a = gemm_panels_steps(&c->side[0]), b = gemm_panels_steps(&c->side[1]);
  return a > b ? a : b;
}

static struct gemm_marks *marks_of(const struct gemm_cluster *c, int j, int step)
{
  return &c->marks[j * (steps_most(c) + 1) + step];
}

/* Returns queue \a q. Returns the first queue instead if blocks are persistent, because they would
 * occupy all multiprocessors, or if k is split, because the parts of k share one work space. */
static struct gpu_queue *product_queue(const struct gemm_cluster *c, int q)
{
  const struct gemm_blocks *blocks = &c->part[0]->blocks;
  return q == 0 || c->kernel.stays || blocks->stays || blocks->splits > 1 ? c->compute : c->second;
}

/* Starts the first step of panel j in both rings, after the product with panel j - 2: see
 * gemm/cluster/panels.h. */
static status_t broadcast_begin(struct gemm_cluster *c, int j)
{
  for (int q = 0; q < GEMM_QUEUES && j >= 2; q++)
    RETURN_IF_FAILED(gpu_wait(c->moving, marks_of(c, j - 2, steps_most(c))->at[q][GEMM_MARK_END]));
  RETURN_IF_FAILED(gpu_record(c->ready, c->moving));
  for (int s = 0; s < 2; s++)
    if (gemm_panels_steps(&c->side[s]))
      RETURN_IF_FAILED(gemm_panels_start(&c->side[s], c->panels_done + j, j, 0, c->ready));
  return STATUS_OK;
}

/* Forwards the slices received in the previous step. Later products wait for these slices. */
static status_t broadcast_go_on(struct gemm_cluster *c, int j, int step)
{
  for (int s = 0; s < 2; s++) {
    struct gpu_event *arrived;
    int steps = gemm_panels_steps(&c->side[s]);
    long panel = c->panels_done + j;
    if (step > steps) continue;
    RETURN_IF_FAILED(halo_route_finish(gemm_panels_route(&c->side[s], panel, step - 1), &arrived));
    if (step < steps) RETURN_IF_FAILED(gemm_panels_start(&c->side[s], panel, j, step, arrived));
    for (int q = 0; q < GEMM_QUEUES; q++) RETURN_IF_FAILED(gpu_wait(product_queue(c, q), arrived));
  }
  return STATUS_OK;
}

static void part_count(struct gemm_cluster *c, const struct gemm_exec *exec)
{
  struct gemm_counts *sum = &c->counts, one;
  if (!exec->kernel->ops->counts) return;
  exec->kernel->ops->counts(exec, &one);
  sum->instructions += one.instructions;
  sum->arithmetic += one.arithmetic;
  sum->flop += one.flop;
  sum->loop_iterations += one.loop_iterations;
  sum->estimate_seconds += one.estimate_seconds;
}

static status_t part_multiply(struct gemm_cluster *c, int j, const int steps[2], struct gpu_mem result)
{
  const int places[] = {gemm_panels_place(&c->side[0], steps[0]), gemm_panels_place(&c->side[1], steps[1])};
  struct gemm_exec *exec = *part_of(c, j, places);
  if (!exec) return STATUS_OK;
  int64_t row = gemm_panels_slice(&c->grid, GEMM_A, places[0]).begin,
          column = gemm_panels_slice(&c->grid, GEMM_B, places[1]).begin;
  size_t at = (size_t)(row * c->local.ld[GEMM_C] + column) * gemm_element_bytes(&c->local, GEMM_C);
  struct gemm_operands operands = {gemm_panels_operand(&c->side[0], c->panels_done + j, j, steps[0]),
                                   gemm_panels_operand(&c->side[1], c->panels_done + j, j, steps[1]), result};
  RETURN_IF_FAILED(gpu_part(c->device, result, at, gemm_bytes(&exec->problem, GEMM_C), &operands.c));
  int queue = (places[0] * c->grid.procs[0] + places[1]) % GEMM_QUEUES;
  status_t status = gemm_launch(exec, product_queue(c, queue), &operands);
  part_count(c, exec);
  gpu_part_end(c->device, &operands.c);
  return status;
}

/* After each step, multiplies each slice that arrived in it by all slices of the other matrix that
 * have arrived so far. */
static status_t product_multiply(struct gemm_cluster *c, int j, struct gpu_mem result)
{
  for (int step = 0; step <= steps_most(c); step++) {
    struct gemm_marks *mark = marks_of(c, j, step);
    if (step > 0) RETURN_IF_FAILED(broadcast_go_on(c, j, step));
    for (int q = 0; q < GEMM_QUEUES; q++)
      RETURN_IF_FAILED(gpu_record(mark->at[q][GEMM_MARK_BEGIN], product_queue(c, q)));
    for (int a = 0; a <= step && a <= gemm_panels_steps(&c->side[0]); a++)
      for (int b = 0; b <= step && b <= gemm_panels_steps(&c->side[1]); b++)
        if (a == step || b == step) RETURN_IF_FAILED(part_multiply(c, j, (const int[]){a, b}, result));
    for (int q = 0; q < GEMM_QUEUES; q++)
      RETURN_IF_FAILED(gpu_record(mark->at[q][GEMM_MARK_END], product_queue(c, q)));
  }
  return STATUS_OK;
}

/* Waits for the product and checks every route, because a device may have timed out in any of
 * them. */
static status_t product_is_done(struct gemm_cluster *c)
{
  struct gemm_marks *last = marks_of(c, c->grid.panels - 1, steps_most(c));
  for (int q = 1; q < GEMM_QUEUES; q++) RETURN_IF_FAILED(gpu_wait(c->compute, last->at[q][GEMM_MARK_END]));
  RETURN_IF_FAILED(gpu_record(c->end, c->compute));
  for (int s = 0; s < 2; s++)
    for (int r = 0; r < GEMM_PANEL_SETS * gemm_panels_steps(&c->side[s]); r++)
      RETURN_IF_FAILED(halo_route_await(c->side[s].route[r], c->end));
  return gpu_sync(c->compute);
}

/* Adds up the time in which at least one queue multiplies. Products are processed in order of their
 * start. Each adds only the time after the latest end of the products before it. */
static status_t product_marks_read(struct gemm_cluster *c)
{
  int n = c->grid.panels * (steps_most(c) + 1), next[GEMM_QUEUES] = {0};
  double begin[GEMM_QUEUES] = {-1, -1}, end, reached = 0;
  for (;;) {
    int first = -1;
    for (int q = 0; q < GEMM_QUEUES; q++) {
      if (next[q] == n) continue;
      if (begin[q] < 0)
        RETURN_IF_FAILED(gpu_elapsed(c->begin, c->marks[next[q]].at[q][GEMM_MARK_BEGIN], &begin[q]));
      if (first < 0 || begin[q] < begin[first]) first = q;
    }
    if (first < 0) return STATUS_OK;
    RETURN_IF_FAILED(gpu_elapsed(c->begin, c->marks[next[first]++].at[first][GEMM_MARK_END], &end));
    double compute = fmax(0, end - fmax(begin[first], reached));
    c->seconds[GEMM_PHASE_COMPUTE] += compute;
    c->seconds[GEMM_PHASE_EXPOSED] -= compute;
    reached = fmax(reached, end);
    begin[first] = -1;
  }
}

static status_t product_compute(struct gemm_cluster *c, struct gpu_mem result)
{
  double begin = stats_now();
  c->counts = (struct gemm_counts){0};
  RETURN_IF_FAILED(gpu_record(c->begin, c->compute));
  RETURN_IF_FAILED(gpu_wait(c->second, c->begin));
  RETURN_IF_FAILED(broadcast_begin(c, 0));
  for (int j = 0; j < c->grid.panels; j++) {
    if (j + 1 < c->grid.panels) RETURN_IF_FAILED(broadcast_begin(c, j + 1));
    RETURN_IF_FAILED(product_multiply(c, j, result));
  }
  RETURN_IF_FAILED(product_is_done(c));
  c->panels_done += c->grid.panels;
  c->products++;
  c->seconds[GEMM_PHASE_EXPOSED] += stats_now() - begin;
  return product_marks_read(c);
}

/* If this rank fails, the job is aborted: the other ranks are in the product and would wait for
 * it. */
static status_t product_block_launch(struct gemm_exec *exec, struct gpu_queue *queue,
                                     const struct gemm_operands *operands)
{
  struct gemm_cluster *c = exec->state;
  (void)queue;
  status_t status = product_compute(c, operands->c);
  if (status != STATUS_OK && c->grid.procs[0] * c->grid.procs[1] > 1) agree_abort(status);
  return status;
}

static void product_counts(const struct gemm_exec *exec, struct gemm_counts *counts)
{
  *counts = ((const struct gemm_cluster *)exec->state)->counts;
}

status_t gemm_cluster_phases(struct gemm_cluster *c, double phases[GEMM_PHASES])
{
  struct halo_times times = {.exchanges = 0};
  for (int s = 0; s < 2; s++)
    for (int r = 0; c->side[s].route && r < GEMM_PANEL_SETS * gemm_panels_steps(&c->side[s]); r++)
      RETURN_IF_FAILED(halo_route_times(c->side[s].route[r], &times));
  for (int p = 0; p < HALO_PHASES; p++) c->seconds[GEMM_PHASE_HALO + p] = times.seconds[p];
  for (int p = 0; p < GEMM_PHASES; p++) {
    phases[p] = c->products > 0 ? fmax(0, c->seconds[p]) / (double)c->products : 0;
    c->seconds[p] = 0;
  }
  c->products = 0;
  return STATUS_OK;
}

status_t gemm_cluster_check(struct gemm_cluster *c)
{
  for (int s = 0; s < 2; s++) RETURN_IF_FAILED(gemm_panels_check(&c->side[s], c->compute));
  return STATUS_OK;
}

static status_t marks_create(struct gemm_cluster *c)
{
  int n = c->grid.panels * (steps_most(c) + 1);
  c->marks = calloc((size_t)n, sizeof *c->marks);
  if (!c->marks)
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for %d panels; use a larger --panel",
                    c->grid.panels);
  for (int e = 0; e < n; e++)
    for (int q = 0; q < GEMM_QUEUES * GEMM_MARKS; q++)
      RETURN_IF_FAILED(gpu_event_create(c->device, &c->marks[e].at[q / GEMM_MARKS][q % GEMM_MARKS]));
  RETURN_IF_FAILED(gpu_event_create(c->device, &c->begin));
  RETURN_IF_FAILED(gpu_event_create_untimed(c->device, &c->ready));
  return gpu_event_create(c->device, &c->end);
}

static status_t parts_open(struct gemm_cluster *c, const struct gemm_kernel *kernel,
                           const struct gemm_blocks *wanted)
{
  struct gemm_blocks blocks = {0};
  if (wanted || kernel->n_blocks) blocks = wanted ? *wanted : kernel->blocks[0];
  const int sends_on = c->grid.procs[0] > 2 || c->grid.procs[1] > 2;
  if (sends_on && !c->device->info.is_cpu) blocks.spare = SPARE;
  c->part = calloc((size_t)(3 * parts(c)), sizeof(struct gemm_exec *));
  if (!c->part) return log_fail(STATUS_ENVIRONMENT, "out of host memory for %d parts of C", parts(c));
  for (int j = 0; j < c->grid.panels; j = j == 1 && c->grid.panels > 2 ? c->grid.panels - 1 : j + 1)
    for (int n = 0; n < parts(c); n++) {
      const int places[] = {n / c->grid.procs[0], n % c->grid.procs[0]};
      const struct gemm_problem problem = gemm_cluster_part(c, j, places);
      struct gemm_exec **part = part_of(c, j, places);
      if (*part || problem.m == 0 || problem.n == 0) continue;
      RETURN_IF_FAILED(gemm_exec_open(kernel, c->device, &problem, &blocks, part));
    }
  return STATUS_OK;
}

static status_t product_device_open(struct gemm_cluster *c, const struct gemm_kernel *kernel,
                                    const struct gemm_blocks *blocks, const void *const host[2])
{
  for (int s = 0; s < 2; s++)
    RETURN_IF_FAILED(gemm_panels_open(&c->side[s], c->comm, c->compute, &c->local, &c->grid,
                                      s ? GEMM_B : GEMM_A, host[s]));
  RETURN_IF_FAILED(gpu_queue_create(c->device, GPU_NORMAL, &c->second));
  RETURN_IF_FAILED(gpu_queue_create(c->device, GPU_URGENT, &c->moving));
  RETURN_IF_FAILED(marks_create(c));
  return parts_open(c, kernel, blocks);
}

status_t gemm_cluster_open(struct gemm_cluster *c, const struct gemm_kernel *kernel,
                           const struct gemm_blocks *blocks, const void *a, const void *b)
{
  const void *const host[] = {a, b};
  RETURN_IF_FAILED(agree_status(c->comm, product_device_open(c, kernel, blocks, host)));
  c->ops = (struct gemm_ops){.launch = product_block_launch,
                             .counts = kernel->ops->counts ? product_counts : NULL};
  c->kernel = *kernel;
  c->kernel.ops = &c->ops;
  c->exec = (struct gemm_exec){.kernel = &c->kernel,
                               .device = c->device,
                               .problem = c->local,
                               .blocks = c->part[0]->blocks,
                               .state = c};
  return STATUS_OK;
}

status_t gemm_cluster_link(struct gemm_cluster *c, const struct halo_transport *transport)
{
  c->transport = transport;
  for (int s = 0; s < 2; s++) RETURN_IF_FAILED(gemm_panels_link(&c->side[s], transport));
  return STATUS_OK;
}

void gemm_cluster_unlink(struct gemm_cluster *c)
{
  for (int s = 0; s < 2; s++) gemm_panels_unlink(&c->side[s]);
}

void gemm_cluster_close(struct gemm_cluster *c)
{
  gemm_cluster_unlink(c);
  for (int p = 0; c->part && p < 3 * parts(c); p++) gemm_exec_close(c->part[p]);
  free(c->part);
  for (int e = 0; c->marks && e < c->grid.panels * (steps_most(c) + 1); e++)
    for (int q = 0; q < GEMM_QUEUES * GEMM_MARKS; q++)
      gpu_event_destroy(c->marks[e].at[q / GEMM_MARKS][q % GEMM_MARKS]);
  free(c->marks);
  for (int s = 0; s < 2; s++) gemm_panels_close(&c->side[s]);
  gpu_event_destroy(c->begin);
  gpu_event_destroy(c->ready);
  gpu_event_destroy(c->end);
  gpu_queue_destroy(c->second);
  gpu_queue_destroy(c->moving);
}
