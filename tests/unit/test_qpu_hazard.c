/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/hazard.h"
#include "gpu/qpu/isa/isa.h"
#include "tests/unit/qpu_unit.h"

#define END "\nthrend\nnop\nnop\n"

/* A program that breaks a rule, the rule's words, and the least that puts it right. */
static const struct {
  const char *broken, *rule, *right;
} cases[] = {
    {".int 0x609e7000, 0x100009e7" END, "test:1: reserved code", "nop" END},
    {"mov ra1, r0\nmov r1, ra1" END, "test:2: a register of file A or B cannot be read",
     "mov ra1, r0\nnop\nmov r1, ra1" END},
    {"mov rb1, r0\nmov r1, rb1" END, "cannot be read by the instruction after",
     "mov rb1, r0\nmov r1, ra1" END},
    {"mov ra1, r0\nbra -, ra1\nnop\nnop\nnop\n", "cannot be read by the instruction after",
     "mov ra1, r0\nnop\nbra -, ra1\nnop\nnop\nnop\n"},
    {"mov unif_addr, r0\nnop\nmov r1, unif" END, "test:3: uniforms cannot be read",
     "mov unif_addr, r0\nnop\nnop\nmov r1, unif" END},
    {"mov unif_addr_rel, r0\nmov r1, unif" END, "uniforms cannot be read",
     "mov r1, unif\nmov unif_addr, r0" END},
    {"mov r0, r1\nmov r2, r0 >> 4" END, "take from a higher quad", "mov r0, r1\nnop\nmov r2, r0 >> 4" END},
    {"mov r5rep, r1\nmov r2, r0 >> r5" END, "cannot follow directly on a write of r5",
     "mov r5rep, r1\nnop\nmov r2, r0 >> r5" END},
    {"mov r0, r1\nmov r5rep, r0 << 4" END, "take from a higher quad", "mov r0, r1\nmov r5rep, r0 << 3" END},
    {"mov r0, r1\nfmul r2, r3, r0 << 2" END, "take from a higher quad",
     "mov r0, r1\nfmul.ifnz r2, r3, r0 << 2" END},
    {"mov r0, r1\nmov r5quad, r0 << 4" END, "take from a higher quad", "mov r0, r1\nmov r5quad, r0 << 1" END},
    {"nop\nmov r2, ra0 >> 4" END, "from r0 to r3 only", "nop\nmov r2, r3 >> 4" END},
    {"nop\nmov r2, r4 << 5" END, "from r0 to r3 only", "nop\nmov r2, r4 << 3; mov r1, r4" END},
    {"nop\nmov r2, ra0 >> 12" END, "from r0 to r3 only", "nop\nmul24 r2, r3 >> 12, ra0 >> 12" END},
    {"mov r0, r1\nmul24 r2, ra1 >> 15, r0 >> 15" END, "take from a higher quad",
     "mov r0, r1\nmul24 r2, ra1 >> 1, r3 >> 1" END},
    {"mov tmurs, 1\nnop\nnop\nmov t0s, r0" END, "three instructions after tmu_noswap",
     "mov tmurs, 1\nnop\nnop\nnop\nmov t0s, r0" END},
    {"brr -, r:a\nnop\nbrr -, r:a\nnop\nnop\nnop\n:a nop" END, "test:3: no branch",
     "brr -, r:a\nnop\nnop\nnop\n:a nop" END},
    {"brr -, r:a\nnop\nnop; thrend\nnop\n:a nop\nnop\nnop" END, "no branch",
     "brr -, r:a\nnop\nnop\nnop\n:a nop" END},
    {"mov r0, unif; thrend\nnop\nnop\n", "thread end instruction cannot read uniforms", "mov r0, unif" END},
    {"thrend\nmov vpm, r0\nnop\n", "test:2: the last three instructions", "mov vpm, r0" END},
    {"thrend\nnop\nmov t0s, r0\n", "test:3: the last three instructions", "mov t0s, r0" END},
    {"mov ra3, r0; thrend\nnop\nnop\n", "cannot write to register file A or B",
     "mov r3, r0; thrend\nnop\nnop\n"},
    {"thrend\nnop\nmov rb14, r0\n", "ra14 or rb14", "thrend\nnop\nmov rb13, r0\n"},
    {"thrend\nmov r0, ra14\nnop\n", "ra14 or rb14", "thrend\nmov r0, ra13\nnop\n"},
    {"mov r0, rb14; thrend\nnop\nnop\n", "test:1: thread end and its two",
     "mov r0, rb13; thrend\nnop\nnop\n"},
    {"thrend\nthrend\nnop\nnop\n", "delay slots of thread end", "nop" END},
    {"thrsw\nnop\nthrsw\nnop\nnop" END, "two delay slots of a thread switch",
     "thrsw\nnop\nnop\nthrsw\nnop\nnop" END},
    {"mov r0, r1; mov r0, r2" END, "both ALUs write the same register",
     "mov.ifz r0, r1; mov.ifnz r0, r2" END},
    {"mov r0, r0; mov r0, r1" END, "both ALUs write the same register", "mov r0, r0; mov r0, r0" END},
    {"mov t0s, r0; mov t1s, r1" END, "one of these accesses", "mov t0s, r0\nmov t1s, r1" END},
    {"mov t0s, r0; ldtmu0" END, "one of these accesses", "mov t0s, r0\nnop; ldtmu0" END},
    {"mov vr_setup, r0; mov vw_setup, r1" END, "only two VPM accesses",
     "mov vr_setup, r0\nmov vw_setup, r1" END},
    {"mov vw_setup, vpm" END, "only two VPM accesses", "mov vpm, vpm" END},
    {"mov.ifz vpm, r0" END, "cannot be conditional", "mov.ifz r1, r0\nmov vpm, r1" END},
    {"mov.ifn t0s, r0" END, "cannot be conditional", "mov.ifn irq, r0" END},
    {"nop\nnop\n", "runs off its end", "nop" END},
    {"thrend\nnop\n", "runs off its end", "thrend\nnop\nnop\n"},
    {"brr.allz -, r:a\nnop\nnop\n:a nop\n", "runs off its end", "brr -, r:a\nnop\nnop\n:a nop\n"},
};

static void each_rule_is_checked_and_no_stricter_than_it_is(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    qpu_must_refuse(cases[i].broken, cases[i].rule);
    struct qpu_program program = qpu_must_assemble(cases[i].right, 0);
    qpu_program_free(&program);
  }
}

/* The write is the last delay slot's, the read stands where the branch leads. */
static void rules_hold_along_branches(void **state)
{
  (void)state;
  qpu_must_refuse("brr -, r:there\nnop\nnop\nmov ra1, r0\nnop\n:there mov r1, ra1" END,
                  "test:6: a register of file A");
  qpu_must_refuse(":loop mov r1, ra1\nnop\nbrr.anyz -, r:loop\nnop\nnop\nmov ra1, r0" END,
                  "test:1: a register of file A");
  qpu_must_refuse("brr -, r:there\nnop\nmov unif_addr, r0\nnop\nnop\n:there mov r1, unif" END,
                  "uniforms cannot be read");
  struct qpu_program program =
      qpu_must_assemble("brr -, r:there\nnop\nnop\nmov ra1, r0\nmov r1, ra1\n:there nop" END, 0);
  qpu_program_free(&program); /* what follows an unconditional branch is not reached from it */
}

/* Both ALUs busy, with nothing from the ports: what stands there is read all the same. */
static struct qpu_inst busy(const char *text)
{
  struct qpu_program program = qpu_must_assemble(text, 1);
  struct qpu_inst inst = qpu_decode(program.words[0]);
  qpu_program_free(&program);
  assert_null(qpu_hazard_within(&inst));
  return inst;
}

static void a_peripheral_that_no_operation_takes_counts(void **state)
{
  (void)state;
  struct qpu_inst inst = busy("fadd vpm, r0, r1; fmul r2, r0, r1");
  inst.raddr_b = QPU_R_VPM_WAIT;
  assert_non_null(strstr(qpu_hazard_within(&inst)->text, "only two VPM accesses"));
  inst = busy("fadd t0s, r0, r1; fmul r2, r0, r1");
  inst.raddr_a = QPU_R_MUTEX;
  assert_non_null(strstr(qpu_hazard_within(&inst)->text, "one of these accesses"));
  inst = busy("fadd r3, r0, r1; fmul r2, r0, r1; thrend");
  inst.raddr_a = QPU_R_UNIFORM;
  assert_non_null(strstr(qpu_hazard_within(&inst)->text, "thread end instruction cannot read"));
  inst.raddr_a = 14; /* a register stays where it is */
  assert_null(qpu_hazard_within(&inst));
}

static void programs_made_elsewhere_can_pass_unchecked(void **state)
{
  (void)state;
  struct qpu_program program = qpu_must_assemble("mov ra1, r0\nmov r1, ra1\n", 1);
  assert_int_equal(program.n_words, 2);
  qpu_program_free(&program);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_rule_is_checked_and_no_stricter_than_it_is),
      cmocka_unit_test(rules_hold_along_branches),
      cmocka_unit_test(a_peripheral_that_no_operation_takes_counts),
      cmocka_unit_test(programs_made_elsewhere_can_pass_unchecked),
  };
  return cmocka_run_group_tests_name("qpu hazards", tests, NULL, NULL);
}
