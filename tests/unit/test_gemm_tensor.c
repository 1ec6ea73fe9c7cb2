/* SPDX-License-Identifier: MIT */
/* Properties of the CUDA kernels other than their products: the chip that each needs, the tiles of
 * parts, studies of WMMA fragments, and the rounding of TF32. */
#include "base/log.h"
#include "config.h"
#include "gemm/kernels/cuda/tensor/study.h"
#include "tests/unit/unit.h"
#if HAVE_CUDA
#include "gemm/kernels/cuda/cuda_gemm.h"
#include "gemm/kernels/cuda/tensor/fragment.h"
#include "gemm/kernels/kernels.h"
#include "gemm/verify/matrices.h"
#include "gpu/cuda/cuda_device.h"

static struct gpu_device *device;
static struct gpu_queue *queue;
static char text[1 << 18];

static void expect_ok(status_t status)
{
  if (status != STATUS_OK) print_error("%s\n", log_held());
  assert_int_equal(status, STATUS_OK);
}

/* Neither extents that are stored in int, nor the grid, may overflow. */
static void test_extents(void **state)
{
  static const struct {
    const char *kernel;
    enum gemm_type type;
    int64_t m, k;
    const char *why;
  } cases[] = {{"wmma", GEMM_F16, GEMM_EXTENT_MAX, 1, "takes extents up to 2147483136"},
               {"mma", GEMM_BF16, 1, GEMM_EXTENT_MAX, "takes extents up to 2147483136"},
               {"wmma", GEMM_F16, 2147483136, 1, ""},
               {"f16x2", GEMM_F16_F16, 8388481, 1, "takes up to 8388480 rows"},
               {"f16x2", GEMM_F16_F16, 8388480, 1, ""}};
  const struct cuda_device fake = {.properties.major = 9};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const struct gemm_kernel *kernel = gemm_kernel_find(gemm_kernels_find("cuda"), cases[c].kernel);
    struct gemm_problem p = {.type = cases[c].type, .m = cases[c].m, .n = 1, .k = cases[c].k, .alpha = 1};
    char why[GPU_TEXT_MAX];
    expect_ok(gemm_problem_complete(&p));
    assert_int_equal(gemm_kernel_fits(kernel, &fake.base, &p, why), !cases[c].why[0]);
    assert_string_equal(why, cases[c].why);
  }
}

/* Chips must be distinguished by their properties, without a device. */
static void test_chips(void **state)
{
  static const struct {
    const char *kernel;
    int major, minor;
    const char *why;
  } cases[] = {{"wgmma", 8, 0, "needs sm_90a (H100, H200), this is sm_80"},
               {"wgmma", 10, 0, "needs sm_90a (H100, H200), this is sm_100"},
               {"mma", 7, 5, "needs sm_80 or later, this is sm_75"},
               {"dmma", 7, 5, "needs sm_80 or later, this is sm_75"},
               {"dmma", 9, 0, ""},
               {"wmma", 6, 0, "needs sm_70 or later, this is sm_60"},
               {"f16x2", 5, 2, "needs sm_60 or later, this is sm_52"},
               {"wmma", 7, 0, ""},
               {"mma", 12, 0, ""}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct cuda_device fake = {.properties.major = cases[c].major, .properties.minor = cases[c].minor};
    const struct gemm_kernel *kernel = gemm_kernel_find(gemm_kernels_find("cuda"), cases[c].kernel);
    struct gemm_problem p = {.m = 64, .n = 64, .k = 64, .ld = {64, 64, 64}, .alpha = 1};
    char why[GPU_TEXT_MAX];
    while (!(kernel->types & GEMM_BIT(p.type))) p.type++;
    assert_int_equal(gemm_kernel_fits(kernel, &fake.base, &p, why), !cases[c].why[0]);
    if (strncmp(why, cases[c].why, strlen(cases[c].why)) != 0) fail_msg("%s: \"%s\"", cases[c].kernel, why);
  }
}

/* The parts of a distributed product differ in k, and in whether their rows fill 16 bytes. A tile
 * that one part accepts must suit all of them, because trials run only with the first. */
static void parts_check(const struct gemm_kernel *kernel, enum gemm_type type, int trans, int block, int chip)
{
  static const int parts[][3] = {{505, 249, 4096}, {504, 248, 4096}, {504, 248, 4092},
                                 {505, 248, 100},  {504, 249, 96},   {505, 249, 1}};
  enum { PARTS = sizeof parts / sizeof *parts };
  const struct cuda_operation *operation = kernel->variant;
  const struct cuda_chip on = {.number = chip, .processors = 132, .shared_bytes = 227 << 10};
  int able = 0;
  for (int p = 0; p < PARTS; p++) {
    struct cuda_job job = {.type = type, .lda = 4096, .ldb = 4096, .ldc = 4096, .alpha = 1};
    job.m = parts[p][0], job.n = parts[p][1], job.k = parts[p][2];
    job.trans_a = trans >> 1, job.trans_b = trans & 1;
    struct gemm_blocks blocks = kernel->blocks[block];
    if (operation->choose(&job, type, &on, &blocks) != cudaSuccess) continue;
    able++;
    assert_true(blocks.splits >= 1 && blocks.splits <= (job.k - 1) / blocks.group_k + 1);
  }
  if (able % PARTS)
    fail_msg("%s, type %d, %d, tile %d on sm_%d: %d parts", kernel->name, type, trans, block, chip, able);
}

static void test_parts(void **state)
{
  static const int chips[] = {75, 80, 90};
  const struct gemm_kernel_set *set = gemm_kernels_find("cuda");
  int checked = 0;
  for (int k = 0; k < set->n; k++) {
    const struct gemm_kernel *kernel = set->kernels[k];
    if (kernel->n_blocks < 2 || !((const struct cuda_operation *)kernel->variant)->choose) continue;
    for (int n = 0; n < 3 * 4 * GEMM_TYPES * kernel->n_blocks; n++) {
      const int type = n / 12 % GEMM_TYPES;
      if (!(kernel->types & GEMM_BIT(type))) continue;
      parts_check(kernel, (enum gemm_type)type, n % 4, n / 12 / GEMM_TYPES, chips[n / 4 % 3]);
      checked++;
    }
  }
  assert_true(checked > 0);
}

static void test_map(void **state)
{
  static const char *const kinds[] = {"matrix_a, half, 16x16x16",
                                      "matrix_a, half, 32x8x16",
                                      "matrix_b, half, 8x32x16",
                                      "accumulator, half, 32x8x16",
                                      "accumulator, float, 16x16x16, stored by rows or by columns alike: 8",
                                      "accumulator, float, 8x32x16"};
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  assert_non_null(out);
  expect_ok(gemm_study_fragments(device, queue, out));
  fclose(out);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (!strstr(text, kinds[k])) fail_msg("no \"%s\"", kinds[k]);
}

/* Multiplies by the unit matrix, with rows that TMA reads or that are copied first. Every element
 * must be rounded to TF32's 10 bits: to nearest, ties to even. */
static void rounding_check(int trans, int64_t pad, int unit)
{
  enum { N = 8 };
  static const float in[N] = {0x1.002p+0f,    0x1.006p+0f, -0x1.002p+0f, 0x1.002002p+0f,
                              0x1.001ffep+0f, 0x1.ffep+3f, 0x1.8p-3f,    -0x1.00e002p+9f};
  static const float right[N] = {1, 0x1.008p+0f, -1, 0x1.004p+0f, 1, 0x1p+4f, 0x1.8p-3f, -0x1.01p+9f};
  struct gemm_problem p = {.type = GEMM_TF32,
                           .m = N,
                           .n = N,
                           .k = N,
                           .ld = {N + pad, N + pad},
                           .trans_a = trans >> 1,
                           .trans_b = trans & 1,
                           .alpha = 1};
  struct gemm_matrices m;
  struct gemm_exec *exec;
  expect_ok(gemm_problem_complete(&p));
  expect_ok(gemm_matrices_open(&m, device, queue, &p, GEMM_RANDOM, 1, NULL));
  for (int matrix = GEMM_A; matrix <= GEMM_B; matrix++) {
    float *to = m.host[matrix];
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) to[i * p.ld[matrix] + j] = matrix == unit ? i == j : in[(i + j) % N];
    expect_ok(gpu_copy_in(queue, matrix == GEMM_A ? m.on.a : m.on.b, 0, to, gemm_bytes(&p, matrix)));
  }
  expect_ok(gemm_exec_open(gemm_kernel_find(gemm_kernels_find("cuda"), "wgmma"), device, &p, NULL, &exec));
  expect_ok(gemm_launch(exec, queue, &m.on));
  expect_ok(gemm_matrices_fetch(&m, m.out));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float x = ((float *)m.out)[i * N + j];
      if (x != right[(i + j) % N])
        fail_msg("%s, %d more a row, unit %c: %a became %a", gemm_trans_name(&p), (int)pad, "AB"[unit],
                 in[(i + j) % N], x);
    }
  gemm_exec_close(exec);
  gemm_matrices_close(&m);
}

static void test_rounding(void **state)
{
  const struct gemm_kernel *kernel = gemm_kernel_find(gemm_kernels_find("cuda"), "wgmma");
  struct gemm_problem p = {.type = GEMM_TF32, .m = 8, .n = 8, .k = 8, .alpha = 1};
  char why[GPU_TEXT_MAX];
  expect_ok(gemm_problem_complete(&p));
  if (!gemm_kernel_fits(kernel, device, &p, why)) skip();
  for (int trans = 0; trans < 4; trans++)
    for (int64_t pad = 0; pad < 2; pad++)
      for (int unit = GEMM_A; unit <= GEMM_B; unit++) rounding_check(trans, pad, unit);
}

static int teardown(void **state)
{
  gpu_queue_destroy(queue);
  gpu_close(device);
  return 0;
}

static int device_open(void)
{
  const struct gpu_backend *backend = gpu_backend_find("cuda");
  struct gpu_device_info *devices = NULL;
  char reason[GPU_TEXT_MAX];
  int n = 0;
  backend->probe(&devices, &n, reason);
  free(devices);
  return n > 0 && gpu_open(backend, 0, &device) == STATUS_OK &&
         gpu_queue_create(device, GPU_NORMAL, &queue) == STATUS_OK;
}

int main(void)
{
  static const struct CMUnitTest chips[] = {cmocka_unit_test(test_chips), cmocka_unit_test(test_extents),
                                            cmocka_unit_test(test_parts)};
  static const struct CMUnitTest all[] = {cmocka_unit_test(test_chips), cmocka_unit_test(test_extents),
                                          cmocka_unit_test(test_parts), cmocka_unit_test(test_map),
                                          cmocka_unit_test(test_rounding)};
  log_hold(1);
  return device_open() ? cmocka_run_group_tests(all, NULL, teardown)
                       : cmocka_run_group_tests(chips, NULL, teardown);
}

#else

int main(void)
{
  return 77;
}

#endif
