/* SPDX-License-Identifier: MIT */
/** \file \brief Input: any text as a QPU program. It must be assembled, or refused with a message.
 * Each assembled instruction must have a text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/asm/asm.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_corpus[] = "qpu-asm";

static void must(int holds, const char *promise)
{
  if (holds) return;
  fprintf(stderr, "%s\n%s\n", promise, log_held());
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  struct qpu_program program;
  char *text = malloc(n + 1);
  if (!text) return 0;
  memcpy(text, bytes, n);
  text[n] = 0;
  log_hold(1);
  /* The program may not include files, because results would depend on the machine. */
  if (!strstr(text, "include")) {
    status_t status = qpu_assemble("fuzz", text, n % 2, &program);
    must(status == STATUS_OK || status == STATUS_USAGE, "neither right nor wrong");
    must((status == STATUS_OK) == (log_held()[0] == 0), "a mistake has a message, and only a mistake");
    if (status == STATUS_OK) qpu_program_free(&program);
  }
  log_drop();
  log_hold(0);
  free(text);
  return 0;
}
