/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Any bytes as the file of remembered kernels: reading finds a kernel or none, and storing
 * leaves a file that can be read, or one that is not ours as it was. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "himeno/tune/choose.h"
#include "tests/fuzz/reader.h"

const char fuzz_corpus[] = "tune-cache";

/* A file of this process, in memory where there is such a place. */
static const char *path(void)
{
  static char name[64];
  if (name[0]) return name;
  snprintf(name, sizeof name, "%s/fuzz-tune-%ld.json", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
           (long)getpid());
  setenv("HIMENO_TUNE_CACHE", name, 1);
  return name;
}

static int is_still(const uint8_t *bytes, size_t n)
{
  int file = open(path(), O_RDONLY), same = lseek(file, 0, SEEK_END) == (off_t)n;
  uint8_t byte;
  lseek(file, 0, SEEK_SET);
  for (size_t i = 0; same && i < n; i++) same = read(file, &byte, 1) == 1 && byte == bytes[i];
  close(file);
  return same;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  char kernel[64] = "";
  int file = open(path(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return 0;
  int whole = write(file, bytes, n) == (ssize_t)n;
  close(file);
  log_mute(1); /* its warnings are wanted, and many */
  if (whole) {
    if (tune_cache_find("key", kernel, sizeof kernel))
      fuzz_must(kernel[0] != 0, "a kernel without a name was found");
    if (tune_cache_store("key", "stream", 1.5))
      fuzz_must(tune_cache_find("key", kernel, sizeof kernel) && strcmp(kernel, "stream") == 0,
                "what was stored is not found");
    else
      fuzz_must(is_still(bytes, n), "another's file was changed");
  }
  log_mute(0);
  char lock[80];
  snprintf(lock, sizeof lock, "%s.lock", path());
  unlink(path());
  unlink(lock);
  return 0;
}
