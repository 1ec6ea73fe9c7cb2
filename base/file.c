/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *file_open_regular(const char *path)
{
  struct stat info;
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return NULL;
  if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) return fdopen(descriptor, "r");
  close(descriptor);
  errno = EINVAL;
  return NULL;
}
