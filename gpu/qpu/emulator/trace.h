/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What users are told of an instruction: faults, and each one where a trace is wanted. */
#ifndef QPU_TRACE_H
#define QPU_TRACE_H

#include "gpu/qpu/emulator/state.h"

/** \brief Logs "QPU 3 at 0x20001028: cause" with the instruction, and returns STATUS_FAULT. */
status_t qpu_emu_fault(const struct qpu_issue *issue, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** \brief Shows an issued instruction and the registers that it wrote. */
void qpu_trace(const struct qpu_issue *issue, uint32_t pc);

#endif
