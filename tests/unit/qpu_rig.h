/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A program, its uniforms and two buffers on the emulator. */
#ifndef TESTS_UNIT_QPU_RIG_H
#define TESTS_UNIT_QPU_RIG_H

#include "tests/unit/qpu_unit.h"

#include "gpu/qpu/emulator/emu.h"
#include "gpu/qpu/isa/isa.h"

#define RIG_WORDS 16384

struct qpu_rig {
  struct qpu_emu *emu;
  uint32_t code, uniforms_at, in_at, out_at;
  uint32_t *uniforms, *in, *out; /**< RIG_WORDS words each; uniforms begin with in_at, out_at */
};

/** \brief Opens an emulator with the program \a text. If \a config is NULL, it has the defaults and
 * one QPU. With \a unchecked, the assembler accepts hazards. */
static inline struct qpu_rig rig_open_checked(const struct qpu_emu_config *config, const char *text,
                                              int unchecked)
{
  struct qpu_rig rig = {0};
  struct qpu_emu_config usual = {.n_qpus = 1, .memory_bytes = 1 << 20, .max_instructions = 10000000};
  struct qpu_program program = qpu_must_assemble(text, unchecked);
  assert_int_equal(qpu_emu_create(config ? config : &usual, &rig.emu), STATUS_OK);
  assert_int_equal(qpu_memory_alloc(qpu_emu_memory(rig.emu), program.n_words * 8, &rig.code), STATUS_OK);
  assert_int_equal(qpu_memory_alloc(qpu_emu_memory(rig.emu), RIG_WORDS * 4, &rig.uniforms_at), STATUS_OK);
  assert_int_equal(qpu_memory_alloc(qpu_emu_memory(rig.emu), RIG_WORDS * 4, &rig.in_at), STATUS_OK);
  assert_int_equal(qpu_memory_alloc(qpu_emu_memory(rig.emu), RIG_WORDS * 4, &rig.out_at), STATUS_OK);
  memcpy(qpu_memory_at(qpu_emu_memory(rig.emu), rig.code), program.words, program.n_words * 8);
  rig.uniforms = qpu_memory_at(qpu_emu_memory(rig.emu), rig.uniforms_at);
  rig.in = qpu_memory_at(qpu_emu_memory(rig.emu), rig.in_at);
  rig.out = qpu_memory_at(qpu_emu_memory(rig.emu), rig.out_at);
  rig.uniforms[0] = rig.in_at;
  rig.uniforms[1] = rig.out_at;
  qpu_program_free(&program);
  return rig;
}

static inline struct qpu_rig rig_open(const struct qpu_emu_config *config, const char *text)
{
  return rig_open_checked(config, text, 0);
}

/** \brief Runs \a n programs with the same code and uniforms. */
static inline status_t rig_try(struct qpu_rig *rig, size_t n)
{
  struct qpu_job jobs[QPU_EMU_MAX_QPUS * 2];
  for (size_t i = 0; i < n; i++) jobs[i] = (struct qpu_job){rig->code, rig->uniforms_at};
  return qpu_emu_run(rig->emu, jobs, n);
}

static inline void rig_run(struct qpu_rig *rig, size_t n)
{
  log_hold(1);
  status_t status = rig_try(rig, n);
  if (status != STATUS_OK) fail_msg("%s", log_held());
  log_hold(0);
}

/** \brief The run must fail with the status \a expected, and log \a message. */
static inline void rig_must_fail(struct qpu_rig *rig, size_t n, status_t expected, const char *message)
{
  log_hold(1);
  status_t status = rig_try(rig, n);
  if (status != expected || !strstr(log_held(), message))
    fail_msg("status %d, \"%s\" instead of \"%s\"", status, log_held(), message);
  log_drop();
  log_hold(0);
}

static inline void rig_close(struct qpu_rig *rig)
{
  qpu_emu_destroy(rig->emu);
}

/** Reads the addresses into ra30 and ra31, the first two vectors of `in` into r0 and r1, and sets
 * up VPM writes. */
#define RIG_BEGIN                                                                                            \
  "mov ra30, unif\nmov ra31, unif\nshl r3, elem_num, 2\nldi r2, 64\n"                                        \
  "add r3, r3, ra30\nmov t0s, r3\nadd r3, r3, r2\nmov t0s, r3\nnop; ldtmu0\nmov r0, r4; ldtmu0\nmov r1, "    \
  "r4\n"                                                                                                     \
  "ldi vw_setup, 0x1a00\n"
/** Stores the first \a rows rows of the VPM to `out` and ends. */
#define RIG_END(rows)                                                                                        \
  "ldi vw_setup, 0x80000000 | " #rows " << 23 | 16 << 16 | 1 << 14\nldi vw_setup, 0xc0000000\n"              \
  "mov vw_addr, ra31\nmov -, vw_wait\nthrend\nnop\nnop\n"

#endif
