/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/report.h"
#include "base/stats.h"

#define TOO_NOISY 0.25 /* noise above which a comparison is useless */

/** Returns whether the user's terminal reads UTF-8. Reads the environment, because programs stay in
 * the C locale to keep the decimal point. */
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

const char *report_number(double value, int width, int decimals, char text[REPORT_NUMBER_BYTES])
{
  if (value > 0)
    snprintf(text, REPORT_NUMBER_BYTES, "%*.*f", width, decimals, value);
  else
    snprintf(text, REPORT_NUMBER_BYTES, "%*s%s", width > 0 ? width - 1 : 0, "", locale_is_utf8() ? "–" : "-");
  return text;
}

void report_noise(const double *samples, int n, int warn, FILE *out)
{
  const struct stats_summary summary = stats_summarise(samples, (size_t)n);
  const double noise = stats_noise_max(&summary), percent = 100 * noise;
  if (isinf(noise)) return;
  if (!warn)
    fprintf(out,
            "  noise      standard deviation of the blocks' times: at most %.1f%%, with 99%% confidence\n",
            percent);
  else if (noise > TOO_NOISY)
    fprintf(
        out,
        "  WARNING    this speed is too noisy to compare: standard deviation of block times up to %.0f%%\n",
        percent);
  else if (noise > STATS_NOISY)
    fprintf(out, "  WARNING    noisy: a difference of less than %.1f%% from another run may be noise\n",
            percent);
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
