/* SPDX-License-Identifier: MIT */
/** \file \brief Programs that the emulator refuses, and random programs, which must not crash
 * it. */
#include "tests/unit/qpu_rig.h"

#include "gpu/qpu/emulator/predecode.h"

#define END "thrend\nnop\nnop\n"

static const struct {
  const char *text, *message;
} faults[] = {
    {"mov unif_addr, 0\nnop\nnop\nmov r0, unif\n" END,
     "QPU 0 at 0x20001018 (+24 in its program): uniform read at 0x00000000"},
    {"mov t0s, 0\n" END, "TMU0 look-up of element 0 at 0x00000000, outside every allocation"},
    {"mov r0, unif\nshl r1, elem_num, 13\nadd t1s, r0, r1\n" END, "TMU1 look-up of element"},
    {"nop; ldtmu0\n" END, "TMU0 is asked for a look-up that was never requested"},
    {"mov r0, unif\n.rep i, 5\nmov t0s, r0\n.endr\n" END, "TMU0 has 4 look-ups waiting already"},
    {"mov vw_addr, unif\n" END, "never set up"},
    {"mov vr_addr, unif\n" END, "never set up"},
    {"ldi vr_setup, 0x83011000\nmov vr_addr, 0\nmov -, vr_wait\n" END, "DMA load from memory outside"},
    {"ldi vw_setup, 0x80904000\nmov vw_addr, 0\nmov -, vw_wait\n" END, "DMA store to memory outside"},
    {"mov r0, unif\nldi vw_setup, 0x80906000\nmov vw_addr, r0\nmov -, vw_wait\n" END, "beyond the 64 rows"},
    {"ldi vr_setup, 0xa3011000\nmov vr_addr, 0\nmov -, vr_wait\n" END, "DMA of 8 and 16-bit elements"},
    {"ldi vw_setup, 0x80904001\nmov vw_addr, 0\nmov -, vw_wait\n" END, "DMA of 8 and 16-bit elements"},
    {"ldi vw_setup, 0x8090c000\nmov vw_addr, 0\nmov -, vw_wait\n" END, "DMA store with the laned bit"},
    {"ldi vr_setup, 0x201a00\nldi vr_setup, 0x101a00\n" END, "the part ignores it"},
    {"ldi vr_setup, 0x1900\n" END, "of 8 or 16 bits"},
    {"ldi vw_setup, 0x1900\n" END, "of 8 or 16 bits"},
    {"ldi vw_setup, 0x40000000\n" END, "reserved kind 1"},
    {"mov mutex, 0\n" END, "does not hold it"},
    {"mov -, mutex\n" END, "ended holding the mutex"},
    {"mov ra57, r0\n" END, "register 57 is not emulated"},
    {"mov r0, ra35\n" END, "3D pipeline"},
    {"nop\nnop\n.int 0x009e7000, 0x400009e7\n" END, "reserved code"}, /* sbwait */
    {".int 0x009e7000, 0x000009e7\n" END, "reserved code"},           /* bkpt */
    {"nop\nnop\n", "there is no instruction here"},
    {"brr -, 4\nnop\nnop\nnop\n" END, "there is no instruction here"},
    {".int 0, 0xf0c809e7\n", "reserved code"},
    {".int 0, 0xf0f009e7\n", "reserved code"},          /* an absolute branch */
    {".int 0, 0xf0fc09e7\n", "reserved code"},          /* through ra0 */
    {".int 0, 0xf0f80167\n", "reserved code"},          /* branches with a link in ra5 */
    {".int 0, 0xe40209e7\n", "reserved code"},          /* loads two bits per element */
    {".int 0x099e7000, 0x100209e7\n", "reserved code"}, /* an operation */
    {".int 0x609e7000, 0x100009e7\n", "reserved code"},
    {".int 0x0d9e7080, 0x100c0827\n", "reserved code"}, /* a condition on the carry flag */
    {".int 0x809f0000, 0xd00049e0\n", "reserved code"}, /* a rotation by r5 */
    {".int 0x159e7000, 0x10120027\n", "packing and unpacking are not emulated"},
    {"mov r0, r1\nsub.setf -, elem_num, 3\nmov.ifz vpm, r0\n" END, "cannot be conditional"},
    {"mov ra1, r0\nmov r1, ra1\n" END, "cannot be read by the instruction after"},
    {"mov r0, unif\nmov unif_addr, r0\nmov r1, unif\n" END, "uniforms cannot be read"},
};

TEST(what_is_undefined_stops_with_place_and_cause)
{
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    struct qpu_rig rig = rig_open_checked(NULL, faults[i].text, 1);
    rig_must_fail(&rig, 1, STATUS_FAULT, faults[i].message);
    rig_close(&rig);
  }
}

static const struct {
  const char *text, *message;
  size_t n;
} deadlocks[] = {
    {"sacq -, 5\n" END, "QPU 0 waits for semaphore 5 (value 0) at +0", 1},
    {".rep i, 16\nsrel -, 2\n.endr\n" END, "QPU 0 waits for semaphore 2 (value 15) at +120", 1},
    {"mov -, mutex\nnop\nmov -, mutex\n" END, "QPU 0 waits for the mutex held by QPU 0", 1},
    {"mov -, vpm\n" END, "QPU 0 waits for a VPM read that was never set up", 1},
    {"mov ra0, qpu_num\nnop\nmov.setf -, ra0\nbrr.allz -, r:on\nnop\nnop\nnop\nsacq -, 1\n:on sacq -, "
     "2\n" END,
     "deadlock of the QPUs: QPU 0 waits for semaphore 2 (value 0) at +64; QPU 1 waits for semaphore 1 (value "
     "0) at +56",
     2},
    {":loop brr -, r:loop\nnop\nnop\nnop\n", "did not end within 1000 instructions", 1},
};

TEST(a_deadlock_is_found_and_names_who_waits_for_what_and_endless_programs_are_given_up)
{
  struct qpu_emu_config config = {.n_qpus = 2, .memory_bytes = 1 << 20, .max_instructions = 1000};
  for (size_t i = 0; i < sizeof deadlocks / sizeof deadlocks[0]; i++) {
    struct qpu_rig rig = rig_open(&config, deadlocks[i].text);
    rig_must_fail(&rig, deadlocks[i].n, STATUS_HANG, deadlocks[i].message);
    rig_close(&rig);
  }
}

TEST(configurations_that_cannot_be_and_allocations_of_too_much_are_refused)
{
  static const struct {
    struct qpu_emu_config config;
    struct qpu_job job;
    const char *says;
  } cases[] = {
      {{.n_qpus = -1}, {0}, "-1 QPUs: 1 to 64 can be emulated"},
      {{.n_qpus = 65}, {0}, "65 QPUs: 1 to 64 can be emulated"},
      {{.threads_per_qpu = 3}, {0}, "3 threads a QPU: it has 1 or 2"},
      {{.n_qpus = 64}, {4, 0}, "job 0: code must be 8-byte aligned and uniforms 4-byte aligned"},
      {{.threads_per_qpu = 2}, {0, 2}, "job 0: code must be 8-byte aligned and uniforms 4-byte aligned"}};
  struct qpu_emu *emu = NULL;
  uint32_t address;
  log_hold(1);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    status_t status = qpu_emu_create(&cases[c].config, &emu);
    if (status == STATUS_OK) status = qpu_emu_run(emu, &cases[c].job, 1);
    qpu_emu_destroy(emu);
    emu = NULL;
    if (status != STATUS_USAGE || strcmp(log_held(), cases[c].says)) fail_msg("%d: %s", status, log_held());
    log_drop();
  }
  assert_int_equal(qpu_emu_create(&(struct qpu_emu_config){.memory_bytes = SIZE_MAX}, &emu),
                   STATUS_ENVIRONMENT);
  log_drop();
  assert_int_equal(qpu_emu_create(&(struct qpu_emu_config){.memory_bytes = 1 << 16}, &emu), STATUS_OK);
  assert_int_equal(qpu_memory_alloc(qpu_emu_memory(emu), 1 << 20, &address), STATUS_ENVIRONMENT);
  assert_non_null(strstr(log_held(), "1048576 bytes"));
  log_drop();
  log_hold(0);
  qpu_emu_destroy(emu);
}

TEST(freed_memory_is_given_out_again_and_leaves_the_rest_alone)
{
  struct qpu_memory memory;
  uint32_t at[3];
  assert_int_equal(qpu_memory_create(&memory, 1 << 16, QPU_EMU_BASE), STATUS_OK);
  const size_t all = qpu_memory_left(&memory);
  assert_false(qpu_memory_ok(&memory, QPU_EMU_BASE - 4, 8) || qpu_memory_ok(&memory, QPU_EMU_BASE - 4, 4));
  for (int n = 0; n < 3; n++) assert_int_equal(qpu_memory_alloc(&memory, 100, &at[n]), STATUS_OK);
  for (int n = 0; n < 2; n++) {
    const uint32_t freed = at[n];
    memset(qpu_memory_at(&memory, freed), 1, 100);
    qpu_memory_free(&memory, freed);
    assert_false(qpu_memory_ok(&memory, freed, 4));
    assert_int_equal(qpu_memory_alloc(&memory, 100, &at[n]), STATUS_OK);
    assert_true(at[n] == freed && *(uint32_t *)qpu_memory_at(&memory, freed) == 0);
    for (int m = 0; m < 3; m++)
      assert_true(qpu_memory_ok(&memory, at[m], 100) && !qpu_memory_ok(&memory, at[m], 101));
  }
  for (int n = 0; n < 3; n++) qpu_memory_free(&memory, at[n]);
  assert_int_equal(qpu_memory_left(&memory), all);
  qpu_memory_destroy(&memory);
}

#define FUZZ_WORDS  48
#define FUZZ_MEMORY 65536

/* Returns an address that, except sometimes, does not end the program at once. */
static uint8_t tame(uint64_t *seed, unsigned address, const uint8_t *peripherals, size_t n)
{
  unsigned dice = (unsigned)(qpu_random(seed) % 64);
  if (dice == 0) return (uint8_t)address;
  return dice < 32 ? address & 31 : peripherals[qpu_random(seed) % n];
}

/* Returns random bits or, more often, an instruction that is likely to run. */
static uint64_t likely_word(uint64_t *seed)
{
  static const uint8_t reads[] = {32, 38, 39, 49, 50}, writes[] = {32, 33, 34, 35, 37, 38, 39, 49, 48};
  static const uint8_t signals[] = {1, 1, 1, 1, 1, 1, 1, 1, 13, 13, 13, 14, 14, 15, 2};
  uint64_t word = qpu_random(seed);
  struct qpu_inst inst = qpu_decode(word);
  if (qpu_random(seed) % 64 == 0) return word;
  inst.sig = signals[qpu_random(seed) % sizeof signals];
  inst.waddr_add = tame(seed, inst.waddr_add, writes, sizeof writes);
  inst.waddr_mul = tame(seed, inst.waddr_mul, writes, sizeof writes);
  inst.raddr_a = tame(seed, inst.raddr_a, reads, sizeof reads);
  inst.raddr_b =
      inst.sig == QPU_SIG_SMALL_IMMEDIATE ? inst.raddr_b : tame(seed, inst.raddr_b, reads, sizeof reads);
  if (!qpu_add_ops[inst.op_add]) inst.op_add = QPU_A_FADD;
  if (!qpu_mul_ops[inst.op_mul]) inst.op_mul = QPU_M_FMUL;
  inst.pm = inst.pack = inst.unpack = 0;
  if (inst.sig == QPU_SIG_BRANCH) {
    inst.imm = (uint32_t)(qpu_random(seed) % 24 * 8) - 96;
    inst.rel = 1;
    inst.reg = 0;
    inst.waddr_add = inst.waddr_mul = QPU_W_NOP;
    inst.cond_br = (uint8_t)(qpu_random(seed) % 8);
  }
  if (inst.sig == QPU_SIG_LOAD_IMMEDIATE) {
    inst.unpack = QPU_LOAD_32;
    if (qpu_random(seed) % 32 == 0) inst.unpack = QPU_LOAD_SEMAPHORE;
    if (inst.sf) inst.imm = QPU_EMU_BASE + 0x1000 + (uint32_t)(qpu_random(seed) % 0x3000);
  }
  return qpu_encode(&inst);
}

/* Returns a random instruction; most of them break no rule by themselves. */
static uint64_t random_word(uint64_t *seed)
{
  for (;;) {
    struct qpu_decoded decoded;
    uint64_t word = likely_word(seed);
    qpu_predecode(word, &decoded);
    if ((!decoded.rule && !decoded.error) || qpu_random(seed) % 256 == 0) return word;
  }
}

/* Returns 1 if the memory that no program may write is still zero. */
static int untouched(struct qpu_emu *emu, uint32_t end)
{
  const uint8_t *bytes = qpu_memory_at(qpu_emu_memory(emu), QPU_EMU_BASE);
  for (uint32_t i = 0; i < 4096; i++)
    if (bytes[i]) return 0;
  for (uint32_t i = end - QPU_EMU_BASE; i < FUZZ_MEMORY; i++)
    if (bytes[i]) return 0;
  return 1;
}

TEST(random_words_never_crash_or_reach_outside)
{
  struct qpu_emu_config config = {.n_qpus = 3, .memory_bytes = FUZZ_MEMORY, .max_instructions = 400};
  uint64_t seed = 1, issued = 0;
  uint32_t code, data;
  struct qpu_emu *emu;
  log_hold(1);
  for (int round = 0; round < 12000; round++) {
    config.threads_per_qpu = 1 + round % 2;
    assert_int_equal(qpu_emu_create(&config, &emu), STATUS_OK);
    assert_int_equal(qpu_memory_alloc(qpu_emu_memory(emu), FUZZ_WORDS * 8, &code), STATUS_OK);
    assert_int_equal(qpu_memory_alloc(qpu_emu_memory(emu), 8192, &data), STATUS_OK);
    uint64_t *words = qpu_memory_at(qpu_emu_memory(emu), code);
    for (int i = 0; i < FUZZ_WORDS; i++) words[i] = random_word(&seed);
    uint32_t *uniforms = qpu_memory_at(qpu_emu_memory(emu), data);
    for (int i = 0; i < 2048; i++)
      uniforms[i] = i % 2 ? data + (uint32_t)(qpu_random(&seed) % 8192) : (uint32_t)qpu_random(&seed);
    struct qpu_job jobs[6];
    for (int i = 0; i < 6; i++) jobs[i] = (struct qpu_job){code, data};
    status_t status = qpu_emu_run(emu, jobs, 6);
    assert_true(status == STATUS_OK || status == STATUS_FAULT || status == STATUS_HANG);
    log_drop();
    assert_true(untouched(emu, data + 8192));
    issued += qpu_emu_stats(emu).issued;
    qpu_emu_destroy(emu);
  }
  log_hold(0);
  if (issued < 150000) fail_msg("only %llu instructions", (unsigned long long)issued);
}

UNIT_MAIN(NULL, NULL)
