/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/predecode.h"

#include <stdlib.h>
#include <string.h>

/* Mask of registers 16 to 31 of both files, which belong to the other thread if there are two. */
#define UPPER_HALVES UINT64_C(0xffff0000ffff0000)

static uint8_t source_index(const struct qpu_inst *inst, int mux)
{
  if (mux < QPU_MUX_A) return (uint8_t)(REG_ACC + mux);
  if (mux == QPU_MUX_A) return inst->raddr_a < 32 ? (uint8_t)(REG_A + inst->raddr_a) : REG_PORT_A;
  if (inst->sig == QPU_SIG_SMALL_IMMEDIATE) return QPU_CONSTANT;
  return inst->raddr_b < 32 ? (uint8_t)(REG_B + inst->raddr_b) : REG_PORT_B;
}

static uint8_t target_index(int address, int file)
{
  if (address < 32) return (uint8_t)((file == QPU_FILE_A ? REG_A : REG_B) + address);
  if (address <= QPU_W_ACC3) return (uint8_t)(REG_ACC + address - QPU_W_ACC0);
  return address == QPU_W_NOP ? REG_DISCARD : REG_SPECIAL;
}

static int uses_mux(const struct qpu_decoded *d, int mux)
{
  const struct qpu_inst *inst = &d->inst;
  return (d->add && (inst->add_a == mux || inst->add_b == mux)) ||
         (d->mul && (inst->mul_a == mux || inst->mul_b == mux));
}

static void decode_alu(struct qpu_decoded *d)
{
  const struct qpu_inst *inst = &d->inst;
  d->add = qpu_alu_add[inst->op_add];
  d->mul = qpu_alu_mul[inst->op_mul];
  d->source[0] = source_index(inst, inst->add_a);
  d->source[1] = source_index(inst, inst->add_b);
  d->source[2] = source_index(inst, inst->mul_a);
  d->source[3] = source_index(inst, inst->mul_b);
  int small = inst->sig == QPU_SIG_SMALL_IMMEDIATE;
  /* A peripheral is read even if no operation uses its value. */
  if (inst->raddr_a >= 32 && (inst->raddr_a != QPU_R_NOP || uses_mux(d, QPU_MUX_A)))
    d->port_a = inst->raddr_a;
  if (inst->raddr_b >= 32 && !small && (inst->raddr_b != QPU_R_NOP || uses_mux(d, QPU_MUX_B)))
    d->port_b = inst->raddr_b;
  if (small) d->constant = (qpu_vec){0} + qpu_small_value(inst->raddr_b);
  if (small && inst->raddr_b > QPU_SMALL_ROTATE) d->rotation = (uint8_t)(inst->raddr_b - QPU_SMALL_ROTATE);
  d->flops =
      (uint8_t)((inst->op_add == QPU_A_FADD || inst->op_add == QPU_A_FSUB) + (inst->op_mul == QPU_M_FMUL));
}

static int stalls(int address)
{
  return address == QPU_R_VPM || address == QPU_R_VPM_WAIT || address == QPU_R_MUTEX;
}

/* Returns 1 if the mul ALU has a target and no operation. According to vc4asm's author it then
 * writes its last result; according to the guide nothing happens. */
static int writes_nothing(const struct qpu_decoded *d)
{
  return !d->mul && d->inst.waddr_mul != QPU_W_NOP && d->inst.cond_mul != QPU_COND_NEVER;
}

/* Returns 1 if the value that one ALU reads through a port's multiplexer affects a result. */
static int matters(const struct qpu_decoded *d, int from_mul, int mux)
{
  const struct qpu_inst *i = &d->inst;
  int a = from_mul ? i->mul_a : i->add_a, b = from_mul ? i->mul_b : i->add_b;
  int target = from_mul ? i->waddr_mul : i->waddr_add, cond = from_mul ? i->cond_mul : i->cond_add;
  int clears = a == b && (from_mul ? i->op_mul == QPU_M_V8SUBS : i->op_add == QPU_A_XOR);
  int written = target != QPU_W_NOP && target != QPU_W_MUTEX && cond != QPU_COND_NEVER;
  if (!(from_mul ? d->mul : d->add) || (a != mux && b != mux) || clears) return 0;
  return written || (i->sf && !(from_mul && d->add));
}

static int reads_what_stayed(const struct qpu_decoded *d)
{
  int a = d->port_a == QPU_R_NOP && (matters(d, 0, QPU_MUX_A) || matters(d, 1, QPU_MUX_A));
  return a || (d->port_b == QPU_R_NOP && (matters(d, 0, QPU_MUX_B) || matters(d, 1, QPU_MUX_B)));
}

/* Returns 1 if reading the port changes its state. */
static int consumes(int port)
{
  return port && port != QPU_R_NOP && port != QPU_R_ELEMENT && port != QPU_R_VPM_BUSY;
}

static int reads_for_nothing(const struct qpu_decoded *d)
{
  return (consumes(d->port_a) && !uses_mux(d, QPU_MUX_A)) || (consumes(d->port_b) && !uses_mux(d, QPU_MUX_B));
}

/* Returns 1 if only one source of a rotation is one of r0 to r3, which rotate as a whole. */
static int rotates_mixed(const struct qpu_decoded *d)
{
  return d->mul && d->rotation && (d->inst.mul_a < QPU_MUX_R4) != (d->inst.mul_b < QPU_MUX_R4);
}

/* Behaviour on which the documents disagree: using it is an error. */
static const struct {
  int (*asks)(const struct qpu_decoded *d);
  struct qpu_rule rule;
} questions[] = {
    {writes_nothing, {0, "the mul ALU has a target and no operation"}},
    {reads_what_stayed, {0, "a NOP register is read"}},
    {reads_for_nothing, {0, "a peripheral is named and no operation takes it"}},
    {rotates_mixed, {0, "a rotation of one of r0 to r3 beside another source, which rotates within quads"}},
};

static const struct qpu_rule *question_of(const struct qpu_decoded *d)
{
  for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
    if (questions[i].asks(d)) return &questions[i].rule;
  return NULL;
}

void qpu_predecode(uint64_t word, struct qpu_decoded *d)
{
  memset(d, 0, sizeof *d);
  d->inst = qpu_decode(word);
  d->kind = qpu_inst_kind(&d->inst);
  d->effects = qpu_effects_of(&d->inst);
  d->rule = qpu_hazard_within(&d->inst);
  int file_add = d->inst.ws ? QPU_FILE_B : QPU_FILE_A;
  d->target_add = target_index(d->inst.waddr_add, file_add);
  d->target_mul = target_index(d->inst.waddr_mul, file_add ^ QPU_FILE_AB);
  if (d->kind == QPU_ALU) {
    decode_alu(d);
    if (!d->rule) d->rule = question_of(d);
  } else {
    d->constant = (qpu_vec){0} + d->inst.imm;
  }
  if (d->kind != QPU_BRANCH && (d->inst.pm || d->inst.pack || (d->kind == QPU_ALU && d->inst.unpack)))
    d->error = "packing and unpacking are not emulated";
  d->may_stall = d->kind == QPU_SEMAPHORE || stalls(d->port_a) || stalls(d->port_b) ||
                 d->inst.waddr_add == QPU_W_VPM_ADDRESS || d->inst.waddr_mul == QPU_W_VPM_ADDRESS;
  if (d->inst.cond_add == QPU_COND_NEVER) d->target_add = REG_DISCARD;
  if (d->inst.cond_mul == QPU_COND_NEVER) d->target_mul = REG_DISCARD;
  d->plain = d->kind == QPU_ALU && !d->rotation && !d->inst.sf && d->target_add != REG_SPECIAL &&
             d->target_mul != REG_SPECIAL && (d->inst.cond_add <= QPU_COND_ALWAYS) &&
             (d->inst.cond_mul <= QPU_COND_ALWAYS);
  d->opens = d->effects.opens[0] | (uint64_t)d->effects.opens[1] << 16 | (uint64_t)d->effects.opens[2] << 32;
  d->direct = d->target_add != d->source[2] && d->target_add != d->source[3];
  int usual_ports = (!d->port_a || d->port_a == QPU_R_UNIFORM) && (!d->port_b || d->port_b == QPU_R_UNIFORM);
  int usual_signal = d->inst.sig == QPU_SIG_NONE || d->inst.sig == QPU_SIG_SMALL_IMMEDIATE;
  d->fast = d->plain && usual_ports && usual_signal && !d->error && !d->rule;
  d->valid = 1;
}

struct qpu_decoded *qpu_fetch_new(struct qpu_emu *emu, uint32_t address)
{
  uint32_t offset = address - emu->memory.base, page = offset / (QPU_PAGE_WORDS * 8);
  if (address % 8 || offset >= emu->memory.size) return NULL;
  if (!emu->pages[page]) {
    size_t bytes = QPU_PAGE_WORDS * sizeof(struct qpu_decoded);
    emu->pages[page] = aligned_alloc(_Alignof(struct qpu_decoded), bytes);
    if (!emu->pages[page]) return NULL;
    memset(emu->pages[page], 0, bytes);
    if (emu->first_page == emu->end_page) emu->first_page = page;
    if (page < emu->first_page) emu->first_page = page;
    if (page >= emu->end_page) emu->end_page = page + 1;
  }
  struct qpu_decoded *d = &emu->pages[page][offset / 8 % QPU_PAGE_WORDS];
  if (!qpu_memory_ok(&emu->memory, address, 8)) return NULL;
  uint64_t word = 0;
  const uint8_t *bytes = qpu_memory_at(&emu->memory, address);
  for (int b = 0; b < 8; b++) word |= (uint64_t)bytes[b] << 8 * b;
  qpu_predecode(word, d);
  if (emu->config.threads_per_qpu == 2 && ((d->effects.reads | d->effects.writes) & UPPER_HALVES))
    d->error = "with two threads a QPU has ra0 to ra15 and rb0 to rb15 only";
  if (d->error) d->fast = 0;
  return d;
}
