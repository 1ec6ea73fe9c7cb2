/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Every operation against a scalar model in integers, written apart from the emulator's
 * vectors. */
#include "tests/unit/qpu_model.h"
#include "tests/unit/qpu_rig.h"

#include <fenv.h>
#include <math.h>

#include "gpu/qpu/isa/alu.h"

#define ROUNDS 20000

static struct qpu_alu_mode mode;

static int enter(void **state)
{
  (void)state;
  return qpu_alu_enter(&mode) != STATUS_OK;
}

static int leave(void **state)
{
  (void)state;
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

static void expect_lane(const char *name, uint32_t a, uint32_t b, uint32_t got, uint32_t expected)
{
  if (got != expected) print_error("%s %08x %08x: %08x instead of %08x\n", name, a, b, got, expected);
  assert_int_equal(got, expected);
}

static void every_add_operation_is_right(void **state)
{
  uint64_t seed = 1;
  (void)state;
  for (int op = 0; op < 32; op++) {
    if (!qpu_add_ops[op].name || op == QPU_A_NOP) continue;
    for (int round = 0; round < ROUNDS; round++) {
      qpu_vec a, b, got;
      fill(&seed, &a);
      fill(&seed, &b);
      qpu_alu_add[op](&got, &a, &b);
      unsigned carry = qpu_alu_add_carry(op, &a, &b, &got);
      for (int i = 0; i < QPU_LANES; i++) {
        expect_lane(qpu_add_ops[op].name, a[i], b[i], got[i], model_add(op, a[i], b[i]));
        expect_lane("carry", a[i], b[i], carry >> i & 1, (uint32_t)model_carry(op, a[i], b[i]));
      }
    }
  }
}

static void every_mul_operation_is_right(void **state)
{
  uint64_t seed = 2;
  (void)state;
  for (int op = 1; op < 8; op++)
    for (int round = 0; round < ROUNDS; round++) {
      qpu_vec a, b, got;
      fill(&seed, &a);
      fill(&seed, &b);
      qpu_alu_mul[op](&got, &a, &b);
      unsigned carry = qpu_alu_mul_carry(op, &a, &b);
      for (int i = 0; i < QPU_LANES; i++) {
        expect_lane(qpu_mul_ops[op].name, a[i], b[i], got[i], model_mul(op, a[i], b[i]));
        int wide = op == QPU_M_MUL24 && ((uint64_t)(a[i] & 0xffffff) * (b[i] & 0xffffff)) >> 32 != 0;
        expect_lane("carry", a[i], b[i], carry >> i & 1, (uint32_t)wide);
      }
    }
}

static void byte_operations_are_right_for_all_bytes(void **state)
{
  (void)state;
  for (uint32_t x = 0; x < 256; x++)
    for (uint32_t y = 0; y < 256; y++)
      for (int op = QPU_M_V8MULD; op <= QPU_M_V8SUBS; op++)
        expect_lane(qpu_mul_ops[op].name, x, y, qpu_alu_lane(qpu_alu_mul[op], x << 16 | x, y << 16 | 7),
                    model_bytes(op, x << 16 | x, y << 16 | 7));
}

static void floats_round_toward_zero_and_know_no_denormals(void **state)
{
  (void)state;
  assert_int_equal(qpu_alu_lane(qpu_alu_add[QPU_A_FADD], bits_of(1.0f), bits_of(0x1.8p-24f)), bits_of(1.0f));
  assert_int_equal(qpu_alu_lane(qpu_alu_add[QPU_A_FSUB], bits_of(1.0f), bits_of(0x1p-60f)), 0x3f7fffff);
  assert_int_equal(qpu_alu_lane(qpu_alu_add[QPU_A_FADD], 0x00400000, 0x00400000), 0);
  assert_int_equal(qpu_alu_lane(qpu_alu_mul[QPU_M_FMUL], 0x00800000, bits_of(0.5f)), 0);
  assert_int_equal(qpu_alu_lane(qpu_alu_mul[QPU_M_FMUL], 0x7f7fffff, bits_of(2.0f)), 0x7f800000);
  assert_int_equal(qpu_alu_lane(qpu_alu_add[QPU_A_FADD], 0x7f800000, 0xff800000u), 0xff800000u);
}

/* Rounding and denormals are the program's own again after a run. */
static void the_hosts_arithmetic_is_given_back(void **state)
{
  struct qpu_alu_mode inner;
  volatile float denormal = 0x1p-140f;
  (void)state;
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

static uint32_t special(float x, int address)
{
  qpu_vec in = (qpu_vec){0} + bits_of(x), out;
  qpu_sfu(&out, &in, address);
  return out[15];
}

static void special_functions_are_cut_to_single_precision(void **state)
{
  (void)state;
  assert_int_equal(special(4.0f, QPU_W_SFU_RECIP), bits_of(0.25f));
  assert_int_equal(special(-3.0f, QPU_W_SFU_RECIP), 0xbeaaaaaau);
  assert_int_equal(special(-16.0f, QPU_W_SFU_RECIPSQRT), bits_of(0.25f));
  assert_int_equal(special(10.0f, QPU_W_SFU_EXP), bits_of(1024.0f));
  assert_int_equal(special(0.5f, QPU_W_SFU_EXP), 0x3fb504f3);
  assert_int_equal(special(-8.0f, QPU_W_SFU_LOG), bits_of(3.0f));
  assert_int_equal(special(10.0f, QPU_W_SFU_LOG), 0x40549a78);
  assert_int_equal(special(0.0f, QPU_W_SFU_RECIP), 0x7f800000);
  assert_int_equal(special(0.0f, QPU_W_SFU_RECIPSQRT), 0x7f800000);
  assert_int_equal(special(0.0f, QPU_W_SFU_LOG), 0xff800000u);
  assert_int_equal(special(200.0f, QPU_W_SFU_EXP), 0x7f800000);
  assert_int_equal(special(-200.0f, QPU_W_SFU_EXP), 0);
  assert_int_equal(special(INFINITY, QPU_W_SFU_RECIP), 0);
}

static void small_immediates_are_as_listed(void **state)
{
  (void)state;
  for (int i = 0; i < 16; i++) {
    assert_int_equal(qpu_small_value(i), i);
    assert_int_equal((int32_t)qpu_small_value(16 + i), i - 16);
    assert_int_equal((int32_t)qpu_small_value(48 + i), i - 16);
    assert_int_equal(qpu_small_value(32 + i), bits_of(ldexpf(1.0f, i < 8 ? i : i - 16)));
  }
  for (int code = 0; code < QPU_SMALL_ROTATE_R5; code++)
    assert_int_equal(qpu_small_code(qpu_small_value(code)), code);
  assert_int_equal(qpu_small_code(16), -1);
}

/* recip, rsqrt, exp and log of a row. */
static void sfu_rows(const uint32_t in[16], float out[4][16])
{
  struct qpu_rig rig = rig_open(NULL, RIG_BEGIN "mov recip, r0\nnop\nnop\nmov vpm, r4\n"
                                                "mov rsqrt, r0\nnop\nnop\nmov vpm, r4\n"
                                                "mov exp, r0\nnop\nnop\nmov vpm, r4\n"
                                                "mov log, r0\nnop\nnop\nmov vpm, r4\n" RIG_END(4));
  memcpy(rig.in, in, 64);
  rig_run(&rig, 1);
  memcpy(out, rig.out, 256);
  rig_close(&rig);
}

/* What others read off a Raspberry Pi 2: an argument, and its reciprocal or that of its root. */
static void sfu_results_are_near_those_of_a_pi(void **state)
{
  static const uint32_t measured[2][16][2] = {{{0x71ae7e4b, 0x0d3bcb00},
                                               {0x6ade3b69, 0x14137400},
                                               {0x77c35720, 0x0727c000},
                                               {0x1129289c, 0x6dc1b800},
                                               {0x391c8cd0, 0x45d15100},
                                               {0x55b1d5a5, 0x29384400},
                                               {0x47384718, 0x37b1d200},
                                               {0x5b09a410, 0x23ee1200},
                                               {0x311bc955, 0x4dd25700},
                                               {0x2bd53d28, 0x5319ac00},
                                               {0x3c492ac2, 0x42a2e500}},
                                              {{0x303f0346, 0x47143000},
                                               {0x4ce817b2, 0x38be1f00},
                                               {0x70ef3918, 0x26bb4200},
                                               {0x302adb0e, 0x471cb000},
                                               {0x3db9455d, 0x4054cb00},
                                               {0x283c7108, 0x4b153000},
                                               {0x7d644504, 0x20878d00},
                                               {0x6b804de1, 0x297fb100},
                                               {0x65f82de2, 0x2c37dc00},
                                               {0x324553ac, 0x4611cc00},
                                               {0x674afaeb, 0x2b8fc000},
                                               {0x4e613483, 0x38087900},
                                               {0x237f0fe7, 0x4d803d00},
                                               {0x509d743f, 0x36e6d000},
                                               {0x651bdd15, 0x2ca40b00},
                                               {0x11bf2e63, 0x56517800}}};
  (void)state;
  for (int f = 0; f < 2; f++) {
    uint32_t in[16];
    float exact[4][16], pi;
    for (int i = 0; i < 16; i++) in[i] = measured[f][i][0];
    sfu_rows(in, exact);
    for (int i = 0; i < 16 && in[i]; i++) {
      memcpy(&pi, &measured[f][i][1], 4);
      assert_true(fabs((double)pi / exact[f][i] - 1) < 0x1p-14);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_add_operation_is_right),
      cmocka_unit_test(every_mul_operation_is_right),
      cmocka_unit_test(byte_operations_are_right_for_all_bytes),
      cmocka_unit_test(floats_round_toward_zero_and_know_no_denormals),
      cmocka_unit_test(the_hosts_arithmetic_is_given_back),
      cmocka_unit_test(special_functions_are_cut_to_single_precision),
      cmocka_unit_test(small_immediates_are_as_listed),
      cmocka_unit_test(sfu_results_are_near_those_of_a_pi),
  };
  return cmocka_run_group_tests_name("qpu arithmetic", tests, enter, leave);
}
