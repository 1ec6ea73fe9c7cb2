/* SPDX-License-Identifier: MIT */
#include "gemm/verify/flip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/switches.h"
#include "base/values.h"
#include "suite/fault.h"

SWITCH("HIMENO_GEMM_FLIP", TEST, OWN, FREE("`RANK [MATRIX] ROW,COLUMN BIT WHEN`"),
       "gemm-gpu: flips a bit in a matrix on the device ([gemm-verify.md](../explanation/gemm-verify.md))");

/* Parses when a fault is planted: "simd:2", "simd:last", "simd:trial3" or "2". */
static int parse_when(const char *text, struct gemm_flip *f)
{
  char block[16] = "";
  int end = -1;
  if (sscanf(text, "%d%n", &f->check, &end) == 1 && end > 0 && !text[end]) return f->check >= 1;
  if (sscanf(text, "%31[^: ]:%15[a-z0-9]%n", f->kernel, block, &end) != 2 || end < 0 || text[end]) return 0;
  f->block = strcmp(block, "last") == 0 ? GEMM_BLOCK_LAST : GEMM_BLOCK_TRIAL;
  if (f->block == GEMM_BLOCK_LAST) return 1;
  if (sscanf(block, "trial%d%n", &f->check, &end) == 1) return f->check >= 1 && !block[end];
  return sscanf(block, "%d%n", &f->block, &end) == 1 && !block[end] && f->block >= 0;
}

static int parse(const char *text, struct gemm_flip *flip)
{
  struct fault fault;
  if (!fault_parse(text, 2, &fault) || fault.rank < 0) return 0;
  const char matrix = fault.array[0] ? fault.array[0] : 'C';
  struct gemm_flip f = {.due = 1,
                        .rank = fault.rank,
                        .matrix = (enum gemm_matrix)(matrix - 'A'),
                        .row = fault.place[0],
                        .column = fault.place[1],
                        .bit = fault.bit};
  if (matrix < 'A' || matrix > 'C' || strlen(fault.array) > 1 || !parse_when(fault.when, &f)) return 0;
  *flip = f;
  return 1;
}

/* Parses all faults in the text. Returns 0 if one is not valid or there are too many. */
static int parse_all(const char *text, struct gemm_flip flips[GEMM_FLIPS_MAX])
{
  char one[128];
  for (int n = 0; n < GEMM_FLIPS_MAX && text; n++) {
    text = value_next(text + strspn(text, " "), ';', one, sizeof one);
    if (!parse(one, &flips[n])) return 0;
  }
  return !text;
}

status_t gemm_flip_read(struct gemm_flip **flips)
{
  static struct gemm_flip planned[GEMM_FLIPS_MAX];
  const char *text = switch_text("HIMENO_GEMM_FLIP");
  *flips = text ? planned : NULL;
  if (!text || parse_all(text, planned)) return STATUS_OK;
  return log_fail(STATUS_USAGE,
                  "HIMENO_GEMM_FLIP=%.200s: must be \"RANK [A|B|C] ROW,COLUMN BIT WHEN|KERNEL:BLOCK\", as in "
                  "\"1 3,40 30 2\" or \"1 B 3,40 30 simd:last\", or at most %d of these, separated by ;",
                  text, GEMM_FLIPS_MAX);
}

static int element_bits(const struct gemm_flip *flip, const struct gemm_problem *problem)
{
  return 8 * (int)gemm_element_bytes(problem, flip->matrix);
}

static int is_inside(const struct gemm_flip *flip, const struct gemm_problem *problem)
{
  return flip->row < gemm_rows(problem, flip->matrix) && flip->column < gemm_columns(problem, flip->matrix) &&
         flip->bit < element_bits(flip, problem);
}

static status_t check_one(const struct gemm_flip *flip, const struct gemm_problem *problem, int ranks,
                          int c_alone)
{
  if (!flip->due) return STATUS_OK;
  if (c_alone && flip->matrix != GEMM_C)
    return log_fail(STATUS_USAGE, "HIMENO_GEMM_FLIP: with --distributed only C can be flipped");
  if (flip->rank >= ranks)
    return log_fail(STATUS_USAGE, "HIMENO_GEMM_FLIP: there is no rank %d, only %d", flip->rank, ranks);
  if (is_inside(flip, problem)) return STATUS_OK;
  return log_fail(STATUS_USAGE,
                  "HIMENO_GEMM_FLIP: bit %d of %" PRId64 ",%" PRId64 " is not in a %c of %" PRId64
                  " x %" PRId64 " elements of %d bits",
                  flip->bit, flip->row, flip->column, "ABC"[flip->matrix], gemm_rows(problem, flip->matrix),
                  gemm_columns(problem, flip->matrix), element_bits(flip, problem));
}

status_t gemm_flip_check(const struct gemm_flip flips[GEMM_FLIPS_MAX], const struct gemm_problem *problem,
                         int ranks, int c_alone)
{
  for (int f = 0; flips && f < GEMM_FLIPS_MAX; f++)
    RETURN_IF_FAILED(check_one(&flips[f], problem, ranks, c_alone));
  return STATUS_OK;
}

/* If WHEN is only a number, it counts all checks except those of trials, which only rank 0 runs. */
static int is_now(struct gemm_flip *flip, const char *kernel, int block)
{
  int trial = block == GEMM_BLOCK_TRIAL;
  if (flip->kernel[0] ? block != flip->block || strcmp(kernel, flip->kernel) != 0 : trial) return 0;
  return (flip->kernel[0] && !trial) || ++flip->checks == flip->check;
}

static status_t gemm_flip_one(struct gemm_flip *flip, const struct gemm_matrices *m, int rank,
                              const char *kernel, int block)
{
  const struct gpu_mem all[] = {m->on.a, m->on.b, m->on.c};
  const struct gemm_problem *p = &m->problem;
  size_t bytes = gemm_element_bytes(p, flip->matrix);
  unsigned char element[sizeof(double)];
  if (!flip->due || flip->rank != rank || !is_now(flip, kernel, block)) return STATUS_OK;
  flip->due = 0;
  if (!is_inside(flip, p)) return STATUS_OK;
  size_t at = (size_t)(flip->row * p->ld[flip->matrix] + flip->column) * bytes;
  RETURN_IF_FAILED(gpu_read(m->queue, element, all[flip->matrix], at, bytes));
  element[flip->bit / 8] ^= (unsigned char)(1 << flip->bit % 8);
  RETURN_IF_FAILED(gpu_copy_in(m->queue, all[flip->matrix], at, element, bytes));
  return gpu_sync(m->queue);
}

status_t gemm_flip_plant(struct gemm_flip flips[GEMM_FLIPS_MAX], const struct gemm_matrices *m, int rank,
                         const char *kernel, int block)
{
  for (int f = 0; f < GEMM_FLIPS_MAX; f++) RETURN_IF_FAILED(gemm_flip_one(&flips[f], m, rank, kernel, block));
  return STATUS_OK;
}
