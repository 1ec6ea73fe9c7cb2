/* SPDX-License-Identifier: MIT */
/** \file \brief For targets that read text: passes an input as a string of exactly its size, and
 * checks the reader's messages. */
#ifndef TESTS_FUZZ_READER_H
#define TESTS_FUZZ_READER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tests/fuzz/fuzz.h"

static inline void fuzz_must(int holds, const char *promise)
{
  if (holds) return;
  fprintf(stderr, "%s\n%s\n", promise, log_held());
  abort();
}

/** \brief Returns a copy that ends with 0, for fuzz_text_end(). Messages are held back until
 * then. */
static inline char *fuzz_text_begin(const uint8_t *bytes, size_t n)
{
  char *text = malloc(n + 1);
  if (!text) abort();
  memcpy(text, bytes, n);
  text[n] = 0;
  log_hold(1);
  return text;
}

static inline void fuzz_text_end(char *text)
{
  log_drop();
  log_hold(0);
  free(text);
}

/** \brief Checks that correct input has no message, and that wrong input has one. */
static inline void fuzz_verdict(status_t status)
{
  fuzz_must(status == STATUS_OK || status == STATUS_USAGE, "neither right nor wrong");
  fuzz_must((status == STATUS_OK) == (log_held()[0] == 0), "a mistake has a message, and only a mistake");
}

#endif
