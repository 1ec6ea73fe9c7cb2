/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/hazard.h"

#include <stddef.h>

#include "base/log.h"

static int reads_port(const struct qpu_inst *inst, int mux)
{
  if (qpu_inst_kind(inst) != QPU_ALU) return 0;
  int add = inst->op_add != QPU_A_NOP && (inst->add_a == mux || inst->add_b == mux);
  int mul = inst->op_mul != QPU_M_NOP && (inst->mul_a == mux || inst->mul_b == mux);
  return add || mul;
}

/* Returns the address read through a file's port, or −1 if there is none. A peripheral is read even
 * if no operation uses its value. */
static int read_address(const struct qpu_inst *inst, int file)
{
  int address = file == QPU_FILE_A ? inst->raddr_a : inst->raddr_b;
  if (qpu_inst_kind(inst) != QPU_ALU) return -1;
  if (file == QPU_FILE_B && inst->sig == QPU_SIG_SMALL_IMMEDIATE) return -1;
  int taken = reads_port(inst, file == QPU_FILE_A ? QPU_MUX_A : QPU_MUX_B);
  return taken || (address >= 32 && address != QPU_R_NOP) ? address : -1;
}

/* Returns the address written through a file's port, or −1 if there is none. An idle ALU writes
 * nothing, whatever target its fields name. */
static int write_address(const struct qpu_inst *inst, int file)
{
  int from_add = (file == QPU_FILE_A) != inst->ws;
  int idle = from_add ? inst->op_add == QPU_A_NOP : inst->op_mul == QPU_M_NOP;
  if (qpu_inst_kind(inst) == QPU_ALU && idle) return -1;
  int cond = from_add ? inst->cond_add : inst->cond_mul;
  int address = from_add ? inst->waddr_add : inst->waddr_mul;
  return address != QPU_W_NOP && cond != QPU_COND_NEVER ? address : -1;
}

static int is_tmu(int address)
{
  return address >= QPU_W_TMU0_S && address <= QPU_W_TMU1_B;
}

static int is_vpm(int address)
{
  return address >= QPU_R_VPM && address <= QPU_R_VPM_WAIT;
}

static int rotates(const struct qpu_inst *inst)
{
  return inst->sig == QPU_SIG_SMALL_IMMEDIATE && inst->raddr_b > QPU_SMALL_ROTATE &&
         inst->op_mul != QPU_M_NOP;
}

static void read_effects(const struct qpu_inst *inst, struct qpu_effects *effects)
{
  for (int file = QPU_FILE_A; file <= QPU_FILE_B; file++) {
    int address = read_address(inst, file);
    if (address < 0) continue;
    if (address < 32) effects->reads |= UINT64_C(1) << (address + (file == QPU_FILE_B ? 32 : 0));
    if (address == QPU_R_UNIFORM) effects->strikes |= QPU_HAZARD_UNIFORM;
    if (address == 14) effects->strikes |= QPU_HAZARD_END_R14;
    if (address == QPU_R_UNIFORM || is_vpm(address)) effects->strikes |= QPU_HAZARD_END;
  }
  if (!rotates(inst)) return;
  if (inst->mul_a < QPU_MUX_R4) effects->strikes |= (uint32_t)QPU_HAZARD_R0 << inst->mul_a;
  if (inst->mul_b < QPU_MUX_R4) effects->strikes |= (uint32_t)QPU_HAZARD_R0 << inst->mul_b;
}

static void open_for(struct qpu_effects *effects, int first, int last, uint32_t hazards)
{
  for (int distance = first; distance <= last; distance++) effects->opens[distance - 1] |= hazards;
}

static void write_effects(const struct qpu_inst *inst, struct qpu_effects *effects)
{
  for (int file = QPU_FILE_A; file <= QPU_FILE_B; file++) {
    int address = write_address(inst, file);
    if (address < 0) continue;
    if (address < 32) effects->writes |= UINT64_C(1) << (address + (file == QPU_FILE_B ? 32 : 0));
    if (address == 14) effects->strikes |= QPU_HAZARD_END_R14;
    if (is_vpm(address) || is_tmu(address)) effects->strikes |= QPU_HAZARD_END;
    if (address >= QPU_W_ACC0 && address <= QPU_W_ACC3)
      open_for(effects, 1, 1, (uint32_t)QPU_HAZARD_R0 << (address - 32));
    if (address == QPU_W_UNIFORM_ADDRESS) open_for(effects, 1, 2, QPU_HAZARD_UNIFORM);
  }
}

struct qpu_effects qpu_effects_of(const struct qpu_inst *inst)
{
  struct qpu_effects effects = {0};
  read_effects(inst, &effects);
  write_effects(inst, &effects);
  int ends = inst->sig == QPU_SIG_THREAD_END;
  int switches = inst->sig == QPU_SIG_THREAD_SWITCH;
  int branches = inst->sig == QPU_SIG_BRANCH;
  if (ends || switches || branches)
    effects.strikes |= QPU_HAZARD_BRANCH | QPU_HAZARD_END_FLOW | QPU_HAZARD_SWITCH;
  if (branches) open_for(&effects, 1, 2, QPU_HAZARD_BRANCH);
  if (switches) open_for(&effects, 1, 2, QPU_HAZARD_SWITCH);
  if (ends) open_for(&effects, 1, 2, QPU_HAZARD_END | QPU_HAZARD_END_R14 | QPU_HAZARD_END_FLOW);
  return effects;
}

static const struct qpu_rule rules[] = {
    {QPU_HAZARD_REGISTER,
     "a register of file A or B cannot be read by the instruction after the one that writes it"},
    {QPU_HAZARD_UNIFORM, "uniforms cannot be read in the two instructions after their address is written"},
    {QPU_HAZARD_ROTATION,
     "a vector rotation cannot take from a higher quad what the instruction before writes there"},
    {QPU_HAZARD_BRANCH, "no branch, thread switch or thread end in the first two delay slots of a branch"},
    {QPU_HAZARD_END, "the last three instructions (thread end and its delay slots) cannot read uniforms or "
                     "varyings, or touch VPM, DMA or TMU"},
    {QPU_HAZARD_END_R14, "thread end and its two delay slots cannot read or write ra14 or rb14"},
    {QPU_HAZARD_END_FLOW, "no branch, thread switch or second thread end in the delay slots of thread end"},
    {QPU_HAZARD_SWITCH, "no branch, thread end or second switch in the two delay slots of a thread switch"},
};

const struct qpu_rule *qpu_hazard_rule(uint32_t met)
{
  for (size_t i = 0; met && i < sizeof rules / sizeof rules[0]; i++)
    if (met & rules[i].hazards) return &rules[i];
  return NULL;
}

unsigned qpu_rotation_lanes(const struct qpu_inst *inst)
{
  int file = inst->ws ? QPU_FILE_A : QPU_FILE_B, flags = inst->sf && inst->op_add == QPU_A_NOP;
  if (flags) return 0xffff;
  if (inst->cond_mul == QPU_COND_NEVER) return 0;
  switch (inst->waddr_mul) {
  case QPU_W_NOP:
    return 0;
  case QPU_W_R5:
    return file == QPU_FILE_B ? 1 : 0x1111;
  case QPU_W_UNIFORM_ADDRESS:
  case QPU_W_VPM_SETUP:
  case QPU_W_VPM_ADDRESS:
    return 1;
  default:
    return 0xffff;
  }
}

unsigned qpu_rotation_stale(unsigned lanes, unsigned written, int n)
{
  unsigned stale = 0;
  for (int i = 0; i < QPU_LANES; i++) {
    int from = (i - n) & (QPU_LANES - 1);
    if (lanes >> i & 1 && written >> from & 1 && from / 4 > i / 4) stale |= 1u << i;
  }
  return stale;
}

static int count_peripherals(const struct qpu_inst *inst)
{
  int count = (qpu_inst_kind(inst) == QPU_SEMAPHORE) +
              (inst->sig == QPU_SIG_LOAD_TMU0 || inst->sig == QPU_SIG_LOAD_TMU1);
  int mutex = 0;
  for (int file = QPU_FILE_A; file <= QPU_FILE_B; file++) {
    int written = write_address(inst, file);
    count += is_tmu(written);
    mutex |= read_address(inst, file) == QPU_R_MUTEX;
  }
  return count + mutex;
}

static int mixes_vpm(const struct qpu_inst *inst)
{
  int count = 0, plain_reads = 0, plain_writes = 0;
  for (int file = QPU_FILE_A; file <= QPU_FILE_B; file++) {
    int read = read_address(inst, file), written = write_address(inst, file);
    plain_reads += read == QPU_R_VPM;
    plain_writes += written == QPU_W_VPM;
    count += is_vpm(read) + is_vpm(written);
  }
  return count > 1 && !(count == 2 && plain_reads == 1 && plain_writes == 1);
}

/* Returns the input multiplexer whose value an operation copies unchanged, or −1 for none. */
static int moved_mux(const struct qpu_inst *inst, int from_mul)
{
  int a = from_mul ? inst->mul_a : inst->add_a, b = from_mul ? inst->mul_b : inst->add_b;
  int moves = from_mul ? inst->op_mul == QPU_M_V8MIN
                       : inst->op_add == QPU_A_OR || inst->op_add == QPU_A_AND || inst->op_add == QPU_A_MIN ||
                             inst->op_add == QPU_A_MAX;
  return moves && a == b ? a : -1;
}

static int moves_the_same(const struct qpu_inst *inst)
{
  int mux = moved_mux(inst, 0);
  return qpu_inst_kind(inst) == QPU_ALU && mux >= 0 && mux == moved_mux(inst, 1) && !rotates(inst);
}

/* Returns whether both ALUs write the same target. Addresses below 32 are registers of different
 * files. Most addresses from 32 on mean the same in both files. */
static int same_target(const struct qpu_inst *inst)
{
  static const uint8_t by_file[] = {QPU_W_R5, QPU_W_UNIFORM_ADDRESS, QPU_W_VPM_SETUP, QPU_W_VPM_ADDRESS};
  int address = write_address(inst, QPU_FILE_A);
  if (address < 32 || address != write_address(inst, QPU_FILE_B)) return 0;
  for (size_t i = 0; i < sizeof by_file; i++)
    if (address == by_file[i]) return 0;
  int one_or_other = inst->cond_add >= QPU_COND_Z && (inst->cond_add ^ 1) == inst->cond_mul;
  int load = qpu_inst_kind(inst) == QPU_LOAD;
  return !(address <= QPU_W_ACC3 && (one_or_other || load || moves_the_same(inst)));
}

static int conditional_peripheral(const struct qpu_inst *inst)
{
  int add = inst->cond_add > QPU_COND_ALWAYS && (is_tmu(inst->waddr_add) || inst->waddr_add == QPU_W_VPM);
  int mul = inst->cond_mul > QPU_COND_ALWAYS && (is_tmu(inst->waddr_mul) || inst->waddr_mul == QPU_W_VPM);
  return add || mul;
}

/* Returns whether a field has a reserved code, or one that is not emulated: conditions on the carry
 * flag, rotations by r5, and branches through a register or with a link. */
static int reserved_code(const struct qpu_inst *inst)
{
  if (inst->sig == QPU_SIG_BRANCH)
    return !qpu_branch_names[inst->cond_br] || !inst->rel || inst->reg || inst->waddr_add != QPU_W_NOP ||
           inst->waddr_mul != QPU_W_NOP;
  if (!qpu_cond_names[inst->cond_add] || !qpu_cond_names[inst->cond_mul]) return 1;
  if (inst->sig == QPU_SIG_LOAD_IMMEDIATE)
    return inst->unpack != QPU_LOAD_32 && inst->unpack != QPU_LOAD_SEMAPHORE;
  if (inst->sig == QPU_SIG_SMALL_IMMEDIATE && inst->raddr_b == QPU_SMALL_ROTATE) return 1;
  if (inst->sig != QPU_SIG_SMALL_IMMEDIATE && inst->sig != QPU_SIG_NONE && !qpu_signal_names[inst->sig])
    return 1;
  return !qpu_add_ops[inst->op_add] || !qpu_mul_ops[inst->op_mul];
}

#define WITHIN(name, text) static const struct qpu_rule name = {0, text}
WITHIN(code_rule, "reserved code in the instruction word, or one that is not emulated");
WITHIN(end_write_rule, "the thread end instruction cannot write to register file A or B");
WITHIN(end_access_rule, "the thread end instruction cannot read uniforms or touch VPM, DMA or TMU");
WITHIN(end_r14_rule, "thread end and its two delay slots cannot read or write ra14 or rb14");
WITHIN(target_rule, "both ALUs write the same register");
WITHIN(access_rule,
       "an instruction has one of these accesses only: TMU write, TMU load, mutex read, semaphore");
WITHIN(vpm_rule, "the only two VPM accesses that go together in one instruction are a read and a write");
WITHIN(partial_rule, "a write to a TMU or to VPM cannot be conditional: it happens anyway");

const struct qpu_rule *qpu_hazard_within(const struct qpu_inst *inst)
{
  struct qpu_effects effects = qpu_effects_of(inst);
  int ends = inst->sig == QPU_SIG_THREAD_END;
  if (reserved_code(inst)) return &code_rule;
  if (ends && effects.writes) return &end_write_rule;
  if (ends && (effects.strikes & QPU_HAZARD_END)) return &end_access_rule;
  if (ends && (effects.strikes & QPU_HAZARD_END_R14)) return &end_r14_rule;
  if (same_target(inst)) return &target_rule;
  if (count_peripherals(inst) > 1) return &access_rule;
  if (mixes_vpm(inst)) return &vpm_rule;
  return conditional_peripheral(inst) ? &partial_rule : NULL;
}

static const char *rotates_badly(const struct qpu_inst *inst)
{
  int n = inst->raddr_b - QPU_SMALL_ROTATE, is_near = (n + 3) % 16 < 7;
  if (!rotates(inst) || inst->mul_a < QPU_MUX_R4 || inst->mul_b < QPU_MUX_R4 || is_near) return NULL;
  return "a full vector rotation takes its sources from r0 to r3 only; from elsewhere it stays within each "
         "quad";
}

status_t qpu_hazard_check(const struct qpu_program *program)
{
  for (size_t i = 0; i < program->n_words; i++) {
    const struct qpu_inst inst = qpu_decode(program->words[i]);
    const struct qpu_rule *within = qpu_hazard_within(&inst);
    const char *rule = within ? within->text : rotates_badly(&inst);
    if (rule)
      return log_fail(STATUS_USAGE, "%s:%d: %s", program->origins[i].file, program->origins[i].line, rule);
  }
  return STATUS_OK;
}
