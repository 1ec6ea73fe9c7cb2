/* SPDX-License-Identifier: MIT */
/* Compares products of the CPU's and OpenCL's ladders with float64. Sizes, leading dimensions,
 * factors, transpositions, tiles and data are random with a fixed seed; C is poisoned before. */
#define CL_TARGET_OPENCL_VERSION 120
#include "tests/unit/unit.h"

#include <math.h>

#include "base/hash.h"
#include "base/log.h"
#include "config.h"
#include "gemm/kernels/cpu/micro.h"
#include "gemm/verify/matrices.h"
#include "gemm/verify/verify.h"
#if HAVE_OPENCL
#include <CL/cl.h>
#endif

#define EXTENT_MAX 150
#define PAD_MAX    5

static struct rig {
  const struct gemm_kernel_set *set;
  struct gpu_device *device;
  struct gpu_queue *queue;
  uint64_t drawn; /**< random numbers so far */
} rig;

static int draw(struct rig *rig, int choices)
{
  return (int)(hash_mix(rig->drawn++) % (uint64_t)choices);
}

static int rig_open(struct rig *rig, const char *backend)
{
  const struct gpu_backend *found = gpu_backend_find(backend);
  *rig = (struct rig){.set = gemm_kernels_find(backend)};
  log_mute(1);
  int there = found && rig->set && gpu_open(found, 0, &rig->device) == STATUS_OK;
  log_mute(0);
  if (there) assert_int_equal(gpu_queue_create(rig->device, GPU_NORMAL, &rig->queue), STATUS_OK);
  return there;
}

static void rig_close(struct rig *rig)
{
  gpu_queue_destroy(rig->queue);
  gpu_close(rig->device);
}

static struct gemm_problem problem_draw(struct rig *rig, int trans)
{
  static const float alphas[] = {1, -0.75f, 0, 1e-3f}, betas[] = {0, 1, -2, 0.5f};
  struct gemm_problem p = {.m = 1 + draw(rig, EXTENT_MAX),
                           .n = 1 + draw(rig, EXTENT_MAX),
                           .k = 1 + draw(rig, EXTENT_MAX),
                           .alpha = alphas[draw(rig, 4)],
                           .beta = betas[draw(rig, 4)],
                           .trans_a = trans >> 1,
                           .trans_b = trans & 1};
  for (int x = 0; x < GEMM_MATRICES; x++)
    p.ld[x] = gemm_columns(&p, (enum gemm_matrix)x) + draw(rig, PAD_MAX);
  return p;
}

static void product_check(struct rig *rig, const struct gemm_kernel *kernel, const struct gemm_problem *p,
                          const struct gemm_blocks *blocks)
{
  const int drawn = draw(rig, 3);
  enum gemm_data data = p->alpha == 0 || kernel->is_reference ? GEMM_RANDOM : (enum gemm_data)drawn;
  struct gemm_matrices m;
  struct gemm_reference *reference;
  struct gemm_exec *exec;
  struct gemm_check check;
  assert_int_equal(gemm_matrices_open(&m, rig->device, rig->queue, p, data, rig->drawn, NULL), STATUS_OK);
  assert_int_equal(
      gemm_reference_open(p, GEMM_VERIFY_FULL, m.host[GEMM_A], m.host[GEMM_B], m.host[GEMM_C], &reference),
      STATUS_OK);
  assert_int_equal(gemm_exec_open(kernel, rig->device, p, blocks, &exec), STATUS_OK);
  assert_int_equal(gemm_matrices_reset(&m), STATUS_OK);
  assert_int_equal(gemm_launch(exec, rig->queue, &m.on), STATUS_OK);
  assert_int_equal(gemm_matrices_fetch(&m, m.out), STATUS_OK);
  if (gemm_verify(reference, kernel->truncates, m.out, kernel->name, &check) != STATUS_OK)
    fail_msg("%s %s %lldx%lldx%lld ld %lld %lld %lld alpha %g beta %g data %d", kernel->name,
             gemm_trans_name(p), (long long)p->m, (long long)p->n, (long long)p->k, (long long)p->ld[GEMM_A],
             (long long)p->ld[GEMM_B], (long long)p->ld[GEMM_C], (double)p->alpha, (double)p->beta,
             (int)data);
  assert_int_equal(check.compared, p->m * p->n);
  gemm_exec_close(exec);
  gemm_reference_close(reference);
  gemm_matrices_close(&m);
}

/* Kernels for transposed matrices alternate between all four combinations. A kernel with many tiles
 * uses the last and smallest ones, which differ from others only by constants: on a CPU, OpenCL
 * takes seconds to compile the large ones. CLBlast must take a CPU for a GPU. */
static void kernel_check(struct rig *rig, const struct gemm_kernel *kernel, enum gemm_type type, int shapes)
{
  char why[GPU_TEXT_MAX];
  int large = kernel->n_blocks == 1 && kernel->blocks[0].ahead, is_cpu = rig->device->info.is_cpu;
  rig->device->info.is_cpu = is_cpu && !kernel->is_reference;
  for (int shape = 0; shape < shapes; shape++) {
    struct gemm_problem p = problem_draw(rig, kernel->transposes && !large ? shape % 4 : 0);
    p.type = type;
    const struct gemm_blocks *blocks = kernel->n_blocks > 1 ? &kernel->blocks[kernel->n_blocks - 1] : NULL;
    if (gemm_kernel_fits(kernel, rig->device, &p, why)) product_check(rig, kernel, &p, blocks);
  }
  rig->device->info.is_cpu = is_cpu;
}

static void set_check(const char *backend, int shapes)
{
  if (!rig_open(&rig, backend)) skip();
  for (int k = 0; k < rig.set->n; k++)
    for (int type = 0; type < GEMM_TYPES; type++)
      kernel_check(&rig, rig.set->kernels[k], (enum gemm_type)type, shapes);
  rig_close(&rig);
}

TEST(every_kernel_of_the_cpu_multiplies_any_shape)
{
  static const char *const simds[] = {"generic", "avx2", "avx512"};
  const struct gemm_micro *micro;
  for (int s = 0; s < 3; s++) {
    setenv("HIMENO_CPU_SIMD", simds[s], 1);
    log_mute(1);
    int able = gemm_micro_choose(GEMM_F32, &micro) == STATUS_OK;
    log_mute(0);
    if (able) set_check("cpu", 16);
  }
  unsetenv("HIMENO_CPU_SIMD");
}

TEST(every_kernel_of_opencl_multiplies_any_shape)
{
  set_check("opencl", 8);
}

static char built_with[1000]; /* options of the last OpenCL program */

/* Whole tiles of aligned rows take a separate path through the code. Four columns of C are stored
 * at once if its rows, and those of its parts, begin at multiples of 16 bytes; otherwise each is
 * separate. Cases: n and ldc, 1 and 16 parts, tiles over the edge or not, C read or not. */
TEST(opencl_kernels_store_c_in_fours_and_one_by_one)
{
  static const int64_t shapes[][2] = {{64, 64}, {64, 66}, {70, 72}, {72, 72}, {72, 73}, {71, 71}};
  if (!rig_open(&rig, "opencl")) skip();
  const struct gemm_kernel *kernel = gemm_kernel_find(rig.set, "split-k");
  assert_non_null(kernel);
  for (size_t x = 0; x < sizeof shapes / sizeof shapes[0]; x++)
    for (int splits = 1; splits <= 16; splits += 15)
      for (int beta = 0; beta <= 1; beta++) {
        struct gemm_problem p = {.m = x < 2 ? 64 : 37, .n = shapes[x][0], .k = 128, .alpha = 2};
        struct gemm_blocks blocks = kernel->blocks[kernel->n_blocks - 1];
        p.beta = -1.5f * (float)beta;
        p.ld[GEMM_C] = shapes[x][1];
        blocks.splits = splits;
        assert_int_equal(gemm_problem_complete(&p), STATUS_OK);
        product_check(&rig, kernel, &p, &blocks);
      }
  /* Far rows of A or B need offsets of 64 bits within a tile. */
  for (int far = 0; far < 3; far++) {
    const int64_t a = (1 << 22) + (far == 1), b = (1 << 22) + (far == 2);
    struct gemm_problem p = {.m = 64, .n = 64, .k = 64, .alpha = 1, .ld = {a, b}};
    struct gemm_exec *exec;
    assert_int_equal(gemm_problem_complete(&p), STATUS_OK);
    assert_int_equal(gemm_exec_open(kernel, rig.device, &p, NULL, &exec), STATUS_OK);
    assert_non_null(strstr(built_with, far ? " OFFSET=ulong" : " OFFSET=uint"));
    gemm_exec_close(exec);
  }
  rig_close(&rig);
}

#if HAVE_OPENCL
/* The nth reading is 4·n² ms, so that the nth duration is 16·n − 4 ms. */
cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t bytes, void *value,
                               size_t *used)
{
  static cl_ulong n;
  n++;
  *(cl_ulong *)value = 4000000 * n * n;
  return CL_SUCCESS;
}

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                      void (*done)(cl_program, void *), void *data)
{
  snprintf(built_with, sizeof built_with, "%s", options);
  return REAL(clBuildProgram)(program, n, devices, options, done, data);
}

/* Arithmetic takes 12 ms in 64 iterations, which is too short, and 28 ms in 256. The third reading
 * of device memory takes 76 ms, and 64 iterations in local memory 92 ms. */
TEST(opencls_ceilings_are_work_per_time)
{
  struct gemm_ceilings c;
  if (!rig_open(&rig, "opencl")) skip();
  rig.device->info.is_cpu = 0;
  assert_int_equal(rig.set->ceilings(rig.device, rig.queue, GEMM_F32, &c), STATUS_OK);
  const double items = 256 * 16 * rig.device->info.compute_units;
  assert_true(fabs(c.flops * 0.028 / (items * 256 * 512) - 1) < 1e-9);
  assert_true(fabs(c.bytes_per_second * 0.076 / (256 << 20) - 1) < 1e-9);
  assert_true(fabs(c.local_bytes_per_second * 0.092 / (items * 64 * 64) - 1) < 1e-9);
  rig_close(&rig);
}
#endif

int main(void) /* drivers of OpenCL may keep files open */
{
  return _cmocka_run_group_tests("tests", unit_list()->test, unit_list()->n, NULL, NULL);
}
