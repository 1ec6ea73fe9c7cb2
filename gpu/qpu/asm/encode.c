/* SPDX-License-Identifier: MIT */
/* Which ALU does an operation, and what it reads and writes. */
#include "gpu/qpu/asm/encode.h"

#include <string.h>

#include "gpu/qpu/asm/builder.h"
#include "gpu/qpu/asm/value.h"
#include "gpu/qpu/isa/alu.h"

static const struct alu {
  const char *name;
  const struct qpu_op *ops;
  const qpu_alu_function *functions;
  int n_ops, move, clear; /* operations that make x and 0 of x and x */
} alus[QPU_N_SLOTS] = {[QPU_SLOT_ADD] = {"add", qpu_add_ops, qpu_alu_add, 32, QPU_A_OR, QPU_A_XOR},
                       [QPU_SLOT_MUL] = {"mul", qpu_mul_ops, qpu_alu_mul, 8, QPU_M_V8MIN, QPU_M_V8SUBS}};

/* What of the word is one ALU's. */
struct fields {
  uint8_t *op, *mux_a, *mux_b, *target, *cond;
};

static struct fields fields_of(struct qpu_inst *i, int slot)
{
  if (slot == QPU_SLOT_ADD)
    return (struct fields){&i->op_add, &i->add_a, &i->add_b, &i->waddr_add, &i->cond_add};
  return (struct fields){&i->op_mul, &i->mul_a, &i->mul_b, &i->waddr_mul, &i->cond_mul};
}

static int is_mov(const struct qpu_operation *operation)
{
  static const char *const moves[] = {"mov", "read", "amov", "mmov"};
  return qpu_code_of(moves, 4, operation->name) >= 0;
}

/* `read x` is `mov -, x`. */
static const struct qpu_value *mov_source(const struct qpu_operation *operation)
{
  return &operation->args[operation->n_args - 1];
}

static status_t place(struct qpu_builder *b, const struct qpu_operation *operation, int slot)
{
  if (b->slots[slot])
    return qpu_asm_fail(b->as, "'%s' and '%s' both need the %s ALU", b->slots[slot]->name, operation->name,
                        alus[slot].name);
  b->slots[slot] = operation;
  return STATUS_OK;
}

/* "mv8adds" is v8adds of the mul ALU, "amov" a move of the add ALU: the slot that a name asks for,
 * −1 for none. */
static int asked_slot(const char *name)
{
  int slot = name[0] == 'a' ? QPU_SLOT_ADD : name[0] == 'm' ? QPU_SLOT_MUL : -1;
  if (slot < 0 || strcmp(name + 1, "nop") == 0) return -1;
  for (int s = 0; s < QPU_N_SLOTS; s++)
    if (qpu_op_code(alus[s].ops, alus[s].n_ops, name) >= 0) return -1;
  int known = strcmp(name + 1, "mov") == 0 || qpu_op_code(alus[slot].ops, alus[slot].n_ops, name + 1) >= 0;
  return known ? slot : -1;
}

static int op_code(const struct qpu_operation *operation, int slot)
{
  const char *name = operation->name + (asked_slot(operation->name) >= 0);
  return qpu_op_code(alus[slot].ops, alus[slot].n_ops, name);
}

/* Operations that only one ALU can do go first; the others take what is left, add before mul. */
static status_t place_all(struct qpu_builder *b, const struct qpu_operation *operations, int n, int swap)
{
  const struct qpu_operation *flexible[QPU_MAX_OPERATIONS];
  int n_flexible = 0;
  for (int i = 0; i < n; i++) {
    const struct qpu_operation *operation = &operations[i];
    int signal = qpu_code_of(qpu_signal_names, 16, operation->name), moves = is_mov(operation);
    int rotates = 0;
    for (int k = 0; k < operation->n_args; k++) rotates |= operation->args[k].rotate;
    int add = moves || strcmp(operation->name, "anop") == 0 || op_code(operation, QPU_SLOT_ADD) >= 0;
    int mul = moves || strcmp(operation->name, "mnop") == 0 || op_code(operation, QPU_SLOT_MUL) >= 0;
    int asked = asked_slot(operation->name);
    if (rotates && mul) add = 0;
    if (asked >= 0) {
      add = asked == QPU_SLOT_ADD;
      mul = !add;
    }
    if (signal >= 0)
      RETURN_IF_FAILED(qpu_builder_signal(b, signal));
    else if (add && mul)
      flexible[n_flexible++] = operation;
    else if (add || mul)
      RETURN_IF_FAILED(place(b, operation, add ? QPU_SLOT_ADD : QPU_SLOT_MUL));
    else
      return qpu_asm_fail(b->as, "'%s' is no operation, signal or macro", operation->name);
  }
  for (int i = 0; i < n_flexible; i++)
    RETURN_IF_FAILED(place(b, flexible[swap && n_flexible == 2 ? 1 - i : i],
                           b->slots[QPU_SLOT_ADD] ? QPU_SLOT_MUL : QPU_SLOT_ADD));
  return STATUS_OK;
}

/* Whether an operation may make a constant from \a code: floats of float codes alone, and where
 * nothing is packed, which would depend on the operation. */
static int makes(const struct qpu_op *op, int code, int floats, int packs)
{
  int is_float = code >= QPU_SMALL_FLOAT && code < QPU_SMALL_ROTATE_R5;
  if (!op->name || (op->float_in || op->float_out) != floats) return 0;
  return !(op->float_in && !is_float) && !(op->float_out && packs);
}

/* An operation whose result from two equal small immediates is the constant: 64 is mul24 of 8 and
 * 8, and 128 is ftoi of 128.0. */
static int find_trick(const struct qpu_builder *b, int slot, uint32_t bits, int *op, int *code)
{
  int fixed = b->inst.sig == QPU_SIG_SMALL_IMMEDIATE; /* a rotation's code is a constant too */
  int free_to_choose = !b->b_taken && b->inst.sig == QPU_SIG_NONE;
  const struct alu *alu = &alus[slot];
  const struct qpu_operation *operation = b->slots[slot];
  int packs = operation->args[0].suffix[0] || operation->pack[0];
  if (!fixed && !free_to_choose) return 0;
  int first = fixed ? b->inst.raddr_b : 0, end = fixed ? first + 1 : QPU_SMALL_ROTATE_R5;
  for (int floats = 0; floats < 2; floats++)
    for (*code = first; *code < end; ++*code) {
      uint32_t small = qpu_small_value(*code);
      for (*op = 1; *op < alu->n_ops; ++*op)
        if (makes(&alu->ops[*op], *code, floats, packs) &&
            qpu_alu_lane(alu->functions[*op], small, small) == bits)
          return 1;
    }
  return 0;
}

static void set_op(struct qpu_builder *b, int slot, int op, uint8_t mux)
{
  struct fields fields = fields_of(&b->inst, slot);
  *fields.op = (uint8_t)op;
  *fields.mux_a = *fields.mux_b = mux;
}

static status_t move_constant(struct qpu_builder *b, int slot)
{
  uint32_t bits;
  int op, code;
  RETURN_IF_FAILED(qpu_value_bits(b->as, mov_source(b->slots[slot]), &bits));
  int same = b->inst.sig == QPU_SIG_SMALL_IMMEDIATE && qpu_small_value(b->inst.raddr_b) == bits;
  int fits = qpu_small_code(bits) >= 0 && !b->b_taken && b->inst.sig == QPU_SIG_NONE;
  if (same || fits) {
    struct qpu_source_operand source = {NULL, fields_of(&b->inst, slot).mux_a, slot};
    RETURN_IF_FAILED(qpu_builder_small(b, &source, bits));
    set_op(b, slot, alus[slot].move, QPU_MUX_B);
    return STATUS_OK;
  }
  if (bits == 0) {
    set_op(b, slot, alus[slot].clear, 0);
    return STATUS_OK;
  }
  if (!find_trick(b, slot, bits, &op, &code))
    return qpu_asm_fail(
        b->as, "0x%x does not fit beside the other operation: load it in an instruction of its own", bits);
  if (b->inst.sig != QPU_SIG_SMALL_IMMEDIATE)
    RETURN_IF_FAILED(qpu_builder_signal(b, QPU_SIG_SMALL_IMMEDIATE));
  b->inst.raddr_b = (uint8_t)code;
  b->b_taken = 1;
  set_op(b, slot, op, QPU_MUX_B);
  return STATUS_OK;
}

static int moves_constant(const struct qpu_operation *operation)
{
  return operation && is_mov(operation) && operation->n_args > 0 &&
         qpu_value_is_constant(mov_source(operation));
}

/* 16 is no small immediate and -16 is one: qpu_encode_line made it so, and the operation follows.
 * */
static int negated(const struct qpu_operation *operation, int slot, int code)
{
  if (slot != QPU_SLOT_ADD || !operation->negates) return code;
  return code == QPU_A_ADD ? QPU_A_SUB : QPU_A_ADD;
}

static status_t set_sources(struct qpu_builder *b, int slot)
{
  struct qpu_operation const *operation = b->slots[slot];
  const struct fields fields = fields_of(&b->inst, slot);
  if (is_mov(operation)) {
    int n_targets = operation->name[0] == 'r' ? 0 : 1;
    if (operation->n_args != 1 + n_targets)
      return qpu_asm_fail(b->as, "'%s' takes %d operands", operation->name, 1 + n_targets);
    if (moves_constant(operation)) return STATUS_OK;
    set_op(b, slot, alus[slot].move, 0);
    RETURN_IF_FAILED(qpu_builder_source(b, mov_source(operation), fields.mux_a, slot));
    return qpu_builder_source(b, mov_source(operation), fields.mux_b, slot);
  }
  int code = op_code(operation, slot);
  if (code <= 0) return operation->n_args ? qpu_asm_fail(b->as, "'nop' takes no operands") : STATUS_OK;
  const struct qpu_op *op = &alus[slot].ops[code];
  if (operation->n_args != 1 + op->n_sources)
    return qpu_asm_fail(b->as, "'%s' takes %d operands", op->name, 1 + op->n_sources);
  set_op(b, slot, negated(operation, slot, code), 0);
  RETURN_IF_FAILED(qpu_builder_source(b, &operation->args[1], fields.mux_a, slot));
  return qpu_builder_source(b, &operation->args[op->n_sources], fields.mux_b, slot);
}

static const struct qpu_value *target_of(const struct qpu_operation *operation)
{
  if (!operation || operation->name[0] == '\0' || strcmp(operation->name, "read") == 0) return NULL;
  return operation->n_args > 0 ? &operation->args[0] : NULL;
}

/* Without target and flags there is nothing to write: never, as Broadcom's assembler has it. */
static status_t set_modes(struct qpu_builder *b)
{
  for (int slot = 0; slot < QPU_N_SLOTS; slot++) {
    const struct qpu_operation *operation = b->slots[slot];
    const struct fields fields = fields_of(&b->inst, slot);
    if (!operation) continue;
    if (operation->has_branch) return qpu_asm_fail(b->as, "a branch condition belongs to bra or brr");
    int idle = *fields.target == QPU_W_NOP && !operation->setf && !operation->has_cond;
    *fields.cond = idle ? QPU_COND_NEVER : (uint8_t)operation->cond;
    if (operation->setf && slot == QPU_SLOT_MUL && b->inst.op_add != QPU_A_NOP)
      return qpu_asm_fail(b->as, "flags come from the add ALU whenever it does something: put .setf there");
    b->inst.sf |= (uint8_t)operation->setf;
  }
  if (b->needs_pm > 0) b->inst.pm = 1;
  return STATUS_OK;
}

static status_t encode_alu(struct qpu_builder *b, const struct qpu_operation *operations, int n, int swap)
{
  RETURN_IF_FAILED(place_all(b, operations, n, swap));
  for (int slot = 0; slot < QPU_N_SLOTS; slot++)
    if (b->slots[slot]) RETURN_IF_FAILED(set_sources(b, slot));
  RETURN_IF_FAILED(qpu_builder_ports(b));
  int add = moves_constant(b->slots[QPU_SLOT_ADD]), mul = moves_constant(b->slots[QPU_SLOT_MUL]);
  uint32_t bits = 0;
  if (mul) RETURN_IF_FAILED(qpu_value_bits(b->as, mov_source(b->slots[QPU_SLOT_MUL]), &bits));
  /* the other may then be made from the same immediate */
  int mul_first = mul && qpu_small_code(bits) >= 0;
  if (mul_first) RETURN_IF_FAILED(move_constant(b, QPU_SLOT_MUL));
  if (add) RETURN_IF_FAILED(move_constant(b, QPU_SLOT_ADD));
  if (mul && !mul_first) RETURN_IF_FAILED(move_constant(b, QPU_SLOT_MUL));
  RETURN_IF_FAILED(
      qpu_builder_targets(b, target_of(b->slots[QPU_SLOT_ADD]), target_of(b->slots[QPU_SLOT_MUL])));
  return set_modes(b);
}

static int is_load(const struct qpu_operation *operation)
{
  return strcmp(operation->name, "ldi") == 0;
}

static int is_semaphore(const struct qpu_operation *operation)
{
  return strcmp(operation->name, "sacq") == 0 || strcmp(operation->name, "srel") == 0;
}

static status_t load_value(struct qpu_builder *b, const struct qpu_operation *operation,
                           const struct qpu_value *value)
{
  b->inst.sig = QPU_SIG_LOAD_IMMEDIATE;
  if (is_semaphore(operation) || value->type == QPU_VALUE_SEMAPHORE) {
    int64_t number = value->integer;
    if (value->type != QPU_VALUE_SEMAPHORE) {
      RETURN_IF_FAILED(qpu_value_integer(b->as, value, &number));
      number = (number & ~INT64_C(16)) | (operation->name[1] == 'a' ? 16 : 0);
    }
    b->inst.unpack = QPU_LOAD_SEMAPHORE;
    b->inst.imm = (uint32_t)number;
    return STATUS_OK;
  }
  if (value->type == QPU_VALUE_ELEMENTS) {
    b->inst.unpack = value->is_signed ? QPU_LOAD_SIGNED : QPU_LOAD_UNSIGNED;
    b->inst.imm = value->elements;
    return STATUS_OK;
  }
  return qpu_value_bits(b->as, value, &b->inst.imm);
}

/* ldi d, c · ldi d1, d2, c · ldi d1, c; ldi d2, c · nop; ldi d, c (from the mul ALU's output). */
static status_t encode_load(struct qpu_builder *b, const struct qpu_operation *operations, int n)
{
  const struct qpu_value *targets[QPU_N_SLOTS] = {NULL, NULL};
  const struct qpu_operation *first = &operations[0];
  int mul_only = n == 2 && strcmp(first->name, "nop") == 0;
  if (mul_only) first = &operations[1];
  if (n > 2 || first->n_args < 2 || first->n_args > 3)
    return qpu_asm_fail(b->as, "a load immediate fills the instruction: register, or two, and a constant");
  const struct qpu_value *value = &first->args[first->n_args - 1];
  b->slots[mul_only ? QPU_SLOT_MUL : QPU_SLOT_ADD] = first;
  targets[mul_only ? QPU_SLOT_MUL : QPU_SLOT_ADD] = &first->args[0];
  if (first->n_args == 3) {
    if (mul_only || n == 2) return qpu_asm_fail(b->as, "a load immediate has two targets at most");
    b->slots[QPU_SLOT_MUL] = first;
    targets[QPU_SLOT_MUL] = &first->args[1];
  } else if (n == 2 && !mul_only) {
    const struct qpu_operation *second = &operations[1];
    if (second->n_args != 2) return qpu_asm_fail(b->as, "a load immediate fills the instruction");
    struct qpu_builder other = *b;
    RETURN_IF_FAILED(load_value(&other, second, &second->args[1]));
    RETURN_IF_FAILED(load_value(b, first, value));
    if (other.inst.imm != b->inst.imm || other.inst.unpack != b->inst.unpack)
      return qpu_asm_fail(b->as, "one load immediate has one constant");
    b->slots[QPU_SLOT_MUL] = second;
    targets[QPU_SLOT_MUL] = &second->args[0];
  }
  RETURN_IF_FAILED(load_value(b, first, value));
  RETURN_IF_FAILED(qpu_builder_targets(b, targets[QPU_SLOT_ADD], targets[QPU_SLOT_MUL]));
  return set_modes(b);
}

static status_t branch_operand(struct qpu_builder *b, const struct qpu_value *value, int relative)
{
  if (value->type == QPU_VALUE_REGISTER && value->reg.read_addr == QPU_R_NOP) return STATUS_OK;
  if (value->type == QPU_VALUE_REGISTER) {
    if (b->inst.reg) return qpu_asm_fail(b->as, "a branch has one register operand");
    if (!(value->reg.read_files & QPU_FILE_A) || value->reg.read_addr > 31 || value->reg.accumulator >= 0)
      return qpu_asm_fail(b->as, "a branch can add one of ra0 to ra31 only");
    b->inst.reg = 1;
    b->inst.raddr_a = value->reg.read_addr;
    return STATUS_OK;
  }
  uint32_t bits;
  RETURN_IF_FAILED(qpu_value_bits(b->as, value, &bits));
  if (value->type == QPU_VALUE_LABEL) {
    if (!relative)
      return qpu_asm_fail(b->as, "a label's absolute address is not known before it is loaded: use brr");
    bits -= (uint32_t)(b->as->program.n_words * QPU_INSTRUCTION_BYTES) + 4 * QPU_INSTRUCTION_BYTES;
  }
  b->inst.imm += bits;
  return STATUS_OK;
}

/* Of target, second target, what is added: a register that a branch cannot add is a target, and of
 * four operands the second always is. */
static int is_second_target(const struct qpu_operation *operation)
{
  const struct qpu_value *value = &operation->args[1];
  int adds = (value->reg.read_files & QPU_FILE_A) && value->reg.read_addr < 32 && value->reg.accumulator < 0;
  if (value->type != QPU_VALUE_REGISTER) return 0;
  return operation->n_args == 4 || (operation->n_args == 3 && !adds);
}

static status_t encode_branch(struct qpu_builder *b, const struct qpu_operation *operation)
{
  int relative = operation->name[2] == 'r';
  b->inst = (struct qpu_inst){.sig = QPU_SIG_BRANCH, .waddr_add = QPU_W_NOP, .waddr_mul = QPU_W_NOP};
  b->inst.cond_br = (uint8_t)operation->branch;
  b->inst.rel = (uint8_t)relative;
  b->slots[QPU_SLOT_ADD] = operation;
  if (operation->n_args < 1 || operation->n_args > 4)
    return qpu_asm_fail(b->as, "'%s' takes a target", operation->name);
  if (operation->cond != QPU_COND_ALWAYS || operation->setf)
    return qpu_asm_fail(b->as, "a branch has conditions of its own: .allz, .anynz, …");
  int first = operation->n_args > 1 && operation->args[0].type == QPU_VALUE_REGISTER;
  int both = first && is_second_target(operation);
  b->slots[QPU_SLOT_MUL] = operation;
  if (first) RETURN_IF_FAILED(qpu_builder_targets(b, &operation->args[0], both ? &operation->args[1] : NULL));
  if (b->inst.pack || operation->args[0].suffix[0]) return qpu_asm_fail(b->as, "a branch cannot pack");
  for (int i = first + both; i < operation->n_args; i++)
    RETURN_IF_FAILED(branch_operand(b, &operation->args[i], relative));
  return STATUS_OK;
}

/* Whether the line is one load immediate: ldi and its like, or a mov that no ALU operation can
 * do. */
static status_t loads(struct qpu_builder *b, const struct qpu_operation *operations, int n, int *answer)
{
  uint32_t bits[2] = {0, 0};
  *answer = 0;
  for (int i = 0; i < n; i++) {
    const struct qpu_operation *operation = &operations[i];
    if (is_load(operation) || is_semaphore(operation)) *answer = 1;
    if (!is_mov(operation) || operation->n_args != 2) continue;
    enum qpu_value_type type = mov_source(operation)->type;
    if (type == QPU_VALUE_ELEMENTS || type == QPU_VALUE_SEMAPHORE) *answer = 1;
  }
  if (*answer || n > 2 || n == 0 || !moves_constant(&operations[0])) return STATUS_OK;
  if (n == 2 && !moves_constant(&operations[1])) return STATUS_OK;
  for (int i = 0; i < n; i++) RETURN_IF_FAILED(qpu_value_bits(b->as, mov_source(&operations[i]), &bits[i]));
  *answer = qpu_small_code(bits[0]) < 0 && (n == 1 || bits[0] == bits[1]) && operations[0].n_args == 2;
  return STATUS_OK;
}

/* An unpack mode behind the opcode goes to the operands that can have it: with f those of float
 * operations and r4, with i those of file A. */
static status_t spread_unpack(struct qpu_asm *as, struct qpu_operation *operation)
{
  int taken = 0;
  const char *mode = operation->unpack;
  int add = op_code(operation, QPU_SLOT_ADD), mul = op_code(operation, QPU_SLOT_MUL);
  int as_float = (add > 0 && qpu_add_ops[add].float_in) || (mul > 0 && qpu_mul_ops[mul].float_in);
  char form = mode[0] ? mode[strlen(mode) - 1] : '\0';
  for (int i = operation->name[0] == 'r' ? 0 : 1; mode[0] && i < operation->n_args; i++) {
    struct qpu_value *value = &operation->args[i];
    int r4 = value->reg.accumulator == QPU_MUX_R4;
    int a = value->reg.accumulator < 0 && (value->reg.read_files & QPU_FILE_A);
    if (value->type != QPU_VALUE_REGISTER || value->suffix[0]) continue;
    int takes = (r4 && form != 'i') || (a && (form != 'f' || as_float));
    if (takes) strcpy(value->suffix, mode);
    taken |= takes;
  }
  return mode[0] && !taken ? qpu_asm_fail(as, "no operand can be unpacked as '.unpack%s' says", mode)
                           : STATUS_OK;
}

static void negate_sixteen(struct qpu_operation *operation)
{
  struct qpu_value *last = &operation->args[2], first = operation->args[1];
  int add = strcmp(operation->name, "add") == 0, sub = strcmp(operation->name, "sub") == 0;
  if ((!add && !sub) || operation->n_args != 3) return;
  if (add && first.type == QPU_VALUE_INT && first.integer == 16) {
    operation->args[1] = *last;
    *last = first;
  }
  if (last->type != QPU_VALUE_INT || last->integer != 16) return;
  last->integer = -16;
  operation->negates = 1;
}

/* Small immediates end at 15, but only the low five bits of a count are looked at. */
static void turn_count(struct qpu_operation *operation)
{
  static const char *const shifts[] = {"shl", "shr", "asr", "ror"};
  struct qpu_value *count = &operation->args[2];
  if (operation->n_args != 3 || count->type != QPU_VALUE_INT) return;
  for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++)
    if (strcmp(operation->name, shifts[i]) == 0 && count->integer >= 16 && count->integer < 32)
      count->integer -= 32;
}

/* Two moves may fit the ALUs one way around only: the first is tried in silence. */
static status_t encode_best(struct qpu_builder *b, const struct qpu_operation *operations, int n)
{
  const struct qpu_builder fresh = *b;
  int quiet = b->as->quiet;
  b->as->quiet = 1;
  for (int swap = 0; swap < 2; swap++) {
    *b = fresh;
    if (encode_alu(b, operations, n, swap) != STATUS_OK) continue;
    b->as->quiet = quiet;
    return STATUS_OK;
  }
  b->as->quiet = quiet;
  *b = fresh;
  return encode_alu(b, operations, n, 0);
}

status_t qpu_encode_operations(struct qpu_asm *as, const struct qpu_operation *written, int n, uint64_t *word)
{
  struct qpu_operation operations[QPU_MAX_OPERATIONS];
  struct qpu_builder b = {.as = as, .inst = qpu_decode(QPU_NOP_WORD), .needs_pm = -1};
  int is_a_load = 0;
  memcpy(operations, written, (size_t)n * sizeof *operations);
  if (n == 1 && (strcmp(operations[0].name, "bra") == 0 || strcmp(operations[0].name, "brr") == 0)) {
    RETURN_IF_FAILED(encode_branch(&b, &operations[0]));
  } else {
    for (int i = 0; i < n; i++) {
      RETURN_IF_FAILED(spread_unpack(as, &operations[i]));
      negate_sixteen(&operations[i]);
      turn_count(&operations[i]);
    }
    RETURN_IF_FAILED(loads(&b, operations, n, &is_a_load));
    if (is_a_load)
      RETURN_IF_FAILED(encode_load(&b, operations, n));
    else
      RETURN_IF_FAILED(encode_best(&b, operations, n));
  }
  *word = qpu_encode(&b.inst);
  return STATUS_OK;
}
