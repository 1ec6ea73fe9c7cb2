/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tools/predict/predict.h"
#include "tools/predict/workload.h"

#define PAIRS_SHOWN 40
#define LEFT_SHOWN  8

/* But for runs on more ranks than were asked for, and files of other programs. */
static void print_left(const struct study *study, FILE *out)
{
  for (int reason = LEFT_FAILED; reason < STUDY_REASONS; reason++) {
    int n = 0;
    for (int l = 0; l < study->n_left && reason != LEFT_RANKS; l++) {
      const struct study_left *left = &study->left[l];
      if ((int)left->reason == reason && n++ < LEFT_SHOWN)
        fprintf(out, "  left out   %s: %s\n", left->file, left->why);
    }
    if (n > LEFT_SHOWN) fprintf(out, "             and %d more so; --json names them\n", n - LEFT_SHOWN);
    if (n > 0 && reason >= LEFT_DUPLICATE)
      fprintf(out, "             %d in all; --include %s fits them too\n", n, study_reason_names[reason]);
  }
}

static void predict_print_config(const struct predict *p, FILE *out)
{
  const struct workload *of = &workloads[p->model.program];
  fprintf(out, "himeno-predict %s\n\n", meta_version());
  if (p->study.n > 0)
    fprintf(out, "  study      %d %ss of kernel %s, backend %s, %s; %d documents left aside\n", p->study.n,
            p->model.program == STUDY_GEMM ? of->work : "run", p->study.runs[0].kernel,
            p->study.runs[0].backend, p->study.runs[0].device, p->study.n_left);
  else
    fprintf(out, "  model      %s\n", p->config.model);
  fprintf(out, "  measured   up to %d rank%s on %d host%s, %.3g to %.3g %ss a rank%s\n",
          p->model.range.ranks_most, p->model.range.ranks_most == 1 ? "" : "s", p->model.range.hosts_most,
          p->model.range.hosts_most == 1 ? "" : "s", p->model.range.points_least, p->model.range.points_most,
          of->point,
          p->model.range.ranks_most == 1 ? "; what goes between ranks is a guess from comm-gpu's paths" : "");
  if (p->model.program == STUDY_GEMM && p->model.product.panel > 0)
    fprintf(out, "  panels     of k %lld, as in the study\n", (long long)p->model.product.panel);
  print_left(&p->study, out);
  if (p->config.sweeps_a_pass > 0)
    fprintf(out, "  what if    a pass made %d sweeps\n", (int)p->config.sweeps_a_pass);
  if (p->config.scale.compute != 1 || p->config.scale.exchange != 1)
    fprintf(out, "  what if    computing took %g times as long, the exchange %g times\n",
            p->config.scale.compute, p->config.scale.exchange);
}

/* Whether slabs go first. */
static int has_boundary(const struct model_terms *terms)
{
  int slabs = 0;
  for (int d = 0; d < 3; d++) slabs |= terms->fitted.value[TERM_SLAB_I + d] > 0;
  return slabs && (model_steps_hidden(terms) || !terms->slabs_hidden);
}

static int has_synchronisation(const struct model_terms *terms)
{
  int waits = 0;
  for (int w = 0; w < terms->paths.n; w++)
    waits |= terms->fitted.value[model_transport_column(w, TRANSPORT_SYNC)] > 0;
  return waits;
}

static void print_terms(const struct model_terms *terms, const struct model_errors *errors, FILE *out)
{
  char name[96];
  const double *value = terms->fitted.value;
  for (int c = 0; c < terms->columns; c++)
    if (errors->seen[c] && value[c] > 0)
      fprintf(out, "    %-28s %12.4g  +- %.2g\n", model_term_name(&terms->paths, c, name), value[c],
              errors->error[c]);
  if (terms->fitted.cache_points > 0)
    fprintf(out, "    cache holds about            %12.4g points\n", terms->fitted.cache_points);
  if (terms->tile_points > 0)
    fprintf(out, "    rows are swept in tiles of   %12.4g points\n", terms->tile_points);
  for (int w = 0; w < terms->paths.n; w++) {
    const struct study_transport *path = &terms->paths.transports[w];
    for (int where = 0; where < STUDY_WHERES; where++)
      if (path->known[where])
        fprintf(out, "    %-9s %-17s %9.2f us + bytes / %.3g GB/s%s%s\n", path->name,
                where == STUDY_SAME_HOST ? "within a host" : "between hosts", path->latency[where] * 1e6,
                path->bandwidth[where] / 1e9, path->handover < 0 ? "" : ", ",
                path->handover < 0 ? "" : study_staging(path->handover));
  }
}

static void print_errors(const struct study_paths *paths, const struct model_errors *errors, FILE *out)
{
  const int some = errors->freedom > 0;
  if (some)
    fprintf(out, "    a run is off by %.1f%% (%.1f degrees of freedom)", 100 * errors->spread,
            errors->freedom);
  else
    fprintf(out, "    no interval: the model has no errors");
  for (int w = 0; w < paths->n && some; w++)
    fprintf(out, "%s by %s %.1f%%", w ? "," : ":", paths->transports[w].name,
            100 * errors->transport_spread[w]);
  fprintf(out, "\n");
  for (int w = 0; w < paths->n && some; w++)
    fprintf(out,
            "    beyond what was measured by %s: %.0f%% more for a size, %.0f%% for a cut, %.0f%% for each "
            "doubling of "
            "ranks\n",
            paths->transports[w].name, 100 * errors->transport_off[w][KIND_SIZE],
            100 * errors->transport_off[w][KIND_CUT], 100 * errors->transport_off[w][KIND_RANKS]);
}

static void print_model(const struct model *m, FILE *out)
{
  fprintf(out, "\n  Fitted: seconds a %s = %s%s%s\n", workloads[m->program].work,
          workloads[m->program].formula[m->terms.overlap > 0], has_boundary(&m->terms) ? " + boundary" : "",
          has_synchronisation(&m->terms) ? " + synchronisation" : "");
  print_terms(&m->terms, &m->errors, out);
  print_errors(&m->terms.paths, &m->errors, out);
}

void predict_report_covered(const struct model_coverage *coverage, FILE *out)
{
  for (int c = 0; c < coverage->n; c++) {
    const struct model_covered *covered = &coverage->group[c];
    if (c == 0)
      fprintf(out, "    intervals of 90%% held %d of %d runs that had no part in their widths",
              covered->inside, covered->n);
    else
      fprintf(out, "%s %s %d of %d", c > 1 ? "," : ":", covered->of, covered->inside, covered->n);
  }
  if (coverage->n > 0) fprintf(out, "\n");
}

static void print_point(const struct predict_point *point, FILE *out)
{
  char cut[STUDY_TEXT];
  const struct model_time *t = &point->time;
  if (!point->predicted) {
    fprintf(out, "  %-6s %5d  not predicted: %s\n", point->size.name, point->ranks, point->why);
    return;
  }
  fprintf(out, "  %-6s %5d  %7s  %11.2f", point->size.name, point->ranks,
          study_cut_text(point->geometry.procs, cut), t->seconds * 1e6);
  if (t->low > 0) fprintf(out, " (%.2f ... %.2f)", t->low * 1e6, t->high * 1e6);
  fprintf(out, "  %9.1f  %5.1f%%  %+5.1f%%  %s%s\n", point->gflops, 100 * point->efficiency,
          100 * (t->seconds / point->twice_network - 1), model_limit_names[t->limit],
          t->extrapolated ? " *" : "");
}

static void print_points(const struct predict *p, FILE *out)
{
  const struct predict_point *last = NULL;
  for (int n = 0; n < p->n; n++) {
    const struct predict_point *point = &p->points[n];
    if (!last || strcmp(last->transport, point->transport) != 0 || last->weak != point->weak)
      fprintf(out,
              "\n  %s scaling by %s\n  size   ranks  cut        us a %s (90%%)  GFLOPS  efficiency  "
              "network x2  limit\n",
              point->weak ? "Weak" : "Strong", point->transport, workloads[p->model.program].work);
    print_point(point, out);
    last = point;
  }
}

/* One line a reason, for all that have it. */
static void print_beyond(const struct predict *p, FILE *out)
{
  const char *point = workloads[p->model.program].point;
  for (int b = 0; b < PREDICT_BEYONDS; b++) {
    const struct predict_beyond *beyond = &predict_beyonds[b];
    int count = 0;
    for (int n = 0; n < p->n; n++)
      count += p->points[n].predicted && (p->points[n].time.extrapolated & (int)beyond->what);
    if (count > 0) fprintf(out, "  * extrapolated (%d of %d): %s", count, p->n, beyond->text);
    if (count > 0 && beyond->what & (BEYOND_SMALL | BEYOND_LARGE))
      fprintf(out, " %ss a rank than any run", point);
    if (count > 0) fprintf(out, "\n");
  }
}

static void print_ends(const struct predict *p, FILE *out)
{
  const char *work = workloads[p->model.program].work;
  if (p->n_ends > 0) fprintf(out, "\n  Where strong scaling ends\n");
  for (int n = 0; n < p->n_ends; n++) {
    const struct predict_end *end = &p->ends[n];
    if (end->searched_ranks == 0) continue;
    fprintf(out, "    %-6s by %-9s  half of the efficiency is left at %d rank%s, ", end->size.name,
            end->transport, end->efficient_ranks, end->efficient_ranks == 1 ? "" : "s");
    if (end->fastest_ranks < end->searched_ranks)
      fprintf(out, "a %s is shortest at", work);
    else
      fprintf(out, "and it still gains at the last searched,");
    fprintf(out, " %d rank%s (%.2f us a %s)\n", end->fastest_ranks, end->fastest_ranks == 1 ? "" : "s",
            end->fastest_seconds * 1e6, work);
  }
}

static void print_pair(const struct validate_pair *pair, FILE *out)
{
  const struct study_run *run = &pair->run;
  char cut[STUDY_TEXT];
  fprintf(out, "    %-12s %-6s %-6s %4d  %7s  %-9s %11.2f", pair->left, run->size,
          run->weak ? "weak" : "strong", run->ranks, study_cut_text(run->procs, cut), run->transport,
          run->seconds * 1e6);
  if (!pair->predicted)
    fprintf(out, "  too few runs left to fit\n");
  else
    fprintf(out, " %11.2f  %+6.1f%%%s\n", pair->time.seconds * 1e6, 100 * pair->error,
            validate_is_outside(pair) ? "  outside" : "");
}

static void predict_print_table(const struct validate_table *table, FILE *out)
{
  double median, worst;
  int n;
  validate_summary(table, &median, &worst, &n);
  fprintf(out, "    %-12s size          ranks  cut      transport    measured   predicted us\n", "");
  for (int p = 0; p < table->n && p < PAIRS_SHOWN; p++) print_pair(&table->pairs[p], out);
  if (table->n > PAIRS_SHOWN)
    fprintf(out, "    ... and %d more: --json has them all\n", table->n - PAIRS_SHOWN);
  fprintf(out, "    %d of %d predicted", n, table->n);
  if (n > 0) fprintf(out, ", median error %.1f%%, worst %.1f%%", 100 * median, 100 * worst);
  fprintf(out, "\n");
}

void predict_report_against(const struct predict *p, FILE *out)
{
  fprintf(out, "\n  Beside the runs\n");
  print_left(&p->beside, out);
  predict_print_table(&p->against, out);
}

void predict_report_text(const struct predict *p, FILE *out)
{
  predict_print_config(p, out);
  print_model(&p->model, out);
  predict_report_covered(&p->model.coverage, out);
  print_points(p, out);
  print_beyond(p, out);
  print_ends(p, out);
  if (p->validation.n > 0) {
    fprintf(out, "\n  Left out in turn, fitted without, predicted\n");
    predict_print_table(&p->validation, out);
  }
  if (p->config.against) predict_report_against(p, out);
}
