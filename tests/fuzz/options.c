/* SPDX-License-Identifier: MIT */
/** \file \brief Input: any words, one per line, as a command line of himeno-gpu. It must be
 * accepted, or refused with a message. */
#include <string.h>

#include "himeno/config/cmdline.h"
#include "tests/fuzz/reader.h"

#define WORDS_MAX 32

const char fuzz_corpus[] = "options";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  char *text = fuzz_text_begin(bytes, n), program[] = "himeno-gpu", *words[WORDS_MAX + 2] = {program};
  struct himeno_config config;
  enum option_request request;
  int count = 1;
  for (char *word = strtok(text, "\n"); word && count <= WORDS_MAX; word = strtok(NULL, "\n"))
    words[count++] = word;
  fuzz_verdict(option_parse_all(&himeno_options, count, words, &config, &request));
  if (log_held()[0] == 0 && request == OPTION_RUN)
    fuzz_must(himeno_block_sweeps(&config) >= 1 && config.timeout > 0 && config.seconds > 0,
              "a run of nothing was read");
  fuzz_text_end(text);
  return 0;
}
