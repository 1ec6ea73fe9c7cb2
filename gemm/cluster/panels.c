/* SPDX-License-Identifier: MIT */
#include "gemm/cluster/panels.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "comm/ranks/agree.h"

/* Rows of a slice start at multiples of a cache line. */
#define LINE_BYTES 128
/* Tags of messages to the next and to the previous rank of a ring. The two sets of routes use
 * different tags, because their messages overlap: a panel's first step runs at the same time as the
 * last step of the previous panel. The rings of A and B use the same tags: they connect different
 * pairs of ranks. */
#define TAG_AHEAD  1
#define TAG_BEHIND 2
#define TAGS_SET   2

static int64_t up(int64_t value, int64_t step)
{
  return (value + step - 1) / step * step;
}

/* Returns the number of rows (A) or columns (B) of C that the largest slice covers. */
static int64_t across_most(const struct gemm_grid *grid, enum gemm_matrix matrix)
{
  int64_t extent = matrix == GEMM_A ? grid->m.extent : grid->n.extent, ring = grid->procs[matrix == GEMM_A],
          step = matrix == GEMM_A ? 1 : GEMM_C_STEP, each = up((extent + ring - 1) / ring, step);
  return each < extent ? each : extent;
}

struct gemm_span gemm_panels_slice(const struct gemm_grid *grid, enum gemm_matrix matrix, int place)
{
  int64_t extent = matrix == GEMM_A ? grid->m.extent : grid->n.extent, each = across_most(grid, matrix),
          begin = place * each < extent ? place * each : extent;
  return (struct gemm_span){begin, extent - begin < each ? extent - begin : each};
}

static void shape_init(struct gemm_panels *p)
{
  int64_t bytes = (int64_t)gemm_element_bytes(&p->local, p->matrix),
          across = across_most(&p->grid, p->matrix);
  p->ring = p->grid.procs[p->matrix == GEMM_A];
  /* If k runs along the stored rows (A not transposed, or B transposed), by_rows is 0. */
  p->by_rows = p->matrix == GEMM_A ? p->local.trans_a : !p->local.trans_b;
  int64_t rows = p->by_rows ? p->grid.width : across, columns = p->by_rows ? across : p->grid.width;
  int64_t pitch = up(columns * bytes, LINE_BYTES) / (int64_t)sizeof(float);
  p->ld = pitch * (int64_t)sizeof(float) / bytes;
  p->layout = (struct layout){.extent = {1, rows, pitch},
                              .pitch = pitch,
                              .plane = rows * pitch,
                              .global = {1, rows, pitch},
                              .owned = {{0, 0, 0}, {1, rows, pitch}}};
}

size_t gemm_panels_slice_bytes(const struct gemm_panels *p)
{
  return (size_t)layout_floats(&p->layout) * sizeof(float);
}

uint64_t gemm_panels_bytes(const struct gemm_problem *local, const struct gemm_grid *grid,
                           enum gemm_matrix matrix)
{
  struct gemm_panels p = {.matrix = matrix, .grid = *grid, .local = *local};
  shape_init(&p);
  return gemm_panels_slice_bytes(&p) * ((uint64_t)grid->panels + GEMM_PANEL_FIELDS * (uint64_t)(p.ring - 1));
}

int64_t gemm_panels_ld(const struct gemm_problem *local, const struct gemm_grid *grid,
                       enum gemm_matrix matrix)
{
  struct gemm_panels p = {.matrix = matrix, .grid = *grid, .local = *local};
  shape_init(&p);
  return p.ld;
}

/* Writes this rank's slice of panel j in the layout for the device. Elements beyond K or outside
 * the slice are zero. */
static void slice_fill(const struct gemm_panels *p, int j, char *to)
{
  size_t bytes = gemm_element_bytes(&p->local, p->matrix);
  int64_t first = j * p->grid.width, left = p->local.k - first,
          depth = left < p->grid.width ? left : p->grid.width, ld = p->local.ld[p->matrix];
  struct gemm_span slice = gemm_panels_slice(&p->grid, p->matrix, p->place);
  int64_t rows = p->by_rows ? depth : slice.extent, columns = p->by_rows ? slice.extent : depth;
  const char *from = (const char *)p->host +
                     (size_t)(p->by_rows ? first * ld + slice.begin : slice.begin * ld + first) * bytes;
  memset(to, 0, gemm_panels_slice_bytes(p));
  for (int64_t r = 0; r < rows; r++)
    memcpy(to + (size_t)(r * p->ld) * bytes, from + (size_t)(r * ld) * bytes, (size_t)columns * bytes);
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
  status = slices_copy(p, buffer);
done:
  free(buffer);
  return status;
}

void gemm_panels_close(struct gemm_panels *p)
{
  for (int j = 0; p->own && j < p->grid.panels; j++) gpu_free(p->device, &p->own[j]);
  free(p->own);
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
    TRY(gpu_read(queue, found, p->own[j], 0, bytes), done);
    if (memcmp(wanted, found, bytes) == 0) continue;
    while (wanted[at] == found[at]) at++;
    status = log_fail(STATUS_WRONG,
                      "%c changed in device memory: byte %zu of this rank's slice of panel %d is wrong",
                      "AB"[p->matrix], at, j);
  }
done:
  free(wanted);
  return status;
}

/* Both ends of a message use the same tag. With two ranks, each is both the previous and the next
 * neighbour of the other. The first rank of the ring lists its messages in the opposite order, so
 * that transports that exchange one message after the other do not deadlock. */
static void plan_init(const struct gemm_panels *p, int set, struct halo_plan *plan)
{
  const int base = set * TAGS_SET, d = p->matrix == GEMM_A;
  struct box all = p->layout.owned, nowhere = {{0}, {0}};
  int64_t count = box_points(&all);
  struct halo_message from = {.peer = p->peers[1],
                              .send = nowhere,
                              .recv = all,
                              .recv_count = count,
                              .send_tag = base + TAG_BEHIND,
                              .recv_tag = base + TAG_AHEAD},
                      to = {.peer = p->peers[0],
                            .send = all,
                            .recv = nowhere,
                            .count = count,
                            .send_tag = base + TAG_AHEAD,
                            .recv_tag = base + TAG_BEHIND};
  from.dir[d] = -1;
  to.dir[d] = 1;
  *plan = (struct halo_plan){.depth = 1, .n = 2, .floats = count, .recv_floats = count};
  plan->messages[p->place == 0] = from;
  plan->messages[p->place != 0] = to;
  if (p->ring > 2) return;
  plan->messages[0] = from;
  plan->n = 1;
  plan->messages[0].send = all;
  plan->messages[0].count = count;
  plan->messages[0].send_tag = base + (p->place ? TAG_BEHIND : TAG_AHEAD);
  plan->messages[0].recv_tag = base + (p->place ? TAG_AHEAD : TAG_BEHIND);
  plan->messages[0].dir[d] = p->place ? -1 : 1;
}

/* Returns the field that contains the slice received in \a step of \a panel. */
static struct gpu_mem *field_of(const struct gemm_panels *p, long panel, int step)
{
  return &p->field[panel % GEMM_PANEL_FIELDS * gemm_panels_steps(p) + step];
}

/* Also clears the fields, because memory checkers do not see writes by other processes. */
static status_t panels_fields_alloc(struct gemm_panels *p)
{
  size_t steps = (size_t)gemm_panels_steps(p), bytes = gemm_panels_slice_bytes(p);
  p->field = calloc(GEMM_PANEL_FIELDS * steps, sizeof *p->field);
  p->route = calloc(GEMM_PANEL_SETS * steps, sizeof(struct halo_route *));
  if (!p->route || !p->field)
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for rings of %d ranks", p->ring);
  for (size_t f = 0; f < GEMM_PANEL_FIELDS * steps; f++) {
    RETURN_IF_FAILED(halo_field_alloc(p->transport, p->device, bytes, &p->field[f]));
    RETURN_IF_FAILED(gpu_clear(p->compute, p->field[f], 0, bytes));
  }
  return gpu_sync(p->compute);
}

static status_t routes_open(struct gemm_panels *p)
{
  struct halo_plan plan;
  for (int set = 0; set < GEMM_PANEL_SETS; set++)
    for (int step = 0; step < gemm_panels_steps(p); step++) {
      plan_init(p, set, &plan);
      struct halo_context context = {
          .comm = p->comm,
          .device = p->device,
          .layout = &p->layout,
          .plan = &plan,
          .fields = {*field_of(p, set, step), *field_of(p, set + GEMM_PANEL_SETS, step)},
          .compute = p->compute};
      RETURN_IF_FAILED(halo_route_open(p->transport, &context, &p->route[set * gemm_panels_steps(p) + step]));
    }
  return STATUS_OK;
}

status_t gemm_panels_link(struct gemm_panels *p, const struct halo_transport *transport)
{
  if (p->ring == 1) return STATUS_OK;
  p->transport = transport;
  RETURN_IF_FAILED(agree_status(p->comm, panels_fields_alloc(p)));
  return routes_open(p);
}

void gemm_panels_unlink(struct gemm_panels *p)
{
  for (int r = 0; p->route && r < GEMM_PANEL_SETS * gemm_panels_steps(p); r++) halo_route_close(p->route[r]);
  free(p->route);
  p->route = NULL;
  for (int f = 0; p->field && f < GEMM_PANEL_FIELDS * gemm_panels_steps(p); f++)
    halo_field_free(p->transport, p->device, &p->field[f]);
  free(p->field);
  p->field = NULL;
  p->transport = NULL;
}

status_t gemm_panels_start(struct gemm_panels *p, long panel, int j, int step, struct gpu_event *ready)
{
  return halo_route_pass(gemm_panels_route(p, panel, step), gemm_panels_operand(p, panel, j, step),
                         *field_of(p, panel, step), ready);
}

struct gpu_mem gemm_panels_operand(const struct gemm_panels *p, long panel, int j, int step)
{
  return step == 0 ? p->own[j] : *field_of(p, panel, step - 1);
}
