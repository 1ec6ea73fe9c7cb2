/* SPDX-License-Identifier: MIT */
#include "tests/unit/passes.h"

#include "tests/unit/rig.h"

#define SWEEPS_MAX 8

/* Results after each single sweep of the plain loop. */
struct expected {
  uint64_t checksum[SWEEPS_MAX + 1];
  double gosa[SWEEPS_MAX + 1];
  uint32_t *field; /* field after the last sweep; the caller frees it */
};

static void expected_find(struct expected *e, const int64_t extent[3], enum himeno_data data, int sweeps)
{
  static const struct kernel_subject reference = {"cpu", "reference", NULL, NULL};
  struct rig rig;
  rig_open_whole(&rig, &reference, extent, data);
  for (int s = 1; s <= sweeps; s++) {
    rig_sweep(&rig, &rig.fields.layout.owned, (s - 1) % 2, s - 1);
    e->checksum[s] = rig_checksum_of(&rig, s % 2);
    e->gosa[s] = rig_gosa_of(&rig, s - 1);
  }
  e->field = rig_bits_of(&rig, rig.fields.p[sweeps % 2]);
  rig_close(&rig);
}

static const struct himeno_kernel *kernel_of(const struct kernel_subject *subject)
{
  return himeno_kernel_find(himeno_kernels_find(subject->backend), subject->kernel);
}

static int is_at_once(const struct kernel_subject *subject)
{
  return subject->setting && !strcmp(subject->setting, SETTING_AT_ONCE);
}

/* Returns the sweeps of one pass. Resident kernels take any number, and several single sweeps per
 * call any odd number. */
static int sweeps_of(const struct kernel_subject *subject)
{
  return kernel_of(subject)->resident || is_at_once(subject) ? 3 : kernel_of(subject)->sweeps;
}

static void whole_check(const struct kernel_subject *subject, const int64_t extent[3], enum himeno_data data)
{
  const int sweeps = sweeps_of(subject);
  struct expected e;
  struct rig rig;
  expected_find(&e, extent, data, 2 * sweeps);
  rig_open_whole(&rig, subject, extent, data);
  for (int pass = 0; pass < 2; pass++) {
    rig_pass(&rig, &rig.fields.layout.owned, sweeps, pass, pass * sweeps);
    assert_int_equal(rig_checksum_of(&rig, 1 - pass), e.checksum[(pass + 1) * sweeps]);
  }
  for (int s = 1; s <= 2 * sweeps; s++) rig_assert_close(&rig, rig_gosa_of(&rig, s - 1), e.gosa[s]);
  rig_close(&rig);
  free(e.field);
}

void check_passes(void **state)
{
  static const int64_t extents[][3] = {{24, 37, 53}, {3, 3, 3}, {5, 3, 70}, {9, 40, 7}};
  for (size_t n = 0; n < sizeof extents / sizeof *extents; n++) whole_check(*state, extents[n], HIMENO_DENSE);
  whole_check(*state, extents[0], HIMENO_STANDARD);
}

static int takes(const struct kernel_subject *subject, const int64_t extent[3], int sweeps)
{
  struct rig rig;
  rig_open_whole(&rig, subject, extent, HIMENO_DENSE);
  const int most = rig.set->sweeps_per_launch ? rig.set->sweeps_per_launch(rig.exec) : 1;
  rig_close(&rig);
  return sweeps <= most;
}

void check_at_once(void **state)
{
  static const int64_t many_groups[3] = {40, 50, 300};
  if (!takes(*state, many_groups, sweeps_of(*state))) skip();
  check_passes(state);
  whole_check(*state, many_groups, HIMENO_DENSE);
}

void check_pass_pieces(void **state)
{
  static const int64_t extent[3] = {24, 37, 53}, cuts[3][3] = {{1, 2, 23}, {1, 30, 36}, {1, 5, 52}};
  const int sweeps = sweeps_of(*state);
  struct expected e;
  struct rig rig;
  expected_find(&e, extent, HIMENO_DENSE, sweeps);
  rig_open_whole(&rig, *state, extent, HIMENO_DENSE);
  for (int n = 0; n < 8; n++) {
    const int at[3] = {n / 4, n / 2 % 2, n % 2};
    struct box box;
    for (int d = 0; d < 3; d++) box.lo[d] = cuts[d][at[d]], box.hi[d] = cuts[d][at[d] + 1];
    rig_pass(&rig, &box, sweeps, 0, 0);
  }
  assert_int_equal(rig_checksum_of(&rig, 1), e.checksum[sweeps]);
  for (int s = 1; s <= sweeps; s++) rig_assert_close(&rig, rig_gosa_of(&rig, s - 1), e.gosa[s]);
  rig_close(&rig);
  free(e.field);
}

static void assert_box_alone(struct rig *rig, const struct box *box, const struct expected *e)
{
  const struct layout *l = &rig->fields.layout;
  uint32_t *bits = rig_bits_of(rig, rig->fields.p[1]);
  for (int64_t x = 0; x < rig->floats; x++) {
    int64_t i = x / l->plane, j = x % l->plane / l->pitch, k = x % l->pitch;
    assert_int_equal(bits[x], rig_in_box(box, i, j, k) ? e->field[x] : RIG_POISON);
  }
  free(bits);
}

void check_pass_boxes(void **state)
{
  static const int64_t extent[3] = {10, 23, 100};
  static const struct box boxes[] = {
      {{1, 1, 1}, {2, 22, 99}},   {{1, 1, 1}, {9, 2, 99}},  {{1, 1, 1}, {9, 22, 2}},
      {{8, 21, 98}, {9, 22, 99}}, {{2, 3, 5}, {7, 19, 61}}, {{3, 2, 31}, {4, 3, 34}},
      {{1, 1, 64}, {9, 22, 99}},  {{4, 4, 4}, {4, 9, 9}},
  };
  struct expected e;
  struct rig rig;
  expected_find(&e, extent, HIMENO_DENSE, sweeps_of(*state));
  rig_open_whole(&rig, *state, extent, HIMENO_DENSE);
  for (size_t n = 0; n < sizeof boxes / sizeof *boxes; n++) {
    rig_poison(&rig, rig.fields.p[1]);
    rig_pass(&rig, &boxes[n], sweeps_of(*state), 0, 0);
    assert_box_alone(&rig, &boxes[n], &e);
  }
  rig_close(&rig);
  free(e.field);
}
