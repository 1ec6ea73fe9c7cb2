/* SPDX-License-Identifier: MIT */
/** \file \brief Compares every operation with a scalar model in integers, which is independent of
 * the emulator's vectors. */
#include "tests/unit/qpu_model.h"
#include "tests/unit/qpu_rig.h"

#include <fenv.h>
#include <math.h>

#include "gpu/qpu/isa/alu.h"

#define ROUNDS 20000

static struct qpu_alu_mode mode;

static int enter(void **state)
{
  return qpu_alu_enter(&mode) != STATUS_OK;
}

static int leave(void **state)
{
  qpu_alu_leave(&mode);
  return 0;
}

static uint32_t bits_of(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void fill(uint64_t *seed, qpu_vec *vector)
{
  for (int i = 0; i < QPU_LANES; i++) (*vector)[i] = interesting(seed);
}

static uint32_t lane_of(qpu_alu_function function, uint32_t a, uint32_t b)
{
  qpu_vec x = (qpu_vec){0} + a, y = (qpu_vec){0} + b, result;
  function(&result, &x, &y);
  return result[15];
}

static void expect_lane(const char *name, uint32_t a, uint32_t b, uint32_t got, uint32_t expected)
{
  if (got != expected) fail_msg("%s %08x %08x: %08x instead of %08x", name, a, b, got, expected);
}

TEST(every_add_operation_is_right)
{
  uint64_t seed = 1;
  for (int op = 0; op < 32; op++) {
    if (!qpu_add_ops[op] || op == QPU_A_NOP) continue;
    for (int round = 0; round < ROUNDS; round++) {
      qpu_vec a, b, got;
      fill(&seed, &a);
      fill(&seed, &b);
      qpu_alu_add[op](&got, &a, &b);
      for (int i = 0; i < QPU_LANES; i++)
        expect_lane(qpu_add_ops[op], a[i], b[i], got[i], model_add(op, a[i], b[i]));
    }
  }
}

TEST(every_mul_operation_is_right)
{
  uint64_t seed = 2;
  for (int op = 1; op < 8; op++)
    for (int round = 0; round < ROUNDS && qpu_mul_ops[op]; round++) {
      qpu_vec a, b, got;
      fill(&seed, &a);
      fill(&seed, &b);
      qpu_alu_mul[op](&got, &a, &b);
      for (int i = 0; i < QPU_LANES; i++)
        expect_lane(qpu_mul_ops[op], a[i], b[i], got[i], model_mul(op, a[i], b[i]));
    }
}

TEST(byte_operations_are_right_for_all_bytes)
{
  for (uint32_t x = 0; x < 256; x++)
    for (uint32_t y = 0; y < 256; y++)
      for (int op = QPU_M_V8MIN; op <= QPU_M_V8SUBS; op += QPU_M_V8SUBS - QPU_M_V8MIN)
        expect_lane(qpu_mul_ops[op], x, y, lane_of(qpu_alu_mul[op], x << 16 | x, y << 16 | 7),
                    model_bytes(op, x << 16 | x, y << 16 | 7));
}

TEST(floats_round_toward_zero_and_know_no_denormals)
{
  assert_int_equal(lane_of(qpu_alu_add[QPU_A_FADD], bits_of(1.0f), bits_of(0x1.8p-24f)), bits_of(1.0f));
  assert_int_equal(lane_of(qpu_alu_add[QPU_A_FSUB], bits_of(1.0f), bits_of(0x1p-60f)), 0x3f7fffff);
  assert_int_equal(lane_of(qpu_alu_add[QPU_A_FADD], 0x00400000, 0x00400000), 0);
  assert_int_equal(lane_of(qpu_alu_mul[QPU_M_FMUL], 0x00800000, bits_of(0.5f)), 0);
  assert_int_equal(lane_of(qpu_alu_mul[QPU_M_FMUL], 0x7f7fffff, bits_of(2.0f)), 0x7f800000);
  assert_int_equal(lane_of(qpu_alu_add[QPU_A_FADD], 0x7f800000, 0xff800000u), 0xff800000u);
}

/* After a run, the program's own rounding and denormals must be restored. */
TEST(the_hosts_arithmetic_is_given_back)
{
  struct qpu_alu_mode inner;
  volatile float denormal = 0x1p-140f;
  qpu_alu_leave(&mode);
  fesetround(FE_UPWARD);
  assert_int_equal(qpu_alu_enter(&inner), STATUS_OK);
  assert_int_equal(fegetround(), FE_TOWARDZERO);
  qpu_alu_leave(&inner);
  assert_int_equal(fegetround(), FE_UPWARD);
  assert_true(denormal + denormal == 0x1p-139f);
  fesetround(FE_TONEAREST);
  assert_int_equal(qpu_alu_enter(&mode), STATUS_OK);
}

TEST(small_immediates_are_as_listed)
{
  for (int i = 0; i < 16; i++) {
    assert_int_equal(qpu_small_value(i), i);
    assert_int_equal((int32_t)qpu_small_value(16 + i), i - 16);
    assert_int_equal((int32_t)qpu_small_value(48 + i), i - 16);
    assert_int_equal(qpu_small_value(32 + i), bits_of(ldexpf(1.0f, i < 8 ? i : i - 16)));
  }
  for (int code = 0; code < QPU_SMALL_ROTATE; code++)
    assert_int_equal(qpu_small_code(qpu_small_value(code)), code);
  assert_int_equal(qpu_small_code(16), -1);
}

UNIT_MAIN(enter, leave)
