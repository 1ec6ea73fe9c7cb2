/* SPDX-License-Identifier: MIT */
/* Every wrong block of gemm-gpu is seen: faults at random places of C, A and B, of any bit, in any
 * block of our kernel and of the library, and in trials of tiles, on any rank, each in a run of its
 * own on fresh matrices. One MPI job does them all and speaks TAP. mpirun -np 2 products BACKEND
 * FAULTS Of our C, of A and of B any bit must be seen; of a library's C, and of a trial's, those
 * that move their element beyond the bounds of two right results: a fault below is drawn again, and
 * counted. */
#include <math.h>
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
#include "tests/flipped.h"

static const int64_t size[3] = {40, 33, 64};
static struct gemm_run run;
static struct gemm_flip flips[GEMM_FLIPS_MAX];
static uint64_t drawn = 1;
static int below; /* faults drawn in a library's C that its bounds need not show */

static int draw(int choices)
{
  return (int)(hash_mix(drawn++) % (uint64_t)choices);
}

/* ---- one fault ---- */

struct fault {
  int rank, series, block; /* 0 to 3, or GEMM_BLOCK_LAST or GEMM_BLOCK_TRIAL */
  enum gemm_matrix matrix;
  int64_t row, column;
  int bit;
  float factors[2];
};

/* Whether a flip in a library's C must be seen: of one product by twice the bound on ‖row‖‖column‖,
 * and as much again for its own error. Blocks that read C are blocks of many products here, whose
 * bounds are wider: of these only what is gross is asked for. */
static int is_beyond(const struct fault *f)
{
  const float *a = run.work.matrices.host[GEMM_A], *b = run.work.matrices.host[GEMM_B];
  const struct gemm_problem *p = &run.work.problem;
  double sum = 0, row = 0, column = 0;
  for (int64_t l = 0; l < p->k; l++) {
    double x = (double)a[f->row * p->ld[GEMM_A] + l], y = (double)b[l * p->ld[GEMM_B] + f->column];
    sum += x * y;
    row += x * x;
    column += y * y;
  }
  if (p->beta != 0) return f->bit == 30;
  double limit = 3 * gemm_bounds_of(p, 0).element * sqrt(row * column) * fabs((double)p->alpha);
  float value = (float)(sum * (double)p->alpha);
  double moved = fabs((double)flipped(value, f->bit) - (double)value);
  return !(moved <= limit);
}

static struct fault fault_draw(void)
{
  static const int blocks[] = {0, 1, 2, 3, GEMM_BLOCK_LAST};
  static const float factors[][2] = {{1, 0}, {-1.5f, 0}, {1, 0.5f}};
  struct fault f = {.rank = draw(run.rig.placement.ranks), .block = blocks[draw(5)], .matrix = GEMM_C};
  int which = draw(8);
  if (which < 2) f.matrix = (enum gemm_matrix)which;
  f.bit = draw(32);
  f.series = draw(1000);
  memcpy(f.factors, factors[draw(3)], sizeof f.factors);
  return f;
}

/* Which needs the problem: the series there are, and how large its matrices. A rank's data are its
 * own, and its word on them counts. */
static status_t fault_place(struct fault *f)
{
  const struct gemm_kernel *kernel;
  int again;
  f->series %= run.result.n_series;
  if (run.rig.placement.info.emulated && f->block > 1) f->block = 1;
  kernel = run.result.series[f->series].kernel;
  if (kernel->n_blocks > 1 && draw(3) == 0) f->rank = 0, f->block = GEMM_BLOCK_TRIAL;
  do {
    f->row = draw((int)gemm_rows(&run.work.problem, f->matrix));
    f->column = draw((int)gemm_columns(&run.work.problem, f->matrix));
    int anything = f->matrix != GEMM_C || (!kernel->is_reference && f->block != GEMM_BLOCK_TRIAL);
    again = !anything && !is_beyond(f);
    MPI_Bcast(&again, 1, MPI_INT, f->rank, MPI_COMM_WORLD);
    below += again;
    if (again) f->bit = draw(32);
  } while (again);
  run.work.flips = flips;
  run.work.flips[0] = (struct gemm_flip){.due = 1,
                                         .rank = f->rank,
                                         .matrix = f->matrix,
                                         .row = f->row,
                                         .column = f->column,
                                         .bit = f->bit,
                                         .block = f->block,
                                         .check = 1 + draw(3)};
  snprintf(run.work.flips[0].kernel, sizeof run.work.flips[0].kernel, "%s", kernel->name);
  return gemm_flip_check(run.work.flips, &run.work.problem, run.rig.placement.ranks, 0);
}

/* ---- what is said of it ---- */

/* Only the rank that has the fault reports it. A library's fault alone is no verdict, unless the
 * run asks for one. */
static const char *judge(const struct fault *f, status_t status)
{
  const struct gemm_series *s = &run.result.series[f->series];
  int library = s->kernel->is_reference && f->matrix == GEMM_C;
  int mine = run.work.damage[0] != 0, reported;
  for (int n = 0; n < run.result.n_series; n++) mine |= run.result.series[n].fault[0] != 0;
  reported = mine == (run.rig.placement.rank == f->rank);
  MPI_Allreduce(MPI_IN_PLACE, &reported, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  int due = run.work.flips[0].due;
  MPI_Bcast(&due, 1, MPI_INT, f->rank, MPI_COMM_WORLD);
  if (due) return "was not planted";
  if (!reported) return "is not told by its rank, or by another one";
  if (status != (library && !run.rig.config.accept ? STATUS_OK : STATUS_WRONG)) return "has another verdict";
  if (f->matrix == GEMM_C && s->status != STATUS_WRONG) return "does not condemn its kernel";
  if (library && run.result.series[0].status == STATUS_WRONG) return "condemns the kernel";
  mine = f->matrix == GEMM_C || run.work.damage[0] || run.rig.placement.rank != f->rank;
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return mine ? NULL : "is not told of the matrix";
}

static status_t product(struct fault *f, int planted)
{
  run.rig.config.alpha = (double)f->factors[0];
  run.rig.config.beta = (double)f->factors[1];
  RETURN_IF_FAILED(agree_status(run.rig.placement.comm, gemm_problem_open(&run, size)));
  if (planted) RETURN_IF_FAILED(fault_place(f));
  for (int s = 0; s < run.result.n_series; s++)
    RETURN_IF_FAILED(gemm_tune(&run.rig, &run.work, &run.result.series[s]));
  return gemm_measure(&run, run.result.series, run.result.n_series, run.rig.config.seconds);
}

static void report(int number, const struct fault *f, const char *amiss)
{
  if (run.rig.placement.rank != 0) return;
  printf("%sok %d - %s: bit %d of %c at %lld,%lld, block %d, rank %d, beta %g%s%s%s\n", amiss ? "not " : "",
         number, run.result.series[f->series].kernel->name, f->bit, "ABC"[f->matrix], (long long)f -> row,
         (long long)f -> column, f -> block, f -> rank, (double)f -> factors[1],
         run.rig.config.accept ? ", accept" : "", amiss ? ": " : "", amiss ? amiss : "");
}

static int fault_try(int number)
{
  struct fault f = fault_draw();
  run.rig.config.accept = number % 2;
  status_t status = product(&f, 1);
  if (status != STATUS_OK && status != STATUS_WRONG) agree_abort(status);
  const char *amiss = judge(&f, status);
  report(number, &f, amiss);
  gemm_problem_close(&run.work, &run.result);
  return amiss != NULL;
}

/* Nothing is said of what is right, however often C is read. */
static int right_try(int number, float beta)
{
  struct fault f = {.factors = {1, beta}};
  run.rig.config.accept = 1;
  status_t status = product(&f, 0);
  if (run.rig.placement.rank == 0)
    printf("%sok %d - nothing is wrong, beta %g\n", status == STATUS_OK ? "" : "not ", number, (double)beta);
  gemm_problem_close(&run.work, &run.result);
  return status != STATUS_OK;
}

static void run_open(const char *backend)
{
  run.rig.config =
      (struct gemm_config){.seconds = 0.002, .block = 0.0005, .backend = gpu_backend_find(backend)};
  log_hold(1);
  if (!run.rig.config.backend || placement_open(MPI_COMM_WORLD, &run.rig.placement) != STATUS_OK)
    agree_abort(STATUS_USAGE);
  status_t status = gemm_place(&run.rig);
  if (status == STATUS_OK) return;
  if (run.rig.placement.rank == 0) printf("1..0 # SKIP %s is not here\n", backend);
  end_mpi();
  exit(0);
}

int main(int argc, char **argv)
{
  static const float betas[] = {0, 0.5f, 1, -2};
  if (begin_mpi(&argc, &argv, 0, NULL) != STATUS_OK || argc != 3) return STATUS_USAGE;
  int faults = atoi(argv[2]), failures = 0, number = 0;
  run_open(argv[1]);
  for (size_t n = 0; n < sizeof betas / sizeof *betas; n++) failures += right_try(++number, betas[n]);
  for (int n = 0; n < faults; n++) failures += fault_try(++number);
  if (run.rig.placement.rank == 0)
    printf("# %d flips of a library's or a trial's C were drawn again\n1..%d\n", below, number);
  gemm_run_close(&run);
  placement_close(&run.rig.placement);
  end_mpi();
  return failures > 0;
}
