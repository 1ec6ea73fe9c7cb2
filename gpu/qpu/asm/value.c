/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/value.h"

#include <math.h>
#include <string.h>

struct qpu_value qpu_value_int(int64_t integer)
{
  return (struct qpu_value){.type = QPU_VALUE_INT, .integer = integer, .real = (double)integer};
}

struct qpu_value qpu_value_float(double real)
{
  return (struct qpu_value){.type = QPU_VALUE_FLOAT, .real = real};
}

status_t qpu_value_bits(struct qpu_asm *as, const struct qpu_value *value, uint32_t *bits)
{
  if (value->type == QPU_VALUE_FLOAT) {
    float single = (float)value->real;
    memcpy(bits, &single, sizeof single);
    return STATUS_OK;
  }
  if (!qpu_value_is_constant(value)) return qpu_asm_fail(as, "a constant is needed here");
  if (value->integer < INT32_MIN || value->integer > UINT32_MAX)
    return qpu_asm_fail(as, "%lld does not fit 32 bits", (long long)value->integer);
  *bits = (uint32_t)value->integer;
  return STATUS_OK;
}

status_t qpu_value_integer(struct qpu_asm *as, const struct qpu_value *value, int64_t *integer)
{
  if (value->type == QPU_VALUE_FLOAT && value->real == floor(value->real) && fabs(value->real) < 0x1p62) {
    *integer = (int64_t)value->real;
    return STATUS_OK;
  }
  if (value->type == QPU_VALUE_FLOAT || !qpu_value_is_constant(value))
    return qpu_asm_fail(as, "a whole number is needed here");
  *integer = value->integer;
  return STATUS_OK;
}

status_t qpu_value_true(struct qpu_asm *as, const struct qpu_value *value, int *truth)
{
  if (!qpu_value_is_constant(value)) return qpu_asm_fail(as, "a condition must be a number");
  *truth = value->type == QPU_VALUE_FLOAT ? value->real != 0 : value->integer != 0;
  return STATUS_OK;
}

int qpu_value_is_number(const struct qpu_value *value)
{
  return value->type == QPU_VALUE_INT || value->type == QPU_VALUE_FLOAT;
}

int qpu_value_is_constant(const struct qpu_value *value)
{
  return qpu_value_is_number(value) || value->type == QPU_VALUE_LABEL;
}

double qpu_value_real(const struct qpu_value *value)
{
  return value->type == QPU_VALUE_FLOAT ? value->real : (double)value->integer;
}

static const struct qpu_operator binaries[] = {/* longer spellings first */
                                               {"<<<", OP_LOGICAL_LEFT, 8},
                                               {">>>", OP_LOGICAL_RIGHT, 8},
                                               {"**", OP_POWER, 11},
                                               {"<<", OP_LEFT, 8},
                                               {">>", OP_RIGHT, 8},
                                               {"<=", OP_LESS_EQUAL, 7},
                                               {">=", OP_GREATER_EQUAL, 7},
                                               {"==", OP_EQUAL, 6},
                                               {"!=", OP_UNEQUAL, 6},
                                               {"&&", OP_BOTH, 2},
                                               {"^^", OP_ONE, 1},
                                               {"||", OP_EITHER, 0},
                                               {"*", OP_MULTIPLY, 10},
                                               {"/", OP_DIVIDE, 10},
                                               {"%", OP_MODULO, 10},
                                               {"+", OP_ADD, 9},
                                               {"-", OP_SUBTRACT, 9},
                                               {"<", OP_LESS, 7},
                                               {">", OP_GREATER, 7},
                                               {"&", OP_AND, 5},
                                               {"^", OP_XOR, 4},
                                               {"|", OP_OR, 3}};

static int64_t integer_power(int64_t base, int64_t exponent)
{
  uint64_t result = 1;
  for (; exponent > 0; exponent--) {
    result *= (uint64_t)base;
    if (result <= 1) break; /* 0 and 1 stay what they are */
  }
  return (int64_t)result;
}

static int64_t shift_left(int64_t a, int64_t n)
{
  return n >= 64 || n < 0 ? 0 : (int64_t)((uint64_t)a << n);
}

static int64_t of_integers(enum qpu_operator_id id, int64_t a, int64_t b)
{
  uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
  switch (id) {
  case OP_POWER:
    return integer_power(a, b > 64 ? 64 : b);
  case OP_MULTIPLY:
    return (int64_t)(ua * ub);
  case OP_DIVIDE:
    return a / b;
  case OP_MODULO:
    return a % b;
  case OP_ADD:
    return (int64_t)(ua + ub);
  case OP_SUBTRACT:
    return (int64_t)(ua - ub);
  case OP_LEFT:
  case OP_LOGICAL_LEFT:
    return shift_left(a, b);
  case OP_RIGHT:
    return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b;
  case OP_LOGICAL_RIGHT: /* a negative number of 32 bits stays one */
    if (b < 0 || b > 63) return 0;
    return (int64_t)((a < 0 && a >= INT32_MIN ? (uint32_t)a : ua) >> b);
  case OP_LESS:
    return a < b;
  case OP_LESS_EQUAL:
    return a <= b;
  case OP_GREATER:
    return a > b;
  case OP_GREATER_EQUAL:
    return a >= b;
  case OP_EQUAL:
    return a == b;
  case OP_UNEQUAL:
    return a != b;
  case OP_AND:
    return a & b;
  case OP_XOR:
    return a ^ b;
  case OP_OR:
    return a | b;
  case OP_BOTH:
    return a && b;
  case OP_ONE:
    return !a != !b;
  case OP_EITHER:
    return a || b;
  }
  return 0;
}

/* For the operators below OP_LOGICAL_LEFT. */
static struct qpu_value of_reals(enum qpu_operator_id id, double a, double b)
{
  switch (id) {
  case OP_POWER:
    return qpu_value_float(pow(a, b));
  case OP_MULTIPLY:
    return qpu_value_float(a * b);
  case OP_DIVIDE:
    return qpu_value_float(a / b);
  case OP_MODULO:
    return qpu_value_float(fmod(a, b));
  case OP_ADD:
    return qpu_value_float(a + b);
  case OP_SUBTRACT:
    return qpu_value_float(a - b);
  case OP_LEFT:
    return qpu_value_float(a * exp2(b));
  case OP_RIGHT:
    return qpu_value_float(a * exp2(-b));
  case OP_LESS:
    return qpu_value_int(a < b);
  case OP_LESS_EQUAL:
    return qpu_value_int(a <= b);
  case OP_GREATER:
    return qpu_value_int(a > b);
  case OP_GREATER_EQUAL:
    return qpu_value_int(a >= b);
  case OP_EQUAL:
    return qpu_value_int(a == b);
  default:
    return qpu_value_int(a != b);
  }
}

/* A register plus a number is another register; shifted by a number or r5 it is rotated between the
 * lanes. `>> n` takes from n lanes below, which is the direction in which the hardware counts. */
static status_t apply_register(struct qpu_asm *as, enum qpu_operator_id id, struct qpu_value *value,
                               const struct qpu_value *right)
{
  if ((id == OP_EQUAL || id == OP_UNEQUAL) && right->type == QPU_VALUE_REGISTER) {
    const struct qpu_register_name *a = &value->reg, *b = &right->reg;
    int same = a->accumulator == b->accumulator && a->read_addr == b->read_addr &&
               a->read_files == b->read_files && a->write_addr == b->write_addr &&
               a->write_files == b->write_files;
    *value = qpu_value_int(same == (id == OP_EQUAL));
    return STATUS_OK;
  }
  if ((id == OP_LEFT || id == OP_RIGHT) && right->type == QPU_VALUE_REGISTER && right->reg.accumulator == 5) {
    if (id == OP_LEFT) return qpu_asm_fail(as, "by r5 a vector rotates upward only: write '>> r5'");
    value->rotate = QPU_ROTATE_R5;
    return STATUS_OK;
  }
  if (right->type != QPU_VALUE_INT) return qpu_asm_fail(as, "this operator cannot be applied to a register");
  int64_t n = right->integer;
  if (id == OP_LEFT || id == OP_RIGHT) {
    value->rotate = (uint8_t)((id == OP_RIGHT ? n : -n) & 15);
    return STATUS_OK;
  }
  if (id != OP_ADD && id != OP_SUBTRACT)
    return qpu_asm_fail(as, "this operator cannot be applied to a register");
  struct qpu_register_name *reg = &value->reg;
  int64_t number = reg->read_addr + (id == OP_ADD ? n : -n);
  if (reg->accumulator >= 0 || reg->read_files != reg->write_files || reg->read_files == QPU_FILE_AB ||
      number < 0 || number > 63)
    return qpu_asm_fail(as, "there is no such register: only ra0 to rb63 can be counted on");
  reg->read_addr = reg->write_addr = (uint8_t)number;
  return STATUS_OK;
}

/* Kinds of value in the order in which vc4asm compares them. */
static int rank_of(const struct qpu_value *value)
{
  static const int ranks[] = {[QPU_VALUE_ELEMENTS] = 1,
                              [QPU_VALUE_REGISTER] = 2,
                              [QPU_VALUE_RAW] = 2,
                              [QPU_VALUE_SEMAPHORE] = 2,
                              [QPU_VALUE_LABEL] = 3};
  return ranks[value->type];
}

static int64_t key_of(const struct qpu_value *value)
{
  if (value->type == QPU_VALUE_ELEMENTS)
    return value->is_signed ? value->elements - INT64_C(0x100000000) : value->elements;
  return qpu_value_raw(value);
}

/* Values of which one at least is no number, a register as :[ ] has it. */
static int compare_kinds(enum qpu_operator_id id, struct qpu_value *value, const struct qpu_value *right)
{
  int raw = value->type == QPU_VALUE_RAW || right->type == QPU_VALUE_RAW;
  int elements = value->type == QPU_VALUE_ELEMENTS || right->type == QPU_VALUE_ELEMENTS;
  int alike = rank_of(value) == rank_of(right);
  if (!raw && !elements) return 0;
  if (id == OP_AND && raw && alike) {
    *value = (struct qpu_value){.type = QPU_VALUE_RAW, .integer = key_of(value) & key_of(right)};
    return 1;
  }
  int64_t a = alike ? key_of(value) : rank_of(value), b = alike ? key_of(right) : rank_of(right);
  if (id < OP_LESS || id > OP_UNEQUAL) return 0;
  *value = qpu_value_int(of_integers(id, a, b));
  return 1;
}

status_t qpu_operator_apply(struct qpu_asm *as, enum qpu_operator_id id, struct qpu_value *value,
                            const struct qpu_value *right)
{
  if (compare_kinds(id, value, right)) return STATUS_OK;
  if (value->type == QPU_VALUE_REGISTER) return apply_register(as, id, value, right);
  if (qpu_value_is_number(value) && qpu_value_is_number(right) &&
      (value->type == QPU_VALUE_FLOAT || right->type == QPU_VALUE_FLOAT)) {
    if (id >= OP_LOGICAL_LEFT) return qpu_asm_fail(as, "this operator needs whole numbers");
    *value = of_reals(id, qpu_value_real(value), qpu_value_real(right));
    return STATUS_OK;
  }
  int left_label = value->type == QPU_VALUE_LABEL, right_label = right->type == QPU_VALUE_LABEL;
  int left_fits = value->type == QPU_VALUE_INT || left_label || value->type == QPU_VALUE_SEMAPHORE;
  if (!left_fits || (right->type != QPU_VALUE_INT && !right_label))
    return qpu_asm_fail(as, "this operator cannot be applied to these operands");
  int64_t a = value->integer, b = right->integer;
  if ((id == OP_DIVIDE || id == OP_MODULO) && (b == 0 || (b == -1 && a == INT64_MIN)))
    return qpu_asm_fail(as, "division of %lld by %lld", (long long)a, (long long)b);
  enum qpu_value_type type = value->type;
  *value = qpu_value_int(of_integers(id, a, b));
  if (type == QPU_VALUE_SEMAPHORE || ((id == OP_ADD || id == OP_SUBTRACT) && left_label && !right_label))
    value->type = type;
  return STATUS_OK;
}

const struct qpu_operator *qpu_operator_find(const char *text)
{
  for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++)
    if (strncmp(text, binaries[i].text, strlen(binaries[i].text)) == 0) return &binaries[i];
  return NULL;
}
