/* SPDX-License-Identifier: MIT */
/* Right bits everywhere: every kernel of every backend, on 1 to N ranks, in all cuts, equals the table of
 * tests/golden/himeno.csv. One MPI job runs all cases on sub-communicators of its ranks and speaks TAP.
 *
 * Usage: mpirun -np 8 matrix TABLE BACKEND [all|pairs]
 * `all` crosses every cut with data, transport and overlap at 24x37x53 and takes XS beside it; `pairs` takes S, with kernels,
 * data, transports, overlap and a few cuts paired off. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/agree.h"
#include "himeno/solver.h"
#include "himeno/verify.h"

#define VALUES_MAX 64

struct golden {
  char data[16], size[32];
  int sweeps;
  double gosa;
  uint64_t checksum;
};

struct test_case {
  const struct himeno_kernel *kernel;
  const struct halo_transport *transport;
  const char *size;
  enum himeno_data data;
  int procs[3], overlap, sweeps;
};

static struct golden table[VALUES_MAX];
static int n_golden, world_rank, world_ranks, cases, failures;
static const struct gpu_backend *backend;
static struct gpu_device *device;
static const struct himeno_kernel_set *set;

static int table_read(const char *path)
{
  char line[256];
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  while (n_golden < VALUES_MAX && fgets(line, sizeof line, file)) {
    struct golden *g = &table[n_golden];
    n_golden += sscanf(line, "%15[^,],%31[^,],%d,%lf,%" SCNx64, g->data, g->size, &g->sweeps, &g->gosa,
                       &g->checksum) == 5;
  }
  fclose(file);
  return n_golden > 0;
}

static const struct golden *table_find(const struct test_case *t)
{
  const char *data = t->data == HIMENO_DENSE ? "dense" : "standard";
  for (int g = 0; g < n_golden; g++)
    if (strcmp(table[g].data, data) == 0 && strcmp(table[g].size, t->size) == 0 &&
        table[g].sweeps == t->sweeps)
      return &table[g];
  return NULL;
}

static status_t case_run(const struct test_case *t, MPI_Comm comm, struct solver_block *block)
{
  struct himeno_size size;
  struct solver *solver;
  struct decomp_rules rules = {.depth = t->kernel->sweeps, .whole_planes = t->kernel->whole_planes};
  RETURN_IF_FAILED(himeno_size_parse("--size", t->size, &size));
  struct solver_config config = {.comm = comm,
                                 .device = device,
                                 .kernel = t->kernel,
                                 .transport = t->transport,
                                 .data = t->data,
                                 .max_sweeps = t->sweeps,
                                 .overlap = t->overlap};
  memcpy(config.global, size.extent, sizeof config.global);
  memcpy(config.procs, t->procs, sizeof config.procs);
  int ranks = t->procs[0] * t->procs[1] * t->procs[2];
  RETURN_IF_FAILED(decomp_check(ranks, config.global, config.procs, &rules));
  RETURN_IF_FAILED(solver_open(&config, &solver));
  status_t status = solver_block_run(solver, t->sweeps, block);
  solver_close(solver);
  return status;
}

static void case_report(const struct test_case *t, const struct golden *golden, status_t status,
                        const struct solver_block *block)
{
  struct verify_value value = {VERIFY_KNOWN, t->sweeps, golden ? golden->gosa : NAN,
                               golden ? golden->checksum : 0};
  int ok = golden && status == STATUS_OK && verify_block(&value, block, "case") == STATUS_OK;
  printf("%s %d - %s %s %s %s, %d sweeps, %dx%dx%d, %s%s\n", ok ? "ok" : "not ok", cases, backend->name,
         t->kernel->name, t->size, t->data == HIMENO_DENSE ? "dense" : "standard", t->sweeps, t->procs[0],
         t->procs[1], t->procs[2], t->transport->name, t->overlap ? "" : ", not overlapped");
  if (!ok)
    printf("# got %016" PRIx64 " %.12e%s\n", block->checksum, block->gosa,
           golden ? "" : ", and the table has no such case");
  fflush(stdout);
  failures += !ok;
}

/* The first ranks of the world run the case, the others pass on to the next. */
static void case_do(const struct test_case *t)
{
  int ranks = t->procs[0] * t->procs[1] * t->procs[2];
  struct solver_block block = {0};
  MPI_Comm comm;
  cases++;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, world_rank, &comm);
  if (comm == MPI_COMM_NULL) return;
  status_t status = case_run(t, comm, &block);
  if (world_rank == 0) case_report(t, table_find(t), status, &block);
  MPI_Comm_free(&comm);
}

static int cut_fits(const struct test_case *t)
{
  struct himeno_size size;
  struct decomp_rules rules = {.depth = t->kernel->sweeps, .whole_planes = t->kernel->whole_planes};
  himeno_size_parse("--size", t->size, &size);
  log_hold(1);
  int fits =
      decomp_check(t->procs[0] * t->procs[1] * t->procs[2], size.extent, t->procs, &rules) == STATUS_OK;
  log_drop();
  log_hold(0);
  return fits;
}

/* Calls \a act for each P×Q×R of \a ranks. */
static void each_cut(int ranks, struct test_case *t, void (*act)(struct test_case *))
{
  for (int p = 1; p <= ranks; p++)
    for (int q = 1; ranks % p == 0 && q <= ranks / p; q++) {
      if (ranks / p % q != 0) continue;
      t->procs[0] = p, t->procs[1] = q, t->procs[2] = ranks / p / q;
      if (cut_fits(t)) act(t);
    }
}

/* Dense data shows every edge; the rest is paired off, so that each cut meets each transport and each overlap. */
static void cut_all(struct test_case *t)
{
  t->sweeps = 3;
  for (int c = 0; c < 4; c++) {
    t->data = c < 2 ? HIMENO_DENSE : HIMENO_STANDARD;
    t->transport = halo_transports[c % 2];
    t->overlap = c == 0 || c == 3;
    case_do(t);
  }
}

static void cut_paired(struct test_case *t)
{
  t->transport = halo_transports[cases % 2];
  t->overlap = cases / 2 % 2;
  t->data = cases % 3 ? HIMENO_DENSE : HIMENO_STANDARD;
  t->sweeps = cases % 5 == 4 ? 10 : 3;
  case_do(t);
}

int main(int argc, char **argv)
{
  static const int rank_counts[] = {1, 2, 3, 4, 5, 6, 8};
  char reason[GPU_TEXT_MAX] = "";
  struct gpu_device_info *devices = NULL;
  int n_devices = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  if (argc != 4 || !table_read(argv[1]) || !(backend = gpu_backend_find(argv[2])))
    MPI_Abort(MPI_COMM_WORLD, STATUS_USAGE);
  int pairs = strcmp(argv[3], "pairs") == 0;
  backend->probe(&devices, &n_devices, reason);
  free(devices);
  set = himeno_kernels_find(backend->name);
  if (n_devices == 0 || !set) {
    if (world_rank == 0) printf("1..0 # SKIP %s: %s\n", backend->name, reason);
    MPI_Finalize();
    return 0;
  }
  if (gpu_open(backend, world_rank % n_devices, &device) != STATUS_OK)
    MPI_Abort(MPI_COMM_WORLD, STATUS_ENVIRONMENT);
  for (size_t r = 0; r < sizeof rank_counts / sizeof rank_counts[0]; r++)
    for (int k = 0; rank_counts[r] <= world_ranks && k < set->n; k++) {
      struct test_case t = {.kernel = &set->kernels[k], .size = pairs ? "64x64x128" : "24x37x53"};
      each_cut(rank_counts[r], &t, pairs ? cut_paired : cut_all);
      t.size = "32x32x64";
      if (!pairs) each_cut(rank_counts[r], &t, cut_paired);
    }
  if (world_rank == 0) printf("1..%d\n", cases);
  gpu_close(device);
  MPI_Finalize();
  return failures > 0;
}
