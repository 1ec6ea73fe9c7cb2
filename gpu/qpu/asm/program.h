/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A program's words, and programs as files: binary words, the hexadecimal lists in which
 * they are published, and C source. */
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
  uint32_t address; /**< bytes from the program's start */
  int exported;     /**< written `::name`, or named by .global */
};

struct qpu_program {
  uint64_t *words;
  size_t n_words;
  struct qpu_origin *origins; /**< of each word */
  /** of each word: 1 for `.int` and its like, which is never executed */
  uint8_t *data;
  struct qpu_label *labels;
  size_t n_labels;
  char **files;
  size_t n_files;
};

void qpu_program_free(struct qpu_program *program);

/** \brief All of a file, with a zero behind it, which the caller frees. STATUS_USAGE where it is
 * too large for a program, STATUS_ENVIRONMENT when it cannot be read. */
status_t qpu_file_read(const char *path, char **bytes, size_t *n);

/** \brief Reads a program made elsewhere: 0x… numbers of 32 bits, low half first, in text (C
 * comments are skipped), or else little-endian binary. The caller frees *words. STATUS_USAGE when
 * it holds no whole instruction, STATUS_ENVIRONMENT when it cannot be read. */
status_t qpu_words_read(const char *path, uint64_t **words, size_t *n_words);

/** \brief The program as a C array `name` and an enum of its exported labels' byte addresses,
 * name_LABEL. */
void qpu_words_write_c(const struct qpu_program *program, const char *name, FILE *out);
/** \brief Numbers of 32 bits, one instruction a line, low half first. */
void qpu_words_write_hex(const struct qpu_program *program, FILE *out);
/** \brief Little-endian binary. */
void qpu_words_write_binary(const struct qpu_program *program, FILE *out);

#endif
