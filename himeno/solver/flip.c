/* SPDX-License-Identifier: MIT */
#include "himeno/solver/flip.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/switches.h"
#include "base/values.h"
#include "himeno/solver/state.h"
#include "suite/fault.h"

SWITCH("HIMENO_FLIP", TEST, OWN, FREE("`ARRAY[@RANK] I,J,K BIT SWEEP; …`"),
       "himeno-gpu: flips a bit in device memory before a sweep "
       "([acceptance-soak.md](../how-to/acceptance-soak.md))");

static struct flip plan[FLIPS_MAX]; /* faults that are still to be planted */
static int n_plan;

void flip_plan(const struct flip *flips, int n)
{
  n_plan = n;
  for (int f = 0; f < n; f++) plan[f] = flips[f];
}

int flip_any(void)
{
  return n_plan > 0;
}

int flip_parse(const char *text, struct flip *flip)
{
  struct fault fault;
  long long sweep;
  const int stuck = strncmp(text, "sm", 2) == 0;
  if (!fault_parse(text, stuck ? 1 : 3, &fault) ||
      value_read_int(fault.when, 1, INT64_MAX, &sweep) != STATUS_OK)
    return 0;
  struct flip f = {.array = -1, .rank = fault.rank, .bit = fault.bit, .sweep = sweep};
  memcpy(f.point, fault.place, sizeof f.point);
  for (int a = 0; a < SOLVER_ARRAYS; a++)
    if (strcmp(fault.array, solver_array_name(a)) == 0) f.array = a;
  if (strcmp(fault.array, "older-p") == 0) f.array = SOLVER_OLDER;
  if (strcmp(fault.array, "sm") == 0) f.array = FLIP_PROCESSOR;
  if (f.array < 0) return 0;
  *flip = f;
  return 1;
}

/* Returns the number of faults in the text, separated by semicolons; −1 if one is invalid. */
static int flips_parse(const char *text, struct flip flips[FLIPS_MAX])
{
  char one[128];
  for (int n = 0; n < FLIPS_MAX; n++) {
    text = value_next(text + strspn(text, " "), ';', one, sizeof one);
    if (!flip_parse(one, &flips[n])) return -1;
    if (!text) return n + 1;
  }
  return -1;
}

status_t flip_read(void)
{
  static struct flip flips[FLIPS_MAX];
  const char *text = switch_text("HIMENO_FLIP");
  const int n = text ? flips_parse(text, flips) : 0;
  if (n < 0)
    return log_fail(
        STATUS_USAGE,
        "HIMENO_FLIP=%.200s: must be \"ARRAY I,J,K BIT SWEEP\", as in \"a3 10,20,30 5 17\", or at most "
        "%d of these, separated by ;",
        text, FLIPS_MAX);
  flip_plan(flips, n);
  return STATUS_OK;
}

status_t flip_check(const int64_t global[3], int ranks)
{
  for (int f = 0; f < n_plan; f++) {
    const int64_t *at = plan[f].point;
    if (plan[f].rank >= ranks)
      return log_fail(STATUS_USAGE, "HIMENO_FLIP: there is no rank %d, only %d rank%s", plan[f].rank, ranks,
                      ranks == 1 ? "" : "s");
    if (plan[f].array == FLIP_PROCESSOR) continue;
    if (at[0] >= global[0] || at[1] >= global[1] || at[2] >= global[2])
      log_warn("HIMENO_FLIP: point %" PRId64 ",%" PRId64 ",%" PRId64 " is not in a grid of %" PRId64
               " x %" PRId64 " x %" PRId64 ": no bit is flipped",
               at[0], at[1], at[2], global[0], global[1], global[2]);
  }
  return STATUS_OK;
}

/* Returns the point's index in the local array; −1 if this rank does not hold the point. */
static int64_t flip_place(const struct solver_grid *grid, const struct flip *flip)
{
  const struct layout *layout = &grid->fields.layout;
  const struct box held = {{0, 0, 0}, {layout->extent[0], layout->extent[1], layout->extent[2]}};
  const struct box *box = flip->rank < 0 ? &layout->counted : &held;
  int64_t local[3];
  if (flip->rank >= 0 && flip->rank != grid->rank) return -1;
  for (int d = 0; d < 3; d++) {
    local[d] = flip->point[d] - layout->origin[d];
    if (local[d] < box->lo[d] || local[d] >= box->hi[d]) return -1;
  }
  return local[0] * layout->plane + local[1] * layout->pitch + local[2];
}

/* Returns the first sweep in (from, to] before which a fault is due, 0 if there is none. */
static int64_t due_in(int64_t from, int64_t to)
{
  int64_t first = 0;
  for (int f = 0; f < n_plan; f++)
    if (plan[f].array != FLIP_PROCESSOR && plan[f].sweep > from && plan[f].sweep <= to &&
        (!first || plan[f].sweep < first))
      first = plan[f].sweep;
  return first;
}

struct himeno_stuck flip_stuck(int rank, int64_t swept)
{
  for (int f = 0; f < n_plan; f++)
    if (plan[f].array == FLIP_PROCESSOR && plan[f].sweep <= swept &&
        (plan[f].rank < 0 || plan[f].rank == rank))
      return (struct himeno_stuck){(int)plan[f].point[0], plan[f].bit};
  return (struct himeno_stuck){-1, 0};
}

static status_t flip_plant(struct solver_grid *grid, const struct flip *flip)
{
  float value;
  uint32_t bits;
  int64_t at = flip_place(grid, flip);
  if (at < 0 && flip->rank == grid->rank)
    return log_fail(STATUS_USAGE, "HIMENO_FLIP: rank %d holds no copy of that point", flip->rank);
  if (at < 0) return STATUS_OK;
  RETURN_IF_FAILED(solver_array_read(grid, flip->array, at, 1, &value));
  memcpy(&bits, &value, sizeof bits);
  bits ^= (uint32_t)1 << flip->bit;
  memcpy(&value, &bits, sizeof bits);
  return solver_array_write(grid, flip->array, at, 1, &value);
}

/* Plants the faults that are due before a sweep of the run. */
static status_t plant_all(struct solver_grid *grid, int64_t sweep)
{
  for (int f = 0; f < n_plan; f++) {
    if (plan[f].sweep != sweep || plan[f].array == FLIP_PROCESSOR) continue;
    const struct flip flip = plan[f];
    plan[f--] = plan[--n_plan];
    RETURN_IF_FAILED(flip_plant(grid, &flip));
  }
  return STATUS_OK;
}

status_t flip_faults(struct solver_grid *grid, int at, int sweeps, int *stop)
{
  const int depth = grid->kernel->sweeps;
  for (int64_t due; (due = due_in(grid->swept, grid->swept + sweeps));) {
    const int before = (int)((due - 1 - grid->swept) / depth * depth);
    if (before > at) {
      if (before < *stop) *stop = before;
      return STATUS_OK;
    }
    RETURN_IF_FAILED(plant_all(grid, due));
  }
  return STATUS_OK;
}
