/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Rules of the part and what breaking them does: programs of the forms that others publish
 * run as they are, and an operand read too early is the old one. */
#include "tests/unit/qpu_rig.h"

#define END "thrend\nnop\nnop\n"

static struct qpu_emu_config config_of(enum qpu_policy policy)
{
  struct qpu_emu_config config = {.n_qpus = 1, .memory_bytes = 1 << 20, .max_instructions = 100000};
  qpu_emu_set_rules(&config, policy);
  return config;
}

/* Runs \a text with input 100, 101, … under a policy of warnings. */
static struct qpu_rig run_warned(const char *text)
{
  struct qpu_emu_config config = config_of(QPU_WARN);
  struct qpu_rig rig = rig_open_checked(&config, text, 1);
  for (uint32_t i = 0; i < 64; i++) rig.in[i] = 100 + i;
  rig_run(&rig, 1);
  return rig;
}

static uint64_t noticed(const struct qpu_rig *rig, enum qpu_rule_kind kind)
{
  const struct qpu_notice *notices;
  uint64_t more, n = 0;
  size_t found = qpu_emu_notices(rig->emu, &notices, &more);
  for (size_t i = 0; i < found; i++) n += notices[i].kind == kind ? notices[i].count : 0;
  return n;
}

static size_t all_notices(const struct qpu_rig *rig)
{
  const struct qpu_notice *notices;
  uint64_t more;
  return qpu_emu_notices(rig->emu, &notices, &more);
}

/* As must_run_clean, of words that the assembler does not write. */
static void run_as_it_is(const char *text, const uint32_t *expected, int n)
{
  struct qpu_rig rig = rig_open_checked(NULL, text, 1);
  for (uint32_t i = 0; i < 64; i++) rig.in[i] = 100 + i;
  rig_run(&rig, 1);
  for (int i = 0; i < n; i++) assert_int_equal(rig.out[i], expected[i]);
  rig_close(&rig);
}

/* A program without a doubt in it: no rule is broken, under the strictest policy too. */
static void must_run_clean(const char *text, const uint32_t *expected, int n)
{
  struct qpu_rig strict = rig_open(NULL, text);
  for (uint32_t i = 0; i < 64; i++) strict.in[i] = 100 + i;
  rig_run(&strict, 1);
  for (int i = 0; i < n; i++) assert_int_equal(strict.out[i], expected[i]);
  rig_close(&strict);
}

static void a_register_read_too_early_is_the_old_one(void **state)
{
  static const char *const writers[] = {"mov ra1, r1", "mov.ifnz ra1, r1", "mov ra1, r1; mov rb2, r0",
                                        "ldi ra1, 7", "nop; mov ra1, r1 >> 1"};
  (void)state;
  for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
    char text[1000];
    snprintf(text, sizeof text, RIG_BEGIN "mov ra1, r0\nnop\n%s\nmov vpm, ra1\nmov vpm, ra1\n" RIG_END(2),
             writers[i]);
    struct qpu_rig rig = run_warned(text);
    for (uint32_t lane = 0; lane < 16; lane++) {
      assert_int_equal(rig.out[lane], 100 + lane);
      assert_int_not_equal(rig.out[16 + lane], 100 + lane);
    }
    assert_int_equal(noticed(&rig, QPU_RULE_REGISTER), 1);
    rig_close(&rig);
  }
}

/* The write is the last of a branch's delay slots, and the read stands where it leads. */
static void old_registers_are_seen_across_a_branch(void **state)
{
  (void)state;
  struct qpu_rig rig = run_warned(RIG_BEGIN "mov ra1, r0\nbrr -, r:there\nnop\nnop\nmov ra1, r1\nnop\n"
                                            ":there mov vpm, ra1\nmov vpm, ra1\n" RIG_END(2));
  assert_int_equal(rig.out[3], 103);
  assert_int_equal(rig.out[19], 119);
  rig_close(&rig);
}

static void r4_read_too_early_is_the_old_one(void **state)
{
  (void)state;
  struct qpu_rig rig = run_warned(RIG_BEGIN "mov t0s, r3\nnop; ldtmu0\nmov recip, 2.0\nmov vpm, r4\n"
                                            "mov vpm, r4\nmov vpm, r4\n" RIG_END(3));
  assert_int_equal(rig.out[5], 121);
  assert_int_equal(rig.out[16 + 5], 121);
  assert_int_equal(rig.out[32 + 5], 0x3f000000);
  assert_int_equal(noticed(&rig, QPU_RULE_SFU), 2);
  rig_close(&rig);
}

static void uniforms_read_too_early_are_the_old_streams(void **state)
{
  (void)state;
  struct qpu_emu_config config = config_of(QPU_WARN);
  struct qpu_rig rig = rig_open_checked(
      &config, RIG_BEGIN "mov unif_addr, ra30\nmov vpm, unif\nmov vpm, unif\nmov vpm, unif\n" RIG_END(3), 1);
  for (uint32_t i = 0; i < 16; i++) rig.in[i] = 100 + i;
  rig.uniforms[2] = 7;
  rig.uniforms[3] = 8;
  rig_run(&rig, 1);
  assert_int_equal(rig.out[0], 7);
  assert_int_equal(rig.out[16], 8);
  assert_int_equal(rig.out[32], 100);
  assert_int_equal(noticed(&rig, QPU_RULE_UNIFORMS), 2);
  rig_close(&rig);
}

/* Lanes that come from a higher quad are the old ones, all others new. */
static void rotations_take_old_lanes_from_higher_quads_only(void **state)
{
  (void)state;
  for (int n = 1; n < 16; n++) {
    char text[1000];
    snprintf(text, sizeof text, RIG_BEGIN "mov r0, r1\nmov vpm, r0 >> %d\n" RIG_END(1), n);
    struct qpu_rig rig = run_warned(text);
    for (int i = 0; i < 16; i++) {
      int from = (i - n) & 15;
      assert_int_equal(rig.out[i], (from / 4 > i / 4 ? 100 : 116) + from);
    }
    assert_int_equal(noticed(&rig, QPU_RULE_ROTATION), 1);
    rig_close(&rig);
  }
}

static void rotation_by_an_r5_just_written_is_by_the_old_one(void **state)
{
  (void)state;
  struct qpu_rig rig =
      run_warned(RIG_BEGIN "mov r5rep, 3\nnop\nmov r5rep, 5\nmov vpm, r0 >> r5\n" RIG_END(1));
  for (int i = 0; i < 16; i++) assert_int_equal(rig.out[i], 100 + ((i - 3) & 15));
  rig_close(&rig);
}

/* One lane is written and another one read, the target takes one lane, or the value stays in its
 * quad or goes up: as in matrix products that keep all they know in one vector. */
static void rotations_that_touch_other_lanes_break_no_rule(void **state)
{
  static const char *const harmless[] = {
      "sub.setf -, elem_num, 9\nmov r2, r0\nnop\nmov.ifz r2, r1\nmov r5rep, r2 << 14\nmov vpm, r5\n",
      "mov r2, r1\nmov r5rep, r2 << 2\nmov vpm, r5\n",
      "and.setf -, elem_num, 12\nmov r2, r1\nmov.ifnz r2, r2 >> 3\nmov vpm, r2\n",
  };
  static const uint32_t expected[][2] = {{114, 114}, {118, 118}, {116, 117}};
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    char text[1000];
    snprintf(text, sizeof text, RIG_BEGIN "%s" RIG_END(1), harmless[i]);
    must_run_clean(text, expected[i], 2);
  }
}

static void a_lane_just_written_and_moved_down_is_still_a_fault(void **state)
{
  (void)state;
  struct qpu_rig rig = rig_open_checked(
      NULL, RIG_BEGIN "sub.setf -, elem_num, 14\nmov r2, r0\nnop\nmov.ifz r2, r1\nmov r5rep, r2 << 14\n" END,
      1);
  rig_must_fail(&rig, 1, STATUS_FAULT, "a vector rotation cannot take from a higher quad");
  rig_close(&rig);
}

/* The end of every program that py-videocore makes: both ALUs move r0 onto itself. */
static void both_alus_may_move_a_register_onto_itself(void **state)
{
  static const uint32_t expected[] = {100, 101};
  (void)state;
  must_run_clean(RIG_BEGIN "mov vpm, r0\nldi vw_setup, 0x80904000\nmov vw_addr, ra31\nmov -, vw_wait\n"
                           "mov irq, 1\nmov r0, r0; mov r0, r0; thrend\nnop\nnop\n",
                 expected, 2);
}

/* There a NOP names r0 as its target, in all lanes: 0x100208271c9e7000 and beside a product. */
static void an_alu_that_does_nothing_writes_nothing(void **state)
{
  static const uint32_t expected[] = {101, 102};
  (void)state;
  run_as_it_is(RIG_BEGIN ".int 0x009e7000, 0x10020827\nmov r1, r0 << 1\n"
                         ".int 0x809e7009, 0x10024861\nmov vpm, r1\n" RIG_END(1),
               expected, 2);
}

static void a_mul_target_without_operation_is_noticed(void **state)
{
  (void)state;
  struct qpu_rig rig = run_warned(RIG_BEGIN ".int 0x009e7000, 0x100049e0\nmov vpm, r0\n" RIG_END(1));
  assert_int_equal(rig.out[2], 102);
  assert_int_equal(noticed(&rig, QPU_RULE_NOP), 1);
  rig_close(&rig);
}

static uint64_t noticed_in(const char *text, enum qpu_rule_kind kind)
{
  char whole[1000];
  snprintf(whole, sizeof whole, RIG_BEGIN "mov ra1, r0\nnop\n%s\nmov vpm, r2\n" RIG_END(1), text);
  struct qpu_rig rig = run_warned(whole);
  uint64_t n = noticed(&rig, kind);
  assert_int_equal(all_notices(&rig), n);
  rig_close(&rig);
  return n;
}

/* The guide knows nothing of these reads. Where nothing comes of them nobody is told. */
static void what_stays_at_a_port_is_noticed_where_it_matters(void **state)
{
  (void)state;
  assert_int_equal(noticed_in("mov r2, ra39", QPU_RULE_NOP), 1);
  assert_int_equal(noticed_in("nop; fmul r2, rb39, r0", QPU_RULE_NOP), 1);
  assert_int_equal(noticed_in("mov.setf -, ra39", QPU_RULE_NOP), 1);
  assert_int_equal(noticed_in("mov -, ra39", QPU_RULE_NOP), 0);
  assert_int_equal(noticed_in("xor r2, rb39, rb39", QPU_RULE_NOP), 0);
  assert_int_equal(noticed_in("mov -, mutex_acq\nmov mutex_rel, ra39", QPU_RULE_NOP), 0);
  /* a uniform, for no one; elem_num */
  assert_int_equal(noticed_in(".int 0x00827000, 0x100009e7", QPU_RULE_NOP), 1);
  assert_int_equal(noticed_in(".int 0x009a7000, 0x100009e7", QPU_RULE_NOP), 0);
}

/* All of r0 to r3, or none of them: all readings turn them alike. */
static void sources_that_turn_apart_are_noticed(void **state)
{
  (void)state;
  assert_int_equal(noticed_in("fmul r2, ra1 << 1, r0 << 1", QPU_RULE_ROTATION), 1);
  assert_int_equal(noticed_in("fmul r2, r1 << 1, r0 << 1", QPU_RULE_ROTATION), 0);
  assert_int_equal(noticed_in("mov r2, ra1 << 1", QPU_RULE_ROTATION), 0);
}

/* A vector down a column, stored as sixteen rows of one word with BLOCKMODE set: QPULib's only
 * store. */
static void rows_of_a_block_are_rows_of_their_own(void **state)
{
  (void)state;
  struct qpu_rig rig =
      run_warned(RIG_BEGIN "ldi vw_setup, 0x1200 | 16 | 5\nmov vpm, r0\n"
                           "ldi vw_setup, 0xc0010000\n"
                           "ldi vw_setup, 0x80000000 | 16 << 23 | 1 << 16 | 1 << 14 | 16 << 7 | 5 << 3\n"
                           "mov vw_addr, ra31\nmov -, vw_wait\n" END);
  for (uint32_t i = 0; i < 16; i++) assert_int_equal(rig.out[i], 100 + i);
  assert_int_equal(noticed(&rig, QPU_RULE_BLOCKMODE), 1);
  rig_close(&rig);
}

static void whole_rows_with_blockmode_raise_no_doubt(void **state)
{
  (void)state;
  struct qpu_rig rig = run_warned(RIG_BEGIN "mov vpm, r0\nmov vpm, r1\nldi vw_setup, 0xc0010000\n"
                                            "ldi vw_setup, 0x80000000 | 2 << 23 | 16 << 16 | 1 << 14\n"
                                            "mov vw_addr, ra31\nmov -, vw_wait\n" END);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(rig.out[i], 100 + i);
  assert_int_equal(all_notices(&rig), 0);
  rig_close(&rig);
}

/* Rows of 3072 numbers lie 12288 bytes apart: the pitch of the published product. */
static void a_load_steps_over_rows_of_up_to_65535_bytes(void **state)
{
  (void)state;
  for (uint32_t pitch = 8188; pitch <= 12288; pitch += 4100) {
    char text[1000];
    struct qpu_emu_config config = config_of(QPU_WARN);
    snprintf(text, sizeof text,
             RIG_BEGIN "ldi vr_setup, 0x90000000 | %u\nldi vr_setup, 0x80000000 | 4 << 16 | 1 << 12\n"
                       "mov vr_addr, ra30\nmov -, vr_wait\n" RIG_END(4),
             (unsigned)pitch);
    struct qpu_rig rig = rig_open_checked(&config, text, 1);
    for (uint32_t i = 0; i < RIG_WORDS; i++) rig.in[i] = i;
    rig_run(&rig, 1);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(rig.out[i], i / 16 * (pitch / 4) + i % 16);
    assert_int_equal(noticed(&rig, QPU_RULE_PITCH), pitch > 8191);
    rig_close(&rig);
  }
}

static void a_store_steps_over_rows_of_up_to_65535_bytes(void **state)
{
  (void)state;
  for (uint32_t gap = 8191; gap <= 12288; gap += 4097) {
    char text[1000];
    snprintf(text, sizeof text,
             RIG_BEGIN "mov vpm, r0\nmov vpm, r1\nldi vw_setup, 0xc0000000 | %u\n"
                       "ldi vw_setup, 0x80000000 | 2 << 23 | 16 << 16 | 1 << 14\n"
                       "mov vw_addr, ra31\nmov -, vw_wait\n" END,
             (unsigned)gap & ~3u);
    struct qpu_rig rig = run_warned(text);
    for (uint32_t i = 0; i < 16; i++) assert_int_equal(rig.out[gap / 4 + 16 + i], 116 + i);
    assert_int_equal(noticed(&rig, QPU_RULE_PITCH), gap > 8191);
    rig_close(&rig);
  }
}

static void a_read_set_up_too_early_is_ignored(void **state)
{
  (void)state;
  struct qpu_rig rig = run_warned(RIG_BEGIN "mov vpm, r0\nmov vpm, r1\nldi vr_setup, 0x201a00\n"
                                            "ldi vr_setup, 0x101a01\nmov r0, vpm\nmov r1, vpm\n"
                                            "ldi vw_setup, 0x1a00\nmov vpm, r1\nmov vpm, r0\n" RIG_END(2));
  assert_int_equal(rig.out[0], 116);
  assert_int_equal(rig.out[16], 100);
  assert_int_equal(noticed(&rig, QPU_RULE_SETUP), 1);
  rig_close(&rig);
}

static void notices_count_and_name_the_place(void **state)
{
  (void)state;
  struct qpu_rig rig = run_warned(RIG_BEGIN ".rep i, 3\nnop\nmov ra1, r0\nmov r2, ra1\n.endr\n"
                                            "ldi r0, 4\n:loop mov ra1, r0\nsub.setf r0, r0, 1; mov r2, ra1\n"
                                            "brr.allnz -, r:loop\nnop\nnop\nnop\n" END);
  const struct qpu_notice *notices;
  uint64_t more;
  assert_int_equal(qpu_emu_notices(rig.emu, &notices, &more), 4);
  assert_int_equal(notices[3].count, 4);
  assert_int_equal(notices[0].count, 1);
  assert_int_equal(notices[1].address - notices[0].address, 24);
  rig_close(&rig);
}

/* Eight before the first is taken, as the later GPU_FFT fills its factors. */
static void look_ups_beyond_four_are_kept_and_noticed(void **state)
{
  static const char text[] = RIG_BEGIN "shl r3, elem_num, 2\nadd r3, r3, ra30\nldi r2, 64\n.rep i, 8\n"
                                       "add r3, r3, r2; mov t1s, r3\n.endr\n.rep i, 8\nnop; ldtmu1\n"
                                       "mov vpm, r4\n.endr\n" RIG_END(8);
  struct qpu_emu_config config = config_of(QPU_WARN);
  (void)state;
  struct qpu_rig rig = rig_open_checked(&config, text, 1);
  for (uint32_t i = 0; i < 128; i++) rig.in[i] = i;
  rig_run(&rig, 1);
  for (uint32_t i = 0; i < 128; i++) assert_int_equal(rig.out[i], i);
  assert_int_equal(noticed(&rig, QPU_RULE_DEPTH), 4);
  rig_close(&rig);
  rig = rig_open_checked(&config, "mov r0, unif\n.rep i, 9\nmov t0s, r0\n.endr\n" END, 1);
  rig_must_fail(&rig, 1, STATUS_FAULT, "TMU0 has 8 look-ups waiting already");
  rig_close(&rig);
}

/* As loops do that ask for the next step's data before they know that there is none. */
static void a_look_up_beyond_an_allocation_is_noticed_and_reads_nothing(void **state)
{
  static const char text[] = RIG_BEGIN "ldi r2, 65536 - 32\nadd r3, ra30, r2\nshl r2, elem_num, 2\n"
                                       "add t0s, r3, r2\nnop; ldtmu0\nmov vpm, r4\n" RIG_END(1);
  struct qpu_emu_config config = config_of(QPU_WARN);
  (void)state;
  struct qpu_rig rig = rig_open_checked(&config, text, 1);
  for (uint32_t i = 0; i < RIG_WORDS; i++) rig.in[i] = i;
  rig_run(&rig, 1);
  for (uint32_t i = 0; i < 16; i++) assert_int_equal(rig.out[i], i < 8 ? RIG_WORDS - 8 + i : 0);
  assert_int_equal(noticed(&rig, QPU_RULE_OUTSIDE), 1);
  rig_close(&rig);
  config.rules[QPU_RULE_OUTSIDE] = QPU_FAULT;
  rig = rig_open_checked(&config, text, 1);
  rig_must_fail(&rig, 1, STATUS_FAULT, "TMU0 look-up of element 8 at");
  rig_close(&rig);
}

/* Each kind by itself: the others stay faults. */
static void every_kind_has_its_own_policy(void **state)
{
  (void)state;
  struct qpu_emu_config config = config_of(QPU_FAULT);
  config.rules[QPU_RULE_REGISTER] = QPU_IGNORE;
  struct qpu_rig rig = rig_open_checked(&config, "mov ra1, 3\nmov r1, ra1\n" END, 1);
  rig_run(&rig, 1);
  assert_int_equal(all_notices(&rig), 0);
  rig_close(&rig);
  rig = rig_open_checked(&config, "mov ra1, 3\nmov r1, ra1\nmov recip, r0\nmov r1, r4\n" END, 1);
  rig_must_fail(&rig, 1, STATUS_FAULT, "after an SFU write");
  rig_close(&rig);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_register_read_too_early_is_the_old_one),
      cmocka_unit_test(old_registers_are_seen_across_a_branch),
      cmocka_unit_test(r4_read_too_early_is_the_old_one),
      cmocka_unit_test(uniforms_read_too_early_are_the_old_streams),
      cmocka_unit_test(rotations_take_old_lanes_from_higher_quads_only),
      cmocka_unit_test(rotation_by_an_r5_just_written_is_by_the_old_one),
      cmocka_unit_test(rotations_that_touch_other_lanes_break_no_rule),
      cmocka_unit_test(a_lane_just_written_and_moved_down_is_still_a_fault),
      cmocka_unit_test(both_alus_may_move_a_register_onto_itself),
      cmocka_unit_test(an_alu_that_does_nothing_writes_nothing),
      cmocka_unit_test(a_mul_target_without_operation_is_noticed),
      cmocka_unit_test(what_stays_at_a_port_is_noticed_where_it_matters),
      cmocka_unit_test(sources_that_turn_apart_are_noticed),
      cmocka_unit_test(rows_of_a_block_are_rows_of_their_own),
      cmocka_unit_test(whole_rows_with_blockmode_raise_no_doubt),
      cmocka_unit_test(a_load_steps_over_rows_of_up_to_65535_bytes),
      cmocka_unit_test(a_store_steps_over_rows_of_up_to_65535_bytes),
      cmocka_unit_test(a_read_set_up_too_early_is_ignored),
      cmocka_unit_test(look_ups_beyond_four_are_kept_and_noticed),
      cmocka_unit_test(a_look_up_beyond_an_allocation_is_noticed_and_reads_nothing),
      cmocka_unit_test(notices_count_and_name_the_place),
      cmocka_unit_test(every_kind_has_its_own_policy),
  };
  return cmocka_run_group_tests_name("qpu rules", tests, NULL, NULL);
}
