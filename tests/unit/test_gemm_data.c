/* SPDX-License-Identifier: MIT */
/* Tests the types of elements, the bounds that follow from them, the data, and copies of bits. */
#include "tests/unit/unit.h"

#include <math.h>

#include "gemm/verify/matrices.h"
#include "gemm/verify/verify.h"

enum { OPERAND = 1, RESULT = 2, BOTH = 3 };

/* Half and bfloat16 numbers are rounded to nearest, ties to even. */
TEST(numbers_are_stored_rounded_to_their_type)
{
  static const struct {
    enum gemm_type type;
    int kinds; /* of elements: OPERAND, RESULT or BOTH */
    double value, back;
    uint64_t bits;
  } cases[] = {{GEMM_F16_F16, BOTH, -0.0, -0.0, 0x8000},
               {GEMM_F16_F16, BOTH, -1.5, -1.5, 0xbe00},
               {GEMM_F16, OPERAND, 0x1.002p+0, 1, 0x3c00},
               {GEMM_F16, OPERAND, 0x1.006p+0, 0x1.008p+0, 0x3c02},
               {GEMM_F16, OPERAND, 0x1.002002p+0, 0x1.004p+0, 0x3c01},
               {GEMM_F16, OPERAND, 0x1p-14, 0x1p-14, 0x400},
               {GEMM_F16, OPERAND, 0x1.ff8p-15, 0x1.ff8p-15, 0x3ff},
               {GEMM_F16, OPERAND, 0x1p-25, 0, 0},
               {GEMM_F16, OPERAND, 0x1.8p-24, 0x1p-23, 2},
               {GEMM_F16, OPERAND, 65519.99, 65504, 0x7bff},
               {GEMM_F16, OPERAND, 65520, INFINITY, 0x7c00},
               {GEMM_F16_F16, RESULT, -1e9, -INFINITY, 0xfc00},
               {GEMM_F16_F16, BOTH, NAN, NAN, 0x7e00},
               {GEMM_BF16, OPERAND, 0x1.01p+0, 1, 0x3f80},
               {GEMM_BF16, OPERAND, 0x1.03p+0, 0x1.04p+0, 0x3f82},
               {GEMM_BF16, OPERAND, -0x1.010002p+0, -0x1.02p+0, 0xbf81},
               {GEMM_BF16, OPERAND, NAN, NAN, 0x7fc0},
               {GEMM_BF16, OPERAND, __builtin_nan("0x7ffffffffffff"), NAN, 0x7fff},
               {GEMM_F16, RESULT, 0x1.000001p+0, 1, 0x3f800000},
               {GEMM_BF16, RESULT, 0x1.000002p+0, 0x1.000002p+0, 0x3f800001},
               {GEMM_TF32, BOTH, 0x1.000002p+0, 0x1.000002p+0, 0x3f800001},
               {GEMM_F32, BOTH, 1e-46, 0, 0},
               {GEMM_F64, BOTH, 0x1.0000000000001p+0, 0x1.0000000000001p+0, 0x3ff0000000000001}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int kind = OPERAND; kind <= RESULT; kind++) {
      const struct gemm_type_traits *t = &gemm_types[cases[c].type];
      const size_t bytes = kind == OPERAND ? t->operand_bytes : t->result_bytes;
      unsigned char stored[24], expected[24];
      if (!(cases[c].kinds & kind)) continue;
      memset(stored, 0x55, sizeof stored), memset(expected, 0x55, sizeof expected);
      memcpy(expected + bytes, &cases[c].bits, bytes);
      (kind == OPERAND ? gemm_operand_set : gemm_result_set)(cases[c].type, stored, 1, cases[c].value);
      assert_memory_equal(stored, expected, sizeof stored);
      double back = (kind == OPERAND ? gemm_operand_get : gemm_result_get)(cases[c].type, stored, 1);
      if (isnan(back) ? !isnan(cases[c].back)
                      : back != cases[c].back || !signbit(back) != !signbit(cases[c].back))
        fail_msg("%s: %a is read as %a", t->name, cases[c].value, back);
    }
}

/* Bounds of 100 terms, in units of roundoff. */
TEST(bounds_follow_the_type_and_its_sums)
{
  static const struct {
    enum gemm_type type;
    int truncates;
    double unit, element, norm;
  } cases[] = {{GEMM_F32, 0, 0x1p-24, 45, 25},        {GEMM_F32, 1, 0x1p-24, 205, 205},
               {GEMM_TF32, 0, 0x1p-24, 32813, 32793}, {GEMM_TF32, 1, 0x1p-24, 32973, 32973},
               {GEMM_F16, 0, 0x1p-24, 45, 25},        {GEMM_BF16, 1, 0x1p-24, 205, 205},
               {GEMM_F16_F16, 0, 0x1p-11, 45, 25},    {GEMM_F16_F16, 1, 0x1p-11, 45, 25},
               {GEMM_F64, 0, 0x1p-53, 45, 25},        {GEMM_F64, 1, 0x1p-53, 45, 25}};
  static const int64_t sizes[][4] = {
      {1024, 2048, 1024, 1}, {1024, 2048, 1025, 0}, {4096, 8192, 1, 1}, {4096, 8193, 1, 0}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct gemm_problem p = {.type = cases[c].type, .k = 100};
    struct gemm_bounds bounds = gemm_bounds_of(&p, cases[c].truncates);
    assert_true(bounds.element == cases[c].element * cases[c].unit);
    assert_true(bounds.norm == cases[c].norm * cases[c].unit);
  }
  for (int s = 0; s < 4; s++) {
    struct gemm_problem p = {.m = sizes[s][0], .n = sizes[s][1], .k = sizes[s][2]};
    assert_int_equal(gemm_verify_is_full(&p, GEMM_VERIFY_AUTO), sizes[s][3]);
    assert_int_equal(gemm_verify_is_full(&p, GEMM_VERIFY_FULL), 1);
  }
}

enum { SIDE = 200 };

static double element_of(const struct gemm_problem *p, enum gemm_matrix matrix, const void *data, int64_t i,
                         int64_t j)
{
  return (matrix == GEMM_C ? gemm_result_get : gemm_operand_get)(p->type, data, i * p->ld[matrix] + j);
}

/* Fills a matrix and a part of it at row 3, column 5. Checks magnitudes, the places of NaN and
 * infinities, and the padding. */
static void data_check(struct gemm_problem p, enum gemm_matrix matrix, enum gemm_data data)
{
  static double whole[SIDE * (SIDE + 1)], part[20 * (SIDE + 1)];
  const struct gemm_place place = {3, 5, SIDE};
  const int is_half = gemm_types[p.type].operand_bytes == 2 && p.type != GEMM_BF16;
  const int reach = data != GEMM_WIDE ? 0 : is_half ? 4 : 20;
  double least = 1, most = 0;
  int nan = 0, infinite[2] = {0};
  gemm_data_fill(&p, matrix, data, 7, NULL, whole);
  for (int64_t i = 0; i < SIDE; i++)
    for (int64_t j = 0; j < SIDE; j++) {
      double x = element_of(&p, matrix, whole, i, j);
      if (isnan(x)) assert_true(++nan == 1 && i == (matrix == GEMM_C) && j == i);
      if (isinf(x)) assert_true(++infinite[x > 0] && i % 5 == 2 && j % 7 == 3);
      if (p.type == GEMM_F32 && data == GEMM_RANDOM) assert_true(x * 0x1p23 == floor(x * 0x1p23));
      if (!isfinite(x)) continue;
      least = fmin(least, fabs(x));
      most = fmax(most, fabs(x));
    }
  assert_int_equal(nan, data == GEMM_SPECIAL && matrix != GEMM_B);
  for (int sign = 0; sign < 2; sign++)
    assert_in_range(infinite[sign], data == GEMM_SPECIAL, data == GEMM_SPECIAL ? 14 : 0);
  assert_true(most <= ldexp(1, reach) && most > ldexp(0.9, reach) && least < ldexp(1e-2, -reach));
  for (int64_t i = 0; i + 1 < SIDE; i++)
    assert_true(matrix == GEMM_C ? gemm_is_poison(p.type, whole, (i + 1) * p.ld[matrix] - 1)
                                 : isnan(element_of(&p, matrix, whole, i, SIDE)));
  p.m = p.n = p.k = 20;
  gemm_data_fill(&p, matrix, data, 7, &place, part);
  for (int64_t i = 0; i < 20; i++)
    for (int64_t j = 0; j < 20; j++) {
      double x = element_of(&p, matrix, part, i, j), y = element_of(&p, matrix, whole, i + 3, j + 5);
      assert_true(x == y || isnan(x));
    }
}

TEST(data_have_their_magnitudes_places_and_padding)
{
  static const enum gemm_type types[] = {GEMM_F32, GEMM_F16_F16, GEMM_BF16, GEMM_F64};
  double c[2 * 4];
  for (int t = 0; t < 4; t++) {
    struct gemm_problem p = {.type = types[t], .m = SIDE, .n = SIDE, .k = SIDE, .beta = 1};
    for (int matrix = 0; matrix < GEMM_MATRICES; matrix++) p.ld[matrix] = SIDE + 1;
    for (int matrix = 0; matrix < GEMM_MATRICES; matrix++)
      for (int data = GEMM_RANDOM; data <= GEMM_SPECIAL; data++)
        data_check(p, (enum gemm_matrix)matrix, (enum gemm_data)data);
    p = (struct gemm_problem){.type = types[t], .m = 2, .n = 3, .ld = {0, 0, 4}};
    gemm_data_fill(&p, GEMM_C, GEMM_RANDOM, 7, NULL, c);
    for (int at = 0; at < 7; at++) {
      assert_true(gemm_is_poison(p.type, c, at));
      gemm_result_set(p.type, c, at, NAN);
      assert_false(gemm_is_poison(p.type, c, at));
    }
  }
}

/* Bits are copied and compared in parts of 128 KiB, from 8 MiB on by several threads. */
TEST(bits_are_copied_and_compared_to_the_last)
{
  static char from[(8 << 20) + 2], to[(8 << 20) + 2];
  static const size_t sizes[] = {1, 128 << 10, (128 << 10) + 1, 8 << 20, (8 << 20) + 1};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    size_t n = sizes[s];
    for (size_t at = 0; at < sizeof from; at++) from[at] = (char)(at * 7 + (at >> 17) + s);
    to[n] = 'z';
    gemm_copy_bits(to, from, n);
    assert_true(to[n] == 'z' && memcmp(to, from, n) == 0 && gemm_same_bits(to, from, n));
    for (size_t at = n - 1; at < n; at -= n / 2 + 1) {
      to[at]++;
      assert_false(gemm_same_bits(to, from, n));
      to[at]--;
    }
  }
}

UNIT_MAIN(NULL, NULL)
