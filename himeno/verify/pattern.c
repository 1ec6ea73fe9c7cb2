/* SPDX-License-Identifier: MIT */
#include "himeno/verify/wrong.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

/* Minimum and maximum number of wrong points, relative to the points of a pattern. With dense data
 * one point in 16 never changes, and a small error may disappear by rounding. */
#define NEARLY_ALL 0.8
#define STRAYS     1.05
/* An index counts if it has at least this share of the points of the index with the most points. */
#define INDEX_SHARE 0.05
#define LISTED      4
#define REPEATS     2

static const char letters[] = "ijk";

status_t pattern_open(const int64_t lo[3], const int64_t hi[3], struct pattern *pattern)
{
  struct pattern p = {.n_counts = 2};
  for (int d = 0; d < 3; d++) {
    p.lo[d] = lo[d];
    p.hi[d] = hi[d];
    p.n_counts += (size_t)(hi[d] - lo[d]);
  }
  if (!(p.counts = calloc(p.n_counts, sizeof *p.counts)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the list of differing points");
  *pattern = p;
  return STATUS_OK;
}

void pattern_close(struct pattern *pattern)
{
  free(pattern->counts);
  pattern->counts = NULL;
}

static int64_t *along(const struct pattern *p, int d)
{
  int64_t *counts = p->counts + 2;
  for (int e = 0; e < d; e++) counts += p->hi[e] - p->lo[e];
  return counts;
}

void pattern_add(struct pattern *p, const int64_t at[3])
{
  p->counts[0]++;
  p->counts[1] += (at[0] + at[1] + at[2]) & 1;
  for (int d = 0; d < 3; d++) along(p, d)[at[d] - p->lo[d]]++;
}

struct axis {
  char letter;
  int64_t lo, extent;
  const int64_t *counts;
  double least; /* minimum count of the indices in the pattern */
  int64_t n, first, last;
};

static int is_in(const struct axis *a, int64_t x)
{
  return (double)a->counts[x] >= a->least;
}

static struct axis axis_of(const struct pattern *p, int d, double least)
{
  struct axis a = {letters[d], p->lo[d], p->hi[d] - p->lo[d], along(p, d), least, 0, -1, -1};
  for (int64_t x = 0; x < a.extent; x++) {
    if (!is_in(&a, x)) continue;
    if (a.n++ == 0) a.first = x;
    a.last = x;
  }
  return a;
}

/* Returns the smallest distance at which the indices repeat from first to last, at least REPEATS
 * times; 0 if there is none. */
static int64_t period(const struct axis *a)
{
  for (int64_t s = 2; s * REPEATS <= a->last - a->first; s++) {
    int64_t x = a->first;
    while (x + s <= a->last && is_in(a, x) == is_in(a, x + s)) x++;
    if (x + s > a->last) return s;
  }
  return 0;
}

__attribute__((format(printf, 3, 4))) static int put(char *text, size_t size, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(text, size, format, arguments);
  va_end(arguments);
  return n < 0 ? 0 : (size_t)n < size ? n : (int)size - 1;
}

static void every_text(const struct axis *a, int64_t s, char *text, size_t size)
{
  static const char *const ordinals[] = {"",      "",      "second",  "third", "fourth",
                                         "fifth", "sixth", "seventh", "eighth"};
  int64_t group = 0;
  for (int64_t x = a->first; x < a->first + s; x++) group += is_in(a, x);
  int n = group > 1 ? put(text, size, "at %" PRId64 " of every %" PRId64 " %c", group, s, a->letter)
          : s < 9   ? put(text, size, "at every %s %c", ordinals[s], a->letter)
                    : put(text, size, "at every %" PRId64 "th %c", s, a->letter);
  n += put(text + n, size - (size_t)n, ", from %c = %" PRId64, a->letter, a->lo + a->first);
  if (a->extent - 1 - a->last >= s) put(text + n, size - (size_t)n, " to %" PRId64, a->lo + a->last);
}

static void run_text(const struct axis *a, char *text, size_t size)
{
  const char *side = a->first == 0 ? "lower" : a->last == a->extent - 1 ? "upper" : NULL;
  const int64_t first = a->lo + a->first, last = a->lo + a->last;
  if (a->n == 1 && side)
    put(text, size, "at the %s edge of %c (%c = %" PRId64 ")", side, a->letter, a->letter, first);
  else if (a->n == 1)
    put(text, size, "at %c = %" PRId64, a->letter, first);
  else if (side)
    put(text, size, "in the %s %" PRId64 " of %c (%" PRId64 " to %" PRId64 ")", side, a->n, a->letter, first,
        last);
  else
    put(text, size, "from %c = %" PRId64 " to %" PRId64, a->letter, first, last);
}

/* Lists the indices without a rule, or prints their number. */
static void list_text(const struct axis *a, char *text, size_t size)
{
  if (a->n > LISTED) {
    put(text, size, "at %" PRId64 " of the %" PRId64 " %c, from %" PRId64 " to %" PRId64, a->n, a->extent,
        a->letter, a->lo + a->first, a->lo + a->last);
    return;
  }
  int n = put(text, size, "at %c = ", a->letter);
  for (int64_t x = a->first; x <= a->last; x++)
    if (is_in(a, x)) n += put(text + n, size - (size_t)n, "%s%" PRId64, x > a->first ? ", " : "", a->lo + x);
}

/* Describes the indices of an axis; "" for all of them. */
static void axis_text(const struct axis *a, char *text, size_t size)
{
  const int64_t s = period(a);
  text[0] = '\0';
  if (a->n == a->extent) return;
  if (a->last - a->first + 1 == a->n)
    run_text(a, text, size);
  else if (a->n == 2 && a->first == 0 && a->last == a->extent - 1)
    put(text, size, "at both edges of %c (%c = %" PRId64 " and %" PRId64 ")", a->letter, a->letter, a->lo,
        a->lo + a->last);
  else if (s)
    every_text(a, s, text, size);
  else
    list_text(a, text, size);
}

static void axes_text(const struct axis axes[3], char *text, size_t size)
{
  char one[PATTERN_TEXT_MAX / 4];
  int n = 0;
  text[0] = '\0';
  for (int d = 0; d < 3; d++) {
    axis_text(&axes[d], one, sizeof one);
    if (one[0]) n += put(text + n, size - (size_t)n, "%s%s", n ? ", " : "", one);
  }
}

static int about_all(double n, double of)
{
  return n >= NEARLY_ALL * of && n <= STRAYS * of;
}

/* Returns whether the points are a product of index sets along i, j and k (faces, edges, strides,
 * blocks): either all points of the product, or those with odd or even i + j + k. */
static int is_product(const struct pattern *p, char text[PATTERN_TEXT_MAX])
{
  struct axis axes[3];
  char where[PATTERN_TEXT_MAX - 80];
  double volume = 1, n = (double)p->counts[0];
  for (int d = 0; d < 3; d++) {
    int64_t most = 1;
    for (int64_t x = 0; x < p->hi[d] - p->lo[d]; x++)
      if (along(p, d)[x] > most) most = along(p, d)[x];
    axes[d] = axis_of(p, d, most * INDEX_SHARE > 1 ? most * INDEX_SHARE : 1);
    volume *= (double)axes[d].n;
  }
  const int64_t odd = p->counts[1];
  const int chess = n > LISTED && (odd == p->counts[0] || odd == 0) && about_all(n, volume / 2);
  if (!chess && !about_all(n, volume)) return 0;
  axes_text(axes, where, sizeof where);
  int used = put(text, PATTERN_TEXT_MAX, chess ? "every other point (%s i + j + k)" : "all points",
                 odd ? "odd" : "even");
  if (where[0]) used += put(text + used, PATTERN_TEXT_MAX - (size_t)used, " %s", where);
  if (!chess && n < volume)
    put(text + used, PATTERN_TEXT_MAX - (size_t)used, ", or nearly all of them (%.0f%%)", 100 * n / volume);
  return 1;
}

/* Returns whether the points are whole planes along more than one axis. */
static int is_planes(const struct pattern *p, char text[PATTERN_TEXT_MAX])
{
  char one[PATTERN_TEXT_MAX / 4];
  double volume = 1, outside = 1;
  int used = put(text, PATTERN_TEXT_MAX, "all points"), n = 0;
  for (int d = 0; d < 3; d++) volume *= (double)(p->hi[d] - p->lo[d]);
  for (int d = 0; d < 3; d++) {
    const struct axis a = axis_of(p, d, NEARLY_ALL * volume / (double)(p->hi[d] - p->lo[d]));
    outside *= (double)(a.extent - a.n);
    if (a.n == 0) continue;
    axis_text(&a, one, sizeof one);
    used += put(text + used, PATTERN_TEXT_MAX - (size_t)used, "%s %s", n++ ? " and" : "", one);
  }
  return n > 0 && about_all((double)p->counts[0], volume - outside);
}

const char *pattern_text(const struct pattern *p, char text[PATTERN_TEXT_MAX])
{
  struct axis axes[3];
  if (p->counts[0] == 0) {
    put(text, PATTERN_TEXT_MAX, "none");
    return text;
  }
  if (is_product(p, text) || is_planes(p, text)) return text;
  for (int d = 0; d < 3; d++) axes[d] = axis_of(p, d, 1);
  put(text, PATTERN_TEXT_MAX,
      "scattered, between i = %" PRId64 " and %" PRId64 ", j = %" PRId64 " and %" PRId64 ", k = %" PRId64
      " and %" PRId64,
      axes[0].lo + axes[0].first, axes[0].lo + axes[0].last, axes[1].lo + axes[1].first,
      axes[1].lo + axes[1].last, axes[2].lo + axes[2].first, axes[2].lo + axes[2].last);
  return text;
}
