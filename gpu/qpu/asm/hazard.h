/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The rules of instruction scheduling that the QPU does not enforce: breaking one gives
 * undefined results.
 *
 * Source: reference guide, "Summary of Instruction Restrictions" and the text around it, and the
 * addendum to it that vc4asm's author keeps (conditional writes to peripherals, VPM accesses,
 * branch distance). The assembler checks wherever execution may go as far as it can see; the
 * emulator checks where it goes. */
#ifndef QPU_HAZARD_H
#define QPU_HAZARD_H

#include <stdint.h>

#include "base/status.h"
#include "gpu/qpu/asm/program.h"
#include "gpu/qpu/isa/isa.h"

/** Kinds of hazard. An instruction opens some for the ones that follow it and is struck by
 * others. */
enum qpu_hazard {
  QPU_HAZARD_UNIFORM = 1 << 0,
  QPU_HAZARD_SFU = 1 << 1,
  QPU_HAZARD_TMU_SWAP = 1 << 2,
  QPU_HAZARD_R0 = 1 << 3, /**< to r3: the next three bits */
  QPU_HAZARD_R5 = 1 << 7,
  QPU_HAZARD_TLB_Z = 1 << 8,
  QPU_HAZARD_BRANCH = 1 << 9,
  QPU_HAZARD_END = 1 << 10,
  QPU_HAZARD_END_R14 = 1 << 11,
  QPU_HAZARD_END_Z = 1 << 12,
  QPU_HAZARD_END_FLOW = 1 << 13,
  QPU_HAZARD_SWITCH = 1 << 14
};

/** What of an instruction matters to others. */
struct qpu_effects {
  uint64_t reads, writes; /**< registers: bit n for ra, bit 32+n for rb */
  /** hazards for the next, the second and the third instruction after it */
  uint32_t opens[3];
  uint32_t strikes; /**< hazards that it must not meet */
};

struct qpu_effects qpu_effects_of(const struct qpu_inst *inst);

/** \brief The rule behind a hazard met; \a read_after_write for a register that was just written.
 * NULL for none. */
const char *qpu_hazard_rule(uint32_t met, int read_after_write);

/** \brief The rule that an instruction breaks by itself, or NULL. */
const char *qpu_hazard_within(const struct qpu_inst *inst);

/** \brief Checks a program wherever execution may go by branches whose targets are known.
 * STATUS_USAGE with "file:line: rule". */
status_t qpu_hazard_check(const struct qpu_program *program);

#endif
