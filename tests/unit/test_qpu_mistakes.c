/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Every mistake that the assembler knows, with what it says of it. */
#include "tests/unit/qpu_unit.h"

#include <unistd.h>

static const struct {
  const char *text, *message;
} mistakes[] = {
    {"frob r0, r1", "test:1: 'frob' is no operation"},
    {"nop\nmov r0, foo", "test:2: 'foo' is no register"},
    {"add r0, r1", "takes 3 operands"},
    {"mov r0", "takes 2 operands"},
    {"nop r0", "takes no operands"},
    {"fadd r0, r1, r2; add r3, r1, r2", "both need the add ALU"},
    {"fmul r0, r1, r2; mul24 r3, r1, r2", "both need the mul ALU"},
    {"add r0, ra1, ra2", "one register of file A only"},
    {"add r0, rb1, rb2", "one register of file B only"},
    {"add r0, rb1, 3", "read port of file B, which is taken"},
    {"add r0, r1, 3; fmul r2, rb1, r1", "takes that place"},
    {"add r0, r1, 17", "no small immediate"},
    {"add r0, r1, 3; ldtmu0", "one signal only"},
    {"add r0, r1, 3; fmul r2, r1, 2.0", "read port of file B"},
    {"nop; ldtmu0; ldtmu1", "one signal only"},
    {"mov ra1, r0; mov ra2, r1", "writes one register of each file only"},
    {"mov unif, r0", "cannot be written"},
    {"mov r0, t0s", "cannot be read"},
    {"mov r4, r0", "cannot be written"},
    {"mov r5, r0", "cannot be written"},
    {"add r0, r1 >> 2, r2", "only the mul ALU can rotate"},
    {"fmul r0, r1 >> 2, r2 >> 3", "one rotation"},
    {"mov r0, r1 << r5", "rotates upward only"},
    {"mov rb1.16a, r0", "packs into ra0 to ra31"},
    {"mov ra1.9x, r0", "no pack mode"},
    {"mov r0, rb1.16a", "only register file A and r4"},
    {"add r0, ra1.16a, ra1", "is unpacked"},
    {"fadd ra1.16a, r4.8a, r0", "exclude each other"},
    {"fadd r0, ra1.16a, r0; fmul r1, ra1.8a, r0", "one unpack mode"},
    {"fadd r0, ra1.16ai, r0", "a float here: the operation takes floats"},
    {"add r0, ra1.8bf, r0", "an integer here: the operation takes integers"},
    {"or r0, ra1.16af, ra1.16af", "an integer here"},
    {"fadd r0, r0, r1; mov r2, ra1.16af", "an integer here"},
    {"mov r0, ra1.16a; fmul r1, ra1.16a, r0", "floats for both ALUs"},
    {"fadd ra1.16ai, r0, r1", "'.16ai' does not fit the operation, whose result is a float"},
    {"mov ra1.16bf, r0", "'.16bf' does not fit the operation, whose result is an integer"},
    {"mov.setf r0, r1; fmul.setf r2, r1, r1", "flags come from the add ALU"},
    {"add.allz r0, r1, r2", "belongs to bra or brr"},
    {"add.ifx r0, r1, r2", "'.ifx' is not known"},
    {"bra -, :x\n:x nop", "use brr"},
    {"brr -, rb1", "ra0 to ra31 only"},
    {"brr.ifz -, 0", "conditions of its own"},
    {":a nop\n:a nop", "test:2: the label 'a' is defined twice"},
    {"brr -, r:1f", "no register"},
    {"ldi r0, 0x1ffffffff", "does not fit 32 bits"},
    {"ldi r0, 1 / 0", "division"},
    {"ldi r0, [1,2]", "needs 16 values"},
    {"ldi r0, [4,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]", "from 0 to 3"},
    {"ldi r0, [-1,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0]", "from 0 to 3"},
    {"mov r0, 1000; mov r1, 1001", "does not fit beside"},
    {"mov ra1.16a, 256.0; mov r1, ra3", "does not fit beside"},
    {"ldi r0, 1; ldi r1, 2", "one constant"},
    {"mov r0, ra31 + 40", "there is no such register"},
    {"mov r0, (1", "')' is missing"},
    {"mov r0, 1 2", "',' or ';' is expected"},
    {"mov r0,", "operand is missing"},
    {".rep i, 3\nnop", "'.rep' without '.endr'"},
    {".endr", "nothing to close"},
    {".rep i, -1\n.endr", "cannot repeat"},
    {".assert 1 == 2", "assertion failed: 1 == 2"},
    {".const a, 1\n.set a, 2", "a constant already"},
    {".unset nothing", "is not defined"},
    {".macro m, a\n.endm\nm 1, 2", "takes 1 arguments, not 2"},
    {".macro m\nm\n.endm\nm", "nest more than"},
    {".set f(x) f(x)\nldi r0, f(1)", "nest more than"},
    {".rep i, 3000000\n.endr\n.rep i, 3000000\nnop\n.endr", "longer than"},
    {".func f(x)\n.set y, x\n.endf\nldi r0, f(1)", "has no value"},
    {".byte 256", "does not fit 1 bytes"},
    {".frob 1", "'.frob' is no directive"},
    {".back 13\nnop\n.endb", "0 to 12 instructions back"},
    {"nop", "runs off its end"},
    {"fadd r0, r4.8a, r4", "every use of r4 in this instruction is unpacked"},
    {"mov 5, r0", "the first operand must be the register to write to"},
    {"brr -, r:x\nnop\nnop\nnop\n.back 4\nnop\n.endb\n:x nop", "'.back' cannot move a branch or data"},
    {".int 1, 2\n.back 1\nnop\n.endb", "'.back' cannot move a branch or data"},
    {"nop\nnop\n:x nop\n.back 2\nnop\n.endb", "'.back' cannot move a label"},
    {".if ra1\n.endif", "a condition must be a number"},
    {".set f(x) x\nldi r0, f", "'f' is a function: its arguments must follow"},
    {".set f(x) x\nldi r0, f(1 2)", "')' is missing after the arguments of 'f'"},
    {"ldi r0, ~1.5", "'~' needs a whole number"},
    {"ldi r0, -ra1", "'-' needs a number"},
    {".macro m\n.endm\nldi r0, m", "'m' is a macro, not a value"},
    {"ldi r0, 1.5 & 1", "this operator needs whole numbers"},
    {"ldi r0, ra1 * 2", "this operator cannot be applied"},
    {"ldi r0, ra1", "a constant is needed here"},
    {".back 1.5\n.endb", "a whole number is needed here"},
    {"add.unpack16a r0, rb1, r1", "no operand can be unpacked as '.unpack16a' says"},
    {"fadd r0, r1, r2, r3, r1", "too many operands for 'fadd'"},
    {"brr -, r:1b\n:1 nop", "'1b' is no register, constant, function or label"},
    {":1 nop\nbrr -, r:1f", "'1f' is no register, constant, function or label"},
    {".byte 1\n.align 3", "'.align' takes 1, 2, 4 or 8"},
    {":start .if :x < 16\nnop\nnop\n.endif\n:x nop", "labels do not settle"},
};

static void mistakes_are_named_with_their_line(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
    qpu_must_refuse(mistakes[i].text, mistakes[i].message);
}

static void what_only_files_can_hold_is_refused_too(void **state)
{
  static char text[70000];
  char path[] = "/tmp/qpu-asm-XXXXXX";
  struct qpu_program program;
  (void)state;
  memset(text, 'x', sizeof text - 1);
  qpu_must_refuse(text, "the line is longer than");
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, "nop\n\0nop\n", 9), 9);
  close(file);
  log_hold(1);
  assert_int_equal(qpu_assemble(path, NULL, NULL, &program), STATUS_USAGE);
  assert_non_null(strstr(log_held(), ":2: the line has a zero byte in it"));
  log_drop();
  assert_int_equal(qpu_assemble("/", NULL, NULL, &program), STATUS_ENVIRONMENT);
  assert_non_null(strstr(log_held(), "cannot read /: Is a directory"));
  log_drop();
  assert_int_equal(truncate(path, 100 << 20), 0);
  assert_int_equal(qpu_assemble(path, NULL, NULL, &program), STATUS_USAGE);
  assert_non_null(strstr(log_held(), "is larger than"));
  log_drop();
  log_hold(0);
  unlink(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mistakes_are_named_with_their_line),
      cmocka_unit_test(what_only_files_can_hold_is_refused_too),
  };
  return cmocka_run_group_tests_name("qpu assembler's mistakes", tests, NULL, NULL);
}
