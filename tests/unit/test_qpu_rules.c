/* SPDX-License-Identifier: MIT */
/** \file \brief Programs at the limits of the chip's rules: a program that breaks none must run,
 * and one on which documents disagree must be refused. */
#include "tests/unit/qpu_rig.h"

#define END "thrend\nnop\nnop\n"

/* Runs \a text with the input 100, 101, … With \a unchecked, the assembler accepts hazards. */
static struct qpu_rig run(const char *text, int unchecked)
{
  struct qpu_rig rig = rig_open_checked(NULL, text, unchecked);
  for (uint32_t i = 0; i < 64; i++) rig.in[i] = 100 + i;
  rig_run(&rig, 1);
  return rig;
}

static void must_run(const char *text, int unchecked, const uint32_t *expected, int n)
{
  struct qpu_rig rig = run(text, unchecked);
  for (int i = 0; i < n; i++) assert_int_equal(rig.out[i], expected[i]);
  rig_close(&rig);
}

/* Legal rotations: one lane is written and another one read, the target takes one lane, or the
 * value stays in its quad or moves up, as in matrix products with all their state in one vector. */
TEST(rotations_that_touch_other_lanes_break_no_rule)
{
  static const char *const harmless[] = {
      "sub.setf -, elem_num, 9\nmov r2, r0\nnop\nmov.ifz r2, r1\nmov r5rep, r2 << 14\nmov vpm, r5\n",
      "mov r2, r1\nmov r5rep, r2 << 2\nmov vpm, r5\n",
      "and.setf -, elem_num, 12\nmov r2, r1\nmov.ifnz r2, r2 >> 3\nmov vpm, r2\n",
  };
  static const uint32_t expected[][2] = {{114, 114}, {118, 118}, {116, 117}};
  for (size_t i = 0; i < 3; i++) {
    char text[1000];
    snprintf(text, sizeof text, RIG_BEGIN "%s" RIG_END(1), harmless[i]);
    must_run(text, 0, expected[i], 2);
  }
}

TEST(a_lane_just_written_and_moved_down_is_still_a_fault)
{
  struct qpu_rig rig = rig_open_checked(
      NULL, RIG_BEGIN "sub.setf -, elem_num, 14\nmov r2, r0\nnop\nmov.ifz r2, r1\nmov r5rep, r2 << 14\n" END,
      1);
  rig_must_fail(&rig, 1, STATUS_FAULT, "a vector rotation cannot take from a higher quad");
  rig_close(&rig);
}

/* Every program that py-videocore makes ends so: both ALUs move r0 to itself. */
TEST(both_alus_may_move_a_register_onto_itself)
{
  static const uint32_t expected[] = {100, 101};
  must_run(RIG_BEGIN "mov vpm, r0\nldi vw_setup, 0x80904000\nmov vw_addr, ra31\nmov -, vw_wait\n"
                     "mov irq, 1\nmov r0, r0; mov r0, r0; thrend\nnop\nnop\n",
           0, expected, 2);
}

/* In these words a NOP has r0 as its target, in all lanes: 0x100208271c9e7000, and the same with a
 * product. */
TEST(an_alu_that_does_nothing_writes_nothing)
{
  static const uint32_t expected[] = {101, 102};
  must_run(RIG_BEGIN ".int 0x009e7000, 0x10020827\nmov r1, r0 << 1\n"
                     ".int 0x809e7009, 0x10024861\nmov vpm, r1\n" RIG_END(1),
           1, expected, 2);
}

static const struct {
  const char *text, *message;
} questions[] = {
    {".int 0x009e7000, 0x100049e0", "the mul ALU has a target and no operation"},
    {"mov r2, ra39", "a NOP register is read"},
    {"nop; fmul r2, rb39, r0", "a NOP register is read"},
    {"mov.setf -, ra39", "a NOP register is read"},
    {".int 0x00827000, 0x100009e7", "a peripheral is named and no operation takes it"},
    {".int 0x8c82728a, 0x10024823", "a peripheral is named and no operation takes it"},
    {".int 0x8c9e028a, 0x10024823", "a peripheral is named and no operation takes it"},
    {"fmul r2, ra1 << 1, r0 << 1", "a rotation of one of r0 to r3 beside another source"},
    {"ldi vw_setup, 0xc0010000\nldi vw_setup, 0x80000000 | 16 << 23 | 1 << 16 | 1 << 14\nmov vw_addr, ra31",
     "DMA store with BLOCKMODE set"},
};

TEST(what_documents_answer_differently_is_refused)
{
  for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
    char text[1000];
    snprintf(text, sizeof text, RIG_BEGIN "mov ra1, r0\nnop\n%s\n" END, questions[i].text);
    struct qpu_rig rig = rig_open_checked(NULL, text, 1);
    rig_must_fail(&rig, 1, STATUS_FAULT, questions[i].message);
    rig_close(&rig);
  }
}

/* All readings of the rule agree: the value is not used, or all of r0 to r3 rotate alike. */
TEST(what_makes_no_difference_is_no_question)
{
  static const char *const texts[] = {"mov -, ra39; fmul r2, r0, r1",  "xor r2, rb39, rb39",
                                      "mov -, mutex\nmov mutex, ra39", ".int 0x009a7000, 0x100009e7",
                                      "fmul r2, r1 << 1, r0 << 1",     "mov r2, ra1 << 1"};
  static const uint32_t expected[] = {100, 101};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char text[1000];
    snprintf(text, sizeof text, RIG_BEGIN "mov ra1, r0\nnop\n%s\nmov vpm, r0\n" RIG_END(1), texts[i]);
    must_run(text, 1, expected, 2);
  }
}

TEST(whole_rows_with_blockmode_are_stored)
{
  struct qpu_rig rig = run(RIG_BEGIN "mov vpm, r0\nmov vpm, r1\nldi vw_setup, 0xc0010000\n"
                                     "ldi vw_setup, 0x80000000 | 2 << 23 | 16 << 16 | 1 << 14\n"
                                     "mov vw_addr, ra31\nmov -, vw_wait\n" END,
                           0);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(rig.out[i], 100 + i);
  rig_close(&rig);
}

/* Rows of 3072 numbers are 12288 bytes apart, which is the pitch of the published product. */
TEST(a_load_steps_over_rows_of_up_to_65535_bytes)
{
  for (uint32_t pitch = 8188; pitch <= 12288; pitch += 4100) {
    char text[1000];
    snprintf(text, sizeof text,
             RIG_BEGIN "ldi vr_setup, 0x90000000 | %u\nldi vr_setup, 0x80000000 | 4 << 16 | 1 << 12\n"
                       "mov vr_addr, ra30\nmov -, vr_wait\n" RIG_END(4),
             (unsigned)pitch);
    struct qpu_rig rig = rig_open(NULL, text);
    for (uint32_t i = 0; i < RIG_WORDS; i++) rig.in[i] = i;
    rig_run(&rig, 1);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(rig.out[i], i / 16 * (pitch / 4) + i % 16);
    rig_close(&rig);
  }
}

TEST(a_store_steps_over_rows_of_up_to_65535_bytes)
{
  for (uint32_t gap = 8191; gap <= 12288; gap += 4097) {
    char text[1000];
    snprintf(text, sizeof text,
             RIG_BEGIN "mov vpm, r0\nmov vpm, r1\nldi vw_setup, 0xc0000000 | %u\n"
                       "ldi vw_setup, 0x80000000 | 2 << 23 | 16 << 16 | 1 << 14\n"
                       "mov vw_addr, ra31\nmov -, vw_wait\n" END,
             (unsigned)gap & ~3u);
    struct qpu_rig rig = run(text, 0);
    for (uint32_t i = 0; i < 16; i++) assert_int_equal(rig.out[gap / 4 + 16 + i], 116 + i);
    rig_close(&rig);
  }
}

UNIT_MAIN(NULL, NULL)
