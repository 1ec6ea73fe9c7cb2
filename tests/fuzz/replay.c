/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Runs a fuzz target over its corpus, without a fuzzer: what once went wrong must stay
 * right. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES 65536

static int is_input(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

/* Through memory of exactly its size, so that a sanitizer sees a read beyond it. */
static int replay(const char *folder, const char *name)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  uint8_t *room = malloc(INPUT_BYTES);
  if (!file || !room) {
    perror(path);
    exit(1);
  }
  size_t n = fread(room, 1, INPUT_BYTES, file);
  fclose(file);
  uint8_t *bytes = realloc(room, n ? n : 1);
  LLVMFuzzerTestOneInput(bytes ? bytes : room, n);
  free(bytes ? bytes : room);
  return 0;
}

int main(void)
{
  char folder[512];
  struct dirent **inputs;
  const char *source = getenv("top_srcdir");
  snprintf(folder, sizeof folder, "%s/tests/fuzz/%s", source ? source : ".", fuzz_corpus);
  int n = scandir(folder, &inputs, is_input, alphasort);
  if (n <= 0) {
    printf("Bail out! there are no inputs in %s\n", folder);
    return 1;
  }
  printf("1..%d\n", n);
  for (int i = 0; i < n; i++) {
    fflush(stdout);
    replay(folder, inputs[i]->d_name);
    printf("ok %d - %s\n", i + 1, inputs[i]->d_name);
    free(inputs[i]);
  }
  free(inputs);
  return 0;
}
