/* SPDX-License-Identifier: MIT */
/** \file \brief Input: any bytes as a policy. It must be accepted, or refused with a message; its
 * name must be a text. */
#include <string.h>

#include "judge/policy.h"
#include "tests/fuzz/reader.h"

const char fuzz_corpus[] = "policy";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  char *text = fuzz_text_begin(bytes, n);
  struct policy policy;
  status_t status = policy_parse(text, n, "fuzz", &policy);
  fuzz_verdict(status);
  if (status == STATUS_OK) {
    fuzz_must(memchr(policy.name, 0, sizeof policy.name) != NULL, "a name without an end was read");
    fuzz_must(policy_limit(&policy, "throttled_max") <= 1, "a share over 1 was read");
  }
  fuzz_text_end(text);
  return 0;
}
