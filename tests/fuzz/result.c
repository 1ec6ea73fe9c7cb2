/* SPDX-License-Identifier: MIT */
/** \file \brief Input: any bytes as a reference result, and as a document to judge. They must be
 * accepted, or refused with a message. An accepted reference must have a rate and a noise. */
#include "judge/judge.h"
#include "tests/fuzz/reader.h"

const char fuzz_corpus[] = "result";

static void judge(const char *text, size_t n)
{
  json_error_t error;
  struct judge_limits limits;
  struct judged judged;
  json_t *document = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
  if (!json_is_object(document) || judge_limits_read("default", NULL, &limits) != STATUS_OK) {
    json_decref(document);
    return;
  }
  log_drop();
  const status_t status = judge_document(&limits, document, "fuzz", &judged);
  fuzz_must(status == STATUS_OK || (status == STATUS_ENVIRONMENT && log_held()[0]),
            "a document that is damaged has a message");
  if (status == STATUS_OK) {
    fuzz_must(judged.verdict != STATUS_OK || checks_count(&judged.checks, CHECK_PASS) > 0,
              "what passes has passed a check");
    judged_free(&judged);
  }
  json_decref(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  char *text = fuzz_text_begin(bytes, n);
  struct reference reference;
  status_t status = reference_parse(text, n, "fuzz", &reference);
  fuzz_verdict(status);
  if (status == STATUS_OK) {
    fuzz_must(reference.gflops > 0 && reference.noise >= 0, "a run without a rate was read");
    reference_free(&reference);
  }
  judge(text, n);
  fuzz_text_end(text);
  return 0;
}
