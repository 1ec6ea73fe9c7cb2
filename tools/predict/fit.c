/* SPDX-License-Identifier: MIT */
/* Fits the model to the logarithms of a study's times, by a robust loss and MINPACK's
 * Levenberg-Marquardt. Each parameter is the logarithm of a positive number. It starts at a guess,
 * and stays there if the runs do not determine it. */
#include <cminpack.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/stats.h"
#include "tools/predict/fit_private.h"
#include "tools/predict/workload.h"

/* Assumed relative error of a run in the first fit, and bounds of the errors estimated later. */
#define SPREAD_GUESS 0.03
#define SPREAD_LEAST 0.005
#define SPREAD_MOST  0.5
/* Rounds of fitting and re-estimating the runs' errors. */
#define ROUNDS 3
/* The model has a cache, or tiles, only if that lowers the loss by at least this. Chance alone
 * lowers it that much in one of a hundred studies of 12 to 24 runs. */
#define LOSS_GAIN 7.0
/* Smallest candidate for the points of a tile; each further candidate is twice as large. */
#define TILE_LEAST    64
#define TILE_STEPS    4
#define FREEDOM_LEAST 1.5
#define QUANTILE_90   1.645

static int group_of(const struct sample *s)
{
  return s->via >= 0 ? s->via : STUDY_TRANSPORTS_MAX;
}

static void parameter_add(struct fitting *f, enum parameter_kind kind, int column, double guess, double width)
{
  f->parameter[f->parameters++] = (struct parameter){kind, column, log(guess), width};
}

/* Returns the latency that comm-gpu measured within a host or, if unknown, between hosts. */
static double latency_of(const struct study_transport *transport)
{
  return fmax(transport->latency[transport->known[STUDY_SAME_HOST] ? STUDY_SAME_HOST : STUDY_OTHER_HOST],
              1e-9);
}

/* Returns the latency that comm-gpu measured, but at most the time of the shortest pass by this
 * transport, because a busy machine inflates comm-gpu's result. */
static double latency_guess(const struct fitting *f, int via)
{
  double latency = latency_of(&f->model->terms.paths.transports[via]);
  for (int n = 0; n < f->n; n++)
    if (f->samples[n].via == via)
      latency = fmin(latency, f->samples[n].run->depth * f->samples[n].run->seconds);
  return latency;
}

static void transport_parameters(struct fitting *f, int via)
{
  const struct study_transport *path = &f->model->terms.paths.transports[via];
  const struct workload *of = &workloads[f->model->program];
  const double latency = latency_guess(f, via);
  const int first = model_transport_column(via, 0);
  double *value = f->model->terms.fitted.value;
  int *seen = f->model->errors.seen;
  seen[first + TRANSPORT_LATENCY] = seen[first + TRANSPORT_BANDWIDTH] = 1;
  if (model_at_once(path->name)) {
    value[first + TRANSPORT_LATENCY] = value[first + TRANSPORT_BANDWIDTH] = 1;
    parameter_add(f, OF_VALUE, first + TRANSPORT_SLAB, latency, 1);
    if (of->hinders) parameter_add(f, OF_VALUE, first + TRANSPORT_BANDWIDTH, 1, 0.5);
    if (seen[TERM_SLAB_K]) parameter_add(f, OF_VALUE, first + TRANSPORT_ROOT, 0.02 * latency, 1.5);
    return;
  }
  if (of->slabs_first) parameter_add(f, OF_VALUE, first + TRANSPORT_SYNC, 0.3 * latency, 1.5);
  /* Runs on two ranks show neither the cost of a message nor the part of a byte's time that all
   * ranks of a host share. With shared memory, the guesses fit stored studies of four GPUs; for
   * products, whose messages are long, the part comes from comm-gpu (doc/lab/prediction-log.md). */
  const int shared = path->handover > 0, measured = shared && of->hinders && path->host_share > 0;
  const double host = measured ? path->host_share : of->host_guess;
  parameter_add(f, OF_VALUE, first + TRANSPORT_LATENCY, latency / latency_of(path), 0.7);
  parameter_add(f, OF_VALUE, first + TRANSPORT_NEIGHBOUR, (shared ? 0.5 : 0.03) * latency, shared ? 0.5 : 2);
  parameter_add(f, OF_VALUE, first + TRANSPORT_BANDWIDTH, 1 - 2 * host, 0.5);
  parameter_add(f, OF_VALUE, first + TRANSPORT_HOST, host,
                measured || (shared && !of->hinders) ? 0.4 : of->host_width);
}

/* The order matters: the gain of a cached point and the cost of an idle point are shares of the
 * cost of a point, so that parameters_put must set the cost of a point before them. */
static void parameters_make(struct fitting *f)
{
  struct model *m = f->model;
  int attended = 0;
  double shortest = 0, point = 0, most = 0, latency = 0;
  for (int n = 0; n < f->n; n++) {
    const struct sample *s = &f->samples[n];
    if (s->run->ranks > 1) continue;
    if (shortest == 0 || s->run->seconds < shortest) shortest = s->run->seconds;
    if (s->geometry.points > most) most = s->geometry.points, point = s->run->seconds / most;
  }
  for (int w = 0; w < m->terms.paths.n; w++) {
    latency = w == 0 ? latency_guess(f, w) : fmin(latency, latency_guess(f, w));
    attended |= !model_within_hosts(m->terms.paths.transports[w].name);
  }
  memset(m->terms.fitted.value, 0, sizeof m->terms.fitted.value);
  f->parameters = 0;
  parameter_add(f, OF_VALUE, TERM_PASS, 0.5 * shortest, 2);
  parameter_add(f, OF_VALUE, TERM_POINT, point, 1);
  if (m->terms.fitted.cache_points > 0) {
    parameter_add(f, OF_SHARE, TERM_CACHE, 0.1, 2);
    parameter_add(f, OF_CACHE_POINTS, TERM_CACHE, sqrt(m->range.points_least * m->range.points_most), 1.5);
  }
  m->terms.fitted.share = 0;
  if (m->range.memories > 0 || m->range.sharers_most > 1) parameter_add(f, OF_MEMORY, 0, 0.5, 1.5);
  if (m->terms.tile[0] > 0) parameter_add(f, OF_VALUE, TERM_IDLE, 50 * point, 1.5);
  if (m->terms.tile_points > 0) parameter_add(f, OF_SHARE, TERM_IDLE, 0.1, 2);
  if (attended && workloads[m->program].hinders) parameter_add(f, OF_HINDER, 0, 0.05, 1.5);
  /* With T sweeps per pass, slabs have at least 2 T − 1 layers. They are computed first if the host
   * takes part in their exchange. */
  for (int d = 0; d < 3 && m->terms.depth > 1 && attended; d++)
    if (m->errors.seen[TERM_SLAB_I + d])
      parameter_add(f, OF_VALUE, TERM_SLAB_I + d, 2 * m->terms.depth * point, 1);
  if (m->terms.depth == 1 && m->errors.seen[TERM_SLAB_K]) parameter_add(f, OF_VALUE, TERM_SLAB_K, point, 2);
  parameter_add(f, OF_VALUE, TERM_REDUCE_LOG, 0.02 * latency, 2);
  for (int w = 0; w < m->terms.paths.n; w++) transport_parameters(f, w);
}

/* Returns the address of parameter \a p in \a values; \a column is its index if it is stored in
 * `value`. */
static double *value_place(struct model_values *values, const struct parameter *p, int column)
{
  if (p->kind == OF_CACHE_POINTS) return &values->cache_points;
  if (p->kind == OF_MEMORY) return &values->share;
  return p->kind == OF_HINDER ? &values->hinder : &values->value[column];
}

static void parameters_put(const struct fitting *f, const double *at)
{
  struct model_values *fitted = &f->model->terms.fitted;
  for (int p = 0; p < f->parameters; p++) {
    const struct parameter *one = &f->parameter[p];
    const double value = exp(at[p]);
    *value_place(fitted, one, one->column) =
        one->kind == OF_SHARE ? fitted->value[TERM_POINT] * value / (1 + value) : value;
  }
}

static double fit_error(const struct fitting *f, const struct sample *s)
{
  struct model_parts parts;
  model_parts_make(&f->model->terms, &s->geometry, s->via, &parts);
  return log(fmax(model_parts_seconds(&parts), 1e-12) / s->run->seconds);
}

/* Pseudo-Huber loss: quadratic in small errors, linear in large ones. Returns its root, because
 * MINPACK sums squares. */
static double robust(double error)
{
  return copysign(sqrt(2 * (sqrt(1 + error * error) - 1)), error);
}

static int residuals(void *of, int m, int n, const double *at, double *residual, int flag)
{
  const struct fitting *f = of;
  (void)flag;
  parameters_put(f, at);
  for (int s = 0; s < f->n; s++)
    residual[s] = sqrt(f->samples[s].weight) *
                  robust(fit_error(f, &f->samples[s]) / f->sigma[group_of(&f->samples[s])]);
  for (int p = 0; p < n && f->n + p < m; p++)
    residual[f->n + p] = (at[p] - f->parameter[p].guess) / f->parameter[p].width;
  return 0;
}

/* Moves \a at to the minimum of the loss, sets *loss to the loss there, and puts \a at into the
 * model. */
static status_t minimise(struct fitting *f, double *at, double *loss)
{
  const int n = f->parameters, m = f->n + n;
  int evaluations, pivot[PARAMETERS_MAX];
  double diagonal[PARAMETERS_MAX], qtf[PARAMETERS_MAX], a[PARAMETERS_MAX], b[PARAMETERS_MAX],
      c[PARAMETERS_MAX];
  double *work = calloc((size_t)m * (size_t)(n + 2), sizeof *work);
  if (!work) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a fit of %d runs", f->n);
  double *residual = work, *d = work + m, *jacobian = work + 2 * m;
  int how = lmdif(residuals, f, m, n, at, residual, 1e-7, 1e-7, 0, 200 * (n + 1), 1e-12, diagonal, 1, 10, 0,
                  &evaluations, jacobian, m, pivot, qtf, a, b, c, d);
  *loss = 0;
  residuals(f, m, n, at, residual, 0);
  for (int r = 0; r < m; r++) *loss += residual[r] * residual[r] / 2;
  free(work);
  if (how > 0 && isfinite(*loss)) return STATUS_OK;
  return log_fail(STATUS_FAULT, "MINPACK's lmdif failed on %d runs and %d parameters: info %d", f->n, n, how);
}

/* Returns the q-quantile of the absolute errors, as logarithms, of the runs of a group (−1: of all
 * runs). Sets *n to the number of these runs. */
static double errors_quantile(const struct fitting *f, int group, double q, int *n)
{
  double *errors = calloc((size_t)f->n + 1, sizeof *errors), found = 0;
  *n = 0;
  for (int s = 0; s < f->n && errors; s++)
    if (group < 0 || group_of(&f->samples[s]) == group) errors[(*n)++] = fabs(fit_error(f, &f->samples[s]));
  if (*n > 0) found = student_order(errors, *n, q);
  free(errors);
  return found;
}

/* Sets f->sigma to the spread of the errors per transport. In the next fit, runs by a transport
 * with a spread of 1% count more than runs by one with a spread of 10%. */
static void sigmas_set(struct fitting *f)
{
  for (int g = 0; g <= STUDY_TRANSPORTS_MAX; g++) {
    int n;
    double sigma = STATS_MAD_SIGMAS * errors_quantile(f, g, 0.5, &n);
    f->sigma[g] = n > 0 ? fmin(fmax(sigma, SPREAD_LEAST), SPREAD_MOST) : SPREAD_GUESS;
  }
}

/* Sets \a at to the values of another model, or to guesses for parameters that it lacks. */
static void beginning_take(const struct fitting *f, const struct model_terms *from, double *at)
{
  struct model_values fitted = from->fitted;
  for (int p = 0; p < f->parameters; p++) {
    const struct parameter *one = &f->parameter[p];
    const int w = one->column < TERMS ? -1 : (one->column - TERMS) / TRANSPORT_TERMS,
              there =
                  w < 0 ? w : study_transport_find(&from->paths, f->model->terms.paths.transports[w].name);
    double value =
        there < 0 && w >= 0 ? 0 : *value_place(&fitted, one, one->column + (there - w) * TRANSPORT_TERMS);
    if (one->kind == OF_SHARE) value /= fmax(fitted.value[TERM_POINT] - value, 1e-30);
    at[p] = value > 0 ? log(value) : one->guess;
  }
}

/* Fits with tiles of \a tile points (0: none), with or without a cache. */
static status_t regime_try(struct fitting *f, double tile, int cached, double *at, double *loss)
{
  f->model->terms.tile_points = tile;
  f->model->terms.fitted.cache_points = cached;
  parameters_make(f);
  for (int p = 0; p < f->parameters; p++) at[p] = f->parameter[p].guess;
  return minimise(f, at, loss);
}

/* Chooses the regime with the least loss; each additional parameter adds \a penalty to the loss. */
static status_t regime_choose(struct fitting *f, double penalty, double *at)
{
  double best = INFINITY, loss, tile = 0;
  int cached = 0;
  for (int step = -1; step < TILE_STEPS; step++)
    for (int c = 0; c < 2; c++) {
      const double points = step < 0 ? 0 : TILE_LEAST << step;
      RETURN_IF_FAILED(regime_try(f, points, c, at, &loss));
      loss += penalty * ((step >= 0) + c);
      if (loss < best) best = loss, tile = points, cached = c;
    }
  return regime_try(f, tile, cached, at, &loss);
}

static uint64_t draws;

static double uniform(void)
{
  return ((double)(hash_mix(++draws) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
  return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

/* Draws configurations with repetition, and perturbs the guesses by their uncertainty. */
static void draw(struct fitting *f, const struct parameter *guesses)
{
  for (int s = 0; s < f->n; s++) f->samples[s].weight = 0;
  for (int c = 0; c < f->configurations; c++) {
    const int drawn = (int)(uniform() * f->configurations);
    for (int s = 0; s < f->n; s++) f->samples[s].weight += f->samples[s].configuration == drawn;
  }
  for (int p = 0; p < f->parameters; p++)
    f->parameter[p].guess = guesses[p].guess + guesses[p].width * normal();
}

static status_t replicates_make(struct fitting *f, const double *best)
{
  struct model_errors *errors = &f->model->errors;
  struct parameter guesses[PARAMETERS_MAX];
  double at[PARAMETERS_MAX], squares[PARAMETERS_MAX] = {0}, loss, held = 0;
  memcpy(guesses, f->parameter, sizeof guesses);
  draws = 0; /* restart the draws, so that the same study gives the same interval */
  for (int r = 0; r < MODEL_REPLICATES; r++) {
    draw(f, guesses);
    memcpy(at, best, sizeof at);
    RETURN_IF_FAILED(minimise(f, at, &loss));
    errors->replicate[r] = f->model->terms.fitted;
    for (int p = 0; p < f->parameters; p++) squares[p] += pow(at[p] - best[p], 2) / MODEL_REPLICATES;
  }
  errors->n_replicates = MODEL_REPLICATES;
  memcpy(f->parameter, guesses, sizeof guesses);
  for (int s = 0; s < f->n; s++) f->samples[s].weight = 1;
  parameters_put(f, best);
  for (int p = 0; p < f->parameters; p++) {
    const struct parameter *one = &f->parameter[p];
    /* number of parameters that the runs determine */
    held += fmax(0, 1 - squares[p] / (one->width * one->width));
    if (one->kind == OF_VALUE || one->kind == OF_SHARE) {
      const double *value = f->model->terms.fitted.value, share = value[one->column] / value[TERM_POINT];
      errors->error[one->column] =
          sqrt(squares[p]) * value[one->column] * (one->kind == OF_SHARE ? 1 - share : 1);
      errors->seen[one->column] = 1;
    }
  }
  errors->freedom = f->n - held;
  return STATUS_OK;
}

/* Returns the spread of the normal distribution whose 90% interval contains 90% of the runs'
 * errors. */
static double spread_of(const struct fitting *f, int group, double freedom)
{
  int n;
  double noise = 0, quantile = errors_quantile(f, group, 0.9, &n);
  if (n == 0 && group >= 0) return spread_of(f, -1, freedom);
  for (int s = 0; s < f->n; s++)
    if (group < 0 || group_of(&f->samples[s]) == group) noise += f->samples[s].run->noise / fmax(n, 1);
  return fmax(quantile / QUANTILE_90 * sqrt(f->n / fmax(freedom, 1)), noise);
}

static status_t spread_set(const struct fitting *f)
{
  struct model_errors *errors = &f->model->errors;
  if (errors->freedom < FREEDOM_LEAST)
    return log_fail(STATUS_ENVIRONMENT,
                    "too little to predict from: %d run%s for %d parameters that matter: run mpirun -np 1 %s "
                    "-s SIZE --json FILE with at least %d other SIZEs",
                    f->n, f->n == 1 ? "" : "s", (int)ceil(f->n - errors->freedom),
                    workloads[f->model->program].command, (int)ceil(FREEDOM_LEAST - errors->freedom));
  errors->spread = spread_of(f, -1, errors->freedom);
  for (int w = 0; w < f->model->terms.paths.n; w++)
    errors->transport_spread[w] = spread_of(f, w, errors->freedom);
  return STATUS_OK;
}

static status_t fit_samples(struct fitting *f, const struct model_terms *from, int replicates)
{
  double at[PARAMETERS_MAX], loss;
  for (int g = 0; g <= STUDY_TRANSPORTS_MAX; g++) f->sigma[g] = SPREAD_GUESS;
  if (from) {
    f->model->terms.tile_points = from->tile_points;
    f->model->terms.fitted.cache_points = from->fitted.cache_points;
    parameters_make(f);
    beginning_take(f, from, at);
  } else {
    const int regimes = workloads[f->model->program].regimes;
    RETURN_IF_FAILED(regime_try(f, 0, regimes, at, &loss));
    sigmas_set(f);
    if (regimes) { /* estimate the errors with the best regime */
      RETURN_IF_FAILED(regime_choose(f, 0, at));
      sigmas_set(f);
      /* the residuals of a fit with many parameters are smaller than the errors */
      const double times = sqrt(f->n / fmax(f->n - f->parameters, 1));
      for (int g = 0; g <= STUDY_TRANSPORTS_MAX; g++) f->sigma[g] = fmin(times * f->sigma[g], SPREAD_MOST);
      RETURN_IF_FAILED(regime_choose(f, LOSS_GAIN, at));
    }
  }
  for (int round = 0; round < ROUNDS; round++) {
    RETURN_IF_FAILED(minimise(f, at, &loss));
    sigmas_set(f);
  }
  RETURN_IF_FAILED(minimise(f, at, &loss));
  if (!replicates) return STATUS_OK;
  RETURN_IF_FAILED(replicates_make(f, at));
  return spread_set(f);
}

status_t model_fit(const struct study *study, const struct study_paths *paths, const struct model_terms *from,
                   int replicates, struct model *model)
{
  struct fitting f = {.n = 0};
  struct model *m = calloc(1, sizeof *m);
  status_t status = STATUS_OK;
  if (!m) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a model");
  f.model = m;
  m->program = study->program;
  if (study->n == 0)
    TRY(log_fail(STATUS_ENVIRONMENT,
                 "too little to predict from: no run of that kernel and number of ranks: "
                 "run mpirun -np N %s -k KERNEL --json FILE",
                 workloads[m->program].command),
        done);
  TRY(fit_transports_choose(study, paths, &m->terms), done);
  TRY(fit_samples_make(study, &f), done);
  fit_range_note(&f);
  TRY(fit_enough_check(&f), done);
  TRY(fit_samples(&f, from, replicates), done);
  *model = *m;
done:
  free(f.samples);
  free(m);
  return status;
}
