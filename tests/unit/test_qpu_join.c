/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What sources that others wrote for vc4asm ask of the assembler. */
#include "tests/unit/qpu_unit.h"

#include "gpu/qpu/isa/isa.h"

static void expect_same(const char *text, const char *plain)
{
  struct qpu_program a = qpu_must_assemble(text, 1), b = qpu_must_assemble(plain, 1);
  if (a.n_words != b.n_words || memcmp(a.words, b.words, a.n_words * 8) != 0)
    print_error("%s\nis not\n%s\n", text, plain);
  assert_int_equal(a.n_words, b.n_words);
  assert_memory_equal(a.words, b.words, a.n_words * 8);
  qpu_program_free(&a);
  qpu_program_free(&b);
}

static void lines_join_where_both_say_so(void **state)
{
  (void)state;
  expect_same("fadd r1, r1, r3;\n;fmul r2, r1, r0", "fadd r1, r1, r3; fmul r2, r1, r0");
  expect_same("fadd r1, r1, r3;\nfmul r2, r1, r0", "fadd r1, r1, r3\nfmul r2, r1, r0");
  expect_same("fadd r1, r1, r3\n;fmul r2, r1, r0", "fadd r1, r1, r3\nfmul r2, r1, r0");
  expect_same("fadd r1, r1, r3; # why\n.if 1\n;mov r0, ra1;\n.endif\n; ldtmu0",
              "fadd r1, r1, r3; mov r0, ra1; ldtmu0");
  expect_same(".macro a, x\nfadd r1, r1, x;\n.endm\n.macro b\n;fmul r2, r1, r0\n.endm\na ra3\nb",
              "fadd r1, r1, ra3; fmul r2, r1, r0");
}

static void lines_stay_apart_where_they_must(void **state)
{
  (void)state;
  expect_same("fadd r1, r1, r3;\n:here\n;fmul r2, r1, r0", "fadd r1, r1, r3\nfmul r2, r1, r0");
  expect_same("fadd r1, r1, r3;\n:\n;fmul r2, r1, r0", "fadd r1, r1, r3\nfmul r2, r1, r0");
  expect_same("fadd r1, r1, r3;\n;fadd r2, r1, r0", "fadd r1, r1, r3\nfadd r2, r1, r0");
  expect_same("mov t0s, r0;\n; ldtmu0", "mov t0s, r0\nnop; ldtmu0");
  expect_same("fadd r1, r1, r3;\n.int 1, 2\n;fmul r2, r1, r0", "fadd r1, r1, r3\n.int 1, 2\nfmul r2, r1, r0");
}

static void what_goes_back_joins_both_sides(void **state)
{
  (void)state;
  expect_same("nop\nfadd r1, r1, r3;\nnop\nnop\n.back 2\n;fmul r2, r1, r0\n.endb",
              "nop\nfadd r1, r1, r3; fmul r2, r1, r0\nnop\nnop");
  expect_same("nop\n;fmul r2, r1, r0\nnop\nnop\n.back 3\n;mov.setf -, rb5;\n.endb",
              "nop\nmov.setf -, rb5; fmul r2, r1, r0\nnop\nnop");
  expect_same(".rep i, 9\nmov r0, i\n.endr\n.back 9\nmov r1, 3\n.endb",
              "mov r1, 3\n.rep i, 9\nmov r0, i\n.endr");
}

static void operations_of_one_alu_can_be_asked_for(void **state)
{
  (void)state;
  expect_same("mv8adds r0, r1, r2", "anop; v8adds r0, r1, r2");
  expect_same("mmov r0, r1; amov r2, r3", "mov r2, r3; mov r0, r1");
  expect_same("av8subs r0, r1, r2; mfmul r3, r1, r2", "v8subs r0, r1, r2; fmul r3, r1, r2");
  expect_same("mov ra16, r1; mov r1, 0x180", "mov r1, 0x180; mov ra16, r1");
  qpu_must_refuse("mmov r0, r1; fmul r2, r1, r0", "both need the mul ALU");
}

static void sixteen_is_added_as_minus_sixteen_is_taken_away(void **state)
{
  (void)state;
  expect_same("add r0, r1, 16", "sub r0, r1, -16");
  expect_same("sub ra0, ra1, 16; mov r0, r1", "add ra0, ra1, -16; mov r0, r1");
  expect_same("add r0, 16, ra1", "sub r0, ra1, -16");
  qpu_must_refuse("add r0, r1, 17", "no small immediate");
}

/* The three words are those that vc4asm's own test has. */
static void lines_of_a_newer_gpu_fft_are_taken(void **state)
{
  (void)state;
  expect_same("shl r0, r1, 28; mov r2, r3", "shl r0, r1, -4; mov r2, r3");
  expect_same("ror r0, ra1, 16", "ror r0, ra1, -16");
  expect_same("fmul r0, r1 >> 2, (ra2 >> 2).16b", "fmul r0, r1 >> 2, ra2.16b >> 2");
  expect_same(": nop\nmov r0, 1", "nop\nmov r0, 1");
  qpu_must_refuse("shl r0, r1, 32", "no small immediate");
}

static void unpacking_may_stand_behind_the_opcode(void **state)
{
  (void)state;
  struct qpu_program program =
      qpu_must_assemble("add r0, r4, ra1.unpack8b\nadd.unpack8af r0, r4, ra1\nadd r0, r4.8a, ra1", 1);
  assert_int_equal(program.words[0], 0x1a0208270c067980);
  assert_int_equal(program.words[1], 0x190208270c067980);
  assert_int_equal(program.words[2], 0x190208270c067980);
  qpu_program_free(&program);
  expect_same("shl.unpack8b r1, ra5, 8", "shl r1, ra5.8b, 8");
  expect_same("or.unpack8b r0, ra5, r0", "or r0, ra5.8b, r0");
  expect_same("add.unpack16bi r0, r4, ra1", "add r0, r4, ra1.16b");
}

static void targets_carry_conditions_and_flags(void **state)
{
  (void)state;
  expect_same("mov r0.ifz, r1; fmul rb3.nn, r1, r2", "mov.ifz r0, r1; fmul.ifnn rb3, r1, r2");
  expect_same("add r0.setf, r1, r2", "add.setf r0, r1, r2");
  expect_same("mov ra1.8a, r0", "mov.pack8a ra1, r0");
}

/* A code that rotates by 8 is the constant -8 too, of which asr makes -1. */
static void rotations_choose_their_alu_and_lend_their_constant(void **state)
{
  (void)state;
  expect_same("v8adds.ifn r3, r3 >> 8, ra0.8b", "mv8adds.ifn r3, r3 >> 8, ra0.8b");
  expect_same("v8adds r3, r3 >> 8, r0; mov rb0, -1", "asr rb0, -8, -8; v8adds r3, r3 >> 8, r0");
}

static void labels_stand_in_expressions(void **state)
{
  (void)state;
  expect_same(":2 nop\nnop\n:here nop\nmov r1, :here - :2 - 4*8", "nop\nnop\nnop\nmov r1, -16");
  expect_same("mov r1, r:there - r:1f\nnop\n:1 nop\nnop\n:there nop", "mov r1, 16\nnop\nnop\nnop\nnop");
  expect_same(":0 nop\n:0 nop\nbrr.allnz -, r:0\nnop\nnop\nnop", "nop\nnop\nbrr.allnz -, -40\nnop\nnop\nnop");
}

static void a_branch_writes_two_registers(void **state)
{
  (void)state;
  struct qpu_program program =
      qpu_must_assemble("brr ra8, rb9, -, 64\nbrr r0, ra8, 64, ra6\nbrr ra8, 64, ra6\n"
                        "bra -, ra2, 64\nbrr r0, rb8, 64",
                        1);
  static const int expected[][3] = {/* targets of add and mul, register added or -1 */
                                    {8, 9, -1},
                                    {32, 8, 6},
                                    {8, 39, 6},
                                    {39, 39, 2},
                                    {32, 8, -1}};
  for (size_t i = 0; i < 5; i++) {
    struct qpu_inst inst = qpu_decode(program.words[i]);
    assert_int_equal(inst.waddr_add, expected[i][0]);
    assert_int_equal(inst.waddr_mul, expected[i][1]);
    assert_int_equal(inst.reg ? inst.raddr_a : -1, expected[i][2]);
    assert_int_equal(inst.imm, 64);
  }
  qpu_program_free(&program);
}

static void code_is_cloned_from_before_and_from_behind(void **state)
{
  (void)state;
  expect_same(":a mov r0, 1\nmov r1, 2\nnop\n.clone :a, 2",
              "mov r0, 1\nmov r1, 2\nnop\nmov r0, 1\nmov r1, 2");
  expect_same(".clone r:a + 8, 2\nnop\n:a mov r0, 1\nmov r1, 2\nmov r2, 3",
              "mov r1, 2\nmov r2, 3\nnop\nmov r0, 1\nmov r1, 2\nmov r2, 3");
  qpu_must_refuse(":a brr -, r:a\nnop\nnop\nnop\n.clone :a, 1", "cannot copy a branch");
}

static void definitions_can_be_asked_for(void **state)
{
  (void)state;
  expect_same(
      ".ifset A\nmov r0, 1\n.else\nmov r0, 2\n.endif\n.set A, 0\n.ifset A\n.ifset B\nmov r0, 3\n.endif\n"
      "mov r0, 4\n.endif",
      "mov r0, 2\nmov r0, 4");
  expect_same(".if 1\n.ifset A\nmov r0, 1\n.else\nmov r0, 2\n.endif\n.else\nmov r0, 3\n.endif", "mov r0, 2");
}

static void kinds_of_operands_can_be_asked_for(void **state)
{
  static const char *const true_ones[] = {"isA(ra3)",
                                          "!isA(rb3)",
                                          "isB(rb30)",
                                          "!isB(ra30)",
                                          "isRegister(r0)",
                                          "!isRegister(5)",
                                          "!isRegister(1.5)",
                                          "isConstant(7)",
                                          "isConstant(-0.5)",
                                          "!isConstant(ra0)",
                                          "!isConstant([0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0])",
                                          "isRotate(r0 >> 3)",
                                          "!isRotate(r0)",
                                          "isWritable(vw_setup)",
                                          "!isWritable(unif)",
                                          "isSemaphore(sacq3)",
                                          "!isSemaphore(rb3)",
                                          "!isRegister(srel0 + 1)"};
  (void)state;
  for (size_t i = 0; i < sizeof true_ones / sizeof true_ones[0]; i++) {
    char text[1200];
    snprintf(text, sizeof text,
             ".set isConstant(x) x < [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,-2]\n"
             ".set isRegister(x) x >= :[0,0] && x < :[0,16]\n"
             ".set isA(x) isRegister(x) && (x & :[0,1]) == :[0,1]\n"
             ".set isB(x) isRegister(x) && (x & :[0,2]) == :[0,2]\n"
             ".set isWritable(x) isRegister(x) && (x & :[0,8]) == :[0,8]\n"
             ".set isRotate(x) (x & :[0,0,-1]) != :[0,0]\n"
             ".set isSemaphore(x) x >= :[0,16,0] && x <= :[-1,-1,-1]\n"
             ".assert %s\nnop",
             true_ones[i]);
    struct qpu_program program = qpu_must_assemble(text, 1);
    qpu_program_free(&program);
  }
}

static void labels_are_exported_by_name(void **state)
{
  (void)state;
  struct qpu_program program =
      qpu_must_assemble(".global there\nnop\n:here nop\n:there nop\n.global :here\n:no nop", 1);
  assert_int_equal(program.n_labels, 3);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(program.labels[i].exported, strcmp(program.labels[i].name, "no") != 0);
  qpu_program_free(&program);
  qpu_must_refuse(".global nowhere\nnop", "no label 'nowhere'");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_join_where_both_say_so),
      cmocka_unit_test(lines_stay_apart_where_they_must),
      cmocka_unit_test(what_goes_back_joins_both_sides),
      cmocka_unit_test(operations_of_one_alu_can_be_asked_for),
      cmocka_unit_test(sixteen_is_added_as_minus_sixteen_is_taken_away),
      cmocka_unit_test(lines_of_a_newer_gpu_fft_are_taken),
      cmocka_unit_test(unpacking_may_stand_behind_the_opcode),
      cmocka_unit_test(targets_carry_conditions_and_flags),
      cmocka_unit_test(rotations_choose_their_alu_and_lend_their_constant),
      cmocka_unit_test(labels_stand_in_expressions),
      cmocka_unit_test(a_branch_writes_two_registers),
      cmocka_unit_test(code_is_cloned_from_before_and_from_behind),
      cmocka_unit_test(definitions_can_be_asked_for),
      cmocka_unit_test(kinds_of_operands_can_be_asked_for),
      cmocka_unit_test(labels_are_exported_by_name),
  };
  return cmocka_run_group_tests_name("qpu sources of others", tests, NULL, NULL);
}
