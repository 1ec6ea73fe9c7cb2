/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The rules of instruction scheduling that the QPU does not enforce: breaking one gives
 * undefined results.
 *
 * Source: reference guide, "Summary of Instruction Restrictions" and the text around it, and the
 * addendum to it that vc4asm's author keeps (conditional writes to peripherals, VPM accesses,
 * branch distance). The assembler checks each instruction by itself; the emulator checks also those
 * that follow each other where a program goes. */
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
  QPU_HAZARD_R0 = 1 << 3, /**< to r3: the next three bits */
  QPU_HAZARD_ROTATION = QPU_HAZARD_R0 * 15,
  QPU_HAZARD_BRANCH = 1 << 9,
  QPU_HAZARD_END = 1 << 10,
  QPU_HAZARD_END_R14 = 1 << 11,
  QPU_HAZARD_END_FLOW = 1 << 13,
  QPU_HAZARD_SWITCH = 1 << 14,
  QPU_HAZARD_REGISTER = 1 << 15 /**< found by comparing what is written with what is read */
};

struct qpu_rule {
  uint32_t hazards; /**< those that it is about, 0 for a rule about one instruction */
  const char *text;
};

/** Effects of an instruction on others. */
struct qpu_effects {
  uint64_t reads, writes; /**< registers: bit n for ra, bit 32+n for rb */
  /** hazards for the next, the second and the third instruction after it */
  uint32_t opens[3];
  uint32_t strikes; /**< hazards that it must not meet */
};

struct qpu_effects qpu_effects_of(const struct qpu_inst *inst);

/** \brief The first rule among the hazards met, NULL for none. */
const struct qpu_rule *qpu_hazard_rule(uint32_t met);

/** \brief The rule that an instruction breaks by itself, or NULL. */
const struct qpu_rule *qpu_hazard_within(const struct qpu_inst *inst);

/** \brief Lanes that a rotation's target takes its value from: one where the target replicates or
 * reads element 0 alone. 0 where nothing comes of the mul ALU's result. */
unsigned qpu_rotation_lanes(const struct qpu_inst *inst);

/** \brief Of the \a lanes of a result rotated by \a n, those that take theirs from a higher quad,
 * in a lane of \a written. Only these see what stood there before the last instruction. */
unsigned qpu_rotation_stale(unsigned lanes, unsigned written, int n);

/** \brief Checks each instruction of a program. STATUS_USAGE with "file:line: rule". */
status_t qpu_hazard_check(const struct qpu_program *program);

#endif
