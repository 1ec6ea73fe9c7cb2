/* SPDX-License-Identifier: MIT */
/* himeno-sim: himeno-gpu's decomposition, halo plan and transport at thousands of ranks,
 * simulated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/meta.h"
#include "base/output.h"
#include "comm/halo/halo.h"
#include "himeno/problem.h"
#include "suite/program.h"
#include "tools/predict/model.h"
#include "tools/sim/sim.h"

struct sim_run {
  struct sim_point point;
  json_t *outcome;
};

static struct sim {
  struct sim_config config;
  struct model model;
  int via;
  FILE *out;
  struct sim_run *runs;
  int n;
} sim;

/* SimGrid would say less. */
static status_t platform_check(const struct sim_config *c)
{
  struct stat info;
  option_ignore(c->platform ? SIM_GIVEN : SIM_MADE, c->platform ? "--platform" : "a platform of its own");
  if (!c->platform) return STATUS_OK;
  if (stat(c->platform, &info) != 0 || access(c->platform, R_OK) != 0)
    return log_fail(STATUS_USAGE, "%s: %m", c->platform);
  return S_ISREG(info.st_mode) ? STATUS_OK : log_fail(STATUS_USAGE, "%s: is no file", c->platform);
}

static status_t way_choose(struct sim *s)
{
  s->via = s->config.transport ? model_transport_find(&s->model, s->config.transport) : 0;
  if (s->via >= 0 && s->via < s->model.paths.n) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s: its model has no transport %s", s->config.model,
                  s->config.transport ? s->config.transport : "at all");
}

/* Whether MPI takes the messages of all ranks, before any is simulated. */
static status_t messages_check(const struct sim_point *point, int depth)
{
  for (int r = 0; r < point->ranks; r++) {
    struct decomp decomp;
    struct layout layout;
    struct halo_plan plan;
    decomp_init(&decomp, point->global, point->procs, r);
    RETURN_IF_FAILED(layout_init(&layout, &decomp, depth, 0));
    halo_plan_init(&plan, &decomp, &layout, depth);
    RETURN_IF_FAILED(halo_plan_check(&plan));
  }
  return STATUS_OK;
}

static status_t point_make(const struct sim *s, const struct grid_size *size, int ranks,
                           struct sim_point *point)
{
  static const int alone[3] = {1, 1, 1};
  const struct decomp_rules rules = {.depth = s->model.depth};
  *point = (struct sim_point){.size = *size, .ranks = ranks, .weak = s->config.weak};
  RETURN_IF_FAILED(decomp_cut(ranks, size->extent, point->weak, &rules, ranks == 1 ? alone : s->config.procs,
                              point->procs, point->global));
  return messages_check(point, rules.depth);
}

static int hosts_of(const struct sim *s, int ranks)
{
  return (ranks + (int)s->config.per_host - 1) / (int)s->config.per_host;
}

/* ---- results ---- */

static double sweep_seconds(const json_t *outcome)
{
  const json_t *sweep = json_object_get(json_object_get(outcome, "phases"), "sweep");
  return json_number_value(json_object_get(sweep, "max"));
}

static double sim_gflops(const struct sim_point *p, double seconds)
{
  return himeno_gflops(himeno_points(p->global), 1, seconds);
}

static void network_document(struct doc *d, const struct sim_config *c)
{
  doc_text(d, "network", 0, "fat-tree, or the file of a platform that was given.",
           c->platform ? c->platform : "fat-tree");
  doc_whole(d, "leaf", DOC_OPTIONAL | DOC_POSITIVE, "Hosts per switch; with taper, if no platform was given.",
            c->platform ? 0 : c->leaf);
  doc_real(d, "taper", DOC_OPTIONAL | DOC_POSITIVE, "", "", c->platform ? 0 : c->taper);
}

static void sim_config_document(struct doc *d, const struct sim *s, const struct sim_point *p)
{
  if (!doc_object(d, "config", 0, "", 1)) return;
  doc_text(d, "size", 0, "", p->size.name);
  doc_whole(d, "imax", DOC_POSITIVE, "", p->global[0]);
  doc_whole(d, "jmax", DOC_POSITIVE, "", p->global[1]);
  doc_whole(d, "kmax", DOC_POSITIVE, "", p->global[2]);
  doc_flag(d, "weak", 0, "", p->weak);
  doc_const(d, "backend", "sim");
  doc_const(d, "kernel", "fitted");
  doc_whole(d, "T", DOC_POSITIVE, "", s->model.depth);
  doc_text(d, "transport", 0, "", s->model.paths.transports[s->via].name);
  doc_wholes(d, "procs", DOC_POSITIVE, "", p->procs[0], p->procs[1], p->procs[2]);
  doc_whole(d, "ranks", DOC_POSITIVE, "", p->ranks);
  doc_whole(d, "hosts", DOC_POSITIVE, "", hosts_of(s, p->ranks));
  doc_whole(d, "per_host", DOC_POSITIVE, "", s->config.per_host);
  doc_flag(d, "overlap", 0, "", s->model.overlap);
  network_document(d, &s->config);
  doc_whole(d, "sweeps", DOC_POSITIVE, "", s->config.passes * s->model.depth);
  doc_end(d);
}

static double sim_number(const json_t *object, const char *name)
{
  return json_number_value(json_object_get(object, name));
}

/* What the simulated ranks wrote. */
static void outcome_document(struct doc *d, const json_t *outcome)
{
  static const char *const names[] = {SIM_PHASE_NAMES};
  const json_t *phases = json_object_get(outcome, "phases"), *sent = json_object_get(outcome, "exchange");
  if (doc_object(d, "phases", 0, "Over ranks, seconds per sweep.", 1)) {
    for (size_t p = 0; p < sizeof names / sizeof *names; p++) {
      const json_t *phase = json_object_get(phases, names[p]);
      doc_spread(d, names[p],
                 (struct stats_summary){.min = sim_number(phase, "min"),
                                        .median = sim_number(phase, "median"),
                                        .max = sim_number(phase, "max")});
    }
    doc_end(d);
  }
  if (doc_object(d, "exchange", 0, "Of one exchange, sums over ranks.", 1)) {
    doc_real(d, "messages", 0, "", "", sim_number(sent, "messages"));
    doc_real(d, "tokens", 0, "", "Messages of no bytes, one before each halo.", sim_number(sent, "tokens"));
    doc_real(d, "bytes", 0, "B", "", sim_number(sent, "bytes"));
    doc_real(d, "bytes_most", 0, "B", "Of the rank that sends most.", sim_number(sent, "bytes_most"));
    doc_end(d);
  }
  doc_real(d, "simulated_in", 0, "s", "Wall clock.", sim_number(outcome, "simulated_in"));
}

static void run_document(struct doc *d, const struct sim *s, const struct sim_run *run)
{
  const double seconds = sweep_seconds(run->outcome);
  if (!doc_object(d, NULL, 0, "", 1)) return;
  outcome_document(d, run->outcome);
  sim_config_document(d, s, &run->point);
  if (doc_object(d, "result", 0, "", 1)) {
    doc_real(d, "seconds", DOC_POSITIVE, "s", "Simulated, of all timed sweeps, the slowest rank's.",
             seconds * (double)s->config.passes * s->model.depth);
    doc_real(d, "gflops", 0, "GFLOPS", "", sim_gflops(&run->point, seconds));
    doc_const(d, "verdict", "pass");
    doc_end(d);
  }
  doc_end(d);
}

static void path_print(const struct sim *s, enum study_where where)
{
  const char *place = where == STUDY_SAME_HOST ? "within a host" : "between hosts";
  const double bandwidth = sim_bandwidth(&s->model, s->via, where);
  if (where == STUDY_OTHER_HOST && s->config.platform)
    fprintf(s->out, ", between hosts as %s says", s->config.platform);
  else if (bandwidth > 0)
    fprintf(s->out, ", %.3g us per message and %.3g GB/s %s%s",
            1e6 * sim_latency_of(&s->model, s->via, where), bandwidth / 1e9, place,
            where == STUDY_OTHER_HOST && model_within_hosts(s->model.paths.transports[s->via].name)
                ? ", by staged"
                : "");
  else
    fprintf(s->out, ", nothing known %s", place);
}

static void head_print(const struct sim *s)
{
  const struct sim_config *c = &s->config;
  fprintf(s->out, "himeno-sim %s\n\n", meta_version());
  fprintf(s->out, "  model      %s: %s", c->model, s->model.paths.transports[s->via].name);
  for (int where = 0; where < STUDY_WHERES; where++) path_print(s, (enum study_where)where);
  fprintf(s->out, "\n  machine    hosts of %d GPUs, ", (int)c->per_host);
  if (c->platform)
    fprintf(s->out, "%s\n\n", c->platform);
  else
    fprintf(s->out, "fat tree with %d hosts a switch, taper %g\n\n", (int)c->leaf, c->taper);
  fprintf(s->out, "  %-14s %6s %10s %12s %10s %10s %10s %12s %9s\n", c->weak ? "size a rank" : "size",
          "ranks", "cut", "us a sweep", "GFLOPS", "exposed", "messages", "MB a sweep", "took");
}

static void row_print(const struct sim *s, const struct sim_point *p, const json_t *run)
{
  char cut[40];
  const json_t *sent = json_object_get(run, "exchange"), *phases = json_object_get(run, "phases");
  double seconds = sweep_seconds(run);
  snprintf(cut, sizeof cut, "%dx%dx%d", p->procs[0], p->procs[1], p->procs[2]);
  fprintf(s->out, "  %-14s %6d %10s %12.3f %10.5g %9.1f%% %10.0f %12.4g %7.1f s\n", p->size.name, p->ranks,
          cut, 1e6 * seconds, sim_gflops(p, seconds),
          100 * json_number_value(json_object_get(json_object_get(phases, "exposed"), "max")) / seconds,
          json_number_value(json_object_get(sent, "messages")),
          json_number_value(json_object_get(sent, "bytes")) / 1e6 / s->model.depth,
          json_number_value(json_object_get(run, "simulated_in")));
  fflush(s->out);
}

/* ---- the whole ---- */

static status_t point_simulate(struct sim *s, const struct grid_size *size, int ranks)
{
  struct sim_point point;
  struct sim_run *more = realloc(s->runs, (size_t)(s->n + 1) * sizeof *more);
  if (!more) return log_fail(STATUS_ENVIRONMENT, "out of memory for %d runs", s->n + 1);
  s->runs = more;
  RETURN_IF_FAILED(point_make(s, size, ranks, &point));
  const struct geometry messages = {
      .hosts = hosts_of(s, ranks), .messages = {ranks > 1 && s->config.per_host > 1, hosts_of(s, ranks) > 1}};
  RETURN_IF_FAILED(model_paths_check(&s->model, &messages, s->via));
  s->runs[s->n] = (struct sim_run){point, NULL};
  RETURN_IF_FAILED(sim_point_run(&s->config, &s->model, s->via, &point, &s->runs[s->n].outcome));
  row_print(s, &point, s->runs[s->n++].outcome);
  return STATUS_OK;
}

static void sim_main_document(struct doc *d)
{
  doc_frame(d, "himeno-sim/1", "himeno-sim", "A document of himeno-sim", "Simulated runs of himeno-gpu.");
  if (!doc_list(d, "runs", 0, "", 1)) return;
  for (int r = 0; doc_each(d, r, sim.n); r++) run_document(d, &sim, doc_at(d, sim.runs, r));
  doc_end(d);
}

static status_t sim_simulate(int *ended)
{
  const struct sim_config *c = &sim.config;
  sim.out = program_out(c->json);
  RETURN_IF_FAILED(platform_check(c));
  RETURN_IF_FAILED(sim_model_read(c->model, &c->between, c->platform != NULL, &sim.model));
  RETURN_IF_FAILED(way_choose(&sim));
  head_print(&sim);
  for (int n = 0; n < c->sizes.n; n++)
    for (int r = 0; r < c->ranks.n; r++)
      RETURN_IF_FAILED(point_simulate(&sim, &c->sizes.list[n], c->ranks.list[r]));
  *ended = 1;
  return STATUS_OK;
}

static void sim_close_all(void)
{
  for (int r = 0; r < sim.n; r++) json_decref(sim.runs[r].outcome);
  free(sim.runs);
}

static const struct program program = {.options = &sim_options,
                                       .config = &sim.config,
                                       .json = &sim.config.json,
                                       .run = sim_simulate,
                                       .fields = sim_main_document,
                                       .close = sim_close_all};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
