/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/state.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EXPRESSIONS 60 /* nesting limit */

const char *qpu_skip_space(const char *text)
{
  while (isspace((unsigned char)*text)) text++;
  return text;
}

size_t qpu_word(const char **text, char name[QPU_NAME_MAX])
{
  size_t n = 0;
  for (; (isalnum((unsigned char)**text) || **text == '_') && n < QPU_NAME_MAX - 1; *text += 1)
    name[n++] = **text;
  name[n] = '\0';
  return n;
}

int qpu_identifier(const char **text, char name[QPU_NAME_MAX])
{
  return !isdigit((unsigned char)**text) && qpu_word(text, name) > 0;
}

struct qpu_value qpu_value_int(int64_t integer)
{
  return (struct qpu_value){.type = QPU_VALUE_INT, .integer = integer};
}

int qpu_value_is_constant(const struct qpu_value *value)
{
  return value->type != QPU_VALUE_REGISTER;
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
  if (value->type != QPU_VALUE_INT) return qpu_asm_fail(as, "a whole number is needed here");
  *integer = value->integer;
  return STATUS_OK;
}

enum operator_id {
  OP_MULTIPLY,
  OP_DIVIDE,
  OP_ADD,
  OP_SUBTRACT,
  OP_LEFT,
  OP_RIGHT,
  OP_LESS,
  OP_GREATER,
  OP_EQUAL,
  OP_OR
};

static const struct operator_ {
  const char *text;
  enum operator_id id;
  int level;     /* precedence: larger binds tighter */
} operators[] = {/* longer spellings come first, because the first match counts */
                 {"<<", OP_LEFT, 3},   {">>", OP_RIGHT, 3}, {"==", OP_EQUAL, 1},   {"*", OP_MULTIPLY, 5},
                 {"/", OP_DIVIDE, 5},  {"+", OP_ADD, 4},    {"-", OP_SUBTRACT, 4}, {"<", OP_LESS, 2},
                 {">", OP_GREATER, 2}, {"|", OP_OR, 0}};

static int64_t of_integers(enum operator_id id, int64_t a, int64_t b)
{
  const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
  switch (id) {
  case OP_MULTIPLY:
    return (int64_t)(ua * ub);
  case OP_DIVIDE:
    return a / b;
  case OP_ADD:
    return (int64_t)(ua + ub);
  case OP_SUBTRACT:
    return (int64_t)(ua - ub);
  case OP_LEFT:
    return b < 0 || b > 63 ? 0 : (int64_t)(ua << b);
  case OP_RIGHT:
    return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b;
  case OP_LESS:
    return a < b;
  case OP_GREATER:
    return a > b;
  case OP_EQUAL:
    return a == b;
  case OP_OR:
    return a | b;
  }
  return 0;
}

/* A register plus a number is another register. A register shifted by a number is rotated between
 * lanes: `>> n` makes lane i read lane i − n, as the hardware's rotation by n does. */
static status_t apply_register(struct qpu_asm *as, enum operator_id id, struct qpu_value *value,
                               const struct qpu_value *right)
{
  const int shifts = id == OP_LEFT || id == OP_RIGHT;
  if (right->type != QPU_VALUE_INT || (!shifts && id != OP_ADD && id != OP_SUBTRACT))
    return qpu_asm_fail(as, "this operator cannot be applied to a register");
  const int64_t n = right->integer;
  if (shifts) {
    value->rotate = (uint8_t)((id == OP_RIGHT ? n : -n) & 15);
    return STATUS_OK;
  }
  struct qpu_register_name *reg = &value->reg;
  int64_t number = reg->read_addr + (id == OP_ADD ? n : -n);
  if (reg->accumulator >= 0 || reg->read_files != reg->write_files || reg->read_files == QPU_FILE_AB ||
      number < 0 || number > 63)
    return qpu_asm_fail(as, "there is no such register: only ra0 to rb63 can be counted on");
  reg->read_addr = reg->write_addr = (uint8_t)number;
  return STATUS_OK;
}

static status_t apply(struct qpu_asm *as, enum operator_id id, struct qpu_value *value,
                      const struct qpu_value *right)
{
  if (value->type == QPU_VALUE_REGISTER) return apply_register(as, id, value, right);
  if (value->type != QPU_VALUE_INT || right->type != QPU_VALUE_INT)
    return qpu_asm_fail(as, "this operator needs whole numbers");
  const int64_t a = value->integer, b = right->integer;
  if (id == OP_DIVIDE && (b == 0 || (b == -1 && a == INT64_MIN)))
    return qpu_asm_fail(as, "division of %lld by %lld", (long long)a, (long long)b);
  *value = qpu_value_int(of_integers(id, a, b));
  return STATUS_OK;
}

static status_t parse_number(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  const char *p = *text;
  char *end;
  if (p[strspn(p, "0123456789")] == '.')
    *value = (struct qpu_value){.type = QPU_VALUE_FLOAT, .real = strtod(p, &end)};
  else
    *value = qpu_value_int((int64_t)strtoull(p, &end, 0));
  if (isalnum((unsigned char)*end) || *end == '_') return qpu_asm_fail(as, "'%.20s' is not a number", p);
  *text = end;
  return STATUS_OK;
}

status_t qpu_expr_arguments(struct qpu_asm *as, const char **text, char end, const char *callee,
                            struct qpu_value args[QPU_MAX_ARGS], int *n)
{
  for (*n = 0, *text = qpu_skip_space(*text); **text != end; *text = qpu_skip_space(*text)) {
    if (*n == QPU_MAX_ARGS) return qpu_asm_fail(as, "more than %d arguments", QPU_MAX_ARGS);
    RETURN_IF_FAILED(qpu_expr_parse(as, text, &args[(*n)++]));
    *text = qpu_skip_space(*text);
    if (**text == ',')
      *text += 1;
    else if (**text != end)
      return qpu_asm_fail(as,
                          end ? "')' is missing after the arguments of '%s'"
                              : "',' is expected between the arguments of '%s'",
                          callee);
  }
  return STATUS_OK;
}

static status_t parse_call(struct qpu_asm *as, const struct qpu_symbol *found, const char **text,
                           struct qpu_value *value)
{
  /* a copy, because evaluating arguments may move the table of symbols */
  struct qpu_symbol callee = *found;
  struct qpu_value args[QPU_MAX_ARGS];
  int n;
  const char *p = qpu_skip_space(*text);
  if (*p++ != '(')
    return qpu_asm_fail(as, "'%s' is a function: its arguments must follow in ( )", callee.name);
  RETURN_IF_FAILED(qpu_expr_arguments(as, &p, ')', callee.name, args, &n));
  *text = p + 1;
  return qpu_expression_call(as, &callee, args, n, value);
}

static status_t parse_operand(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  char name[QPU_NAME_MAX];
  const char *p = *text;
  if (*p == '(') {
    *text = p + 1;
    RETURN_IF_FAILED(qpu_expr_parse(as, text, value));
    *text = qpu_skip_space(*text);
    if (**text != ')') return qpu_asm_fail(as, "')' is missing");
    *text += 1;
    return STATUS_OK;
  }
  if (isdigit((unsigned char)*p)) return parse_number(as, text, value);
  if (*p == 'r' && p[1] == ':') {
    *text += 2;
    if (!qpu_identifier(text, name)) return qpu_asm_fail(as, "a label's name must follow ':'");
    return qpu_label_find(as, name, value);
  }
  if (!qpu_identifier(text, name)) return qpu_asm_fail(as, "an expression is expected at '%.20s'", p);
  const struct qpu_symbol *symbol = qpu_symbol_find(as, name);
  if (symbol && symbol->end) return qpu_asm_fail(as, "'%s' is a macro, not a value", name);
  if (symbol && symbol->text) return parse_call(as, symbol, text, value);
  *value = symbol ? symbol->value : (struct qpu_value){.type = QPU_VALUE_REGISTER};
  if (symbol || qpu_register_find(name, &value->reg)) return STATUS_OK;
  return qpu_asm_fail(as, "'%s' is no register, constant or function", name);
}

static status_t parse_unary(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  const char *p = *text = qpu_skip_space(*text);
  if (*p != '-') return parse_operand(as, text, value);
  *text = p + 1;
  if (p[1] == '\0' || p[1] == ',' || isspace((unsigned char)p[1])) {
    /* the register that discards what is written to it */
    *value = (struct qpu_value){.type = QPU_VALUE_REGISTER};
    (void)qpu_register_find("-", &value->reg);
    return STATUS_OK;
  }
  RETURN_IF_FAILED(parse_unary(as, text, value));
  if (value->type == QPU_VALUE_FLOAT)
    value->real = -value->real;
  else if (value->type == QPU_VALUE_INT)
    value->integer = (int64_t)(0 - (uint64_t)value->integer);
  else
    return qpu_asm_fail(as, "'-' needs a number");
  return STATUS_OK;
}

static const struct operator_ *find_operator(const char *text)
{
  for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
    if (strncmp(text, operators[i].text, strlen(operators[i].text)) == 0) return &operators[i];
  return NULL;
}

static status_t parse_level(struct qpu_asm *as, const char **text, int level, struct qpu_value *value)
{
  RETURN_IF_FAILED(parse_unary(as, text, value));
  for (;;) {
    const char *p = qpu_skip_space(*text);
    const struct operator_ *binary = find_operator(p);
    if (!binary || binary->level < level) return STATUS_OK;
    struct qpu_value right;
    *text = p + strlen(binary->text);
    RETURN_IF_FAILED(parse_level(as, text, binary->level + 1, &right));
    RETURN_IF_FAILED(apply(as, binary->id, value, &right));
  }
}

status_t qpu_expr_parse(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  if (as->nesting > MAX_EXPRESSIONS)
    return qpu_asm_fail(as, "expressions, functions or macros nest more than %d deep", MAX_EXPRESSIONS);
  as->nesting++;
  status_t status = parse_level(as, text, 0, value);
  as->nesting--;
  return status;
}

status_t qpu_expr_whole(struct qpu_asm *as, const char *text, struct qpu_value *value)
{
  RETURN_IF_FAILED(qpu_expr_parse(as, &text, value));
  text = qpu_skip_space(text);
  if (*text != '\0') return qpu_asm_fail(as, "'%.20s' does not belong here", text);
  return STATUS_OK;
}
