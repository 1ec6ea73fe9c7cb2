/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/predict/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"

const char *validate_kind_name(enum validate_kind kind)
{
  static const char *const names[] = {"ranks", "size", "cut"};
  return names[kind];
}

/* What of a run belongs to a kind, as text. */
static void label(enum validate_kind kind, const struct study_run *run, char text[STUDY_TEXT])
{
  if (kind == LEFT_RANKS) snprintf(text, STUDY_TEXT, "%d ranks", run->ranks);
  if (kind == LEFT_SIZE) snprintf(text, STUDY_TEXT, "size %.50s", run->size);
  if (kind == LEFT_CUT)
    snprintf(text, STUDY_TEXT, "cut %dx%dx%d", run->procs[0], run->procs[1], run->procs[2]);
}

static int is_left(enum validate_kind kind, const struct study_run *run, const char *left)
{
  char text[STUDY_TEXT];
  label(kind, run, text);
  return strcmp(text, left) == 0;
}

/* Each run is left out at most once of a kind. */
static status_t table_make(const struct study *study, int kinds, struct validate_table *table)
{
  *table = (struct validate_table){.pairs = calloc((size_t)(kinds * study->n) + 1, sizeof *table->pairs)};
  return table->pairs ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of memory for the validation");
}

/* A model may be unable to predict a run: that is a result too. */
static void run_predict(const struct model *model, const struct study_run *run, struct validate_pair *pair)
{
  static const struct model_scale as_measured = {1, 1};
  struct geometry geometry;
  int per_host = study_per_host(run);
  log_mute(1);
  pair->predicted =
      geometry_make(run->global, run->procs, run->depth, run->overlap, per_host, &geometry) == STATUS_OK &&
      model_slowest(model, per_host, run->transport, &as_measured, &geometry, &pair->time) == STATUS_OK;
  log_mute(0);
  pair->error = pair->predicted ? pair->time.seconds / run->seconds - 1 : 0;
}

static status_t leave_out(const struct study *study, const struct study_paths *paths, enum validate_kind kind,
                          const char *left, struct validate_table *table)
{
  struct study rest = {.runs = calloc((size_t)study->n + 1, sizeof *rest.runs)};
  struct model *model = calloc(1, sizeof *model);
  status_t status = STATUS_OK;
  if (!rest.runs || !model) status = log_fail(STATUS_ENVIRONMENT, "out of memory for the validation");
  for (int r = 0; r < study->n && status == STATUS_OK; r++)
    if (!is_left(kind, &study->runs[r], left)) rest.runs[rest.n++] = study->runs[r];
  log_mute(1);
  int fits = status == STATUS_OK && model_fit(&rest, paths, model) == STATUS_OK;
  log_mute(0);
  for (int r = 0; r < study->n && status == STATUS_OK; r++) {
    struct validate_pair *pair = &table->pairs[table->n];
    if (!is_left(kind, &study->runs[r], left)) continue;
    *pair = (struct validate_pair){.kind = kind, .run = study->runs[r]};
    snprintf(pair->left, sizeof pair->left, "%s", left);
    if (fits) run_predict(model, &pair->run, pair);
    table->n++;
  }
  free(model);
  study_free(&rest);
  return status;
}

/* Whether this run's group is one to leave out, and the first run of it. */
static int begins_group(const struct study *study, enum validate_kind kind, int r)
{
  char text[STUDY_TEXT];
  int most = 0;
  const struct study_run *run = &study->runs[r];
  for (int s = 0; s < study->n; s++)
    if (study->runs[s].ranks > most) most = study->runs[s].ranks;
  if (kind == LEFT_RANKS && (run->ranks != most || most == 1)) return 0;
  if (kind == LEFT_CUT && run->ranks == 1) return 0;
  label(kind, run, text);
  for (int s = 0; s < r; s++)
    if (is_left(kind, &study->runs[s], text)) return 0;
  return 1;
}

status_t validate_run(const struct study *study, const struct study_paths *paths,
                      struct validate_table *table)
{
  char left[STUDY_TEXT];
  struct validate_table t;
  RETURN_IF_FAILED(table_make(study, LEFT_CUT + 1, &t));
  for (int kind = LEFT_RANKS; kind <= LEFT_CUT; kind++)
    for (int r = 0; r < study->n; r++) {
      if (!begins_group(study, (enum validate_kind)kind, r)) continue;
      label((enum validate_kind)kind, &study->runs[r], left);
      status_t status = leave_out(study, paths, (enum validate_kind)kind, left, &t);
      if (status == STATUS_OK) continue;
      validate_free(&t);
      return status;
    }
  *table = t;
  return STATUS_OK;
}

status_t validate_against(const struct model *model, const struct study *study, struct validate_table *table)
{
  struct validate_table t;
  RETURN_IF_FAILED(table_make(study, 1, &t));
  for (; t.n < study->n; t.n++) {
    struct validate_pair *pair = &t.pairs[t.n];
    *pair = (struct validate_pair){.kind = LEFT_RANKS, .run = study->runs[t.n]};
    label(LEFT_RANKS, &pair->run, pair->left);
    run_predict(model, &pair->run, pair);
  }
  *table = t;
  return STATUS_OK;
}

void validate_free(struct validate_table *table)
{
  free(table->pairs);
  *table = (struct validate_table){.n = 0};
}

double validate_spread(const struct validate_table *table, enum validate_kind kind, const char *transport)
{
  double squares = 0;
  int n = 0;
  for (int p = 0; p < table->n; p++) {
    const struct validate_pair *pair = &table->pairs[p];
    if (pair->kind != kind || !pair->predicted) continue;
    if (transport && (pair->run.ranks == 1 || strcmp(pair->run.transport, transport) != 0)) continue;
    squares += pow(log(pair->time.seconds / pair->run.seconds), 2);
    n++;
  }
  return n > 0 ? sqrt(squares / n) : 0;
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
