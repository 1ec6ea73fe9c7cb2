/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One instruction of one QPU. */
#ifndef QPU_ISSUE_H
#define QPU_ISSUE_H

#include "gpu/qpu/emulator/state.h"

/** \brief Issues one instruction if it is one of the common kind that has no effect beyond
 * registers; returns 0, having done nothing, when qpu_issue must look at it. */
int qpu_issue_fast(struct qpu_emu *emu, struct qpu_thread *thread);

/** \brief The same where time is estimated: a uniform beyond the line at hand is not for it. */
int qpu_issue_fast_timed(struct qpu_emu *emu, struct qpu_thread *thread);

/** \brief Issues one instruction: *issued is 0 when it has to wait. */
status_t qpu_issue(struct qpu_issue *issue, int *issued);

#endif
