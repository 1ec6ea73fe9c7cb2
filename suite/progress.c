/* SPDX-License-Identifier: MIT */
#include "suite/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stats.h"
#include "base/switches.h"

SWITCH("HIMENO_QUIET", USER, OWN, CHOICE("0|1"), "1: print no progress, like `--quiet`");

#define TEXT_MAX 128
#define TIME_MAX 32
#define WIDTH    78 /* columns of a line on a terminal */
/* Minimum seconds between two lines: IN_PLACE_SECONDS on a terminal, otherwise LINE_SECONDS or, in
 * a long run, LINE_SHARE of the elapsed time. */
#define IN_PLACE_SECONDS 0.1
#define LINE_SECONDS     3.0
#define LINE_SHARE       0.05
/* Minimum seconds from which a phase's line shows its elapsed time. */
#define SHOWN_SECONDS 2.0

static struct {
  int prints, in_place, shown, n_phases;
  double opened, began, last, counted, end; /* end: expected end; 0 if unknown */
  struct progress_phase phases[PROGRESS_PHASES_MAX];
  char part[TEXT_MAX], phase[TEXT_MAX], reached[TEXT_MAX];
} p;

void progress_open(int quiet, double started)
{
  p.prints = !quiet && !switch_number("HIMENO_QUIET", 0);
  p.in_place = isatty(STDERR_FILENO);
  p.began = p.last = p.opened = p.counted = started;
  snprintf(p.phase, sizeof p.phase, "starting");
  log_before(progress_clear);
}

/* Adds the time since the last call to the current phase, whose name ends at the first comma. */
static void progress_count(double now)
{
  const int length = (int)strcspn(p.phase, ",");
  char name[sizeof p.phases->name];
  int n = 0;
  snprintf(name, sizeof name, "%.*s", length, p.phase);
  while (n < p.n_phases && strcmp(p.phases[n].name, name) != 0) n++;
  if (n == PROGRESS_PHASES_MAX) n--;
  if (n == p.n_phases) snprintf(p.phases[p.n_phases++].name, sizeof name, "%s", name);
  p.phases[n].seconds += now - p.counted;
  p.counted = now;
}

int progress_phases(const struct progress_phase **phases)
{
  progress_count(stats_now());
  *phases = p.phases;
  return p.n_phases;
}

void progress_clear(void)
{
  if (p.shown) fprintf(stderr, "\r%*s\r", WIDTH, "");
  p.shown = 0;
}

/* Writes a duration: 40 s, 6 min or 2.5 h. Returns text. */
static const char *duration_text(double seconds, char text[TIME_MAX])
{
  if (seconds < 99.5)
    snprintf(text, TIME_MAX, "%.0f s", seconds);
  else
    snprintf(text, TIME_MAX, seconds < 5970 ? "%.0f min" : "%.1f h", seconds / (seconds < 5970 ? 60 : 3600));
  return text;
}

static void time_text(double now, char text[TEXT_MAX])
{
  char time[TIME_MAX];
  text[0] = '\0';
  if (p.end > now)
    snprintf(text, TEXT_MAX, ", %s left", duration_text(p.end - now, time));
  else if (p.end > 0)
    snprintf(text, TEXT_MAX, ", %s longer than expected", duration_text(now - p.end, time));
  else if (now - p.began >= SHOWN_SECONDS)
    snprintf(text, TEXT_MAX, ", for %s", duration_text(now - p.began, time));
}

/* Prints a line by one call of fputs, so that lines of several processes do not mix. */
static void progress_print(double now)
{
  char time[TEXT_MAX], text[4 * TEXT_MAX + 8], line[sizeof text + WIDTH];
  time_text(now, time);
  snprintf(text, sizeof text, "  %s%s%s%s%s%s", p.part, p.part[0] ? ": " : "", p.phase, time,
           p.reached[0] ? ", " : "", p.reached);
  if (p.in_place)
    snprintf(line, sizeof line, "\r%-*.*s", WIDTH, WIDTH, text);
  else
    snprintf(line, sizeof line, "%s\n", text);
  fputs(line, stderr);
  p.shown = p.in_place;
  p.last = now;
}

static int progress_is_due(double now)
{
  double every = LINE_SHARE * (now - p.opened);
  if (every < LINE_SECONDS) every = LINE_SECONDS;
  return now - p.last >= (p.in_place ? IN_PLACE_SECONDS : every);
}

void progress_part(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(p.part, sizeof p.part, format, arguments);
  va_end(arguments);
}

void progress_begin(const char *format, ...)
{
  const double now = stats_now();
  va_list arguments;
  progress_count(now);
  va_start(arguments, format);
  vsnprintf(p.phase, sizeof p.phase, format, arguments);
  va_end(arguments);
  p.began = now;
  p.reached[0] = '\0';
  if (p.prints && (p.in_place || progress_is_due(now))) progress_print(now);
}

void progress_expect(double seconds)
{
  const int first = p.end == 0;
  char text[TIME_MAX];
  if (!(seconds > 0)) return;
  p.end = stats_now() + seconds;
  if (!first || !p.prints || p.end - p.opened < LINE_SECONDS) return;
  progress_clear();
  fprintf(stderr, "  about %s expected\n", duration_text(p.end - p.opened, text));
}

void progress_reached(const char *format, ...)
{
  va_list arguments;
  if (!p.prints) return;
  va_start(arguments, format);
  vsnprintf(p.reached, sizeof p.reached, format, arguments);
  va_end(arguments);
  progress_tick();
}

void progress_tick(void)
{
  const double now = p.prints ? stats_now() : 0;
  if (p.prints && p.phase[0] && progress_is_due(now)) progress_print(now);
}
