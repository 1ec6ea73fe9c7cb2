/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Faults, and the rules of the part that a program must not break. */
#ifndef QPU_RULES_H
#define QPU_RULES_H

#include "gpu/qpu/emulator/state.h"

/** \brief Logs a program's mistake with QPU, address and cause; STATUS_FAULT. */
status_t qpu_emu_fault(const struct qpu_issue *issue, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** \brief STATUS_FAULT if the instruction about to be issued breaks a rule. */
status_t qpu_rules_apply(struct qpu_issue *issue);

/** \brief How far an instruction rotates, upward. */
int qpu_rotation_of(const struct qpu_issue *issue);

/** \brief Notes a register that is about to be written. */
static inline void qpu_rules_note(struct qpu_thread *thread, int reg, unsigned lanes)
{
  if (thread->n_last < 2) thread->last[thread->n_last++] = (struct qpu_write){lanes, (uint8_t)reg};
}

#endif
