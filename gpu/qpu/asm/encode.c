/* SPDX-License-Identifier: MIT */
/* Parses the operations of a line, assigns them to the two ALUs, and allocates ports for their
 * operands. */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gpu/qpu/asm/state.h"

#define MAX_OPERATIONS 4
#define MAX_OPERANDS   4

enum { SLOT_ADD, SLOT_MUL, N_SLOTS };

struct operation {
  char name[QPU_NAME_MAX];
  int cond;       /* enum qpu_cond; default: always */
  int branch;     /* branch condition; default: always */
  int has_branch; /* the line has a branch condition */
  int setf;
  struct qpu_value args[MAX_OPERANDS];
  int n_args;
};

/* A source operand that has no read port yet. */
struct source {
  const struct qpu_value *value;
  uint8_t *mux;
};

struct builder {
  struct qpu_asm *as;
  struct qpu_inst inst;
  const struct operation *slots[N_SLOTS];
  struct source sources[4];
  int n_sources;
  int a_taken, b_taken; /* 1: the read port is in use */
};

static const struct alu {
  const char *name;
  const char *const *ops;
  /* codes of operations that, if both operands are x, compute x (move) or 0 (clear) */
  int n_ops, move, clear;
} alus[N_SLOTS] = {[SLOT_ADD] = {"add", qpu_add_ops, 32, QPU_A_OR, QPU_A_XOR},
                   [SLOT_MUL] = {"mul", qpu_mul_ops, 8, QPU_M_V8MIN, QPU_M_V8SUBS}};

/* Returns the index of a name in a table of \a n names, or −1 if it is missing. */
static int encode_code(const char *const *table, int n, const char *name)
{
  for (int i = 0; i < n; i++)
    if (table[i] && strcmp(table[i], name) == 0) return i;
  return -1;
}

static status_t parse_extension(struct qpu_asm *as, const char *name, struct operation *operation)
{
  int code;
  if (strcmp(name, "setf") == 0) {
    operation->setf = 1;
  } else if (strncmp(name, "if", 2) == 0 && (code = encode_code(qpu_cond_names, 8, name + 2)) >= 0) {
    operation->cond = code;
  } else if ((code = encode_code(qpu_branch_names, QPU_BRANCH_ALWAYS, name)) >= 0) {
    operation->branch = code;
    operation->has_branch = 1;
  } else {
    return qpu_asm_fail(as, "'.%s' is not known", name);
  }
  return STATUS_OK;
}

static status_t parse_one(struct qpu_asm *as, const char *text, struct operation *operation)
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
    if (operation->n_args == MAX_OPERANDS)
      return qpu_asm_fail(as, "too many operands for '%s'", operation->name);
    RETURN_IF_FAILED(qpu_expr_parse(as, &text, &operation->args[operation->n_args++]));
    text = qpu_skip_space(text);
    if (*text == '\0') break;
    if (*text != ',') return qpu_asm_fail(as, "',' or ';' is expected at '%.20s'", text);
    text = qpu_skip_space(text + 1);
    if (*text == '\0') return qpu_asm_fail(as, "an operand is missing after ','");
  }
  return STATUS_OK;
}

static status_t parse_line(struct qpu_asm *as, const char *text, struct operation *operations, int *n)
{
  char part[4096];
  for (*n = 0; *text != '\0'; ++*n) {
    size_t length = strcspn(text, ";");
    if (*n == MAX_OPERATIONS) return qpu_asm_fail(as, "too many operations in one instruction");
    snprintf(part, sizeof part, "%.*s", (int)length, text);
    RETURN_IF_FAILED(parse_one(as, qpu_skip_space(part), &operations[*n]));
    text += length + (text[length] == ';');
  }
  return STATUS_OK;
}

static status_t set_signal(struct builder *b, int code)
{
  if (b->inst.sig != QPU_SIG_NONE) return qpu_asm_fail(b->as, "an instruction has room for one signal only");
  b->inst.sig = (uint8_t)code;
  return STATUS_OK;
}

/* Records an operand that goes through an ALU's input multiplexer. Ports are allocated after all
 * operands are known. */
static status_t add_source(struct builder *b, const struct qpu_value *value, uint8_t *mux, int slot)
{
  if (value->rotate) {
    if (slot != SLOT_MUL) return qpu_asm_fail(b->as, "only the mul ALU can rotate a vector");
    const int code = QPU_SMALL_ROTATE + value->rotate;
    if (b->inst.sig == QPU_SIG_SMALL_IMMEDIATE && b->inst.raddr_b != code)
      return qpu_asm_fail(b->as, "one instruction has one rotation");
    if (b->inst.sig != QPU_SIG_SMALL_IMMEDIATE) RETURN_IF_FAILED(set_signal(b, QPU_SIG_SMALL_IMMEDIATE));
    b->inst.raddr_b = (uint8_t)code;
    b->b_taken = 1;
  }
  b->sources[b->n_sources++] = (struct source){value, mux};
  return STATUS_OK;
}

static status_t use_port(struct builder *b, const struct source *source, int file)
{
  uint8_t address = source->value->reg.read_addr;
  uint8_t *raddr = file == QPU_FILE_A ? &b->inst.raddr_a : &b->inst.raddr_b;
  int *taken = file == QPU_FILE_A ? &b->a_taken : &b->b_taken;
  int small = file == QPU_FILE_B && b->inst.sig == QPU_SIG_SMALL_IMMEDIATE;
  if (small || (*taken && *raddr != address))
    return qpu_asm_fail(b->as, "an instruction reads one register of file %c only%s",
                        file == QPU_FILE_A ? 'A' : 'B',
                        small ? ", and a small immediate or rotation takes that place" : "");
  *taken = 1;
  *raddr = address;
  *source->mux = file == QPU_FILE_A ? QPU_MUX_A : QPU_MUX_B;
  return STATUS_OK;
}

static status_t use_small(struct builder *b, const struct source *source, uint32_t bits)
{
  *source->mux = QPU_MUX_B;
  if (b->inst.sig == QPU_SIG_SMALL_IMMEDIATE && qpu_small_value(b->inst.raddr_b) == bits) return STATUS_OK;
  int code = qpu_small_code(bits);
  if (code < 0) return qpu_asm_fail(b->as, "0x%x is no small immediate (-16 to 15, or 2^-8 to 2^7)", bits);
  if (b->b_taken)
    return qpu_asm_fail(b->as, "a small immediate needs the read port of file B, which is taken");
  RETURN_IF_FAILED(set_signal(b, QPU_SIG_SMALL_IMMEDIATE));
  b->b_taken = 1;
  b->inst.raddr_b = (uint8_t)code;
  return STATUS_OK;
}

static status_t allocate_fixed(struct builder *b, const struct source *source)
{
  const struct qpu_value *value = source->value;
  uint32_t bits;
  if (qpu_value_is_constant(value)) {
    RETURN_IF_FAILED(qpu_value_bits(b->as, value, &bits));
    return use_small(b, source, bits);
  }
  if (value->reg.accumulator >= 0) {
    *source->mux = (uint8_t)value->reg.accumulator;
    return STATUS_OK;
  }
  if (!value->reg.read_files) return qpu_asm_fail(b->as, "'%s' cannot be read", value->reg.name);
  return value->reg.read_files == QPU_FILE_AB ? STATUS_OK : use_port(b, source, value->reg.read_files);
}

/* Allocates a register that can be read through both files to whichever port is free. */
static status_t allocate_open(struct builder *b, const struct source *source)
{
  uint8_t address = source->value->reg.read_addr;
  int small = b->inst.sig == QPU_SIG_SMALL_IMMEDIATE;
  if (b->b_taken && !small && b->inst.raddr_b == address) return use_port(b, source, QPU_FILE_B);
  if (!b->a_taken || b->inst.raddr_a == address || b->b_taken) return use_port(b, source, QPU_FILE_A);
  return use_port(b, source, QPU_FILE_B);
}

static status_t allocate_ports(struct builder *b)
{
  for (int i = 0; i < b->n_sources; i++) RETURN_IF_FAILED(allocate_fixed(b, &b->sources[i]));
  for (int i = 0; i < b->n_sources; i++) {
    const struct qpu_value *value = b->sources[i].value;
    if (value->type == QPU_VALUE_REGISTER && value->reg.accumulator < 0 &&
        value->reg.read_files == QPU_FILE_AB)
      RETURN_IF_FAILED(allocate_open(b, &b->sources[i]));
  }
  return STATUS_OK;
}

static status_t set_target(struct builder *b, const struct qpu_value *target, uint8_t *address, int *files)
{
  *files = QPU_FILE_AB;
  if (!target) return STATUS_OK;
  if (target->type != QPU_VALUE_REGISTER || target->rotate)
    return qpu_asm_fail(b->as, "the first operand must be the register to write to");
  if (!target->reg.write_files) return qpu_asm_fail(b->as, "'%s' cannot be written", target->reg.name);
  *files = target->reg.write_files;
  *address = target->reg.write_addr;
  return STATUS_OK;
}

/* Sets the targets and the write-swap bit. Without the bit, the add ALU writes to file A and the
 * mul ALU to file B. */
static status_t set_targets(struct builder *b, const struct qpu_value *add, const struct qpu_value *mul)
{
  int add_files, mul_files;
  RETURN_IF_FAILED(set_target(b, add, &b->inst.waddr_add, &add_files));
  RETURN_IF_FAILED(set_target(b, mul, &b->inst.waddr_mul, &mul_files));
  b->inst.ws = !((add_files & QPU_FILE_A) && (mul_files & QPU_FILE_B));
  if (b->inst.ws && !((add_files & QPU_FILE_B) && (mul_files & QPU_FILE_A)))
    return qpu_asm_fail(b->as, "an instruction writes one register of each file only");
  return STATUS_OK;
}

static int is_mov(const struct operation *operation)
{
  return strcmp(operation->name, "mov") == 0;
}

static int moves_constant(const struct operation *operation)
{
  return is_mov(operation) && operation->n_args == 2 && qpu_value_is_constant(&operation->args[1]);
}

static status_t encode_place(struct builder *b, const struct operation *operation, int slot)
{
  if (b->slots[slot])
    return qpu_asm_fail(b->as, "'%s' and '%s' both need the %s ALU", b->slots[slot]->name, operation->name,
                        alus[slot].name);
  b->slots[slot] = operation;
  return STATUS_OK;
}

/* Places operations that only one ALU supports first, and the others in the remaining slots, add
 * before mul. */
static status_t place_all(struct builder *b, const struct operation *operations, int n)
{
  const struct operation *flexible[MAX_OPERATIONS];
  int n_flexible = 0;
  for (int i = 0; i < n; i++) {
    const struct operation *operation = &operations[i];
    int signal = encode_code(qpu_signal_names, 16, operation->name), moves = is_mov(operation), rotates = 0;
    int add = moves || encode_code(qpu_add_ops, 32, operation->name) >= 0,
        mul = moves || encode_code(qpu_mul_ops, 8, operation->name) >= 0;
    for (int k = 0; k < operation->n_args; k++) rotates |= operation->args[k].rotate;
    if (rotates && mul) add = 0;
    if (signal >= 0)
      RETURN_IF_FAILED(set_signal(b, signal));
    else if (add && mul)
      flexible[n_flexible++] = operation;
    else if (add || mul)
      RETURN_IF_FAILED(encode_place(b, operation, add ? SLOT_ADD : SLOT_MUL));
    else
      return qpu_asm_fail(b->as, "'%s' is no operation, signal or macro", operation->name);
  }
  for (int i = 0; i < n_flexible; i++)
    RETURN_IF_FAILED(encode_place(b, flexible[i], b->slots[SLOT_ADD] ? SLOT_MUL : SLOT_ADD));
  return STATUS_OK;
}

static status_t set_sources(struct builder *b, int slot)
{
  const struct operation *operation = b->slots[slot];
  struct qpu_inst *i = &b->inst;
  uint8_t *mux_a = slot == SLOT_ADD ? &i->add_a : &i->mul_a,
          *mux_b = slot == SLOT_ADD ? &i->add_b : &i->mul_b;
  int code =
      is_mov(operation) ? alus[slot].move : encode_code(alus[slot].ops, alus[slot].n_ops, operation->name);
  if (code <= 0) return operation->n_args ? qpu_asm_fail(b->as, "'nop' takes no operands") : STATUS_OK;
  const int n_sources = is_mov(operation) ? 1 : 2;
  if (operation->n_args != 1 + n_sources)
    return qpu_asm_fail(b->as, "'%s' takes %d operands", operation->name, 1 + n_sources);
  *(slot == SLOT_ADD ? &i->op_add : &i->op_mul) = (uint8_t)code;
  if (moves_constant(operation)) return STATUS_OK;
  RETURN_IF_FAILED(add_source(b, &operation->args[1], mux_a, slot));
  return add_source(b, &operation->args[n_sources], mux_b, slot);
}

/* Moves a constant as a small immediate. If the word has no space for one, a constant of 0 is
 * computed by an operation that returns 0 for equal operands. */
static status_t move_constant(struct builder *b, int slot)
{
  struct qpu_inst *i = &b->inst;
  uint32_t bits;
  uint8_t *mux_a = slot == SLOT_ADD ? &i->add_a : &i->mul_a,
          *mux_b = slot == SLOT_ADD ? &i->add_b : &i->mul_b;
  const struct source source = {NULL, mux_a};
  RETURN_IF_FAILED(qpu_value_bits(b->as, &b->slots[slot]->args[1], &bits));
  const int same = i->sig == QPU_SIG_SMALL_IMMEDIATE && qpu_small_value(i->raddr_b) == bits;
  if (bits == 0 && !same && (b->b_taken || i->sig != QPU_SIG_NONE)) {
    *(slot == SLOT_ADD ? &i->op_add : &i->op_mul) = (uint8_t)alus[slot].clear;
    *mux_a = *mux_b = 0;
    return STATUS_OK;
  }
  RETURN_IF_FAILED(use_small(b, &source, bits));
  *mux_b = *mux_a;
  return STATUS_OK;
}

/* Sets conditions and flags. An operation with neither target nor flags never writes, as in
 * Broadcom's assembler. */
static status_t set_modes(struct builder *b)
{
  for (int slot = 0; slot < N_SLOTS; slot++) {
    const struct operation *operation = b->slots[slot];
    if (!operation) continue;
    const int address = slot == SLOT_ADD ? b->inst.waddr_add : b->inst.waddr_mul;
    const int idle = address == QPU_W_NOP && !operation->setf && operation->cond == QPU_COND_ALWAYS;
    if (operation->has_branch) return qpu_asm_fail(b->as, "a branch condition belongs to brr");
    *(slot == SLOT_ADD ? &b->inst.cond_add : &b->inst.cond_mul) =
        idle ? QPU_COND_NEVER : (uint8_t)operation->cond;
    if (operation->setf && slot == SLOT_MUL && b->inst.op_add != QPU_A_NOP)
      return qpu_asm_fail(b->as, "flags come from the add ALU whenever it does something: put .setf there");
    b->inst.sf |= (uint8_t)operation->setf;
  }
  return STATUS_OK;
}

static const struct qpu_value *target_of(const struct operation *operation)
{
  return operation && operation->n_args ? &operation->args[0] : NULL;
}

static status_t encode_alu(struct builder *b, const struct operation *operations, int n)
{
  RETURN_IF_FAILED(place_all(b, operations, n));
  for (int slot = 0; slot < N_SLOTS; slot++)
    if (b->slots[slot]) RETURN_IF_FAILED(set_sources(b, slot));
  RETURN_IF_FAILED(allocate_ports(b));
  for (int slot = N_SLOTS - 1; slot >= 0; slot--)
    if (b->slots[slot] && moves_constant(b->slots[slot])) RETURN_IF_FAILED(move_constant(b, slot));
  RETURN_IF_FAILED(set_targets(b, target_of(b->slots[SLOT_ADD]), target_of(b->slots[SLOT_MUL])));
  return set_modes(b);
}

/* Returns whether the line is ldi, sacq or srel, or moves a constant that is no small immediate. */
static int loads(const struct operation *operations, int n)
{
  uint32_t bits;
  const struct operation *first = &operations[0];
  if (strcmp(first->name, "ldi") == 0 || strcmp(first->name, "sacq") == 0 || strcmp(first->name, "srel") == 0)
    return 1;
  if (n != 1 || !moves_constant(first) || first->args[1].type == QPU_VALUE_FLOAT) return 0;
  bits = (uint32_t)first->args[1].integer;
  return qpu_small_code(bits) < 0;
}

static status_t encode_load(struct builder *b, const struct operation *operation, int n)
{
  if (n != 1 || operation->n_args != 2)
    return qpu_asm_fail(b->as, "'%s' fills the instruction: a register and a constant", operation->name);
  b->inst.sig = QPU_SIG_LOAD_IMMEDIATE;
  RETURN_IF_FAILED(qpu_value_bits(b->as, &operation->args[1], &b->inst.imm));
  if (operation->name[0] == 's') {
    b->inst.unpack = QPU_LOAD_SEMAPHORE;
    b->inst.imm = (b->inst.imm & 15) | (operation->name[1] == 'a' ? 16 : 0);
  }
  b->slots[SLOT_ADD] = operation;
  RETURN_IF_FAILED(set_targets(b, &operation->args[0], NULL));
  return set_modes(b);
}

/* Encodes a branch. Its first operand is the unused target, its second a label or a distance. */
static status_t encode_branch(struct builder *b, const struct operation *operation)
{
  const struct qpu_value *to = &operation->args[0], *where = &operation->args[1];
  b->inst = (struct qpu_inst){.sig = QPU_SIG_BRANCH,
                              .waddr_add = QPU_W_NOP,
                              .waddr_mul = QPU_W_NOP,
                              .cond_br = (uint8_t)operation->branch,
                              .rel = 1};
  if (operation->n_args != 2 || to->type != QPU_VALUE_REGISTER || to->reg.write_addr != QPU_W_NOP)
    return qpu_asm_fail(b->as, "'brr' takes '-' and a target");
  if (operation->cond != QPU_COND_ALWAYS || operation->setf)
    return qpu_asm_fail(b->as, "a branch has conditions of its own: .allz, .anynz, …");
  RETURN_IF_FAILED(qpu_value_bits(b->as, where, &b->inst.imm));
  if (where->type == QPU_VALUE_LABEL)
    b->inst.imm -= (uint32_t)(b->as->program.n_words * QPU_INSTRUCTION_BYTES) + 4 * QPU_INSTRUCTION_BYTES;
  return STATUS_OK;
}

status_t qpu_encode_line(struct qpu_asm *as, const char *text, uint64_t *word)
{
  struct operation operations[MAX_OPERATIONS];
  struct builder b = {.as = as, .inst = qpu_decode(QPU_NOP_WORD)};
  int n;
  RETURN_IF_FAILED(parse_line(as, text, operations, &n));
  if (n == 1 && strcmp(operations[0].name, "brr") == 0)
    RETURN_IF_FAILED(encode_branch(&b, &operations[0]));
  else if (loads(operations, n))
    RETURN_IF_FAILED(encode_load(&b, &operations[0], n));
  else
    RETURN_IF_FAILED(encode_alu(&b, operations, n));
  *word = qpu_encode(&b.inst);
  return STATUS_OK;
}
