/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/emulator/trace.h"
#include "gpu/qpu/isa/describe.h"

#define MAX_NOTICES 1000

void qpu_emu_set_rules(struct qpu_emu_config *config, enum qpu_policy policy)
{
  memset(config->rules, (int)policy, sizeof config->rules);
}

static status_t note(struct qpu_emu *emu, uint32_t pc, enum qpu_rule_kind kind, const char *text)
{
  for (size_t i = 0; i < emu->n_notices; i++)
    if (emu->notices[i].address == pc && emu->notices[i].text == text) {
      emu->notices[i].count++;
      return STATUS_OK;
    }
  if (emu->n_notices == MAX_NOTICES) {
    emu->more_notices++;
    return STATUS_OK;
  }
  if (!emu->notices) emu->notices = malloc(MAX_NOTICES * sizeof *emu->notices);
  if (!emu->notices) return log_fail(STATUS_ENVIRONMENT, "out of memory for the emulator's notices");
  emu->notices[emu->n_notices++] = (struct qpu_notice){pc, kind, text, 1};
  return STATUS_OK;
}

status_t qpu_rules_break(struct qpu_issue *issue, enum qpu_rule_kind kind, const char *text)
{
  struct qpu_emu *emu = issue->emu;
  if (emu->config.rules[kind] == QPU_FAULT) return qpu_emu_fault(issue, "%s", text);
  return emu->config.rules[kind] == QPU_WARN ? note(emu, issue->thread->pc, kind, text) : STATUS_OK;
}

const qpu_vec *qpu_rules_before(const struct qpu_issue *issue, int reg, unsigned *lanes)
{
  for (int i = 0; i < issue->n_last; i++) {
    const struct qpu_write *write = &issue->thread->last[i];
    if (write->reg != reg) continue;
    if (lanes) *lanes = write->lanes;
    return &write->before;
  }
  return NULL;
}

void qpu_rotate(qpu_vec *out, const qpu_vec *in, int n, int quads)
{
  for (int i = 0; i < QPU_LANES; i++) (*out)[i] = (*in)[quads ? (i & ~3) | ((i - n) & 3) : (i - n) & 15];
}

int qpu_rotation_of(const struct qpu_issue *issue)
{
  const qpu_vec *r5 = &issue->thread->reg[REG_ACC + 5];
  if (issue->decoded->rotation != 16) return issue->decoded->rotation;
  const qpu_vec *before = issue->stale & QPU_HAZARD_R5 ? qpu_rules_before(issue, REG_ACC + 5, NULL) : NULL;
  return (int)((before ? *before : *r5)[0] & 15);
}

/* Lanes that the last instruction wrote in either source of a rotation. What came through the fast
 * path left no note: it wrote all of them. */
static unsigned written_lanes(const struct qpu_issue *issue)
{
  const struct qpu_inst *inst = &issue->decoded->inst;
  unsigned a = 0, b = 0;
  if (issue->n_last == 0) return QPU_ALL_LANES;
  if (inst->mul_a < QPU_MUX_R4) (void)qpu_rules_before(issue, REG_ACC + inst->mul_a, &a);
  if (inst->mul_b < QPU_MUX_R4) (void)qpu_rules_before(issue, REG_ACC + inst->mul_b, &b);
  return a | b;
}

static unsigned conditional_lanes(const struct qpu_thread *thread, int cond)
{
  unsigned flags = cond <= QPU_COND_NZ ? thread->z : cond <= QPU_COND_NN ? thread->n : thread->c;
  if (cond <= QPU_COND_ALWAYS) return QPU_ALL_LANES;
  return cond % 2 ? ~flags & QPU_ALL_LANES : flags;
}

static int rotates_stale_lanes(const struct qpu_issue *issue)
{
  const struct qpu_decoded *d = issue->decoded;
  unsigned wanted = qpu_rotation_lanes(&d->inst) & conditional_lanes(issue->thread, d->inst.cond_mul);
  return qpu_rotation_stale(wanted, written_lanes(issue), qpu_rotation_of(issue)) != 0;
}

status_t qpu_rules_apply(struct qpu_issue *issue)
{
  const struct qpu_thread *thread = issue->thread;
  const struct qpu_decoded *d = issue->decoded;
  uint32_t met = (uint32_t)(thread->open & 0xffff) & d->effects.strikes;
  if (thread->written & d->effects.reads) met |= QPU_HAZARD_REGISTER;
  issue->stale = met & QPU_HAZARD_R5;
  if ((met & QPU_HAZARD_ROTATION) && !rotates_stale_lanes(issue)) met &= ~(uint32_t)QPU_HAZARD_ROTATION;
  issue->stale = met;
  while (met) {
    const struct qpu_rule *rule = qpu_hazard_rule(met);
    if (!rule) break;
    RETURN_IF_FAILED(qpu_rules_break(issue, rule->kind, rule->text));
    met &= ~rule->hazards;
  }
  return d->rule ? qpu_rules_break(issue, d->rule->kind, d->rule->text) : STATUS_OK;
}

size_t qpu_emu_notices(const struct qpu_emu *emu, const struct qpu_notice **notices, uint64_t *more)
{
  *notices = emu->notices;
  *more = emu->more_notices;
  return emu->n_notices;
}

void qpu_emu_warn(const struct qpu_emu *emu)
{
  for (size_t i = 0; i < emu->n_notices; i++) {
    const struct qpu_notice *notice = &emu->notices[i];
    char text[QPU_TEXT_MAX] = "";
    uint64_t word;
    memcpy(&word, qpu_memory_at(&emu->memory, notice->address), sizeof word);
    qpu_describe(word, text);
    log_warn("%s at 0x%08x (%+lld in its program) %s, %llu times: %s", qpu_rule_names[notice->kind],
             notice->address, (long long)notice->address - (long long)emu->first_code, text,
             (unsigned long long)notice->count, notice->text);
  }
  if (emu->more_notices) log_warn("%llu more at other addresses", (unsigned long long)emu->more_notices);
}
