/* SPDX-License-Identifier: MIT */
/* himeno-sim: himeno-gpu's decomposition, halo plan and transport at thousands of ranks,
 * simulated. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/meta.h"
#include "base/output.h"
#include "base/report.h"
#include "comm/halo/halo.h"
#include "himeno/problem.h"
#include "suite/program.h"
#include "tools/predict/model.h"
#include "tools/sim/sim.h"

#define SCHEMA "himeno-sim/1"

static struct sim {
  struct sim_config config;
  struct model model;
  int way;
  FILE *out;
  json_t *runs;
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
  s->way = s->config.transport ? model_way(&s->model, s->config.transport) : 0;
  if (s->way >= 0 && s->way < s->model.paths.n) return STATUS_OK;
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

static double gflops(const struct sim_point *p, double seconds)
{
  return himeno_gflops(himeno_points(p->global), 1, seconds);
}

static void network_add(const struct sim *s, json_t *config)
{
  const struct sim_config *c = &s->config;
  if (c->platform) {
    object_text(config, "network", c->platform);
    return;
  }
  object_text(config, "network", "fat-tree");
  object_whole(config, "leaf", (int)c->leaf);
  object_real(config, "taper", c->taper);
}

static json_t *run_json(const struct sim *s, const struct sim_point *p, json_t *outcome)
{
  double seconds = sweep_seconds(outcome);
  json_t *config = json_object();
  object_text(config, "size", p->size.name);
  object_whole(config, "imax", p->global[0]);
  object_whole(config, "jmax", p->global[1]);
  object_whole(config, "kmax", p->global[2]);
  object_flag(config, "weak", p->weak);
  object_text(config, "backend", "sim");
  object_text(config, "kernel", "fitted");
  object_whole(config, "T", s->model.depth);
  object_text(config, "transport", s->model.paths.ways[s->way].name);
  object_set(config, "procs", json_pack("[i,i,i]", p->procs[0], p->procs[1], p->procs[2]));
  object_whole(config, "ranks", p->ranks);
  object_whole(config, "hosts", hosts_of(s, p->ranks));
  object_whole(config, "per_host", (int)s->config.per_host);
  object_flag(config, "overlap", s->model.overlap);
  network_add(s, config);
  object_whole(config, "sweeps", (int)s->config.passes * s->model.depth);
  json_t *result = json_pack("{s:o, s:o, s:s}", "seconds",
                             report_json_real(seconds * (double)s->config.passes * s->model.depth), "gflops",
                             report_json_real(gflops(p, seconds)), "verdict", "pass");
  object_set(outcome, "config", config);
  object_set(outcome, "result", result);
  return outcome;
}

static void path_print(const struct sim *s, enum study_where where)
{
  const char *place = where == STUDY_SAME_HOST ? "within a host" : "between hosts";
  const double bandwidth = sim_bandwidth(&s->model, s->way, where);
  if (where == STUDY_OTHER_HOST && s->config.platform)
    fprintf(s->out, ", between hosts as %s says", s->config.platform);
  else if (bandwidth > 0)
    fprintf(s->out, ", %.3g us a message and %.3g GB/s %s%s", 1e6 * sim_latency_of(&s->model, s->way, where),
            bandwidth / 1e9, place,
            where == STUDY_OTHER_HOST && model_within_hosts(s->model.paths.ways[s->way].name) ? ", by staged"
                                                                                              : "");
  else
    fprintf(s->out, ", nothing known %s", place);
}

static void head_print(const struct sim *s)
{
  const struct sim_config *c = &s->config;
  fprintf(s->out, "himeno-sim %s\n\n", meta_version());
  fprintf(s->out, "  model      %s: %s", c->model, s->model.paths.ways[s->way].name);
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
          cut, 1e6 * seconds, gflops(p, seconds),
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
  json_t *outcome = NULL;
  RETURN_IF_FAILED(point_make(s, size, ranks, &point));
  const struct geometry messages = {
      .hosts = hosts_of(s, ranks), .messages = {ranks > 1 && s->config.per_host > 1, hosts_of(s, ranks) > 1}};
  RETURN_IF_FAILED(model_paths_check(&s->model, &messages, s->way));
  RETURN_IF_FAILED(sim_point_run(&s->config, &s->model, s->way, &point, &outcome));
  json_array_append_new(s->runs, run_json(s, &point, outcome));
  row_print(s, &point, outcome);
  return STATUS_OK;
}

static json_t *document(void)
{
  json_t *document = report_json_frame(SCHEMA, "himeno-sim");
  return document && json_object_set(document, "runs", sim.runs) == 0 ? document : NULL;
}

static status_t simulate(int *ended)
{
  const struct sim_config *c = &sim.config;
  sim.out = program_out(c->json);
  sim.runs = json_array();
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

static void close_all(void)
{
  json_decref(sim.runs);
}

static const struct program program = {.options = &sim_options,
                                       .config = &sim.config,
                                       .json = &sim.config.json,
                                       .run = simulate,
                                       .document = document,
                                       .close = close_all};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
