/* SPDX-License-Identifier: MIT */
#include "tools/predict/validate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "suite/progress.h"
#include "tools/predict/workload.h"

/* Writes the property by which a kind groups runs: the ranks, the size or the cut. */
static void label(enum model_kind kind, const struct study_run *run, char text[STUDY_TEXT])
{
  if (kind == KIND_RANKS) snprintf(text, STUDY_TEXT, "%d rank%s", run->ranks, run->ranks == 1 ? "" : "s");
  if (kind == KIND_SIZE) snprintf(text, STUDY_TEXT, "size %.50s", run->size);
  char cut[STUDY_TEXT];
  if (kind == KIND_CUT) snprintf(text, STUDY_TEXT, "cut %.50s", study_cut_text(run->procs, cut));
}

static int is_left(enum model_kind kind, const struct study_run *run, const char *left)
{
  char text[STUDY_TEXT];
  label(kind, run, text);
  return strcmp(text, left) == 0;
}

/* Allocates a table of one pair per run and kind: per kind, a run is left out at most once. */
static status_t validate_table_make(const struct study *study, int kinds, struct validate_table *table)
{
  *table = (struct validate_table){.pairs = calloc((size_t)(kinds * study->n) + 1, sizeof *table->pairs)};
  return table->pairs ? STATUS_OK
                      : log_fail(STATUS_ENVIRONMENT, "out of host memory for the comparison with runs");
}

static const struct model_scale as_measured = {1, 1};

/* Predicts one run. A failed prediction is stored in the pair, and is not an error. */
static void run_predict(const struct model *model, const struct study_run *run, struct validate_pair *pair)
{
  int per_host = study_per_host(run);
  log_mute(1);
  pair->predicted =
      workload_geometry(run, per_host, &pair->geometry) == STATUS_OK &&
      model_slowest(model, per_host, run->transport, &as_measured, &pair->geometry, &pair->time) == STATUS_OK;
  log_mute(0);
  pair->via = run->ranks > 1 ? study_transport_find(&model->terms.paths, run->transport) : -1;
  if (!pair->predicted) return;
  pair->error = pair->time.seconds / run->seconds - 1;
  model_beyonds(&model->range, &pair->geometry, run->size, pair->beyond);
  model_interval(model, &pair->geometry, run->transport, &as_measured, run->size, &pair->time);
}

/* Fits the runs that are not left out. *fits is 0 if they are too few. */
static status_t rest_fit(const struct study *study, const struct study_paths *paths, enum model_kind kind,
                         const char *left, const struct model_terms *from, int replicates, struct study *rest,
                         struct model *model, int *fits)
{
  *rest = (struct study){.program = study->program, .runs = calloc((size_t)study->n + 1, sizeof *rest->runs)};
  if (!rest->runs) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the comparison with runs");
  for (int r = 0; r < study->n; r++)
    if (!is_left(kind, &study->runs[r], left)) rest->runs[rest->n++] = study->runs[r];
  log_mute(1);
  *fits = model_fit(rest, paths, from, replicates, model) == STATUS_OK;
  log_mute(0);
  return STATUS_OK;
}

static status_t groups_leave(const struct study *study, const struct study_paths *paths,
                             const struct model_terms *from, int nested, struct validate_table *table);

/* Leaves out a group of runs and predicts it from the other runs. If \a nested is 1, the widths of
 * the intervals come from leaving out groups of the remaining runs in turn. */
static status_t leave_out(const struct study *study, const struct study_paths *paths, enum model_kind kind,
                          const char *left, const struct model_terms *from, int nested,
                          struct validate_table *table)
{
  struct study rest = {.n = 0};
  struct validate_table inner = {.n = 0};
  struct model *model = calloc(1, sizeof *model);
  int fits = 0;
  status_t status;
  if (!model) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the comparison with runs");
  TRY(rest_fit(study, paths, kind, left, from, nested, &rest, model, &fits), done);
  if (fits && nested) {
    TRY(groups_leave(&rest, paths, &model->terms, 0, &inner), done);
    validate_widen(&inner, model);
  }
  for (int r = 0; r < study->n; r++) {
    struct validate_pair *pair = &table->pairs[table->n];
    if (!is_left(kind, &study->runs[r], left)) continue;
    *pair = (struct validate_pair){.kind = kind, .run = study->runs[r]};
    snprintf(pair->left, sizeof pair->left, "%s", left);
    if (fits) run_predict(model, &pair->run, pair);
    table->n++;
  }
done:
  validate_free(&inner);
  free(model);
  study_free(&rest);
  return status;
}

/* Returns whether run \a r is the first one of a group to leave out. */
static int begins_group(const struct study *study, enum model_kind kind, int r)
{
  char text[STUDY_TEXT];
  int most = 0;
  const struct study_run *run = &study->runs[r];
  for (int s = 0; s < study->n; s++)
    if (study->runs[s].ranks > most) most = study->runs[s].ranks;
  if (kind == KIND_RANKS && (run->ranks != most || most == 1)) return 0;
  if (kind == KIND_CUT && run->ranks == 1) return 0;
  label(kind, run, text);
  for (int s = 0; s < r; s++)
    if (is_left(kind, &study->runs[s], text)) return 0;
  return 1;
}

static status_t groups_leave(const struct study *study, const struct study_paths *paths,
                             const struct model_terms *from, int nested, struct validate_table *table)
{
  char left[STUDY_TEXT];
  struct validate_table t;
  RETURN_IF_FAILED(validate_table_make(study, KINDS, &t));
  for (int kind = 0; kind < KINDS; kind++)
    for (int r = 0; r < study->n; r++) {
      if (!begins_group(study, (enum model_kind)kind, r)) continue;
      label((enum model_kind)kind, &study->runs[r], left);
      progress_tick();
      status_t status = leave_out(study, paths, (enum model_kind)kind, left, from, nested, &t);
      if (status == STATUS_OK) continue;
      validate_free(&t);
      return status;
    }
  *table = t;
  return STATUS_OK;
}

status_t validate_run(const struct study *study, const struct study_paths *paths,
                      const struct model_terms *from, struct validate_table *table)
{
  return groups_leave(study, paths, from, 1, table);
}

/* needed() returns the widening, beyond the model's own half width, with which intervals contain
 * 90% of the runs left out for a kind: per step in size, per cut, or per doubling of ranks. \a via
 * selects runs by a transport, runs on one rank (−1), or all runs (ANY_TRANSPORT). If there are
 * ENOUGH runs by a transport, other runs are not used for it. */
#define ANY_TRANSPORT (-2)
#define ENOUGH        10
#define FEW_FACTOR    1.1
/* Largest shift of the times between ranks, as logarithm, that can explain a run's error. */
#define SHIFT_MOST 1.0

/* Returns the shift, as logarithm, of all times between ranks that changes a run's time by \a
 * shift, as logarithm. \a sign is 1 for longer times and −1 for shorter ones. */
static double shift_needed(const struct model_terms *terms, const struct validate_pair *pair, int sign,
                           double shift)
{
  double least = 0, most = shift > 0 ? SHIFT_MOST : 0;
  for (int step = 0; step < 40; step++) {
    const double middle = (least + most) / 2;
    const int enough =
        model_shift(terms, &pair->geometry, pair->via, &as_measured, exp(sign * middle)) >= shift;
    *(enough ? &most : &least) = middle;
  }
  return most < SHIFT_MOST ? most : shift;
}

static double needed(const struct validate_table *table, const struct model *model, enum model_kind kind,
                     int via, int *n)
{
  double *values = calloc((size_t)table->n + 1, sizeof *values), found = 0;
  *n = 0;
  for (int p = 0; values && p < table->n; p++) {
    const struct validate_pair *pair = &table->pairs[p];
    if (pair->kind != kind || !pair->predicted || (via != ANY_TRANSPORT && pair->via != via)) continue;
    const double half = model_half(model, &pair->geometry, pair->via, &as_measured, &pair->time),
                 error = log(pair->time.seconds / pair->run.seconds);
    const double missing = sqrt(fmax(error * error - half * half, 0));
    values[(*n)++] =
        (kind == KIND_RANKS ? shift_needed(&model->terms, pair, error > 0 ? -1 : 1, missing) : missing) /
        fmax(pair->beyond[kind], 1);
  }
  if (*n > 0) {
    const int enough = ceil(0.9 * (*n + 1)) <= *n;
    found = (enough ? 1 : FEW_FACTOR) * student_order(values, *n, 0.9);
  }
  free(values);
  return found;
}

static double transport_needs(const struct validate_table *table, const struct model *model,
                              enum model_kind kind, int via)
{
  int n, all;
  const double own = needed(table, model, kind, via, &n),
               any = needed(table, model, kind, ANY_TRANSPORT, &all);
  return n >= ENOUGH ? own : fmax(own, any);
}

static void offs_set(const struct validate_table *table, const struct model *model, int via,
                     double off[KINDS])
{
  double most = 0;
  int n[KINDS];
  for (int kind = 0; kind < KINDS; kind++) {
    off[kind] = transport_needs(table, model, (enum model_kind)kind, via);
    needed(table, model, (enum model_kind)kind, ANY_TRANSPORT, &n[kind]);
    most = fmax(most, off[kind]);
  }
  /* if no run of a kind could be left out, use the largest value of the other kinds */
  for (int kind = 0; kind < KINDS; kind++)
    if (n[kind] == 0) off[kind] = most;
}

void validate_widen(const struct validate_table *table, struct model *model)
{
  double off[STUDY_TRANSPORTS_MAX + 1][KINDS];
  for (int w = 0; w < model->terms.paths.n; w++) offs_set(table, model, w, off[w]);
  offs_set(table, model, -1, off[STUDY_TRANSPORTS_MAX]);
  memcpy(model->errors.transport_off, off, sizeof model->errors.transport_off);
  memcpy(model->errors.off, off[STUDY_TRANSPORTS_MAX], sizeof model->errors.off);
}

status_t validate_against(const struct model *model, const struct study *study, struct validate_table *table)
{
  struct validate_table t;
  RETURN_IF_FAILED(validate_table_make(study, 1, &t));
  for (; t.n < study->n; t.n++) {
    struct validate_pair *pair = &t.pairs[t.n];
    *pair = (struct validate_pair){.kind = KIND_RANKS, .run = study->runs[t.n]};
    label(KIND_RANKS, &pair->run, pair->left);
    run_predict(model, &pair->run, pair);
  }
  *table = t;
  return STATUS_OK;
}

/* A run is an outlier if its error, as logarithm, exceeds OUTLIER_SPREADS times the spread of its
 * transport's runs, and OUTLIER_LEAST. */
#define OUTLIER_SPREADS 8.0
#define OUTLIER_LEAST   0.25
/* At most one in this many runs may be an outlier; if more runs are off, the model is wrong. */
#define OUTLIERS_SHARE 5

/* Returns the spread of the runs by a transport, or of all: 1.4826 times the median of
 * |log(predicted / measured)|. */
static double spread_about(const struct validate_table *table, int via)
{
  double *off = calloc((size_t)table->n + 1, sizeof *off), median = 0;
  size_t n = 0;
  for (int p = 0; off && p < table->n; p++)
    if (table->pairs[p].predicted && (via == ANY_TRANSPORT || table->pairs[p].via == via))
      off[n++] = fabs(log1p(table->pairs[p].error));
  if (off) median = STATS_MAD_SIGMAS * stats_summarise(off, n).median;
  free(off);
  return n >= ENOUGH || via == ANY_TRANSPORT ? median : fmax(median, spread_about(table, ANY_TRANSPORT));
}

/* Returns the run furthest beyond the limit for outliers, or −1 if there is none. */
static int outlier_find(const struct validate_table *table, double *times)
{
  double spread[STUDY_TRANSPORTS_MAX + 1]; /* spread per transport; [0]: of runs on one rank */
  int found = -1;
  *times = OUTLIER_SPREADS;
  for (int via = -1; via < STUDY_TRANSPORTS_MAX; via++)
    spread[via + 1] = fmax(spread_about(table, via), 1e-6);
  for (int p = 0; p < table->n; p++) {
    const struct validate_pair *pair = &table->pairs[p];
    const double off = fabs(log1p(pair->error)), so_often = off / spread[pair->via + 1];
    if (pair->predicted && off > OUTLIER_LEAST && so_often > *times) *times = so_often, found = p;
  }
  return found;
}

static status_t outlier_leave(struct study *study, const struct study_paths *paths, struct model *model,
                              int *left)
{
  struct validate_table table = {.n = 0};
  double times;
  *left = 0;
  log_mute(1);
  status_t fitted = model_fit(study, paths, NULL, 0, model);
  log_mute(0);
  if (fitted != STATUS_OK) return STATUS_OK; /* validate_run reports what is missing */
  RETURN_IF_FAILED(validate_against(model, study, &table));
  const int p = outlier_find(&table, &times);
  status_t status = STATUS_OK;
  if (p >= 0) {
    const struct study_run *run = &study->runs[p];
    status = study_leave(study, LEFT_OUTLIER, run->file,
                         "%.3g us per %s instead of the %.3g expected from the other runs: off by %.0f times "
                         "their spread",
                         1e6 * run->seconds, workloads[run->program].work, 1e6 * table.pairs[p].time.seconds,
                         times);
    study->n--;
    memmove(&study->runs[p], &study->runs[p + 1], (size_t)(study->n - p) * sizeof *study->runs);
    *left = 1;
  }
  validate_free(&table);
  return status;
}

status_t validate_outliers(struct study *study, const struct study_paths *paths)
{
  struct model *model = calloc(1, sizeof *model);
  status_t status = model ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a model");
  for (int most = study->n / OUTLIERS_SHARE, left = 1; left && most > 0 && status == STATUS_OK; most--)
    status = outlier_leave(study, paths, model, &left);
  free(model);
  return status;
}

void validate_free(struct validate_table *table)
{
  free(table->pairs);
  *table = (struct validate_table){.n = 0};
}

int validate_is_outside(const struct validate_pair *pair)
{
  return pair->predicted && pair->time.low > 0 &&
         (pair->run.seconds < pair->time.low || pair->run.seconds > pair->time.high);
}

enum grouping { BY_KIND, BY_TRANSPORT, BY_HOSTS, GROUPINGS };

static void group_name(const struct validate_pair *pair, enum grouping by, char text[STUDY_TEXT])
{
  const int hosts = pair->run.hosts;
  if (by == BY_KIND) snprintf(text, STUDY_TEXT, "%s", model_kind_names[pair->kind]);
  if (by == BY_TRANSPORT)
    snprintf(text, STUDY_TEXT, "%s", pair->run.ranks > 1 ? pair->run.transport : "one rank");
  if (by == BY_HOSTS) snprintf(text, STUDY_TEXT, "%d host%s", hosts, hosts == 1 ? "" : "s");
}

static void covered_add(struct model_coverage *coverage, const char *of, int inside)
{
  int c = 0;
  while (c < coverage->n && strcmp(coverage->group[c].of, of) != 0) c++;
  if (c == MODEL_MEASURED) return;
  struct model_covered *covered = &coverage->group[c];
  if (c == coverage->n) {
    *covered = (struct model_covered){.n = 0};
    snprintf(covered->of, sizeof covered->of, "%s", of);
    coverage->n++;
  }
  covered->inside += inside;
  covered->n++;
}

/* A cause is named if ranks that share a memory are slower by SLOWER_NAMED, if repeated runs differ
 * by NOISE_NAMED, or if there are fewer than SIZES_LEAST sizes. */
#define SLOWER_NAMED 1.2
#define NOISE_NAMED  0.10
#define SIZES_LEAST  3

static void __attribute__((format(printf, 2, 3)))
cause_add(struct model_coverage *coverage, const char *format, ...)
{
  va_list words;
  if (coverage->n_causes == MODEL_CAUSES) return;
  va_start(words, format);
  vsnprintf(coverage->cause[coverage->n_causes++], sizeof coverage->cause[0], format, words);
  va_end(words);
}

/* Returns the relative difference between the slowest and the fastest run of run r's configuration;
 * 0 if it ran once. */
static double repeat_noise(const struct study *study, int r)
{
  double least = INFINITY, most = 0;
  for (int s = 0; s < study->n; s++)
    if (study_same_configuration(&study->runs[r], &study->runs[s]))
      least = fmin(least, study->runs[s].seconds), most = fmax(most, study->runs[s].seconds);
  return most / least - 1;
}

static void causes_find(const struct study *study, struct model_coverage *coverage)
{
  struct model_names sizes = {.n = 0};
  double *repeats = calloc((size_t)study->n + 1, sizeof *repeats);
  size_t n = 0;
  for (int r = 0; r < study->n && repeats; r++) {
    repeats[n] = repeat_noise(study, r);
    n += repeats[n] > 0;
    model_list(&sizes, study->runs[r].size);
  }
  const double noise = repeats ? stats_summarise(repeats, n).median : 0;
  if (noise > NOISE_NAMED)
    cause_add(coverage, "noise: repeats of a run differ by %.0f%% (median)", 100 * noise);
  if (sizes.n < SIZES_LEAST)
    cause_add(coverage, "too few sizes: %d; measure at least %d", sizes.n, SIZES_LEAST);
  free(repeats);
}

void validate_cover(const struct validate_table *table, const struct study *study, struct model *model)
{
  struct model_coverage *coverage = &model->coverage;
  char text[STUDY_TEXT];
  *coverage = (struct model_coverage){.spread = model->errors.spread};
  validate_summary(table, &coverage->median, &coverage->worst, &coverage->predicted);
  for (int by = -1; by < GROUPINGS; by++)
    for (int p = 0; p < table->n; p++) {
      const struct validate_pair *pair = &table->pairs[p];
      if (!pair->predicted || pair->time.low <= 0) continue;
      snprintf(text, sizeof text, "all");
      if (by >= 0) group_name(pair, (enum grouping)by, text);
      covered_add(coverage, text, !validate_is_outside(pair));
    }
  if (coverage->predicted == 0 && model_is_poor(coverage))
    cause_add(coverage, "none of %d left-out runs could be predicted; the fit is off by %.0f%%", table->n,
              100 * coverage->spread);
  const int sharers = model->range.sharers_most;
  const double slower = model_slowdown(model->terms.fitted.share, sharers);
  if (slower > SLOWER_NAMED)
    cause_add(coverage, "ranks share memory bandwidth: each of %d on one memory takes %.2f times as long",
              sharers, slower);
  causes_find(study, coverage);
}

void validate_summary(const struct validate_table *table, double *median, double *worst, int *n)
{
  double *errors = calloc((size_t)table->n + 1, sizeof *errors);
  *n = 0;
  for (int p = 0; errors && p < table->n; p++)
    if (table->pairs[p].predicted) errors[(*n)++] = fabs(table->pairs[p].error);
  struct stats_summary summary = stats_summarise(errors ? errors : &(double){0}, (size_t)*n);
  *median = summary.median;
  *worst = summary.max;
  free(errors);
}
