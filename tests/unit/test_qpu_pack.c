/* SPDX-License-Identifier: MIT */
#include "tests/unit/qpu_unit.h"

#include <fenv.h>
#include <math.h>

#include "gpu/qpu/isa/pack.h"

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

static void expect_lane(const char *name, uint32_t a, uint32_t b, uint32_t got, uint32_t expected)
{
  if (got != expected) print_error("%s %08x %08x: %08x instead of %08x\n", name, a, b, got, expected);
  assert_int_equal(got, expected);
}

static uint32_t unpacked(uint32_t x, int how, int as_float)
{
  qpu_vec in = (qpu_vec){0} + x, out;
  qpu_unpack(&out, &in, how, as_float);
  return out[5];
}

static void halves_unpack(void **state)
{
  (void)state;
  for (uint32_t half = 0; half < 65536; half++) {
    int exponent = half >> 10 & 31;
    double value = exponent == 0 ? 0 : ldexp(1024 + (half & 1023), exponent - 25);
    uint32_t expected = bits_of((float)(half >> 15 ? -value : value));
    if (exponent == 31) expected = (half >> 15) << 31 | 0x7f800000u | (half & 1023) << 13;
    assert_int_equal(unpacked(0xabcd0000u | half, 1, 1), expected);
    assert_int_equal(unpacked(half << 16 | 0xabcd, 2, 1), expected);
    assert_int_equal(unpacked(0xabcd0000u | half, 1, 0), half >= 32768 ? half - 65536 : half);
    assert_int_equal(unpacked(half << 16 | 0xabcd, 2, 0), half >= 32768 ? half - 65536 : half);
  }
}

static void bytes_unpack(void **state)
{
  (void)state;
  fesetround(FE_TONEAREST);
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t as_float = bits_of((float)(byte / 255.0));
    for (int i = 0; i < 4; i++) {
      uint32_t word = (0x5a5a5a5au & ~(255u << 8 * i)) | byte << 8 * i;
      assert_int_equal(unpacked(word, 4 + i, 0), byte);
      assert_int_equal(unpacked(word, 4 + i, 1), as_float);
    }
    assert_int_equal(unpacked(byte << 24 | 0x123456, 3, 0), byte * 0x01010101u);
    assert_int_equal(unpacked(byte << 24 | 0x123456, 3, 1), byte * 0x01010101u);
  }
  assert_int_equal(unpacked(0x12345678, 0, 1), 0x12345678);
  fesetround(FE_TOWARDZERO);
}

static uint32_t packed(uint32_t old, uint32_t x, int how, int as_float)
{
  qpu_vec in = (qpu_vec){0} + x, out = (qpu_vec){0} + old;
  qpu_pack(&out, &in, how, as_float);
  return out[9];
}

static void integers_pack(void **state)
{
  static const int32_t values[] = {0,     1,     -1,     127,    128,   255,   256,       -128,
                                   32767, 32768, -32768, -32769, 65535, 65536, INT32_MAX, INT32_MIN};
  const uint32_t old = 0x11223344;
  (void)state;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    int32_t v = values[i];
    uint32_t x = (uint32_t)v, byte = x & 255, half = x & 65535;
    uint32_t byte_s = v < 0     ? 0
                      : v > 255 ? 255
                                : byte,
             half_s = v < -32768  ? 0x8000
                      : v > 32767 ? 0x7fff
                                  : half;
    const uint32_t expected[16] = {x,
                                   0x11220000 | half,
                                   half << 16 | 0x3344,
                                   byte * 0x01010101,
                                   0x11223300 | byte,
                                   0x11220044 | byte << 8,
                                   0x11003344 | byte << 16,
                                   0x00223344 | byte << 24,
                                   x,
                                   0x11220000 | half_s,
                                   half_s << 16 | 0x3344,
                                   byte_s * 0x01010101,
                                   0x11223300 | byte_s,
                                   0x11220044 | byte_s << 8,
                                   0x11003344 | byte_s << 16,
                                   0x00223344 | byte_s << 24};
    for (int how = 0; how < 16; how++)
      expect_lane(qpu_pack_names[how], x, 0, packed(old, x, how, 0), expected[how]);
  }
}

static void floats_pack_into_halves(void **state)
{
  (void)state;
  for (uint32_t half = 0; half < 65536; half++) {
    if ((half >> 10 & 31) == 31 && half & 1023) continue; /* no NaN */
    uint32_t expected = half >> 10 & 31 ? half : 0;       /* −0 and denormals lose their sign */
    assert_int_equal(packed(0xdead0000u, unpacked(half, 1, 1), 1, 1), 0xdead0000u | expected);
    assert_int_equal(packed(0xdead, unpacked(half, 1, 1), 2, 1), 0xdead | expected << 16);
  }
  assert_int_equal(packed(0, bits_of(1.9999f), 1, 1), 0x3fff); /* cut, not rounded */
  assert_int_equal(packed(0, bits_of(-65536.0f), 9, 1), 0xfc00);
  assert_int_equal(packed(0, bits_of(1e-6f), 1, 1), 0);
}

static void the_mul_alu_packs_fractions_into_bytes(void **state)
{
  (void)state;
  for (int how = 3; how < 8; how++)
    for (uint32_t byte = 0; byte < 256; byte++) {
      qpu_vec in = (qpu_vec){0} + unpacked(byte, 4, 1), out = (qpu_vec){0} + 0x11223344;
      qpu_pack_mul(&out, &in, how);
      expect_lane("mul pack", byte, (uint32_t)how, out[0], packed(0x11223344, byte, how, 0));
    }
  static const struct {
    float value;
    uint32_t byte;
  } clamped[] = {{-0.5f, 0},        {2.0f, 255},     {1.0f, 255},   {0.499f / 255, 0},
                 {0.501f / 255, 1}, {INFINITY, 255}, {-INFINITY, 0}};
  for (size_t i = 0; i < sizeof clamped / sizeof clamped[0]; i++) {
    qpu_vec in = (qpu_vec){0} + bits_of(clamped[i].value), out = {0};
    qpu_pack_mul(&out, &in, 4);
    assert_int_equal(out[3], clamped[i].byte);
  }
}

static void add_and_sub_saturate(void **state)
{
  qpu_vec a = {0x7fffffff, 0x80000000u, 5, 0x80000000u}, b = {1, 0xffffffffu, 6, 1}, out;
  (void)state;
  qpu_saturate(&out, QPU_A_ADD, &a, &b);
  assert_true(out[0] == 0x7fffffff && out[1] == 0x80000000u && out[2] == 11 && out[3] == 0x80000001u);
  qpu_saturate(&out, QPU_A_SUB, &a, &b);
  assert_true(out[0] == 0x7ffffffe && out[1] == 0x80000001u && out[2] == 0xffffffffu &&
              out[3] == 0x80000000u);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halves_unpack),
      cmocka_unit_test(bytes_unpack),
      cmocka_unit_test(integers_pack),
      cmocka_unit_test(floats_pack_into_halves),
      cmocka_unit_test(the_mul_alu_packs_fractions_into_bytes),
      cmocka_unit_test(add_and_sub_saturate),
  };
  return cmocka_run_group_tests_name("qpu pack modes", tests, enter, leave);
}
