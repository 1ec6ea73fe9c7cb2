/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/builder.h"

#include <string.h>

#include "gpu/qpu/asm/value.h"

status_t qpu_builder_signal(struct qpu_builder *b, int code)
{
  if (b->inst.sig != QPU_SIG_NONE) return qpu_asm_fail(b->as, "an instruction has room for one signal only");
  b->inst.sig = (uint8_t)code;
  return STATUS_OK;
}

static status_t want_pm(struct qpu_builder *b, int pm)
{
  if (b->needs_pm >= 0 && b->needs_pm != pm)
    return qpu_asm_fail(b->as,
                        "these pack and unpack modes exclude each other: one bit chooses between those of "
                        "register file A and those of r4 and the mul ALU");
  b->needs_pm = pm;
  return STATUS_OK;
}

/* Drops the i or f that vc4asm's mode names may end with; returns that letter or 0. */
static char mode_name(const char *suffix, char name[12])
{
  size_t n = strlen(suffix);
  strcpy(name, suffix);
  char last = n ? suffix[n - 1] : '\0';
  if (last != 'i' && last != 'f') return 0;
  name[n - 1] = '\0';
  return last;
}

/* Floats come out of file A where an operation takes them: a move of the add ALU becomes fmin. */
static status_t take_form(struct qpu_builder *b, char form, int slot)
{
  int add = slot == QPU_SLOT_ADD,
      floats = (add ? qpu_add_ops[b->inst.op_add] : qpu_mul_ops[b->inst.op_mul]).float_in;
  if (!form || floats == (form == 'f')) return STATUS_OK;
  if (floats || !add || b->inst.op_add != QPU_A_OR || strcmp(b->slots[slot]->name, "or") == 0)
    return qpu_asm_fail(b->as, "what is unpacked from file A is %s here: the operation takes %s",
                        floats ? "a float" : "an integer", floats ? "floats" : "integers");
  b->inst.op_add = QPU_A_FMIN;
  return STATUS_OK;
}

static status_t take_unpack(struct qpu_builder *b, const struct qpu_value *value, int slot)
{
  char name[12], form = mode_name(value->suffix, name);
  int code = qpu_code_of(qpu_unpack_names, 8, strcmp(name, "8ddup") == 0 ? "8dr" : name);
  if (code < 0) return qpu_asm_fail(b->as, "'.%s' is no unpack mode", value->suffix);
  if (b->inst.unpack && b->inst.unpack != code)
    return qpu_asm_fail(b->as, "one instruction has one unpack mode");
  if (code == 0) return STATUS_OK;
  int r4 = value->reg.accumulator == QPU_MUX_R4;
  if (!r4 && !(value->reg.read_files & QPU_FILE_A))
    return qpu_asm_fail(b->as, "only register file A and r4 can be unpacked");
  RETURN_IF_FAILED(want_pm(b, r4));
  if (!r4) RETURN_IF_FAILED(take_form(b, form, slot));
  b->inst.unpack = (uint8_t)code;
  if (r4)
    b->unpacks_r4 = 1;
  else
    b->unpacks_a = 1;
  return STATUS_OK;
}

status_t qpu_builder_source(struct qpu_builder *b, const struct qpu_value *value, uint8_t *mux, int slot)
{
  if (value->rotate) {
    if (slot != QPU_SLOT_MUL) return qpu_asm_fail(b->as, "only the mul ALU can rotate a vector");
    int code = value->rotate == QPU_ROTATE_R5 ? QPU_SMALL_ROTATE_R5 : QPU_SMALL_ROTATE_R5 + value->rotate;
    if (b->inst.sig == QPU_SIG_SMALL_IMMEDIATE && b->inst.raddr_b != code)
      return qpu_asm_fail(b->as, "one instruction has one rotation");
    if (b->inst.sig != QPU_SIG_SMALL_IMMEDIATE)
      RETURN_IF_FAILED(qpu_builder_signal(b, QPU_SIG_SMALL_IMMEDIATE));
    b->inst.raddr_b = (uint8_t)code;
    b->b_taken = 1;
  }
  if (value->suffix[0]) RETURN_IF_FAILED(take_unpack(b, value, slot));
  b->sources[b->n_sources++] = (struct qpu_source_operand){value, mux, slot};
  return STATUS_OK;
}

static status_t use_port(struct qpu_builder *b, const struct qpu_source_operand *source, int file)
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

status_t qpu_builder_small(struct qpu_builder *b, const struct qpu_source_operand *source, uint32_t bits)
{
  if (b->inst.sig == QPU_SIG_SMALL_IMMEDIATE && qpu_small_value(b->inst.raddr_b) == bits) {
    *source->mux = QPU_MUX_B;
    return STATUS_OK;
  }
  int code = qpu_small_code(bits);
  if (code < 0) return qpu_asm_fail(b->as, "0x%x is no small immediate (-16 to 15, or 2^-8 to 2^7)", bits);
  if (b->b_taken)
    return qpu_asm_fail(b->as, "a small immediate needs the read port of file B, which is taken");
  RETURN_IF_FAILED(qpu_builder_signal(b, QPU_SIG_SMALL_IMMEDIATE));
  b->b_taken = 1;
  b->inst.raddr_b = (uint8_t)code;
  *source->mux = QPU_MUX_B;
  return STATUS_OK;
}

/* Which files this operand may still be read through: unpacking binds it to file A, and keeps
 * others off it. */
static int open_files(const struct qpu_builder *b, const struct qpu_value *value)
{
  int files = value->reg.read_files;
  if (value->suffix[0]) return files & QPU_FILE_A;
  return b->unpacks_a ? files & QPU_FILE_B : files;
}

static status_t allocate_fixed(struct qpu_builder *b, const struct qpu_source_operand *source)
{
  const struct qpu_value *value = source->value;
  uint32_t bits;
  if (qpu_value_is_constant(value)) {
    RETURN_IF_FAILED(qpu_value_bits(b->as, value, &bits));
    return qpu_builder_small(b, source, bits);
  }
  if (value->type != QPU_VALUE_REGISTER) return qpu_asm_fail(b->as, "this cannot be an operand here");
  if (value->reg.accumulator >= 0) {
    if (value->reg.accumulator == QPU_MUX_R4 && b->unpacks_r4 && !value->suffix[0])
      return qpu_asm_fail(b->as, "every use of r4 in this instruction is unpacked");
    *source->mux = (uint8_t)value->reg.accumulator;
    return STATUS_OK;
  }
  int files = open_files(b, value);
  if (!value->reg.read_files) return qpu_asm_fail(b->as, "'%s' cannot be read", value->reg.name);
  if (!files) return qpu_asm_fail(b->as, "every read of file A in this instruction is unpacked");
  return files == QPU_FILE_AB ? STATUS_OK : use_port(b, source, files);
}

static int is_open(const struct qpu_builder *b, const struct qpu_source_operand *source)
{
  return source->value->type == QPU_VALUE_REGISTER && source->value->reg.accumulator < 0 &&
         open_files(b, source->value) == QPU_FILE_AB;
}

static status_t allocate_open(struct qpu_builder *b, const struct qpu_source_operand *source)
{
  uint8_t address = source->value->reg.read_addr;
  int small = b->inst.sig == QPU_SIG_SMALL_IMMEDIATE;
  if (b->b_taken && !small && b->inst.raddr_b == address) return use_port(b, source, QPU_FILE_B);
  if (!b->a_taken || b->inst.raddr_a == address || b->b_taken) return use_port(b, source, QPU_FILE_A);
  return use_port(b, source, QPU_FILE_B);
}

static status_t set_pack(struct qpu_builder *b, int slot, const char *suffix,
                         const struct qpu_register_name *target)
{
  char name[12];
  char form = mode_name(suffix, name);
  int code = qpu_code_of(qpu_pack_names, 16, name);
  if (code < 0) return qpu_asm_fail(b->as, "'.%s' is no pack mode", suffix);
  int file_a = target->accumulator < 0 && (target->write_files & QPU_FILE_A) && target->write_addr < 32;
  int mul_float = form == 'f' || (form == 0 && (qpu_mul_ops[b->inst.op_mul].float_out || !file_a));
  int bytes = (code & 7) >= 3;
  if (b->inst.pack) return qpu_asm_fail(b->as, "one instruction has one pack mode");
  if (code == 0) return STATUS_OK;
  if (slot == QPU_SLOT_MUL && mul_float && bytes && code >= 8) {
    b->inst.pack = (uint8_t)(code - 8);
    return want_pm(b, 1);
  }
  if (!file_a) return qpu_asm_fail(b->as, "'.%s' packs into ra0 to ra31 only", suffix);
  int halves = (code & 7) == 1 || (code & 7) == 2;
  int floats =
      slot == QPU_SLOT_ADD ? qpu_add_ops[b->inst.op_add].float_out : qpu_mul_ops[b->inst.op_mul].float_out;
  if (halves && form && floats != (form == 'f'))
    return qpu_asm_fail(b->as, "'.%s' does not fit the operation, whose result is %s", suffix,
                        floats ? "a float" : "an integer");
  b->inst.pack = (uint8_t)code;
  return want_pm(b, 0);
}

static status_t set_target(struct qpu_builder *b, int slot, const struct qpu_value *target, int *files)
{
  *files = QPU_FILE_AB;
  if (!target) return STATUS_OK;
  if (target->type != QPU_VALUE_REGISTER || target->rotate)
    return qpu_asm_fail(b->as, "the first operand must be the register to write to");
  if (!target->reg.write_files) return qpu_asm_fail(b->as, "'%s' cannot be written", target->reg.name);
  *files = target->reg.write_files;
  if (slot == QPU_SLOT_ADD)
    b->inst.waddr_add = target->reg.write_addr;
  else
    b->inst.waddr_mul = target->reg.write_addr;
  const char *suffix = b->slots[slot]->pack[0] ? b->slots[slot]->pack : target->suffix;
  return suffix[0] ? set_pack(b, slot, suffix, &target->reg) : STATUS_OK;
}

/* The write-swap bit: without it the add ALU writes to file A and the mul ALU to file B. */
status_t qpu_builder_targets(struct qpu_builder *b, const struct qpu_value *add, const struct qpu_value *mul)
{
  int files[QPU_N_SLOTS];
  RETURN_IF_FAILED(set_target(b, QPU_SLOT_ADD, add, &files[QPU_SLOT_ADD]));
  RETURN_IF_FAILED(set_target(b, QPU_SLOT_MUL, mul, &files[QPU_SLOT_MUL]));
  if ((files[QPU_SLOT_ADD] & QPU_FILE_A) && (files[QPU_SLOT_MUL] & QPU_FILE_B))
    b->inst.ws = 0;
  else if ((files[QPU_SLOT_ADD] & QPU_FILE_B) && (files[QPU_SLOT_MUL] & QPU_FILE_A))
    b->inst.ws = 1;
  else
    return qpu_asm_fail(b->as, "an instruction writes one register of each file only");
  return STATUS_OK;
}

status_t qpu_builder_ports(struct qpu_builder *b)
{
  for (int i = 0; i < b->n_sources; i++) RETURN_IF_FAILED(allocate_fixed(b, &b->sources[i]));
  for (int i = 0; i < b->n_sources; i++)
    if (is_open(b, &b->sources[i])) RETURN_IF_FAILED(allocate_open(b, &b->sources[i]));
  return STATUS_OK;
}
