/* SPDX-License-Identifier: MIT */
/** \file \brief The SGEMM kernels must give the bits of scalar sums that round toward zero in the
 * same order, and be within the type's bound of a product in double precision. */
#include "tests/unit/qpu_unit.h"

#include <fenv.h>
#include <math.h>

#include "gemm/kernels/qpu/qpu_sgemm.h"
#include "gpu/qpu/device.h"
#include "gpu/qpu/emulator/emu.h"
#include "gpu/qpu/emulator/memory.h"
#include "gpu/qpu/isa/isa.h"

#define MAX_ELEMENTS (1 << 18)

static float a[MAX_ELEMENTS], b[MAX_ELEMENTS * 8], c[MAX_ELEMENTS * 2], before[MAX_ELEMENTS * 2];

static uint64_t seed = 1;

static float random_float(void)
{
  return (float)((double)(qpu_random(&seed) >> 40) * 0x1p-24 * 2 - 1);
}

static void fill(float *values, size_t n)
{
  for (size_t i = 0; i < n; i++) values[i] = random_float();
}

static float no_denormal(volatile float x)
{
  return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static float add(volatile float x, volatile float y)
{
  volatile float sum = x + y;
  return no_denormal(sum);
}

static float multiply(volatile float x, volatile float y)
{
  volatile float product = x * y;
  return no_denormal(product);
}

/* Returns an element of C. The outer product adds one k after the other. The dot product has
 * sixteen sums, which it then adds at distances of 8, 4, 2 and 1. */
static float model(const struct qpu_sgemm_kernel *kernel, const struct qpu_sgemm_problem *m, size_t i,
                   size_t j)
{
  int is_dot = kernel->kind == QPU_SGEMM_DOT;
  float sums[16] = {0}, folded[16];
  for (size_t k = 0; k < m->q; k++) {
    float *sum = &sums[is_dot ? k % 16 : 0];
    *sum = add(*sum, multiply(m->a[i * m->lda + k], m->b[k * m->ldb + j]));
  }
  for (int step = 8; is_dot && step > 0; step /= 2) {
    for (int lane = 0; lane < 16; lane++) folded[lane] = add(sums[lane], sums[(lane - step) & 15]);
    memcpy(sums, folded, sizeof sums);
  }
  float old = m->beta != 0 ? before[i * m->ldc + j] : 0;
  return add(multiply(sums[0], m->alpha), multiply(old, m->beta));
}

static void expect_model(const struct qpu_sgemm_kernel *kernel, const struct qpu_sgemm_problem *m)
{
  int mode = fegetround();
  fesetround(FE_TOWARDZERO);
  for (size_t i = 0; i < m->p; i++)
    for (size_t j = 0; j < m->ldc; j++) {
      float expected = j < m->r ? model(kernel, m, i, j) : before[i * m->ldc + j];
      if (memcmp(&expected, &m->c[i * m->ldc + j], 4) != 0)
        print_error("%s %zux%zux%zu [%zu,%zu]: %a instead of %a\n", kernel->name, m->p, m->q, m->r, i, j,
                    (double)m->c[i * m->ldc + j], (double)expected);
      assert_memory_equal(&expected, &m->c[i * m->ldc + j], 4);
    }
  fesetround(mode);
}

static struct gpu_device *device;

static int open_device(void **state)
{
  setenv("HIMENO_QPU", "emulator", 1);
  return gpu_open(&gpu_backend_qpu, 0, &device);
}

static int close_device(void **state)
{
  gpu_close(device);
  return 0;
}

static status_t multiply_on(const struct qpu_sgemm_kernel *kernel, const struct qpu_sgemm_problem *m,
                            int n_qpus, struct gemm_counts *counts)
{
  struct qpu_sgemm *sgemm;
  const struct qpu_memory *memory = qpu_emu_memory(qpu_device_emulator(device));
  const size_t left = qpu_memory_left(memory);
  RETURN_IF_FAILED(qpu_sgemm_open(device, kernel, m->p, m->q, m->r, &sgemm));
  status_t status = qpu_sgemm_run(sgemm, m, n_qpus, counts);
  qpu_sgemm_close(sgemm);
  assert_true(qpu_memory_left(memory) == left);
  return status;
}

static void run(const struct qpu_sgemm_kernel *kernel, const struct qpu_sgemm_problem *m, int n_qpus,
                struct gemm_counts *counts)
{
  memcpy(before, m->c, m->p * m->ldc * 4);
  log_hold(1);
  status_t status = multiply_on(kernel, m, n_qpus, counts);
  if (status != STATUS_OK) fail_msg("%s: %s", kernel->name, log_held());
  log_hold(0);
}

static struct qpu_sgemm_problem problem(size_t p, size_t q, size_t r, float alpha, float beta)
{
  struct qpu_sgemm_problem m = {p, q, r, alpha, beta, a, b, c, q + 3, r + 1, r + 2, 0, 0};
  fill(a, p * m.lda);
  fill(b, q * m.ldb);
  fill(c, p * m.ldc);
  return m;
}

static float transposed_a[40000], transposed_b[40000];

/* Matrices stored by columns, with gaps, must give the same bits with every kernel. */
TEST(transposed_matrices_give_the_same_bits)
{
  static float plain[40000];
  for (size_t k = 0; k < QPU_SGEMM_KERNELS; k++)
    for (int trans = 1; trans < 4; trans++) {
      struct qpu_sgemm_problem m = problem(37, 21, 75, 0.5f, -2.0f), t = m;
      memcpy(before, c, m.p * m.ldc * 4);
      run(&qpu_sgemm_kernels[k], &m, 3, NULL);
      memcpy(plain, c, m.p * m.ldc * 4);
      t.trans_a = trans & 1;
      t.trans_b = trans >> 1;
      t.lda = t.trans_a ? m.p + 2 : m.lda;
      t.ldb = t.trans_b ? m.q + 5 : m.ldb;
      for (size_t i = 0; t.trans_a && i < m.p * m.q; i++)
        transposed_a[i % m.q * t.lda + i / m.q] = a[i / m.q * m.lda + i % m.q];
      for (size_t i = 0; t.trans_b && i < m.q * m.r; i++)
        transposed_b[i % m.r * t.ldb + i / m.r] = b[i / m.r * m.ldb + i % m.r];
      if (t.trans_a) t.a = transposed_a;
      if (t.trans_b) t.b = transposed_b;
      memcpy(c, before, m.p * m.ldc * 4);
      run(&qpu_sgemm_kernels[k], &t, 3, NULL);
      assert_memory_equal(c, plain, m.p * m.ldc * 4);
    }
}

/* C is in the QPUs' own memory, with rows that a load can step over, and with longer ones. */
TEST(c_in_the_qpus_memory_is_used_in_place)
{
  static const size_t lds[] = {128, 131, 3072, 16383, 16384};
  for (int k = qpu_sgemm_138; k <= qpu_sgemm_67; k++)
    for (size_t s = 0; s < sizeof lds / sizeof lds[0]; s++)
      for (int beta = 0; beta < 2; beta++) {
        struct qpu_sgemm_problem m = problem(32, 5, 128, 1.5f, (float)beta), own = m;
        struct gpu_mem memory;
        assert_int_equal(gpu_alloc(device, 31 * lds[s] * 4 + 128 * 4, &memory), STATUS_OK);
        own.c = memory.handle;
        own.ldc = lds[s];
        for (size_t i = 0; i < 31 * lds[s] + 128; i++) own.c[i] = -7;
        for (size_t i = 0; i < 32; i++) memcpy(own.c + i * own.ldc, c + i * m.ldc, 128 * 4);
        run(&qpu_sgemm_kernels[k], &m, 4, NULL);
        assert_int_equal(multiply_on(&qpu_sgemm_kernels[k], &own, 4, NULL), STATUS_OK);
        for (size_t i = 0; i < 32; i++) assert_memory_equal(own.c + i * own.ldc, c + i * m.ldc, 128 * 4);
        for (size_t i = 0; i < 31 * lds[s]; i++)
          if (i % lds[s] >= 128) assert_true(own.c[i] == -7);
        gpu_free(device, &memory);
      }
}

TEST(random_shapes_give_the_models_bits)
{
  for (size_t k = 0; k < QPU_SGEMM_KERNELS; k++)
    for (int round = 0; round < 12; round++) {
      size_t p = 1 + qpu_random(&seed) % 50, q = 1 + qpu_random(&seed) % 40, r = 1 + qpu_random(&seed) % 150;
      struct qpu_sgemm_problem m = problem(p, q, r, random_float(), random_float());
      run(&qpu_sgemm_kernels[k], &m, 1 + (int)(qpu_random(&seed) % 12), NULL);
      expect_model(&qpu_sgemm_kernels[k], &m);
    }
}

/* The original kept alpha and beta in the loop's counter vector, so 0 ended the loop. */
TEST(smallest_sizes_whole_tiles_and_factors_of_zero_work)
{
  static const struct {
    size_t size[3];
    float alpha, beta;
  } cases[] = {{{1, 1, 1}, 0.5f, -2},   {{16, 2, 64}, 0.5f, -2},   {{16, 3, 64}, 0.5f, -2},
               {{17, 1, 65}, 0.5f, -2}, {{1, 33, 1}, 0.5f, -2},    {{1, 1, 200}, 0.5f, -2},
               {{200, 1, 1}, 0.5f, -2}, {{32, 16, 128}, 0.5f, -2}, {{20, 9, 70}, 0, 0},
               {{20, 9, 70}, 0, 1},     {{20, 9, 70}, 1, 0},       {{20, 9, 70}, 1, 1},
               {{20, 9, 70}, 0, 0.5f},  {{20, 9, 70}, -1.5f, 0}};
  for (size_t k = 0; k < QPU_SGEMM_KERNELS; k++)
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
      const size_t *size = cases[n].size;
      struct qpu_sgemm_problem m = problem(size[0], size[1], size[2], cases[n].alpha, cases[n].beta);
      if (m.beta == 0) m.c[5] = NAN;
      run(&qpu_sgemm_kernels[k], &m, n < 8 ? 12 : 5, NULL);
      expect_model(&qpu_sgemm_kernels[k], &m);
    }
}

TEST(the_innermost_loops_have_their_lengths)
{
  static const struct {
    enum qpu_sgemm_place place;
    int instructions, products;
  } expected[] = {{qpu_sgemm_dot, 14, 1},   {qpu_sgemm_138, 138, 64},     {qpu_sgemm_72, 72, 64},
                  {qpu_sgemm_68, 68, 64},   {qpu_sgemm_67, 67, 64},       {qpu_sgemm_tmu1, 78, 48},
                  {qpu_sgemm_ctmu, 67, 64}, {qpu_sgemm_vertical, 67, 64}, {qpu_sgemm_threads, 35, 32},
                  {qpu_sgemm_half, 35, 32}};
  assert_int_equal(QPU_SGEMM_KERNELS, sizeof expected / sizeof expected[0]);
  for (size_t i = 0; i < QPU_SGEMM_KERNELS; i++) {
    const struct qpu_sgemm_kernel *kernel = &qpu_sgemm_kernels[expected[i].place];
    int products = 0;
    assert_int_equal((kernel->loop_end - kernel->loop) / 8, expected[i].instructions);
    for (uint32_t at = kernel->loop / 8; at < kernel->loop_end / 8; at++) {
      struct qpu_inst inst = qpu_decode(kernel->words[at]);
      products += inst.sig != QPU_SIG_BRANCH && inst.op_mul == QPU_M_FMUL;
    }
    assert_int_equal(products, expected[i].products);
  }
}

/* 96 × 363 by 363 × 3025 is a layer of the network for which pi-gemm was written. Also checks the
 * gain of the ladder. */
TEST(the_articles_product_is_within_the_types_bound)
{
  struct gemm_counts counts;
  const struct qpu_sgemm_kernel *kernel = &qpu_sgemm_kernels[qpu_sgemm_67];
  struct qpu_sgemm_problem m = problem(96, 363, 3025, 1.0f, 0.0f);
  run(kernel, &m, 12, &counts);
  assert_int_equal(counts.loop_iterations, 6 * 48 * (363 - 1));
  double share = (double)counts.arithmetic / (double)counts.instructions;
  if (share <= 0.94) fail_msg("share %g", share);
  for (size_t i = 0; i < m.p; i++)
    for (size_t j = i % 7; j < m.r; j += 7) {
      double exact = 0, magnitude = 0;
      for (size_t k = 0; k < m.q; k++) {
        double product = (double)m.a[i * m.lda + k] * (double)m.b[k * m.ldb + j];
        exact += product;
        magnitude += fabs(product);
      }
      assert_true(fabs((double)m.c[i * m.ldc + j] - exact) <= (double)(m.q + 2) * 0x1p-23 * magnitude);
    }
}

TEST(each_rung_needs_fewer_instructions)
{
  static const enum qpu_sgemm_place rungs[] = {qpu_sgemm_dot, qpu_sgemm_138, qpu_sgemm_72, qpu_sgemm_68,
                                               qpu_sgemm_67};
  uint64_t last = UINT64_MAX;
  struct qpu_sgemm_problem m = problem(48, 200, 256, 1.0f, 1.0f);
  for (size_t i = 0; i < sizeof rungs / sizeof rungs[0]; i++) {
    struct gemm_counts counts;
    run(&qpu_sgemm_kernels[rungs[i]], &m, 12, &counts);
    assert_true(counts.instructions < last);
    last = counts.instructions;
  }
}

/* Data of an earlier product in the QPUs' memory must not affect a later one. */
TEST(memory_is_used_again)
{
  for (size_t k = 0; k < QPU_SGEMM_KERNELS; k++) {
    struct qpu_sgemm *sgemm;
    assert_int_equal(qpu_sgemm_open(device, &qpu_sgemm_kernels[k], 17, 5, 66, &sgemm), STATUS_OK);
    for (int round = 0; round < 3; round++) {
      struct qpu_sgemm_problem m = problem(17, 5, 66, round ? 1 : INFINITY, round < 2 ? 0 : 0.5f);
      memcpy(before, m.c, m.p * m.ldc * 4);
      assert_int_equal(qpu_sgemm_run(sgemm, &m, 12, NULL), STATUS_OK);
      if (round) expect_model(&qpu_sgemm_kernels[k], &m);
    }
    qpu_sgemm_close(sgemm);
  }
}

static struct gemm_counts estimated(const struct qpu_sgemm_kernel *kernel, size_t p, size_t q, size_t r)
{
  struct qpu_sgemm *sgemm;
  struct gemm_counts counts[2];
  struct qpu_sgemm_problem m = problem(p, q, r, 1, 0);
  assert_int_equal(qpu_sgemm_open(device, kernel, p, q, r, &sgemm), STATUS_OK);
  for (int round = 0; round < 2; round++)
    assert_int_equal(qpu_sgemm_run(sgemm, &m, 12, &counts[round]), STATUS_OK);
  assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
  qpu_sgemm_close(sgemm);
  return counts[0];
}

static double estimated_by_part(const struct qpu_sgemm_kernel *kernel, size_t p, size_t q, size_t r)
{
  struct qpu_sgemm *sgemm;
  double seconds;
  assert_int_equal(qpu_sgemm_open(device, kernel, p, q, r, &sgemm), STATUS_OK);
  assert_int_equal(qpu_sgemm_estimate(sgemm, 12, &seconds), STATUS_OK);
  qpu_sgemm_close(sgemm);
  return seconds;
}

/* The time of a product with more than 20 million instructions, or before a choice of kernels, is
 * estimated from a part of the product. */
TEST(a_part_estimates_the_whole)
{
  static const size_t shapes[][3] = {{96, 40, 2000}, {64, 1500, 300}, {480, 64, 512}};
  double parts[3] = {0};
  for (size_t k = 0; k < QPU_SGEMM_KERNELS; k++)
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      const struct qpu_sgemm_kernel *kernel = &qpu_sgemm_kernels[k];
      const size_t *shape = shapes[s];
      if (k == qpu_sgemm_dot) continue;
      double whole = estimated(kernel, shape[0], shape[1], shape[2]).estimate_seconds,
             part = estimated_by_part(kernel, shape[0], shape[1], shape[2]);
      if (!(whole > 100e-6 && fabs(part / whole - 1) <= 0.15))
        fail_msg("%s %zu: %g of %g", kernel->name, s, part, whole);
      parts[s] += part;
    }
  char text[64];
  snprintf(text, sizeof text, "%.6f %.6f %.6f", parts[0], parts[1], parts[2]);
  assert_string_equal(text, "0.041769 0.066981 0.056184");
  const struct qpu_sgemm_kernel *dot = &qpu_sgemm_kernels[qpu_sgemm_dot];
  struct gemm_counts within = estimated(dot, 100, 512, 400), beyond = estimated(dot, 160, 512, 290);
  assert_true(within.instructions < 20000000 && beyond.instructions > 20000000);
  assert_true(within.estimate_seconds != estimated_by_part(dot, 100, 512, 400));
  assert_true(beyond.estimate_seconds == estimated_by_part(dot, 160, 512, 290));
}

TEST(what_cannot_be_is_refused)
{
  struct qpu_sgemm_problem m = problem(4, 4, 4, 1, 0);
  struct gpu_device pi = {&gpu_backend_qpu, {.name = "Raspberry Pi"}};
  char why[GPU_TEXT_MAX] = "";
  assert_true(qpu_sgemm_fits(&qpu_sgemm_kernels[qpu_sgemm_threads], device, why));
  assert_true(qpu_sgemm_fits(&qpu_sgemm_kernels[qpu_sgemm_67], &pi, why));
  assert_false(qpu_sgemm_fits(&qpu_sgemm_kernels[qpu_sgemm_threads], &pi, why));
  assert_non_null(strstr(why, "two threads"));
  /* Sizes at the limits of the strides need more memory than there is. */
  static const struct {
    enum qpu_sgemm_place place;
    int n_qpus;
    size_t p, q, r;
    const char *why;
  } cases[] = {{qpu_sgemm_67, 13, 4, 4, 4, "13 QPUs: there are 1 to 12"},
               {qpu_sgemm_67, 0, 4, 4, 4, "0 QPUs: there are 1 to 12"},
               {qpu_sgemm_67, 1, 0, 4, 4, "matrices of 0 x 4 by 4 x 4: every size must be 1 at least"},
               {qpu_sgemm_67, 1, 4, 0, 4, "matrices of 4 x 0 by 0 x 4: every size must be 1 at least"},
               {qpu_sgemm_67, 1, 4, 4, 0, "matrices of 4 x 4 by 4 x 0: every size must be 1 at least"},
               {qpu_sgemm_67, 1, 4, (1 << 22) - 2, 4, "memory"},
               {qpu_sgemm_67, 1, 4, (1 << 22) - 1, 4, "rows of 4194303 and 64 numbers are longer"},
               {qpu_sgemm_dot, 1, 64, (1 << 22) - 32, 4, "memory"},
               {qpu_sgemm_dot, 1, 4, (1 << 22) - 31, 4, "rows of 4194288 and 4194304 numbers are longer"},
               {qpu_sgemm_67, 1, 4, 4, (1 << 30) - 64, "memory"},
               {qpu_sgemm_67, 1, 4, 4, (1 << 30) - 63, "rows of 4 and 1073741824 numbers are longer"}};
  log_hold(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    m.p = cases[i].p, m.q = cases[i].q, m.r = cases[i].r;
    assert_int_equal(multiply_on(&qpu_sgemm_kernels[cases[i].place], &m, cases[i].n_qpus, NULL),
                     strcmp(cases[i].why, "memory") ? STATUS_USAGE : STATUS_ENVIRONMENT);
    assert_non_null(strstr(log_held(), cases[i].why));
    log_drop();
  }
  log_hold(0);
}

UNIT_MAIN(open_device, close_device)
