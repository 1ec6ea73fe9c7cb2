/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/qpu/asm/value.h"

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

static status_t parse_number(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  const char *p = *text;
  char *end;
  size_t digits = strspn(p, "0123456789");
  if (p[digits] == '.' && (isdigit((unsigned char)p[digits + 1]) || !isalpha((unsigned char)p[digits + 1]))) {
    *value = qpu_value_float(strtod(p, &end));
  } else if (p[0] == '0' && (p[1] == 'b' || p[1] == 'B') && (p[2] == '0' || p[2] == '1')) {
    *value = qpu_value_int((int64_t)strtoull(p + 2, &end, 2));
  } else {
    *value = qpu_value_int((int64_t)strtoull(p, &end, 0));
  }
  if (isalnum((unsigned char)*end) || *end == '_') return qpu_asm_fail(as, "'%.20s' is not a number", p);
  *text = end;
  return STATUS_OK;
}

static status_t parse_elements(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  int64_t element[QPU_LANES] = {0};
  int n = 0;
  *text += 1;
  for (;; *text += 1) {
    struct qpu_value item;
    RETURN_IF_FAILED(qpu_expr_parse(as, text, &item));
    if (n == QPU_LANES) return qpu_asm_fail(as, "more than 16 values in [ ]");
    RETURN_IF_FAILED(qpu_value_integer(as, &item, &element[n++]));
    *text = qpu_skip_space(*text);
    if (**text != ',') break;
  }
  if (**text != ']' || n != QPU_LANES) return qpu_asm_fail(as, "[ ] needs 16 values, one for each element");
  *text += 1;
  *value = (struct qpu_value){.type = QPU_VALUE_ELEMENTS};
  for (int i = 0; i < n; i++) value->is_signed |= element[i] < 0;
  for (int i = 0; i < n; i++) {
    if (element[i] < (value->is_signed ? -2 : 0) || element[i] > (value->is_signed ? 1 : 3))
      return qpu_asm_fail(as, "element values go from 0 to 3, or from -2 to 1");
    value->elements |= (uint32_t)(element[i] >> 1 & 1) << (16 + i) | (uint32_t)(element[i] & 1) << i;
  }
  return STATUS_OK;
}

/* Kinds of a register in `:[number, kind]`: files, read, write, semaphore. */
enum { RAW_FILES = 3, RAW_READ = 4, RAW_WRITE = 8, RAW_SEMAPHORE = 16 };

static status_t parse_raw(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  int64_t whole = 0;
  int n = 0;
  *text += 1;
  do {
    struct qpu_value item;
    int64_t field;
    *text += 1;
    RETURN_IF_FAILED(qpu_expr_parse(as, text, &item));
    RETURN_IF_FAILED(qpu_value_integer(as, &item, &field));
    if (n == 4) return qpu_asm_fail(as, "a register in :[ ] has four numbers at most");
    whole |= (field & 255) << 8 * n++;
    *text = qpu_skip_space(*text);
  } while (**text == ',');
  if (**text != ']') return qpu_asm_fail(as, "']' is missing");
  *text += 1;
  *value = (struct qpu_value){.type = QPU_VALUE_RAW, .integer = whole};
  return STATUS_OK;
}

int64_t qpu_value_raw(const struct qpu_value *value)
{
  const struct qpu_register_name *reg = &value->reg;
  if (value->type == QPU_VALUE_SEMAPHORE) return value->integer | RAW_SEMAPHORE << 8;
  if (value->type != QPU_VALUE_REGISTER) return value->integer;
  int read = reg->accumulator < 0 && reg->read_files,
      files = (reg->read_files | reg->write_files) & RAW_FILES;
  int number = reg->accumulator >= 0 ? 32 + reg->accumulator : read ? reg->read_addr : reg->write_addr;
  int kind = files | (read ? RAW_READ : 0) | (reg->write_files ? RAW_WRITE : 0);
  return number | kind << 8 | value->rotate << 16;
}

/* :name, r:name, :1f, :1b. */
static status_t parse_label(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  char name[QPU_NAME_MAX];
  *text += **text == 'r' ? 2 : 1;
  if (qpu_word(text, name) == 0) return qpu_asm_fail(as, "a label's name must follow ':'");
  return qpu_label_find(as, name, value);
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
  struct qpu_symbol function = *found; /* evaluating arguments may move the table */
  struct qpu_value args[QPU_MAX_ARGS];
  int n;
  const char *p = qpu_skip_space(*text);
  if (*p++ != '(')
    return qpu_asm_fail(as, "'%s' is a function: its arguments must follow in ( )", function.name);
  RETURN_IF_FAILED(qpu_expr_arguments(as, &p, ')', function.name, args, &n));
  *text = p + 1;
  return as->call(as, &function, args, n, value);
}

static status_t parse_suffix(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  size_t n = 1;
  while (isalnum((unsigned char)(*text)[n])) n++;
  if (n < 2 || n > sizeof value->suffix) return qpu_asm_fail(as, "'%.8s' is no pack mode", *text);
  int skip = n > 7 && strncmp(*text + 1, "unpack", 6) == 0 ? 6 : 0;
  memcpy(value->suffix, *text + 1 + skip, n - 1 - (size_t)skip);
  value->suffix[n - 1 - (size_t)skip] = '\0';
  *text += n;
  return STATUS_OK;
}

static int parse_semaphore(const char *name, struct qpu_value *value)
{
  int acquire = strncmp(name, "sacq", 4) == 0;
  if ((!acquire && strncmp(name, "srel", 4) != 0) || !isdigit((unsigned char)name[4])) return 0;
  char *end;
  long number = strtol(name + 4, &end, 10);
  if (*end != '\0' || number > 15) return 0;
  *value = (struct qpu_value){.type = QPU_VALUE_SEMAPHORE, .integer = number + 16 * acquire};
  return 1;
}

static status_t parse_name(struct qpu_asm *as, const char **text, struct qpu_value *value);

static const struct math_operator {
  const char *name;
  double (*apply)(double);
  int whole; /* the result is an integer, or stays one */
} math_operators[] = {{"abs", fabs, 0},  {"floor", floor, 1}, {"ceil", ceil, 1}, {"sqrt", sqrt, 0},
                      {"exp2", exp2, 0}, {"log2", log2, 0},   {"exp", exp, 0},   {"log", log, 0},
                      {"sin", sin, 0},   {"cos", cos, 0}};

static const struct math_operator *math_operator_find(const char *name)
{
  for (size_t i = 0; i < sizeof math_operators / sizeof math_operators[0]; i++)
    if (strcmp(math_operators[i].name, name) == 0) return &math_operators[i];
  return NULL;
}

static status_t parse_unary(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  const char *p = qpu_skip_space(*text);
  char operator_ = *p;
  if (operator_ == '-' && (p[1] == '\0' || p[1] == ',' || isspace((unsigned char)p[1]))) {
    *value =
        /* "-", the register that nothing is written to */
        (struct qpu_value){.type = QPU_VALUE_REGISTER};
    (void)qpu_register_find("-", &value->reg);
    *text = p + 1;
    return STATUS_OK;
  }
  if (!strchr("+-~!", operator_) || operator_ == '\0') {
    *text = p;
    return parse_name(as, text, value);
  }
  *text = p + 1;
  RETURN_IF_FAILED(parse_unary(as, text, value));
  if (!qpu_value_is_number(value)) return qpu_asm_fail(as, "'%c' needs a number", operator_);
  if (operator_ == '!')
    *value = qpu_value_int(qpu_value_real(value) == 0);
  else if (operator_ == '-' && value->type == QPU_VALUE_FLOAT)
    *value = qpu_value_float(-value->real);
  else if (operator_ == '-')
    *value = qpu_value_int((int64_t)(0 - (uint64_t)value->integer));
  else if (operator_ == '~' && value->type == QPU_VALUE_FLOAT)
    return qpu_asm_fail(as, "'~' needs a whole number");
  else if (operator_ == '~')
    *value = qpu_value_int(~value->integer);
  return STATUS_OK;
}

static status_t parse_math(struct qpu_asm *as, const struct math_operator *math, const char **text,
                           struct qpu_value *value)
{
  RETURN_IF_FAILED(parse_unary(as, text, value));
  if (!qpu_value_is_number(value)) return qpu_asm_fail(as, "'%s' needs a number", math->name);
  int was_integer = value->type == QPU_VALUE_INT;
  *value = qpu_value_float(math->apply(qpu_value_real(value)));
  int exact = math->apply == log2 && value->real == floor(value->real); /* of a power of two */
  if (math->whole || (was_integer && (math->apply == fabs || exact))) {
    int64_t integer = 0;
    RETURN_IF_FAILED(qpu_value_integer(as, value, &integer));
    *value = qpu_value_int(integer);
  }
  return STATUS_OK;
}

static status_t parse_name(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  char name[QPU_NAME_MAX];
  const char *p = *text;
  if (*p == '(') {
    *text = p + 1;
    RETURN_IF_FAILED(qpu_expr_parse(as, text, value));
    *text = qpu_skip_space(*text);
    if (**text != ')') return qpu_asm_fail(as, "')' is missing");
    *text += 1;
    if (value->type != QPU_VALUE_REGISTER || value->suffix[0] != '\0' || **text != '.') return STATUS_OK;
    return parse_suffix(as, text, value); /* (ra0>>2).16b */
  }
  if (*p == '[') return parse_elements(as, text, value);
  if (*p == ':' && p[1] == '[') return parse_raw(as, text, value);
  if (*p == ':' || (*p == 'r' && p[1] == ':')) return parse_label(as, text, value);
  if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1])))
    return parse_number(as, text, value);
  if (!qpu_identifier(text, name)) return qpu_asm_fail(as, "an expression is expected at '%.20s'", p);
  const struct qpu_symbol *symbol = qpu_symbol_find(as, name);
  if (symbol && symbol->kind == QPU_SYMBOL_MACRO)
    return qpu_asm_fail(as, "'%s' is a macro, not a value", name);
  if (symbol && symbol->kind != QPU_SYMBOL_VALUE) return parse_call(as, symbol, text, value);
  const struct math_operator *math = symbol ? NULL : math_operator_find(name);
  const char *next = qpu_skip_space(*text);
  *value = symbol ? symbol->value : (struct qpu_value){.type = QPU_VALUE_REGISTER};
  if (!symbol && parse_semaphore(name, value)) return STATUS_OK;
  if (!symbol && !qpu_register_find(name, &value->reg))
    return math ? parse_math(as, math, text, value) : qpu_label_find(as, name, value);
  /* exp and log are registers where they are written to and operators before a number. */
  if (math && (*next == '(' || isdigit((unsigned char)*next))) return parse_math(as, math, text, value);
  if (value->type == QPU_VALUE_REGISTER && **text == '.') return parse_suffix(as, text, value);
  return STATUS_OK;
}

static status_t parse_level(struct qpu_asm *as, const char **text, int level, struct qpu_value *value)
{
  RETURN_IF_FAILED(parse_unary(as, text, value));
  for (;;) {
    const char *p = qpu_skip_space(*text);
    const struct qpu_operator *binary = qpu_operator_find(p);
    if (!binary || binary->level < level) return STATUS_OK;
    struct qpu_value right;
    *text = p + strlen(binary->text);
    RETURN_IF_FAILED(parse_level(as, text, binary->level + 1, &right));
    RETURN_IF_FAILED(qpu_operator_apply(as, binary->id, value, &right));
  }
}

status_t qpu_expr_parse(struct qpu_asm *as, const char **text, struct qpu_value *value)
{
  if (as->nesting > 60) return qpu_asm_fail(as, "expressions, functions or macros nest more than 60 deep");
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
