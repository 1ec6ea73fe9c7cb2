/* SPDX-License-Identifier: MIT */
/* Fitting the model to a study. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "himeno/predict/model_private.h"

/* Phases steer how a time is split; the times themselves weigh more. */
#define PHASE_WEIGHT 0.3
/* comm-gpu's figures hold for the solver's exchange within about a quarter: a prior of that width, where runs agree with the
 * model to about 3%. */
#define PRIOR_WEIGHT 0.12
/* Of two ranks that send as much: what is the other's share of the time, as four H200 had it by `staged`. */
#define PRIOR_PEER 0.33
/* Rounds of guessing which runs are bound by the exchange. */
#define ROUNDS_MAX 20
/* Candidates for the points that a cache holds, between the smallest and the largest part of a rank. */
#define CACHE_STEPS 24
/* A cache regime must explain so much of the squared error to be believed. */
#define CACHE_GAIN    0.25
#define FREEDOM_LEAST 2.0

/** One run with its geometry. */
struct sample {
  const struct study_run *run;
  struct geometry geometry;
  int way;
};

struct fitting {
  const struct study *study;
  struct sample *samples;
  int n;
};

int model_per_host(const struct study *study)
{
  int most = 0;
  for (int r = 0; r < study->n; r++) {
    const struct study_run *run = &study->runs[r];
    int each = run->hosts > 1 ? (run->ranks + run->hosts - 1) / run->hosts : 0;
    if (each > most) most = each;
  }
  return most;
}

/* ---- what there is ---- */

/* The ways that runs of the study took, each with its paths. */
static status_t ways_choose(const struct study *study, const struct study_paths *paths, struct model *model)
{
  for (int r = 0; r < study->n; r++) {
    const char *name = study->runs[r].transport;
    if (study->runs[r].ranks == 1 || model_way(model, name) >= 0) continue;
    const struct study_way *way = study_way_find(paths, name);
    if (!way)
      return log_fail(STATUS_ENVIRONMENT,
                      "the study has runs by %s, and there are no parameters of it: run mpirun -np 2 "
                      "comm-gpu -x %s --json FILE",
                      name, name);
    model->paths.ways[model->paths.n++] = *way;
  }
  model->columns = TERMS + WAY_TERMS * model->paths.n;
  return STATUS_OK;
}

static status_t samples_make(const struct study *study, struct model *model, struct fitting *f)
{
  f->samples = calloc((size_t)study->n + 1, sizeof *f->samples);
  f->study = study;
  if (!f->samples) return log_fail(STATUS_ENVIRONMENT, "out of memory for runs");
  for (int r = 0; r < study->n; r++) {
    struct sample *s = &f->samples[f->n++];
    s->run = &study->runs[r];
    int per_host = s->run->hosts > 0 ? (s->run->ranks + s->run->hosts - 1) / s->run->hosts : s->run->ranks;
    RETURN_IF_FAILED(
        geometry_make(s->run->global, s->run->procs, s->run->depth, s->run->overlap, per_host, &s->geometry));
    s->way = s->run->ranks > 1 ? model_way(model, s->run->transport) : -1;
  }
  return STATUS_OK;
}

static void range_note(const struct fitting *f, struct model *model)
{
  model->runs = f->n;
  model->per_host = model_per_host(f->study);
  model->depth = f->samples[0].run->depth;
  model->overlap = 1;
  for (int n = 0; n < f->n; n++) {
    const struct geometry *g = &f->samples[n].geometry;
    double bytes = g->bytes[0] + g->bytes[1];
    if (n == 0 || g->points < model->points_least) model->points_least = g->points;
    if (g->points > model->points_most) model->points_most = g->points;
    if (bytes > model->bytes_most) model->bytes_most = bytes;
    if (g->ranks > model->ranks_most) model->ranks_most = g->ranks;
    if (f->samples[n].run->hosts > model->hosts_most) model->hosts_most = f->samples[n].run->hosts;
    if (!f->samples[n].run->overlap) model->overlap = 0;
  }
}

static status_t enough_check(const struct fitting *f, const struct model *model)
{
  int alone = 0;
  for (int n = 0; n < f->n; n++) alone += f->samples[n].run->ranks == 1;
  if (alone == 0)
    return log_fail(STATUS_ENVIRONMENT,
                    "too little to predict from: no run on one rank; measure himeno-gpu on one rank");
  if (model->points_most < 1.5 * model->points_least)
    return log_fail(STATUS_ENVIRONMENT,
                    "too little to predict from: all runs have about %.3g points a rank, so that the fixed "
                    "cost of a sweep and "
                    "that of a point cannot be told apart; measure a smaller and a larger --size",
                    model->points_most);
  if (model->paths.n == 0)
    return log_fail(
        STATUS_ENVIRONMENT,
        "too little to predict from: no run of two ranks or more; measure himeno-gpu and comm-gpu on two "
        "ranks");
  return STATUS_OK;
}

/* ---- one solution ---- */

static status_t phase_add(struct lsq *problem, const double *row, double seconds, double whole)
{
  return seconds > 0 && seconds <= 2 * whole ? lsq_add(problem, row, seconds, PHASE_WEIGHT / whole)
                                             : STATUS_OK;
}

static status_t phases_add(const struct sample *s, const struct model_rows *rows, struct lsq *problem)
{
  const struct study_run *run = s->run;
  double both[MODEL_COLUMNS_MAX];
  if (run->ranks == 1) return STATUS_OK;
  RETURN_IF_FAILED(phase_add(problem, rows->reduction, run->reduce, run->seconds));
  if (run->overlap && model_at_once(run->transport)) return STATUS_OK;
  if (run->overlap) RETURN_IF_FAILED(phase_add(problem, rows->boundary, run->boundary, run->seconds));
  if (run->overlap) return phase_add(problem, rows->interior, run->interior, run->seconds);
  for (int c = 0; c < problem->columns; c++) both[c] = rows->interior[c] + rows->boundary[c];
  return phase_add(problem, both, run->interior + run->boundary, run->seconds);
}

/* comm-gpu's parameters hold until the study says otherwise. Its bandwidth is of two ranks that send as much. */
static status_t prior_add(struct lsq *problem, int column, int other, double value)
{
  double row[MODEL_COLUMNS_MAX] = {0};
  row[column] = row[other] = 1;
  return lsq_add(problem, row, value, PRIOR_WEIGHT);
}

static status_t priors_add(const struct model *model, struct lsq *problem)
{
  for (int w = 0; w < model->paths.n; w++) {
    const int latency = model_way_column(w, WAY_LATENCY), bytes = model_way_column(w, WAY_BANDWIDTH),
              peer = model_way_column(w, WAY_PEER), at_once = model_at_once(model->paths.ways[w].name);
    RETURN_IF_FAILED(prior_add(problem, latency, latency, 1));
    RETURN_IF_FAILED(prior_add(problem, bytes, at_once ? bytes : peer, 1));
    if (!at_once) RETURN_IF_FAILED(prior_add(problem, peer, peer, PRIOR_PEER));
  }
  return STATUS_OK;
}

/* The first rows are the runs' own times, in their order. */
static status_t problem_make(const struct fitting *f, const struct model *model, struct lsq *problem)
{
  struct model_rows rows;
  double total[MODEL_COLUMNS_MAX];
  RETURN_IF_FAILED(lsq_init(problem, model->columns));
  for (int n = 0; n < f->n; n++) {
    const struct sample *s = &f->samples[n];
    model_rows_make(model, &s->geometry, s->way, &rows);
    model_row_total(model, &rows, s->run->overlap, total);
    RETURN_IF_FAILED(lsq_add(problem, total, s->run->seconds, 1 / s->run->seconds));
  }
  for (int n = 0; n < f->n; n++) {
    model_rows_make(model, &f->samples[n].geometry, f->samples[n].way, &rows);
    RETURN_IF_FAILED(phases_add(&f->samples[n], &rows, problem));
  }
  return priors_add(model, problem);
}

/* Squared error of the model's present values, each run bound by what is longer with them. */
static status_t squared_error(const struct fitting *f, const struct model *model, double *squares)
{
  struct lsq problem = {.rows = 0};
  status_t status = problem_make(f, model, &problem);
  *squares = 0;
  for (int r = 0; status == STATUS_OK && r < problem.rows; r++) {
    const double *row = problem.matrix + (size_t)r * (size_t)problem.columns;
    *squares += pow(problem.right[r] - model_product(model, row), 2);
  }
  lsq_free(&problem);
  return status;
}

/* Where the search for parameters begins: the exchange as comm-gpu has it, so that most runs are bound by their interior; and
 * slabs that take, where they are part of the exchange, the whole of the shortest run, so that the shorter ones are bound by it. */
enum beginning { BEGIN_INTERIOR, BEGIN_EXCHANGE, BEGINNINGS };

static double shortest_run(const struct fitting *f, int way)
{
  double seconds = 0;
  for (int n = 0; n < f->n; n++)
    if (f->samples[n].way == way && (seconds == 0 || f->samples[n].run->seconds < seconds))
      seconds = f->samples[n].run->seconds;
  return seconds;
}

static void values_begin(const struct fitting *f, enum beginning beginning, struct model *model)
{
  memset(model->value, 0, sizeof model->value);
  for (int n = 0; n < f->n; n++)
    if (f->samples[n].run->ranks == 1)
      model->value[TERM_POINT] =
          fmax(model->value[TERM_POINT], f->samples[n].run->seconds / f->samples[n].geometry.points);
  for (int w = 0; w < model->paths.n; w++) {
    model->value[model_way_column(w, WAY_LATENCY)] = model->value[model_way_column(w, WAY_BANDWIDTH)] = 1;
    if (beginning == BEGIN_EXCHANGE && model_at_once(model->paths.ways[w].name))
      model->value[model_way_column(w, WAY_SLAB)] = shortest_run(f, w);
  }
}

/** A finished fit with C given. */
struct attempt {
  struct lsq problem;
  struct lsq_solution solution;
  double squares; /**< squared error of the solution, not of the problem that led to it */
};

static void attempt_free(struct attempt *attempt)
{
  lsq_free(&attempt->problem);
  lsq_solution_free(&attempt->solution);
}

static void values_take(const struct attempt *attempt, struct model *model)
{
  memcpy(model->value, attempt->solution.value, (size_t)model->columns * sizeof *model->value);
}

/* The values that fit best while each run stays bound by what it is bound by with the present ones. */
static status_t attempt_round(const struct fitting *f, struct model *model, struct attempt *attempt)
{
  status_t status = STATUS_OK;
  *attempt = (struct attempt){.squares = 0};
  TRY(problem_make(f, model, &attempt->problem), fail);
  TRY(lsq_solve(&attempt->problem, &attempt->solution), fail);
  values_take(attempt, model);
  TRY(squared_error(f, model, &attempt->squares), fail);
  return STATUS_OK;
fail:
  attempt_free(attempt);
  return status;
}

/* The better of two, into the first; the other is freed. */
static void attempt_better(struct attempt *best, struct attempt *other)
{
  if (other->squares < best->squares) {
    struct attempt worse = *best;
    *best = *other;
    *other = worse;
  }
  attempt_free(other);
}

/* Where comm-gpu and the runs disagree, what binds a run may swing from round to round: the best round counts, not the last. */
static status_t attempt_from(const struct fitting *f, enum beginning beginning, struct model *model,
                             struct attempt *best)
{
  values_begin(f, beginning, model);
  RETURN_IF_FAILED(attempt_round(f, model, best));
  double last = best->squares;
  for (int round = 1; round < ROUNDS_MAX; round++) {
    struct attempt next;
    status_t status = attempt_round(f, model, &next);
    if (status != STATUS_OK) attempt_free(best);
    RETURN_IF_FAILED(status);
    int settled = fabs(next.squares - last) <= 1e-12 * last;
    last = next.squares;
    attempt_better(best, &next);
    if (settled) break;
  }
  return STATUS_OK;
}

/* Where no way has its slabs in the exchange, all beginnings are one. */
static int beginnings_of(const struct model *model)
{
  for (int w = 0; w < model->paths.n; w++)
    if (model_at_once(model->paths.ways[w].name)) return BEGINNINGS;
  return 1;
}

/* The better of the solutions that the beginnings lead to. */
static status_t attempt_make(const struct fitting *f, struct model *model, struct attempt *best)
{
  const int beginnings = beginnings_of(model);
  RETURN_IF_FAILED(attempt_from(f, BEGIN_INTERIOR, model, best));
  for (int b = BEGIN_INTERIOR + 1; b < beginnings; b++) {
    struct attempt other;
    status_t status = attempt_from(f, (enum beginning)b, model, &other);
    if (status != STATUS_OK) attempt_free(best);
    RETURN_IF_FAILED(status);
    attempt_better(best, &other);
  }
  values_take(best, model);
  return STATUS_OK;
}

/* ---- the cache regime ---- */

/* The C that leaves the least error, if it leaves clearly less than none. */
static status_t cache_choose(const struct fitting *f, struct model *model)
{
  struct attempt attempt;
  double best = 0, least = 0, none = 0;
  for (int step = -1; step < CACHE_STEPS; step++) {
    double share = (double)step / (CACHE_STEPS - 1);
    model->cache_points =
        step < 0 ? 0 : model->points_least * pow(model->points_most / model->points_least, share);
    RETURN_IF_FAILED(attempt_make(f, model, &attempt));
    if (step < 0) none = least = attempt.squares;
    if (attempt.squares < least && model->value[TERM_CACHE] < model->value[TERM_POINT]) {
      least = attempt.squares;
      best = model->cache_points;
    }
    attempt_free(&attempt);
  }
  model->cache_points = least < (1 - CACHE_GAIN) * none ? best : 0;
  return STATUS_OK;
}

/* ---- how sure ---- */

static double noise_median(const struct study *study)
{
  double sum = 0;
  for (int r = 0; r < study->n; r++) sum += study->runs[r].noise;
  return study->n > 0 ? sum / study->n : 0;
}

/* Spread of the runs' own times about the model: a residual understates it by its run's share in the fit. */
static status_t spread_set(const struct fitting *f, const struct attempt *attempt, struct model *model)
{
  double squares = 0, held = 0;
  for (int n = 0; n < f->n; n++) {
    double free_share = fmax(1 - attempt->solution.leverage[n], 0.05);
    squares += attempt->solution.residual[n] * attempt->solution.residual[n] / free_share;
    held += attempt->solution.leverage[n];
  }
  model->freedom = f->n - held;
  model->spread = fmax(sqrt(squares / f->n), noise_median(f->study));
  if (model->freedom >= FREEDOM_LEAST) return STATUS_OK;
  return log_fail(
      STATUS_ENVIRONMENT,
      "too little to predict from: %d run%s for %d parameters that matter; measure more sizes, ranks or cuts",
      f->n, f->n == 1 ? "" : "s", (int)ceil(held));
}

/* What a neighbour adds is told by runs that are bound by their exchange; without one, comm-gpu's latency is all there is. */
static void neighbours_known(struct model *model)
{
  for (int w = 0; w < model->paths.n; w++) model->seen[model_way_column(w, WAY_NEIGHBOUR)] = 1;
}

static void errors_set(const struct attempt *attempt, struct model *model)
{
  for (int c = 0; c < model->columns; c++) {
    model->seen[c] = 0;
    for (int r = 0; r < attempt->problem.rows; r++)
      model->seen[c] |= attempt->problem.matrix[(size_t)r * (size_t)model->columns + (size_t)c] != 0;
    for (int d = 0; d < model->columns; d++)
      model->covariance[c * MODEL_COLUMNS_MAX + d] = attempt->solution.covariance[c * model->columns + d];
    model->error[c] = model->spread * sqrt(model->covariance[c * MODEL_COLUMNS_MAX + c]);
  }
}

static status_t fit_samples(struct fitting *f, struct model *model)
{
  struct attempt attempt;
  range_note(f, model);
  RETURN_IF_FAILED(enough_check(f, model));
  RETURN_IF_FAILED(cache_choose(f, model));
  RETURN_IF_FAILED(attempt_make(f, model, &attempt));
  status_t status = spread_set(f, &attempt, model);
  if (status == STATUS_OK) {
    errors_set(&attempt, model);
    neighbours_known(model);
  }
  attempt_free(&attempt);
  return status;
}

status_t model_fit(const struct study *study, const struct study_paths *paths, struct model *model)
{
  struct fitting f = {.n = 0};
  struct model *m = calloc(1, sizeof *m);
  status_t status = STATUS_OK;
  if (!m) return log_fail(STATUS_ENVIRONMENT, "out of memory for a model");
  if (study->n == 0)
    TRY(log_fail(STATUS_ENVIRONMENT, "too little to predict from: no run of that kernel and number of ranks"),
        done);
  TRY(ways_choose(study, paths, m), done);
  TRY(samples_make(study, m, &f), done);
  TRY(fit_samples(&f, m), done);
  *model = *m;
done:
  free(f.samples);
  free(m);
  return status;
}
