/* SPDX-License-Identifier: MIT */
/* Tests that every kernel of a backend is bitwise correct on 1 to N ranks, in all process grids: it
 * must equal the table tests/golden/himeno.csv, or the reference kernel. One MPI job runs all cases
 * on sub-communicators, and prints TAP.
 *
 * Usage: mpirun -np 8 matrix TABLE BACKEND all|cuts|pairs|odd [KERNEL,...]. `all`: every process
 * grid at 24x37x53 with both data sets, and once at XS; transports and overlap vary from case to
 * case. `cuts`: each grid once at 24x37x53; slabs along i use p2p, for which there are kernels that
 * also send. `pairs`: size S; kernels, data, transports and overlap vary, with a third of the
 * grids. `odd`: sizes that suit no tile, from the smallest one on; the other settings vary. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/halo/grid.h"
#include "comm/ranks/agree.h"
#include "himeno/solver/solver.h"
#include "himeno/verify/verify.h"

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
static int n_golden, world_rank, world_ranks, cases, failures, odd;
static const struct gpu_backend *backend;
static struct gpu_device *device;
static const struct himeno_kernel_set *set;

static const struct halo_transport *transports[16]; /* those that are available on this backend */
static int n_transports;

/* Lists the available transports. NCCL needs a separate device for each rank. */
static void transports_find(int n_devices)
{
  char reason[GPU_TEXT_MAX];
  for (int t = 0; halo_transports[t]; t++) {
    if (halo_transports[t] == &halo_transport_nccl && world_ranks > n_devices) continue;
    if (halo_transports[t]->available(backend, reason)) transports[n_transports++] = halo_transports[t];
  }
}

static int is_listed(const char *list, const char *name)
{
  size_t length = strlen(name);
  for (const char *at = list; at && (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return 1;
  return list == NULL;
}

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

/* Sets the block's reference value: from the table, or from the reference kernel or the model. */
static status_t value_find(const struct solver_config *config, const struct test_case *t,
                           struct verify_value *value)
{
  if (odd || t->kernel->toward_zero) return verify_prepare(config, HIMENO_VERIFY_FULL, 0, t->sweeps, value);
  const struct golden *golden = table_find(t);
  if (!golden) return log_fail(STATUS_USAGE, "the table has no such case");
  *value = (struct verify_value){
      .source = VERIFY_KNOWN, .sweeps = t->sweeps, .gosa = golden->gosa, .checksum = golden->checksum};
  return STATUS_OK;
}

static struct decomp_rules kernel_rules(const struct himeno_kernel *kernel)
{
  return (struct decomp_rules){
      .depth = kernel->sweeps, .whole_planes = kernel->whole_planes, .whole_rows = kernel->resident};
}

static status_t case_run(const struct test_case *t, MPI_Comm comm, struct solver_block *block)
{
  struct grid_size size;
  struct solver *solver;
  struct verify_value value;
  struct decomp_rules rules = kernel_rules(t->kernel);
  RETURN_IF_FAILED(grid_size_parse("--size", t->size, &size));
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
  RETURN_IF_FAILED(value_find(&config, t, &value));
  RETURN_IF_FAILED(solver_open(&config, &solver));
  status_t status = solver_block_run(solver, t->sweeps, 1, block);
  if (status == STATUS_OK) status = verify_block(&value, block, "case");
  solver_close(solver);
  verify_value_free(&value);
  return status;
}

static void case_report(const struct test_case *t, status_t status, const struct solver_block *block)
{
  int ok = status == STATUS_OK;
  printf("%s %d - %s %s %s %s, %d sweeps, %dx%dx%d, %s%s\n", ok ? "ok" : "not ok", cases, backend->name,
         t->kernel->name, t->size, t->data == HIMENO_DENSE ? "dense" : "standard", t->sweeps, t->procs[0],
         t->procs[1], t->procs[2], t->transport->name, t->overlap ? "" : ", not overlapped");
  if (!ok) printf("# %s, got %016" PRIx64 " %.12e\n", status_verdict(status), block->checksum, block->gosa);
  fflush(stdout);
  failures += !ok;
}

/* Returns the next transport. The sequence is out of step with those of the other settings. */
static const struct halo_transport *transport_next(void)
{
  return transports[(cases + cases / n_transports) % n_transports];
}

/* Returns the transport with this name, or another one if it is unavailable. */
static const struct halo_transport *transport_named(const char *name)
{
  for (int t = 0; t < n_transports; t++)
    if (strcmp(transports[t]->name, name) == 0) return transports[t];
  return transport_next();
}

/* Runs a case on the first ranks of the world; the other ranks return at once. */
static void case_do(struct test_case *t)
{
  int ranks = t->procs[0] * t->procs[1] * t->procs[2];
  struct solver_block block = {0};
  MPI_Comm comm;
  if (t->kernel->resident && ranks > 1) t->transport = transport_named("p2p");
  cases++;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, world_rank, &comm);
  if (comm == MPI_COMM_NULL) return;
  status_t status = case_run(t, comm, &block);
  if (world_rank == 0) case_report(t, status, &block);
  MPI_Comm_free(&comm);
}

static int cut_fits(const struct test_case *t)
{
  struct grid_size size;
  struct decomp_rules rules = kernel_rules(t->kernel);
  grid_size_parse("--size", t->size, &size);
  log_hold(1);
  int fits =
      decomp_check(t->procs[0] * t->procs[1] * t->procs[2], size.extent, t->procs, &rules) == STATUS_OK;
  log_drop();
  log_hold(0);
  return fits;
}

/* Calls \a act for each process grid P×Q×R of \a ranks. */
static void each_cut(int ranks, struct test_case *t, void (*act)(struct test_case *))
{
  for (int p = 1; p <= ranks; p++)
    for (int q = 1; ranks % p == 0 && q <= ranks / p; q++) {
      if (ranks / p % q != 0) continue;
      t->procs[0] = p, t->procs[1] = q, t->procs[2] = ranks / p / q;
      if (cut_fits(t)) act(t);
    }
}

/* Runs both data sets. Each has the overlap in half of the process grids. */
static void cut_all(struct test_case *t)
{
  const int swapped = cases / 4 % 2;
  t->sweeps = 3;
  for (int c = 0; c < 2; c++) {
    t->data = c == 0 ? HIMENO_DENSE : HIMENO_STANDARD;
    t->transport = transport_next();
    t->overlap = c == swapped;
    case_do(t);
  }
}

static void pair_off(struct test_case *t)
{
  t->transport = transport_next();
  t->overlap = cases / n_transports % 2;
  t->data = cases % 3 ? HIMENO_DENSE : HIMENO_STANDARD;
}

/* Most cases have dense data, which show errors at every edge. */
static void cut_paired(struct test_case *t)
{
  pair_off(t);
  t->sweeps = cases % 5 == 4 ? 10 : 3;
  case_do(t);
}

static void cut_once(struct test_case *t)
{
  pair_off(t);
  t->sweeps = 3;
  if (t->procs[0] > 1 && t->procs[1] * t->procs[2] == 1) {
    t->transport = transport_named("p2p");
    t->overlap = 1;
  }
  case_do(t);
}

static void cut_odd(struct test_case *t)
{
  pair_off(t);
  t->sweeps = 5;
  case_do(t);
}

/* Runs every third process grid of a kernel, and other ones for the next kernel. */
static void cut_third(struct test_case *t)
{
  static int call;
  int n = call++;
  if ((n + n / 3) % 3 == 0) cut_paired(t);
}

static void kernel_do(const struct himeno_kernel *kernel, int ranks, const char *mode)
{
  static const char *const odd_sizes[] = {"3x3x3", "3x4x5", "4x33x129", "19x7x67", "33x17x31", "9x35x258"};
  struct test_case t = {.kernel = kernel, .size = "64x64x128"};
  if (strcmp(mode, "pairs") == 0) {
    each_cut(ranks, &t, cut_third);
  } else if (odd) {
    for (size_t s = 0; s < sizeof odd_sizes / sizeof odd_sizes[0]; s++) {
      t.size = odd_sizes[s];
      each_cut(ranks, &t, cut_odd);
    }
  } else if (strcmp(mode, "cuts") == 0) {
    t.size = "24x37x53";
    each_cut(ranks, &t, cut_once);
  } else {
    t.size = "24x37x53";
    each_cut(ranks, &t, cut_all);
    t.size = "32x32x64";
    each_cut(ranks, &t, cut_paired);
  }
}

/* Returns the device of this rank; ranks use the devices in turn. CPUs, which an OpenCL loader may
 * list too, are used only without a GPU. */
static int device_index(const struct gpu_device_info *devices, int n)
{
  int gpus = 0, wanted = 0;
  for (int d = 0; d < n; d++) gpus += !devices[d].is_cpu;
  if (gpus == 0) return world_rank % n;
  for (int d = 0; d < n; d++)
    if (!devices[d].is_cpu && wanted++ == world_rank % gpus) return d;
  return 0;
}

static int mode_known(const char *mode)
{
  static const char *const modes[] = {"all", "cuts", "pairs", "odd"};
  size_t m = 0;
  while (m < sizeof modes / sizeof modes[0] && strcmp(modes[m], mode) != 0) m++;
  return m < sizeof modes / sizeof modes[0];
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
  if (argc < 4 || argc > 5 || !table_read(argv[1]) || !(backend = gpu_backend_find(argv[2])) ||
      !mode_known(argv[3]))
    MPI_Abort(MPI_COMM_WORLD, STATUS_USAGE);
  odd = strcmp(argv[3], "odd") == 0;
  backend->probe(&devices, &n_devices, reason);
  int index = n_devices > 0 ? device_index(devices, n_devices) : 0;
  free(devices);
  set = himeno_kernels_find(backend->name);
  if (n_devices == 0 || !set) {
    if (world_rank == 0) printf("1..0 # SKIP %s: %s\n", backend->name, reason);
    MPI_Finalize();
    return 0;
  }
  transports_find(n_devices);
  if (gpu_open(backend, index, &device) != STATUS_OK) MPI_Abort(MPI_COMM_WORLD, STATUS_ENVIRONMENT);
  for (size_t r = 0; r < sizeof rank_counts / sizeof rank_counts[0]; r++)
    for (int k = 0; rank_counts[r] <= world_ranks && k < set->n; k++)
      if (is_listed(argv[4], set->kernels[k].name)) kernel_do(&set->kernels[k], rank_counts[r], argv[3]);
  if (world_rank == 0) printf("1..%d\n", cases);
  gpu_close(device);
  MPI_Finalize();
  return failures > 0;
}
