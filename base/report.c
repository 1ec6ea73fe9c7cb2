/* SPDX-License-Identifier: MIT */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/meta.h"
#include "base/report.h"

/** Digits that keep a figure readable and far below any noise. */
#define JSON_FORMAT (JSON_INDENT(2) | JSON_REAL_PRECISION(15))

json_t *report_json_frame(const char *schema, const char *program)
{
  char time[32];
  meta_time(time);
  return json_pack("{ss ss ss ss so}", "schema", schema, "program", program, "version", meta_version(),
                   "time", time, "system", meta_system());
}

json_t *report_json_real(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_json_known(int64_t value)
{
  return value < 0 ? json_null() : json_integer((json_int_t)value);
}

static status_t cannot_write(const char *path, int cause)
{
  return log_fail(STATUS_ENVIRONMENT, "cannot write \"%s\": %s", path, strerror(cause));
}

static int is_stdout(const char *path)
{
  return strcmp(path, "-") == 0;
}

/** Where a document goes: a file that is replaced whole, or something that can only be written to
 * (/dev/stdout). */
struct target {
  char path[PATH_MAX]; /**< links resolved, so that a link stays a link */
  int replace;
};

static status_t target_init(struct target *target, const char *path)
{
  struct stat info;
  if (stat(path, &info) != 0) {
    if (errno != ENOENT) return cannot_write(path, errno);
    if (strlen(path) >= sizeof target->path) return cannot_write(path, ENAMETOOLONG);
    strcpy(target->path, path);
    target->replace = 1;
    return STATUS_OK;
  }
  if (S_ISDIR(info.st_mode)) return cannot_write(path, EISDIR);
  if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) return cannot_write(path, errno);
  if (!realpath(path, target->path)) return cannot_write(path, errno);
  target->replace = S_ISREG(info.st_mode);
  return STATUS_OK;
}

/** Creates a file beside \a path, with the permissions that a new file has. Returns its descriptor or −1. */
static int open_temporary(const char *path, char temporary[PATH_MAX])
{
  if (snprintf(temporary, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int descriptor = mkstemp(temporary);
  if (descriptor < 0) return -1;
  mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);
  return descriptor;
}

status_t report_json_check(const char *path)
{
  struct target target;
  char temporary[PATH_MAX];
  if (is_stdout(path)) return STATUS_OK;
  RETURN_IF_FAILED(target_init(&target, path));
  if (!target.replace) return STATUS_OK;
  int descriptor = open_temporary(target.path, temporary);
  if (descriptor < 0) return cannot_write(path, errno);
  close(descriptor);
  unlink(temporary);
  return STATUS_OK;
}

/** Writes the document with a final newline. Returns 0, or the cause. */
static int dump(const json_t *document, FILE *file)
{
  errno = 0;
  if (json_dumpf(document, file, JSON_FORMAT) != 0 || fputc('\n', file) == EOF || fflush(file) != 0)
    return errno ? errno : EIO;
  return 0;
}

static status_t write_through(const json_t *document, const char *path)
{
  FILE *file = fopen(path, "w");
  if (!file) return cannot_write(path, errno);
  int cause = dump(document, file);
  if (fclose(file) != 0 && !cause) cause = errno;
  return cause ? cannot_write(path, cause) : STATUS_OK;
}

static status_t replace(const json_t *document, const char *path)
{
  char temporary[PATH_MAX];
  int cause = 0;
  int descriptor = open_temporary(path, temporary);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  if (!file) {
    cause = errno;
    if (descriptor >= 0) close(descriptor), unlink(temporary);
    return cannot_write(path, cause);
  }
  cause = dump(document, file);
  if (!cause && fsync(descriptor) != 0) cause = errno;
  if (fclose(file) != 0 && !cause) cause = errno;
  if (!cause && rename(temporary, path) != 0) cause = errno;
  if (!cause) return STATUS_OK;
  unlink(temporary);
  return cannot_write(path, cause);
}

status_t report_json_write(const json_t *document, const char *path)
{
  struct target target;
  if (is_stdout(path)) {
    int cause = dump(document, stdout);
    if (!cause) return STATUS_OK;
    clearerr(stdout); /* it is said here, and not by report_flush again */
    return cannot_write("standard output", cause);
  }
  RETURN_IF_FAILED(target_init(&target, path));
  return target.replace ? replace(document, target.path) : write_through(document, target.path);
}

/* Where an earlier write failed, its reason is gone: another one, of an empty line, finds it again. */
status_t report_flush(void)
{
  if (fflush(stdout) != 0) return cannot_write("standard output", errno);
  if (!ferror(stdout)) return STATUS_OK;
  fputc('\n', stdout);
  if (fflush(stdout) != 0) return cannot_write("standard output", errno);
  return log_fail(STATUS_ENVIRONMENT, "cannot write \"standard output\": a part of it was lost");
}

/** Whether the user's terminal reads UTF-8. Programs stay in the C locale, so that numbers keep their point.
 */
static int locale_is_utf8(void)
{
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (!value || !value[0]) continue;
    const char *charset = strchr(value, '.');
    return charset && (strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
  }
  return 0;
}

void report_bar(char *text, size_t size, double share, int width)
{
  static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  int utf8 = locale_is_utf8(), steps = utf8 ? 8 : 1;
  double clamped = share > 0 ? fmin(share, 1) : 0;
  long left = lround(clamped * width * steps);
  size_t used = 0;
  text[0] = '\0';
  while (left > 0) {
    long cell = left < steps ? left : steps;
    const char *mark = utf8 ? eighths[cell] : "#";
    size_t length = strlen(mark);
    if (used + length >= size) return;
    memcpy(text + used, mark, length + 1);
    used += length;
    left -= cell;
  }
}

const char *report_bytes(uint64_t bytes)
{
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  static char ring[8][16];
  static int next;
  char *text = ring[next++ % 8];
  double value = (double)bytes;
  int unit = 0;
  while (value >= 1023.95 && unit < 6) {
    value /= 1024;
    unit++;
  }
  snprintf(text, sizeof ring[0], "%.*f %s", unit ? 1 : 0, value, units[unit]);
  return text;
}
