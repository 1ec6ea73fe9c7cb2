/* SPDX-License-Identifier: MIT */
/** \file \brief ALU instructions with random fields: both ALUs, conditions, flags, rotation, small
 * immediates and the write swap together, compared with an interpreter that computes one lane after
 * the other. */
#include "tests/unit/qpu_model.h"

#include "gpu/qpu/emulator/state.h"
#include "gpu/qpu/emulator/predecode.h"

#define ROUNDS 60000

/** State that an instruction reads and writes: files A and B, r0 to r5, and flags, with a word or
 * bit per lane. */
struct registers {
  uint32_t file[2][32][QPU_LANES], acc[6][QPU_LANES];
  unsigned z, n;
};

static unsigned field(uint64_t word, int low, int bits)
{
  return (unsigned)(word >> low & ((1u << bits) - 1));
}

static int allowed(const struct registers *r, unsigned cond, int lane)
{
  unsigned flags[3] = {0xffff, r->z, r->n};
  if (cond < 2) return cond == 1;
  return (flags[cond >> 1] >> lane & 1) != (cond & 1);
}

/* Returns an operand of a lane, which a rotation takes from another lane. */
static uint32_t operand(const struct registers *r, uint64_t word, unsigned mux, int lane)
{
  int small = field(word, 60, 4) == QPU_SIG_SMALL_IMMEDIATE;
  unsigned a = field(word, 18, 6), b = field(word, 12, 6);
  if (mux < 6) return r->acc[mux][lane];
  if (mux == QPU_MUX_A) return a < 32 ? r->file[0][a][lane] : a == QPU_R_ELEMENT ? (uint32_t)lane : 0;
  return small ? qpu_small_value((int)b) : b < 32 ? r->file[1][b][lane] : 0;
}

static int source_lane(uint64_t word, unsigned mux, int lane)
{
  unsigned b = field(word, 12, 6), n = b - 48;
  if (field(word, 60, 4) != QPU_SIG_SMALL_IMMEDIATE || b < 48) return lane;
  return mux < 4 ? (lane - (int)n) & 15 : (lane & 12) | ((lane - (int)n) & 3);
}

struct outcome {
  uint32_t value[QPU_LANES];
};

static struct outcome computed(const struct registers *r, uint64_t word, int is_mul)
{
  struct outcome out = {{0}};
  int op = (int)(is_mul ? field(word, 29, 3) : field(word, 24, 5));
  for (int lane = 0; lane < QPU_LANES; lane++) {
    unsigned a = field(word, is_mul ? 3 : 9, 3), b = field(word, is_mul ? 0 : 6, 3);
    uint32_t x = operand(r, word, a, is_mul ? source_lane(word, a, lane) : lane),
             y = operand(r, word, b, is_mul ? source_lane(word, b, lane) : lane);
    out.value[lane] = is_mul ? model_mul(op, x, y) : model_add(op, x, y);
  }
  return out;
}

static void written(struct registers *r, const struct registers *before, uint64_t word, int is_mul,
                    const struct outcome *out)
{
  unsigned to = field(word, is_mul ? 32 : 38, 6), cond = field(word, is_mul ? 46 : 49, 3);
  int op = (int)(is_mul ? field(word, 29, 3) : field(word, 24, 5));
  int file = (field(word, 44, 1) != 0) != is_mul;
  if (op == 0 || to == QPU_W_NOP) return;
  uint32_t *lanes = to < 32 ? r->file[file][to] : r->acc[to - 32];
  for (int lane = 0; lane < QPU_LANES; lane++)
    if (allowed(before, cond, lane)) lanes[lane] = out->value[lane];
}

static void flagged(struct registers *r, const struct registers *before, uint64_t word,
                    const struct outcome out[2])
{
  int of_mul = field(word, 24, 5) == 0;
  if (!field(word, 45, 1) || (of_mul && field(word, 29, 3) == 0)) return;
  for (int lane = 0; lane < QPU_LANES; lane++) {
    unsigned bit = 1u << lane, x = out[of_mul].value[lane];
    if (!allowed(before, field(word, of_mul ? 46 : 49, 3), lane)) continue;
    r->z = (r->z & ~bit) | (x == 0 ? bit : 0);
    r->n = (r->n & ~bit) | (x >> 31 ? bit : 0);
  }
}

static void interpret(struct registers *r, uint64_t word)
{
  struct registers before = *r;
  struct outcome out[2] = {computed(r, word, 0), computed(r, word, 1)};
  for (int is_mul = 0; is_mul < 2; is_mul++) written(r, &before, word, is_mul, &out[is_mul]);
  flagged(r, &before, word, out);
}

static unsigned one_of(uint64_t *seed, unsigned n)
{
  return (unsigned)(qpu_random(seed) % n);
}

static uint64_t target(uint64_t *seed)
{
  static const uint8_t others[] = {32, 33, 34, 35, 39};
  return one_of(seed, 2) ? one_of(seed, 4) : others[one_of(seed, sizeof others)];
}

/* Returns an instruction that uses four registers of each file, so that sources meet results. */
static uint64_t random_instruction(uint64_t *seed)
{
  for (;;) {
    uint64_t word = qpu_random(seed);
    int small = one_of(seed, 3) == 0;
    word = (word & ~(UINT64_C(15) << 60)) | (uint64_t)(small ? QPU_SIG_SMALL_IMMEDIATE : QPU_SIG_NONE) << 60;
    word = (word & ~(UINT64_C(0xfff) << 32)) | target(seed) << 38 | target(seed) << 32;
    unsigned a = one_of(seed, 8) ? one_of(seed, 4) : one_of(seed, 2) ? QPU_R_ELEMENT : QPU_R_NOP;
    unsigned b = small ? one_of(seed, 64) : one_of(seed, 8) ? one_of(seed, 4) : QPU_R_NOP;
    word = (word & ~(UINT64_C(0xfff) << 12)) | (uint64_t)a << 18 | (uint64_t)b << 12;
    word &= ~(UINT64_C(0xff) << 52); /* no packing */
    /* always */
    if (one_of(seed, 4) == 0) word = (word & ~(UINT64_C(63) << 46)) | UINT64_C(9) << 46;
    if (field(word, 56, 1) && one_of(seed, 2)) word |= (uint64_t)(3 + one_of(seed, 5)) << 52;
    struct qpu_decoded decoded;
    qpu_predecode(word, &decoded);
    if (!decoded.error && !decoded.rule) return word;
  }
}

static void fill(uint64_t *seed, struct registers *r)
{
  for (int i = 0; i < 4; i++)
    for (int lane = 0; lane < QPU_LANES; lane++) {
      r->file[0][i][lane] = interesting(seed);
      r->file[1][i][lane] = interesting(seed);
    }
  for (int i = 0; i < 6; i++)
    for (int lane = 0; lane < QPU_LANES; lane++) r->acc[i][lane] = interesting(seed);
  r->z = (unsigned)qpu_random(seed) & 0xffff;
  r->n = (unsigned)qpu_random(seed) & 0xffff;
}

static void store(struct qpu_thread *thread, const struct registers *r)
{
  for (int i = 0; i < 32; i++) memcpy(&thread->reg[REG_A + i], r->file[0][i], sizeof(qpu_vec));
  for (int i = 0; i < 32; i++) memcpy(&thread->reg[REG_B + i], r->file[1][i], sizeof(qpu_vec));
  for (int i = 0; i < 6; i++) memcpy(&thread->reg[REG_ACC + i], r->acc[i], sizeof(qpu_vec));
  thread->z = r->z;
  thread->n = r->n;
}

static uint64_t tried;

static void expect_vector(const char *name, int number, const qpu_vec *got, const uint32_t *expected)
{
  for (int lane = 0; lane < QPU_LANES; lane++) {
    if ((*got)[lane] != expected[lane])
      print_error("%016llx: %s%d, lane %d: %08x instead of %08x\n", (unsigned long long)tried, name, number,
                  lane, (*got)[lane], expected[lane]);
    assert_int_equal((*got)[lane], expected[lane]);
  }
}

static void expect_registers(const struct qpu_thread *thread, const struct registers *r)
{
  for (int i = 0; i < 4; i++) expect_vector("ra", i, &thread->reg[REG_A + i], r->file[0][i]);
  for (int i = 0; i < 4; i++) expect_vector("rb", i, &thread->reg[REG_B + i], r->file[1][i]);
  for (int i = 0; i < 6; i++) expect_vector("r", i, &thread->reg[REG_ACC + i], r->acc[i]);
  if (thread->z != r->z || thread->n != r->n) fail_msg("%016llx: flags", (unsigned long long)tried);
}

/* Issues an instruction as a run does: by the fast path if it accepts the instruction. */
static void issue(struct qpu_emu *emu, struct qpu_thread *thread)
{
  struct qpu_issue one = {.emu = emu, .qpu = &emu->qpus[0], .thread = thread};
  int issued = 1;
  if (!qpu_issue_fast(emu, thread)) assert_int_equal(qpu_issue(&one, &issued), STATUS_OK);
  assert_int_equal(issued, 1);
}

#define LENGTH 8

TEST(random_instructions_match_the_interpreter)
{
  struct qpu_emu_config config = {.n_qpus = 1, .memory_bytes = 1 << 20};
  static struct registers model;
  struct qpu_alu_mode mode;
  struct qpu_emu *emu;
  uint32_t code;
  uint64_t seed = 1;
  int fast = 0;
  for (int round = 0; round < ROUNDS / LENGTH; round++) {
    if (round % 200 == 0) {
      if (round) qpu_emu_destroy(emu);
      assert_int_equal(qpu_emu_create(&config, &emu), STATUS_OK);
    }
    assert_int_equal(qpu_memory_alloc(qpu_emu_memory(emu), 8 * LENGTH, &code), STATUS_OK);
    uint64_t *words = qpu_memory_at(qpu_emu_memory(emu), code);
    for (int i = 0; i < LENGTH; i++) words[i] = random_instruction(&seed);
    struct qpu_thread *thread = &emu->qpus[0].thread[0];
    fill(&seed, &model);
    store(thread, &model);
    thread->pc = code;
    for (int i = 0; i < LENGTH; i++) {
      fast += qpu_fetch(emu, thread->pc)->fast;
      tried = words[i];
      assert_int_equal(qpu_alu_enter(&mode), STATUS_OK);
      thread->open = thread->written = 0; /* no hazard between separate instructions */
      issue(emu, thread);
      qpu_alu_leave(&mode);
      interpret(&model, words[i]);
      expect_registers(thread, &model);
    }
  }
  qpu_emu_destroy(emu);
  if (fast < ROUNDS / 200) fail_msg("only %d took the fast path", fast);
}

UNIT_MAIN(NULL, NULL)
