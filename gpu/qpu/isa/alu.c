/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/isa/alu.h"

#include <fenv.h>
#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "base/log.h"

/* Operations use quads, four lanes at a time, because compilers turn comparisons of longer vectors
 * into scalar code. A quad may alias the vector that contains it. */
typedef uint32_t quad __attribute__((vector_size(16), may_alias));
typedef int32_t int_quad __attribute__((vector_size(16), may_alias));
typedef float float_quad __attribute__((vector_size(16), may_alias));
typedef uint8_t byte_quad __attribute__((vector_size(16), may_alias));
typedef uint64_t wide_quad __attribute__((vector_size(16), may_alias));

#define QUADS 4

#define SIGN     0x80000000u
#define EXPONENT 0x7f800000u
#define LARGEST  0x7f7fffffu
#define INFINITE 0x7f800000u

/* x86 flushes denormal operands and results in hardware. On other machines flush() does it. */
#ifdef __SSE2__
#define FLUSHES_ITSELF   1
#define FLUSH_AND_ASSUME 0x8040u
static unsigned read_control(void)
{
  return _mm_getcsr();
}
static void write_control(unsigned control)
{
  _mm_setcsr(control);
}
#else
#define FLUSHES_ITSELF   0
#define FLUSH_AND_ASSUME 0u
static unsigned read_control(void)
{
  return 0;
}
static void write_control(unsigned control)
{
  (void)control;
}
#endif

status_t qpu_alu_enter(struct qpu_alu_mode *mode)
{
  volatile float one = 1.0f, above_half_ulp = 0x1.8p-24f;
  *mode = (struct qpu_alu_mode){fegetround(), read_control()};
  if (fesetround(FE_TOWARDZERO) != 0 || one + above_half_ulp != 1.0f) {
    qpu_alu_leave(mode);
    return log_fail(STATUS_ENVIRONMENT, "this host cannot round toward zero, as the QPU's arithmetic does");
  }
  write_control(read_control() | FLUSH_AND_ASSUME);
  return STATUS_OK;
}

void qpu_alu_leave(const struct qpu_alu_mode *mode)
{
  write_control(mode->control);
  fesetround(mode->rounding);
}

static inline quad flush(quad x)
{
  return x & ((quad)((x & EXPONENT) != 0) | SIGN);
}

static inline int alu_any(quad x)
{
  wide_quad wide = (wide_quad)x;
  return (wide[0] | wide[1]) != 0;
}

static float alu_float(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Returns the sum that the QPU computes if the host's sum is the largest number or infinite. IEEE's
 * rounding toward zero overflows to the largest number, the QPU to infinity. */
static uint32_t large_sum(uint32_t a, uint32_t b, uint32_t sum)
{
  int a_infinite = (a & EXPONENT) == INFINITE, b_infinite = (b & EXPONENT) == INFINITE;
  if (a_infinite && b_infinite) return INFINITE | ((a | b) & SIGN);
  if (a_infinite) return INFINITE | (a & SIGN);
  if (b_infinite) return INFINITE | (b & SIGN);
  double exact = (double)alu_float(a) + (double)alu_float(b);
  return exact >= 0x1p128 || exact <= -0x1p128 ? INFINITE | (sum & SIGN) : sum;
}

static uint32_t large_product(uint32_t a, uint32_t b, uint32_t product)
{
  uint32_t sign = (a ^ b) & SIGN;
  if ((a & EXPONENT) == 0 || (b & EXPONENT) == 0) return sign;
  if ((a & EXPONENT) == INFINITE || (b & EXPONENT) == INFINITE) return INFINITE | sign;
  double exact = (double)alu_float(a) * (double)alu_float(b);
  return exact >= 0x1p128 || exact <= -0x1p128 ? INFINITE | sign : product;
}

/* Corrects the lanes of a result for which the host's arithmetic gives the largest number or
 * more. */
static void alu_finish(qpu_vec *result, const qpu_vec *a, const qpu_vec *b,
                       uint32_t (*large)(uint32_t, uint32_t, uint32_t))
{
  for (int i = 0; i < QPU_LANES; i++)
    if (((*result)[i] & ~SIGN) >= LARGEST) (*result)[i] = large((*a)[i], (*b)[i], (*result)[i]);
}

static inline quad flush_unless_host_does(quad x)
{
  return FLUSHES_ITSELF ? x : flush(x);
}

#define FLOAT_OP(name, operation, large)                                                                     \
  static void name(qpu_vec *out, const qpu_vec *a, const qpu_vec *b)                                         \
  {                                                                                                          \
    qpu_vec all;                                                                                             \
    quad *result = (quad *)&all, is_large = {0};                                                             \
    for (int q = 0; q < QUADS; q++) {                                                                        \
      quad x = flush_unless_host_does(((const quad *)a)[q]),                                                 \
           y = flush_unless_host_does(((const quad *)b)[q]);                                                 \
      result[q] = flush_unless_host_does((quad)((float_quad)x operation(float_quad) y));                     \
      is_large |= (quad)((int_quad)(result[q] & ~SIGN) >= (int)LARGEST);                                     \
    }                                                                                                        \
    if (__builtin_expect(alu_any(is_large), 0)) alu_finish(&all, a, b, large);                               \
    *out = all;                                                                                              \
  }

FLOAT_OP(add_fadd, +, large_sum)
FLOAT_OP(mul_fmul, *, large_product)

static void add_fsub(qpu_vec *out, const qpu_vec *a, const qpu_vec *b)
{
  qpu_vec negative = *b ^ SIGN;
  add_fadd(out, a, &negative);
}

static inline quad alu_choose(quad condition, quad x, quad y)
{
  return (x & condition) | (y & ~condition);
}

#define QUAD_OP(name, type, expression)                                                                      \
  static void name(qpu_vec *out, const qpu_vec *a, const qpu_vec *b)                                         \
  {                                                                                                          \
    for (int q = 0; q < QUADS; q++) {                                                                        \
      type x = ((const type *)a)[q], y = ((const type *)b)[q];                                               \
      (void)y;                                                                                               \
      ((quad *)out)[q] = (quad)(expression);                                                                 \
    }                                                                                                        \
  }

QUAD_OP(add_add, quad, x + y)
QUAD_OP(add_sub, quad, x - y)
QUAD_OP(add_shr, quad, x >> (y & 31))
QUAD_OP(add_shl, quad, x << (y & 31))
QUAD_OP(add_min, int_quad, alu_choose((quad)(x < y), (quad)x, (quad)y))
QUAD_OP(add_max, int_quad, alu_choose((quad)(x > y), (quad)x, (quad)y))
QUAD_OP(add_and, quad, x &y)
QUAD_OP(add_or, quad, x | y)
QUAD_OP(add_xor, quad, x ^ y)
QUAD_OP(mul_mul24, quad, (x & 0xffffff) * (y & 0xffffff))

QUAD_OP(v8subs, byte_quad, (x - y) & (byte_quad)(x >= y))
QUAD_OP(v8min, byte_quad, alu_choose((quad)(x < y), (quad)x, (quad)y))

const qpu_alu_function qpu_alu_add[32] = {
    [QPU_A_FADD] = add_fadd, [QPU_A_FSUB] = add_fsub, [QPU_A_ADD] = add_add, [QPU_A_SUB] = add_sub,
    [QPU_A_SHR] = add_shr,   [QPU_A_SHL] = add_shl,   [QPU_A_MIN] = add_min, [QPU_A_MAX] = add_max,
    [QPU_A_AND] = add_and,   [QPU_A_OR] = add_or,     [QPU_A_XOR] = add_xor,
};

const qpu_alu_function qpu_alu_mul[8] = {
    [QPU_M_FMUL] = mul_fmul, [QPU_M_MUL24] = mul_mul24, [QPU_M_V8MIN] = v8min, [QPU_M_V8SUBS] = v8subs};
