/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The emulator's state, shared by its source files. */
#ifndef QPU_EMU_STATE_H
#define QPU_EMU_STATE_H

#include "gpu/qpu/asm/hazard.h"
#include "gpu/qpu/emulator/emu.h"
#include "gpu/qpu/emulator/vpm.h"
#include "gpu/qpu/isa/alu.h"
#include "gpu/qpu/isa/isa.h"

#define QPU_ALL_LANES 0xffffu
/* maximum look-ups in a TMU; the guide allows 8, which others found unreliable */
#define QPU_TMU_SLOTS  4
#define QPU_PAGE_WORDS 64
#define QPU_NO_OWNER   (-1)

/** Indices into a thread's registers. They are in one array, so that an operand is one index. */
enum {
  REG_A = 0,
  REG_B = 32,
  REG_ACC = 64,    /**< first index of r0 to r5 */
  REG_PORT_A = 70, /**< value read from a peripheral through file A */
  REG_PORT_B = 71,
  REG_DISCARD = 72,
  REG_COUNT = 73,
  REG_SPECIAL = 255 /**< index of a target that is a peripheral, see qpu_io_write */
};

/** A decoded instruction. The fields that qpu_issue_fast uses come first. */
struct qpu_decoded {
  qpu_vec constant;          /**< small immediate or load immediate in all lanes */
  qpu_alu_function add, mul; /**< functions of the two ALUs; NULL for nop */
  /** hazards for the next three instructions, 16 bits each, from the lowest bits on */
  uint64_t opens;
  uint64_t issued;
  struct qpu_effects effects;
  uint8_t source[4]; /**< register index, or QPU_CONSTANT */
  uint8_t target_add, target_mul;
  uint8_t port_a, port_b; /**< peripheral address to read, 0 for none */
  /** 1: reads only registers and uniforms, and writes only registers: see qpu_issue_fast */
  uint8_t fast;
  uint8_t direct; /**< 1: the mul ALU does not read the add ALU's target */
  uint8_t may_stall;
  uint8_t rotation; /**< lanes by which the mul ALU's source is rotated upward, 0 to 15 */
  uint8_t plain;    /**< 1: writes only registers, without rotation, flags and conditions */
  uint8_t flops;    /**< number of floating-point operations, 0 to 2 */
  uint8_t valid;
  struct qpu_inst inst;
  enum qpu_kind kind;
  const char *error;           /**< reason why the instruction can never run, or NULL */
  const struct qpu_rule *rule; /**< rule that the instruction breaks by itself, or NULL */
};
#define QPU_CONSTANT 254

struct qpu_tmu {
  qpu_vec slot[QPU_TMU_SLOTS];
  uint64_t ready[QPU_TMU_SLOTS]; /**< clocks at which look-ups are answered, for estimates */
  int first, n;
};

/** A write to a register, and the lanes that it wrote. */
struct qpu_write {
  unsigned lanes;
  uint8_t reg;
};

/** A running program: the state of a hardware thread. */
struct qpu_thread {
  qpu_vec reg[REG_COUNT];
  struct qpu_tmu tmu[2];
  uint32_t pc, uniforms;
  unsigned z, n;  /**< zero and negative flags, one bit per lane */
  unsigned jumps; /**< bit k: a branch takes effect after k more instructions */
  uint32_t target[5];
  int ending;    /**< instructions until the program ends, 0 if it does not end */
  int switching; /**< instructions until a thread switch, 0 for none */
  int running;
  size_t job;
  uint64_t open;    /**< hazards open for the next three instructions, as in qpu_decoded */
  uint64_t written; /**< registers that the last instruction wrote */
  /** writes of the last instruction, which a rotation in the next one may read too early */
  struct qpu_write last[2];
  int n_last;
  /* for estimates: `ready` is the cycle on which the thread continues, the others are the clocks
   * (four per cycle) at which its current and its next line of uniforms arrive */
  uint64_t ready, line_ready, next_ready;
  uint32_t line, next_line;
  int8_t waiting;    /**< cause of the wait, enum qpu_stall; −1 if it does not wait */
  uint8_t waits_for; /**< number of the semaphore that the thread waits for */
};

/** State that the threads of a QPU share. */
struct qpu_qpu {
  struct qpu_thread thread[2];
  int current;
  struct qpu_vpm_access read, next_read, write;
  struct qpu_dma load, store;
};

struct qpu_emu {
  struct qpu_emu_config config;
  struct qpu_memory memory;
  struct qpu_decoded **pages;
  size_t n_pages, first_page, end_page; /**< pages outside [first, end) contain no code */
  struct qpu_qpu *qpus;
  struct qpu_vpm vpm;
  uint8_t semaphores[16];
  int mutex_owner;          /**< owner of the mutex: QPU · 2 + thread, or QPU_NO_OWNER */
  uint64_t cycle, next_dma; /**< next_dma: cycle on which the first transfer may end */
  int n_running;
  const struct qpu_job *jobs;
  size_t n_jobs, next_job;
  struct qpu_emu_stats stats;
  struct qpu_cost *cost; /**< model of the time estimate; NULL without one */
};

/** A thread that is about to issue an instruction. */
struct qpu_issue {
  struct qpu_emu *emu;
  struct qpu_qpu *qpu;
  struct qpu_thread *thread;
  const struct qpu_decoded *decoded;
  int number; /**< number of the QPU */
  int n_last; /**< number of writes of the previous instruction */
};

/* Four lanes, as in isa/alu.c. */
typedef uint32_t qpu_quad __attribute__((vector_size(16), may_alias));
static const qpu_quad qpu_lane_bits[4] = {
    {1, 2, 4, 8}, {16, 32, 64, 128}, {256, 512, 1024, 2048}, {4096, 8192, 16384, 32768}};

/** \brief Returns one bit per lane: its sign bit if \a sign is 1, otherwise 1 if any bit is set. */
static inline unsigned qpu_mask_of(const qpu_vec *value, int sign)
{
  typedef uint64_t wide_quad __attribute__((vector_size(16), may_alias));
  typedef int32_t int_quad __attribute__((vector_size(16), may_alias));
  qpu_quad all = {0};
  for (int q = 0; q < 4; q++) {
    qpu_quad x = ((const qpu_quad *)value)[q];
    all |= (sign ? (qpu_quad)((int_quad)x < 0) : (qpu_quad)(x != 0)) & qpu_lane_bits[q];
  }
  wide_quad wide = (wide_quad)all;
  uint64_t both = wide[0] | wide[1];
  return (unsigned)(both | both >> 32) & QPU_ALL_LANES;
}

/** \brief Copies the lanes whose bit in \a lanes is set. */
static inline void qpu_assign(qpu_vec *out, const qpu_vec *value, unsigned lanes)
{
  if (lanes == QPU_ALL_LANES) {
    *out = *value;
    return;
  }
  for (int q = 0; q < 4; q++) {
    qpu_quad take = (qpu_quad)((qpu_lane_bits[q] & lanes) != 0), *to = &((qpu_quad *)out)[q];
    *to = (((const qpu_quad *)value)[q] & take) | (*to & ~take);
  }
}

/** \brief Logs an error in a QPU program, with QPU, address and cause. Returns STATUS_FAULT. */
status_t qpu_emu_fault(const struct qpu_issue *issue, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** \brief Records a register that is about to be written. */
static inline void qpu_rules_note(struct qpu_thread *thread, int reg, unsigned lanes)
{
  if (thread->n_last < 2) thread->last[thread->n_last++] = (struct qpu_write){lanes, (uint8_t)reg};
}

/** \brief Issues one instruction and returns 1 if it is a common one that affects only registers.
 * Otherwise does nothing and returns 0, and qpu_issue must run it. */
int qpu_issue_fast(struct qpu_emu *emu, struct qpu_thread *thread);

/** \brief Like qpu_issue_fast, for runs with a time estimate: also leaves uniforms beyond the
 * current line to qpu_issue. */
int qpu_issue_fast_timed(struct qpu_emu *emu, struct qpu_thread *thread);

/** \brief Issues one instruction and sets *issued to 1; if it has to wait, sets *issued to 0. */
status_t qpu_issue(struct qpu_issue *issue, int *issued);

/** \brief Returns the cause for which the instruction must wait (enum qpu_stall), or −1. */
int qpu_would_stall(struct qpu_issue *issue);
/** \brief Reads a peripheral through a file's port into the thread's port register. */
status_t qpu_io_read(struct qpu_issue *issue, int address, int file);
/** \brief Writes the lanes of \a value that are in \a lanes to a peripheral. */
status_t qpu_io_write(struct qpu_issue *issue, int address, int file, const qpu_vec *value, unsigned lanes);
/** \brief Moves the oldest answer of a TMU to r4. */
status_t qpu_tmu_load(struct qpu_issue *issue, int tmu);
/** \brief Ends transfers that are due by the current cycle, and all transfers of QPU \a all_of. */
status_t qpu_dma_advance(struct qpu_emu *emu, int all_of);

#endif
