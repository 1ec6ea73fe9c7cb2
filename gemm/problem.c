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

const char *gemm_trans_name(const struct gemm_problem *p)
{
  static const char *const names[2][2] = {{"NN", "NT"}, {"TN", "TT"}};
  return names[!!p->trans_a][!!p->trans_b];
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
    return log_fail(STATUS_USAGE, "--size %" PRId64 "x%" PRId64 "x%" PRId64 ": the bytes of %c overflow",
                    p->m, p->n, p->k, "ABC"[matrix]);
  return STATUS_OK;
}

status_t gemm_problem_complete(struct gemm_problem *p)
{
  for (int matrix = 0; matrix < GEMM_MATRICES; matrix++) RETURN_IF_FAILED(matrix_check(p, matrix));
  return STATUS_OK;
}

/* One number up to the next 'x'; moves *text behind it. */
static status_t extent_read(const char **text, int64_t *extent)
{
  char number[16];
  long long value;
  size_t length = strcspn(*text, "x");
  if (length >= sizeof number) return STATUS_USAGE;
  memcpy(number, *text, length);
  number[length] = '\0';
  RETURN_IF_FAILED(value_read_int(number, 1, GEMM_EXTENT_MAX, &value));
  *extent = value;
  *text += length + ((*text)[length] == 'x');
  return STATUS_OK;
}

status_t gemm_size_parse(const char *option, const char *text, int64_t size[3])
{
  const char *rest = text;
  int64_t extents[3];
  int n = 0, cubic = !strchr(text, 'x');
  size_t length = strlen(text);
  while (n < (cubic ? 1 : 3) && extent_read(&rest, &extents[n]) == STATUS_OK) n++;
  if (n < (cubic ? 1 : 3) || *rest || text[length - 1] == 'x')
    return log_fail(STATUS_USAGE, "%s %s: allowed are N, or MxNxK, with each from 1 to %d", option, text,
                    GEMM_EXTENT_MAX);
  for (int d = 0; d < 3; d++) size[d] = extents[cubic ? 0 : d];
  return STATUS_OK;
}
