/* SPDX-License-Identifier: MIT */
#include "himeno/kernels/kernel_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* No kernel is longer; a folder says that it is. */
#define SOURCE_MAX (64L << 20)

status_t kernel_file_read(const char *path, char **source)
{
  long size;
  char *text = NULL;
  FILE *file = fopen(path, "rb");
  if (!file) return log_fail(STATUS_ENVIRONMENT, "--kernel-file %s: %s", path, strerror(errno));
  if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && size <= SOURCE_MAX &&
      fseek(file, 0, SEEK_SET) == 0 && (text = calloc((size_t)size + 1, 1)) &&
      fread(text, 1, (size_t)size, file) == (size_t)size) {
    fclose(file);
    *source = text;
    return STATUS_OK;
  }
  fclose(file);
  free(text);
  return log_fail(STATUS_ENVIRONMENT, "--kernel-file %s: it cannot be read as a whole", path);
}
