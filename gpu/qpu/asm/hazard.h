/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The rules of instruction scheduling that the QPU does not enforce. A program that breaks a
 * rule has undefined results.
 *
 * Source: reference guide, "Summary of Instruction Restrictions" and the text around it, and the
 * addendum by vc4asm's author (conditional writes to peripherals, VPM accesses, branch distance).
 * The assembler checks each instruction by itself; the emulator also checks sequences as they are
 * executed. */
#ifndef QPU_HAZARD_H
#define QPU_HAZARD_H

#include <stdint.h>

#include "base/status.h"
#include "gpu/qpu/asm/program.h"
#include "gpu/qpu/isa/isa.h"

/** Kinds of hazard. An instruction opens hazards for the instructions after it, and must not
 * conflict with hazards that earlier instructions opened. */
enum qpu_hazard {
  QPU_HAZARD_UNIFORM = 1 << 0,
  QPU_HAZARD_R0 = 1 << 3, /**< first of four bits, for r0 to r3 */
  QPU_HAZARD_ROTATION = QPU_HAZARD_R0 * 15,
  QPU_HAZARD_BRANCH = 1 << 9,
  QPU_HAZARD_END = 1 << 10,
  QPU_HAZARD_END_R14 = 1 << 11,
  QPU_HAZARD_END_FLOW = 1 << 13,
  QPU_HAZARD_SWITCH = 1 << 14,
  QPU_HAZARD_REGISTER = 1 << 15 /**< this hazard is found by comparing written and read registers */
};

struct qpu_rule {
  uint32_t hazards; /**< the hazards that break the rule; 0 for a rule about one instruction */
  const char *text;
};

/** Effects of an instruction on other instructions. */
struct qpu_effects {
  uint64_t reads, writes; /**< register masks: bit n is ra n, bit 32 + n is rb n */
  /** hazards that the instruction opens for the next, second and third instruction */
  uint32_t opens[3];
  uint32_t strikes; /**< open hazards with which the instruction conflicts */
};

struct qpu_effects qpu_effects_of(const struct qpu_inst *inst);

/** \brief Returns the first rule about one of the hazards \a met, or NULL if there is none. */
const struct qpu_rule *qpu_hazard_rule(uint32_t met);

/** \brief Returns the rule that an instruction breaks by itself, or NULL if there is none. */
const struct qpu_rule *qpu_hazard_within(const struct qpu_inst *inst);

/** \brief Returns a mask of the lanes of a rotation's result that its target uses. A target that
 * replicates or reads single elements uses one lane, or one per quad. The mask of an unused result
 * is 0. */
unsigned qpu_rotation_lanes(const struct qpu_inst *inst);

/** \brief Returns those of the \a lanes of a result rotated by \a n whose source lane is in a
 * higher quad and in \a written. They get the values from before the last instruction. */
unsigned qpu_rotation_stale(unsigned lanes, unsigned written, int n);

/** \brief Checks each instruction of a program. If one breaks a rule, logs "file:line: rule" and
 * returns STATUS_USAGE. */
status_t qpu_hazard_check(const struct qpu_program *program);

#endif
