/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Any bytes as an earlier result for --reference: it is read or refused with a message, and
 * what is read has a rate and a noise. */
#include "himeno/accept/reference.h"
#include "tests/fuzz/reader.h"

const char fuzz_corpus[] = "result";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  char *text = fuzz_text_begin(bytes, n);
  struct reference reference;
  status_t status = reference_parse(text, n, "fuzz", &reference);
  fuzz_verdict(status);
  if (status == STATUS_OK)
    fuzz_must(reference.gflops > 0 && reference.noise >= 0, "a run without a rate was read");
  fuzz_text_end(text);
  return 0;
}
