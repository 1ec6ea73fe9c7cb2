/* SPDX-License-Identifier: MIT */
#include "tests/unit/kernel_checks.h"

#include <fenv.h>
#include <math.h>

#include "base/hash.h"
#include "base/log.h"
#include "tests/unit/passes.h"
#include "tests/unit/rig.h"

#define NAME_MAX_ 96

static const struct known {
  enum himeno_data data;
  int64_t extent[3];
  int sweeps;
  double gosa;
  uint64_t checksum, toward_zero; /* with rounding to nearest, and toward zero as on a QPU */
} known_values[] = {
    {HIMENO_STANDARD, {32, 32, 64}, 1, 6.713711034051e-03, 0x4b4008a2742991bf, 0x0050479c1c58df9a},
    {HIMENO_STANDARD, {32, 32, 64}, 3, 6.229796414519e-03, 0x9d9fcfa656c9df8f, 0xffb3e0ab856cdf7c},
    {HIMENO_STANDARD, {32, 32, 64}, 10, 5.358265606109e-03, 0xeedfdcdacafead9a, 0xa4d1a645ce0ae183},
    {HIMENO_DENSE, {32, 32, 64}, 1, 4.723608132279e+03, 0x98711bb3e89d666f, 0x7b5916c87def4c2b},
    {HIMENO_DENSE, {32, 32, 64}, 3, 1.693129545269e+02, 0x241412ff7d5030ba, 0x5fd521ab3eedc86d},
    {HIMENO_DENSE, {32, 32, 64}, 10, 1.295236157355e+01, 0x6b59a0329b9dc0d3, 0xf0bb0f9aaab88fda},
    {HIMENO_STANDARD, {24, 37, 53}, 1, 1.559252572064e-02, 0xb0942cb66c1d2071, 0xd9ab5f04d31617dc},
    {HIMENO_STANDARD, {24, 37, 53}, 3, 1.432405069774e-02, 0xeda869d12e5a7c26, 0xfd674e5eadf9ce4e},
    {HIMENO_DENSE, {24, 37, 53}, 1, 3.288989260235e+03, 0x9b68d2fb4374ce20, 0xb3d9c382aa1c68cf},
    {HIMENO_DENSE, {24, 37, 53}, 3, 1.191054986548e+02, 0x6f50b4b4384ea348, 0x016b5477a188f0a9},
};

/** Returns the initial value at global (i, j, k) by its definition, rounded to nearest. */
static float rounded_initial(const int64_t extent[3], enum himeno_array array, enum himeno_data data,
                             int64_t i, int64_t j, int64_t k)
{
  static const float standard[] = {1, 1, 1, (float)(1.0 / 6.0), 0, 0, 0, 1, 1, 1, 1, 0};
  static const float lo[] = {.8f, .8f, .8f, .15f, -.05f, -.05f, -.05f, .8f, .8f, .8f, .9f, -.001f, 0};
  static const float w[] = {.2f, .2f, .2f, .0166f, .1f, .1f, .1f, .2f, .2f, .2f, .1f, .002f, 1};
  if (data == HIMENO_STANDARD)
    return array != HIMENO_P ? standard[array] : (float)(i * i) / (float)((extent[0] - 1) * (extent[0] - 1));
  uint64_t g = (uint64_t)((i * extent[1] + j) * extent[2] + k);
  float u = (float)(hash_mix(hash_mix(g) + array) >> 40) / 16777216.0f;
  volatile float scaled = w[array] * u;
  volatile float value = lo[array] + scaled;
  return array == HIMENO_BND && u < .0625f ? 0 : value;
}

static float initial(const int64_t extent[3], enum himeno_array array, enum himeno_data data, int64_t i,
                     int64_t j, int64_t k)
{
  int mode = fegetround();
  fesetround(FE_TONEAREST);
  volatile float value = rounded_initial(extent, array, data, i, j, k);
  fesetround(mode);
  return value;
}

/** Returns the new value at (i, j, k). Each term is stored, so that the compiler cannot contract
 * operations. */
static float expected_point(const int64_t extent[3], enum himeno_data data, int64_t i, int64_t j, int64_t k,
                            double *gosa)
{
  volatile float s, t;
#define V(array, di, dj, dk) initial(extent, array, data, i + (di), j + (dj), k + (dk))
#define Q(di, dj, dk)        V(HIMENO_P, di, dj, dk)
#define ADD(product)         (t = (product), s = s + t)
#define CROSS(array, p, q, r, u)                                                                             \
  do {                                                                                                       \
    t = (p) - (q);                                                                                           \
    t = t - (r);                                                                                             \
    t = t + (u);                                                                                             \
    ADD(V(array, 0, 0, 0) * t);                                                                              \
  } while (0)
  s = V(HIMENO_A0, 0, 0, 0) * Q(1, 0, 0);
  ADD(V(HIMENO_A1, 0, 0, 0) * Q(0, 1, 0));
  ADD(V(HIMENO_A2, 0, 0, 0) * Q(0, 0, 1));
  CROSS(HIMENO_B0, Q(1, 1, 0), Q(1, -1, 0), Q(-1, 1, 0), Q(-1, -1, 0));
  CROSS(HIMENO_B1, Q(0, 1, 1), Q(0, -1, 1), Q(0, 1, -1), Q(0, -1, -1));
  CROSS(HIMENO_B2, Q(1, 0, 1), Q(-1, 0, 1), Q(1, 0, -1), Q(-1, 0, -1));
  ADD(V(HIMENO_C0, 0, 0, 0) * Q(-1, 0, 0));
  ADD(V(HIMENO_C1, 0, 0, 0) * Q(0, -1, 0));
  ADD(V(HIMENO_C2, 0, 0, 0) * Q(0, 0, -1));
  ADD(V(HIMENO_WRK1, 0, 0, 0));
  s = s * V(HIMENO_A3, 0, 0, 0);
  s = s - Q(0, 0, 0);
  s = s * V(HIMENO_BND, 0, 0, 0);
  *gosa += (double)s * s;
  t = 0.8f * s;
  return Q(0, 0, 0) + t;
#undef V
#undef Q
#undef ADD
#undef CROSS
}

/** Asserts that p[1] has the new values inside the box, its earlier values elsewhere (\a before, or
 * poison if that is NULL), and that the slot has the box's gosa. */
static void assert_swept_over(struct rig *rig, enum himeno_data data, const struct box *box, int slot,
                              const uint32_t *before)
{
  const struct layout *l = &rig->fields.layout;
  uint32_t *bits = rig_bits_of(rig, rig->fields.p[1]);
  double gosa = 0;
  int mode = fegetround();

  for (int64_t x = 0; x < rig->floats; x++) {
    int64_t i = x / l->plane, j = x % l->plane / l->pitch, k = x % l->pitch;
    uint32_t expected = before ? before[x] : RIG_POISON;
    if (rig->toward_zero) fesetround(FE_TOWARDZERO);
    if (rig_in_box(box, i, j, k)) {
      float value = expected_point(l->global, data, i, j, k, &gosa);
      memcpy(&expected, &value, sizeof expected);
    }
    fesetround(mode);
    if (bits[x] != expected) print_error("point (%d, %d, %d)\n", (int)i, (int)j, (int)k);
    assert_int_equal(bits[x], expected);
  }
  free(bits);
  rig_assert_close(rig, rig_gosa_of(rig, slot), gosa);
}

/** Asserts what assert_swept_over() does if p[1] was poison before. */
static void assert_swept(struct rig *rig, enum himeno_data data, const struct box *box, int slot)
{
  assert_swept_over(rig, data, box, slot, NULL);
}

/* ---- the checks ---- */

static void check_known(void **state)
{
  for (size_t n = 0; n < sizeof known_values / sizeof *known_values; n++) {
    const struct known *known = &known_values[n];
    struct rig rig;
    rig_open_whole(&rig, *state, known->extent, known->data);
    for (int s = 0; s < known->sweeps; s++) {
      rig_expect_ok(gpu_clear(rig.queue, rig.fields.gosa, 2 * sizeof(double), sizeof(double)));
      rig_sweep(&rig, &rig.fields.layout.owned, s % 2, 2);
    }
    assert_int_equal(rig_checksum_of(&rig, known->sweeps % 2),
                     rig.toward_zero ? known->toward_zero : known->checksum);
    rig_assert_close(&rig, rig_gosa_of(&rig, 2), known->gosa);
    rig_close(&rig);
  }
}

static void check_small_grids(void **state)
{
  static const int64_t extents[][3] = {{3, 3, 3}, {3, 4, 5}, {5, 3, 70}, {4, 21, 34}, {70, 6, 4}};
  for (size_t n = 0; n < sizeof extents / sizeof *extents; n++)
    for (int data = HIMENO_STANDARD; data <= HIMENO_DENSE; data++) {
      struct rig rig;
      rig_open_whole(&rig, *state, extents[n], data);
      rig_poison(&rig, rig.fields.p[1]);
      rig_sweep(&rig, &rig.fields.layout.owned, 0, 0);
      assert_swept(&rig, data, &rig.fields.layout.owned, 0);
      rig_close(&rig);
    }
}

/** Sweeps slabs, columns and bricks with every kind of edge along k, one after the other in the
 * same field. */
static void check_boxes(void **state)
{
  static const struct box boxes[] = {
      {{1, 1, 1}, {2, 12, 99}},   {{1, 1, 1}, {9, 2, 99}},   {{1, 1, 1}, {9, 12, 2}},
      {{8, 11, 98}, {9, 12, 99}}, {{2, 3, 5}, {7, 9, 61}},   {{2, 3, 16}, {7, 9, 80}},
      {{3, 2, 31}, {4, 3, 34}},   {{1, 1, 15}, {9, 12, 17}}, {{1, 1, 64}, {9, 12, 99}},
      {{4, 4, 4}, {4, 9, 9}},     {{4, 4, 9}, {6, 9, 9}},
  };
  struct rig rig;
  rig_open_whole(&rig, *state, (const int64_t[3]){10, 13, 100}, HIMENO_DENSE);
  for (size_t n = 0; n < sizeof boxes / sizeof *boxes; n++) {
    rig_poison(&rig, rig.fields.p[1]);
    rig_expect_ok(gpu_clear(rig.queue, rig.fields.gosa, 0, RIG_SLOTS * sizeof(double)));
    rig_sweep(&rig, &boxes[n], 0, 1);
    assert_swept(&rig, HIMENO_DENSE, &boxes[n], 1);
    assert_true(rig_gosa_of(&rig, 0) == 0 && rig_gosa_of(&rig, 2) == 0);
  }
  rig_close(&rig);
}

/** Beyond the ends of the box's rows, p[1] equals p[0], so kernels may write these points again.
 * Elsewhere it is poison, which must stay. */
static void check_ends(void **state)
{
  static const struct box boxes[] = {{{1, 1, 1}, {9, 12, 99}},  {{3, 2, 1}, {5, 9, 99}},
                                     {{8, 11, 1}, {9, 12, 99}}, {{3, 2, 2}, {5, 9, 99}},
                                     {{3, 2, 1}, {5, 9, 98}},   {{2, 3, 16}, {7, 9, 80}}};
  struct rig rig;
  rig_open_whole(&rig, *state, (const int64_t[3]){10, 13, 100}, HIMENO_DENSE);
  for (size_t n = 0; n < sizeof boxes / sizeof *boxes; n++) {
    const struct box *b = &boxes[n];
    const struct layout *l = &rig.fields.layout;
    const struct himeno_sweep sweep = {.box = *b, .sweeps = 1, .source = 0, .slot = 1, .ends_equal = 1};
    uint32_t *before = rig_bits_of(&rig, rig.fields.p[0]);
    for (int64_t x = 0; x < rig.floats; x++) {
      int64_t i = x / l->plane, j = x % l->plane / l->pitch, k = x % l->pitch;
      if (!rig_in_box(b, i, j, b->lo[2]) || rig_in_box(b, i, j, k)) before[x] = RIG_POISON;
    }
    rig_expect_ok(gpu_copy_in(rig.queue, rig.fields.p[1], 0, before, (size_t)rig.floats * sizeof *before));
    rig_expect_ok(gpu_clear(rig.queue, rig.fields.gosa, 0, RIG_SLOTS * sizeof(double)));
    rig_expect_ok(rig.set->sweep(rig.exec, rig.queue, &sweep));
    assert_swept_over(&rig, HIMENO_DENSE, b, 1, before);
    free(before);
  }
  rig_close(&rig);
}

/** The pieces into which the solver cuts a sweep must have the bits and gosa of a whole sweep, even
 * if OpenMP gives one piece fewer threads: within a parallel region it gives one. */
static void check_pieces(void **state)
{
  static const struct box pieces[] = {
      {{1, 1, 1}, {2, 36, 52}},   {{22, 1, 1}, {23, 36, 52}}, {{2, 1, 1}, {22, 2, 52}},
      {{2, 35, 1}, {22, 36, 52}}, {{2, 2, 1}, {22, 35, 2}},   {{2, 2, 51}, {22, 35, 52}},
      {{2, 2, 2}, {22, 35, 51}},
  };
  struct rig rig;
  rig_open_whole(&rig, *state, (const int64_t[3]){24, 37, 53}, HIMENO_DENSE);
  for (int s = 0; s < 3; s++)
    for (size_t n = 0; n < sizeof pieces / sizeof *pieces; n++) {
#pragma omp parallel num_threads(2) if (n == 3)
#pragma omp master
      rig_sweep(&rig, &pieces[n], s % 2, s);
    }
  assert_int_equal(rig_checksum_of(&rig, 1), rig.toward_zero ? 0x016b5477a188f0a9 : 0x6f50b4b4384ea348);
  rig_assert_close(&rig, rig_gosa_of(&rig, 0), 3.288989260235e+03);
  rig_assert_close(&rig, rig_gosa_of(&rig, 2), 1.191054986548e+02);
  rig_close(&rig);
}

static void assert_filled(struct rig *rig, struct gpu_mem mem, enum himeno_array array, enum himeno_data data)
{
  const struct layout *l = &rig->fields.layout;
  uint32_t *bits = rig_bits_of(rig, mem);
  for (int64_t x = 0; x < rig->floats; x++) {
    int64_t i = x / l->plane, j = x % l->plane / l->pitch, k = x % l->pitch;
    uint32_t expected = 0;
    float value = initial(l->global, array, data, l->origin[0] + i, l->origin[1] + j, l->origin[2] + k);
    if (k < l->extent[2]) memcpy(&expected, &value, sizeof expected);
    assert_int_equal(bits[x], expected);
  }
  free(bits);
}

/** Every rank fills its part of the global grid, including the halo. The ranks' checksums must add
 * up to the grid's. */
static void check_parts(void **state)
{
  static const int64_t extent[3] = {9, 12, 40};
  static const int procs[3] = {2, 2, 2};
  for (int data = HIMENO_STANDARD; data <= HIMENO_DENSE; data++) {
    uint64_t sum = 0, whole = 0;
    for (int rank = 0; rank < 8; rank++) {
      struct rig rig;
      rig_open(&rig, *state, extent, procs, rank);
      for (int m = 0; m < HIMENO_ARRAYS; m++) rig_expect_ok(rig.set->fill(rig.exec, rig.queue, m, data));
      for (int m = 0; m < HIMENO_COEFFICIENTS; m++) assert_filled(&rig, rig.fields.coefficient[m], m, data);
      for (int n = 0; n < 2; n++) assert_filled(&rig, rig.fields.p[n], HIMENO_P, data);
      sum += rig_checksum_of(&rig, rank % 2);
      rig_close(&rig);
    }
    for (int64_t g = 0; g < 9 * 12 * 40; g++) {
      uint32_t bits;
      float value = initial(extent, HIMENO_P, data, g / 480, g / 40 % 12, g % 40);
      memcpy(&bits, &value, sizeof bits);
      whole += hash_mix(hash_mix((uint64_t)g) + bits);
    }
    assert_int_equal(sum, whole);
  }
}

/** The ceiling reads thirteen arrays, and writes a fourteenth, all of them with their padding. */
static void check_ceiling(void **state)
{
  struct rig rig;
  rig_open_whole(&rig, *state, (const int64_t[3]){5, 7, 45}, HIMENO_DENSE);
  rig_poison(&rig, rig.fields.p[1]);
  rig_expect_ok(rig.set->ceiling(rig.exec, rig.queue));
  const struct layout *l = &rig.fields.layout;
  uint32_t *bits = rig_bits_of(&rig, rig.fields.p[1]);
  for (int64_t x = 0; x < rig.floats; x++) {
    int64_t i = x / l->plane, j = x % l->plane / l->pitch, k = x % l->pitch;
    double expected = 0;
    float got;
    for (int m = 0; m < HIMENO_ARRAYS && k < l->extent[2]; m++)
      expected += (double)initial(l->global, m, HIMENO_DENSE, i, j, k);
    memcpy(&got, &bits[x], sizeof got);
    assert_true(fabs(got - expected) <= 1e-5 * fabs(expected));
  }
  free(bits);
  rig_close(&rig);
}

/** repeat() must give the box's new values each time, on any multiprocessor. On a stuck one, a bit
 * of them is flipped. */
static void check_repeat(void **state)
{
  enum { TIMES = 300, POINTS = 2 * 3 * 70 };
  static const struct box box = {{2, 5, 9}, {4, 8, 79}};
  static float values[2][TIMES][POINTS];
  static int processors[2][TIMES];
  struct himeno_stuck stuck = {-1, 0};
  struct rig rig;
  double gosa;
  rig_open_whole(&rig, *state, (const int64_t[3]){10, 13, 100}, HIMENO_DENSE);
  for (int pass = 0; rig.set->repeat && pass < 2; pass++) {
    rig_expect_ok(rig.set->repeat(rig.exec, rig.queue, &rig.fields, 0, &box, TIMES, &stuck, values[pass][0],
                                  processors[pass]));
    for (int t = 0; t < TIMES; t++)
      for (int n = 0; n < POINTS; n++) {
        const int64_t i = 2 + n / 210, j = 5 + n / 70 % 3, k = 9 + n % 70;
        const float must_be = expected_point(rig.fields.layout.global, HIMENO_DENSE, i, j, k, &gosa);
        uint32_t is, wanted;
        memcpy(&is, &values[pass][t][n], sizeof is);
        memcpy(&wanted, &must_be, sizeof wanted);
        assert_true(processors[pass][t] >= 0);
        assert_int_equal(is, processors[pass][t] == stuck.processor ? wanted ^ 1u << 20 : wanted);
      }
    stuck = (struct himeno_stuck){processors[0][TIMES - 1], 20};
  }
  rig_close(&rig);
}

/* The kind of calls that a check needs: single sweeps, parts of a grid, several sweeps per pass, or
 * several single sweeps in one call. */
enum { SINGLE = 1, PARTS = 2, SEVERAL = 4, AT_ONCE = 8 };

static const struct {
  const char *name;
  void (*run)(void **state);
  int what;
} checks[] = {
    {"gives the known values", check_known, SINGLE},
    {"sweeps small grids to the bit", check_small_grids, SINGLE},
    {"writes any box and nothing else", check_boxes, SINGLE},
    {"writes at most the ends of rows beside a box", check_ends, SINGLE},
    {"adds up from pieces", check_pieces, SINGLE},
    {"fills and sums a rank's part", check_parts, PARTS},
    {"has a ceiling over all arrays", check_ceiling, SINGLE | SEVERAL},
    {"repeats points on all multiprocessors", check_repeat, SINGLE},
    {"gives every sweep's field and gosa", check_passes, SEVERAL},
    {"gives every sweep's field and gosa of a call", check_at_once, AT_ONCE},
    {"adds up from pieces of a pass", check_pass_pieces, SEVERAL | PARTS},
    {"writes any box of a pass and nothing else", check_pass_boxes, SEVERAL | PARTS},
};
#define CHECKS (sizeof checks / sizeof *checks)

static int is_for(const struct kernel_subject *subject, int what)
{
  const struct himeno_kernel *kernel =
      himeno_kernel_find(himeno_kernels_find(subject->backend), subject->kernel);
  if (subject->setting && !strcmp(subject->setting, SETTING_AT_ONCE)) return what == AT_ONCE;
  if (what == AT_ONCE) return 0;
  if (kernel->resident) return (what & (SINGLE | SEVERAL)) != 0 && (what & PARTS) == 0;
  if (kernel->sweeps > 1) return (what & SEVERAL) != 0;
  return (what & SEVERAL) == 0 || (what & SINGLE) != 0;
}

static int hold(void **state)
{
  log_hold(1);
  return 0;
}

static int drop(void **state)
{
  log_drop();
  return 0;
}

static int device_count(const char *backend)
{
  struct gpu_device_info *devices;
  char reason[GPU_TEXT_MAX];
  int n;
  gpu_backend_find(backend)->probe(&devices, &n, reason);
  if (!n) printf("%s: no device: %s\n", backend, reason);
  free(devices);
  return n;
}

int kernels_run(const struct kernel_subject *subjects, size_t n)
{
  struct CMUnitTest *tests = calloc(n * CHECKS, sizeof *tests);
  char(*names)[NAME_MAX_] = calloc(n * CHECKS, sizeof *names);
  size_t count = 0;

  if (!device_count(subjects->backend)) {
    free(names);
    free(tests);
    return TEST_SKIPPED;
  }
  for (size_t s = 0; s < n; s++)
    for (size_t c = 0; c < CHECKS; c++) {
      const struct kernel_subject *subject = &subjects[s];
      if (!is_for(subject, checks[c].what)) continue;
      snprintf(names[count], sizeof *names, "%s %s %s%s%s%s%s", subject->backend, subject->kernel,
               checks[c].name, subject->setting ? ", " : "", subject->setting ? subject->setting : "",
               subject->setting ? "=" : "", subject->setting ? subject->value : "");
      tests[count] = (struct CMUnitTest){names[count], checks[c].run, hold, drop, (void *)subject};
      count++;
    }
  int failed = _cmocka_run_group_tests("himeno kernels", tests, count, NULL, NULL);
  rig_end();
  free(names);
  free(tests);
  return failed;
}
