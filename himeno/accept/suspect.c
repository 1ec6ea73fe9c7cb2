/* SPDX-License-Identifier: MIT */
#include "himeno/accept/suspect.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"

/* A clock this much below the usual is worth a word. */
#define CLOCK_LEAST 0.02

/* Degrees more than else that are. */
#define CELSIUS_LEAST 5

/* Power this much below or above. */
#define WATTS_LEAST 0.1

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
  size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  if (used + 1 < size) vsnprintf(text + used, size - used, format, arguments);
  va_end(arguments);
}

const char *suspect_name(const struct himeno_result *result, int rank, char *text, size_t size)
{
  const struct rank_row *row = &result->ranks[rank].row;
  snprintf(text, size, "rank %d on %s, %s", rank, row->host, rank_device(row));
  return text;
}

/* ---- what differs ---- */

static int numa_apart(const struct rank_row *row)
{
  return row->info.numa >= 0 && row->numa >= 0 && row->info.numa != row->numa;
}

/* A whole number of a rank, by its place there. */
#define OF(field) offsetof(struct himeno_rank, telemetry.field)

static int number_of(const struct himeno_result *result, int rank, size_t of)
{
  return *(const int *)((const char *)&result->ranks[rank] + of);
}

static double usual(const struct himeno_result *result, size_t of)
{
  int n = 0;
  double values[result->n_ranks];
  values[0] = -1;
  for (int r = 0; r < result->n_ranks; r++)
    if (number_of(result, r, of) >= 0) values[n++] = number_of(result, r, of);
  return stats_summarise(values, (size_t)n).median;
}

static void differ(const struct himeno_result *result, int rank, size_t of, double least, const char *what,
                   char *text, size_t size)
{
  double mine = result->n_ranks > 1 ? number_of(result, rank, of) : -1, others = usual(result, of);
  if (mine < 0 || mine >= others * (1 - least)) return;
  append(text, size, "%s%s %.0f where %.0f is usual", text[0] ? ", " : "", what, mine, others);
}

static void differ_throttle(const struct himeno_rank *r, char *text, size_t size)
{
  char reasons[120];
  const struct record_telemetry *t = &r->telemetry;
  if (t->throttled == 0) return;
  append(text, size, "%sthrottled in %d of %d block%s (%s)", text[0] ? ", " : "", t->throttled, t->samples,
         t->samples == 1 ? "" : "s", telemetry_throttle_text(record_reasons(t), reasons, sizeof reasons));
}

const char *suspect_differs(const struct himeno_result *result, int rank, char *text, size_t size)
{
  const struct himeno_rank *r = &result->ranks[rank];
  text[0] = 0;
  differ(result, rank, OF(low.sm_mhz), CLOCK_LEAST, "clock in MHz", text, size);
  differ_throttle(r, text, size);
  differ(result, rank, OF(after.pcie_width), 0, "PCIe lanes", text, size);
  differ(result, rank, OF(after.pcie_gen), 0, "PCIe generation", text, size);
  if (numa_apart(&r->row))
    append(text, size, "%scores on NUMA node %d, device on %d", text[0] ? ", " : "", r->row.numa,
           r->row.info.numa);
  if (r->row.shared) append(text, size, "%sdevice shared with other ranks", text[0] ? ", " : "");
  if (r->row.overlap) append(text, size, "%scores shared with other ranks", text[0] ? ", " : "");
  if (!text[0]) append(text, size, "nothing that its device tells differs");
  return text;
}

/* ---- counters ---- */

static int is_fault(enum telemetry_fact counter)
{
  return counter != FACT_NVLINK_CRC;
}

/* The sum of all, or of faults alone, negative where nobody counts; and in words. */
static double counted(const struct himeno_result *result, int rank, int faults, char *text, size_t size)
{
  const struct record_telemetry *t = &result->ranks[rank].telemetry;
  char detail[TELEMETRY_DETAIL_BYTES];
  double all = -1;
  text[0] = 0;
  for (enum telemetry_fact c = 0; c < TELEMETRY_COUNTERS; c++) {
    const int64_t rise = faults && !is_fault(c) ? TELEMETRY_UNKNOWN : record_rise(t, c);
    if (rise >= 0) all = (all < 0 ? 0 : all) + (double)rise;
    if (rise <= 0) continue;
    telemetry_fact_detail(&t->after, c, detail);
    append(text, size, "%s%s %lld%s%s%s", text[0] ? ", " : "", telemetry_counter_words[c], (long long)rise,
           detail[0] ? " (the last: " : "", detail, detail[0] ? ")" : "");
  }
  return all;
}

const char *suspect_counted(const struct himeno_result *result, int rank, char *text, size_t size)
{
  counted(result, rank, 0, text, size);
  return text;
}

static void uncounted(const struct himeno_result *result, char *text, size_t size)
{
  text[0] = 0;
  for (enum telemetry_fact c = 0; c < TELEMETRY_COUNTERS; c++) {
    int told = !is_fault(c);
    for (int r = 0; r < result->n_ranks; r++) told |= record_rise(&result->ranks[r].telemetry, c) >= 0;
    if (!told) append(text, size, "%s%s", text[0] ? ", " : "cannot be read: ", telemetry_counter_words[c]);
  }
}

double suspect_most_counted(const struct himeno_result *result, int *rank, char *text, size_t size)
{
  double most = NAN;
  int worst = 0;
  for (int r = 0; r < result->n_ranks; r++) {
    const double all = counted(result, r, 1, text, size);
    if (all < 0 || all <= most) continue;
    most = all;
    worst = r;
  }
  *rank = most > 0 ? worst : -1;
  if (most > 0)
    counted(result, worst, 1, text, size);
  else
    uncounted(result, text, size);
  return most;
}

/* ---- stragglers ---- */

static int is_straggler(const struct himeno_result *result, int rank, enum straggler_of of)
{
  int n = result->n_stragglers < HIMENO_STRAGGLERS_MAX ? result->n_stragglers : HIMENO_STRAGGLERS_MAX;
  for (int s = 0; s < n; s++)
    if (result->stragglers[s].rank == rank && result->stragglers[s].of == of) return 1;
  return 0;
}

/* Whether a rank's exchange was slow for half the time of another's episode, or more. */
static int was_slow_with(const struct himeno_result *result, int rank, const struct episode *e)
{
  const int n = result->n_episodes < HIMENO_EPISODES_MAX ? result->n_episodes : HIMENO_EPISODES_MAX;
  for (int o = 0; o < n; o++) {
    const struct episode *other = &result->episodes[o];
    const double common = fmin(e->end, other->end) - fmax(e->begin, other->begin);
    if (other->rank == rank && other->of == STRAGGLER_EXCHANGE && common >= 0.5 * (e->end - e->begin))
      return 1;
  }
  return 0;
}

/* Both ends of a bad link are slow in exchange; of one that was bad for a while, in the same
 * \a episode, NULL otherwise. */
static void link_ends(const struct himeno_result *result, int rank, const struct episode *episode, char *text,
                      size_t size)
{
  const struct himeno_rank *r = &result->ranks[rank];
  for (int m = 0; m < r->n_paths; m++) {
    const struct himeno_path *path = &r->paths[m];
    if (episode ? !was_slow_with(result, path->peer, episode)
                : !is_straggler(result, path->peer, STRAGGLER_EXCHANGE))
      continue;
    append(text, size, "; so %s its neighbour %s, rank %d on %s: suspect the link between them",
           episode ? "was" : "is", path->face, path->peer, result->ranks[path->peer].row.host);
    return;
  }
}

const char *suspect_straggler(const struct himeno_result *result, const struct straggler *s, char *text,
                              size_t size)
{
  char differs[300];
  text[0] = 0;
  suspect_name(result, s->rank, text, size);
  append(text, size, ": %s is %.2f times the usual (limit %.2f), beyond it in %d of %d blocks; %s",
         straggler_of_name(s->of), s->slowness, s->limit, s->beyond, result->kept_blocks,
         suspect_differs(result, s->rank, differs, sizeof differs));
  if (s->of == STRAGGLER_EXCHANGE) link_ends(result, s->rank, NULL, text, size);
  return text;
}

/* ---- ways ---- */

/* 2 all the time, 1 for a while. Exchange tells nothing of a device: of a bad link's two ends one
 * alone may be found slow in it. */
static int computes_slowly(const struct himeno_result *result, int rank)
{
  const int n = result->n_episodes < HIMENO_EPISODES_MAX ? result->n_episodes : HIMENO_EPISODES_MAX;
  int once = 0;
  for (int e = 0; e < n; e++)
    once |= result->episodes[e].rank == rank && result->episodes[e].of == STRAGGLER_COMPUTE;
  return is_straggler(result, rank, STRAGGLER_COMPUTE) ? 2 : once;
}

void suspect_end(const struct himeno_result *result, int *rank, int peer, char *text, size_t size)
{
  const int change = computes_slowly(result, peer) > computes_slowly(result, *rank);
  snprintf(text, size, "to rank %d", change ? *rank : peer);
  if (change) *rank = peer;
}

/* ---- episodes ---- */

/* Rows of the rank's series that begin in the episode, or those that do not. */
struct rows {
  const struct telemetry_sample *row;
  int n, first, last, inside;
};

static struct rows rows_of(const struct himeno_result *result, const struct episode *e, int inside)
{
  const struct record_telemetry *t = &result->ranks[e->rank].telemetry;
  int each = t->each > 0 ? t->each : 1;
  return (struct rows){result->series + (size_t)e->rank * (size_t)t->rows, t->rows, e->first / each,
                       e->last / each, inside};
}

static int is_of(const struct rows *rows, int row)
{
  return (row >= rows->first && row <= rows->last) == rows->inside;
}

/* −1 where no row tells. */
static double median_of(const struct rows *rows, enum telemetry_value value)
{
  int n = 0;
  double values[SERIES_ROWS_MAX];
  for (int r = 0; r < rows->n; r++) {
    const double one = telemetry_value(&rows->row[r], value);
    if (is_of(rows, r) && one >= 0) values[n++] = one;
  }
  return n > 0 ? stats_summarise(values, (size_t)n).median : -1;
}

static int throttle_of(const struct rows *rows)
{
  int all = 0;
  for (int r = 0; r < rows->n; r++)
    if (is_of(rows, r) && rows->row[r].throttle > 0) all |= rows->row[r].throttle;
  return all;
}

struct suspect_meanwhile suspect_meanwhile(const struct himeno_result *result, const struct episode *e)
{
  const struct rows then = rows_of(result, e, 1), else_ = rows_of(result, e, 0);
  const struct record_telemetry *t = &result->ranks[e->rank].telemetry;
  struct suspect_meanwhile m = {.throttle = throttle_of(&then) & ~throttle_of(&else_)};
  for (enum telemetry_value v = 0; v < TELEMETRY_VALUES; v++) {
    m.then[v] = median_of(&then, v);
    m.usual[v] = median_of(&else_, v);
  }
  for (int c = 0; c < t->n_changes && c < RECORD_CHANGES_MAX; c++)
    if (t->changes[c].block >= e->first && t->changes[c].block <= e->last) m.changed |= 1 << t->changes[c].of;
  return m;
}

static void meanwhile_text(const struct suspect_meanwhile *m, char *text, size_t size)
{
  /* What is worth a word: less, or more, by a share or by so much. */
  static const struct {
    enum telemetry_value value;
    double less, more_share, more;
    const char *format;
  } words[] = {{TELEMETRY_SM_MHZ, CLOCK_LEAST, 9, 0, ", clock %.0f MHz and else %.0f"},
               {TELEMETRY_MEMORY_MHZ, CLOCK_LEAST, 9, 0, ", memory's clock %.0f MHz and else %.0f"},
               {TELEMETRY_CELSIUS, 9, 0, CELSIUS_LEAST, ", %.0f C and else %.0f"},
               {TELEMETRY_WATTS, WATTS_LEAST, WATTS_LEAST, 0, ", %.0f W and else %.0f"}};
  char reasons[TELEMETRY_THROTTLE_BYTES];
  text[0] = 0;
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    const double then = m->then[words[w].value], usual = m->usual[words[w].value];
    if (then < 0 || usual < 0) continue;
    if (then < usual * (1 - words[w].less) || then >= usual * (1 + words[w].more_share) + words[w].more)
      append(text, size, words[w].format, then, usual);
  }
  if (m->throttle)
    append(text, size, ", throttled then alone (%s)",
           telemetry_throttle_text(m->throttle, reasons, sizeof reasons));
  for (enum telemetry_fact f = 0; f < TELEMETRY_FACTS; f++)
    if (m->changed >> f & 1) append(text, size, ", %s changed", telemetry_fact_names[f]);
  if (!text[0]) append(text, size, ", nothing that its device tells was different");
}

const char *suspect_episode(const struct himeno_result *result, const struct episode *e, char *text,
                            size_t size)
{
  const struct suspect_meanwhile m = suspect_meanwhile(result, e);
  char told[400];
  text[0] = 0;
  suspect_name(result, e->rank, text, size);
  meanwhile_text(&m, told, sizeof told);
  append(text, size, ": %s was %.2f times its usual from second %.1f to %.1f of the run, blocks %d to %d%s",
         straggler_of_name(e->of), e->slowness, e->begin, e->end, e->first, e->last, told);
  if (e->of == STRAGGLER_EXCHANGE) link_ends(result, e->rank, e, text, size);
  return text;
}
