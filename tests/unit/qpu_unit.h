/* SPDX-License-Identifier: MIT */
/** \file \brief Functions that tests of the QPU's assembler and emulator share. */
#ifndef TESTS_UNIT_QPU_UNIT_H
#define TESTS_UNIT_QPU_UNIT_H

#include "tests/unit/unit.h"

#include "base/hash.h"
#include "base/log.h"
#include "gpu/qpu/asm/asm.h"

/** \brief Returns 64 random bits, which are the same in every run. */
static inline uint64_t qpu_random(uint64_t *seed)
{
  *seed += 1;
  return hash_mix(*seed);
}

/** \brief Assembles a correct text; the caller frees the program. */
static inline struct qpu_program qpu_must_assemble(const char *text, int unchecked)
{
  struct qpu_program program = {0};
  log_hold(1);
  status_t status = qpu_assemble("test", text, unchecked, &program);
  if (status != STATUS_OK) fail_msg("%s\n%s", log_held(), text);
  log_hold(0);
  return program;
}

/** \brief The assembler must refuse the text, and log \a message. */
static inline void qpu_must_refuse(const char *text, const char *message)
{
  struct qpu_program program = {0};
  log_hold(1);
  status_t status = qpu_assemble("test", text, 0, &program);
  if (status != STATUS_USAGE || !strstr(log_held(), message))
    fail_msg("%s\ngives %d: %s\ninstead of: %s", text, status, log_held(), message);
  log_drop();
  log_hold(0);
}

#endif
