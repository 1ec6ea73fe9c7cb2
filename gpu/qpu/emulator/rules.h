/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What happens where a program breaks a rule of the part, or asks what its documents answer
 * differently: it ends, or goes on as the part would, with a notice. */
#ifndef QPU_RULES_H
#define QPU_RULES_H

#include "gpu/qpu/emulator/state.h"

/** \brief Looks at the rules for the instruction about to be issued; issue->stale then says which
 * of its operands are read as they were before the last instruction. STATUS_FAULT where the program
 * must not go on. */
status_t qpu_rules_apply(struct qpu_issue *issue);

/** \brief A rule broken, or a reading chosen, at the instruction being issued. */
status_t qpu_rules_break(struct qpu_issue *issue, enum qpu_rule_kind kind, const char *text);

/** \brief Rotates lanes upward by \a n, within quads only if \a quads. */
void qpu_rotate(qpu_vec *out, const qpu_vec *in, int n, int quads);

/** \brief How far an instruction rotates, by r5 as it was before where that is read too early. */
int qpu_rotation_of(const struct qpu_issue *issue);

/** \brief What a register held before the last instruction, or NULL when that did not write it.
 * \a lanes (may be NULL) are those written. */
const qpu_vec *qpu_rules_before(const struct qpu_issue *issue, int reg, unsigned *lanes);

/** \brief Notes a register that is about to be written. */
static inline void qpu_rules_note(struct qpu_thread *thread, int reg, unsigned lanes)
{
  if (thread->n_last < 2)
    thread->last[thread->n_last++] = (struct qpu_write){thread->reg[reg], lanes, (uint8_t)reg};
}

#endif
