/* SPDX-License-Identifier: MIT */
/** \file
 * \brief An assembled program, and its output as C source. */
#ifndef QPU_PROGRAM_H
#define QPU_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

#define QPU_NAME_MAX 64

struct qpu_origin {
  const char *file; /**< owned by the program */
  int line;
};

struct qpu_label {
  char name[QPU_NAME_MAX];
  uint32_t address; /**< byte offset of the label from the program's start */
  int exported;     /**< 1: defined as `::name` */
};

struct qpu_program {
  uint64_t *words;
  size_t n_words;
  struct qpu_origin *origins; /**< source line of each word */
  struct qpu_label *labels;
  size_t n_labels;
  char **files;
  size_t n_files;
};

void qpu_program_free(struct qpu_program *program);

/** \brief Writes the program as a C array `name` and an enum of its exported labels' byte
 * addresses, name_LABEL. */
void qpu_words_write_c(const struct qpu_program *program, const char *name, FILE *out);
#endif
