/* SPDX-License-Identifier: MIT */
/* Counts how many flipped bits a run reports: plants one bit in each of many blocks, which run and
 * are checked as in himeno-gpu.
 *
 * Random choices are the array (13 that a sweep reads and, with neighbours, the halos of p), the
 * rank, the point, the bit (10 to 31) and the sweep. Points that no sweep reads are not chosen.
 * Blocks with and without pauses at check points alternate. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "comm/halo/grid.h"
#include "comm/ranks/agree.h"
#include "himeno/solver/flip.h"
#include "himeno/solver/state.h"
#include "himeno/verify/verify.h"

#define SWEEPS    120
#define BIT_LEAST 10
#define KIND_HALO (HIMENO_P + 1)

enum row { ROW_CONSTANT, ROW_P, ROW_FIXED, ROW_HALO, ROWS };
enum { BITS = 4, DISTANCES = 4 };
static const char *const row_names[ROWS] = {"constants", "p", "p, fixed points", "p, halos"};
static const int bit_from[BITS + 1] = {10, 13, 16, 23, 32};
static const int distance_from[DISTANCES + 1] = {1, 13, 31, 61, SWEEPS + 1};

struct count {
  int planted, reported;
};

static struct solver_config config;
static struct solver *solver;
static struct verify_value value;
static int world_rank, world_ranks;
static uint64_t state;
static struct count counts[2][ROWS][BITS][DISTANCES];

static int64_t draw(int64_t n)
{
  state = hash_mix(state);
  return (int64_t)(state % (uint64_t)n);
}

/* Returns how far a local point is outside of the owned box in dimension \a d; 0 inside. */
static int64_t outside(const struct layout *l, const int64_t at[3], int d)
{
  int64_t below = l->owned.lo[d] - at[d], above = at[d] - l->owned.hi[d] + 1;
  return below > 0 ? below : above > 0 ? above : 0;
}

/* Returns the table's row for a point, by the use that its rank makes of it; ROWS if no sweep reads
 * the point before it is written. */
static enum row row_of(const struct layout *l, const int64_t at[3], int array)
{
  int64_t most = 0, sum = 0;
  int depth = config.kernel->sweeps, is_counted = 1;
  for (int d = 0; d < 3; d++) {
    int64_t o = outside(l, at, d);
    if (o > most) most = o;
    sum += o;
    is_counted &= at[d] >= l->counted.lo[d] && at[d] < l->counted.hi[d];
  }
  if (array < HIMENO_COEFFICIENTS) return ROW_CONSTANT;
  if (most == 0) return array == SOLVER_NEWEST ? ROW_P : ROWS;
  if (sum > 2 * depth) return ROWS; /* a sweep reads a step away in at most two dimensions */
  /* Kernels may also write the ends of a row. */
  if (is_counted && array == SOLVER_OLDER && sum == outside(l, at, 2)) return ROWS;
  if (is_counted) return ROW_FIXED;
  /* Halo points on the grid's own faces are sent, too. */
  return array == SOLVER_NEWEST ? ROW_HALO : ROWS;
}

/* Draws a flip that a sweep reads; returns its row in the table. */
static enum row flip_draw(const char *what, struct flip *flip)
{
  for (;;) {
    struct decomp decomp;
    struct layout l;
    int64_t at[3];
    int kinds = world_ranks > 1 ? KIND_HALO + 1 : KIND_HALO;
    int kind = strcmp(what, "p") == 0 ? HIMENO_P + (int)draw(kinds - HIMENO_P) : (int)draw(kinds);
    flip->rank = (int)draw(world_ranks);
    decomp_init(&decomp, config.global, config.procs, flip->rank);
    if (layout_init(&l, &decomp, config.kernel->sweeps, 0) != STATUS_OK) abort();
    for (int d = 0; d < 3; d++) {
      at[d] = draw(l.extent[d]);
      flip->point[d] = at[d] + l.origin[d];
    }
    flip->array = kind < HIMENO_P ? kind : draw(2) ? SOLVER_NEWEST : SOLVER_OLDER;
    flip->bit = BIT_LEAST + (int)draw(32 - BIT_LEAST);
    flip->sweep = 1 + draw(SWEEPS);
    enum row row = row_of(&l, at, flip->array);
    if (row != ROWS && (kind == KIND_HALO) == (row == ROW_HALO)) return row;
  }
}

static status_t block_check(int cut, const char *what)
{
  struct solver_block block;
  RETURN_IF_FAILED(solver_block_run(solver, SWEEPS, cut, &block));
  status_t status = verify_block(&value, &block, what);
  return status_worst(status, solver_baseline_compare(solver_grid(solver), config.comm, &block, what));
}

/* Prepares the solver as a run does. With FLIPS_REFERENCE=N the CPUs compute only N sweeps. */
static status_t settle(void)
{
  const char *first = getenv("FLIPS_REFERENCE");
  struct solver_block block;
  uint64_t sum;
  RETURN_IF_FAILED(verify_prepare(&config, HIMENO_VERIFY_FULL, 0, first ? atoi(first) : SWEEPS, &value));
  RETURN_IF_FAILED(solver_open(&config, &solver));
  RETURN_IF_FAILED(solver_baseline_begin(solver_grid(solver)));
  RETURN_IF_FAILED(verify_coefficients(solver_grid(solver), config.comm, &value, &sum));
  RETURN_IF_FAILED(solver_block_run(solver, value.sweeps, 1, &block));
  RETURN_IF_FAILED(verify_block(&value, &block, "first block"));
  if (first) RETURN_IF_FAILED(solver_block_run(solver, SWEEPS, 1, &block));
  if (first)
    value = (struct verify_value){
        .source = VERIFY_REFERENCE, .sweeps = SWEEPS, .gosa = block.gosa, .checksum = block.checksum};
  RETURN_IF_FAILED(solver_baseline_take(solver_grid(solver), &block, &(const struct solver_check *){NULL}));
  for (int cut = 0; cut < 2; cut++) RETURN_IF_FAILED(block_check(cut, "a block without a fault"));
  return STATUS_OK;
}

static int group(const int *from, int n, int at)
{
  int g = 0;
  while (g + 1 < n && at >= from[g + 1]) g++;
  return g;
}

/* Returns the number of sweeps from the fault to the next checksum of p. */
static int distance(const struct flip *flip, int cut)
{
  int every = cut ? solver_check_sweeps(config.kernel) : SWEEPS, done = (int)flip->sweep - 1;
  return (done / every + 1) * every - done;
}

static status_t block_with(const char *what, int n, int *reported)
{
  struct flip flip = {.array = 0};
  int cut = n % 2;
  enum row row = flip_draw(what, &flip);
  struct count *count = &counts[cut][row][group(bit_from, BITS, flip.bit)]
                               [group(distance_from, DISTANCES, distance(&flip, cut))];
  /* Before every tenth flip a block without a fault runs, which must be found correct. */
  if (n % 10 == 0) RETURN_IF_FAILED(block_check(cut, "a block without a fault"));
  struct flip planned = flip;
  planned.sweep += solver_grid(solver)->swept;
  flip_plan(&planned, 1);
  log_hold(1);
  status_t status = block_check(cut, "block");
  if (getenv("FLIPS_TELL") && log_held()[0])
    printf("# rank %d: %s %" PRId64 ",%" PRId64 ",%" PRId64 " bit %d sweep %" PRId64 ": %s", world_rank,
           solver_array_name(flip.array), flip.point[0], flip.point[1], flip.point[2], flip.bit, flip.sweep,
           log_held());
  log_drop();
  log_hold(0);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  count->planted++;
  count->reported += status == STATUS_WRONG;
  *reported += status == STATUS_WRONG;
  if (status == STATUS_OK && world_rank == 0)
    printf("# missed: %s@%d %" PRId64 ",%" PRId64 ",%" PRId64 " bit %d sweep %" PRId64 "%s\n",
           solver_array_name(flip.array), flip.rank, flip.point[0], flip.point[1], flip.point[2], flip.bit,
           flip.sweep, cut ? ", with pauses" : "");
  return solver_fill(solver_grid(solver), config.data);
}

static void table_print(void)
{
  printf("# reported of planted, by bits (columns) and sweeps to the next checksum of p (rows)\n");
  for (int cut = 0; cut < 2; cut++)
    for (int row = 0; row < ROWS; row++)
      for (int d = 0; d < DISTANCES; d++) {
        int any = 0;
        for (int b = 0; b < BITS; b++) any += counts[cut][row][b][d].planted;
        if (!any) continue;
        printf("# %-12s %-16s %3d-%-3d", cut ? "with pauses" : "without", row_names[row], distance_from[d],
               distance_from[d + 1] - 1);
        for (int b = 0; b < BITS; b++)
          printf("  bits %d-%d: %d of %d", bit_from[b], bit_from[b + 1] - 1, counts[cut][row][b][d].reported,
                 counts[cut][row][b][d].planted);
        printf("\n");
      }
}

static void usage(void)
{
  if (world_rank == 0)
    fprintf(stderr, "usage: flips BACKEND KERNEL TRANSPORT SIZE standard|dense all|p COUNT LEAST SEED\n"
                    "plants COUNT bits; fails where fewer than LEAST are reported\n");
  MPI_Abort(MPI_COMM_WORLD, STATUS_USAGE);
}

int main(int argc, char **argv)
{
  struct grid_size size;
  struct gpu_device_info *devices;
  char reason[GPU_TEXT_MAX] = "";
  const struct gpu_backend *backend = NULL;
  int n_devices = 0, reported = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  if (argc != 10 || !(backend = gpu_backend_find(argv[1])) || grid_size_parse("SIZE", argv[4], &size))
    usage();
  backend->probe(&devices, &n_devices, reason);
  free(devices);
  if (n_devices == 0) {
    if (world_rank == 0) printf("1..0 # SKIP %s: %s\n", backend->name, reason);
    MPI_Finalize();
    return 0;
  }
  config = (struct solver_config){.comm = MPI_COMM_WORLD,
                                  .kernel = himeno_kernel_find(himeno_kernels_find(argv[1]), argv[2]),
                                  .transport = halo_transport_find(argv[3]),
                                  .data = strcmp(argv[5], "dense") == 0 ? HIMENO_DENSE : HIMENO_STANDARD,
                                  .max_sweeps = SWEEPS,
                                  .overlap = 1,
                                  .faults = flip_faults};
  if (!config.kernel || !config.transport) usage();
  if (!config.transport->available(backend, reason)) {
    if (world_rank == 0) printf("1..0 # SKIP %s: %s\n", config.transport->name, reason);
    MPI_Finalize();
    return 0;
  }
  struct decomp_rules rules = {config.kernel->sweeps, config.kernel->whole_planes, config.kernel->resident};
  memcpy(config.global, size.extent, sizeof config.global);
  const int count = atoi(argv[7]), least = atoi(argv[8]);
  state = (uint64_t)atoll(argv[9]);
  status_t status = decomp_choose(world_ranks, config.global, 0, &rules, config.procs);
  if (status == STATUS_OK) status = gpu_open(backend, world_rank % n_devices, &config.device);
  if (status == STATUS_OK) status = settle();
  for (int n = 0; n < count && status == STATUS_OK; n++) status = block_with(argv[6], n, &reported);
  if (status != STATUS_OK) agree_abort(status);
  if (world_rank == 0) {
    table_print();
    printf("1..1\n%s 1 - %s %s, %d rank%s by %s, %s, %s: %d of %d flips reported, at least %d asked for\n",
           reported >= least ? "ok" : "not ok", argv[1], argv[2], world_ranks, world_ranks > 1 ? "s" : "",
           argv[3], argv[4], argv[5], reported, count, least);
  }
  solver_close(solver);
  verify_value_free(&value);
  gpu_close(config.device);
  MPI_Finalize();
  return reported < least;
}
