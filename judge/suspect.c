/* SPDX-License-Identifier: MIT */
#include "judge/parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/values.h"
#include "judge/policy.h"

/* Smallest differences that are reported: clock and power relative, temperature in °C. */
#define CLOCK_LEAST   0.02
#define CELSIUS_LEAST 5
#define WATTS_LEAST   0.1
#define REASONS_BYTES 120

/* Names in documents; for error counters also a description. */
static const struct {
  const char *name, *counts;
} facts[] = {{"corrected", "ECC errors corrected"},
             {"uncorrected", "ECC errors not corrected"},
             {"retired", "pages or rows retired"},
             {"pcie_replays", "PCIe replays"},
             {"nvlink_replays", "NVLink replays"},
             {"nvlink_recoveries", "NVLink recoveries"},
             {"nvlink_crc", "NVLink CRC errors"},
             {"xids", "Xid events"},
             {"card_errors", "errors of network cards"},
             {"pcie_gen", NULL},
             {"pcie_width", NULL},
             {"nvlinks_active", NULL}};
#define FACTS (sizeof facts / sizeof *facts)

void suspect_append(char *text, size_t size, const char *format, ...)
{
  size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  if (used + 1 < size) vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

/* Returns the separator before the next part of a list. */
static const char *comma(const char *text)
{
  return text[0] ? ", " : "";
}

const char *suspect_row(const json_t *row, int rank, char *text, size_t size)
{
  const char *uuid = view_text(row, "uuid");
  snprintf(text, size, "rank %d on %s, %s", rank, view_text(row, "host"),
           *uuid ? uuid : view_text(row, "device"));
  value_make_printable(text);
  return text;
}

const char *suspect_name(const struct judge_run *run, int rank, char *text, size_t size)
{
  return suspect_row(run->ranks[rank].row, rank, text, size);
}

static void differ(const struct judge_run *run, int rank, const char *path, double least, const char *what,
                   char *text, size_t size)
{
  const double mine = run->n_ranks > 1 ? view_number(run->ranks[rank].row, path) : NAN;
  double *values = malloc(sizeof *values * (size_t)run->n_ranks);
  int n = 0;
  for (int r = 0; values && r < run->n_ranks; r++) {
    values[n] = view_number(run->ranks[r].row, path);
    n += !isnan(values[n]);
  }
  const double typical = stats_summarise(values, (size_t)n).median;
  free(values);
  if (mine < typical * (1 - least))
    suspect_append(text, size, "%s%s %.0f (median of the ranks: %.0f)", comma(text), what, mine, typical);
}

double suspect_throttled(const json_t *row, int among, int *found)
{
  const char *reason;
  json_t *blocks;
  double most = 0;
  *found = 0;
  json_object_foreach((json_t *)view_at(row, "telemetry.reasons"), reason, blocks)
  {
    const int reasons = policy_reasons_read(reason) & among;
    *found |= reasons;
    if (reasons) most = fmax(most, json_number_value(blocks));
  }
  return most;
}

static void differ_throttle(const json_t *row, char *text, size_t size)
{
  const double throttled = view_number(row, "telemetry.throttled"),
               samples = view_number(row, "telemetry.samples");
  char reasons[REASONS_BYTES];
  int all;
  if (!(throttled > 0)) return;
  suspect_throttled(row, ~0, &all);
  suspect_append(text, size, "%sthrottled in %.0f of %.0f block%s (%s)", comma(text), throttled, samples,
                 samples == 1 ? "" : "s", policy_reasons_text(all, reasons, sizeof reasons));
}

const char *suspect_differs(const struct judge_run *run, int rank, char *text, size_t size)
{
  const struct judge_rank *r = &run->ranks[rank];
  const double cores = view_number(r->row, "numa"), device = view_number(r->row, "device_numa");
  text[0] = 0;
  differ(run, rank, "telemetry.sm_mhz.0", CLOCK_LEAST, "clock in MHz", text, size);
  differ_throttle(r->row, text, size);
  differ(run, rank, "telemetry.link.pcie_width", 0, "PCIe lanes", text, size);
  differ(run, rank, "telemetry.link.pcie_gen", 0, "PCIe generation", text, size);
  if (cores >= 0 && device >= 0 && cores != device)
    suspect_append(text, size, "%scores on NUMA node %.0f, device on %.0f", comma(text), cores, device);
  if (r->sharers > 0) suspect_append(text, size, "%sdevice shared with other ranks", comma(text));
  if (r->cpus_shared) suspect_append(text, size, "%scores shared with other ranks", comma(text));
  if (!text[0]) suspect_append(text, size, "its device reports no difference");
  return text;
}

static double rise_of(const struct judge_run *run, int rank, size_t fact)
{
  return view_number(json_object_get(run->ranks[rank].row, "counted"), facts[fact].name);
}

/* Returns whether a counter shows a defect. NVLink's CRC errors do not: healthy links have some. */
static int is_fault(size_t fact)
{
  return strcmp(facts[fact].name, "nvlink_crc") != 0;
}

/* Returns the sum of a rank's counters; NAN if none is known. If \a faults, only counters that show
 * a defect count. \a text lists the counters above zero. */
static double suspect_errors(const struct judge_run *run, int rank, int faults, char *text, size_t size)
{
  const json_t *last = json_object_get(run->ranks[rank].row, "counted_last");
  double all = NAN;
  text[0] = 0;
  for (size_t f = 0; facts[f].counts; f++) {
    const double rise = faults && !is_fault(f) ? NAN : rise_of(run, rank, f);
    const char *detail = view_text(last, facts[f].name);
    if (rise >= 0) all = (isnan(all) ? 0 : all) + rise;
    if (rise > 0)
      suspect_append(text, size, "%s%s %.0f%s%s%s", comma(text), facts[f].counts, rise,
                     *detail ? " (the last: " : "", detail, *detail ? ")" : "");
  }
  value_make_printable(text);
  return all;
}

const char *suspect_counted(const struct judge_run *run, int rank, char *text, size_t size)
{
  suspect_errors(run, rank, 0, text, size);
  return text;
}

static void uncounted(const struct judge_run *run, char *text, size_t size)
{
  text[0] = 0;
  for (size_t f = 0; facts[f].counts; f++) {
    int known = !is_fault(f);
    for (int r = 0; r < run->n_ranks; r++) known |= rise_of(run, r, f) >= 0;
    if (!known) suspect_append(text, size, "%s%s", text[0] ? ", " : "cannot be read: ", facts[f].counts);
  }
}

double suspect_most_counted(const struct judge_run *run, struct check *check)
{
  char text[CHECK_WHY_MAX];
  double most = NAN;
  uncounted(run, check->why, sizeof check->why);
  for (int r = 0; r < run->n_ranks; r++) {
    const double all = suspect_errors(run, r, 1, text, sizeof text);
    if (isnan(all) || all <= most) continue;
    most = all;
    if (!(all > 0)) continue;
    check->rank = r;
    strcpy(check->why, text);
  }
  return most;
}

static int is_straggler(const struct judge_run *run, int rank, enum judge_of of)
{
  for (int s = 0; s < judge_stored(run->n_stragglers); s++)
    if (run->stragglers[s].rank == rank && run->stragglers[s].of == of) return 1;
  return 0;
}

/* Returns whether a rank's exchange was slow for at least half of another rank's slowdown. */
static int was_slow_with(const struct judge_run *run, int rank, const struct slowdown *s)
{
  for (int o = 0; o < judge_stored(run->n_slowdowns); o++) {
    const struct slowdown *other = &run->slowdowns[o];
    const double common = fmin(s->end, other->end) - fmax(s->begin, other->begin);
    if (other->rank == rank && other->of == JUDGE_EXCHANGE && common >= 0.5 * (s->end - s->begin)) return 1;
  }
  return 0;
}

/* Appends to \a text a neighbour whose exchange is slow as well, as at both ends of a bad link:
 * slow during \a slowdown, or a straggler if \a slowdown is NULL. */
static void link_ends(const struct judge_run *run, int rank, const struct slowdown *slowdown, char *text,
                      size_t size)
{
  const struct judge_rank *r = &run->ranks[rank];
  for (int m = 0; m < r->n_paths; m++) {
    const int peer = r->paths[m].peer;
    if (slowdown ? !was_slow_with(run, peer, slowdown) : !is_straggler(run, peer, JUDGE_EXCHANGE)) continue;
    suspect_append(text, size, "; so %s its neighbour %s, rank %d on %s: suspect the link between them",
                   slowdown ? "was" : "is", r->paths[m].face, peer, view_text(run->ranks[peer].row, "host"));
    value_make_printable(text);
    return;
  }
}

const char *suspect_straggler(const struct judge_run *run, const struct straggler *s, char *text, size_t size)
{
  char differs[300];
  suspect_name(run, s->rank, text, size);
  suspect_append(text, size, ": %s is %.2f times the usual (limit %.2f), beyond it in %d of %d blocks; %s",
                 judge_of_names[s->of], s->slowness, s->limit, s->beyond, run->n_blocks,
                 suspect_differs(run, s->rank, differs, sizeof differs));
  if (s->of == JUDGE_EXCHANGE) link_ends(run, s->rank, NULL, text, size);
  return text;
}

/* Returns 2 if the rank is a straggler in computing, 1 if it only had a slowdown in computing,
 * otherwise 0. Exchange does not count: perhaps only one end of a bad link is found slow. */
static int computes_slowly(const struct judge_run *run, int rank)
{
  int once = 0;
  for (int s = 0; s < judge_stored(run->n_slowdowns); s++)
    once |= run->slowdowns[s].rank == rank && run->slowdowns[s].of == JUDGE_COMPUTE;
  return is_straggler(run, rank, JUDGE_COMPUTE) ? 2 : once;
}

void suspect_end(const struct judge_run *run, int *rank, int peer, char *text, size_t size)
{
  const int change = computes_slowly(run, peer) > computes_slowly(run, *rank);
  snprintf(text, size, "to rank %d", change ? *rank : peer);
  if (change) *rank = peer;
}

/* A device's values, and the smallest differences that are reported. less: relative decrease;
 * more_share: relative increase; more: increase in units of the value. */
static const struct {
  const char *name;
  double less, more_share, more;
  const char *format;
} values[] = {{"watts", WATTS_LEAST, WATTS_LEAST, 0, ", %.0f W (otherwise %.0f)"},
              {"sm_mhz", CLOCK_LEAST, 9, 0, ", clock %.0f MHz (otherwise %.0f)"},
              {"memory_mhz", CLOCK_LEAST, 9, 0, ", memory clock %.0f MHz (otherwise %.0f)"},
              {"celsius", 9, 0, CELSIUS_LEAST, ", %.0f C (otherwise %.0f)"}};
#define VALUES (sizeof values / sizeof *values)
static const int in_words[VALUES] = {1, 2, 3, 0}; /* the order in a report */

/* Medians of a device's values in a slowdown and outside of it, NAN if unknown. */
struct concurrent {
  double then[VALUES], typical[VALUES];
  int throttle; /* bits of the throttling reasons that occurred only in the slowdown */
  int changed;  /* one bit per fact that changed in the slowdown */
};

/* Returns whether a row of telemetry, which covers \a each blocks, overlaps the slowdown. */
static int row_is_in(const struct slowdown *s, size_t row, int each)
{
  return row >= (size_t)(s->first / each) && row <= (size_t)(s->last / each);
}

/* Returns the median over the rows in the slowdown if \a inside, otherwise over those outside of
 * it. */
static double suspect_median(const json_t *column, const struct slowdown *s, int each, int inside)
{
  double *known = malloc(sizeof *known * (json_array_size(column) + 1));
  size_t row, n = 0;
  json_t *value;
  json_array_foreach((json_t *)column, row,
                     value) if (known && json_is_number(value) && row_is_in(s, row, each) == inside)
      known[n++] = json_number_value(value);
  const double median = n > 0 ? stats_summarise(known, n).median : NAN;
  free(known);
  return median;
}

static int throttle_of(const json_t *column, const struct slowdown *s, int each, int inside)
{
  size_t row;
  json_t *value;
  int all = 0;
  json_array_foreach((json_t *)column, row,
                     value) if (json_is_string(value) && row_is_in(s, row, each) == inside) all |=
      policy_reasons_read(json_string_value(value));
  return all;
}

static struct concurrent concurrent_read(const struct judge_run *run, const struct slowdown *s)
{
  const json_t *telemetry = json_object_get(run->ranks[s->rank].row, "telemetry"),
               *blocks = json_object_get(telemetry, "blocks"),
               *reasons = json_object_get(blocks, "throttled");
  const int each = (int)fmin(fmax(1, view_number(blocks, "each")), 1e9);
  struct concurrent m = {.throttle = throttle_of(reasons, s, each, 1) & ~throttle_of(reasons, s, each, 0)};
  json_t *change;
  size_t c;
  for (size_t v = 0; v < VALUES; v++) {
    const json_t *column = json_object_get(blocks, values[v].name);
    m.then[v] = suspect_median(column, s, each, 1);
    m.typical[v] = suspect_median(column, s, each, 0);
  }
  json_array_foreach(json_object_get(telemetry, "changes"), c, change)
  {
    const double block = view_number(change, "block");
    for (size_t f = 0; f < FACTS; f++)
      if (block >= s->first && block <= s->last && strcmp(view_text(change, "of"), facts[f].name) == 0)
        m.changed |= 1 << f;
  }
  return m;
}

static void concurrent_text(const struct concurrent *m, char *text, size_t size)
{
  char reasons[REASONS_BYTES];
  text[0] = 0;
  for (size_t w = 0; w < VALUES; w++) {
    const int v = in_words[w];
    const double then = m->then[v], typical = m->typical[v];
    if (then < typical * (1 - values[v].less) ||
        then >= typical * (1 + values[v].more_share) + values[v].more)
      suspect_append(text, size, values[v].format, then, typical);
  }
  if (m->throttle)
    suspect_append(text, size, ", throttled only then (%s)",
                   policy_reasons_text(m->throttle, reasons, sizeof reasons));
  for (size_t f = 0; f < FACTS; f++)
    if (m->changed >> f & 1) suspect_append(text, size, ", %s changed", facts[f].name);
  if (!text[0]) suspect_append(text, size, ", its device reported no difference");
}

void suspect_concurrent_document(struct doc *d, const struct judge_run *run, const struct slowdown *slowdown)
{
  const struct concurrent m = d->schema ? (struct concurrent){.throttle = 0} : concurrent_read(run, slowdown);
  char text[REASONS_BYTES];
  doc_object(d, "meanwhile", DOC_OPTIONAL,
             "What the rank's device reported: medians during the slowdown and outside of it, reasons that "
             "throttled it only then, and which of telemetry.changes fell into it.",
             1);
  for (size_t v = 0; v < VALUES; v++)
    doc_reals(d, values[v].name, DOC_NULLABLE, "", "", m.then[v], m.typical[v]);
  doc_text(d, "throttled", DOC_ANY, "", policy_reasons_text(m.throttle, text, sizeof text));
  doc_list(d, "changed", 0, "", 1);
  for (size_t f = 0; doc_each(d, f, FACTS); f++)
    if (d->schema || m.changed >> f & 1) doc_text(d, NULL, DOC_ANY, "", facts[f].name);
  doc_end(d);
  doc_end(d);
}

const char *suspect_slowdown(const struct judge_run *run, const struct slowdown *s, char *text, size_t size)
{
  const struct concurrent m = concurrent_read(run, s);
  char words[400];
  suspect_name(run, s->rank, text, size);
  concurrent_text(&m, words, sizeof words);
  suspect_append(text, size,
                 ": %s was %.2f times its usual from second %.1f to %.1f of the run, blocks %d to %d%s",
                 judge_of_names[s->of], s->slowness, s->begin, s->end, s->first, s->last, words);
  if (s->of == JUDGE_EXCHANGE) link_ends(run, s->rank, s, text, size);
  return text;
}
