/* SPDX-License-Identifier: MIT */
/* Starts SimGrid on one point. */
#define _GNU_SOURCE
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/report.h"
#include "base/stats.h"
#include "himeno/sim/sim.h"

#define RANKS_PROGRAM "himeno-sim-ranks"

/** Files of a point. */
struct files {
  char folder[PATH_MAX / 2], platform[PATH_MAX], hosts[PATH_MAX], plan[PATH_MAX], result[PATH_MAX],
      log[PATH_MAX];
};

static void name(char path[PATH_MAX], const char *folder, const char *file)
{
  snprintf(path, PATH_MAX, "%s/%s", folder, file);
}

static status_t files_make(const struct sim_config *c, struct files *f)
{
  const char *temporary = getenv("TMPDIR");
  if (c->keep) {
    snprintf(f->folder, sizeof f->folder, "%s", c->keep);
    if (mkdir(f->folder, 0777) != 0 && errno != EEXIST)
      return log_fail(STATUS_ENVIRONMENT, "%s: %m", f->folder);
  } else {
    snprintf(f->folder, sizeof f->folder, "%s/himeno-sim.XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(f->folder)) return log_fail(STATUS_ENVIRONMENT, "%s: %m", f->folder);
  }
  name(f->platform, f->folder, "platform.xml");
  name(f->hosts, f->folder, "hosts");
  name(f->plan, f->folder, "plan.json");
  name(f->result, f->folder, "result.json");
  name(f->log, f->folder, "log");
  return STATUS_OK;
}

static void files_remove(const struct sim_config *c, const struct files *f)
{
  unlink(f->result);
  if (c->keep) return;
  unlink(f->platform);
  unlink(f->hosts);
  unlink(f->plan);
  unlink(f->log);
  rmdir(f->folder);
}

static status_t plan_write(const struct sim_config *c, const struct model *model, int way,
                           const struct sim_point *p, const struct files *f)
{
  char path[PATH_MAX];
  if (!realpath(c->model, path)) return log_fail(STATUS_ENVIRONMENT, "%s: %m", c->model);
  json_t *plan =
      json_pack("{s:s, s:s, s:s, s:[I,I,I], s:[i,i,i], s:i, s:i}", "model", path, "transport",
                model->paths.ways[way].name, "result", f->result, "global", (json_int_t)p->global[0],
                (json_int_t)p->global[1], (json_int_t)p->global[2], "procs", p->procs[0], p->procs[1],
                p->procs[2], "per_host", (int)c->per_host, "passes", (int)c->passes);
  if (!plan) return log_fail(STATUS_ENVIRONMENT, "out of memory for a plan");
  status_t status = report_json_write(plan, f->plan);
  json_decref(plan);
  return status;
}

/* Beside this program, as in the build folder, or where it was installed. */
static status_t ranks_program(char path[PATH_MAX])
{
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof RANKS_PROGRAM - 1);
  if (length > 0) {
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, RANKS_PROGRAM);
    if (access(path, R_OK) == 0) return STATUS_OK;
  }
  snprintf(path, PATH_MAX, "%s/%s", LIBEXECDIR, RANKS_PROGRAM);
  if (access(path, R_OK) == 0) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "%s was not found: it belongs beside himeno-sim or in " LIBEXECDIR,
                  RANKS_PROGRAM);
}

/* Plain bandwidth and latency: no factors fitted to some other network, no TCP windows; polling and computing take no time of
 * their own, since the plan says what takes time. Sends that nobody waits for are never forgotten by SimGrid, and it searches
 * through all of them for each message: so none is. A sum that looks for hosts of several ranks first asks all ranks in a ring, which
 * is more messages than the whole run has: recursive doubling does not. */
static void smpirun_exec(const struct files *f, const char *ranks, const char *program)
{
  const char *const words[] = {SMPIRUN,
                               "-no-privatize",
                               "-np",
                               ranks,
                               "-platform",
                               f->platform,
                               "-hostfile",
                               f->hosts,
                               "--cfg=smpi/simulate-computation:no",
                               "--cfg=smpi/test:0",
                               "--cfg=smpi/iprobe:0",
                               "--cfg=smpi/wtime:0",
                               "--cfg=smpi/send-is-detached-thresh:0",
                               "--cfg=smpi/coll-selector:mpich",
                               "--cfg=smpi/allreduce:rdb",
                               "--cfg=network/model:CM02",
                               "--cfg=network/TCP-gamma:0",
                               "--cfg=network/latency-factor:1",
                               "--cfg=network/bandwidth-factor:1",
                               "--cfg=network/weight-S:0",
                               "--cfg=network/crosstraffic:0",
                               "--cfg=contexts/stack-size:256",
                               "--log=root.thres:warning",
                               program,
                               f->plan,
                               NULL};
  setpgid(0, 0);
  int log = open(f->log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  execv(SMPIRUN, (char *const *)words);
  _exit(127);
}

/* What it said last, in one line. */
static void last_line(const char *path, char text[200])
{
  char line[200];
  FILE *file = fopen(path, "r");
  text[0] = '\0';
  while (file && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0]) snprintf(text, 200, "%s", line);
  }
  if (file) fclose(file);
}

/* ---- what stops this program stops the simulation too ---- */

static volatile sig_atomic_t group, stopped;

static void stop(int number)
{
  stopped = number;
  if (group > 0) kill(-group, SIGTERM);
}

static void stop_with_us(pid_t child)
{
  struct sigaction action = {.sa_handler = stop};
  setpgid(child, child); /* the child does the same, whoever is first */
  group = child;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

static status_t smpirun(const struct files *f, int n_ranks)
{
  char program[PATH_MAX], ranks[16], said[200];
  int how = 0;
  RETURN_IF_FAILED(ranks_program(program));
  snprintf(ranks, sizeof ranks, "%d", n_ranks);
  pid_t child = fork();
  if (child < 0) return log_fail(STATUS_ENVIRONMENT, "smpirun cannot be started: %m");
  if (child == 0) smpirun_exec(f, ranks, program);
  stop_with_us(child);
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
  group = 0;
  if (stopped) return log_fail(STATUS_FAULT, "stopped by signal %d", (int)stopped);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0 && access(f->result, R_OK) == 0) return STATUS_OK;
  if (WIFEXITED(how) && WEXITSTATUS(how) == 127)
    return log_fail(STATUS_ENVIRONMENT, SMPIRUN " cannot be started");
  last_line(f->log, said);
  return log_fail(STATUS_FAULT, "the simulation of %d ranks failed: %s", n_ranks, said);
}

status_t sim_point_run(const struct sim_config *config, const struct model *model, int way,
                       const struct sim_point *point, json_t **outcome)
{
  struct files f;
  json_error_t error;
  status_t status = STATUS_OK;
  double begin = stats_now();
  RETURN_IF_FAILED(files_make(config, &f));
  TRY(sim_platform_write(config, model, way, point->ranks, f.platform, f.hosts), done);
  TRY(plan_write(config, model, way, point, &f), done);
  TRY(smpirun(&f, point->ranks), done);
  *outcome = json_load_file(f.result, 0, &error);
  if (!*outcome) TRY(log_fail(STATUS_FAULT, "the simulation's outcome is no JSON: %s", error.text), done);
  json_object_set_new(*outcome, "simulated_in", report_json_real(stats_now() - begin));
done:
  files_remove(config, &f);
  return status;
}
