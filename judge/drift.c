/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/values.h"
#include "judge/parts.h"
#include "judge/reference.h"

#define RATE_OF_INSTALLATION_MIN 0.9 /* default limit; a usual clause in supply contracts */

/* The change of a device, or of the slowest device of a host: its rates, the relative change that
 * chance may explain, and corrected errors per day. NAN means unknown. */
struct drift {
  double before, now, noise, errors;
};

static const char *drift_key(const json_t *row, int alone, char key[200])
{
  const char *uuid = view_text(row, "uuid");
  const int n = *uuid ? snprintf(key, 60, "%s", uuid) : snprintf(key, 60, "%.0f", view_number(row, "rank"));
  if (!alone) snprintf(key + (n < 60 ? n : 59), 140, "\n%s", view_text(row, "host"));
  return key;
}

/* Indexes the devices' rows by UUID and host, and by UUID. The rank replaces a missing UUID. */
static json_t *drift_index(const json_t *rows)
{
  char key[200];
  json_t *index = json_object(), *one;
  size_t n;
  json_array_foreach((json_t *)rows, n, one)
  {
    for (int alone = 0; alone < 2; alone++)
      if (!json_object_get(index, drift_key(one, alone, key))) json_object_set(index, key, one);
  }
  return index;
}

/* Returns the row of the same device, preferably on the same host; NULL if there is none. A device
 * without a UUID is found by its rank. */
static const json_t *drift_same(const json_t *index, const json_t *row)
{
  char key[200];
  const json_t *found = json_object_get(index, drift_key(row, 0, key));
  return found ? found : json_object_get(index, drift_key(row, 1, key));
}

static double drift_rate(const json_t *row)
{
  const double rate = view_number(row, "compute_gflops");
  return rate > 0 ? rate : view_number(row, "gflops");
}

/* Compares a device's rows of two documents. The counter of corrected errors restarts at zero when
 * the driver is loaded, so all of a smaller value is new. */
static struct drift drift_of(const json_t *before, const json_t *now, double days)
{
  const double noise = REFERENCE_SIGMAS * hypot(view_number(before, "noise"), view_number(now, "noise")),
               old = view_number(before, "telemetry.ecc.corrected"),
               new = view_number(now, "telemetry.ecc.corrected");
  return (struct drift){drift_rate(before), drift_rate(now),
                        isnan(noise) ? NAN : fmax(REFERENCE_LEAST, noise),
                        days > 0 ? (new >= old ? new - old : new) / days : NAN};
}

int drift_check(const json_t *document, const struct reference *r, const struct policy *policy,
                struct check *check)
{
  const int key = check_kind_find("rate_of_installation_min"), asked = policy && policy->limit[key] >= 0;
  double noise = NAN;
  size_t rank;
  json_t *row, *before = drift_index(json_object_get(r->document, "ranks"));
  *check = (struct check){.name = "rate of installation",
                          .title = "speed / speed at installation (worst device)",
                          .unit = "",
                          .value = NAN,
                          .limit = asked ? policy->limit[key] : RATE_OF_INSTALLATION_MIN,
                          .rank = -1,
                          .from = asked ? policy->from[key] : "the usual clause of contracts"};
  json_array_foreach(json_object_get(document, "ranks"), rank, row)
  {
    const struct drift d = drift_of(drift_same(before, row), row, NAN);
    if (isnan(d.now / d.before) || isnan(d.noise) || d.now / d.before >= check->value) continue;
    check->value = d.now / d.before;
    check->rank = (int)rank;
    noise = d.noise;
  }
  json_decref(before);
  if (isnan(check->value)) return 0;
  check_judge(check, 0);
  if (check->outcome == CHECK_FAIL && noise > REFERENCE_NOISY && check->value + noise >= check->limit)
    check->outcome = CHECK_NOISY;
  return 1;
}

static void drift_line(const char *name, const struct drift *d, FILE *out)
{
  fprintf(out, "    %-52s %8.2f  %8.2f  %+6.1f%%  %5.1f%%  %7.3g\n", name, d->before, d->now,
          100 * (d->now / d->before - 1), 100 * d->noise, d->errors);
}

static void drift_changed(const json_t *before, const json_t *now, const char *path, const char *of,
                          FILE *out)
{
  char texts[2][120];
  for (int i = 0; i < 2; i++) {
    snprintf(texts[i], sizeof texts[i], "%s", view_text(i ? now : before, path));
    value_make_printable(texts[i]);
  }
  if (strcmp(texts[0], texts[1]) != 0)
    fprintf(out, "    %s%s%s: %s → %s\n", path, *of ? " of " : "", of, texts[0], texts[1]);
}

/* Prints the devices of \a rows that \a others lacks. */
static void drift_missing(const json_t *rows, const json_t *others, const char *what, FILE *out)
{
  char name[200];
  size_t n;
  json_t *row;
  json_array_foreach((json_t *)rows, n, row) if (!drift_same(others, row))
      fprintf(out, "    %s: %s\n", what, suspect_row(row, (int)n, name, sizeof name));
}

void drift_text(const json_t *document, const struct reference *r, FILE *out)
{
  const json_t *olds = json_object_get(r->document, "ranks"), *rows = json_object_get(document, "ranks");
  json_t *before = drift_index(olds), *now = drift_index(rows);
  const char *times[2] = {view_text(r->document, "time"), view_text(document, "time")};
  struct tm day[2] = {{0}, {0}};
  struct drift slowest = {NAN, NAN, NAN, NAN};
  double days = NAN;
  char name[200];
  size_t n;
  json_t *row;
  if (strptime(times[0], "%Y-%m-%dT%H:%M:%SZ", &day[0]) && strptime(times[1], "%Y-%m-%dT%H:%M:%SZ", &day[1]))
    days = difftime(timegm(&day[1]), timegm(&day[0])) / (24 * 60 * 60);
  fprintf(out, "\n  drift in %.0f days\n    %-52s %8s  %8s  %7s  %6s  %7s\n", days, "device, slowest of host",
          "GFLOPS", "now", "change", "noise", "ECC/day");
  json_array_foreach((json_t *)rows, n, row)
  {
    const json_t *old = drift_same(before, row), *next = json_array_get(rows, n + 1);
    const struct drift d = drift_of(old, row, days);
    suspect_row(row, (int)n, name, sizeof name);
    if (old) {
      drift_line(name, &d, out);
      drift_changed(old, row, "driver", name, out);
    }
    slowest = (struct drift){fmin(slowest.before, d.before), fmin(slowest.now, d.now),
                             fmax(slowest.noise, d.noise), fmax(slowest.errors, d.errors)};
    if (next && strcmp(view_text(row, "host"), view_text(next, "host")) == 0) continue;
    snprintf(name, sizeof name, "host %s", view_text(row, "host"));
    value_make_printable(name);
    if (!isnan(slowest.before)) drift_line(name, &slowest, out);
    slowest = (struct drift){NAN, NAN, NAN, NAN};
  }
  drift_missing(rows, before, "new", out);
  drift_missing(olds, now, "vanished", out);
  drift_changed(r->document, document, "version", "", out);
  drift_changed(r->document, document, "system.kernel", "", out);
  json_decref(before);
  json_decref(now);
}
