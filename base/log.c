/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"

#define MESSAGE_MAX 1024
#define HELD_MAX    4096

static struct {
  char program[64];
  int rank;
  char host[256];
  char device[128];
  int hold, mute, local;
  void (*before)(void);
  char held[HELD_MAX]; /**< messages, separated by newlines */
} state = {.rank = -1};

/** Lock for the held messages, because device libraries log from threads of their own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void log_copy(char *to, size_t size, const char *from)
{
  snprintf(to, size, "%s", from ? from : "");
}

void log_set_program(const char *program)
{
  log_copy(state.program, sizeof state.program, program);
}

void log_set_rank(int rank, const char *host)
{
  state.rank = rank;
  log_copy(state.host, sizeof state.host, host);
}

void log_set_device(const char *device)
{
  log_copy(state.device, sizeof state.device, device);
}

void log_before(void (*before)(void))
{
  state.before = before;
}

const char *log_identity(void)
{
  static char text[sizeof state.host + sizeof state.device + 64];
  const char *gap = "";
  int n = 0;
  text[0] = '\0';
  if (state.rank >= 0) {
    n += snprintf(text + n, sizeof text - n, "rank %d", state.rank);
    gap = ", ";
  }
  if (state.host[0]) {
    n += snprintf(text + n, sizeof text - n, "%shost %s", gap, state.host);
    gap = ", ";
  }
  if (state.device[0]) snprintf(text + n, sizeof text - n, "%sdevice %s", gap, state.device);
  return text;
}

/** Formats a message as one line of UTF-8. User input may contain line breaks, terminal control
 * characters (also from U+0080 on) and arbitrary bytes. */
static void format_line(char text[MESSAGE_MAX], const char *format, va_list arguments)
{
  static const char cut[] = "...";
  int length = vsnprintf(text, MESSAGE_MAX, format, arguments);
  if (length >= MESSAGE_MAX) memcpy(text + MESSAGE_MAX - sizeof cut, cut, sizeof cut);
  for (char *c = text; *c;) {
    const size_t size = value_utf8(c);
    const int control = size == 1 ? iscntrl((unsigned char)*c) : size == 2 && memcmp(c, "\xc2\xa0", 2) < 0;
    if (size == 0 || control) memset(c, '?', size ? size : 1);
    c += size ? size : 1;
  }
}

/** Prints a line by one call of fputs, so that lines of several ranks do not mix. */
static void print(const char *kind, const char *who, const char *message)
{
  char line[MESSAGE_MAX + sizeof state];
  snprintf(line, sizeof line, "%s%s%s%s%s%s\n", state.program, state.program[0] ? ": " : "", kind, who,
           who[0] ? ": " : "", message);
  if (state.before) state.before();
  fputs(line, stderr);
}

/** Appends to the held text. If that is full, drops the message: the first ones show the cause. */
static void hold(const char *message)
{
  size_t used = strlen(state.held);
  snprintf(state.held + used, HELD_MAX - used, "%s%s", used ? "\n" : "", message);
}

void log_print(const char *who, const char *text)
{
  char copied[HELD_MAX], *rest = copied;
  log_copy(copied, sizeof copied, text);
  for (char *line = strsep(&rest, "\n"); line && *line; line = strsep(&rest, "\n")) print("", who, line);
}

static void log_fail_va(status_t status, int local, const char *format, va_list arguments)
{
  char message[MESSAGE_MAX];
  format_line(message, format, arguments);
  pthread_mutex_lock(&lock);
  const int muted = state.mute == LOG_UNFIT ? status_is_unfit(status) : state.mute;
  if (state.hold && !muted) {
    hold(message);
    state.local |= local;
  }
  if (!state.hold && !muted) print("", log_identity(), message);
  pthread_mutex_unlock(&lock);
}

status_t log_fail(status_t status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  log_fail_va(status, 0, format, arguments);
  va_end(arguments);
  return status;
}

status_t log_fail_local(status_t status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  log_fail_va(status, 1, format, arguments);
  va_end(arguments);
  return status;
}

void log_warn(const char *format, ...)
{
  char message[MESSAGE_MAX];
  va_list arguments;
  if (state.rank > 0) return;
  va_start(arguments, format);
  format_line(message, format, arguments);
  va_end(arguments);
  print("warning: ", "", message);
}

void log_hold(int hold)
{
  pthread_mutex_lock(&lock);
  state.hold = hold;
  if (!hold) {
    log_print(log_identity(), state.held);
    state.held[0] = '\0';
    state.local = 0;
  }
  pthread_mutex_unlock(&lock);
}

int log_mute(int mute)
{
  pthread_mutex_lock(&lock);
  const int before = state.mute;
  state.mute = mute;
  pthread_mutex_unlock(&lock);
  return before;
}

const char *log_held(void)
{
  return state.held;
}

int log_held_local(void)
{
  return state.local;
}

void log_drop(void)
{
  pthread_mutex_lock(&lock);
  state.held[0] = '\0';
  state.local = 0;
  pthread_mutex_unlock(&lock);
}
