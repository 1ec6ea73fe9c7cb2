/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gemm/cluster/panels.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "comm/ranks/agree.h"

/* Rows begin on lines, and slices of rows where a device stores 16 bytes at once. */
#define LINE_BYTES  128
#define STORE_BYTES 16
/* By 27 directions of messages: to the right and to the left of a ring of A, and of B. */
#define TAG_AHEAD  1
#define TAG_BEHIND 2

static int64_t up(int64_t value, int64_t step)
{
  return (value + step - 1) / step * step;
}

/* ---- shape ---- */

/* K runs along the stored rows of A, and of a transposed B. */
static int is_by_rows(const struct gemm_problem *p, enum gemm_matrix matrix)
{
  return matrix == GEMM_A ? p->trans_a : !p->trans_b;
}

static void shape_init(struct gemm_panels *p)
{
  int64_t bytes = (int64_t)gemm_element_bytes(&p->local, p->matrix);
  int64_t across = p->matrix == GEMM_A ? p->grid.m.extent : p->grid.n.extent;
  p->ring = p->grid.procs[p->matrix == GEMM_A];
  p->by_rows = is_by_rows(&p->local, p->matrix);
  p->slice = up((p->grid.width + p->ring - 1) / p->ring, p->by_rows ? 1 : STORE_BYTES / bytes);
  int64_t all = p->slice * p->ring, rows = p->by_rows ? all : across, columns = p->by_rows ? across : all;
  int64_t pitch = up(columns * bytes, LINE_BYTES) / (int64_t)sizeof(float);
  p->ld = pitch * (int64_t)sizeof(float) / bytes;
  p->layout = (struct layout){.extent = {1, rows, pitch},
                              .pitch = pitch,
                              .plane = rows * pitch,
                              .global = {1, rows, pitch},
                              .owned = {{0, 0, 0}, {1, rows, pitch}}};
}

static struct box slice_box(const struct gemm_panels *p, int s)
{
  const struct layout *l = &p->layout;
  int64_t bytes = (int64_t)gemm_element_bytes(&p->local, p->matrix);
  int64_t floats = p->slice * bytes / (int64_t)sizeof(float);
  if (p->by_rows) return (struct box){{0, s * p->slice, 0}, {1, (s + 1) * p->slice, l->pitch}};
  return (struct box){{0, 0, s * floats}, {1, l->extent[1], (s + 1) * floats}};
}

/* Of a ring of one the panel itself, rows apart by its pitch. */
static struct box own_box(const struct gemm_panels *p)
{
  return p->ring > 1 ? slice_box(p, p->place) : p->layout.owned;
}

size_t gemm_panels_slice_bytes(const struct gemm_panels *p)
{
  struct box box = own_box(p);
  return (size_t)box_points(&box) * sizeof(float);
}

static size_t field_bytes(const struct gemm_panels *p)
{
  return (size_t)layout_floats(&p->layout) * sizeof(float);
}

uint64_t gemm_panels_bytes(const struct gemm_problem *local, const struct gemm_grid *grid,
                           enum gemm_matrix matrix)
{
  struct gemm_panels p = {.matrix = matrix, .grid = *grid, .local = *local};
  shape_init(&p);
  return gemm_panels_slice_bytes(&p) * (uint64_t)grid->panels +
         (p.ring > 1 ? GEMM_PANEL_FIELDS * field_bytes(&p) : 0);
}

int64_t gemm_panels_ld(const struct gemm_problem *local, const struct gemm_grid *grid,
                       enum gemm_matrix matrix)
{
  struct gemm_panels p = {.matrix = matrix, .grid = *grid, .local = *local};
  shape_init(&p);
  return p.ld;
}

/* ---- own slices ---- */

/* Packed as the device gets it; what lies beyond K or beside the block is zero. */
static void slice_fill(const struct gemm_panels *p, int j, char *to)
{
  struct box box = own_box(p);
  size_t bytes = gemm_element_bytes(&p->local, p->matrix), row = (size_t)box_extent(&box, 2) * sizeof(float);
  int64_t first = j * p->grid.width + (p->ring > 1 ? p->place * p->slice : 0);
  int64_t end = (j + 1) * p->grid.width < p->local.k ? (j + 1) * p->grid.width : p->local.k;
  int64_t some = end - first < p->slice ? end - first : p->slice;
  int64_t rows = p->by_rows ? some : box_extent(&box, 1);
  int64_t columns = p->by_rows ? gemm_columns(&p->local, p->matrix) : some;
  memset(to, 0, gemm_panels_slice_bytes(p));
  for (int64_t r = 0; r < rows && columns > 0; r++) {
    int64_t at = p->by_rows ? (first + r) * p->local.ld[p->matrix] : r * p->local.ld[p->matrix] + first;
    memcpy(to + (size_t)r * row, (const char *)p->host + (size_t)at * bytes, (size_t)columns * bytes);
  }
}

static status_t slices_copy(struct gemm_panels *p, char *buffer)
{
  for (int j = 0; j < p->grid.panels; j++) {
    slice_fill(p, j, buffer);
    RETURN_IF_FAILED(gpu_alloc(p->device, gemm_panels_slice_bytes(p), &p->own[j]));
    RETURN_IF_FAILED(gpu_copy_in(p->compute, p->own[j], 0, buffer, gemm_panels_slice_bytes(p)));
    RETURN_IF_FAILED(gpu_sync(p->compute));
  }
  return STATUS_OK;
}

static status_t packing_open(struct gemm_panels *p)
{
  struct box box = own_box(p);
  struct halo_plan plan = {.depth = 1, .n = 1, .floats = box_points(&box), .recv_floats = box_points(&box)};
  plan.messages[0] = (struct halo_message){
      .dir = {0, 1, 0}, .send = box, .recv = box, .count = box_points(&box), .recv_count = box_points(&box)};
  p->packer = halo_packer_find(p->device->backend->name);
  if (!p->packer)
    return log_fail(STATUS_ENVIRONMENT, "--distributed: backend %s has no packer of panels",
                    p->device->backend->name);
  return p->packer->open(p->device, &p->layout, &plan, &p->packing);
}

status_t gemm_panels_open(struct gemm_panels *panels, MPI_Comm comm, struct gpu_queue *compute,
                          const struct gemm_problem *local, const struct gemm_grid *grid,
                          enum gemm_matrix matrix, const void *host)
{
  struct gemm_panels *p = panels;
  *p = (struct gemm_panels){.comm = comm,
                            .device = compute->device,
                            .compute = compute,
                            .matrix = matrix,
                            .grid = *grid,
                            .local = *local,
                            .host = host};
  shape_init(p);
  int along = matrix == GEMM_A, stride = along ? 1 : grid->procs[1];
  p->place = grid->at[along];
  int first = grid->at[0] * grid->procs[1] + grid->at[1] - p->place * stride;
  p->peers[0] = first + (p->place + 1) % p->ring * stride;
  p->peers[1] = first + (p->place + p->ring - 1) % p->ring * stride;
  char *buffer = malloc(gemm_panels_slice_bytes(p));
  p->own = calloc((size_t)grid->panels, sizeof *p->own);
  status_t status = STATUS_OK;
  if (!buffer || !p->own)
    TRY(log_fail(STATUS_ENVIRONMENT, "out of host memory for slices of %s",
                 report_bytes(gemm_panels_slice_bytes(p))),
        done);
  TRY(slices_copy(p, buffer), done);
  if (p->ring > 1) status = packing_open(p);
done:
  free(buffer);
  return status;
}

void gemm_panels_close(struct gemm_panels *p)
{
  for (int j = 0; p->own && j < p->grid.panels; j++) gpu_free(p->device, &p->own[j]);
  free(p->own);
  if (p->packing) p->packer->close(p->packing);
  *p = (struct gemm_panels){.ring = 0};
}

status_t gemm_panels_check(struct gemm_panels *p, struct gpu_queue *queue)
{
  size_t bytes = gemm_panels_slice_bytes(p), at = 0;
  char *wanted = malloc(2 * bytes), *found = wanted ? wanted + bytes : NULL;
  status_t status = STATUS_OK;
  if (!wanted)
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for slices of %s", report_bytes(2 * bytes));
  for (int j = 0; j < p->grid.panels && status == STATUS_OK; j++) {
    slice_fill(p, j, wanted);
    TRY(gpu_copy_out(queue, found, p->own[j], 0, bytes), done);
    TRY(gpu_sync(queue), done);
    if (memcmp(wanted, found, bytes) == 0) continue;
    while (wanted[at] == found[at]) at++;
    status = log_fail(STATUS_WRONG,
                      "%c in device memory: WRONG, it changed: byte %zu of this rank's slice of panel %d",
                      "AB"[p->matrix], at, j);
  }
done:
  free(wanted);
  return status;
}

/* ---- rings ---- */

/* Both ends of a message know it by the same tag. Of two ranks each is both neighbours of the
 * other. One rank has its messages the other way round: those who do one after the other do not
 * wait in a circle. */
static void plan_init(const struct gemm_panels *p, int step, struct halo_plan *plan)
{
  int base = p->matrix == GEMM_A ? 0 : 2, ring = p->ring, d = p->matrix == GEMM_A ? 1 : 0;
  struct box out = slice_box(p, (p->place + ring - step) % ring),
             in = slice_box(p, (p->place + 2 * ring - step - 1) % ring), nowhere = in;
  int64_t count = box_points(&out);
  for (int e = 0; e < 3; e++) nowhere.hi[e] = nowhere.lo[e];
  struct halo_message from = {.peer = p->peers[1],
                              .send = nowhere,
                              .recv = in,
                              .recv_count = count,
                              .send_tag = base + TAG_BEHIND,
                              .recv_tag = base + TAG_AHEAD},
                      to = {.peer = p->peers[0],
                            .send = out,
                            .recv = nowhere,
                            .count = count,
                            .send_tag = base + TAG_AHEAD,
                            .recv_tag = base + TAG_BEHIND};
  from.dir[d] = -1;
  to.dir[d] = 1;
  *plan = (struct halo_plan){.depth = 1, .n = 2, .floats = count, .recv_floats = count};
  plan->messages[p->place == 0] = from;
  plan->messages[p->place != 0] = to;
  if (ring > 2) return;
  plan->messages[0] = from;
  plan->n = 1;
  plan->messages[0].send = out;
  plan->messages[0].count = count;
  plan->messages[0].send_tag = base + (p->place ? TAG_BEHIND : TAG_AHEAD);
  plan->messages[0].recv_tag = base + (p->place ? TAG_AHEAD : TAG_BEHIND);
  plan->messages[0].dir[d] = p->place ? -1 : 1;
}

/* Cleared, since what is never sent is copied all the same. */
static status_t fields_alloc(struct gemm_panels *p)
{
  for (int f = 0; f < GEMM_PANEL_FIELDS; f++) {
    RETURN_IF_FAILED(halo_field_alloc(p->transport, p->device, field_bytes(p), &p->field[f]));
    RETURN_IF_FAILED(gpu_clear(p->compute, p->field[f], 0, field_bytes(p)));
  }
  p->route = calloc((size_t)(GEMM_PANEL_SETS * gemm_panels_steps(p)), sizeof(struct halo_route *));
  if (!p->route) return log_fail(STATUS_ENVIRONMENT, "out of host memory for rings of %d ranks", p->ring);
  return gpu_sync(p->compute);
}

static status_t routes_open(struct gemm_panels *p)
{
  struct halo_plan plan;
  for (int set = 0; set < GEMM_PANEL_SETS; set++)
    for (int step = 0; step < gemm_panels_steps(p); step++) {
      plan_init(p, step, &plan);
      struct halo_context context = {.comm = p->comm,
                                     .device = p->device,
                                     .layout = &p->layout,
                                     .plan = &plan,
                                     .fields = {p->field[set], p->field[set + GEMM_PANEL_SETS]},
                                     .compute = p->compute};
      RETURN_IF_FAILED(halo_route_open(p->transport, &context, &p->route[set * gemm_panels_steps(p) + step]));
    }
  return STATUS_OK;
}

status_t gemm_panels_link(struct gemm_panels *p, const struct halo_transport *transport)
{
  if (p->ring == 1) return STATUS_OK;
  p->transport = transport;
  RETURN_IF_FAILED(agree_status(p->comm, fields_alloc(p)));
  return routes_open(p);
}

void gemm_panels_unlink(struct gemm_panels *p)
{
  for (int r = 0; p->route && r < GEMM_PANEL_SETS * gemm_panels_steps(p); r++) halo_route_close(p->route[r]);
  free(p->route);
  p->route = NULL;
  for (int f = 0; f < GEMM_PANEL_FIELDS && p->transport; f++)
    halo_field_free(p->transport, p->device, &p->field[f]);
  p->transport = NULL;
}

status_t gemm_panels_put(struct gemm_panels *p, struct gpu_queue *queue, long turn, int j)
{
  return p->packer->unpack(p->packing, queue, p->field[turn % GEMM_PANEL_FIELDS], p->own[j]);
}

status_t gemm_panels_start(struct gemm_panels *p, long turn, int step, struct gpu_event *ready)
{
  return halo_route_start(gemm_panels_route(p, turn, step), p->field[turn % GEMM_PANEL_FIELDS], ready);
}

struct gpu_mem gemm_panels_operand(const struct gemm_panels *p, long turn, int j)
{
  return p->ring > 1 ? p->field[turn % GEMM_PANEL_FIELDS] : p->own[j];
}
