/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gemm/cluster/product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"

const char *const gemm_phase_names[GEMM_PHASES] = {"compute", HALO_PHASE_NAMES, "exposed"};

/* ---- parts ---- */

struct gemm_problem gemm_cluster_part(const struct gemm_cluster *c, int j)
{
  struct gemm_problem p = c->local;
  int64_t left = c->whole.k - j * c->grid.width;
  p.k = left < c->grid.width ? left : c->grid.width;
  p.ld[GEMM_A] = gemm_panels_ld(&c->local, &c->grid, GEMM_A);
  p.ld[GEMM_B] = gemm_panels_ld(&c->local, &c->grid, GEMM_B);
  if (j > 0) p.beta = 1;
  return p;
}

/* The first panel brings beta, the last may be shorter. */
static int part_of(const struct gemm_cluster *c, int j)
{
  int last = c->grid.panels - 1;
  return j == 0 ? 0 : j == last && c->whole.k % c->grid.width != 0 ? 2 : 1;
}

uint64_t gemm_cluster_bytes(const struct gemm_cluster *c)
{
  return gemm_panels_bytes(&c->local, &c->grid, GEMM_A) + gemm_panels_bytes(&c->local, &c->grid, GEMM_B);
}

/* ---- one product ---- */

/* Own slices of panel j, and the first step of both rings: after the product that read the field
 * four panels ago, and so after this rank has seen its neighbours begin two panels ago. */
static status_t broadcast_begin(struct gemm_cluster *c, int j)
{
  struct gpu_event **mark = c->marks[j];
  long turn = c->turn + j;
  if (j >= 2) RETURN_IF_FAILED(gpu_wait(c->moving, c->marks[j - 2][GEMM_MARK_END]));
  RETURN_IF_FAILED(gpu_record(mark[GEMM_MARK_PUT], c->moving));
  for (int s = 0; s < 2; s++)
    if (gemm_panels_steps(&c->side[s])) RETURN_IF_FAILED(gemm_panels_put(&c->side[s], c->moving, turn, j));
  RETURN_IF_FAILED(gpu_record(mark[GEMM_MARK_READY], c->moving));
  for (int s = 0; s < 2; s++)
    if (gemm_panels_steps(&c->side[s]))
      RETURN_IF_FAILED(gemm_panels_start(&c->side[s], turn, 0, mark[GEMM_MARK_READY]));
  return STATUS_OK;
}

/* What came in a step goes on in the next. Later products find the panel whole. */
static status_t broadcast_end(struct gemm_cluster *c, int j)
{
  int steps[] = {gemm_panels_steps(&c->side[0]), gemm_panels_steps(&c->side[1])};
  int most = steps[0] > steps[1] ? steps[0] : steps[1];
  long turn = c->turn + j;
  for (int step = 0; step < most; step++)
    for (int s = 0; s < 2; s++) {
      struct gpu_event *arrived;
      if (step >= steps[s]) continue;
      RETURN_IF_FAILED(halo_route_finish(gemm_panels_route(&c->side[s], turn, step), &arrived));
      if (step + 1 < steps[s])
        RETURN_IF_FAILED(gemm_panels_start(&c->side[s], turn, step + 1, arrived));
      else
        RETURN_IF_FAILED(gpu_wait(c->compute, arrived));
    }
  return STATUS_OK;
}

static status_t multiply(struct gemm_cluster *c, int j, struct gpu_mem result)
{
  long turn = c->turn + j;
  const struct gemm_operands operands = {gemm_panels_operand(&c->side[0], turn, j),
                                         gemm_panels_operand(&c->side[1], turn, j), result};
  RETURN_IF_FAILED(gpu_record(c->marks[j][GEMM_MARK_BEGIN], c->compute));
  RETURN_IF_FAILED(gemm_launch(c->part[part_of(c, j)], c->compute, &operands));
  return gpu_record(c->marks[j][GEMM_MARK_END], c->compute);
}

/* Of every route: a device may have given up waiting in any of them. The marks are of both
 * queues. */
static status_t finished(struct gemm_cluster *c)
{
  RETURN_IF_FAILED(gpu_record(c->end, c->compute));
  for (int s = 0; s < 2; s++)
    for (int r = 0; r < GEMM_PANEL_SETS * gemm_panels_steps(&c->side[s]); r++)
      RETURN_IF_FAILED(halo_route_await(c->side[s].route[r], c->end));
  RETURN_IF_FAILED(gpu_sync(c->compute));
  return gpu_sync(c->moving);
}

static status_t marks_read(struct gemm_cluster *c)
{
  for (int j = 0; j < c->grid.panels; j++) {
    double pack, compute;
    struct gpu_event **mark = c->marks[j];
    RETURN_IF_FAILED(gpu_elapsed(mark[GEMM_MARK_PUT], mark[GEMM_MARK_READY], &pack));
    RETURN_IF_FAILED(gpu_elapsed(mark[GEMM_MARK_BEGIN], mark[GEMM_MARK_END], &compute));
    c->seconds[GEMM_PHASE_HALO + HALO_PACK] += pack;
    c->seconds[GEMM_PHASE_COMPUTE] += compute;
    c->seconds[GEMM_PHASE_EXPOSED] -= compute;
  }
  return STATUS_OK;
}

static status_t product(struct gemm_cluster *c, struct gpu_mem result)
{
  double begin = stats_now();
  RETURN_IF_FAILED(broadcast_begin(c, 0));
  RETURN_IF_FAILED(broadcast_end(c, 0));
  for (int j = 0; j < c->grid.panels; j++) {
    int more = j + 1 < c->grid.panels;
    if (more) RETURN_IF_FAILED(broadcast_begin(c, j + 1));
    RETURN_IF_FAILED(multiply(c, j, result));
    if (more) RETURN_IF_FAILED(broadcast_end(c, j + 1));
  }
  RETURN_IF_FAILED(finished(c));
  c->turn += c->grid.panels;
  c->products++;
  c->seconds[GEMM_PHASE_EXPOSED] += stats_now() - begin;
  return marks_read(c);
}

/* The other ranks are in the product and cannot know that this one is not. */
static status_t launch(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *operands)
{
  struct gemm_cluster *c = exec->state;
  (void)queue;
  status_t status = product(c, operands->c);
  if (status != STATUS_OK && c->grid.procs[0] * c->grid.procs[1] > 1) agree_abort(c->comm, status);
  return status;
}

status_t gemm_cluster_phases(struct gemm_cluster *c, double phases[GEMM_PHASES])
{
  struct halo_times times = {.exchanges = 0};
  for (int s = 0; s < 2; s++)
    for (int r = 0; c->side[s].route && r < GEMM_PANEL_SETS * gemm_panels_steps(&c->side[s]); r++)
      RETURN_IF_FAILED(halo_route_times(c->side[s].route[r], &times));
  for (int p = 0; p < GEMM_PHASES; p++) {
    int halo = p - GEMM_PHASE_HALO;
    double all = c->seconds[p] + (halo >= 0 && halo < HALO_PHASES ? times.seconds[halo] : 0);
    phases[p] = c->products > 0 ? fmax(0, all) / (double)c->products : 0;
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

/* ---- open and close ---- */

static status_t marks_create(struct gemm_cluster *c)
{
  c->marks = calloc((size_t)c->grid.panels, sizeof *c->marks);
  if (!c->marks)
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for events of %d panels", c->grid.panels);
  for (int j = 0; j < c->grid.panels; j++)
    for (int m = 0; m < GEMM_MARKS; m++) RETURN_IF_FAILED(gpu_event_create(c->device, &c->marks[j][m]));
  return gpu_event_create(c->device, &c->end);
}

static status_t parts_open(struct gemm_cluster *c, const struct gemm_kernel *kernel,
                           const struct gemm_blocks *blocks)
{
  for (int j = 0; j < c->grid.panels; j = j == 1 && c->grid.panels > 2 ? c->grid.panels - 1 : j + 1) {
    const struct gemm_problem problem = gemm_cluster_part(c, j);
    if (!c->part[part_of(c, j)])
      RETURN_IF_FAILED(gemm_exec_open(kernel, c->device, &problem, blocks, &c->part[part_of(c, j)]));
  }
  return STATUS_OK;
}

/* This rank's alone. */
static status_t device_open(struct gemm_cluster *c, const struct gemm_kernel *kernel,
                            const struct gemm_blocks *blocks, const void *const host[2])
{
  RETURN_IF_FAILED(gpu_queue_create(c->device, GPU_URGENT, &c->moving));
  RETURN_IF_FAILED(marks_create(c));
  for (int s = 0; s < 2; s++)
    RETURN_IF_FAILED(gemm_panels_open(&c->side[s], c->comm, c->compute, &c->local, &c->grid,
                                      s ? GEMM_B : GEMM_A, host[s]));
  return parts_open(c, kernel, blocks);
}

status_t gemm_cluster_open(struct gemm_cluster *c, const struct gemm_kernel *kernel,
                           const struct gemm_blocks *blocks, const void *a, const void *b)
{
  const void *const host[] = {a, b};
  RETURN_IF_FAILED(agree_status(c->comm, device_open(c, kernel, blocks, host)));
  c->ops = (struct gemm_ops){.launch = launch};
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
  for (int p = 0; p < 3; p++) gemm_exec_close(c->part[p]);
  for (int s = 0; s < 2; s++) gemm_panels_close(&c->side[s]);
  for (int j = 0; c->marks && j < c->grid.panels; j++)
    for (int m = 0; m < GEMM_MARKS; m++) gpu_event_destroy(c->marks[j][m]);
  free(c->marks);
  gpu_event_destroy(c->end);
  gpu_queue_destroy(c->moving);
}
