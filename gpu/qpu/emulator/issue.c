/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <stdarg.h>
#include <stdio.h>

#include "gpu/qpu/emulator/cost.h"
#include "gpu/qpu/emulator/predecode.h"
#include "gpu/qpu/emulator/state.h"
#include "base/log.h"

status_t qpu_emu_fault(const struct qpu_issue *issue, const char *format, ...)
{
  const struct qpu_thread *thread = issue->thread;
  char cause[300];
  va_list list;
  va_start(list, format);
  vsnprintf(cause, sizeof cause, format, list);
  va_end(list);
  return log_fail(STATUS_FAULT, "QPU %d at 0x%08x (%+lld in its program): %s", issue->number, thread->pc,
                  (long long)thread->pc - (long long)issue->emu->jobs[thread->job].code, cause);
}

static unsigned lanes_written(const struct qpu_issue *issue, int mux)
{
  for (int i = 0; mux < QPU_MUX_R4 && i < issue->n_last; i++)
    if (issue->thread->last[i].reg == REG_ACC + mux) return issue->thread->last[i].lanes;
  return 0;
}

/* Returns the lanes in which a condition holds. Conditions come in pairs of opposites. */
static unsigned lanes_of(const struct qpu_thread *thread, int cond)
{
  if (cond <= QPU_COND_ALWAYS) return cond == QPU_COND_ALWAYS ? QPU_ALL_LANES : 0;
  unsigned flags = cond <= QPU_COND_NZ ? thread->z : thread->n;
  return cond % 2 ? ~flags & QPU_ALL_LANES : flags;
}

/* Returns 1 if a rotation reads lanes too early. The fast path does not record its writes, because
 * they cover all lanes. */
static int rotates_stale_lanes(const struct qpu_issue *issue)
{
  const struct qpu_inst *inst = &issue->decoded->inst;
  unsigned lanes = inst->cond_mul == QPU_COND_NEVER ? QPU_ALL_LANES : lanes_of(issue->thread, inst->cond_mul);
  unsigned wanted = qpu_rotation_lanes(inst) & lanes;
  unsigned written = lanes_written(issue, inst->mul_a) | lanes_written(issue, inst->mul_b);
  if (issue->n_last == 0) written = QPU_ALL_LANES;
  return qpu_rotation_stale(wanted, written, issue->decoded->rotation) != 0;
}

/* Returns STATUS_FAULT if the instruction about to be issued breaks a rule. */
static status_t qpu_rules_apply(struct qpu_issue *issue)
{
  const struct qpu_thread *thread = issue->thread;
  const struct qpu_decoded *d = issue->decoded;
  uint32_t met = (uint32_t)(thread->open & 0xffff) & d->effects.strikes;
  if (thread->written & d->effects.reads) met |= QPU_HAZARD_REGISTER;
  if (!rotates_stale_lanes(issue)) met &= ~(uint32_t)QPU_HAZARD_ROTATION;
  const struct qpu_rule *rule = met ? qpu_hazard_rule(met) : d->rule;
  return rule ? qpu_emu_fault(issue, "%s", rule->text) : STATUS_OK;
}

/* Flags change only in lanes in which the condition holds, as vc4asm's author found; the guide does
 * not specify it. */
static void set_flags(struct qpu_thread *thread, const qpu_vec *result, unsigned lanes)
{
  thread->z = (thread->z & ~lanes) | (~qpu_mask_of(result, 0) & lanes);
  thread->n = (thread->n & ~lanes) | (qpu_mask_of(result, 1) & lanes);
}

static status_t issue_write_target(struct qpu_issue *issue, int from_mul, const qpu_vec *result,
                                   unsigned lanes)
{
  const struct qpu_inst *inst = &issue->decoded->inst;
  int address = from_mul ? inst->waddr_mul : inst->waddr_add;
  int target = from_mul ? issue->decoded->target_mul : issue->decoded->target_add;
  int file = from_mul != inst->ws ? QPU_FILE_B : QPU_FILE_A;
  if (target == REG_SPECIAL) return qpu_io_write(issue, address, file, result, lanes);
  if (lanes) qpu_rules_note(issue->thread, target, lanes);
  qpu_assign(&issue->thread->reg[target], result, lanes);
  return STATUS_OK;
}

/* Returns the mul ALU's rotated source: r0 to r3 rotate as a whole, other sources within quads. */
static const qpu_vec *rotated(const struct qpu_issue *issue, int mux, const qpu_vec *in, qpu_vec *space)
{
  const int n = issue->decoded->rotation, quads = mux >= QPU_MUX_R4;
  for (int i = 0; i < QPU_LANES; i++) (*space)[i] = (*in)[quads ? (i & ~3) | ((i - n) & 3) : (i - n) & 15];
  return space;
}

static status_t run_alu(struct qpu_issue *issue)
{
  const struct qpu_decoded *d = issue->decoded;
  const struct qpu_inst *inst = &d->inst;
  struct qpu_thread *thread = issue->thread;
  qpu_vec rotation[2], added = {0}, multiplied = {0};
  const qpu_vec *s[4];
  unsigned add_lanes = lanes_of(thread, inst->cond_add), mul_lanes = lanes_of(thread, inst->cond_mul);
  for (int i = 0; i < 4; i++) s[i] = d->source[i] == QPU_CONSTANT ? &d->constant : &thread->reg[d->source[i]];
  if (d->mul && d->rotation) {
    s[2] = rotated(issue, inst->mul_a, s[2], &rotation[0]);
    s[3] = inst->mul_b == inst->mul_a ? s[2] : rotated(issue, inst->mul_b, s[3], &rotation[1]);
  }
  if (d->add) d->add(&added, s[0], s[1]);
  if (d->mul) d->mul(&multiplied, s[2], s[3]);
  if (inst->sf && d->add)
    set_flags(thread, &added, add_lanes);
  else if (inst->sf && d->mul)
    set_flags(thread, &multiplied, mul_lanes);
  if (d->add) RETURN_IF_FAILED(issue_write_target(issue, 0, &added, add_lanes));
  if (d->mul) RETURN_IF_FAILED(issue_write_target(issue, 1, &multiplied, mul_lanes));
  return STATUS_OK;
}

/* Runs an instruction that reads and writes only registers, in all lanes. */
static inline void run_plain(const struct qpu_decoded *d, qpu_vec *reg)
{
  const qpu_vec *s[4];
  for (int i = 0; i < 4; i++) s[i] = d->source[i] == QPU_CONSTANT ? &d->constant : &reg[d->source[i]];
  if (d->direct) {
    if (d->add) d->add(&reg[d->target_add], s[0], s[1]);
    if (d->mul) d->mul(&reg[d->target_mul], s[2], s[3]);
    return;
  }
  qpu_vec added, multiplied;
  if (d->add) d->add(&added, s[0], s[1]);
  if (d->mul) d->mul(&multiplied, s[2], s[3]);
  if (d->add) reg[d->target_add] = added;
  if (d->mul) reg[d->target_mul] = multiplied;
}

static status_t run_load(struct qpu_issue *issue)
{
  const struct qpu_decoded *d = issue->decoded;
  const struct qpu_inst *inst = &d->inst;
  struct qpu_thread *thread = issue->thread;
  uint8_t *semaphore = &issue->emu->semaphores[inst->imm & 15];
  unsigned add_lanes = lanes_of(thread, inst->cond_add), mul_lanes = lanes_of(thread, inst->cond_mul);
  if (d->kind == QPU_SEMAPHORE) *semaphore = (uint8_t)(*semaphore + (inst->imm & 16 ? -1 : 1));
  if (inst->sf) set_flags(thread, &d->constant, inst->cond_add == QPU_COND_NEVER ? mul_lanes : add_lanes);
  RETURN_IF_FAILED(issue_write_target(issue, 0, &d->constant, add_lanes));
  return issue_write_target(issue, 1, &d->constant, mul_lanes);
}

static int branch_taken(const struct qpu_thread *thread, int cond)
{
  unsigned flags = cond < 4 ? thread->z : thread->n;
  if (cond == QPU_BRANCH_ALWAYS) return 1;
  switch (cond & 3) {
  case 0:
    return flags == QPU_ALL_LANES;
  case 1:
    return flags == 0;
  case 2:
    return flags != 0;
  default:
    return flags != QPU_ALL_LANES;
  }
}

static void run_branch(struct qpu_issue *issue)
{
  const struct qpu_inst *inst = &issue->decoded->inst;
  struct qpu_thread *thread = issue->thread;
  if (!branch_taken(thread, inst->cond_br)) return;
  thread->jumps |= 1u << 4;
  thread->target[4] = thread->pc + 4 * QPU_INSTRUCTION_BYTES + inst->imm;
  issue->emu->stats.branches_taken++;
}

static status_t run_signal(struct qpu_issue *issue)
{
  struct qpu_thread *thread = issue->thread;
  switch (issue->decoded->inst.sig) {
  case QPU_SIG_LOAD_TMU0:
    return qpu_tmu_load(issue, 0);
  case QPU_SIG_LOAD_TMU1:
    return qpu_tmu_load(issue, 1);
  case QPU_SIG_THREAD_END:
    thread->ending = 3;
    return STATUS_OK;
  case QPU_SIG_THREAD_SWITCH:
    thread->switching = 3;
    return STATUS_OK;
  default:
    return STATUS_OK;
  }
}

static inline void issue_advance(struct qpu_thread *thread, const struct qpu_decoded *d)
{
  thread->open = thread->open >> 16 | d->opens;
  thread->written = d->effects.writes;
  thread->pc += QPU_INSTRUCTION_BYTES;
  if (!thread->jumps) return;
  thread->jumps >>= 1;
  for (int i = 0; i < 4; i++) thread->target[i] = thread->target[i + 1];
  if (thread->jumps & 1) thread->pc = thread->target[0];
}

static inline int take_uniform(const struct qpu_emu *emu, struct qpu_thread *thread)
{
  uint32_t value;
  if (!qpu_memory_word_ok(&emu->memory, thread->uniforms)) return 0;
  memcpy(&value, qpu_memory_at(&emu->memory, thread->uniforms), sizeof value);
  thread->uniforms += 4;
  thread->reg[REG_PORT_A] = thread->reg[REG_PORT_B] = (qpu_vec){0} + value;
  return 1;
}

static inline int met_hazards(const struct qpu_thread *thread, const struct qpu_decoded *d)
{
  return ((thread->open & 0xffff & d->effects.strikes) | (thread->written & d->effects.reads)) != 0;
}

int qpu_issue_fast(struct qpu_emu *emu, struct qpu_thread *thread)
{
  struct qpu_decoded *d = qpu_fetch(emu, thread->pc);
  if (!d || !d->fast) return 0;
  if (__builtin_expect(met_hazards(thread, d) || thread->ending || thread->switching, 0)) return 0;
  if ((d->port_a | d->port_b) && !take_uniform(emu, thread)) return 0;
  run_plain(d, thread->reg);
  thread->n_last = 0;
  d->issued++;
  emu->stats.issued++;
  issue_advance(thread, d);
  return 1;
}

int qpu_issue_fast_timed(struct qpu_emu *emu, struct qpu_thread *thread)
{
  const struct qpu_decoded *d = qpu_fetch(emu, thread->pc);
  int reads = d && (d->port_a | d->port_b);
  if (reads && (thread->line != thread->uniforms / 64 || thread->line_ready > emu->cycle * 4)) return 0;
  return qpu_issue_fast(emu, thread);
}

status_t qpu_issue(struct qpu_issue *issue, int *issued)
{
  struct qpu_emu *emu = issue->emu;
  struct qpu_thread *thread = issue->thread;
  *issued = 0;
  struct qpu_decoded *d = qpu_fetch(emu, thread->pc);
  issue->decoded = d;
  if (!d) return qpu_emu_fault(issue, "there is no instruction here: the program ran out of its memory");
  if (d->error) return qpu_emu_fault(issue, "%s", d->error);
  if (d->may_stall) {
    thread->waiting = (int8_t)qpu_would_stall(issue);
    if (thread->waiting >= 0) {
      emu->stats.stalls[thread->waiting]++;
      return STATUS_OK;
    }
  }
  if (emu->cost && qpu_cost_waits(issue)) return STATUS_OK;
  issue->n_last = thread->n_last;
  if (met_hazards(thread, d) || d->rule) RETURN_IF_FAILED(qpu_rules_apply(issue));
  thread->n_last = 0;
  if (d->port_a) RETURN_IF_FAILED(qpu_io_read(issue, d->port_a, QPU_FILE_A));
  if (d->port_b) {
    if (d->port_b == QPU_R_UNIFORM && d->port_a == QPU_R_UNIFORM)
      thread->reg[REG_PORT_B] = thread->reg[REG_PORT_A];
    else
      RETURN_IF_FAILED(qpu_io_read(issue, d->port_b, QPU_FILE_B));
  }
  if (d->plain)
    run_plain(d, thread->reg);
  else if (d->kind == QPU_ALU)
    RETURN_IF_FAILED(run_alu(issue));
  else if (d->kind == QPU_BRANCH)
    run_branch(issue);
  else
    RETURN_IF_FAILED(run_load(issue));
  if (d->inst.sig != QPU_SIG_NONE) RETURN_IF_FAILED(run_signal(issue));
  *issued = 1;
  d->issued++;
  emu->stats.issued++;
  issue_advance(thread, d);
  return STATUS_OK;
}
