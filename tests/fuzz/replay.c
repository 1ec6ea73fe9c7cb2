/* SPDX-License-Identifier: MIT */
/** \file \brief Runs a fuzz target on its stored inputs, without a fuzzer: an input that failed
 * once must not fail again. The inputs are in an archive in POSIX ustar format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES 65536
#define TAR_BLOCK   512

/** Header of a file in the archive. An empty name marks the end. */
struct tar_header {
  char name[100], mode[8], user[8], group[8], size[12], rest[TAR_BLOCK - 136];
};

/* Returns 1 with the next file's name and its bytes, or 0 at the end of the archive. The memory has
 * exactly the size of the input, so that a sanitizer finds a read beyond it. */
static int next_input(FILE *archive, struct tar_header *header, uint8_t **bytes, size_t *n)
{
  memset(header, 0, sizeof *header);
  int whole = fread(header, TAR_BLOCK, 1, archive) == 1;
  if (whole && header->name[0] == 0) return 0;
  header->mode[0] = 0; /* ends a name of 100 characters */
  *n = strtoul(header->size, NULL, 8);
  long padding = (long)((TAR_BLOCK - *n % TAR_BLOCK) % TAR_BLOCK);
  *bytes = !whole || *n > INPUT_BYTES ? NULL : malloc(*n ? *n : 1);
  if (!*bytes || fread(*bytes, 1, *n, archive) != *n || fseek(archive, padding, SEEK_CUR) != 0) {
    printf("Bail out! the archive ends within an input near %s\n", header->name);
    exit(1);
  }
  return 1;
}

int main(void)
{
  char path[512];
  struct tar_header header;
  uint8_t *bytes;
  size_t n;
  int inputs = 0;
  const char *source = getenv("top_srcdir");
  snprintf(path, sizeof path, "%s/tests/fuzz/%s.tar", source ? source : ".", fuzz_corpus);
  FILE *archive = fopen(path, "rb");
  while (archive && next_input(archive, &header, &bytes, &n)) {
    fflush(stdout);
    LLVMFuzzerTestOneInput(bytes, n);
    printf("ok %d - %s\n", ++inputs, header.name);
    free(bytes);
  }
  if (archive) fclose(archive);
  if (inputs == 0) {
    printf("Bail out! there are no inputs in %s\n", path);
    return 1;
  }
  printf("1..%d\n", inputs);
  return 0;
}
