/* SPDX-License-Identifier: MIT */
/* What the runs and comm-gpu say of the parameters, as rows of the linear problem. */
#include "config.h"

#include "base/log.h"
#include "tools/predict/fit_private.h"

/* Phases steer how a time is split; the times themselves weigh more. */
#define PHASE_WEIGHT 0.3
/* comm-gpu's figures hold for the solver's exchange within about a quarter: a prior of that width,
 * where runs agree with the model to about 3%. */
#define PRIOR_WEIGHT 0.12
/* Of the time of two ranks that send as much: what each rank's bytes cost their host's others, as
 * four H200 had it by `staged`. */
#define PRIOR_HOST 0.165

int fit_group(const struct sample *s)
{
  return s->way >= 0 ? s->way : STUDY_WAYS_MAX;
}

static double weight_of(const struct fitting *f, const struct sample *s)
{
  return f->weight[fit_group(s)] / s->run->seconds;
}

static status_t phase_add(struct lsq *problem, const double *row, double seconds, double whole, double weight)
{
  return seconds > 0 && seconds <= 2 * whole ? lsq_add(problem, row, seconds, PHASE_WEIGHT * weight)
                                             : STATUS_OK;
}

static status_t phases_add(const struct sample *s, const struct model_rows *rows, double weight,
                           struct lsq *problem)
{
  const struct study_run *run = s->run;
  double both[MODEL_COLUMNS_MAX];
  if (run->ranks == 1) return STATUS_OK;
  RETURN_IF_FAILED(phase_add(problem, rows->reduction, run->reduce, run->seconds, weight));
  if (run->overlap && model_at_once(run->transport)) return STATUS_OK;
  if (run->overlap) RETURN_IF_FAILED(phase_add(problem, rows->boundary, run->boundary, run->seconds, weight));
  if (run->overlap) return phase_add(problem, rows->interior, run->interior, run->seconds, weight);
  for (int c = 0; c < problem->columns; c++) both[c] = rows->interior[c] + rows->boundary[c];
  return phase_add(problem, both, run->interior + run->boundary, run->seconds, weight);
}

static status_t prior_add(struct lsq *problem, int column, double value)
{
  double row[MODEL_COLUMNS_MAX] = {0};
  row[column] = 1;
  return lsq_add(problem, row, value, PRIOR_WEIGHT);
}

/* Slabs that one launch computes and sends take as long as a sweep without points, as near as an
 * exchange's latency is known. */
static status_t chain_prior_add(const struct model *model, int way, struct lsq *problem)
{
  const struct study_way *path = &model->paths.ways[way];
  const double latency = path->latency[path->known[STUDY_SAME_HOST] ? STUDY_SAME_HOST : STUDY_OTHER_HOST];
  double row[MODEL_COLUMNS_MAX] = {0};
  row[model_way_column(way, WAY_SLAB)] = 1;
  row[TERM_PASS] = -1;
  return latency > 0 ? lsq_add(problem, row, 0, PRIOR_WEIGHT / latency) : STATUS_OK;
}

/* comm-gpu's parameters hold until the study says otherwise. Its bandwidth is of two ranks that
 * send as much. */
static status_t priors_add(const struct model *model, struct lsq *problem)
{
  for (int w = 0; w < model->paths.n; w++) {
    const int host = model_way_column(w, WAY_HOST), at_once = model_at_once(model->paths.ways[w].name);
    double pair[MODEL_COLUMNS_MAX] = {0};
    pair[model_way_column(w, WAY_BANDWIDTH)] = 1;
    if (!at_once) pair[host] = 2;
    RETURN_IF_FAILED(prior_add(problem, model_way_column(w, WAY_LATENCY), 1));
    RETURN_IF_FAILED(lsq_add(problem, pair, 1, PRIOR_WEIGHT));
    if (!at_once) RETURN_IF_FAILED(prior_add(problem, host, PRIOR_HOST));
    if (at_once) RETURN_IF_FAILED(chain_prior_add(model, w, problem));
  }
  return STATUS_OK;
}

/* The first rows are the runs' own times, in their order. */
status_t fit_problem_make(const struct fitting *f, const struct model *model, struct lsq *problem)
{
  struct model_rows rows;
  double total[MODEL_COLUMNS_MAX];
  *problem = (struct lsq){.columns = model->columns};
  for (int n = 0; n < f->n; n++) {
    const struct sample *s = &f->samples[n];
    model_rows_make(model, &s->geometry, s->way, &rows);
    model_row_total(model, &rows, s->run->overlap, total);
    RETURN_IF_FAILED(lsq_add(problem, total, s->run->seconds, weight_of(f, s)));
  }
  for (int n = 0; n < f->n; n++) {
    const struct sample *s = &f->samples[n];
    model_rows_make(model, &s->geometry, s->way, &rows);
    RETURN_IF_FAILED(phases_add(s, &rows, weight_of(f, s), problem));
  }
  return priors_add(model, problem);
}
