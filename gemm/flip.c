/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gemm/flip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

static int parse(const char *text, struct gemm_flip *flip)
{
  struct gemm_flip f = {.due = 1};
  int end = -1;
  if (sscanf(text, "%d %" SCNd64 ",%" SCNd64 " %d %d%n", &f.rank, &f.row, &f.column, &f.bit, &f.look, &end) !=
          5 ||
      text[end])
    return 0;
  if (f.rank < 0 || f.row < 0 || f.column < 0 || f.bit < 0 || f.bit > 31 || f.look < 1) return 0;
  *flip = f;
  return 1;
}

status_t gemm_flip_read(struct gemm_flip *flip)
{
  const char *text = getenv("HIMENO_GEMM_FLIP");
  if (!text || parse(text, flip)) return STATUS_OK;
  return log_fail(STATUS_USAGE,
                  "HIMENO_GEMM_FLIP=%s: \"RANK ROW,COLUMN BIT LOOK\" is asked for, as in \"1 3,40 30 2\"",
                  text);
}

static int element_bits(const struct gemm_problem *problem)
{
  return 8 * (int)gemm_element_bytes(problem, GEMM_C);
}

static int is_in_c(const struct gemm_flip *flip, const struct gemm_problem *problem)
{
  return flip->row < problem->m && flip->column < problem->n && flip->bit < element_bits(problem);
}

status_t gemm_flip_check(const struct gemm_flip *flip, const struct gemm_problem *problem, int ranks)
{
  if (!flip->due) return STATUS_OK;
  if (flip->rank >= ranks)
    return log_fail(STATUS_USAGE, "HIMENO_GEMM_FLIP: rank %d of %d", flip->rank, ranks);
  if (is_in_c(flip, problem)) return STATUS_OK;
  return log_fail(STATUS_USAGE,
                  "HIMENO_GEMM_FLIP: bit %d of %" PRId64 ",%" PRId64 " is not in a C of %" PRId64
                  " x %" PRId64 " elements of %d bits",
                  flip->bit, flip->row, flip->column, problem->m, problem->n, element_bits(problem));
}

status_t gemm_flip_plant(struct gemm_flip *flip, const struct gemm_matrices *m, int rank)
{
  const struct gemm_problem *p = &m->problem;
  size_t bytes = gemm_element_bytes(p, GEMM_C);
  unsigned char element[4];
  if (!flip->due || flip->rank != rank || ++flip->looks < flip->look) return STATUS_OK;
  flip->due = 0;
  if (!is_in_c(flip, p)) return STATUS_OK;
  size_t at = (size_t)(flip->row * p->ld[GEMM_C] + flip->column) * bytes;
  RETURN_IF_FAILED(gpu_copy_out(m->queue, element, m->on.c, at, bytes));
  RETURN_IF_FAILED(gpu_sync(m->queue));
  element[flip->bit / 8] ^= (unsigned char)(1 << flip->bit % 8);
  RETURN_IF_FAILED(gpu_copy_in(m->queue, m->on.c, at, element, bytes));
  return gpu_sync(m->queue);
}
