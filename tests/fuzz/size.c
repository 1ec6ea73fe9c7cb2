/* SPDX-License-Identifier: MIT */
/** \file \brief Input: any text as a size, a process grid or a duration. It must be accepted with
 * values within their limits, or refused with a message. */
#include <string.h>

#include "base/values.h"
#include "comm/halo/grid.h"
#include "tests/fuzz/reader.h"

const char fuzz_corpus[] = "size";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  char *text = fuzz_text_begin(bytes, n);
  struct grid_size size;
  int procs[3] = {0};
  const struct value_range range = {VALUE_TIME, NULL, 0.01, 1e8};
  double seconds;
  fuzz_verdict(grid_size_parse("--size", text, &size));
  if (log_held()[0] == 0)
    for (int d = 0; d < 3; d++) fuzz_must(size.extent[d] >= 3, "an extent below 3 was read");
  log_drop();
  fuzz_verdict(grid_procs_parse("--procs", text, procs));
  if (log_held()[0] == 0)
    for (int d = 0; d < 3; d++) fuzz_must(procs[d] >= 0, "a negative number of ranks was read");
  log_drop();
  fuzz_verdict(value_read(&range, "--soak", text, &seconds));
  if (log_held()[0] == 0)
    fuzz_must(seconds >= 0.01 && seconds <= 1e8, "a duration out of its limits was read");
  fuzz_text_end(text);
  return 0;
}
