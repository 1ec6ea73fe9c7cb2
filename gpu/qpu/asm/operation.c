/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/operation.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gpu/qpu/asm/expr.h"

int qpu_code_of(const char *const *table, int n, const char *name)
{
  for (int i = 0; i < n; i++)
    if (table[i] && strcmp(table[i], name) == 0) return i;
  return -1;
}

int qpu_op_code(const struct qpu_op *ops, int n, const char *name)
{
  for (int i = 0; i < n; i++)
    if (ops[i].name && strcmp(ops[i].name, name) == 0) return i;
  return -1;
}

/* vc4asm has a second name for most conditions: zs for z, zc for nz, and so on. */
static int condition_code(const char *name)
{
  static const char *const others[8] = {"never", "always", "zs", "zc", "ns", "nc", "cs", NULL};
  int code = qpu_code_of(qpu_cond_names, 8, name);
  return code >= 0 ? code : qpu_code_of(others, 8, name);
}

static status_t parse_extension(struct qpu_asm *as, const char *name, struct qpu_operation *operation)
{
  int code;
  if (strcmp(name, "setf") == 0 || strcmp(name, "sf") == 0) {
    operation->setf = 1;
  } else if (strncmp(name, "if", 2) == 0 && (code = condition_code(name + 2)) >= 0) {
    operation->cond = code;
    operation->has_cond = 1;
  } else if (strcmp(name, "never") == 0 || strcmp(name, "always") == 0) {
    operation->cond = name[0] == 'n' ? QPU_COND_NEVER : QPU_COND_ALWAYS;
    operation->has_cond = 1;
  } else if ((code = qpu_code_of(qpu_branch_names, QPU_BRANCH_ALWAYS, name)) >= 0) {
    operation->branch = code;
    operation->has_branch = 1;
  } else if (strncmp(name, "pack", 4) == 0 && strlen(name) < 4 + sizeof operation->pack) {
    strcpy(operation->pack, name + 4);
  } else if (strncmp(name, "unpack", 6) == 0 && strlen(name) < 6 + sizeof operation->unpack) {
    strcpy(operation->unpack, name + 6);
  } else {
    return qpu_asm_fail(as, "'.%s' is not known", name);
  }
  return STATUS_OK;
}

/* A condition or .setf may stand behind the target instead of the opcode. */
static void take_from_target(struct qpu_operation *operation)
{
  struct qpu_value *target = &operation->args[0];
  char *suffix = target->suffix;
  if (operation->n_args == 0 || target->type != QPU_VALUE_REGISTER || !suffix[0]) return;
  int setf = strcmp(suffix, "setf") == 0 || strcmp(suffix, "sf") == 0;
  int cond = condition_code(strncmp(suffix, "if", 2) == 0 ? suffix + 2 : suffix);
  if (!setf && cond < 0) return;
  operation->setf |= setf;
  if (!setf) operation->cond = cond;
  operation->has_cond |= !setf;
  suffix[0] = '\0';
}

static status_t parse_one(struct qpu_asm *as, const char *text, struct qpu_operation *operation)
{
  memset(operation, 0, sizeof *operation);
  operation->cond = QPU_COND_ALWAYS;
  operation->branch = QPU_BRANCH_ALWAYS;
  if (!qpu_identifier(&text, operation->name))
    return qpu_asm_fail(as, "an operation is expected at '%.20s'", text);
  while (*text == '.') {
    char name[QPU_NAME_MAX];
    text++;
    qpu_word(&text, name);
    RETURN_IF_FAILED(parse_extension(as, name, operation));
  }
  if (*text != '\0' && !isspace((unsigned char)*text))
    return qpu_asm_fail(as, "'%.20s' does not belong behind '%s'", text, operation->name);
  text = qpu_skip_space(text);
  while (*text != '\0') {
    if (operation->n_args == QPU_MAX_OPERANDS)
      return qpu_asm_fail(as, "too many operands for '%s'", operation->name);
    RETURN_IF_FAILED(qpu_expr_parse(as, &text, &operation->args[operation->n_args++]));
    text = qpu_skip_space(text);
    if (*text == '\0') break;
    if (*text != ',') return qpu_asm_fail(as, "',' or ';' is expected at '%.20s'", text);
    text = qpu_skip_space(text + 1);
    if (*text == '\0') return qpu_asm_fail(as, "an operand is missing after ','");
  }
  take_from_target(operation);
  return STATUS_OK;
}

status_t qpu_operations_parse(struct qpu_asm *as, const char *text, struct qpu_operation *operations, int *n)
{
  char part[4096];
  *n = 0;
  while (*text != '\0') {
    size_t length = strcspn(text, ";");
    const char *begin = text;
    text += length + (text[length] == ';');
    while (length > 0 && isspace((unsigned char)*begin)) begin++, length--;
    while (length > 0 && isspace((unsigned char)begin[length - 1])) length--;
    if (length == 0) continue;
    if (length >= sizeof part) return qpu_asm_fail(as, "the line is too long");
    if (*n == QPU_MAX_OPERATIONS) return qpu_asm_fail(as, "too many operations in one instruction");
    snprintf(part, sizeof part, "%.*s", (int)length, begin);
    RETURN_IF_FAILED(parse_one(as, part, &operations[(*n)++]));
  }
  return STATUS_OK;
}
