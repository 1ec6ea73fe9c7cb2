/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The VideoCore IV QPU's instruction set as tables, shared by assembler, hazard checker and
 * emulator.
 *
 * Source: Broadcom, "VideoCore IV 3D Architecture Reference Guide" (VideoCoreIV-AG100-R, 2013),
 * section 3. Names are those of vc4asm. Comments note where experiments contradict the guide. */
#ifndef QPU_ISA_H
#define QPU_ISA_H

#include <stdint.h>

#define QPU_LANES             16
#define QPU_INSTRUCTION_BYTES 8

enum qpu_signal {
  QPU_SIG_NONE = 1,
  QPU_SIG_THREAD_SWITCH = 2,
  QPU_SIG_THREAD_END = 3,
  QPU_SIG_LOAD_TMU0 = 10,
  QPU_SIG_LOAD_TMU1 = 11,
  QPU_SIG_SMALL_IMMEDIATE = 13,
  QPU_SIG_LOAD_IMMEDIATE = 14,
  QPU_SIG_BRANCH = 15
};

enum qpu_add_op {
  QPU_A_NOP = 0,
  QPU_A_FADD = 1,
  QPU_A_FSUB = 2,
  QPU_A_ADD = 12,
  QPU_A_SUB = 13,
  QPU_A_SHR = 14,
  QPU_A_SHL = 17,
  QPU_A_MIN = 18,
  QPU_A_MAX = 19,
  QPU_A_AND = 20,
  QPU_A_OR = 21,
  QPU_A_XOR = 22
};

enum qpu_mul_op { QPU_M_NOP, QPU_M_FMUL, QPU_M_MUL24, QPU_M_V8MIN = 4, QPU_M_V8SUBS = 7 };

enum qpu_cond { QPU_COND_NEVER, QPU_COND_ALWAYS, QPU_COND_Z, QPU_COND_NZ, QPU_COND_N, QPU_COND_NN };

#define QPU_BRANCH_ALWAYS 15

/** Codes of an ALU's input multiplexers; 0 to 5 are the accumulators. */
enum { QPU_MUX_R4 = 4, QPU_MUX_R5 = 5, QPU_MUX_A = 6, QPU_MUX_B = 7 };

/** Kinds of load-immediate words, by the unpack field. */
enum qpu_load_kind { QPU_LOAD_32 = 0, QPU_LOAD_SEMAPHORE = 4 };

/** Register addresses from 32 on: peripherals. A number has different meanings for reads and
 * writes. */
enum qpu_register {
  QPU_R_UNIFORM = 32,
  QPU_R_ELEMENT = 38, /**< through file A: the lane's number; through file B: the QPU's number */
  QPU_R_NOP = 39,
  QPU_R_VPM = 48,
  QPU_R_VPM_BUSY = 49, /**< file A: 1 while a DMA load runs; file B: 1 while a store runs */
  QPU_R_VPM_WAIT = 50,
  QPU_R_MUTEX = 51,
  QPU_W_ACC0 = 32,
  QPU_W_ACC3 = 35,
  QPU_W_R5 = 37, /**< file A: each quad gets its first element; file B: all lanes get element 0 */
  QPU_W_HOST_INTERRUPT = 38,
  QPU_W_NOP = 39,
  QPU_W_UNIFORM_ADDRESS = 40, /**< file B: relative to the stream's current position */
  QPU_W_VPM = 48,
  QPU_W_VPM_SETUP = 49,   /**< file A: read side, file B: write side */
  QPU_W_VPM_ADDRESS = 50, /**< file A: start a DMA load, file B: start a DMA store */
  QPU_W_MUTEX = 51,
  QPU_W_TMU0_S = 56,
  QPU_W_TMU0_B = 59,
  QPU_W_TMU1_S = 60,
  QPU_W_TMU1_B = 63
};

/** Small immediates: 0 to 47 are values; 48 rotates by r5 (not emulated), n > 48 by n − 48. */
#define QPU_SMALL_ROTATE 48

enum qpu_kind { QPU_ALU, QPU_LOAD, QPU_SEMAPHORE, QPU_BRANCH };

/** One decoded instruction word. A field that the word's kind lacks has the word's bits at its
 * position. */
struct qpu_inst {
  uint8_t sig, unpack, pm, pack, cond_add, cond_mul, sf, ws, waddr_add, waddr_mul;
  uint8_t op_mul, op_add, raddr_a, raddr_b, add_a, add_b, mul_a, mul_b;
  /** fields of branches only; the lowest of the five bits of a branch's raddr_a is also `sf` */
  uint8_t cond_br, rel, reg;
  uint32_t imm; /**< immediate value of loads, semaphores and branches */
};

/** \brief Decodes \a word. qpu_encode(qpu_decode(w)) is w for every word. */
struct qpu_inst qpu_decode(uint64_t word);
uint64_t qpu_encode(const struct qpu_inst *inst);

/** \brief The word of an instruction that does nothing. */
#define QPU_NOP_WORD UINT64_C(0x100009e7009e7000)

enum qpu_kind qpu_inst_kind(const struct qpu_inst *inst);

/** Names of operations with two sources; NULL if the code is reserved or no kernel needs it. */
extern const char *const qpu_add_ops[32];
extern const char *const qpu_mul_ops[8];

/** Names of signals; NULL if a code is no separate signal, or no kernel needs it */
extern const char *const qpu_signal_names[16];
/** Names of conditions of writes, such as "z" for .ifz. The first two are "never" and "" (always).
 * Names of conditions on the carry flag are NULL. */
extern const char *const qpu_cond_names[8];
/** Names of conditions of branches, such as "allz". The name of "always" is "". Names of reserved
 * conditions and of conditions on the carry flag are NULL. */
extern const char *const qpu_branch_names[16];

enum { QPU_FILE_A = 1, QPU_FILE_B = 2, QPU_FILE_AB = 3 };

/** A name that a program may use for a register. */
struct qpu_register_name {
  const char *name;
  int8_t accumulator; /**< number as an accumulator, 0 to 5; −1 if it cannot be read as one */
  uint8_t read_addr;
  uint8_t read_files; /**< files through which the register can be read; 0 for none */
  uint8_t write_addr;
  uint8_t write_files;
};

/** \brief Finds the register \a name, such as "vpm" or "ra31"; returns 0 if there is none. */
int qpu_register_find(const char *name, struct qpu_register_name *reg);

/** \brief Returns the value of small immediate \a code, 0 to 47, in all lanes. For codes from 48 on
 * (rotations), returns the constant that reading them gives, −16 to −1. */
uint32_t qpu_small_value(int code);

/** \brief Returns the code of the small immediate with these bits, or −1 if there is none. */
int qpu_small_code(uint32_t bits);

#endif
