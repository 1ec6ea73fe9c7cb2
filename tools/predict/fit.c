/* SPDX-License-Identifier: MIT */
/* Fitting the model to a study. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tools/predict/fit_private.h"

/* Relative error at which a run has the weight 1; how small the error of a way's runs may be taken
 * for, and the runs that it takes to believe that it is not that of all. */
#define USUAL_SPREAD 0.03
#define LEAST_SPREAD 0.005
#define SPREAD_RUNS  3
/* Rounds of guessing which runs are bound by the exchange. */
#define ROUNDS_MAX 20
/* Candidates for the points that a cache holds, between the smallest and the largest part of a
 * rank. */
#define CACHE_STEPS 24
/* Candidates for the points of a tile: doubled from here. */
#define TILE_LEAST 64
#define TILE_STEPS 4
/* A cache must explain so much of the squared error to be believed. */
#define CACHE_GAIN 0.25
/* Idle ends of tiles must explain what chance would explain less than so often. */
#define TILE_CHANCE   0.01
#define FREEDOM_LEAST 2.0

/* Ranks of a host in the runs on several hosts; 0 when there are none. */
static int host_ranks(const struct study *study)
{
  int most = 0;
  for (int r = 0; r < study->n; r++) {
    const struct study_run *run = &study->runs[r];
    int each = run->hosts > 1 ? study_per_host(run) : 0;
    if (each > most) most = each;
  }
  return most;
}

/* ---- what there is ---- */

static status_t way_add(const char *name, const struct study_paths *paths, struct model *model)
{
  if (model_way(model, name) >= 0) return STATUS_OK;
  const struct study_way *way = study_way_find(paths, name);
  if (!way)
    return log_fail(STATUS_ENVIRONMENT,
                    "the study has runs by %s, and there are no parameters of it: run mpirun -np 2 "
                    "comm-gpu -x %s --json FILE",
                    name, name);
  model->paths.ways[model->paths.n++] = *way;
  return STATUS_OK;
}

/* The ways that runs of the study took, each with its paths. */
static status_t ways_choose(const struct study *study, const struct study_paths *paths, struct model *model)
{
  for (int r = 0; r < study->n; r++) {
    const struct study_run *run = &study->runs[r];
    if (run->ranks == 1) continue;
    RETURN_IF_FAILED(way_add(run->transport, paths, model));
    if (run->hosts > 1 && model_within_hosts(run->transport))
      RETURN_IF_FAILED(way_add("staged", paths, model));
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
    RETURN_IF_FAILED(geometry_make(s->run->global, s->run->procs, s->run->depth, s->run->overlap,
                                   study_per_host(s->run), &s->geometry));
    s->way = s->run->ranks > 1 ? model_way(model, s->run->transport) : -1;
    if (s->way >= 0) RETURN_IF_FAILED(model_paths_check(model, &s->geometry, s->way));
  }
  return STATUS_OK;
}

static void range_note(const struct fitting *f, struct model *model)
{
  model->runs = f->n;
  model->per_host = host_ranks(f->study);
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

/* Squared error of the model's present values, each run bound by what is longer with them. */
static status_t squared_error(const struct fitting *f, const struct model *model, double *squares)
{
  struct lsq problem = {.rows = 0};
  status_t status = fit_problem_make(f, model, &problem);
  *squares = 0;
  for (int r = 0; status == STATUS_OK && r < problem.rows; r++) {
    const double *row = problem.matrix + (size_t)r * (size_t)problem.columns;
    *squares += pow(problem.right[r] - model_product(model, row), 2);
  }
  lsq_free(&problem);
  return status;
}

/* Where the search for parameters begins: the exchange as comm-gpu has it, so that most runs are
 * bound by their interior; and slabs that take, where they are part of the exchange, the whole of
 * the shortest run, so that the shorter ones are bound by it. */
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

/* The values that fit best while each run stays bound by what it is bound by with the present
 * ones. */
static status_t attempt_round(const struct fitting *f, struct model *model, struct attempt *attempt)
{
  status_t status = STATUS_OK;
  *attempt = (struct attempt){.squares = 0};
  TRY(fit_problem_make(f, model, &attempt->problem), fail);
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

/* Where comm-gpu and the runs disagree, what binds a run may swing from round to round: the best
 * round counts, not the last. */
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

/* ---- regimes ---- */

/* Steps of a search: cache_points or tile_points of each, its term, and how much of the squared
 * error it must explain. */
struct regime {
  int steps;
  double (*candidate)(const struct model *model, int step);
  enum model_term term;
  double gain;
};

static double cache_candidate(const struct model *model, int step)
{
  return model->points_least *
         pow(model->points_most / model->points_least, (double)step / (CACHE_STEPS - 1));
}

static double tile_candidate(const struct model *model, int step)
{
  (void)model;
  return TILE_LEAST << step;
}

/* The candidate that leaves the least error, if it leaves clearly less than none does. A cached
 * point is gained at most, and an idle one costs no more than one that is computed. */
static status_t regime_choose(const struct fitting *f, const struct regime *regime, double *chosen,
                              struct model *model)
{
  struct attempt attempt;
  double best = 0, least = 0, none = 0;
  for (int step = -1; step < regime->steps; step++) {
    *chosen = step < 0 ? 0 : regime->candidate(model, step);
    RETURN_IF_FAILED(attempt_make(f, model, &attempt));
    if (step < 0) none = least = attempt.squares;
    if (attempt.squares < least && model->value[regime->term] < model->value[TERM_POINT]) {
      least = attempt.squares;
      best = *chosen;
    }
    attempt_free(&attempt);
  }
  *chosen = least < (1 - regime->gain) * none ? best : 0;
  return STATUS_OK;
}

static status_t cache_choose(const struct fitting *f, struct model *model)
{
  static const struct regime cache = {CACHE_STEPS, cache_candidate, TERM_CACHE, CACHE_GAIN};
  return regime_choose(f, &cache, &model->cache_points, model);
}

/* By Student's t for the one parameter, of each of the candidates. */
static double tile_gain(const struct fitting *f, const struct model *model)
{
  double freedom = f->n;
  for (int c = 0; c < model->columns; c++) freedom -= model->value[c] > 0;
  double t = lsq_student(1 - TILE_CHANCE / (2 * TILE_STEPS), freedom);
  return freedom > 1 ? t * t / (t * t + freedom) : 1;
}

/* Tiles, and then the cache again, which may have stood for them. */
static status_t tile_choose(const struct fitting *f, struct model *model)
{
  const struct regime tile = {TILE_STEPS, tile_candidate, TERM_IDLE, tile_gain(f, model)};
  RETURN_IF_FAILED(regime_choose(f, &tile, &model->tile_points, model));
  return model->tile_points > 0 ? cache_choose(f, model) : STATUS_OK;
}

/* ---- how sure ---- */

/** Relative errors of runs about the model, and noise of their blocks. */
struct errors {
  int n;
  double squares, noise;
};

/* A residual understates the error by its run's share in the fit. */
static void errors_add(const struct fitting *f, const struct attempt *attempt, int n, struct errors *errors)
{
  double residual = attempt->solution.residual[n] / f->weight[fit_group(&f->samples[n])];
  errors->squares += residual * residual / fmax(1 - attempt->solution.leverage[n], 0.05);
  errors->noise += f->samples[n].run->noise;
  errors->n++;
}

static double errors_spread(const struct errors *e)
{
  return e->n > 0 ? fmax(sqrt(e->squares / e->n), e->noise / e->n) : 0;
}

static void errors_sum(const struct fitting *f, const struct attempt *attempt,
                       struct errors groups[STUDY_WAYS_MAX + 1], struct errors *all)
{
  *all = (struct errors){0, 0, 0};
  memset(groups, 0, (STUDY_WAYS_MAX + 1) * sizeof *groups);
  for (int n = 0; n < f->n; n++) {
    errors_add(f, attempt, n, &groups[fit_group(&f->samples[n])]);
    errors_add(f, attempt, n, all);
  }
}

/* Runs by a way that agree with the model, or with each other, to 1% tell more than those of one
 * that do to 10%. */
static status_t weights_set(struct fitting *f, struct model *model)
{
  struct errors groups[STUDY_WAYS_MAX + 1], all;
  struct attempt attempt;
  RETURN_IF_FAILED(attempt_make(f, model, &attempt));
  errors_sum(f, &attempt, groups, &all);
  for (int g = 0; g <= STUDY_WAYS_MAX; g++) {
    double squares = groups[g].squares + SPREAD_RUNS * all.squares / all.n;
    f->weight[g] = USUAL_SPREAD / fmax(sqrt(squares / (groups[g].n + SPREAD_RUNS)), LEAST_SPREAD);
  }
  attempt_free(&attempt);
  return STATUS_OK;
}

static status_t spread_set(const struct fitting *f, const struct attempt *attempt, struct model *model)
{
  struct errors groups[STUDY_WAYS_MAX + 1], all;
  double held = 0;
  for (int n = 0; n < f->n; n++) held += attempt->solution.leverage[n];
  errors_sum(f, attempt, groups, &all);
  model->freedom = f->n - held;
  model->spread = errors_spread(&all);
  for (int w = 0; w < model->paths.n; w++) model->way_spread[w] = errors_spread(&groups[w]);
  if (model->freedom >= FREEDOM_LEAST) return STATUS_OK;
  return log_fail(
      STATUS_ENVIRONMENT,
      "too little to predict from: %d run%s for %d parameters that matter; measure more sizes, ranks or cuts",
      f->n, f->n == 1 ? "" : "s", (int)ceil(held));
}

/* What a neighbour adds is told by runs that are bound by their exchange; without one, comm-gpu's
 * latency is all there is. */
static void neighbours_known(struct model *model)
{
  for (int w = 0; w < model->paths.n; w++) model->seen[model_way_column(w, WAY_NEIGHBOUR)] = 1;
}

static void errors_set(const struct attempt *attempt, struct model *model)
{
  const double unit = model->spread > 0 ? USUAL_SPREAD / model->spread : 0;
  for (int c = 0; c < model->columns; c++) {
    model->seen[c] = 0;
    for (int r = 0; r < attempt->problem.rows; r++)
      model->seen[c] |= attempt->problem.matrix[(size_t)r * (size_t)model->columns + (size_t)c] != 0;
    for (int d = 0; d < model->columns; d++)
      model->covariance[c * MODEL_COLUMNS_MAX + d] =
          unit * unit * attempt->solution.covariance[c * model->columns + d];
    model->error[c] = model->spread * sqrt(model->covariance[c * MODEL_COLUMNS_MAX + c]);
  }
}

static status_t fit_samples(struct fitting *f, struct model *model)
{
  struct attempt attempt;
  range_note(f, model);
  RETURN_IF_FAILED(enough_check(f, model));
  for (int g = 0; g <= STUDY_WAYS_MAX; g++) f->weight[g] = 1;
  RETURN_IF_FAILED(cache_choose(f, model));
  RETURN_IF_FAILED(weights_set(f, model));
  RETURN_IF_FAILED(cache_choose(f, model));
  RETURN_IF_FAILED(tile_choose(f, model));
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
