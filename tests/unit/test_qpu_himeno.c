/* SPDX-License-Identifier: MIT */
/** \file \brief The QPU's Himeno kernels: random boxes must equal the model bit for bit, and a
 * sweep must have the expected number of instructions. */
#include "tests/unit/qpu_unit.h"

#include <math.h>

#include "base/openmp.h"
#include "gpu/qpu/device.h"
#include "himeno/kernels/kernels.h"
#include "himeno/kernels/qpu/ceiling_qpu.h"
#include "himeno/kernels/qpu/naive_qpu.h"
#include "himeno/kernels/qpu/sweep_qpu.h"

/** Fields of the QPU or of the model. */
struct side {
  const struct himeno_kernel_set *set;
  struct gpu_device *device;
  struct gpu_queue *queue;
  struct himeno_fields fields;
  struct himeno_exec *exec;
};

static void side_open(struct side *side, const char *backend, const struct himeno_kernel *kernel,
                      const int64_t extent[3])
{
  struct decomp decomp;
  memset(side, 0, sizeof *side);
  side->set = himeno_kernels_find(backend);
  if (!kernel) kernel = himeno_kernel_find(side->set, "stream");
  decomp_init(&decomp, extent, (const int[3]){1, 1, 1}, 0);
  assert_int_equal(layout_init(&side->fields.layout, &decomp, 1, 0), STATUS_OK);
  size_t bytes = (size_t)layout_floats(&side->fields.layout) * sizeof(float);
  assert_int_equal(gpu_open(gpu_backend_find(backend), 0, &side->device), STATUS_OK);
  assert_int_equal(gpu_queue_create(side->device, GPU_NORMAL, &side->queue), STATUS_OK);
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++)
    assert_int_equal(gpu_alloc(side->device, bytes, &side->fields.coefficient[m]), STATUS_OK);
  for (int n = 0; n < 2; n++) assert_int_equal(gpu_alloc(side->device, bytes, &side->fields.p[n]), STATUS_OK);
  assert_int_equal(gpu_alloc(side->device, sizeof(double), &side->fields.gosa), STATUS_OK);
  assert_int_equal(side->set->open(side->device, &side->fields, kernel, &side->exec), STATUS_OK);
  for (int m = 0; m < HIMENO_ARRAYS; m++)
    assert_int_equal(side->set->fill(side->exec, side->queue, m, HIMENO_DENSE), STATUS_OK);
}

static void side_close(struct side *side)
{
  side->set->close(side->exec);
  gpu_free(side->device, &side->fields.gosa);
  for (int n = 0; n < 2; n++) gpu_free(side->device, &side->fields.p[n]);
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) gpu_free(side->device, &side->fields.coefficient[m]);
  gpu_queue_destroy(side->queue);
  gpu_close(side->device);
}

static void side_sweep(struct side *side, const struct box *box, int source)
{
  struct himeno_sweep sweep = {.box = *box, .source = source};
  status_t status = side->set->sweep(side->exec, side->queue, &sweep);
  if (status != STATUS_OK) fail_msg("%s", log_held());
}

static void compare(const int64_t extent[3], const struct box *box, const char *kernel)
{
  struct side qpu, model;
  log_hold(1);
  side_open(&qpu, "qpu", himeno_kernel_find(himeno_kernels_find("qpu"), kernel), extent);
  side_open(&model, "cpu", &himeno_kernel_toward_zero, extent);
  for (int s = 0; s < 2; s++) {
    side_sweep(&qpu, box, s);
    side_sweep(&model, box, s);
    const struct gpu_mem *got = &qpu.fields.p[1 - s], *expected = &model.fields.p[1 - s];
    assert_memory_equal(got->handle, expected->handle, expected->bytes);
  }
  side_close(&model);
  side_close(&qpu);
  log_hold(0);
}

static int64_t random_between(uint64_t *seed, int64_t low, int64_t high)
{
  return low + (int64_t)(qpu_random(seed) % (uint64_t)(high - low + 1));
}

TEST(any_box_of_any_grid_is_the_models)
{
  uint64_t seed = 1;
  for (int round = 0; round < 60; round++) {
    int64_t extent[3] = {random_between(&seed, 3, 11), random_between(&seed, 3, 11),
                         random_between(&seed, 3, 60)};
    struct box box;
    for (int d = 0; d < 3; d++) {
      box.lo[d] = random_between(&seed, 1, extent[d] - 2);
      box.hi[d] = random_between(&seed, box.lo[d] + 1, extent[d] - 1);
    }
    compare(extent, &box, round % 4 ? "stream" : "naive");
  }
}

static uint64_t round_up(uint64_t n, uint64_t multiple)
{
  return (n + multiple - 1) / multiple * multiple;
}

/* XS has 30 × 30 columns of 62 points, which are four vectors each, on 12 programs. Expected: one
 * interrupt, a store per vector, and a store of sums per program. */
TEST(a_sweep_costs_the_clocks_of_its_loop)
{
  struct side side;
  struct qpu_emu_stats stats;
  log_hold(1);
  side_open(&side, "qpu", NULL, (const int64_t[3]){32, 32, 64});
  side_sweep(&side, &side.fields.layout.owned, 0);
  stats = qpu_emu_stats(qpu_device_emulator(side.device));
  side_close(&side);
  log_hold(0);
  assert_int_equal(stats.interrupts, 1);
  assert_int_equal(stats.dma_stores, 30 * 4 * 30 + 12);
  assert_int_equal(stats.tmu_loads, 30 * 4 * (32 * 9 + 30 * 12));
  assert_int_equal(stats.tmu_depth_used, 4);
  assert_int_equal(round_up(stats.issued, 1000), 272000);
  assert_int_equal((sweep_loop_end - sweep_loop) / 8, 3 * 72 + 4);
  assert_int_equal((naive_loop_end - naive_loop) / 8, 166);
}

TEST(a_boxs_points_are_counted)
{
  struct side side;
  struct himeno_counts counts;
  log_hold(1);
  side_open(&side, "qpu", NULL, (const int64_t[3]){5, 6, 40});
  side_sweep(&side, &side.fields.layout.owned, 0);
  side_sweep(&side, &(struct box){{1, 1, 1}, {1, 2, 3}}, 0); /* no points */
  side.set->counts(side.exec, &counts);
  side_close(&side);
  log_hold(0);
  assert_int_equal(counts.points, 3 * 4 * 38);
  assert_true(counts.arithmetic > 0 && counts.arithmetic < counts.instructions);
  assert_int_equal(counts.flop % 16, 0);
}

/* Twelve programs get equally many columns; a part of the longer box is run to estimate it. */
TEST(a_long_box_is_estimated_by_a_part)
{
  static const int64_t extents[][3] = {{66, 38, 50}, {66, 194, 50}};
  double ns[2];
  log_hold(1);
  for (int n = 0; n < 2; n++) {
    struct side side;
    struct himeno_counts counts;
    side_open(&side, "qpu", NULL, extents[n]);
    side_sweep(&side, &side.fields.layout.owned, 0);
    side.set->counts(side.exec, &counts);
    side_close(&side);
    assert_int_equal(counts.estimate_points, 64 * (extents[n][1] - 2) * 48);
    /* besides the call */
    ns[n] = ((double)counts.estimate_ns - 100e3) / (double)counts.estimate_points;
  }
  log_hold(0);
  assert_true(fabs(ns[1] / ns[0] - 1) < 0.06);
}

int main(void)
{
  omp_set_num_threads(1); /* the grids are too small for threads, and the machine may be busy */
  setenv("HIMENO_QPU", "emulator", 1);
  return _cmocka_run_group_tests("tests", unit_list()->test, unit_list()->n, NULL, NULL);
}
