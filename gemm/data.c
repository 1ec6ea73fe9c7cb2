/* SPDX-License-Identifier: MIT */
#include "gemm/data.h"

#include <math.h>

#include "base/hash.h"

/* In special data, elements at certain rows and columns can be infinite: one in this many of them
 * is infinite. So most rows stay finite. */
#define SPECIAL_ONE_IN 97

const char *const gemm_data_names[] = {"random", "wide", "special"};

static double random_value(enum gemm_type type, uint64_t hash)
{
  if (type == GEMM_F64) return (double)(hash >> 11) * 0x1p-52 - 1;
  return (double)((float)(hash >> 40) * 0x1p-23f - 1.0f);
}

/* The exponent comes from bits of the hash that do not determine the value. */
static double wide_value(enum gemm_type type, uint64_t hash)
{
  int reach = gemm_types[type].operand_bytes == 2 && type != GEMM_BF16 ? 4 : 20;
  uint64_t other = type == GEMM_F64 ? hash_mix(hash) : hash;
  int exponent = (int)(other % (uint64_t)(2 * reach + 1)) - reach;
  return ldexp(random_value(type, hash), exponent);
}

/* A[0][0] and C[1][1] are NaN. Infinities are scattered over all three matrices. */
static double special_value(enum gemm_type type, enum gemm_matrix matrix, int64_t row, int64_t column,
                            uint64_t hash)
{
  if (matrix == GEMM_A && row == 0 && column == 0) return NAN;
  if (matrix == GEMM_C && row == 1 && column == 1) return NAN;
  if (row % 5 == 2 && column % 7 == 3 && hash % SPECIAL_ONE_IN == 0)
    return hash & 1u << 20 ? INFINITY : -INFINITY;
  return random_value(type, hash);
}

struct fill {
  const struct gemm_problem *problem;
  enum gemm_matrix matrix;
  enum gemm_data data;
  uint64_t seed;
  struct gemm_place place;
};

static double gemm_data_value(const struct fill *f, int64_t row, int64_t column)
{
  enum gemm_matrix matrix = f->matrix;
  row += f->place.row;
  column += f->place.column;
  uint64_t index = (uint64_t)(row * f->place.columns + column);
  uint64_t hash = hash_mix(hash_mix(index) + f->seed * GEMM_MATRICES + (uint64_t)matrix);
  if (f->data == GEMM_WIDE) return wide_value(f->problem->type, hash);
  if (f->data == GEMM_SPECIAL) return special_value(f->problem->type, matrix, row, column, hash);
  return random_value(f->problem->type, hash);
}

static void poison(enum gemm_type type, void *c, int64_t index)
{
  if (type == GEMM_F64)
    ((uint64_t *)c)[index] = GEMM_POISON_DOUBLE;
  else if (gemm_types[type].result_bytes == 2)
    ((uint16_t *)c)[index] = GEMM_POISON_HALF;
  else
    ((uint32_t *)c)[index] = GEMM_POISON_FLOAT;
}

int gemm_is_poison(enum gemm_type type, const void *c, int64_t index)
{
  if (type == GEMM_F64) return ((const uint64_t *)c)[index] == GEMM_POISON_DOUBLE;
  if (gemm_types[type].result_bytes == 2) return ((const uint16_t *)c)[index] == GEMM_POISON_HALF;
  return ((const uint32_t *)c)[index] == GEMM_POISON_FLOAT;
}

static void gemm_data_fill_row(const struct fill *f, int64_t row, void *host)
{
  const struct gemm_problem *p = f->problem;
  enum gemm_matrix matrix = f->matrix;
  int64_t columns = gemm_columns(p, matrix), first = row * p->ld[matrix];
  int64_t end = row + 1 < gemm_rows(p, matrix) ? p->ld[matrix] : columns;
  for (int64_t j = 0; j < end; j++) {
    int inside = j < columns && (matrix != GEMM_C || p->beta != 0);
    if (matrix == GEMM_C && !inside)
      poison(p->type, host, first + j);
    else if (matrix == GEMM_C)
      gemm_result_set(p->type, host, first + j, gemm_data_value(f, row, j));
    else
      gemm_operand_set(p->type, host, first + j, inside ? gemm_data_value(f, row, j) : NAN);
  }
}

void gemm_data_fill(const struct gemm_problem *p, enum gemm_matrix matrix, enum gemm_data data, uint64_t seed,
                    const struct gemm_place *place, void *host)
{
  const struct fill fill = {.problem = p,
                            .matrix = matrix,
                            .data = data,
                            .seed = seed,
                            .place = place ? *place : (struct gemm_place){0, 0, gemm_columns(p, matrix)}};
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < gemm_rows(p, matrix); row++) gemm_data_fill_row(&fill, row, host);
}
