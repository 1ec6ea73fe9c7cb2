/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/document.h"
#include "base/file.h"
#include "base/log.h"
#include "base/report.h"
#include "base/values.h"

/** Each number is read back as the same double. */
#define JSON_FORMAT (JSON_INDENT(2) | JSON_REAL_PRECISION(17))

json_t *report_json_frame(const char *schema, const char *program)
{
  struct doc d;
  doc_open(&d, 0);
  doc_frame(&d, schema, program, "", "");
  return doc_close(&d);
}

json_t *report_json_real(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

/* Of bytes that are not UTF-8, as names of files may be, each becomes a replacement character. */
static json_t *valid_text(const char *bytes)
{
  static const char replacement[] = "\xef\xbf\xbd";
  char *valid = malloc(strlen(bytes) * (sizeof replacement - 1) + 1);
  size_t used = 0;
  while (valid && *bytes) {
    const size_t good = value_utf8(bytes), length = good ? good : sizeof replacement - 1;
    memcpy(valid + used, good ? bytes : replacement, length);
    used += length;
    bytes += good ? good : 1;
  }
  json_t *text = valid ? json_stringn(valid, used) : NULL;
  free(valid);
  return text;
}

json_t *report_json_text(const char *bytes)
{
  json_t *text = bytes ? json_string(bytes) : NULL;
  return text || !bytes ? text : valid_text(bytes);
}

static int lost;

void object_set(json_t *object, const char *name, json_t *value)
{
  lost |= json_object_set_new(object, name, value);
}

void object_text(json_t *object, const char *name, const char *value)
{
  object_set(object, name, report_json_text(value));
}

void object_real(json_t *object, const char *name, double value)
{
  object_set(object, name, report_json_real(value));
}

void object_whole(json_t *object, const char *name, int64_t value)
{
  object_set(object, name, json_integer((json_int_t)value));
}

void object_flag(json_t *object, const char *name, int value)
{
  object_set(object, name, json_boolean(value));
}

int report_json_lost(void)
{
  int was = lost;
  lost = 0;
  return was;
}

status_t report_json_read(const char *path, json_t **document)
{
  json_error_t error;
  FILE *file = file_open_text(path);
  if (!file) return log_fail(STATUS_ENVIRONMENT, "cannot read \"%s\": %s", path, strerror(errno));
  json_t *read = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
  fclose(file);
  if (!read)
    return log_fail(STATUS_ENVIRONMENT, "%s: not a JSON document: %s, line %d", path, error.text, error.line);
  *document = read;
  return STATUS_OK;
}

static status_t document_text(const json_t *document, char **text)
{
  *text = report_json_lost() || !document ? NULL : json_dumps(document, JSON_FORMAT);
  return *text ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of memory for the JSON document");
}

status_t report_json_reread(const json_t *document, json_t **copy)
{
  char *text;
  json_error_t error;
  RETURN_IF_FAILED(document_text(document, &text));
  json_t *read = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  free(text);
  if (!read) return log_fail(STATUS_ENVIRONMENT, "the JSON document cannot be read again: %s", error.text);
  *copy = read;
  return STATUS_OK;
}

status_t report_json_write(const json_t *document, const char *path)
{
  char *text;
  RETURN_IF_FAILED(document_text(document, &text));
  size_t length = strlen(text);
  text[length] = '\n'; /* a file of text ends so, and bytes need no zero at their end */
  status_t status = file_write(path, text, length + 1);
  free(text);
  return status;
}

/** Whether the user's terminal reads UTF-8. Programs stay in the C locale, so that numbers keep
 * their point. */
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

const char *report_spread(double share, int known, int width, char text[REPORT_SPREAD_BYTES])
{
  const int utf8 = locale_is_utf8();
  char number[16] = "";
  if (known) snprintf(number, sizeof number, "%.1f%%", 100 * share);
  const char *sign = utf8 ? known ? "±" : "–" : known ? "+-" : "-";
  const int columns = (int)strlen(number) + (utf8 ? 1 : (int)strlen(sign));
  snprintf(text, REPORT_SPREAD_BYTES, "%*s%s%s", width > columns ? width - columns : 0, "", sign, number);
  return text;
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
