/* SPDX-License-Identifier: MIT */
/* One run of himeno-predict: reads a study, fits and validates the model, and predicts. */
#include "tools/predict/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "suite/progress.h"
#include "tools/predict/model.h"
#include "tools/predict/workload.h"

/* Largest number of ranks in the search for the end of strong scaling. */
#define SEARCH_RANKS 4096
#define HALF         0.5
/* Assumed maximum ranks per host, as a multiple of the ranks on the only measured host. */
#define HOST_IMAGINED 2

static const struct model_scale twice_network = {1, 0.5};

/* Returns the number of sweeps per pass: as requested, otherwise as in the study. */
static int depth(const struct predict *p)
{
  return p->config.sweeps_a_pass > 0 ? (int)p->config.sweeps_a_pass : p->model.terms.depth;
}

/* Returns the number of ranks that share a memory or device, placed as in the study: CPU ranks are
 * spread over the memories of a host; of other ranks, as many share a device as in the study. */
static int sharers(const struct predict *p, int ranks, int per_host)
{
  const struct model_range *range = &p->model.range;
  const int on_host = ranks < per_host ? ranks : per_host;
  int most = range->memories > 0 ? (on_host + range->memories - 1) / range->memories : range->sharers_most;
  if (p->config.per_memory > 0) most = (int)p->config.per_memory;
  return most < on_host ? most : on_host;
}

static status_t predict_cut_choose(const struct predict *p, const struct predict_point *point, int ranks,
                                   int per_host, struct geometry *geometry)
{
  struct study_run run = {.program = p->model.program,
                          .product = p->model.product,
                          .ranks = ranks,
                          .sharers = sharers(p, ranks, per_host),
                          .weak = point->weak && ranks > 1,
                          .overlap = p->model.terms.overlap,
                          .depth = depth(p)};
  memcpy(run.global, point->size.extent, sizeof run.global);
  RETURN_IF_FAILED(workloads[run.program].cut(p->config.procs, &run));
  return workload_geometry(&run, per_host, geometry);
}

/* Returns the ranks per host: as requested, otherwise as in the study. A study of one host does not
 * show how many ranks it could hold; twice as many as measured are assumed. */
static int per_host(const struct predict *p)
{
  if (p->config.per_host > 0) return (int)p->config.per_host;
  return p->model.range.per_host > 0 ? p->model.range.per_host : HOST_IMAGINED * p->model.range.ranks_most;
}

/* Returns the median seconds of the study's runs with this geometry, or NAN if there are none. */
static double measured_seconds(const struct predict *p, const struct geometry *g, const char *transport,
                               int *n)
{
  double *seconds = calloc((size_t)p->study.n + 1, sizeof *seconds), median = NAN;
  *n = 0;
  for (int r = 0; r < p->study.n && seconds; r++) {
    const struct study_run *run = &p->study.runs[r];
    if (memcmp(run->global, g->global, sizeof run->global) == 0 && run->hosts == g->hosts &&
        memcmp(run->procs, g->procs, sizeof run->procs) == 0 && g->depth == run->depth &&
        (run->ranks == 1 || strcmp(run->transport, transport) == 0))
      seconds[(*n)++] = run->seconds;
  }
  if (*n > 0) median = stats_summarise(seconds, (size_t)*n).median;
  free(seconds);
  return median;
}

static status_t one_rank(const struct predict *p, const struct predict_point *point, double *seconds,
                         double *measured)
{
  int n;
  struct geometry alone;
  struct model_time time;
  RETURN_IF_FAILED(predict_cut_choose(p, point, 1, 1, &alone));
  RETURN_IF_FAILED(model_predict(&p->model, &alone, point->transport, &p->config.scale, &time));
  *seconds = time.seconds;
  *measured = measured_seconds(p, &alone, point->transport, &n);
  return STATUS_OK;
}

double predict_gflops(const struct predict *p, const struct geometry *g, double seconds)
{
  return seconds > 0 ? workloads[p->model.program].flop * g->all_points / seconds / 1e9 : 0;
}

/* Returns the spread of the devices' speeds that a prediction must add: 0 for as many hosts (or, if
 * the user gave the spread, ranks) as in the study, whose times include the spread. On more hosts
 * or ranks, the slowest of N devices decides. A rank's sweep begins when the previous sweep of this
 * rank and of its neighbours has ended, so that after any number of sweeps the latest rank is as
 * late as the slowest device. */
static double devices_spread(const struct predict *p, const struct geometry *g)
{
  if (p->config.device_spread >= 0)
    return g->ranks > p->model.range.ranks_most ? p->config.device_spread / 100 : 0;
  return g->hosts > p->model.range.hosts_most ? p->model.range.device_spread : 0;
}

static struct model_scale late_scale(const struct model_scale *scale, double late)
{
  return (struct model_scale){scale->compute * (1 + late), scale->exchange};
}

/* Adds the delay by the slowest of N devices: the expected delay to the time, and its 5% and 95%
 * quantiles to the interval. */
static status_t lateness_add(const struct predict *p, double spread, const struct model_scale *faster,
                             struct predict_point *point, struct model_time *twice)
{
  const double n = point->ranks, late = spread * student_largest_expected(n);
  const struct model_scale scales[] = {late_scale(&p->config.scale, late), late_scale(faster, late),
                                       late_scale(&p->config.scale, spread * student_largest(0.05, n)),
                                       late_scale(&p->config.scale, spread * student_largest(0.95, n))};
  struct model_time *t = &point->time, low, high, *const times[] = {t, twice, &low, &high};
  for (int s = 0; s < 4; s++)
    RETURN_IF_FAILED(model_predict(&p->model, &point->geometry, point->transport, &scales[s], times[s]));
  point->late = late;
  model_interval(&p->model, &point->geometry, point->transport, &scales[0], point->size.name, t);
  if (t->low <= 0) return STATUS_OK;
  t->low = t->seconds * exp(-hypot(log(t->seconds / t->low), log(t->seconds / low.seconds)));
  t->high = t->seconds * exp(hypot(log(t->high / t->seconds), log(high.seconds / t->seconds)));
  return STATUS_OK;
}

/* Refuses more ranks per memory than the runs had, because no run shows their slowdown. Ranks that
 * share a device are predicted, because they take turns on it. */
static status_t sharers_check(const struct predict *p, const struct geometry *g)
{
  const int most = p->model.range.sharers_most;
  if (most == 0 || g->sharers <= most || (most == 1 && p->model.range.memories == 0)) return STATUS_OK;
  return log_fail(
      STATUS_ENVIRONMENT,
      "%d ranks share a memory, but at most %d did in the runs: run mpirun -np %d %s --json FILE, or "
      "give the ranks of each memory by --per-memory",
      g->sharers, most, g->sharers, workloads[p->model.program].command);
}

static status_t point_predict(const struct predict *p, struct predict_point *point)
{
  double alone, alone_measured;
  struct model_time twice;
  struct model_scale faster = {p->config.scale.compute * twice_network.compute,
                               p->config.scale.exchange * twice_network.exchange};
  RETURN_IF_FAILED(predict_cut_choose(p, point, point->ranks, per_host(p), &point->geometry));
  RETURN_IF_FAILED(sharers_check(p, &point->geometry));
  struct geometry other = point->geometry;
  RETURN_IF_FAILED(model_slowest(&p->model, per_host(p), point->transport, &p->config.scale, &point->geometry,
                                 &point->time));
  RETURN_IF_FAILED(model_slowest(&p->model, per_host(p), point->transport, &faster, &other, &twice));
  RETURN_IF_FAILED(one_rank(p, point, &alone, &alone_measured));
  model_interval(&p->model, &point->geometry, point->transport, &p->config.scale, point->size.name,
                 &point->time);
  const int shares = point->weak ? 1 : point->ranks;
  const double spread = devices_spread(p, &point->geometry);
  point->ideal = alone / point->time.seconds / shares;
  if (spread > 0) RETURN_IF_FAILED(lateness_add(p, spread, &faster, point, &twice));
  point->twice_network = twice.seconds;
  point->twice = alone / twice.seconds / shares;
  point->gflops = predict_gflops(p, &point->geometry, point->time.seconds);
  point->efficiency = alone / point->time.seconds / shares;
  point->measured = p->config.scale.compute == 1 && p->config.scale.exchange == 1
                        ? measured_seconds(p, &point->geometry, point->transport, &point->n_measured)
                        : NAN;
  point->measured_efficiency = alone_measured / point->measured / shares;
  return STATUS_OK;
}

/* Predicts one point. If that fails, stores the reason, so that other points are predicted. */
static struct predict_point point_try(const struct predict *p, const struct grid_size *size,
                                      const char *transport, int weak, int ranks)
{
  struct predict_point point = {.size = *size, .weak = weak, .ranks = ranks};
  snprintf(point.transport, sizeof point.transport, "%s", transport);
  log_hold(1);
  point.predicted = point_predict(p, &point) == STATUS_OK;
  snprintf(point.why, sizeof point.why, "%.*s", (int)strcspn(log_held(), "\n"), log_held());
  log_drop();
  log_hold(0);
  return point;
}

/* Checks the options against the model's program, which was not known when they were parsed. */
static status_t asked_check(struct predict *p)
{
  struct predict_config *c = &p->config;
  const struct workload *of = &workloads[p->model.program];
  const char *program = model_program_names[p->model.program];
  char cut[STUDY_TEXT];
  if (c->procs[0] > 0 && (c->procs[2] > 0 ? 3 : 2) != of->dimensions)
    return log_fail(STATUS_USAGE, "--procs %s: %s cuts %d dimensions", study_cut_text(c->procs, cut), program,
                    of->dimensions);
  if (c->sweeps_a_pass > 0 && p->model.program != STUDY_HIMENO)
    return log_fail(STATUS_USAGE, "--sweeps-per-pass %d: %s makes no sweeps", (int)c->sweeps_a_pass, program);
  for (int s = 0; s < c->sizes.n; s++)
    RETURN_IF_FAILED(of->size_parse("--size", c->sizes.list[s].name, &c->sizes.list[s]));
  return STATUS_OK;
}

static void size_add(struct predict *p, const char *name)
{
  struct grid_size size;
  for (int s = 0; s < p->config.sizes.n; s++)
    if (strcmp(p->config.sizes.list[s].name, name) == 0) return;
  if (p->config.sizes.n == LIST_SIZES_MAX ||
      workloads[p->model.program].size_parse("size", name, &size) != STATUS_OK)
    return;
  p->config.sizes.list[p->config.sizes.n++] = size;
}

static void defaults_fill(struct predict *p)
{
  struct predict_config *c = &p->config;
  int sizes_given = c->sizes.n > 0, ranks_given = c->ranks.n > 0;
  for (int r = 0; !sizes_given && r < p->study.n; r++) size_add(p, p->study.runs[r].size);
  if (c->sizes.n == 0) size_add(p, p->model.program == STUDY_HIMENO ? "L" : p->model.range.sizes.name[0]);
  for (int n = 1; !ranks_given && c->ranks.n < LIST_RANKS_MAX && n <= 2 * p->model.range.ranks_most; n *= 2)
    c->ranks.list[c->ranks.n++] = n;
}

static void end_find(struct predict *p, const struct grid_size *size, const char *transport)
{
  struct predict_end *end = &p->ends[p->n_ends++];
  *end = (struct predict_end){.size = *size};
  snprintf(end->transport, sizeof end->transport, "%s", transport);
  for (int n = 1; n <= SEARCH_RANKS; n *= 2) {
    const struct predict_point point = point_try(p, size, transport, 0, n);
    if (!point.predicted) break;
    end->searched_ranks = n;
    if (n == 1 || point.time.seconds < end->fastest_seconds) {
      end->fastest_ranks = n;
      end->fastest_seconds = point.time.seconds;
    }
    if (point.efficiency >= HALF) end->efficient_ranks = n;
  }
}

static status_t points_make(struct predict *p)
{
  int some = 0, wanted = 0;
  size_t ends = (size_t)(p->model.terms.paths.n * p->config.sizes.n);
  p->points = calloc(2 * ends * (size_t)p->config.ranks.n + 1, sizeof *p->points);
  p->ends = calloc(ends + 1, sizeof *p->ends);
  if (!p->points || !p->ends) return log_fail(STATUS_ENVIRONMENT, "out of host memory for predictions");
  for (int w = 0; w < p->model.terms.paths.n; w++) {
    const char *transport = p->model.terms.paths.transports[w].name;
    if (p->config.transport && strcmp(transport, p->config.transport) != 0) continue;
    wanted = 1;
    for (int weak = 0; weak < 2; weak++)
      for (int s = 0; s < p->config.sizes.n && p->config.scaling != (weak ? SCALING_STRONG : SCALING_WEAK);
           s++)
        for (int n = 0; n < p->config.ranks.n; n++)
          p->points[p->n++] =
              point_try(p, &p->config.sizes.list[s], transport, weak, p->config.ranks.list[n]);
    for (int s = 0; s < p->config.sizes.n && p->config.scaling != SCALING_WEAK && p->config.procs[0] == 0;
         s++)
      end_find(p, &p->config.sizes.list[s], transport);
  }
  if (!wanted)
    return log_fail(
        STATUS_ENVIRONMENT,
        "no run of two ranks or more%s%s: run mpirun -np 2 %s -x NAME --json FILE and mpirun -np 2 "
        "comm-gpu -x NAME --json FILE",
        p->config.transport ? " by " : "", p->config.transport ? p->config.transport : "",
        workloads[p->model.program].command);
  for (int n = 0; n < p->n; n++) some |= p->points[n].predicted;
  return some ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "nothing can be predicted: %s", p->points[0].why);
}

/* Warns about runs that were left out, because the remaining runs may be too few. */
static void left_warn(const struct study *study)
{
  for (int reason = LEFT_STAGING; reason < STUDY_REASONS; reason++) {
    int n = 0, last = 0;
    for (int l = 0; l < study->n_left; l++)
      if ((int)study->left[l].reason == reason) n++, last = l;
    if (n > 0)
      log_warn("%d run%s left out (%s), %s%s: %s%s%s", n, n == 1 ? " was" : "s were",
               study_reason_names[reason], n == 1 ? "" : "the last ", study->left[last].file,
               study->left[last].why, reason >= LEFT_DUPLICATE ? "; to fit them: --include " : "",
               reason >= LEFT_DUPLICATE ? study_reason_names[reason] : "");
  }
}

static status_t model_make(struct predict *p)
{
  if (p->config.model) {
    RETURN_IF_FAILED(model_json_read(p->config.model, p->config.kernel, &p->model));
    model_between_set(&p->config.between, &p->model.terms.paths);
    return STATUS_OK;
  }
  progress_begin("reading the study");
  RETURN_IF_FAILED(study_read(p->config.study, &p->study));
  RETURN_IF_FAILED(study_paths_read(p->config.comm, &p->paths));
  model_between_set(&p->config.between, &p->paths);
  RETURN_IF_FAILED(study_select(&p->study, p->config.kernel, (int)p->config.fit_ranks));
  RETURN_IF_FAILED(study_transport_select(&p->study, &p->paths, p->config.transport));
  RETURN_IF_FAILED(study_screen(&p->study, p->config.keep));
  if (!(p->config.keep & 1u << LEFT_OUTLIER)) RETURN_IF_FAILED(validate_outliers(&p->study, &p->paths));
  progress_begin("fitting the model");
  status_t status = model_fit(&p->study, &p->paths, NULL, 1, &p->model);
  if (status != STATUS_OK) left_warn(&p->study);
  RETURN_IF_FAILED(status);
  progress_begin("validating, by predicting runs that were left out");
  RETURN_IF_FAILED(validate_run(&p->study, &p->paths, &p->model.terms, &p->validation));
  validate_widen(&p->validation, &p->model);
  validate_cover(&p->validation, &p->study, &p->model);
  return STATUS_OK;
}

static status_t against_make(struct predict *p)
{
  RETURN_IF_FAILED(study_read(p->config.against, &p->compared));
  if (p->compared.program != p->model.program)
    return log_fail(STATUS_USAGE, "--against %s: runs of %s, but the model is one of %s", p->config.against,
                    model_program_names[p->compared.program], model_program_names[p->model.program]);
  if (p->study.n > 0) RETURN_IF_FAILED(study_select(&p->compared, p->study.runs[0].kernel, 0));
  for (int w = 0; w < p->model.terms.paths.n; w++)
    RETURN_IF_FAILED(study_staging_select(&p->compared, p->model.terms.paths.transports[w].handover));
  return validate_against(&p->model, &p->compared, &p->against);
}

status_t predict_run(struct predict *p)
{
  RETURN_IF_FAILED(model_make(p));
  RETURN_IF_FAILED(asked_check(p));
  progress_begin("predicting");
  defaults_fill(p);
  RETURN_IF_FAILED(points_make(p));
  return p->config.against ? against_make(p) : STATUS_OK;
}

void predict_close(struct predict *p)
{
  study_free(&p->study);
  study_free(&p->compared);
  validate_free(&p->validation);
  validate_free(&p->against);
  free(p->points);
  free(p->ends);
}
