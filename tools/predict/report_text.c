/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/meta.h"
#include "tools/predict/predict.h"
#include "tools/predict/workload.h"

#define PAIRS_SHOWN 20
#define LEFT_SHOWN  8
#define KINDS_SHOWN 3 /* maximum lines about runs of another kernel, backend or device */

/* Prints left-out runs with the reasons, but no runs that were left out for their number of
 * ranks. */
static void print_left(const struct study *study, FILE *out)
{
  for (int reason = LEFT_FAILED; reason < STUDY_REASONS; reason++) {
    const int shown = reason == LEFT_KIND ? KINDS_SHOWN : LEFT_SHOWN;
    int n = 0;
    for (int l = 0; l < study->n_left && reason != LEFT_RANKS; l++) {
      const struct study_left *left = &study->left[l];
      if ((int)left->reason == reason && n++ < shown) fprintf(out, "    %s: %s\n", left->file, left->why);
    }
    if (n > shown)
      fprintf(out, "    and %d more %s; --json lists them\n", n - shown,
              reason == LEFT_KIND ? "of another kernel, backend or device" : "for this reason");
    if (n > 0 && reason >= LEFT_DUPLICATE)
      fprintf(out, "    --include %s uses %s\n", study_reason_names[reason], n == 1 ? "it too" : "them too");
  }
}

static void predict_print_config(const struct predict *p, FILE *out)
{
  const struct workload *of = &workloads[p->model.program];
  fprintf(out, "himeno-predict %s\n\n", meta_version());
  predict_report_covered(&p->model.coverage, out);
  if (p->study.n > 0)
    fprintf(out, "  study      %d %ss of kernel %s, backend %s, %s\n", p->study.n,
            p->model.program == STUDY_GEMM ? of->work : "run", p->study.runs[0].kernel,
            p->study.runs[0].backend, p->study.runs[0].device);
  else
    fprintf(out, "  model      %s\n", p->config.model);
  fprintf(out, "  measured   up to %d rank%s on %d host%s, %.0f to %.0f %ss per rank%s\n",
          p->model.range.ranks_most, p->model.range.ranks_most == 1 ? "" : "s", p->model.range.hosts_most,
          p->model.range.hosts_most == 1 ? "" : "s", p->model.range.points_least, p->model.range.points_most,
          of->point,
          p->model.range.ranks_most == 1
              ? "; the cost of halos is only estimated, from comm-gpu's measurements"
              : "");
  if (p->model.program == STUDY_GEMM && p->model.product.panel > 0)
    fprintf(out, "  panels     %lld columns of A, as in the study\n", (long long)p->model.product.panel);
  if (p->study.n_left > 0) fprintf(out, "  not used   %d documents, see the end\n", p->study.n_left);
  if (p->config.sweeps_a_pass > 0)
    fprintf(out, "  what if    a kernel made %d sweeps per pass over memory\n", (int)p->config.sweeps_a_pass);
  if (p->config.scale.compute != 1 || p->config.scale.exchange != 1)
    fprintf(out, "  what if    computing took %g times as long, the exchange %g times\n",
            p->config.scale.compute, p->config.scale.exchange);
}

/* Returns whether the model has a term for slabs, which are then computed first. */
static int has_boundary(const struct model_terms *terms)
{
  int slabs = 0;
  for (int d = 0; d < 3; d++) slabs |= terms->fitted.value[TERM_SLAB_I + d] > 0;
  return slabs && (model_steps_hidden(terms) || !terms->slabs_hidden);
}

static void print_terms(const struct model_terms *terms, const struct model_errors *errors, FILE *out)
{
  char part[96], last[96] = "";
  for (int c = 0; c < terms->columns; c++) {
    const struct model_term_text *term = model_term_text(c);
    if (!errors->seen[c] || terms->fitted.value[c] <= 0) continue;
    snprintf(part, sizeof part, "%s%s%s", term->part, c < TERMS ? "" : " by ",
             c < TERMS ? "" : terms->paths.transports[(c - TERMS) / TRANSPORT_TERMS].name);
    const int goes_on = strcmp(part, last) == 0;
    fprintf(out, "    %-28s %s %.4g %s", goes_on ? "" : part, goes_on ? (c == TERM_CACHE ? "-" : "+") : "=",
            term->scale * terms->fitted.value[c],
            c == TERM_IDLE && terms->tile[0] > 0 ? "ps per element of C where k is in parts" : term->text);
    fprintf(out, errors->error[c] > 0 ? " (+- %.2g)\n" : " (fixed)\n", term->scale * errors->error[c]);
    snprintf(last, sizeof last, "%s", part);
  }
  if (terms->fitted.cache_points > 0)
    fprintf(out, "    the cache holds %.4g points\n", terms->fitted.cache_points);
  if (terms->tile[0] > 0)
    fprintf(out, "    C is made in rounds of %d tiles of %dx%d\n", terms->units, terms->tile[0],
            terms->tile[1]);
  if (terms->fitted.hinder > 0)
    fprintf(out, "    a hidden second of an exchange that a host attends costs %.3g s\n",
            terms->fitted.hinder);
  if (terms->tile_points > 0) fprintf(out, "    rows are swept in tiles of %g points\n", terms->tile_points);
  for (int w = 0; w < terms->paths.n; w++) {
    const struct study_transport *path = &terms->paths.transports[w];
    for (int where = 0; where < STUDY_WHERES; where++)
      if (path->known[where])
        fprintf(out, "    path by %s %s: %.2f us + bytes / %.3g GB/s%s%s\n", path->name,
                where == STUDY_SAME_HOST ? "within a host" : "between hosts", path->latency[where] * 1e6,
                path->bandwidth[where] / 1e9, path->handover < 0 ? "" : ", ",
                path->handover < 0 ? "" : study_staging(path->handover));
  }
}

static void print_model(const struct model *m, FILE *out)
{
  const struct study_paths *paths = &m->terms.paths;
  const int fitted = m->errors.freedom > 0;
  int waits = 0;
  for (int w = 0; w < paths->n; w++)
    waits |= m->terms.fitted.value[model_transport_column(w, TRANSPORT_SYNC)] > 0;
  fprintf(out, "\n  Model: seconds per %s = %s%s%s\n", workloads[m->program].work,
          workloads[m->program].formula[m->terms.overlap > 0], has_boundary(&m->terms) ? " + boundary" : "",
          waits ? " + synchronisation" : "");
  if (model_steps_hidden(&m->terms))
    fprintf(out, "  interior = sqrt((time of passes)^2 + (time of points)^2); one exchange per %d sweeps\n",
            m->terms.depth);
  fprintf(out, "  V: %ss of the rank; +-: standard error; exchange and synchronisation: per exchange\n",
          workloads[m->program].point);
  print_terms(&m->terms, &m->errors, out);
  if (m->range.sharers_most > 1)
    fprintf(out, "    each of %d ranks on one memory takes %.2f times as long per point\n",
            m->range.sharers_most, model_slowdown(m->terms.fitted.share, m->range.sharers_most));
  fprintf(out,
          fitted ? "    typical error of the fitted time of a run: %.1f%%"
                 : "    no interval: the model has no errors",
          100 * m->errors.spread);
  for (int w = 0; w < paths->n && fitted; w++)
    fprintf(out, "%s %s %.1f%%", w ? "," : ";", paths->transports[w].name,
            100 * m->errors.transport_spread[w]);
  fprintf(out, "\n");
}

static int is_kind(const char *group)
{
  for (int k = 0; k < KINDS; k++)
    if (strcmp(group, model_kind_names[k]) == 0) return 1;
  return 0;
}

/* Called first, so that the report begins with the accuracy of its predictions. */
void predict_report_covered(const struct model_coverage *coverage, FILE *out)
{
  if (model_is_poor(coverage)) {
    fprintf(out, "  POOR       do not rely on these predictions: exit status 5\n");
    for (int c = 0; c < coverage->n_causes; c++) fprintf(out, "  cause      %s\n", coverage->cause[c]);
  }
  if (coverage->predicted > 0)
    fprintf(out,
            "  accuracy   each group of runs, left out of the fit, is predicted to %.1f%% (median; worst "
            "%.1f%%)\n",
            100 * coverage->median, 100 * coverage->worst);
  if (coverage->n == 0) return;
  fprintf(out, "  intervals  %d of %d predictions of left-out runs lie inside their 90%% interval",
          coverage->group[0].inside, coverage->group[0].n);
  for (int c = 1; c < coverage->n; c++) {
    const struct model_covered *covered = &coverage->group[c];
    fprintf(out, "%s %s %d of %d",
            c == 1                                            ? "\n             left out by"
            : is_kind(covered->of) != is_kind(covered[-1].of) ? ";\n             of all"
                                                              : ",",
            strcmp(covered->of, "cut") == 0 ? "division" : covered->of, covered->inside, covered->n);
  }
  fprintf(out, "\n");
}

static void print_point(const struct predict *p, const struct predict_point *point, FILE *out)
{
  char cut[STUDY_TEXT], interval[64] = "", measured[32] = "-";
  const struct model_time *t = &point->time;
  const int is_measured = point->n_measured > 0;
  const char *limit = model_limit_names[t->limit];
  if (!point->predicted) {
    const char *advice = strstr(point->why, ": run ");
    const int length = advice ? (int)(advice - point->why) : (int)strlen(point->why);
    fprintf(out, "  %-5s %5d  not predicted: %.*s\n", point->size.name, point->ranks, length, point->why);
    if (advice) fprintf(out, "      %s\n", advice + 2);
    return;
  }
  if (t->low > 0) snprintf(interval, sizeof interval, "(%.4g-%.4g)", t->low * 1e6, t->high * 1e6);
  if (is_measured) snprintf(measured, sizeof measured, "%.2f", point->measured * 1e6);
  fprintf(out, "  %-5s %5d %7s %8s %8.2f %-13s %8.1f %6.1f%% %5.1f%% %+6.1f%% %s%s", point->size.name,
          point->ranks, study_cut_text(point->geometry.procs, cut), measured, t->seconds * 1e6, interval,
          is_measured ? predict_gflops(p, &point->geometry, point->measured) : point->gflops,
          100 * predict_efficiency(point), 100 * point->ideal, 100 * (t->seconds / point->twice_network - 1),
          limit + (strncmp(limit, "exchange ", 9) == 0 ? 9 : 0), t->extrapolated ? " *" : "");
  for (int b = 0; b < PREDICT_BEYONDS; b++)
    if (t->extrapolated & (int)predict_beyonds[b].what) fputc('a' + b, out);
  fputc('\n', out);
}

static void print_points(const struct predict *p, FILE *out)
{
  const struct predict_point *last = NULL;
  for (int n = 0; n < p->n; n++) {
    const struct predict_point *point = &p->points[n];
    if (!last || strcmp(last->transport, point->transport) != 0 || last->weak != point->weak)
      fprintf(out,
              "\n  %s scaling by %s, us per %s\n"
              "  size  ranks divided measured    model (90%%)          GFLOPS    eff.  ideal links x2 "
              "longest\n",
              point->weak ? "Weak" : "Strong", point->transport, workloads[p->model.program].work);
    print_point(p, point, out);
    last = point;
  }
  if (p->n == 0) return;
  fprintf(out,
          "\n  GFLOPS, eff. (efficiency): of the measured time where there is one\n"
          "  ideal: efficiency by the model if all devices are alike\n"
          "  (90%%): interval that holds 90%% of runs; longest: part of the time; latency, bandwidth: of "
          "exchange\n"
          "  links x2: how much faster if latency and time per byte between ranks were half of what they "
          "are\n");
}

/* Returns the largest cost other than computing, or computing if that cost is less than a twentieth
 * of the time. */
static const char *limit_text(const struct predict_point *point)
{
  const struct model_time *t = &point->time;
  const char *link = t->between_hosts ? "the network between hosts" : "the links between devices";
  const struct {
    double seconds;
    const char *text;
  } costs[] = {{0.05 * t->seconds, "computing"},
               {t->exposed, link},
               {t->boundary, "computing next to halos, which comes first"},
               {t->synchronisation, "the synchronisation of host and device"},
               {t->reduction, "the sum over all ranks"},
               {t->interior * point->late / (1 + point->late), "the slowest device"}};
  int most = 0;
  for (int c = 1; c < 6; c++)
    if (costs[c].seconds > costs[most].seconds) most = c;
  return costs[most].text;
}

/* Prints one prediction: for one scaling and transport, the largest size on the most ranks. */
static void print_answer(const struct predict *p, const struct predict_point *point, FILE *out)
{
  const struct model_time *t = &point->time;
  const double seconds = point->n_measured > 0 ? point->measured : t->seconds,
               scale = seconds < 1e-3 ? 1e6 : 1e3;
  fprintf(out, "  %s scaling of %s by %s: at %d %s %.3g %s per %s", point->weak ? "Weak" : "Strong",
          point->size.name, point->transport, point->ranks,
          p->study.n > 0 && strcmp(p->study.runs[0].backend, "cuda") == 0 ? "GPUs" : "ranks", scale * seconds,
          scale > 1e3 ? "us" : "ms", workloads[p->model.program].work);
  if (point->n_measured > 0)
    fprintf(out, ", measured (model: %.3g)", scale * t->seconds);
  else if (t->low > 0)
    fprintf(out, " (%.3g ... %.3g)", scale * t->low, scale * t->high);
  fprintf(out, ",\n    %.1f%% efficiency", 100 * predict_efficiency(point));
  if (point->late > 0) fprintf(out, " (%.1f%% if the slowest device were as the others)", 100 * point->ideal);
  fprintf(out, ";\n    limited by %s; halving the message time would bring %.1f%%%s\n", limit_text(point),
          100 * (point->n_measured > 0 ? predict_efficiency(point) * t->seconds / point->twice_network
                                       : point->twice),
          t->extrapolated ? " (extrapolated)" : "");
}

static void print_answers(const struct predict *p, FILE *out)
{
  fprintf(out, "\n");
  for (int first = 0, next; first < p->n; first = next) {
    const struct predict_point *best = NULL, *begin = &p->points[first];
    for (next = first; next < p->n && strcmp(p->points[next].transport, begin->transport) == 0 &&
                       p->points[next].weak == begin->weak;
         next++) {
      const struct predict_point *point = &p->points[next];
      if (point->predicted && point->ranks > 1 &&
          (!best || point->ranks > best->ranks ||
           (point->ranks == best->ranks && point->geometry.all_points > best->geometry.all_points)))
        best = point;
    }
    if (best) print_answer(p, best, out);
  }
}

/* Prints one line per limit of the measured range that any prediction exceeds. */
static void print_beyond(const struct predict *p, FILE *out)
{
  const char *point = workloads[p->model.program].point;
  for (int b = 0; b < PREDICT_BEYONDS; b++) {
    const struct predict_beyond *beyond = &predict_beyonds[b];
    int count = 0;
    for (int n = 0; n < p->n; n++)
      count += p->points[n].predicted && (p->points[n].time.extrapolated & (int)beyond->what);
    if (count > 0) fprintf(out, "  *%c extrapolated: %s", 'a' + b, beyond->text);
    if (count > 0 && beyond->what & (BEYOND_SMALL | BEYOND_LARGE))
      fprintf(out, " %ss per rank than any run", point);
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
    fprintf(out, "    %-6s by %-9s  efficiency is 50%% or more up to %d rank%s; ", end->size.name,
            end->transport, end->efficient_ranks, end->efficient_ranks == 1 ? "" : "s");
    if (end->fastest_ranks < end->searched_ranks)
      fprintf(out, "a %s is shortest on", work);
    else
      fprintf(out, "a %s still gets shorter up to the most ranks tried,", work);
    fprintf(out, " %d (%.2f us)\n", end->fastest_ranks, end->fastest_seconds * 1e6);
  }
}

static void print_pair(const struct validate_pair *pair, FILE *out)
{
  const struct study_run *run = &pair->run;
  char cut[STUDY_TEXT];
  fprintf(out, "    %-12s %-6s %-8s %5d  %7s  %-9s %11.2f", pair->left, run->size,
          run->weak ? "weak" : "strong", run->ranks, study_cut_text(run->procs, cut),
          run->ranks > 1 ? run->transport : "-", run->seconds * 1e6);
  if (!pair->predicted)
    fprintf(out, "  too few runs left to fit\n");
  else
    fprintf(out, " %12.2f  %+6.1f%%%s\n", pair->time.seconds * 1e6, 100 * pair->error,
            validate_is_outside(pair) ? "  outside its interval" : "");
}

static void predict_print_table(const struct validate_table *table, FILE *out)
{
  double median, worst;
  int n;
  validate_summary(table, &median, &worst, &n);
  fprintf(out, "    %-12s size   scaling  ranks  divided  transport measured us predicted us  error\n",
          "group");
  for (int p = 0; p < table->n && p < PAIRS_SHOWN; p++) print_pair(&table->pairs[p], out);
  if (table->n > PAIRS_SHOWN)
    fprintf(out, "    ... and %d more: --json has them all\n", table->n - PAIRS_SHOWN);
  fprintf(out, "    %d of %d predicted", n, table->n);
  if (n > 0) fprintf(out, ", median error %.1f%%, worst %.1f%%", 100 * median, 100 * worst);
  fprintf(out, "\n");
}

void predict_report_against(const struct predict *p, FILE *out)
{
  fprintf(out, "\n  Compared with measured runs (--against)\n");
  print_left(&p->compared, out);
  predict_print_table(&p->against, out);
}

void predict_report_text(const struct predict *p, FILE *out)
{
  predict_print_config(p, out);
  print_answers(p, out);
  print_points(p, out);
  print_beyond(p, out);
  print_ends(p, out);
  print_model(&p->model, out);
  if (p->study.n_left > 0) fprintf(out, "\n  Documents that were not used\n");
  print_left(&p->study, out);
  if (p->validation.n > 0) {
    fprintf(out, "\n  Check of the model: one group of runs at a time left out of the fit, and predicted\n");
    predict_print_table(&p->validation, out);
  }
  if (p->config.against) predict_report_against(p, out);
}
