/* SPDX-License-Identifier: MIT */
/* Tests that gemm-gpu reports every wrong block. Faults are random: any bit, at a random place of
 * C, A or B, in any block of our kernel or of the library, or in a trial of tiles, on any rank.
 * Each has a separate run on new matrices. One MPI job runs all, and prints TAP: mpirun -np 2
 * products BACKEND FAULTS. Every flip in A, B and our C must be reported. In the C of a library or
 * a trial, a flip must be reported if it moves the element beyond the error bounds of two correct
 * results; smaller flips are drawn again, and counted. */
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
static int below; /* number of flips drawn that were too small for the bounds to show */

static int draw(int choices)
{
  return (int)(hash_mix(drawn++) % (uint64_t)choices);
}

/* ---- one fault ---- */

struct fault {
  int rank, series, block; /* block: 0 to 3, GEMM_BLOCK_LAST or GEMM_BLOCK_TRIAL */
  enum gemm_matrix matrix;
  int64_t row, column;
  int bit;
  float factors[2];
};

/* Returns 1 if a flip in a library's C must be reported. In one product it must exceed twice the
 * bound on ‖row‖‖column‖, and once more for its own error. A block with beta is the sum of many
 * products here, whose bounds are wider: then only bit 30 must be reported. */
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

/* Completes a fault by what depends on the problem: the series and the position in the matrix. Each
 * rank has its own data, so the rank with the fault decides if it is drawn again. */
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

/* ---- what is reported about a fault ---- */

/* Returns what is wrong with the reports, or NULL. Only the rank with the fault may report it. A
 * library's fault gives no verdict, unless the run asks for one. */
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

/* Correct results must not be reported, however many times C is added. */
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
