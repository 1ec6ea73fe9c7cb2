/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/hazard.h"
#include "gpu/qpu/isa/isa.h"
#include "tests/unit/qpu_rig.h"

#define END "\nthrend\nnop\nnop\n"

/* A program that breaks a rule, the rule's text, and the program with the smallest fix. */
struct breach {
  const char *broken, *rule, *right;
};

static const struct breach alone[] = {
    {".int 0x609e7000, 0x100009e7" END, "test:1: reserved code", "nop" END},
    {"nop\nmov r2, ra0 >> 4" END, "test:2: a full vector rotation", "nop\nmov r2, r3 >> 4" END},
    {"nop\nmov r2, r4 << 5" END, "from r0 to r3 only", "nop\nmov r2, r4 << 3; mov r1, r4" END},
    {"nop\nmov r2, ra0 >> 12" END, "from r0 to r3 only",
     "nop\nmul24 r2, r3 >> 12, ra0 >> 12\nmul24 r2, ra0 >> 12, r3 >> 12" END},
    {"mov r0, unif; thrend\nnop\nnop\n", "thread end instruction cannot read uniforms", "mov r0, unif" END},
    {"mov ra3, r0; thrend\nnop\nnop\n", "cannot write to register file A or B",
     "mov r3, r0; thrend\nnop\nnop\n"},
    {"mov r0, rb14; thrend\nnop\nnop\n", "test:1: thread end and its two",
     "mov r0, rb13; thrend\nnop\nnop\n"},
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
};

/* In these programs, r0 is an address at the start. */
static const struct breach sequences[] = {
    {"mov ra1, r0\nmov r1, ra1" END, "a register of file A or B cannot be read",
     "mov ra1, r0\nnop\nmov r1, ra1" END},
    {"mov rb1, r0\nmov r1, rb1" END, "cannot be read by the instruction after",
     "mov rb1, r0\nmov r1, ra1" END},
    {"mov unif_addr, r0\nnop\nmov r1, unif" END, "uniforms cannot be read",
     "mov unif_addr, r0\nnop\nnop\nmov r1, unif" END},
    {"mov unif_addr_rel, r0\nmov r1, unif" END, "uniforms cannot be read",
     "mov r1, unif\nmov unif_addr, r0" END},
    {"mov r0, r1\nmov r2, r0 >> 4" END, "take from a higher quad", "mov r0, r1\nnop\nmov r2, r0 >> 4" END},
    {"mov r0, r1\nmov r5rep, r0 << 4" END, "take from a higher quad", "mov r0, r1\nmov r5rep, r0 << 3" END},
    {"mov r0, r1\nfmul r2, r3, r0 << 2" END, "take from a higher quad",
     "mov.setf r0, r1\nfmul.ifnz r2, r3 << 2, r0 << 2" END},
    {"mov r0, r1\nmov r5quad, r0 << 4" END, "take from a higher quad", "mov r0, r1\nmov r5quad, r0 << 1" END},
    {"mov r0, r1\nmul24 r2, r3 >> 15, r0 >> 15" END, "take from a higher quad",
     "mov r0, r1\nmul24 r2, r2 >> 1, r3 >> 1" END},
    {"brr -, r:a\nnop\nbrr -, r:a\nnop\nnop\nnop\n:a nop" END, "no branch",
     "brr -, r:a\nnop\nnop\nnop\n:a nop" END},
    {"brr -, r:a\nnop\nnop; thrend\nnop\n:a nop\nnop\nnop" END, "no branch",
     "brr -, r:a\nnop\nnop\nnop\n:a nop" END},
    {"thrend\nmov vpm, r0\nnop\n", "the last three instructions", "mov vpm, r0" END},
    {"thrend\nnop\nmov t0s, r0\n", "the last three instructions", "mov t0s, r0\nnop; ldtmu0" END},
    {"thrend\nnop\nmov rb14, r0\n", "ra14 or rb14", "thrend\nnop\nmov rb13, r0\n"},
    {"thrend\nmov r0, ra14\nnop\n", "ra14 or rb14", "thrend\nmov r0, ra13\nnop\n"},
    {"thrend\nthrend\nnop\nnop\n", "delay slots of thread end", "nop" END},
    {"thrsw\nnop\nthrsw\nnop\nnop" END, "two delay slots of a thread switch",
     "thrsw\nnop\nnop\nthrsw\nnop\nnop" END},
    /* The write is in the last delay slot, and the read is at the branch's target. */
    {"brr -, r:there\nnop\nnop\nmov ra1, r0\nnop\n:there mov r1, ra1" END, "a register of file A",
     "brr -, r:there\nnop\nnop\nmov ra1, r0\nmov r1, ra1\n:there nop" END},
    {"mov.setf -, 0\n:loop mov r1, ra1\nnop\nbrr.anyz -, r:loop\nnop\nnop\nmov ra1, r0" END,
     "a register of file A", "nop" END},
    {"brr -, r:there\nnop\nmov unif_addr, r0\nnop\nnop\n:there mov r1, unif" END, "uniforms cannot be read",
     "brr -, r:there\nmov unif_addr, r0\nnop\nnop\nnop\n:there mov r1, unif" END},
};

TEST(each_rule_of_an_instruction_is_checked_and_no_stricter_than_it_is)
{
  for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
    qpu_must_refuse(alone[i].broken, alone[i].rule);
    struct qpu_program program = qpu_must_assemble(alone[i].right, 0);
    qpu_program_free(&program);
  }
}

TEST(each_rule_of_a_sequence_is_checked_and_no_stricter_than_it_is)
{
  for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
    for (int right = 0; right < 2; right++) {
      char text[400];
      snprintf(text, sizeof text, "mov r0, unif\n%s", right ? sequences[i].right : sequences[i].broken);
      struct qpu_rig rig = rig_open(NULL, text);
      if (right)
        rig_run(&rig, 1);
      else
        rig_must_fail(&rig, 1, STATUS_FAULT, sequences[i].rule);
      rig_close(&rig);
    }
}

/* Returns an instruction of both ALUs without operands from the ports, which are read anyway. */
static struct qpu_inst busy(const char *text)
{
  struct qpu_program program = qpu_must_assemble(text, 1);
  struct qpu_inst inst = qpu_decode(program.words[0]);
  qpu_program_free(&program);
  assert_null(qpu_hazard_within(&inst));
  return inst;
}

TEST(a_peripheral_that_no_operation_takes_counts)
{
  struct qpu_inst inst = busy("fadd vpm, r0, r1; fmul r2, r0, r1");
  inst.raddr_b = QPU_R_VPM_WAIT;
  assert_non_null(strstr(qpu_hazard_within(&inst)->text, "only two VPM accesses"));
  inst = busy("fadd t0s, r0, r1; fmul r2, r0, r1");
  inst.raddr_a = QPU_R_MUTEX;
  assert_non_null(strstr(qpu_hazard_within(&inst)->text, "one of these accesses"));
  inst = busy("fadd r3, r0, r1; fmul r2, r0, r1; thrend");
  inst.raddr_a = QPU_R_UNIFORM;
  assert_non_null(strstr(qpu_hazard_within(&inst)->text, "thread end instruction cannot read"));
  inst.raddr_a = 14; /* a register, not a peripheral */
  assert_null(qpu_hazard_within(&inst));
}

UNIT_MAIN(NULL, NULL)
