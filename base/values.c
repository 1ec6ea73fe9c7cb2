/* SPDX-License-Identifier: MIT */
#include "base/values.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/** Returns whether the text begins with a digit, or a sign and a digit. strtoll and strtod would
 * also accept spaces and words. */
static int looks_like_number(const char *text, const char *characters)
{
  const char *digits = text + (*text == '-');
  const int fraction = *digits == '.' && strchr(characters, '.');
  return isdigit((unsigned char)digits[fraction]) && strspn(digits, characters) == strlen(digits);
}

status_t value_read_int(const char *text, long long min, long long max, long long *value)
{
  char *end;
  if (!looks_like_number(text, "0123456789")) return STATUS_USAGE;
  errno = 0;
  long long read = strtoll(text, &end, 10);
  if (errno || *end || read < min || read > max) return STATUS_USAGE;
  *value = read;
  return STATUS_OK;
}

status_t value_read_real(const char *text, double min, double max, double *value)
{
  char *end;
  if (!looks_like_number(text, "0123456789.eE+-")) return STATUS_USAGE;
  double read = strtod(text, &end);
  if (*end || !isfinite(read) || read < min || read > max) return STATUS_USAGE;
  *value = read;
  return STATUS_OK;
}

status_t value_read_bytes(const char *text, uint64_t *bytes)
{
  static const char suffixes[] = "KMGT";
  char number[32];
  double value, scale = 1;
  size_t length = strlen(text);
  if (length == 0 || length >= sizeof number) return STATUS_USAGE;
  strcpy(number, text);
  const char *suffix = strchr(suffixes, number[length - 1]);
  if (suffix) {
    number[length - 1] = '\0';
    scale = ldexp(1, 10 * (int)(suffix - suffixes + 1));
  }
  RETURN_IF_FAILED(value_read_real(number, 0, 9e15, &value));
  value *= scale;
  if (value != floor(value) || value > 9e15) return STATUS_USAGE;
  *bytes = (uint64_t)value;
  return STATUS_OK;
}

/* Reads seconds, or a number followed by s, m, h or d. */
static status_t read_time(const char *text, double min, double max, double *seconds)
{
  static const char letters[] = "smhd";
  static const double units[] = {1, 60, 3600, 86400};
  char number[32];
  size_t length = strlen(text);
  const char *letter = length ? strchr(letters, text[length - 1]) : NULL;
  double value, unit = letter ? units[letter - letters] : 1;
  if (length >= sizeof number) return STATUS_USAGE;
  snprintf(number, sizeof number, "%.*s", (int)(length - (letter != NULL)), text);
  RETURN_IF_FAILED(value_read_real(number, min / unit, max / unit, &value));
  *seconds = value * unit;
  return STATUS_OK;
}

const char *value_next(const char *rest, char separator, char *word, size_t size)
{
  const char *end = strchr(rest, separator);
  size_t length = end ? (size_t)(end - rest) : strlen(rest);
  snprintf(word, size, "%.*s", length < size ? (int)length : 0, rest);
  return end ? end + 1 : NULL;
}

/** Returns a bound as an integer; a bound beyond the range of the type becomes its limit. */
static long long integer_bound(double bound)
{
  if (bound >= 0x1p63) return LLONG_MAX;
  return bound <= -0x1p63 ? LLONG_MIN : (long long)bound;
}

/** Returns the position of \a text in the |-separated \a choices, −1 if it is not one of them. */
static int find_choice(const char *choices, const char *text)
{
  size_t length = strlen(text);
  for (int position = 0;; position++) {
    size_t n = strcspn(choices, "|");
    if (n == length && strncmp(choices, text, n) == 0) return position;
    if (!choices[n]) return -1;
    choices += n + 1;
  }
}

const char *value_describe(const struct value_range *range, char text[VALUE_TEXT_MAX])
{
  const char *kind = range->type == VALUE_INT ? "a whole number" : "a number";
  if (range->type == VALUE_CHOICE) {
    const char *last = strrchr(range->allowed, '|');
    size_t n = 0;
    for (const char *c = range->allowed; *c && n + 5 < VALUE_TEXT_MAX; c++) {
      if (*c == '|')
        n += (size_t)sprintf(text + n, c == last ? " or " : ", ");
      else
        text[n++] = *c;
    }
    text[n] = '\0';
  } else if (range->allowed) {
    snprintf(text, VALUE_TEXT_MAX, "%s", range->allowed);
  } else if (range->type == VALUE_TIME) {
    snprintf(text, VALUE_TEXT_MAX,
             "a time from %.15g to %.15g s: a number, or one with s, m, h or d, as in 90 or 15m", range->min,
             range->max);
  } else if (range->max >= 0x1p53) {
    snprintf(text, VALUE_TEXT_MAX, "%s of at least %.15g", kind, range->min);
  } else {
    snprintf(text, VALUE_TEXT_MAX, "%s from %.15g to %.15g", kind, range->min, range->max);
  }
  return text;
}

/* Returns the number of letters inserted, deleted, changed, or swapped with the next one (optimal
 * string alignment). Three rows of the table of distances are kept. */
static int edits_between(const char *a, const char *b)
{
  enum { MOST = 64 };
  int rows[3][MOST + 1], n = (int)strlen(b);
  if (n > MOST) return MOST;
  for (int j = 0; j <= n; j++) rows[0][j] = j;
  for (int i = 1; a[i - 1]; i++) {
    int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    now[0] = i;
    for (int j = 1; j <= n; j++) {
      int least = last[j - 1] + (a[i - 1] != b[j - 1]);
      if (last[j] + 1 < least) least = last[j] + 1;
      if (now[j - 1] + 1 < least) least = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < least)
        least = before[j - 2] + 1;
      now[j] = least;
    }
  }
  return rows[strlen(a) % 3][n];
}

void value_guess(struct value_guess *guess, const char *word)
{
  const int edits = edits_between(guess->text, word), length = (int)strlen(word);
  if (edits > (length > 5 ? length / 3 : 1) || (guess->word && edits >= guess->edits)) return;
  guess->word = word;
  guess->edits = edits;
}

const char *value_guess_text(const struct value_guess *guess, const char *otherwise,
                             char text[VALUE_TEXT_MAX])
{
  if (!guess->word) return otherwise;
  snprintf(text, VALUE_TEXT_MAX, ": did you mean %s?", guess->word);
  return text;
}

static int value_fits(const struct value_range *range, const char *text, void *field)
{
  long long integer;
  switch (range->type) {
  case VALUE_INT:
    if (value_read_int(text, integer_bound(range->min), integer_bound(range->max), &integer) != STATUS_OK)
      return 0;
    *(int64_t *)field = integer;
    return 1;
  case VALUE_REAL:
    return value_read_real(text, range->min, range->max, field) == STATUS_OK;
  case VALUE_TIME:
    return read_time(text, range->min, range->max, field) == STATUS_OK;
  case VALUE_CHOICE:
    break;
  }
  int position = find_choice(range->allowed, text);
  if (position >= 0) *(int *)field = position;
  return position >= 0;
}

status_t value_read(const struct value_range *range, const char *shown, const char *text, void *field)
{
  char allowed[VALUE_TEXT_MAX];
  if (value_fits(range, text, field)) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s \"%s\": must be %s", shown, text, value_describe(range, allowed));
}

size_t value_utf8(const char *text)
{
  static const struct {
    unsigned char mask, lead;
    uint32_t least;
  } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
  const unsigned char *byte = (const unsigned char *)text;
  for (size_t f = 0; *byte && f < sizeof forms / sizeof *forms; f++) {
    if ((*byte & forms[f].mask) != forms[f].lead) continue;
    uint32_t code = *byte & (unsigned char)~forms[f].mask;
    for (size_t b = 1; b <= f; b++) {
      if ((byte[b] & 0xc0) != 0x80) return 0;
      code = code << 6 | (byte[b] & 0x3f);
    }
    return code < forms[f].least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : f + 1;
  }
  return 0;
}

void value_make_printable(char *text)
{
  for (char *c = text; *c; c++)
    if (*c < ' ' || *c > '~') *c = '?';
}
