/* SPDX-License-Identifier: MIT */
/* Tests gemm-gpu --distributed on random shapes over 1 to N ranks, by every grid and transport, on
 * sub-communicators of one MPI job; prints TAP. mpirun -np N cluster BACKEND CASES
 *
 * Each case runs on one rank and on several. Both results are verified against float64, and must
 * have the same bits, because the order over k is the same. In every third case a bit flips in a
 * message that a rank receives in the second run: the result must be wrong, and the rank must
 * report it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/begin.h"
#include "gemm/measure/measure.h"
#include "gemm/run/run.h"
#include "gemm/tune/tune.h"

static int world_rank, world_ranks;
static uint64_t drawn = 1;
static const struct gpu_backend *backend;

/* Returns a random number below \a choices, which is the same on all ranks. */
static int draw(int choices)
{
  return (int)(hash_mix(drawn++) % (uint64_t)choices);
}

struct test_case {
  struct gemm_config config;
  int ranks, corrupt; /* corrupt: the rank that receives a flipped bit, −1 for none */
};

static int is_usable(const struct halo_transport *transport)
{
  char reason[GPU_TEXT_MAX];
  return transport != &halo_transport_nccl && transport->available(backend, reason);
}

/* Returns a random kernel of the suite, not a library's, for float. */
static const struct gemm_kernel *kernel_draw(void)
{
  const struct gemm_kernel_set *set = gemm_kernels_find(backend->name);
  const struct gemm_kernel *kernel;
  do kernel = set->kernels[draw(set->n)];
  while (kernel->is_reference || kernel->rung == 0 || !(kernel->types & GEMM_BIT(GEMM_F32)));
  return kernel;
}

/* Returns 1 if all ranks have a part of each panel. A rank without one gets more than it reads. */
static int all_hold(const struct gemm_config *config)
{
  const struct gemm_problem whole = {.m = config->size[0], .n = config->size[1], .k = config->size[2]};
  struct gemm_grid grid;
  int holds = 1;
  for (int rank = 0; rank < config->procs[0] * config->procs[1]; rank++) {
    gemm_grid_init(&grid, &whole, config->procs, rank, config->panel);
    for (int matrix = GEMM_A; matrix <= GEMM_B; matrix++)
      holds &=
          gemm_panels_slice(&grid, (enum gemm_matrix)matrix, grid.procs[matrix == GEMM_A] - 1).extent > 0;
  }
  return holds;
}

static struct test_case case_draw(int number)
{
  static const double factors[][2] = {{1, 0}, {-1.5, 0}, {1, 0.5}, {0.25, -2}};
  const double *factor = factors[draw(4)];
  const struct halo_transport *transport;
  int count = 0, few = 1 + draw(world_ranks < 3 ? world_ranks : 3), many = 1 + draw(world_ranks / few),
      tall = draw(2);
  int rows = tall ? many : few, columns = tall ? few : many;
  while (halo_transports[count]) count++;
  do transport = halo_transports[draw(count)];
  while (!is_usable(transport));
  const struct gemm_kernel *kernel = kernel_draw();
  struct test_case t = {.ranks = rows * columns, .corrupt = -1};
  t.config = (struct gemm_config){.seconds = 0.0005,
                                  .block = 0.0002,
                                  .backend = backend,
                                  .distributed = 1,
                                  .kernel = kernel->name,
                                  .transport = transport->name,
                                  .size = {1 + draw(40), 1 + draw(draw(2) ? 40 : 1200), 1 + draw(150)},
                                  .size_given = 1,
                                  .trans = kernel->transposes ? draw(4) : 0,
                                  .alpha = factor[0],
                                  .beta = factor[1],
                                  .panel = 1 + draw(60),
                                  .procs = {rows, columns}};
  if (number % 3 == 0 && t.ranks > 1 && all_hold(&t.config)) t.corrupt = draw(t.ranks);
  return t;
}

/* Returns 1 if an earlier rank has the same block. */
static int is_again(int64_t extent, int parts, int at)
{
  return at > 0 && gemm_grid_span(extent, parts, at - 1).begin == gemm_grid_span(extent, parts, at).begin;
}

/* Returns a checksum of C's elements by position. An element of several ranks counts once. */
static uint64_t checksum(const struct gemm_run *run)
{
  const struct gemm_grid *g = &run->work.cluster->grid;
  const struct gemm_problem *p = &run->work.problem, *whole = &run->work.cluster->whole;
  uint64_t sum = 0, all;
  int again = is_again(whole->m, g->procs[0], g->at[0]) || is_again(whole->n, g->procs[1], g->at[1]);
  for (int64_t i = 0; i < p->m && !again; i++)
    for (int64_t j = 0; j < p->n; j++) {
      uint32_t bits;
      memcpy(&bits, (const float *)run->work.matrices.out + i * p->ld[GEMM_C] + j, sizeof bits);
      uint64_t at = (uint64_t)((g->m.begin + i) * whole->n + g->n.begin + j);
      sum += hash_mix(hash_mix(at) + bits);
    }
  MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, run->rig.placement.comm);
  return all;
}

/* Flips a bit of one of the rank's slices in device memory. Returns 1 if that is detected. */
static int damage_is_seen(struct gemm_run *run)
{
  struct gemm_panels *side = &run->work.cluster->side[draw(2)];
  struct gpu_mem slice = side->own[draw(run->work.cluster->grid.panels)];
  unsigned char byte;
  size_t at = (size_t)draw((int)slice.bytes);
  gpu_read(run->rig.queue, &byte, slice, at, 1);
  byte ^= (unsigned char)(1 << draw(8));
  gpu_copy_in(run->rig.queue, slice, at, &byte, 1);
  gpu_sync(run->rig.queue);
  return gemm_cluster_check(run->work.cluster) == STATUS_WRONG;
}

/* Findings of all ranks. */
struct found {
  uint64_t sum; /* of C's bits */
  int reported; /* 1 if the rank that received a flipped bit reports it */
  int unseen;   /* 1 if a change of a slice in device memory is not reported */
};

static status_t product(struct gemm_run *run, int corrupt, struct found *found)
{
  MPI_Comm comm = run->rig.placement.comm;
  RETURN_IF_FAILED(gemm_place(&run->rig));
  RETURN_IF_FAILED(agree_status(comm, gemm_problem_open(run, NULL)));
  RETURN_IF_FAILED(gemm_cluster_prepare(run));
  status_t status = gemm_measure(run, run->result.series, run->result.n_series, run->rig.config.seconds);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  found->sum = checksum(run);
  int mine[] = {run->rig.placement.rank == corrupt && run->result.series[0].fault[0],
                gemm_cluster_check(run->work.cluster) != STATUS_OK || !damage_is_seen(run)};
  MPI_Allreduce(&mine[0], &found->reported, 1, MPI_INT, MPI_MAX, comm);
  MPI_Allreduce(&mine[1], &found->unseen, 1, MPI_INT, MPI_MAX, comm);
  return status;
}

/* Runs a case on the first ranks of the world; the other ranks return at once. */
static status_t run_case(const struct test_case *t, struct found *found)
{
  struct gemm_run run = {.rig.config = t->config};
  char corrupt[32];
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank < t->ranks ? 0 : MPI_UNDEFINED, world_rank, &comm);
  if (comm == MPI_COMM_NULL) return STATUS_OK;
  snprintf(corrupt, sizeof corrupt, "%d:1", t->corrupt);
  if (t->corrupt >= 0) setenv("HIMENO_HALO_CORRUPT", corrupt, 1);
  if (placement_open(comm, &run.rig.placement) != STATUS_OK) agree_abort(STATUS_FAULT);
  status_t status = product(&run, t->corrupt, found);
  unsetenv("HIMENO_HALO_CORRUPT");
  if (status != STATUS_OK && status != STATUS_WRONG && status != STATUS_ENVIRONMENT) agree_abort(status);
  gemm_problem_close(&run.work, &run.result);
  gemm_run_close(&run);
  placement_close(&run.rig.placement);
  MPI_Comm_free(&comm);
  log_drop();
  return status;
}

static const char *judge(const struct test_case *t, const status_t status[2], const struct found found[2])
{
  if (status[0] != STATUS_OK) return "is wrong on one rank";
  if (found[0].unseen || found[1].unseen) return "does not see what changed in device memory";
  if (t->corrupt < 0 && status[1] != STATUS_OK) return "is wrong";
  if (t->corrupt < 0) return found[0].sum == found[1].sum ? NULL : "has other bits than on one rank";
  if (status[1] != STATUS_WRONG) return "passes with a bit flipped";
  return found[1].reported ? NULL : "does not name the rank that received it";
}

static int case_try(int number)
{
  struct test_case t = case_draw(number), one = t;
  struct found found[2] = {{0}};
  one.ranks = one.config.procs[0] = one.config.procs[1] = 1;
  one.corrupt = -1;
  const uint64_t seed = drawn;
  status_t status[2] = {run_case(&one, &found[0])};
  status[1] = run_case(&t, &found[1]);
  drawn = seed + 16; /* ranks that did not take part have drawn fewer numbers */
  if (world_rank != 0) return 0;
  const struct gemm_config *c = &t.config;
  if (status[0] == STATUS_ENVIRONMENT) {
    printf("ok %d # SKIP kernel %s has no place on this device\n", number, t.config.kernel);
    return -1;
  }
  const char *amiss = judge(&t, status, found);
  printf("%sok %d - %s %" PRId64 "x%" PRId64 "x%" PRId64 " %c%c over %dx%d by %s, panels of %" PRId64
         ", alpha %g, beta %g, corrupted %d%s%s\n",
         amiss ? "not " : "", number, c->kernel, c->size[0], c->size[1], c->size[2], "NT"[c->trans >> 1],
         "NT"[c->trans & 1], c -> procs[0], c -> procs[1], c -> transport, c -> panel, c -> alpha, c -> beta,
         t.corrupt, amiss ? ": " : "", amiss ? amiss : "");
  fflush(stdout);
  return amiss != NULL;
}

int main(int argc, char **argv)
{
  int failures = 0, skipped = 0, n_devices = 0, cases = argc == 3 ? atoi(argv[2]) : 0;
  struct gpu_device_info *devices = NULL;
  char reason[GPU_TEXT_MAX] = "";
  if (begin_mpi(&argc, &argv, 0, NULL) != STATUS_OK || cases < 1) return STATUS_USAGE;
  log_hold(1);
  backend = gpu_backend_find(argv[1]);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  backend->probe(&devices, &n_devices, reason);
  free(devices);
  if (n_devices == 0) {
    if (world_rank == 0) printf("1..0 # SKIP %s: %s\n", backend->name, reason);
    end_mpi();
    return 0;
  }
  for (int n = 1; n <= cases; n++) {
    const int amiss = case_try(n);
    if (amiss < 0) skipped++;
    if (amiss > 0) failures++;
  }
  if (world_rank == 0) printf("1..%d\n", cases);
  end_mpi();
  return failures > 0 || skipped > cases / 2;
}
