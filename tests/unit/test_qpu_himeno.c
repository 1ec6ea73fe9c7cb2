/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The Himeno kernel, bit for bit against the scalar expression rounded toward zero, and its gosa against the
 * reference in double precision. */
#include "tests/unit/qpu_unit.h"

#include <fenv.h>
#include <math.h>

#include "himeno/qpu/qpu_himeno.h"

#define ARRAYS 13
#define OMEGA  0.8f

/** The arrays in DESIGN's numbering: a0 to a3, b0 to b2, c0 to c2, bnd, wrk1, p. */
struct field {
  struct qpu_himeno_fields view;
  float *values[ARRAYS], *next;
};

static float dense(size_t g, unsigned m)
{
  static const float low[ARRAYS] = {.8f, .8f, .8f, .15f, -.05f, -.05f, -.05f, .8f, .8f, .8f, .9f, -.001f, 0};
  static const float wide[ARRAYS] = {.2f, .2f, .2f, .0166f, .1f, .1f, .1f, .2f, .2f, .2f, .1f, .002f, 1};
  float u = (float)(hash_mix(hash_mix(g) + m) >> 40) * 0x1p-24f;
  if (m == 10 && u < .0625f) return 0;
  volatile float scaled = wide[m] * u;
  return low[m] + scaled;
}

static float standard(size_t i, size_t imax, unsigned m)
{
  static const float values[ARRAYS] = {1, 1, 1, (float)(1.0 / 6.0), 0, 0, 0, 1, 1, 1, 1, 0, 0};
  return m == 12 ? (float)(i * i) / (float)((imax - 1) * (imax - 1)) : values[m];
}

static struct field make_field(size_t imax, size_t jmax, size_t kmax, int is_dense)
{
  struct field f = {.view = {.imax = imax, .jmax = jmax, .kmax = kmax, .omega = OMEGA}};
  size_t n = imax * jmax * kmax;
  for (unsigned m = 0; m < ARRAYS; m++) {
    f.values[m] = malloc(n * sizeof(float));
    assert_non_null(f.values[m]);
    for (size_t g = 0; g < n; g++)
      f.values[m][g] = is_dense ? dense(g, m) : standard(g / (jmax * kmax), imax, m);
  }
  f.next = malloc(n * sizeof(float));
  assert_non_null(f.next);
  memcpy(f.next, f.values[12], n * sizeof(float));
  for (int i = 0; i < 4; i++) f.view.a[i] = f.values[i];
  for (int i = 0; i < 3; i++) f.view.b[i] = f.values[4 + i], f.view.c[i] = f.values[7 + i];
  f.view.bnd = f.values[10];
  f.view.wrk1 = f.values[11];
  f.view.p = f.values[12];
  return f;
}

static void free_field(struct field *f)
{
  for (int m = 0; m < ARRAYS; m++) free(f->values[m]);
  free(f->next);
}

static float flushed(volatile float x)
{
  return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static float add(volatile float x, volatile float y)
{
  volatile float sum = flushed(x) + flushed(y);
  return flushed(sum);
}

static float sub(float x, float y)
{
  return add(x, -y);
}

static float mul(volatile float x, volatile float y)
{
  volatile float product = flushed(x) * flushed(y);
  return flushed(product);
}

/* One point of the sweep: every operation rounded by itself, toward zero. */
static float point(const struct field *f, size_t g, float *square)
{
  const ptrdiff_t k = 1, j = (ptrdiff_t)f->view.kmax, i = j * (ptrdiff_t)f->view.jmax;
  const float *p = f->values[12] + g;
  float *const *v = (float *const *)f->values;
  float s0 = mul(v[0][g], p[i]);
  s0 = add(s0, mul(v[1][g], p[j]));
  s0 = add(s0, mul(v[2][g], p[k]));
  s0 = add(s0, mul(v[4][g], add(sub(sub(p[i + j], p[i - j]), p[-i + j]), p[-i - j])));
  s0 = add(s0, mul(v[5][g], add(sub(sub(p[j + k], p[-j + k]), p[j - k]), p[-j - k])));
  s0 = add(s0, mul(v[6][g], add(sub(sub(p[i + k], p[-i + k]), p[i - k]), p[-i - k])));
  s0 = add(s0, mul(v[7][g], p[-i]));
  s0 = add(s0, mul(v[8][g], p[-j]));
  s0 = add(s0, mul(v[9][g], p[-k]));
  s0 = add(s0, v[11][g]);
  float ss = mul(sub(mul(s0, v[3][g]), p[0]), v[10][g]);
  *square = mul(ss, ss);
  return add(p[0], mul(OMEGA, ss));
}

static double model_sweep(struct field *f)
{
  double gosa = 0;
  int mode = fegetround();
  fesetround(FE_TOWARDZERO);
  for (size_t i = 1; i + 1 < f->view.imax; i++)
    for (size_t j = 1; j + 1 < f->view.jmax; j++)
      for (size_t k = 1; k + 1 < f->view.kmax; k++) {
        size_t g = (i * f->view.jmax + j) * f->view.kmax + k;
        float square;
        f->next[g] = point(f, g, &square);
        gosa += (double)square;
      }
  fesetround(mode);
  float *swap = f->values[12];
  f->values[12] = f->next;
  f->next = swap;
  return gosa;
}

static void compare(size_t imax, size_t jmax, size_t kmax, int is_dense, int n_qpus, int sweeps)
{
  struct field f = make_field(imax, jmax, kmax, is_dense);
  struct qpu_himeno *himeno;
  log_hold(1);
  status_t status = qpu_himeno_open(&f.view, n_qpus, NULL, &himeno);
  for (int s = 0; s < sweeps && status == STATUS_OK; s++) {
    double gosa = 0, expected = model_sweep(&f);
    status = qpu_himeno_sweep(himeno, &gosa);
    if (status != STATUS_OK) break;
    assert_true(fabs(gosa - expected) <= 1e-4 * expected);
    int same = memcmp(qpu_himeno_p(himeno), f.values[12], imax * jmax * kmax * sizeof(float)) == 0;
    if (!same)
      print_error("%zux%zux%zu dense %d, %d QPUs, sweep %d differs\n", imax, jmax, kmax, is_dense, n_qpus, s);
    assert_true(same);
  }
  if (status != STATUS_OK) print_error("%s\n", log_held());
  assert_int_equal(status, STATUS_OK);
  log_hold(0);
  qpu_himeno_close(himeno);
  free_field(&f);
}

static void the_field_is_the_models_bit_for_bit(void **state)
{
  (void)state;
  compare(12, 10, 34, 1, 12, 3);
  compare(12, 10, 34, 0, 12, 3);
  compare(32, 32, 64, 1, 12, 2);
}

static void every_extent_from_3_on_works(void **state)
{
  uint64_t seed = 1;
  (void)state;
  compare(3, 3, 3, 1, 12, 2);
  for (size_t n = 3; n < 9; n++)
    compare(n, 4, 5, 1, 7, 2); /* the loop over i leaves after each of its steps */
  for (size_t n = 16; n < 21; n++) compare(4, 3, n, 1, 12, 2);
  for (int round = 0; round < 20; round++)
    compare(3 + qpu_random(&seed) % 9, 3 + qpu_random(&seed) % 9, 3 + qpu_random(&seed) % 60, 1,
            1 + (int)(qpu_random(&seed) % 12), 2);
}

/* 32 × 32 × 64 is XS; the reference is the suite's, see tests/golden/himeno.csv. */
static void gosa_agrees_with_the_reference(void **state)
{
  struct field f = make_field(32, 32, 64, 0);
  struct qpu_himeno *himeno;
  double gosa = 0;
  (void)state;
  assert_int_equal(qpu_himeno_open(&f.view, 12, NULL, &himeno), STATUS_OK);
  for (int s = 0; s < 10; s++) assert_int_equal(qpu_himeno_sweep(himeno, &gosa), STATUS_OK);
  assert_true(fabs(gosa - 5.358265606109e-03) < 1e-3 * 5.358265606109e-03);
  struct qpu_emu_stats stats = qpu_himeno_stats(himeno);
  assert_int_equal(stats.interrupts, 1);
  assert_int_equal(stats.dma_stores, 30 * 4 * 30 + 12);
  assert_true(stats.tmu_depth_used <= 4);
  qpu_himeno_close(himeno);
  free_field(&f);
}

static void the_bound_is_the_memorys(void **state)
{
  struct qpu_himeno_fields xs = {.imax = 32, .jmax = 32, .kmax = 64};
  (void)state;
  assert_true(fabs(qpu_himeno_bound_seconds(&xs, 1e9) - 30 * 30 * 62 * 56e-9) < 1e-12);
  assert_true(fabs(qpu_himeno_bound_gflops(1e9) - 34.0 / 56.0) < 1e-12);
}

static void what_cannot_be_is_refused(void **state)
{
  struct qpu_himeno_fields f = {.imax = 3, .jmax = 2, .kmax = 3};
  struct qpu_himeno *himeno;
  (void)state;
  log_hold(1);
  assert_int_equal(qpu_himeno_open(&f, 12, NULL, &himeno), STATUS_USAGE);
  log_drop();
  f.jmax = 3;
  assert_int_equal(qpu_himeno_open(&f, 0, NULL, &himeno), STATUS_USAGE);
  log_drop();
  f.imax = f.jmax = f.kmax = 1000;
  assert_int_equal(qpu_himeno_open(&f, 12, NULL, &himeno), STATUS_USAGE);
  assert_non_null(strstr(log_held(), "32-bit addresses"));
  log_drop();
  log_hold(0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_field_is_the_models_bit_for_bit), cmocka_unit_test(every_extent_from_3_on_works),
      cmocka_unit_test(gosa_agrees_with_the_reference),      cmocka_unit_test(the_bound_is_the_memorys),
      cmocka_unit_test(what_cannot_be_is_refused),
  };
  return cmocka_run_group_tests_name("qpu himeno", tests, NULL, NULL);
}
