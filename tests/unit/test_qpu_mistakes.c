/* SPDX-License-Identifier: MIT */
/** \file \brief Tests every mistake that the assembler detects, with its message. */
#include "tests/unit/qpu_unit.h"

static const struct {
  const char *text, *message;
} mistakes[] = {
    {"frob r0, r1", "test:1: 'frob' is no operation"},
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
    {"mov.setf r0, r1; fmul.setf r2, r1, r1", "flags come from the add ALU"},
    {"add.allz r0, r1, r2", "belongs to brr"},
    {"add.ifx r0, r1, r2", "'.ifx' is not known"},
    {"brr -, rb1", "a constant is needed here"},
    {"brr ra5, 8", "takes '-' and a target"},
    {"brr -", "takes '-' and a target"},
    {"brr.allc -, 8", "'.allc' is not known"},
    {"mov r0, r1 >> r5", "cannot be applied to a register"},
    {"brr.ifz -, 0", "conditions of its own"},
    {":a nop\n:a nop", "test:2: the label 'a' is defined twice"},
    {"ldi r0, 0x1ffffffff", "does not fit 32 bits"},
    {"ldi r0, 1 / 0", "division"},
    {"mov r0, ra31 + 40", "there is no such register"},
    {"mov r0, (1", "')' is missing"},
    {"mov r0,", "operand is missing"},
    {".rep i, 3\nnop", "'.rep' without '.endr'"},
    {".rep i, -1\n.endr", "cannot repeat"},
    {".macro m, a\n.endm\nm 1, 2", "takes 1 arguments, not 2"},
    {".macro m\nm\n.endm\nm", "nest more than"},
    {".set f(x) f(x)\nldi r0, f(1)", "nest more than"},
    {".rep i, 3000000\n.endr\n.rep i, 3000000\nnop\n.endr", "longer than"},
    {".frob 1", "'.frob' is no directive"},
    {"mov 5, r0", "the first operand must be the register to write to"},
    {".if ra1\n.endif", "a whole number is needed here"},
    {".set f(x) x\nldi r0, f", "'f' is a function: its arguments must follow"},
    {".set f(x) x\nldi r0, f(1 2)", "')' is missing after the arguments of 'f'"},
    {"ldi r0, -ra1", "'-' needs a number"},
    {".macro m\n.endm\nldi r0, m", "'m' is a macro, not a value"},
    {"ldi r0, 1.5 | 1", "this operator needs whole numbers"},
    {"ldi r0, ra1 * 2", "this operator cannot be applied"},
    {"fadd r0, r1, r2, r3, r1", "too many operands for 'fadd'"},
    {"mov r0, 1000; mov r1, 1001", "no small immediate"},
    {"ldi r0, 1; nop", "fills the instruction"},
    {".set a, 1\n.set a, 2", "'a' is defined already"},
    {".int 1", "two halves of an instruction"},
    {"ldi r0, 1.5 + 1", "needs whole numbers"},
    {"mov r0, r1 << r5", "cannot be applied to a register"},
    {".rep i 3\n.endr", "needs a name and a count"},
    {".include x", "needs a file name in quotes"},
    {".if 1.5\n.endif", "a whole number is needed"},
    {"nop\nmov r0, foo", "test:2: 'foo' is no register, constant or function"},
    {"mov r0, ra", "'ra' is no register"},
    {"mov r0, rb64", "'rb64' is no register"},
    {"mov r0, ra01", "'ra01' is no register"},
    {"brr -, r:foo", "'foo' is no register, constant, function or label"},
    {".endr", "'.endr' is no directive, or has nothing to close"},
    {"mov r0, 1 2", "',' or ';' is expected at '2'"},
    {"nop; nop; nop; nop; nop; nop; nop; nop; nop", "too many operations in one instruction"},
    {".macro m, a, b\n.endm\nm 1 2", "',' is expected between the arguments of 'm'"},
    {"ldi r0, (-0x7fffffffffffffff - 1) / -1", "division"},
    {"mov r0, r1 + 1", "there is no such register"},
    {"mov r0, unif + 1", "there is no such register"},
    {"mov r0 >> 2, r1", "the first operand must be the register to write to"},
    {"brr.setf -, 8", "conditions of its own"},
    {"brr -, 8, 8", "takes '-' and a target"},
    {"brr 5, 8", "takes '-' and a target"},
    {".include \"x\" y", "needs a file name in quotes"},
    {".rep 1, 2\n.endr", "needs a name and a count"},
    {".macro m, 1\n.endm", "argument names are expected at '1'"},
    {".set 1, 2", "a name is expected at '1"},
    {":1 nop", "a label's name must follow ':'"},
    {"1 r0", "an operation is expected at '1 r0'"},
    {"add,r0", "',r0' does not belong behind 'add'"},
    {"ldi r0, 1x", "is not a number"},
    {"ldi r0, *", "an expression is expected at '*'"},
    {".if 1 2\n.endif", "'2' does not belong here"},
};

TEST(mistakes_are_named_with_their_line)
{
  char text[128];
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    snprintf(text, sizeof text, "%s\nnop", mistakes[i].text); /* without the mistake, a program */
    qpu_must_refuse(text, mistakes[i].message);
  }
}

static void assemble_fails(const char *path, status_t expected, const char *message)
{
  struct qpu_program program;
  assert_int_equal(qpu_assemble(path, NULL, 0, &program), expected);
  assert_non_null(strstr(log_held(), message));
  log_drop();
}

TEST(what_only_files_can_hold_is_refused_too)
{
  static char text[70000];
  char path[] = "/tmp/qpu-asm-XXXXXX";
  memset(text, 'x', sizeof text - 1);
  qpu_must_refuse(text, "the line is longer than");
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, "nop\n\0nop\n", 9), 9);
  close(file);
  log_hold(1);
  assemble_fails(path, STATUS_USAGE, ":2: the line has a zero byte in it");
  assemble_fails("/no/file", STATUS_ENVIRONMENT, "cannot read /no/file: No such file or directory");
  assemble_fails("/", STATUS_ENVIRONMENT, "cannot read /: not a regular file");
  assert_int_equal(truncate(path, 100 << 20), 0);
  assemble_fails(path, STATUS_USAGE, "is larger than");
  log_hold(0);
  unlink(path);
}

UNIT_MAIN(NULL, NULL)
