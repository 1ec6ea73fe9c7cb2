/* SPDX-License-Identifier: MIT */
/* Errors that the verification of products must find, and results that it must accept. */
#include "tests/unit/unit.h"

#include <math.h>

#include "base/log.h"
#include "gemm/data.h"
#include "gemm/verify/verify.h"
#include "tests/flipped.h"

static struct gemm_check check;

struct product {
  struct gemm_problem p;
  float *a, *b, *c, *out;
  struct gemm_reference *reference;
};

/* Computes a row of the result, with sums in double. */
static void row_make(const struct product *x, int64_t i, double *sums)
{
  const struct gemm_problem *p = &x->p;
  memset(sums, 0, (size_t)p->n * sizeof *sums);
  for (int64_t l = 0; l < p->k; l++)
    for (int64_t j = 0; j < p->n; j++)
      sums[j] += (double)x->a[i * p->ld[GEMM_A] + l] * (double)x->b[l * p->ld[GEMM_B] + j];
  for (int64_t j = 0; j < p->n; j++) {
    float *out = &x->out[i * p->ld[GEMM_C] + j];
    *out = (float)(sums[j] + (p->beta == 0 ? 0 : (double)p->beta * (double)*out));
  }
}

/* Returns a correct m×n×k product, whose rows of C are two elements apart. */
static struct product product_make(int64_t m, int64_t n, int64_t k, enum gemm_data data, float beta)
{
  struct product x = {.p = {.m = m, .n = n, .k = k, .ld = {0, 0, n + 2}, .alpha = 1, .beta = beta}};
  float **const all[] = {&x.a, &x.b, &x.c};
  assert_int_equal(gemm_problem_complete(&x.p), STATUS_OK);
  for (int matrix = 0; matrix < GEMM_MATRICES; matrix++) {
    *all[matrix] = malloc(gemm_bytes(&x.p, (enum gemm_matrix)matrix));
    assert_non_null(*all[matrix]);
    gemm_data_fill(&x.p, (enum gemm_matrix)matrix, data, 7, NULL, *all[matrix]);
  }
  x.out = malloc(gemm_bytes(&x.p, GEMM_C));
  assert_non_null(x.out);
  memcpy(x.out, x.c, gemm_bytes(&x.p, GEMM_C));
  double *sums = malloc((size_t)n * sizeof *sums);
  assert_non_null(sums);
  for (int64_t i = 0; i < m; i++) row_make(&x, i, sums);
  free(sums);
  assert_int_equal(gemm_reference_open(&x.p, GEMM_VERIFY_AUTO, x.a, x.b, x.c, &x.reference), STATUS_OK);
  return x;
}

static void product_free(struct product *x)
{
  gemm_reference_close(x->reference);
  free(x->a), free(x->b), free(x->c), free(x->out);
}

static status_t verdict(const struct product *x)
{
  return gemm_verify(x->reference, 0, x->out, "test", &check);
}

/* Returns the verdict if element (i, j) is replaced by \a value. */
static status_t with(struct product *x, int64_t i, int64_t j, float value)
{
  float *where = &x->out[i * x->p.ld[GEMM_C] + j], right = *where;
  *where = value;
  status_t status = verdict(x);
  *where = right;
  return status;
}

TEST(one_wrong_element_is_found_at_any_place)
{
  struct product x = product_make(9, 11, 20, GEMM_RANDOM, 0.5f);
  assert_int_equal(verdict(&x), STATUS_OK);
  assert_int_equal(check.how, GEMM_VERIFIED_FULL);
  assert_int_equal(check.compared, 9 * 11);
  assert_true(check.element_error > 0 && check.element_error < check.bounds.element);
  for (int64_t i = 0; i < 9; i++)
    for (int64_t j = 0; j < 11; j++) {
      float right = x.out[i * x.p.ld[GEMM_C] + j];
      double scale = 0.5 * fabs((double)x.c[i * x.p.ld[GEMM_C] + j]);
      for (int64_t l = 0; l < 20; l++)
        scale += fabs((double)x.a[i * x.p.ld[GEMM_A] + l] * (double)x.b[l * x.p.ld[GEMM_B] + j]);
      assert_int_equal(with(&x, i, j, right + 1e-4f), STATUS_WRONG);
      assert_true(fabs(check.element_error * scale - 1e-4) < 1e-6);
      assert_int_equal(with(&x, i, j, nextafterf(right, 2)), STATUS_OK);
    }
  product_free(&x);
}

TEST(nan_infinity_poison_and_changed_padding_do_not_pass)
{
  struct product x = product_make(20, 20, 8, GEMM_RANDOM, 0);
  float poison;
  const uint32_t bits = GEMM_POISON_FLOAT;
  memcpy(&poison, &bits, sizeof poison);
  assert_int_equal(with(&x, 3, 4, NAN), STATUS_WRONG);
  assert_int_equal(with(&x, 3, 4, INFINITY), STATUS_WRONG);
  assert_int_equal(with(&x, 19, 19, poison), STATUS_WRONG);
  assert_int_equal(with(&x, 2, 20, 0), STATUS_WRONG);
  assert_int_equal(with(&x, 18, 21, NAN), STATUS_WRONG);
  product_free(&x);
}

TEST(a_sum_beyond_the_largest_float_is_infinite)
{
  struct product x = product_make(1, 1, 2, GEMM_RANDOM, 0);
  gemm_reference_close(x.reference);
  x.a[0] = x.a[1] = 1;
  for (int sign = -1; sign <= 1; sign += 2) {
    x.b[0] = x.b[x.p.ld[GEMM_B]] = (float)sign * 2e38f;
    assert_int_equal(gemm_reference_open(&x.p, GEMM_VERIFY_AUTO, x.a, x.b, x.c, &x.reference), STATUS_OK);
    assert_int_equal(with(&x, 0, 0, sign * INFINITY), STATUS_OK);
    assert_int_equal(with(&x, 0, 0, -sign * INFINITY), STATUS_WRONG);
    if (sign < 0) gemm_reference_close(x.reference);
  }
  product_free(&x);
}

TEST(nan_and_infinity_must_come_through)
{
  struct product x = product_make(30, 30, 30, GEMM_SPECIAL, 1);
  assert_int_equal(verdict(&x), STATUS_OK);
  assert_true(isnan(x.out[0]));
  assert_int_equal(with(&x, 0, 0, 1), STATUS_WRONG);
  int64_t infinite = 0;
  for (int64_t i = 0; i < 30; i++)
    for (int64_t j = 0; j < 30; j++) {
      float value = x.out[i * x.p.ld[GEMM_C] + j];
      if (!isinf(value)) continue;
      infinite++;
      assert_int_equal(with(&x, i, j, -value), STATUS_WRONG);
      assert_int_equal(with(&x, i, j, NAN), STATUS_WRONG);
    }
  assert_true(infinite > 0);
  product_free(&x);
}

/* A large product is not compared in full; samples may miss the wrong block. */
TEST(random_vectors_find_a_wrong_block_of_a_large_product)
{
  struct product x = product_make(5800, 5800, 2, GEMM_RANDOM, 0);
  assert_int_equal(verdict(&x), STATUS_OK);
  assert_int_equal(check.how, GEMM_VERIFIED_SAMPLED);
  /* The first and last rows and columns are always sampled. An error that is small relative to the
   * whole is found only there. */
  const int64_t last = 5800 - 1, between = 3001;
  const int64_t sampled[][2] = {{0, between}, {last, between}, {between, 0}, {between, last}};
  for (int s = 0; s < 4; s++) {
    float right = x.out[sampled[s][0] * x.p.ld[GEMM_C] + sampled[s][1]];
    assert_int_equal(with(&x, sampled[s][0], sampled[s][1], right + 1e-4f), STATUS_WRONG);
  }
  assert_int_equal(with(&x, between, between, x.out[between * x.p.ld[GEMM_C] + between] + 1e-4f), STATUS_OK);
  assert_int_equal(with(&x, between, between, x.out[between * x.p.ld[GEMM_C] + between] + 1e-3f),
                   STATUS_WRONG);
  for (int64_t i = 701; i < 709; i++)
    for (int64_t j = 501; j < 509; j++) x.out[i * x.p.ld[GEMM_C] + j] = 0;
  assert_int_equal(verdict(&x), STATUS_WRONG);
  product_free(&x);
}

/* ---- another right result ---- */

static status_t near(struct product *x, const float *right, int launches)
{
  return gemm_verify_near(x->reference, 0, launches, right, x->out, "test", "block 2");
}

static float *copy_of(const struct product *x)
{
  size_t bytes = gemm_bytes(&x->p, GEMM_C);
  float *copy = malloc(bytes);
  assert_non_null(copy);
  memcpy(copy, x->out, bytes);
  return copy;
}

TEST(a_result_of_other_bits_is_right_and_one_beyond_the_bounds_is_not)
{
  struct product x = product_make(40, 33, 64, GEMM_RANDOM, 0);
  float *right = copy_of(&x), *at = &x.out[7 * x.p.ld[GEMM_C] + 5];
  assert_int_equal(gemm_verify_bits(x.reference, right, x.out, "test", "block 2"), STATUS_OK);
  for (int64_t i = 0; i < 40; i++)
    for (int64_t j = 0; j < 33; j++) {
      float *one = &x.out[i * x.p.ld[GEMM_C] + j];
      *one = nextafterf(*one, (i + j) % 2 ? 9 : -9);
    }
  assert_int_equal(near(&x, right, 1), STATUS_OK);
  *at += 3e-4f;
  assert_int_equal(near(&x, right, 1), STATUS_WRONG);
  for (int64_t i = 0; i < 40; i++)
    for (int64_t j = 0; j < 33; j++) x.out[i * x.p.ld[GEMM_C] + j] = right[i * x.p.ld[GEMM_C] + j] + 2e-5f;
  assert_int_equal(near(&x, right, 1), STATUS_WRONG);
  memcpy(x.out, right, gemm_bytes(&x.p, GEMM_C));
  *at = NAN;
  assert_int_equal(near(&x, right, 1), STATUS_WRONG);
  *at = right[7 * x.p.ld[GEMM_C] + 5];
  x.out[8 * x.p.ld[GEMM_C] - 1] = 0;
  assert_int_equal(near(&x, right, 1), STATUS_WRONG);
  free(right);
  product_free(&x);
}

/* Each error is within its element's bound. All have one sign: only the norm shows them, if enough
 * elements are compared. */
TEST(errors_of_one_sign_are_found_by_the_norm_of_256_elements)
{
  static const int64_t sizes[][2] = {{64, 64}, {16, 16}, {15, 17}};
  for (int s = 0; s < 3; s++) {
    struct product x = product_make(sizes[s][0], sizes[s][1], 400, GEMM_RANDOM, 0);
    float *right = copy_of(&x);
    assert_int_equal(verdict(&x), STATUS_OK);
    for (int64_t i = 0; i < x.p.m; i++)
      for (int64_t j = 0; j < x.p.n; j++) x.out[i * x.p.ld[GEMM_C] + j] += 8e-5f;
    assert_int_equal(verdict(&x), s < 2 ? STATUS_WRONG : STATUS_OK);
    assert_int_equal(check.norm_wrong, s < 2);
    assert_int_equal(near(&x, right, 1), s < 2 ? STATUS_WRONG : STATUS_OK);
    free(right);
    product_free(&x);
  }
}

TEST(a_reference_beyond_memory_is_refused)
{
  struct gemm_problem p = {.m = 1 << 24, .n = 1 << 24, .k = 1};
  struct gemm_reference *reference;
  const double one = 1;
#ifdef __SANITIZE_ADDRESS__
  skip(); /* a sanitizer ends a program that asks for so much */
#endif
  assert_int_equal(gemm_problem_complete(&p), STATUS_OK);
  assert_int_equal(gemm_reference_open(&p, GEMM_VERIFY_FULL, &one, &one, &one, &reference),
                   STATUS_ENVIRONMENT);
}

TEST(any_bit_of_c_and_after_its_rows_is_compared)
{
  struct product x = product_make(9, 11, 20, GEMM_RANDOM, 0);
  float *right = copy_of(&x);
  const int elements = (int)gemm_elements(&x.p, GEMM_C);
  char wanted[128];
  for (int at = 0; at < elements; at++)
    for (int bit = 0; bit < 32; bit++) {
      float was = x.out[at], now = flipped(was, bit);
      memcpy(&x.out[at], &now, sizeof now);
      snprintf(wanted, sizeof wanted, "first product: 1 of %d elements, one at row %d, column %d, is %.9g",
               elements, at / 13, at % 13, (double)now);
      log_drop();
      assert_int_equal(gemm_verify_bits(x.reference, right, x.out, "test", "block 2"), STATUS_WRONG);
      assert_non_null(strstr(log_held(), wanted));
      memcpy(&x.out[at], &was, sizeof was);
    }
  free(right);
  product_free(&x);
}

/* Returns how many of 144 flips, one per element, are found. */
static int shown(struct product *x, const float *right, int bit)
{
  int wrong = 0;
  for (int64_t i = 0; i < 12; i++)
    for (int64_t j = 0; j < 12; j++) {
      float *one = &x->out[i * x->p.ld[GEMM_C] + j], was = *one;
      *one = flipped(was, bit);
      wrong += near(x, right, 1) == STATUS_WRONG;
      *one = was;
    }
  return wrong;
}

/* Checks the table of doc/explanation/gemm-verify.md: of a library's C, the bits for which no flip,
 * two of three flips, and all flips are found. */
TEST(the_bits_that_a_block_of_a_library_is_held_to)
{
  static const struct {
    int64_t k;
    int none, most, all;
  } table[] = {{64, 7, 10, 16}, {1024, 11, 14, 18}, {4096, 13, 16, 23}};
  for (size_t row = 0; row < sizeof table / sizeof *table; row++) {
    struct product x = product_make(12, 12, table[row].k, GEMM_RANDOM, 0);
    float *right = copy_of(&x);
    assert_int_equal(shown(&x, right, table[row].none), 0);
    assert_in_range(shown(&x, right, table[row].most), 90, 120);
    assert_int_equal(shown(&x, right, table[row].all), 144);
    assert_int_equal(shown(&x, right, 23), 144);
    assert_int_equal(shown(&x, right, 31), 144);
    free(right);
    product_free(&x);
  }
}

/* For every beta, C after many products can be computed from C after one. */
TEST(c_that_went_through_many_products_follows_from_the_first)
{
  static const float betas[] = {0.5f, 1, -1, -1.25f};
  for (size_t b = 0; b < sizeof betas / sizeof *betas; b++) {
    struct product x = product_make(20, 20, 30, GEMM_RANDOM, betas[b]);
    float *right = copy_of(&x), *at = &x.out[3 * x.p.ld[GEMM_C] + 4];
    double *sums = malloc(20 * sizeof *sums);
    assert_non_null(sums);
    for (int n = 1; n < 12; n++)
      for (int64_t i = 0; i < 20; i++) row_make(&x, i, sums);
    assert_int_equal(near(&x, right, 12), STATUS_OK);
    assert_int_equal(near(&x, right, 11), STATUS_WRONG);
    *at += 0.05f;
    assert_int_equal(near(&x, right, 12), STATUS_WRONG);
    free(sums);
    free(right);
    product_free(&x);
  }
}

/* ---- float64 ---- */

/* Computes the product with sums of 64-bit fractions, rounded once. *a replaces A. */
static void doubles_multiply(const struct gemm_problem *p, const double *a, const double *b, double *out)
{
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      long double sum = 0;
      for (int64_t l = 0; l < p->k; l++) sum += (long double)a[i * p->k + l] * (long double)b[l * p->n + j];
      out[i * p->n + j] = (double)((long double)p->alpha * sum);
    }
}

static status_t doubles_verdict(const struct gemm_reference *reference, const double *out)
{
  return gemm_verify(reference, 1, out, "test", &check);
}

/* Results of float64 sums, with one or two chains of multiply-adds, must count as native. */
static void doubles_add(const struct gemm_problem *p, const struct gemm_reference *reference, const double *a,
                        const double *b)
{
  double *out = calloc((size_t)(p->m * p->n), sizeof *out);
  assert_non_null(out);
  for (int64_t chains = 1; chains <= 2; chains++) {
    for (int64_t i = 0; i < p->m; i++)
      for (int64_t j = 0; j < p->n; j++) {
        double sums[2] = {0};
        for (int64_t l = 0; l < p->k; l++)
          sums[l % chains] = fma(a[i * p->k + l], b[l * p->n + j], sums[l % chains]);
        out[i * p->n + j] = p->alpha * (sums[0] + sums[1]);
      }
    assert_int_equal(doubles_verdict(reference, out), STATUS_OK);
    assert_int_equal(check.arithmetic, GEMM_NATIVE);
  }
  free(out);
}

/* float64 arithmetic does not make these errors, and a float64 reference would hide them: an
 * operand or a factor rounded to float, and an element beyond its bound. */
TEST(errors_beyond_float64_are_found)
{
  const int64_t shapes[][3] = {{40, 30, 1100}, {5800, 5800, 2}};
  for (int shape = 0; shape < 2; shape++) {
    struct gemm_problem p = {.type = GEMM_F64,
                             .m = shapes[shape][0],
                             .n = shapes[shape][1],
                             .k = shapes[shape][2],
                             .alpha = 1.0 / 3};
    double *at[GEMM_MATRICES];
    struct gemm_reference *reference;
    assert_int_equal(gemm_problem_complete(&p), STATUS_OK);
    for (int matrix = 0; matrix < GEMM_MATRICES; matrix++) {
      at[matrix] = malloc(gemm_bytes(&p, (enum gemm_matrix)matrix));
      assert_non_null(at[matrix]);
      gemm_data_fill(&p, (enum gemm_matrix)matrix, GEMM_RANDOM, 7, NULL, at[matrix]);
    }
    double *a = at[GEMM_A], *out = at[GEMM_C];
    assert_int_equal(gemm_is_poison(GEMM_F64, out, 0), 1);
    assert_int_equal(gemm_reference_open(&p, GEMM_VERIFY_AUTO, a, at[GEMM_B], out, &reference), STATUS_OK);
    doubles_multiply(&p, a, at[GEMM_B], out);
    assert_int_equal(doubles_verdict(reference, out), STATUS_OK);
    assert_int_equal(check.how, shape ? GEMM_VERIFIED_SAMPLED : GEMM_VERIFIED_FULL);
    assert_true(check.bounds.element < 1e-13);
    /* A result rounded once differs by half a unit in the last place; the reference is exact. */
    assert_true(check.norm_error > 0 && check.norm_error < (shape ? 0.6 : 0.5) * 0x1p-53);
    assert_int_equal(check.arithmetic, shape ? GEMM_ARITHMETIC_UNKNOWN : GEMM_EMULATION);
    double right = out[p.n + 1];
    out[0] = nextafter(out[0], 9);
    assert_int_equal(doubles_verdict(reference, out), STATUS_OK);
    if (shape == 0) doubles_add(&p, reference, a, at[GEMM_B]);
    out[p.n + 1] = right + (shape ? 1e-12 : 1e-13) * (double)p.k;
    assert_int_equal(doubles_verdict(reference, out), STATUS_WRONG);
    out[p.n + 1] = right;
    p.alpha = (double)(float)p.alpha;
    doubles_multiply(&p, a, at[GEMM_B], out);
    assert_int_equal(doubles_verdict(reference, out), STATUS_WRONG);
    p.alpha = 1.0 / 3;
    assert_true(a[p.k + 1] != (double)(float)a[p.k + 1]);
    a[p.k + 1] = (double)(float)a[p.k + 1];
    doubles_multiply(&p, a, at[GEMM_B], out);
    assert_int_equal(doubles_verdict(reference, out), STATUS_WRONG);
    gemm_reference_close(reference);
    for (int matrix = 0; matrix < GEMM_MATRICES; matrix++) free(at[matrix]);
  }
}

/* Sums of 131072 terms and more are added in parts. The rows are 1 and many 2^-60. */
TEST(errors_of_long_sums_are_kept)
{
  enum { K = 150000, ROWS = 2 };
  static double a[ROWS * K], ones[K];
  const struct gemm_view rows = {GEMM_F64, a, K, 1}, columns = {GEMM_F64, ones, 1, 1};
  double sums[ROWS], low[ROWS] = {NAN, NAN}, magnitudes[ROWS], y[ROWS], y_low[ROWS] = {NAN, NAN};
  for (int64_t j = 0; j < K; j++) ones[j] = 1, a[j] = a[K + j] = j ? 0x1p-60 : 1;
  gemm_reference_rows(&rows, &columns, K, 1, (const int64_t[]){1, 0}, ROWS, sums, low, magnitudes);
  gemm_reference_vector(&rows, ROWS, K, ones, NULL, y, y_low);
  for (int i = 0; i < ROWS; i++) {
    assert_true(sums[i] - 1 + low[i] == (K - 1) * 0x1p-60 && low[i] != 0 && fabs(magnitudes[i] - 1) < 1e-12);
    assert_true(y[i] == sums[i] && y_low[i] == low[i]);
  }
  gemm_reference_norms(&columns, 1, K, y);
  assert_true(y[0] == sqrt(K));
}

/* Native sums of a few elements may be as exact as an emulation. */
TEST(few_elements_are_not_called_an_emulation)
{
  static double a[1100], b[1100 * 256], out[256];
  for (int64_t n = 255; n <= 256; n++) {
    struct gemm_problem p = {.type = GEMM_F64, .m = 1, .n = n, .k = 1100, .alpha = 1};
    struct gemm_reference *reference;
    assert_int_equal(gemm_problem_complete(&p), STATUS_OK);
    gemm_data_fill(&p, GEMM_A, GEMM_RANDOM, 7, NULL, a);
    gemm_data_fill(&p, GEMM_B, GEMM_RANDOM, 7, NULL, b);
    assert_int_equal(gemm_reference_open(&p, GEMM_VERIFY_FULL, a, b, out, &reference), STATUS_OK);
    doubles_multiply(&p, a, b, out);
    assert_int_equal(doubles_verdict(reference, out), STATUS_OK);
    assert_int_equal(check.arithmetic, n < 256 ? GEMM_ARITHMETIC_UNKNOWN : GEMM_EMULATION);
    gemm_reference_close(reference);
  }
}

/* All 52 bits of the fraction must be random. */
TEST(data_of_float64_have_random_bits_to_the_last)
{
  struct gemm_problem p = {.type = GEMM_F64, .m = 64, .n = 1, .k = 64};
  double a[64 * 64];
  int set[52] = {0};
  assert_int_equal(gemm_problem_complete(&p), STATUS_OK);
  gemm_data_fill(&p, GEMM_A, GEMM_RANDOM, 1, NULL, a);
  for (int i = 0; i < 64 * 64; i++) {
    assert_true(a[i] >= -1 && a[i] < 1);
    const uint64_t bits = (uint64_t)((a[i] + 1) * 0x1p52);
    for (int bit = 0; bit < 52; bit++) set[bit] += bits >> bit & 1;
  }
  for (int bit = 0; bit < 52; bit++) assert_in_range(set[bit], 1800, 2300);
}

/* Errors in products are expected. */
static int log_keep(void **state)
{
  log_hold(1);
  return 0;
}

UNIT_MAIN(log_keep, NULL)
