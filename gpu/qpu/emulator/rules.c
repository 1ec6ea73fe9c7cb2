/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/state.h"

#include <stdarg.h>
#include <stdio.h>

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

int qpu_rotation_of(const struct qpu_issue *issue)
{
  const int rotation = issue->decoded->rotation;
  return rotation == 16 ? (int)(issue->thread->reg[REG_ACC + 5][0] & 15) : rotation;
}

static unsigned lanes_written(const struct qpu_issue *issue, int mux)
{
  for (int i = 0; mux < QPU_MUX_R4 && i < issue->n_last; i++)
    if (issue->thread->last[i].reg == REG_ACC + mux) return issue->thread->last[i].lanes;
  return 0;
}

static unsigned conditional_lanes(const struct qpu_thread *thread, int cond)
{
  unsigned flags = cond <= QPU_COND_NZ ? thread->z : cond <= QPU_COND_NN ? thread->n : thread->c;
  if (cond <= QPU_COND_ALWAYS) return QPU_ALL_LANES;
  return cond % 2 ? ~flags & QPU_ALL_LANES : flags;
}

/* What came through the fast path left no note: it wrote all lanes. */
static int rotates_stale_lanes(const struct qpu_issue *issue)
{
  const struct qpu_inst *inst = &issue->decoded->inst;
  unsigned wanted = qpu_rotation_lanes(inst) & conditional_lanes(issue->thread, inst->cond_mul);
  unsigned written = lanes_written(issue, inst->mul_a) | lanes_written(issue, inst->mul_b);
  if (issue->n_last == 0) written = QPU_ALL_LANES;
  return qpu_rotation_stale(wanted, written, qpu_rotation_of(issue)) != 0;
}

status_t qpu_rules_apply(struct qpu_issue *issue)
{
  const struct qpu_thread *thread = issue->thread;
  const struct qpu_decoded *d = issue->decoded;
  uint32_t met = (uint32_t)(thread->open & 0xffff) & d->effects.strikes;
  if (thread->written & d->effects.reads) met |= QPU_HAZARD_REGISTER;
  if ((met & QPU_HAZARD_ROTATION) && !rotates_stale_lanes(issue)) met &= ~(uint32_t)QPU_HAZARD_ROTATION;
  const struct qpu_rule *rule = met ? qpu_hazard_rule(met) : d->rule;
  return rule ? qpu_emu_fault(issue, "%s", rule->text) : STATUS_OK;
}
