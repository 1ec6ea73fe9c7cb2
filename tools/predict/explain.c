/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/predict/predict.h"
#include "tools/predict/workload.h"

/* Errors that need no word: of what one launch sends, and of all else. */
#define GOAL_AT_ONCE 0.08
#define GOAL         0.12
/* A share of the error that is the most of it. */
#define MOST 0.5
/* So many runs bound by their exchange tell what it costs. */
#define RUNS_TELL 3
/* As long as each other are parts of which the shorter is such a share. */
#define BALANCED 0.75
/* From a C-th to so many times C points the cache fills. */
#define CACHE_NEAR 4.0

/** What is asked of the runs fitted, without the pair's group where \a left_out, and of those that
 * were measured as it was. */
struct question {
  const struct validate_pair *pair;
  const struct study *fitted, *beside;
  const struct model *model;
  int left_out;
};

static int stays(const struct question *q, const struct study_run *run)
{
  return !q->left_out || !validate_is_left(q->pair->kind, run, q->pair->left);
}

static const char *name_of(const struct study_run *run)
{
  const char *slash = strrchr(run->file, '/');
  return slash ? slash + 1 : run->file;
}

static int is_noisy(const struct question *q, char why[STUDY_WHY])
{
  const struct study_run *run = &q->pair->run;
  snprintf(why, STUDY_WHY, "its blocks differ by %.1f%%", 100 * run->noise);
  return run->noise >= MOST * fabs(log1p(q->pair->error));
}

/* Bound by its exchange, as the model has it: what it computes does not count. */
static int is_exchange(const struct question *q, const struct study_run *run, struct geometry *g)
{
  static const struct model_scale as_measured = {1, 1};
  struct model_time time;
  return run->ranks > 1 && run->overlap && strcmp(run->transport, q->pair->run.transport) == 0 &&
         workload_geometry(run, study_per_host(run), g) == STATUS_OK &&
         model_predict(q->model, g, run->transport, &as_measured, &time) == STATUS_OK &&
         strncmp(time.limit, "exchange", 8) == 0;
}

static int same_bytes(const struct geometry *a, const struct geometry *b)
{
  return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0 && a->host_bytes == b->host_bytes;
}

/* Another of the same grid, cut and transport, or of the same messages where only they count, took
 * a time that is nearer to the prediction by the most of the error. */
static int has_twin(const struct question *q, char why[STUDY_WHY])
{
  const struct study_run *run = &q->pair->run;
  struct geometry mine, other;
  const int exchange = is_exchange(q, run, &mine);
  for (int r = 0; r < q->beside->n; r++) {
    const struct study_run *twin = &q->beside->runs[r];
    const int same = study_same_configuration(run, twin);
    if (log(twin->seconds / run->seconds) / log1p(q->pair->error) < MOST) continue;
    if (!same &&
        !(exchange && study_same_cut(run, twin) && is_exchange(q, twin, &other) && same_bytes(&mine, &other)))
      continue;
    snprintf(why, STUDY_WHY, "%s took %.4g us%s", name_of(twin), 1e6 * twin->seconds,
             same ? "" : ", with the same messages");
    return 1;
  }
  return 0;
}

/* The model has the longer of both, and copies and small kernels take time beside a sweep. */
static int is_balanced(const struct question *q, char why[STUDY_WHY])
{
  const struct model_time *t = &q->pair->time;
  const double exchange = t->latency + t->bytes;
  snprintf(why, STUDY_WHY, "%s and exchange are about as long, %.4g and %.4g us, and hinder each other",
           workloads[q->model->program].work, 1e6 * t->interior, 1e6 * exchange);
  return q->pair->time.overlap > 0 && q->pair->error < 0 &&
         fmin(t->interior, exchange) > BALANCED * fmax(t->interior, exchange);
}

/* Repeated runs by this way differ as much. */
static int is_scatter(const struct question *q, char why[STUDY_WHY])
{
  double most = 0;
  for (int r = 0; r < q->beside->n; r++)
    for (int s = 0; s < r; s++) {
      const struct study_run *a = &q->beside->runs[r], *b = &q->beside->runs[s];
      if (study_same_configuration(a, b) && (a->ranks == 1) == (q->pair->run.ranks == 1) &&
          (a->ranks == 1 || strcmp(a->transport, q->pair->run.transport) == 0))
        most = fmax(most, fabs(log(a->seconds / b->seconds)));
    }
  snprintf(why, STUDY_WHY, "repeated runs by its way differ by up to %.1f%%", 100 * expm1(most));
  return most >= fabs(log1p(q->pair->error));
}

static int is_elsewhere(const struct question *q, char why[STUDY_WHY])
{
  const struct study_run *run = &q->pair->run;
  int elsewhere = 0, all = 0;
  for (int r = 0; r < q->fitted->n; r++) {
    const struct study_run *other = &q->fitted->runs[r];
    if (!stays(q, other)) continue;
    all++;
    elsewhere += study_other_machine(run, other);
  }
  snprintf(why, STUDY_WHY, "on another machine than %d of the %d runs fitted", elsewhere, all);
  return elsewhere > all / 2;
}

static int is_host_full(const struct question *q, char why[STUDY_WHY])
{
  const struct geometry *mine = &q->pair->geometry;
  struct geometry g;
  double most = 0;
  if (q->fitted->n == 0) return 0; /* a model alone: what it was fitted to is not known */
  for (int r = 0; r < q->fitted->n; r++)
    if (stays(q, &q->fitted->runs[r]) && is_exchange(q, &q->fitted->runs[r], &g))
      most = fmax(most, g.host_bytes);
  snprintf(why, STUDY_WHY, "its host's ranks send %.3g MB at once, and %.3g in the runs fitted",
           1e-6 * mine->host_bytes, 1e-6 * most);
  return mine->neighbours > 0 && !model_at_once(q->pair->run.transport) && mine->host_bytes > 1.5 * most;
}

static int is_untold(const struct question *q, char why[STUDY_WHY])
{
  struct geometry g;
  int n = 0;
  if (q->fitted->n == 0 || !is_exchange(q, &q->pair->run, &g)) return 0;
  for (int r = 0; r < q->fitted->n; r++)
    n += stays(q, &q->fitted->runs[r]) && is_exchange(q, &q->fitted->runs[r], &g);
  snprintf(why, STUDY_WHY, "of the runs fitted %d %s bound by the exchange by %s", n, n == 1 ? "is" : "are",
           q->pair->run.transport);
  return n < RUNS_TELL;
}

static int is_at_the_end(const struct question *q, char why[STUDY_WHY])
{
  const int small = q->pair->time.extrapolated & BEYOND_SMALL;
  snprintf(why, STUDY_WHY, "%s %ss a rank than any run fitted: %.3g", small ? "fewer" : "more",
           workloads[q->model->program].point, q->pair->geometry.points);
  return q->pair->time.extrapolated & (BEYOND_SMALL | BEYOND_LARGE);
}

/* Between what fits into the cache and what does not a run's neighbours tell little of it. */
static int is_in_the_cache(const struct question *q, char why[STUDY_WHY])
{
  const double share = q->pair->geometry.points / q->model->cache_points;
  snprintf(why, STUDY_WHY, "a rank's points are %.2g times what the cache holds", share);
  return q->left_out && q->pair->kind == KIND_SIZE && q->model->cache_points > 0 &&
         fabs(log(share)) < log(CACHE_NEAR) && strcmp(q->pair->time.limit, "interior") == 0;
}

struct explained predict_explain(const struct predict *p, const struct validate_table *table,
                                 const struct validate_pair *pair)
{
  static const struct {
    const char *cause;
    int (*is)(const struct question *, char why[STUDY_WHY]);
  } causes[] = {{"noisy", is_noisy},         {"a twin differs", has_twin},
                {"full host", is_host_full}, {"another machine", is_elsewhere},
                {"untold", is_untold},       {"end of the range", is_at_the_end},
                {"balanced", is_balanced},   {"cache", is_in_the_cache},
                {"scatter", is_scatter}};
  const int left_out = table == &p->validation;
  const struct question question = {pair, &p->study, left_out ? &p->study : &p->beside, &p->model, left_out};
  const int at_once = pair->run.ranks == 1 || model_at_once(pair->run.transport);
  const double goal = at_once && !(left_out && pair->kind == KIND_SIZE) ? GOAL_AT_ONCE : GOAL;
  struct explained e = {.cause = NULL};
  if (!pair->predicted || (!validate_is_outside(pair) && fabs(pair->error) <= goal)) return e;
  log_mute(1);
  for (size_t c = 0; c < sizeof causes / sizeof causes[0] && !e.cause; c++)
    if (causes[c].is(&question, e.why)) e.cause = causes[c].cause;
  log_mute(0);
  if (!e.cause) e = (struct explained){"not explained", "nothing in the documents tells it"};
  return e;
}
