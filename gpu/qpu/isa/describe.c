/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/isa/describe.h"

#include <stdarg.h>
#include <stdio.h>

#include "gpu/qpu/isa/isa.h"

struct writer {
  char *text;
  size_t length;
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writer *w, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  int n = vsnprintf(w->text + w->length, QPU_TEXT_MAX - w->length, format, list);
  va_end(list);
  if (n > 0) w->length += (size_t)n < QPU_TEXT_MAX - w->length ? (size_t)n : QPU_TEXT_MAX - w->length - 1;
}

/* Pack modes after the target: those of the mul ALU (pm) always saturate and convert from float. */
static void put_target(struct writer *w, const struct qpu_inst *inst, int from_mul)
{
  char buffer[8];
  int file = (from_mul != inst->ws) ? QPU_FILE_B : QPU_FILE_A;
  int address = from_mul ? inst->waddr_mul : inst->waddr_add;
  put(w, " %s", qpu_register_text(address, file, 1, buffer));
  if (inst->pack == 0) return;
  if (inst->pm && from_mul)
    put(w, ".%ssf", qpu_pack_names[inst->pack & 7]);
  else if (!inst->pm && file == QPU_FILE_A && address < 32) {
    int ambiguous =
        /* fmul x.8as means pm */
        from_mul && qpu_mul_ops[inst->op_mul].float_out && inst->pack > 10;
    put(w, ".%s%s", qpu_pack_names[inst->pack], ambiguous ? "i" : "");
  }
}

static void put_small(struct writer *w, int code)
{
  if (code < 32)
    put(w, "%d", (int)(int32_t)qpu_small_value(code));
  else if (code < 40)
    put(w, "%d.0", 1 << (code - 32));
  else if (code < QPU_SMALL_ROTATE_R5)
    put(w, "%.8f", 1.0 / (1 << (48 - code)));
  else
    put(w, "%d", (int)(int32_t)qpu_small_value(code));
}

static void put_source(struct writer *w, const struct qpu_inst *inst, int mux)
{
  char buffer[8];
  int small = inst->sig == QPU_SIG_SMALL_IMMEDIATE;
  put(w, ", ");
  if (mux < QPU_MUX_A)
    put(w, "r%d", mux);
  else if (mux == QPU_MUX_A)
    put(w, "%s", qpu_register_text(inst->raddr_a, QPU_FILE_A, 0, buffer));
  else if (small)
    put_small(w, inst->raddr_b);
  else
    put(w, "%s", qpu_register_text(inst->raddr_b, QPU_FILE_B, 0, buffer));
  if (inst->unpack && mux == (inst->pm ? QPU_MUX_R4 : QPU_MUX_A))
    put(w, ".%s", qpu_unpack_names[inst->unpack]);
}

/* With nothing to write the condition is never unless the text says otherwise. */
static void put_opcode(struct writer *w, const char *name, int cond, int target, int setf)
{
  int usual = target == QPU_W_NOP && !setf ? QPU_COND_NEVER : QPU_COND_ALWAYS;
  put(w, "%s", name ? name : "reserved");
  if (cond > QPU_COND_ALWAYS)
    put(w, ".if%s", qpu_cond_names[cond]);
  else if (cond != usual)
    put(w, cond == QPU_COND_NEVER ? ".never" : ".always");
  if (setf) put(w, ".setf");
}

static void put_add(struct writer *w, const struct qpu_inst *inst)
{
  const struct qpu_op *op = &qpu_add_ops[inst->op_add];
  int moves = inst->op_add == QPU_A_OR && inst->add_a == inst->add_b;
  put_opcode(w, moves ? "mov" : op->name, inst->cond_add, inst->waddr_add, inst->sf);
  put_target(w, inst, 0);
  put_source(w, inst, inst->add_a);
  if (!moves && op->n_sources > 1) put_source(w, inst, inst->add_b);
}

static void put_rotation(struct writer *w, const struct qpu_inst *inst)
{
  int rotation = inst->sig == QPU_SIG_SMALL_IMMEDIATE ? inst->raddr_b - QPU_SMALL_ROTATE_R5 : -1;
  if (rotation == 0)
    put(w, " >> r5");
  else if (rotation > 0)
    put(w, " >> %d", rotation);
}

static void put_mul(struct writer *w, const struct qpu_inst *inst, int setf)
{
  int on_first = inst->mul_b == QPU_MUX_B; /* a rotation stands behind a register */
  int moves = inst->op_mul == QPU_M_V8MIN && inst->mul_a == inst->mul_b;
  put_opcode(w, moves ? "mov" : qpu_mul_ops[inst->op_mul].name, inst->cond_mul, inst->waddr_mul, setf);
  put_target(w, inst, 1);
  if (!moves) put_source(w, inst, inst->mul_a);
  if (!moves && on_first) put_rotation(w, inst);
  put_source(w, inst, inst->mul_b);
  if (moves || !on_first) put_rotation(w, inst);
}

static void put_alu(struct writer *w, const struct qpu_inst *inst)
{
  const char *signal = qpu_signal_names[inst->sig];
  if (inst->op_add != QPU_A_NOP)
    put_add(w, inst);
  else
    put(w, "%s", inst->op_mul != QPU_M_NOP ? "anop" : "nop");
  if (inst->op_mul != QPU_M_NOP) {
    put(w, "; ");
    put_mul(w, inst, inst->sf && inst->op_add == QPU_A_NOP);
  }
  if (signal) put(w, "; %s", signal);
}

static void put_elements(struct writer *w, uint32_t bits, int is_signed)
{
  for (int i = 0; i < QPU_LANES; i++) {
    int high = bits >> (16 + i) & 1, low = bits >> i & 1;
    put(w, "%s%d", i ? "," : "[", low + (is_signed ? -2 : 2) * high);
  }
  put(w, "]");
}

static void put_load(struct writer *w, const struct qpu_inst *inst)
{
  int semaphore = inst->unpack == QPU_LOAD_SEMAPHORE;
  int add = inst->waddr_add != QPU_W_NOP || inst->cond_add != QPU_COND_NEVER;
  int mul = inst->waddr_mul != QPU_W_NOP || inst->cond_mul != QPU_COND_NEVER;
  const char *name = !semaphore ? "ldi" : inst->imm & 16 ? "sacq" : "srel";
  if (!add && !mul) add = 1; /* something must carry the constant */
  if (!add) put(w, "nop; ");
  for (int from_mul = !add; from_mul <= mul; from_mul++) {
    int cond = from_mul ? inst->cond_mul : inst->cond_add;
    int target = from_mul ? inst->waddr_mul : inst->waddr_add;
    put_opcode(w, name, cond, target, inst->sf && from_mul == !add);
    put_target(w, inst, from_mul);
    if (semaphore)
      put(w, ", %u", inst->imm & ~16u);
    else if (inst->unpack == QPU_LOAD_32)
      put(w, ", 0x%x", inst->imm);
    else {
      put(w, ", ");
      put_elements(w, inst->imm, inst->unpack == QPU_LOAD_SIGNED);
    }
    if (from_mul < mul) put(w, "; ");
  }
}

static void put_branch(struct writer *w, const struct qpu_inst *inst)
{
  const char *cond = qpu_branch_names[inst->cond_br];
  put(w, "%s", inst->rel ? "brr" : "bra");
  if (!cond || cond[0]) put(w, ".%s", cond ? cond : "reserved");
  put_target(w, inst, 0);
  if (inst->waddr_mul != QPU_W_NOP) {
    put(w, ",");
    put_target(w, inst, 1);
    put(w, inst->reg ? "" : ", -");
  }
  if (inst->reg) put(w, ", ra%d", inst->raddr_a);
  if (inst->imm || !inst->reg) put(w, ", %d", (int)(int32_t)inst->imm);
}

void qpu_describe(uint64_t word, char text[QPU_TEXT_MAX])
{
  struct qpu_inst inst = qpu_decode(word);
  struct writer w = {text, 0};
  text[0] = '\0';
  switch (qpu_inst_kind(&inst)) {
  case QPU_ALU:
    put_alu(&w, &inst);
    break;
  case QPU_LOAD:
  case QPU_SEMAPHORE:
    put_load(&w, &inst);
    break;
  case QPU_BRANCH:
    put_branch(&w, &inst);
    break;
  }
}
