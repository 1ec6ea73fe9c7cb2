/* SPDX-License-Identifier: MIT */
/* himeno-sim: himeno-gpu's decomposition, halo plan and transport at thousands of ranks,
 * simulated. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/meta.h"
#include "base/output.h"
#include "comm/halo/decomp.h"
#include "himeno/problem.h"
#include "suite/program.h"
#include "suite/progress.h"
#include "tools/sim/sim.h"

struct sim_run {
  struct sim_point point;
  struct sim_outcome outcome;
};

static struct sim_setup setup;
static FILE *out;
static struct sim_run *runs; /* shared with the processes that simulate them */
static int n_runs;

/* SimGrid's own message would be shorter. */
static status_t platform_check(const struct sim_config *c)
{
  struct stat info;
  option_ignore(c->platform ? SIM_GIVEN : SIM_MADE, c->platform ? "--platform" : "a platform of its own");
  if (!c->platform) return STATUS_OK;
  if (stat(c->platform, &info) != 0 || access(c->platform, R_OK) != 0)
    return log_fail(STATUS_USAGE, "%s: %m", c->platform);
  return S_ISREG(info.st_mode) ? STATUS_OK : log_fail(STATUS_USAGE, "%s: is no file", c->platform);
}

/* On the user's platform messages between hosts take its time, and at their ends the time of staged
 * halos within a host. */
static status_t model_read(const struct sim_config *c, struct model_terms *terms)
{
  struct model model;
  struct study_paths *paths = &terms->paths;
  RETURN_IF_FAILED(model_json_read(c->model, NULL, &model));
  *terms = model.terms;
  if (model.program != STUDY_HIMENO)
    return log_fail(STATUS_USAGE, "--model %s is a model of %s; only himeno-gpu can be simulated", c->model,
                    model_program_names[model.program]);
  const int staged = study_transport_find(paths, "staged");
  struct study_between given = c->between;
  if (c->platform && staged >= 0)
    given = (struct study_between){paths->transports[staged].latency[STUDY_SAME_HOST], SIM_UNLIMITED};
  model_between_set(&given, paths);
  setup.via = c->transport ? study_transport_find(paths, c->transport) : 0;
  if (setup.via >= 0 && setup.via < paths->n) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s: its model has no transport %s", c->model,
                  c->transport ? c->transport : "at all");
}

static status_t point_make(const struct grid_size *size, int ranks, struct sim_point *point)
{
  static const int alone[3] = {1, 1, 1};
  const struct decomp_rules rules = {.depth = setup.model.depth};
  *point = (struct sim_point){.size = *size, .ranks = ranks, .weak = setup.config.weak};
  return decomp_cut(ranks, size->extent, point->weak, &rules, ranks == 1 ? alone : setup.config.procs,
                    point->procs, point->global);
}

static int hosts_of(int ranks)
{
  return (ranks + (int)setup.config.per_host - 1) / (int)setup.config.per_host;
}

/* ---- results ---- */

static double sim_gflops(const struct sim_run *run)
{
  return himeno_gflops(himeno_points(run->point.global), 1, run->outcome.phases[SIM_SWEEP].max);
}

static void sim_config_document(struct doc *d, const struct sim_point *p)
{
  const struct sim_config *c = &setup.config;
  if (!doc_object(d, "config", 0, "", 1)) return;
  doc_text(d, "size", 0, "", p->size.name);
  doc_whole(d, "imax", DOC_POSITIVE, "", p->global[0]);
  doc_whole(d, "jmax", DOC_POSITIVE, "", p->global[1]);
  doc_whole(d, "kmax", DOC_POSITIVE, "", p->global[2]);
  doc_flag(d, "weak", 0, "", p->weak);
  doc_const(d, "backend", "sim");
  doc_const(d, "kernel", "fitted");
  doc_whole(d, "T", DOC_POSITIVE, "", setup.model.depth);
  doc_text(d, "transport", 0, "", setup.model.paths.transports[setup.via].name);
  doc_wholes(d, "procs", DOC_POSITIVE, "", p->procs[0], p->procs[1], p->procs[2]);
  doc_whole(d, "ranks", DOC_POSITIVE, "", p->ranks);
  doc_whole(d, "hosts", DOC_POSITIVE, "", hosts_of(p->ranks));
  doc_whole(d, "per_host", DOC_POSITIVE, "", c->per_host);
  doc_flag(d, "overlap", 0, "", setup.model.overlap);
  doc_text(d, "network", 0, "fat-tree, or the file of a platform that was given.",
           c->platform ? c->platform : "fat-tree");
  doc_whole(d, "leaf", DOC_OPTIONAL | DOC_POSITIVE, "Hosts per switch; with taper, if no platform was given.",
            c->platform ? 0 : c->leaf);
  doc_real(d, "taper", DOC_OPTIONAL | DOC_POSITIVE, "", "", c->platform ? 0 : c->taper);
  doc_whole(d, "sweeps", DOC_POSITIVE, "", c->passes * setup.model.depth);
  doc_end(d);
}

static void outcome_document(struct doc *d, const struct sim_outcome *o)
{
  static const char *const names[SIM_PHASES] = {"interior", "boundary", "wait",
                                                "transfer", "exposed",  "sweep"};
  if (doc_object(d, "phases", 0, "Over ranks, seconds per sweep.", 1)) {
    for (int p = 0; p < SIM_PHASES; p++) doc_spread(d, names[p], o->phases[p]);
    doc_end(d);
  }
  if (doc_object(d, "exchange", 0, "Of one exchange, sums over ranks.", 1)) {
    doc_real(d, "messages", 0, "", "", o->messages);
    doc_real(d, "tokens", 0, "", "Messages of no bytes, one before each halo.", o->tokens);
    doc_real(d, "bytes", 0, "B", "", o->bytes);
    doc_real(d, "bytes_most", 0, "B", "Of the rank that sends most.", o->bytes_most);
    doc_end(d);
  }
  doc_real(d, "simulated_in", 0, "s", "Wall clock.", o->simulated_in);
}

static void run_document(struct doc *d, const struct sim_run *run)
{
  if (!doc_object(d, NULL, 0, "", 1)) return;
  outcome_document(d, &run->outcome);
  sim_config_document(d, &run->point);
  if (doc_object(d, "result", 0, "", 1)) {
    doc_real(d, "seconds", DOC_POSITIVE, "s", "Simulated, of all timed sweeps, the slowest rank's.",
             run->outcome.phases[SIM_SWEEP].max * (double)setup.config.passes * setup.model.depth);
    doc_real(d, "gflops", 0, "GFLOPS", "", sim_gflops(run));
    doc_const(d, "verdict", "pass");
    doc_end(d);
  }
  doc_end(d);
}

static void sim_main_document(struct doc *d)
{
  doc_frame(d, "himeno-sim/1", "himeno-sim", "A document of himeno-sim", "Simulated runs of himeno-gpu.");
  if (!doc_list(d, "runs", 0, "", 1)) return;
  for (int r = 0; doc_each(d, r, n_runs); r++) run_document(d, doc_at(d, runs, r));
  doc_end(d);
}

static void path_print(enum study_where where)
{
  const char *place = where == STUDY_SAME_HOST ? "within a host" : "between hosts";
  const char *transport = setup.model.paths.transports[setup.via].name;
  const double bandwidth = sim_bandwidth(&setup.model, setup.via, where);
  if (where == STUDY_OTHER_HOST && setup.config.platform)
    fprintf(out, ", between hosts as in %s", setup.config.platform);
  else if (bandwidth > 0)
    fprintf(out, ", %.3g us per message and %.3g GB/s %s%s",
            1e6 * sim_latency_of(&setup.model, setup.via, where), bandwidth / 1e9, place,
            where == STUDY_OTHER_HOST && model_within_hosts(transport) ? ", by staged" : "");
  else
    fprintf(out, ", unknown %s", place);
}

static void head_print(void)
{
  const struct sim_config *c = &setup.config;
  fprintf(out, "himeno-sim %s\n\n  model      %s: %s", meta_version(), c->model,
          setup.model.paths.transports[setup.via].name);
  for (int where = 0; where < STUDY_WHERES; where++) path_print((enum study_where)where);
  fprintf(out, "\n  machine    hosts of %d GPUs, ", (int)c->per_host);
  if (c->platform)
    fprintf(out, "%s\n\n", c->platform);
  else
    fprintf(out, "fat tree with %d hosts a switch, taper %g\n\n", (int)c->leaf, c->taper);
  fprintf(out, "  %-14s %6s %10s %12s %10s %10s %10s %12s %9s\n", c->weak ? "size a rank" : "size", "ranks",
          "cut", "us a sweep", "GFLOPS", "exposed", "messages", "MB a sweep", "took");
}

static void row_print(const struct sim_run *run)
{
  char cut[40];
  const struct sim_point *p = &run->point;
  const struct sim_outcome *o = &run->outcome;
  const double seconds = o->phases[SIM_SWEEP].max;
  progress_clear();
  snprintf(cut, sizeof cut, "%dx%dx%d", p->procs[0], p->procs[1], p->procs[2]);
  fprintf(out, "  %-14s %6d %10s %12.3f %10.5g %9.1f%% %10.0f %12.4g %7.1f s\n", p->size.name, p->ranks, cut,
          1e6 * seconds, sim_gflops(run), 100 * o->phases[SIM_EXPOSED].max / seconds, o->messages,
          o->bytes / 1e6 / setup.model.depth, o->simulated_in);
  fflush(out);
}

/* ---- all points ---- */

static status_t point_simulate(const struct grid_size *size, int ranks)
{
  const int hosts = hosts_of(ranks);
  const struct geometry messages = {.hosts = hosts,
                                    .messages = {ranks > 1 && setup.config.per_host > 1, hosts > 1}};
  struct sim_run *run = &runs[n_runs];
  progress_begin("simulating %s on %d rank%s", size->name, ranks, ranks == 1 ? "" : "s");
  RETURN_IF_FAILED(point_make(size, ranks, &run->point));
  RETURN_IF_FAILED(model_paths_check(&setup.model.paths, &messages, setup.via));
  RETURN_IF_FAILED(sim_point_run(&setup, &run->point, &run->outcome));
  row_print(run);
  n_runs++;
  return STATUS_OK;
}

static size_t runs_bytes(void)
{
  return (size_t)(setup.config.sizes.n * setup.config.ranks.n) * sizeof *runs;
}

/* A point that cannot be simulated leaves the others: the document has them, the exit code is its
 * own. */
static status_t sim_simulate(int *ended)
{
  const struct sim_config *c = &setup.config;
  status_t status = STATUS_OK;
  out = program_out(c->json);
  RETURN_IF_FAILED(platform_check(c));
  RETURN_IF_FAILED(model_read(c, &setup.model));
  runs = mmap(NULL, runs_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (runs == MAP_FAILED) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the runs");
  head_print();
  for (int n = 0; n < c->sizes.n; n++)
    for (int r = 0; r < c->ranks.n; r++) {
      const status_t of_point = point_simulate(&c->sizes.list[n], c->ranks.list[r]);
      if (of_point == STATUS_INCOMPLETE) return of_point;
      status = status_worst(status, of_point);
    }
  *ended = n_runs > 0;
  return status;
}

static void sim_close_all(void)
{
  if (runs && runs != MAP_FAILED) munmap(runs, runs_bytes());
}

static const struct program program = {.options = &sim_options,
                                       .config = &setup.config,
                                       .json = &setup.config.json,
                                       .quiet = &setup.config.quiet,
                                       .run = sim_simulate,
                                       .fields = sim_main_document,
                                       .close = sim_close_all};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
