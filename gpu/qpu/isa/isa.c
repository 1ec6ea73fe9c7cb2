/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/isa/isa.h"

#include <stdlib.h>
#include <string.h>

const char *const qpu_add_ops[32] = {
    [QPU_A_NOP] = "nop", [QPU_A_FADD] = "fadd", [QPU_A_FSUB] = "fsub", [QPU_A_ADD] = "add",
    [QPU_A_SUB] = "sub", [QPU_A_SHR] = "shr",   [QPU_A_SHL] = "shl",   [QPU_A_MIN] = "min",
    [QPU_A_MAX] = "max", [QPU_A_AND] = "and",   [QPU_A_OR] = "or",     [QPU_A_XOR] = "xor",
};

const char *const qpu_mul_ops[8] = {[QPU_M_NOP] = "nop",
                                    [QPU_M_FMUL] = "fmul",
                                    [QPU_M_MUL24] = "mul24",
                                    [QPU_M_V8MIN] = "v8min",
                                    [QPU_M_V8SUBS] = "v8subs"};

const char *const qpu_signal_names[16] = {[QPU_SIG_THREAD_SWITCH] = "thrsw",
                                          [QPU_SIG_THREAD_END] = "thrend",
                                          [QPU_SIG_LOAD_TMU0] = "ldtmu0",
                                          [QPU_SIG_LOAD_TMU1] = "ldtmu1"};

const char *const qpu_cond_names[8] = {"never", "", "z", "nz", "n", "nn", NULL, NULL};

const char *const qpu_branch_names[16] = {
    "allz", "allnz", "anyz", "anynz", "alln", "allnn", "anyn", "anynn", [QPU_BRANCH_ALWAYS] = ""};

/* Initialisers of a register's numbers and files: as an accumulator, for reading, and for
 * writing. */
#define READ(addr, files)          -1, addr, files, 0, 0
#define WRITE(addr, files)         -1, 0, 0, addr, files
#define BOTH(addr, files)          -1, addr, files, addr, files
#define ACCUMULATOR(number, files) number, 0, 0, QPU_W_ACC0 + (number), files

static const struct qpu_register_name names[] = {
    {"r0", ACCUMULATOR(0, QPU_FILE_AB)},
    {"r1", ACCUMULATOR(1, QPU_FILE_AB)},
    {"r2", ACCUMULATOR(2, QPU_FILE_AB)},
    {"r3", ACCUMULATOR(3, QPU_FILE_AB)},
    {"r4", ACCUMULATOR(4, 0)},
    {"r5", ACCUMULATOR(5, 0)},
    {"-", BOTH(QPU_R_NOP, QPU_FILE_AB)},
    {"unif", READ(QPU_R_UNIFORM, QPU_FILE_AB)},
    {"elem_num", READ(QPU_R_ELEMENT, QPU_FILE_A)},
    {"qpu_num", READ(QPU_R_ELEMENT, QPU_FILE_B)},
    {"vpm", BOTH(QPU_R_VPM, QPU_FILE_AB)},
    {"vr_busy", READ(QPU_R_VPM_BUSY, QPU_FILE_A)},
    {"vw_busy", READ(QPU_R_VPM_BUSY, QPU_FILE_B)},
    {"vr_wait", READ(QPU_R_VPM_WAIT, QPU_FILE_A)},
    {"vw_wait", READ(QPU_R_VPM_WAIT, QPU_FILE_B)},
    {"mutex", BOTH(QPU_R_MUTEX, QPU_FILE_AB)},
    {"r5quad", WRITE(QPU_W_R5, QPU_FILE_A)},
    {"r5rep", WRITE(QPU_W_R5, QPU_FILE_B)},
    {"irq", WRITE(QPU_W_HOST_INTERRUPT, QPU_FILE_AB)},
    {"unif_addr", WRITE(QPU_W_UNIFORM_ADDRESS, QPU_FILE_A)},
    {"unif_addr_rel", WRITE(QPU_W_UNIFORM_ADDRESS, QPU_FILE_B)},
    {"vr_setup", WRITE(QPU_W_VPM_SETUP, QPU_FILE_A)},
    {"vw_setup", WRITE(QPU_W_VPM_SETUP, QPU_FILE_B)},
    {"vr_addr", WRITE(QPU_W_VPM_ADDRESS, QPU_FILE_A)},
    {"vw_addr", WRITE(QPU_W_VPM_ADDRESS, QPU_FILE_B)},
    {"t0s", WRITE(QPU_W_TMU0_S, QPU_FILE_AB)},
    {"t1s", WRITE(QPU_W_TMU1_S, QPU_FILE_AB)},
};

#define N_NAMES (sizeof names / sizeof names[0])

static unsigned field(uint64_t word, int shift, int bits)
{
  return (unsigned)(word >> shift) & ((1u << bits) - 1);
}

struct qpu_inst qpu_decode(uint64_t word)
{
  struct qpu_inst inst = {
      .sig = field(word, 60, 4),
      .unpack = field(word, 57, 3),
      .pm = field(word, 56, 1),
      .pack = field(word, 52, 4),
      .cond_add = field(word, 49, 3),
      .cond_mul = field(word, 46, 3),
      .sf = field(word, 45, 1),
      .ws = field(word, 44, 1),
      .waddr_add = field(word, 38, 6),
      .waddr_mul = field(word, 32, 6),
      .op_mul = field(word, 29, 3),
      .op_add = field(word, 24, 5),
      .raddr_a = field(word, 18, 6),
      .raddr_b = field(word, 12, 6),
      .add_a = field(word, 9, 3),
      .add_b = field(word, 6, 3),
      .mul_a = field(word, 3, 3),
      .mul_b = field(word, 0, 3),
      .imm = (uint32_t)word,
  };
  if (inst.sig == QPU_SIG_BRANCH) {
    /* these fields share their bits with fields of other instructions */
    inst.cond_br = inst.pack;
    inst.rel = field(word, 51, 1);
    inst.reg = field(word, 50, 1);
    inst.raddr_a = field(word, 45, 5);
    inst.cond_add = inst.cond_mul = QPU_COND_ALWAYS;
  }
  return inst;
}

uint64_t qpu_encode(const struct qpu_inst *inst)
{
  uint64_t word = (uint64_t)inst->sig << 60 | (uint64_t)inst->unpack << 57 | (uint64_t)inst->pm << 56 |
                  (uint64_t)inst->ws << 44 | (uint64_t)inst->waddr_add << 38 |
                  (uint64_t)inst->waddr_mul << 32;
  if (inst->sig == QPU_SIG_BRANCH)
    return word | (uint64_t)inst->cond_br << 52 | (uint64_t)inst->rel << 51 | (uint64_t)inst->reg << 50 |
           (uint64_t)inst->raddr_a << 45 | inst->imm;
  word |= (uint64_t)inst->pack << 52 | (uint64_t)inst->cond_add << 49 | (uint64_t)inst->cond_mul << 46 |
          (uint64_t)inst->sf << 45;
  if (inst->sig == QPU_SIG_LOAD_IMMEDIATE) return word | inst->imm;
  return word | (uint64_t)inst->op_mul << 29 | (uint64_t)inst->op_add << 24 | (uint64_t)inst->raddr_a << 18 |
         (uint64_t)inst->raddr_b << 12 | (uint64_t)inst->add_a << 9 | (uint64_t)inst->add_b << 6 |
         (uint64_t)inst->mul_a << 3 | inst->mul_b;
}

enum qpu_kind qpu_inst_kind(const struct qpu_inst *inst)
{
  if (inst->sig == QPU_SIG_BRANCH) return QPU_BRANCH;
  if (inst->sig != QPU_SIG_LOAD_IMMEDIATE) return QPU_ALU;
  return inst->unpack == QPU_LOAD_SEMAPHORE ? QPU_SEMAPHORE : QPU_LOAD;
}

/* Finds ra0 to rb63. The numbers from 32 on reach peripherals through one file. */
static int find_numbered(const char *name, struct qpu_register_name *reg)
{
  char *end;
  if (name[0] != 'r' || (name[1] != 'a' && name[1] != 'b') || name[2] < '0' || name[2] > '9') return 0;
  long number = strtol(name + 2, &end, 10);
  if (*end != '\0' || number > 63 || (name[2] == '0' && name[3] != '\0')) return 0;
  uint8_t file = name[1] == 'a' ? QPU_FILE_A : QPU_FILE_B;
  *reg = (struct qpu_register_name){"a numbered register", -1, (uint8_t)number, file, (uint8_t)number, file};
  return 1;
}

int qpu_register_find(const char *name, struct qpu_register_name *reg)
{
  for (size_t i = 0; i < N_NAMES; i++)
    if (strcmp(names[i].name, name) == 0) {
      *reg = names[i];
      return 1;
    }
  return find_numbered(name, reg);
}

uint32_t qpu_small_value(int code)
{
  if (code < 16) return (uint32_t)code;
  if (code < 32) return (uint32_t)(code - 32);
  if (code < 48) {
    /* codes 32 to 47: 2^0 to 2^7, then 2^-8 to 2^-1 */
    int exponent = code < 40 ? code - 32 : code - 48;
    return (uint32_t)(127 + exponent) << 23;
  }
  return (uint32_t)(code - 64);
}

int qpu_small_code(uint32_t bits)
{
  for (int code = 0; code < QPU_SMALL_ROTATE; code++)
    if (qpu_small_value(code) == bits) return code;
  return -1;
}
