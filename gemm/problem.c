/* SPDX-License-Identifier: MIT */
#include "gemm/problem.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"

int64_t gemm_rows(const struct gemm_problem *p, enum gemm_matrix matrix)
{
  if (matrix == GEMM_A) return p->trans_a ? p->k : p->m;
  if (matrix == GEMM_B) return p->trans_b ? p->n : p->k;
  return p->m;
}

int64_t gemm_columns(const struct gemm_problem *p, enum gemm_matrix matrix)
{
  if (matrix == GEMM_A) return p->trans_a ? p->m : p->k;
  if (matrix == GEMM_B) return p->trans_b ? p->k : p->n;
  return p->n;
}

int64_t gemm_elements(const struct gemm_problem *p, enum gemm_matrix matrix)
{
  return (gemm_rows(p, matrix) - 1) * p->ld[matrix] + gemm_columns(p, matrix);
}

size_t gemm_element_bytes(const struct gemm_problem *p, enum gemm_matrix matrix)
{
  return matrix == GEMM_C ? gemm_types[p->type].result_bytes : gemm_types[p->type].operand_bytes;
}

size_t gemm_bytes(const struct gemm_problem *p, enum gemm_matrix matrix)
{
  return (size_t)gemm_elements(p, matrix) * gemm_element_bytes(p, matrix);
}

double gemm_flop(const struct gemm_problem *p)
{
  return 2.0 * (double)p->m * (double)p->n * (double)p->k;
}

const char *const gemm_trans_names[] = {"NN", "NT", "TN", "TT"};

const char *gemm_trans_name(const struct gemm_problem *p)
{
  return gemm_trans_names[2 * !!p->trans_a + !!p->trans_b];
}

static status_t matrix_check(struct gemm_problem *p, enum gemm_matrix matrix)
{
  static const char *const options[] = {"--lda", "--ldb", "--ldc"};
  int64_t columns = gemm_columns(p, matrix), bytes;
  if (p->ld[matrix] == 0) p->ld[matrix] = columns;
  if (p->ld[matrix] < columns)
    return log_fail(STATUS_USAGE, "%s %" PRId64 ": too small, a stored row of %c has %" PRId64 " elements",
                    options[matrix], p->ld[matrix], "ABC"[matrix], columns);
  if (__builtin_mul_overflow(gemm_rows(p, matrix), p->ld[matrix], &bytes) ||
      __builtin_mul_overflow(bytes, (int64_t)gemm_element_bytes(p, matrix), &bytes) || bytes > INT64_MAX / 4)
    return log_fail(STATUS_USAGE,
                    "--size %" PRId64 "x%" PRId64 "x%" PRId64 ": %c is too large for 64-bit sizes", p->m,
                    p->n, p->k, "ABC"[matrix]);
  return STATUS_OK;
}

status_t gemm_problem_complete(struct gemm_problem *p)
{
  for (int matrix = 0; matrix < GEMM_MATRICES; matrix++) RETURN_IF_FAILED(matrix_check(p, matrix));
  return STATUS_OK;
}

status_t gemm_size_parse(const char *option, const char *text, void *size)
{
  long long extents[3] = {0};
  char number[16];
  int n = 0, good = 1;
  for (const char *rest = text; rest && good; n++) {
    rest = value_next(rest, 'x', number, sizeof number);
    good = n < 3 && value_read_int(number, 1, GEMM_EXTENT_MAX, &extents[n]) == STATUS_OK;
  }
  if (!good || n == 2)
    return log_fail(STATUS_USAGE, "%s %s: must be N or MxNxK, each from 1 to %d", option, text,
                    GEMM_EXTENT_MAX);
  for (int d = 0; d < 3; d++) ((int64_t *)size)[d] = extents[n == 1 ? 0 : d];
  return STATUS_OK;
}
