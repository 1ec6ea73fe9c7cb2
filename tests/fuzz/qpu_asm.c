/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Any text into the assembler: it assembles or is refused with a message, and what assembles
 * survives the way through the disassembler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/asm/asm.h"
#include "gpu/qpu/asm/disasm.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_corpus[] = "qpu-asm";

static void must(int holds, const char *promise)
{
  if (holds) return;
  fprintf(stderr, "%s\n%s\n", promise, log_held());
  abort();
}

static void go_there_and_back(const struct qpu_program *program)
{
  const struct qpu_asm_options unchecked = {.unchecked = 1};
  struct qpu_program again;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return;
  must(qpu_disassemble_program(program->words, program->n_words, out) == STATUS_OK, "cannot be disassembled");
  fclose(out);
  must(qpu_assemble("again", text, &unchecked, &again) == STATUS_OK, "its disassembly is refused");
  must(again.n_words == program->n_words &&
           (again.n_words == 0 || memcmp(again.words, program->words, 8 * again.n_words) == 0),
       "its disassembly gives other words");
  qpu_program_free(&again);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  struct qpu_program program;
  char *text = malloc(n + 1);
  if (!text) return 0;
  memcpy(text, bytes, n);
  text[n] = 0;
  log_hold(1);
  /* Files of the machine that it runs on would make runs differ. */
  if (!strstr(text, "include")) {
    const struct qpu_asm_options options = {.unchecked = n % 2};
    status_t status = qpu_assemble("fuzz", text, &options, &program);
    must(status == STATUS_OK || status == STATUS_USAGE, "neither right nor wrong");
    must((status == STATUS_OK) == (log_held()[0] == 0), "a mistake has a message, and only a mistake");
    if (status == STATUS_OK) {
      go_there_and_back(&program);
      qpu_program_free(&program);
    }
  }
  log_drop();
  log_hold(0);
  free(text);
  return 0;
}
