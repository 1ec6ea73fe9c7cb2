/* SPDX-License-Identifier: MIT */
#include "gemm/cluster/grid.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"

#define PROCS_MAX (1 << 24)
/* Panel widths are multiples of this, so that all panels except the last suit any kernel. */
#define WIDTH_STEP 64
/* Default number of k per panel, for each kind of device and type. Wider panels read and write C
 * less often, but each rank of a ring stores the received slices of up to four panels.
 * Measurements: doc/explanation/gemm-distributed.md. */
#define WIDTH_CPU  256
#define WIDTH_F32  8192
#define WIDTH_HALF 32768
/* Maximum number of panels if --panel does not set their width. More panels would gain nothing. */
#define PANELS_MAX 1024
/* The cost model expresses times as bytes that a rank could receive meanwhile. FLOP_A_BYTE
 * operations take as long as one byte; a message costs MESSAGE_BYTES more. Rough values suffice. */
#define FLOP_A_BYTE   100.0
#define MESSAGE_BYTES 65536.0

status_t gemm_procs_parse(const char *option, const char *text, void *field)
{
  int *procs = field;
  char number[16];
  long long value = 0;
  const char *rest = text;
  procs[0] = procs[1] = 0;
  if (strcmp(text, "auto") == 0) return STATUS_OK;
  for (int d = 0; d < 2 && rest; d++) {
    rest = value_next(rest, 'x', number, sizeof number);
    if (value_read_int(number, 1, PROCS_MAX, &value) != STATUS_OK || (rest == NULL) != d) break;
    procs[d] = (int)value;
  }
  if (procs[1] > 0) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s %s: must be auto or PxQ, each from 1 to %d", option, text, PROCS_MAX);
}

struct gemm_span gemm_grid_span(int64_t extent, int parts, int at)
{
  int64_t begin = extent / parts * at + extent % parts * at / parts;
  int64_t end = extent / parts * (at + 1) + extent % parts * (at + 1) / parts;
  return (struct gemm_span){begin, end > begin ? end - begin : 1};
}

static int64_t over(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

int64_t gemm_grid_width(const struct gemm_problem *p, int64_t width, int on_cpu)
{
  int64_t most = on_cpu ? WIDTH_CPU : gemm_types[p->type].operand_bytes == 2 ? WIDTH_HALF : WIDTH_F32;
  if (width > 0) return width < p->k ? width : p->k;
  if (over(p->k, most) > PANELS_MAX) most = over(p->k, PANELS_MAX);
  int64_t even = over(over(p->k, over(p->k, most)), WIDTH_STEP) * WIDTH_STEP;
  return even < p->k ? even : p->k;
}

/* Returns the modelled time of the busiest rank, expressed as the bytes that it could receive in
 * that time. Source: Van de Geijn and Watts, "SUMMA", Concurrency 9, 1997; but in these rings all
 * links send at the same time. */
static double cost(const struct gemm_problem *p, int weak, int64_t rows, int64_t columns, int64_t panels)
{
  double m = (double)over(p->m, weak ? 1 : rows), n = (double)over(p->n, weak ? 1 : columns),
         k = (double)p->k;
  double bytes = (double)gemm_types[p->type].operand_bytes;
  double in =
      bytes * k * (m * (double)(columns - 1) / (double)columns + n * (double)(rows - 1) / (double)rows);
  return 2 * m * n * k / FLOP_A_BYTE + in + (double)(panels * (rows + columns - 2)) * MESSAGE_BYTES;
}

static void procs_find(const struct gemm_problem *p, int weak, int ranks, int64_t panels, int procs[2])
{
  double least = -1;
  for (int rows = 1; rows <= ranks; rows++) {
    if (ranks % rows != 0) continue;
    double now = cost(p, weak, rows, ranks / rows, panels);
    if (least >= 0 && now >= least) continue;
    least = now;
    procs[0] = rows;
    procs[1] = ranks / rows;
  }
}

status_t gemm_grid_choose(const struct gemm_problem *p, int weak, int ranks, const int wanted[2],
                          int64_t width, int procs[2])
{
  procs[0] = wanted[0];
  procs[1] = wanted[1];
  if (procs[0] == 0) procs_find(p, weak, ranks, over(p->k, width), procs);
  int64_t needs = (int64_t)procs[0] * procs[1];
  if (needs == ranks) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--procs %dx%d needs %" PRId64 " ranks, but there are %d", procs[0], procs[1],
                  needs, ranks);
}

void gemm_grid_init(struct gemm_grid *grid, const struct gemm_problem *whole, const int procs[2], int rank,
                    int64_t width)
{
  struct gemm_grid g = {.procs = {procs[0], procs[1]}, .at = {rank / procs[1], rank % procs[1]}};
  g.width = width;
  g.panels = (int)over(whole->k, width);
  g.m = gemm_grid_span(whole->m, g.procs[0], g.at[0]);
  g.n = gemm_grid_span(whole->n, g.procs[1], g.at[1]);
  *grid = g;
}
