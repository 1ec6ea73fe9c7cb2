/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Every operation against a scalar model in integers, written apart from the emulator's vectors. */
#include "tests/unit/qpu_unit.h"

#include <fenv.h>
#include <math.h>

#include "gpu/qpu/qpu_alu.h"
#include "gpu/qpu/qpu_sfu.h"

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

static uint32_t no_denormal(uint32_t x)
{
  return x & 0x7f800000u ? x : x & 0x80000000u;
}

static uint32_t pack_float(int negative, uint64_t mantissa,
                           int exponent) /* mantissa · 2^exponent, toward zero */
{
  uint32_t sign = negative ? 0x80000000u : 0;
  if (mantissa == 0) return sign;
  while (mantissa >= 1u << 24) mantissa >>= 1, exponent++;
  while (mantissa < 1u << 23) mantissa <<= 1, exponent--;
  exponent += 150;
  if (exponent >= 255) return sign | 0x7f800000u;
  if (exponent <= 0) return sign;
  return sign | (uint32_t)exponent << 23 | ((uint32_t)mantissa & 0x7fffff);
}

static uint64_t mantissa_of(uint32_t x)
{
  return (x & 0x7fffff) | 0x800000;
}

static int exponent_of(uint32_t x)
{
  return (int)(x >> 23 & 255) - 150;
}

static int is_infinite(uint32_t x)
{
  return (x & 0x7f800000u) == 0x7f800000u;
}

static uint32_t model_fadd(uint32_t a, uint32_t b)
{
  a = no_denormal(a);
  b = no_denormal(b);
  if (is_infinite(a) && is_infinite(b)) return (a ^ b) >> 31 ? 0xff800000u : (a & 0x80000000u) | 0x7f800000u;
  if (is_infinite(a)) return (a & 0x80000000u) | 0x7f800000u;
  if (is_infinite(b)) return (b & 0x80000000u) | 0x7f800000u;
  if ((a & 0x7fffffff) < (b & 0x7fffffff)) {
    uint32_t swap = a;
    a = b;
    b = swap;
  }
  if ((b & 0x7fffffff) == 0) return (a & 0x7fffffff) ? a : a & b; /* −0 only of two */
  int distance = exponent_of(a) - exponent_of(b), subtract = (a ^ b) >> 31;
  uint64_t large = mantissa_of(a) << 38, small = mantissa_of(b) << 38,
           moved = distance > 62 ? 0 : small >> distance;
  int inexact = distance > 62 || moved << distance != small;
  uint64_t sum = subtract ? large - moved - (uint64_t)inexact : large + moved;
  if (sum == 0) return 0;
  return pack_float((int)(a >> 31), sum, exponent_of(a) - 38);
}

static uint32_t model_fmul(uint32_t a, uint32_t b)
{
  uint32_t sign = (a ^ b) & 0x80000000u;
  a = no_denormal(a);
  b = no_denormal(b);
  if ((a & 0x7fffffff) == 0 || (b & 0x7fffffff) == 0) return sign;
  if (is_infinite(a) || is_infinite(b)) return sign | 0x7f800000u;
  return pack_float(sign != 0, mantissa_of(a) * mantissa_of(b), exponent_of(a) + exponent_of(b));
}

static int64_t order(uint32_t x)
{
  return x >> 31 ? -(int64_t)(x & 0x7fffffff) - 1 : (int64_t)x;
}

static uint32_t model_select(uint32_t a, uint32_t b, int absolute, int larger)
{
  a = no_denormal(a) & (absolute ? 0x7fffffffu : ~0u);
  b = no_denormal(b) & (absolute ? 0x7fffffffu : ~0u);
  return (order(a) > order(b)) == larger ? a : b;
}

static uint32_t model_ftoi(uint32_t x)
{
  int exponent = exponent_of(x);
  uint64_t magnitude;
  if (!(x & 0x7f800000u) || exponent > 8 || exponent < -24) return 0;
  magnitude = exponent >= 0 ? mantissa_of(x) << exponent : mantissa_of(x) >> -exponent;
  if (magnitude > 0x80000000u || (magnitude == 0x80000000u && !(x >> 31))) return 0;
  return x >> 31 ? 0u - (uint32_t)magnitude : (uint32_t)magnitude;
}

static uint32_t model_itof(uint32_t x)
{
  int negative = (int)(x >> 31);
  return pack_float(negative, negative ? 0u - x : x, 0) & (x ? ~0u : 0);
}

static uint32_t model_bytes(int op, uint32_t a, uint32_t b)
{
  uint32_t result = 0;
  for (int i = 0; i < 32; i += 8) {
    int x = a >> i & 255, y = b >> i & 255, z = 0;
    if (op == QPU_M_V8MULD) z = (int)floor(x * y / 255.0 + 0.5);
    if (op == QPU_M_V8MIN) z = x < y ? x : y;
    if (op == QPU_M_V8MAX) z = x > y ? x : y;
    if (op == QPU_M_V8ADDS) z = x + y > 255 ? 255 : x + y;
    if (op == QPU_M_V8SUBS) z = x > y ? x - y : 0;
    result |= (uint32_t)z << i;
  }
  return result;
}

static uint32_t model_ror(uint32_t x, unsigned n)
{
  for (; n > 0; n--) x = x >> 1 | x << 31;
  return x;
}

static uint32_t model_clz(uint32_t x)
{
  uint32_t n = 0;
  while (n < 32 && !(x >> (31 - n) & 1)) n++;
  return n;
}

static uint32_t model_add(int op, uint32_t a, uint32_t b)
{
  switch (op) {
  case QPU_A_FADD:
    return model_fadd(a, b);
  case QPU_A_FSUB:
    return model_fadd(a, b ^ 0x80000000u);
  case QPU_A_FMIN:
    return model_select(a, b, 0, 0);
  case QPU_A_FMAX:
    return model_select(a, b, 0, 1);
  case QPU_A_FMINABS:
    return model_select(a, b, 1, 0);
  case QPU_A_FMAXABS:
    return model_select(a, b, 1, 1);
  case QPU_A_FTOI:
    return model_ftoi(a);
  case QPU_A_ITOF:
    return model_itof(a);
  case QPU_A_ADD:
    return a + b;
  case QPU_A_SUB:
    return a - b;
  case QPU_A_SHR:
    return a >> b % 32;
  case QPU_A_ASR:
    return (uint32_t)((int64_t)(int32_t)a >> b % 32);
  case QPU_A_ROR:
    return model_ror(a, b % 32);
  case QPU_A_SHL:
    return (uint32_t)((uint64_t)a << b % 32);
  case QPU_A_MIN:
    return (int32_t)a < (int32_t)b ? a : b;
  case QPU_A_MAX:
    return (int32_t)a < (int32_t)b ? b : a;
  case QPU_A_AND:
    return ~(~a | ~b);
  case QPU_A_OR:
    return ~(~a & ~b);
  case QPU_A_XOR:
    return (a | b) - (a & b);
  case QPU_A_NOT:
    return 0xffffffffu - a;
  case QPU_A_CLZ:
    return model_clz(a);
  case QPU_A_V8ADDS:
    return model_bytes(QPU_M_V8ADDS, a, b);
  case QPU_A_V8SUBS:
    return model_bytes(QPU_M_V8SUBS, a, b);
  default:
    return 0;
  }
}

static uint32_t model_mul(int op, uint32_t a, uint32_t b)
{
  if (op == QPU_M_NOP) return 0;
  if (op == QPU_M_FMUL) return model_fmul(a, b);
  if (op == QPU_M_MUL24) return (uint32_t)((uint64_t)(a % 0x1000000) * (b % 0x1000000));
  return model_bytes(op, a, b);
}

static int model_carry(int op, uint32_t a, uint32_t b)
{
  uint32_t result = model_add(op, a, b);
  unsigned n = b % 32;
  switch (op) {
  case QPU_A_FADD:
  case QPU_A_FSUB:
    return (int32_t)result > 0;
  case QPU_A_FMIN:
  case QPU_A_FMAX:
    return order(no_denormal(a)) > order(no_denormal(b));
  case QPU_A_FMINABS:
  case QPU_A_FMAXABS:
    return (no_denormal(a) & 0x7fffffff) > (no_denormal(b) & 0x7fffffff);
  case QPU_A_ADD:
    return ((uint64_t)a + b) >> 32 != 0;
  case QPU_A_SUB:
    return b > a;
  case QPU_A_SHR:
  case QPU_A_ASR:
    return n && ((uint64_t)a << 1 >> n & 1);
  case QPU_A_SHL:
    return (uint64_t)a << n >> 32 & 1;
  case QPU_A_MIN:
  case QPU_A_MAX:
    return (int64_t)(int32_t)a - (int32_t)b > 0;
  default:
    return 0;
  }
}

/* Random bits, numbers near each other, special values: whatever a carry, a cancellation or an overflow takes. */
static uint32_t interesting(uint64_t *seed)
{
  static const uint32_t special[] = {
      0,           0x80000000u, 1,          0xffffffffu, 0x7fffffff, 0x7f800000u, 0xff800000u, 0x7f7fffff,
      0xff7fffffu, 0x7fc00000u, 0x00800000, 0x007fffff,  0x3f800000, 0xbf800000u, 0x4f000000,  0xcf000000u,
      0x3f7fffff,  0x40000000,  0x00ffffff, 0x01000000,  31,         32,          33};
  uint64_t r = qpu_random(seed);
  switch (r % 4) {
  case 0:
    return special[(r >> 8) % (sizeof special / sizeof special[0])];
  case 1:
    return (uint32_t)(r >> 8);
  case 2:
    return (uint32_t)(0x3f000000 + (r >> 32) % 0x02000000) | (uint32_t)(r >> 8 & 1) << 31;
  default:
    return (uint32_t)(r >> 8 & 63) - 16;
  }
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
        expect_lane(qpu_mul_ops[op].name, x, y, qpu_alu_mul_scalar(op, x << 16 | x, y << 16 | 7),
                    model_bytes(op, x << 16 | x, y << 16 | 7));
}

static void floats_round_toward_zero_and_know_no_denormals(void **state)
{
  (void)state;
  assert_int_equal(qpu_alu_add_scalar(QPU_A_FADD, bits_of(1.0f), bits_of(0x1.8p-24f)), bits_of(1.0f));
  assert_int_equal(qpu_alu_add_scalar(QPU_A_FSUB, bits_of(1.0f), bits_of(0x1p-60f)), 0x3f7fffff);
  assert_int_equal(qpu_alu_add_scalar(QPU_A_FADD, 0x00400000, 0x00400000), 0);
  assert_int_equal(qpu_alu_mul_scalar(QPU_M_FMUL, 0x00800000, bits_of(0.5f)), 0);
  assert_int_equal(qpu_alu_mul_scalar(QPU_M_FMUL, 0x7f7fffff, bits_of(2.0f)), 0x7f800000);
  assert_int_equal(qpu_alu_add_scalar(QPU_A_FADD, 0x7f800000, 0xff800000u), 0xff800000u);
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
  };
  return cmocka_run_group_tests_name("qpu arithmetic", tests, enter, leave);
}
