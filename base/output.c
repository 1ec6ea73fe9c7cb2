/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int kept = STDOUT_FILENO;
static FILE *stream;

void output_keep(void)
{
  if (kept != STDOUT_FILENO) return;
  /* open returns the lowest free descriptor, so each closed one is occupied in turn */
  for (int d = STDIN_FILENO; d <= STDERR_FILENO; d++)
    if (fcntl(d, F_GETFD) < 0 && open("/dev/null", d == STDIN_FILENO ? O_WRONLY : O_RDONLY) != d) _exit(3);
  kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) _exit(3);
}

int output_descriptor(void)
{
  return kept;
}

FILE *output_stream(void)
{
  if (kept == STDOUT_FILENO) return stdout;
  if (!stream) stream = fdopen(kept, "w");
  if (!stream && errno == EINVAL) { /* standard output was closed: it is occupied read-only above */
    stream = fopen("/dev/null", "we");
    if (stream && dup3(kept, fileno(stream), O_CLOEXEC) < 0) _exit(3);
  }
  return stream ? stream : stderr; /* out of memory */
}
