/* SPDX-License-Identifier: MIT */
#include "base/switches.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

extern char **environ;

/* The build collects the lines SWITCH of all components in the table (Makefile.am). */
#undef SWITCH
#define SWITCH(id, of, across, values, text)                                                                 \
  {                                                                                                          \
    .name = id, .kind = SWITCH_##of, .scope = SWITCH_##across, .meaning = text, values                       \
  }
#define NUMBER(from, to) .check = SWITCH_RANGE, .range = {.type = VALUE_INT, .min = from, .max = to}
#define COUNT            NUMBER(1, 0x1p63)
#define CHOICE(words)    .check = SWITCH_RANGE, .range = {.type = VALUE_CHOICE, .allowed = words}
#define FREE(words)      .check = SWITCH_FREE, .range = {.allowed = words}
#define PAIR(words)      .check = SWITCH_PAIR, .range = {.allowed = words}

static const struct switch_spec switches[] = {
#include "base/switch_table.h"
};

const struct switch_spec *switch_at(int n)
{
  return n < (int)(sizeof switches / sizeof *switches) ? &switches[n] : NULL;
}

static int pair_read(const char *text, long long pair[2])
{
  char rank[24];
  size_t n = strcspn(text, ":");
  if (n >= sizeof rank || !text[n]) return 0;
  snprintf(rank, sizeof rank, "%.*s", (int)n, text);
  return value_read_int(rank, 0, INT_MAX, &pair[0]) == STATUS_OK &&
         value_read_int(text + n + 1, 1, LLONG_MAX, &pair[1]) == STATUS_OK;
}

static status_t switch_value_check(const struct switch_spec *s, const char *text)
{
  int64_t value;
  long long pair[2];
  if (s->check == SWITCH_RANGE) return value_read(&s->range, s->name, text, &value);
  if (s->check != SWITCH_PAIR || pair_read(text, pair)) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s \"%s\": must be %s", s->name, text, s->range.allowed);
}

status_t switches_check(void)
{
  const struct switch_spec *s;
  for (int n = 0; (s = switch_at(n)); n++) {
    const char *text = switch_text(s->name);
    if (text) RETURN_IF_FAILED(switch_value_check(s, text));
  }
  return STATUS_OK;
}

static const struct switch_spec *switch_find(const char *name, size_t length)
{
  int n = 0;
  const struct switch_spec *s;
  while ((s = switch_at(n)) && (strlen(s->name) != length || strncmp(s->name, name, length))) n++;
  return s;
}

void switches_warn(void)
{
  char names[512] = "";
  for (char **at = environ; *at; at++) {
    const size_t length = strcspn(*at, "="), used = strlen(names);
    if (strncmp(*at, "HIMENO_", 7) || (*at)[length] != '=' || !(*at)[length + 1]) continue;
    if (switch_find(*at, length)) continue;
    snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", (int)length, *at);
  }
  if (names[0]) log_warn("%s: nothing reads a variable of that name, see doc/reference/switches.md", names);
}

const char *switch_text(const char *name)
{
  const char *text = switch_find(name, strlen(name)) ? getenv(name) : NULL;
  return text && *text ? text : NULL;
}

long long environment_number(const char *name, long long unset)
{
  const char *text = getenv(name);
  long long value;
  return text && value_read_int(text, LLONG_MIN, LLONG_MAX, &value) == STATUS_OK ? value : unset;
}

long long switch_number(const char *name, long long unset)
{
  return switch_text(name) ? environment_number(name, unset) : unset;
}

int switch_pair(const char *name, long long pair[2])
{
  const char *text = switch_text(name);
  return text && pair_read(text, pair);
}
