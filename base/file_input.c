/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define WRITER_MILLISECONDS 2000

FILE *file_open_input(const char *path)
{
  struct stat info;
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return NULL;
  struct pollfd written = {.fd = descriptor, .events = POLLIN};
  if (fstat(descriptor, &info) == 0 && S_ISFIFO(info.st_mode)) poll(&written, 1, WRITER_MILLISECONDS);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  return fdopen(descriptor, "r");
}

/* Skips the byte order mark of UTF-8, which some editors write. */
static FILE *without_mark(FILE *file)
{
  static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
  int n = 0, byte = EOF;
  while (file && n < 3 && (byte = getc(file)) == mark[n]) n++;
  if (!file || n == 3) return file;
  ungetc(byte, file);
  while (n > 0) ungetc(mark[--n], file);
  return file;
}

FILE *file_open_text(const char *path)
{
  return without_mark(file_open_input(path));
}

FILE *file_open_regular(const char *path)
{
  struct stat info;
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return NULL;
  if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) return without_mark(fdopen(descriptor, "r"));
  close(descriptor);
  errno = EINVAL;
  return NULL;
}

char *file_read(const char *path, size_t most, size_t *bytes)
{
  struct stat info = {.st_size = 0};
  FILE *file = file_open_regular(path);
  if (!file) return NULL;
  fstat(fileno(file), &info);
  int cause = (uintmax_t)info.st_size > most ? EFBIG : ENOMEM;
  char *text = cause == EFBIG ? NULL : calloc((size_t)info.st_size + 1, 1);
  if (text) *bytes = fread(text, 1, (size_t)info.st_size, file);
  if (ferror(file)) {
    cause = EIO;
    free(text);
    text = NULL;
  }
  fclose(file);
  if (!text) errno = cause;
  return text;
}
