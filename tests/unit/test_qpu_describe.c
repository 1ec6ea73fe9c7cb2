/* SPDX-License-Identifier: MIT */
#include "tests/unit/qpu_unit.h"

#include "gpu/qpu/isa/describe.h"
#include "gpu/qpu/isa/isa.h"

#define ROUNDS 200000

static uint64_t assemble_word(const char *text)
{
  struct qpu_program program = qpu_must_assemble(text, 1);
  assert_int_equal(program.n_words, 1);
  uint64_t word = program.words[0];
  qpu_program_free(&program);
  return word;
}

static void every_word_comes_apart_and_together(void **state)
{
  uint64_t seed = 1;
  (void)state;
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t word = qpu_random(&seed);
    struct qpu_inst inst = qpu_decode(word);
    assert_int_equal(qpu_encode(&inst), word);
  }
}

static unsigned below(uint64_t *seed, unsigned n)
{
  return (unsigned)(qpu_random(seed) % n);
}

/* An address whose name means this file alone, so that its text assembles into the same word. */
static int named_address(uint64_t *seed, int file, int write)
{
  for (;;) {
    char buffer[8];
    struct qpu_register_name reg;
    int address = (int)below(seed, 64);
    if (address < 32) return address;
    if (write && address <= QPU_W_ACC3) continue;
    if (address == QPU_R_NOP || !qpu_register_find(qpu_register_text(address, file, write, buffer), &reg))
      continue;
    if ((write ? reg.write_files : reg.read_files) == file) return address;
  }
}

/* A valid ALU instruction as an assembler would make it: every field that is not used has its
 * resting value. */
static struct qpu_inst random_alu(uint64_t *seed)
{
  struct qpu_inst inst = qpu_decode(QPU_NOP_WORD);
  uint8_t *muxes[4] = {&inst.add_a, &inst.add_b, &inst.mul_a, &inst.mul_b};
  do inst.op_add = (uint8_t)(1 + below(seed, 31));
  while (!qpu_add_ops[inst.op_add].name);
  inst.op_mul = (uint8_t)(1 + below(seed, 7));
  inst.ws = (uint8_t)below(seed, 2);
  inst.sf = (uint8_t)below(seed, 2);
  inst.cond_add = (uint8_t)(1 + below(seed, 7));
  inst.cond_mul = (uint8_t)(1 + below(seed, 7));
  inst.waddr_add = (uint8_t)named_address(seed, inst.ws ? QPU_FILE_B : QPU_FILE_A, 1);
  inst.waddr_mul = (uint8_t)named_address(seed, inst.ws ? QPU_FILE_A : QPU_FILE_B, 1);
  int small = below(seed, 3) == 0;
  if (small) {
    inst.sig = QPU_SIG_SMALL_IMMEDIATE;
    inst.raddr_b = (uint8_t)below(seed, 64);
  } else {
    static const uint8_t signals[] = {0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    inst.sig = signals[below(seed, sizeof signals)];
    inst.raddr_b = (uint8_t)named_address(seed, QPU_FILE_B, 0);
  }
  inst.raddr_a = (uint8_t)named_address(seed, QPU_FILE_A, 0);
  for (int i = 0; i < 4; i++) *muxes[i] = (uint8_t)below(seed, 8);
  *muxes[below(seed, 2)] = QPU_MUX_A; /* so that both ports are in use */
  *muxes[2 + below(seed, 2)] = QPU_MUX_B;
  /* rotations need a register */
  if (inst.mul_a == QPU_MUX_B && inst.mul_b == QPU_MUX_B) inst.mul_a = 2;
  if (qpu_add_ops[inst.op_add].n_sources == 1) inst.add_a = inst.add_b = QPU_MUX_A;
  return inst;
}

static void expect_readable(const struct qpu_inst *inst)
{
  char text[QPU_TEXT_MAX];
  uint64_t word = qpu_encode(inst);
  qpu_describe(word, text);
  uint64_t again = assemble_word(text);
  if (again != word) print_error("%016llx: %s\n", (unsigned long long)word, text);
  assert_int_equal(again, word);
}

static void valid_alu_instructions_have_a_text(void **state)
{
  uint64_t seed = 3;
  (void)state;
  for (int i = 0; i < ROUNDS / 10; i++) {
    struct qpu_inst inst = random_alu(&seed);
    expect_readable(&inst);
  }
}

static void pack_and_unpack_modes_have_a_text(void **state)
{
  uint64_t seed = 4;
  (void)state;
  for (int i = 0; i < ROUNDS / 20; i++) {
    struct qpu_inst inst = random_alu(&seed);
    inst.pm = (uint8_t)below(&seed, 2);
    inst.unpack = (uint8_t)below(&seed, 8);
    inst.pack = (uint8_t)(inst.pm ? (below(&seed, 2) ? 3 + below(&seed, 5) : 0) : below(&seed, 16));
    if (!inst.pm) inst.raddr_a &= 31;
    if (!inst.pm) *(inst.ws ? &inst.waddr_mul : &inst.waddr_add) &= 31;
    if (inst.pm && inst.unpack == 0 && inst.pack == 0) inst.pm = 0;
    if (inst.pm) inst.add_a = inst.add_b = QPU_MUX_R4, inst.raddr_a = QPU_R_NOP;
    if (inst.pm) inst.mul_a = QPU_MUX_R4, inst.mul_b = QPU_MUX_B;
    expect_readable(&inst);
  }
}

static void loads_semaphores_and_branches_have_a_text(void **state)
{
  uint64_t seed = 5;
  (void)state;
  for (int i = 0; i < ROUNDS / 20; i++) {
    struct qpu_inst inst = qpu_decode(QPU_NOP_WORD);
    inst.ws = (uint8_t)below(&seed, 2);
    inst.cond_add = (uint8_t)(1 + below(&seed, 7));
    inst.waddr_add = (uint8_t)below(&seed, 32);
    inst.imm = (uint32_t)qpu_random(&seed);
    if (below(&seed, 4) == 0) {
      inst.sig = QPU_SIG_BRANCH;
      inst.cond_br = (uint8_t)(below(&seed, 13) % 13 == 12 ? QPU_BRANCH_ALWAYS : below(&seed, 12));
      inst.rel = (uint8_t)below(&seed, 2);
      inst.reg = (uint8_t)below(&seed, 2);
      inst.raddr_a = (uint8_t)(inst.reg ? below(&seed, 32) : 0);
    } else {
      inst.sig = QPU_SIG_LOAD_IMMEDIATE;
      inst.sf = (uint8_t)below(&seed, 2);
      inst.unpack =
          (uint8_t[]){QPU_LOAD_32, QPU_LOAD_SIGNED, QPU_LOAD_UNSIGNED, QPU_LOAD_SEMAPHORE}[below(&seed, 4)];
      if (inst.unpack == QPU_LOAD_SIGNED)
        inst.imm |= 1u << 31; /* one negative value tells it from unsigned */
      if (below(&seed, 2))
        inst.waddr_mul = (uint8_t)below(&seed, 32), inst.cond_mul = (uint8_t)(1 + below(&seed, 7));
    }
    expect_readable(&inst);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_word_comes_apart_and_together),
      cmocka_unit_test(valid_alu_instructions_have_a_text),
      cmocka_unit_test(pack_and_unpack_modes_have_a_text),
      cmocka_unit_test(loads_semaphores_and_branches_have_a_text),
  };
  return cmocka_run_group_tests_name("qpu descriptions", tests, NULL, NULL);
}
