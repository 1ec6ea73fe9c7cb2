/* SPDX-License-Identifier: MIT */
/* Starts SimGrid on one point. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/document.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stats.h"
#include "tools/sim/sim.h"

#define RANKS_PROGRAM "himeno-sim-ranks"
#define KEEPER_TRIES  100 /* a twentieth of a second each */

/* SimGrid runs in the folder and gets these names alone: smpirun is a shell script, which splits
 * paths at spaces, and a plan is JSON, which holds no bytes but UTF-8. */
enum file { PLATFORM, PLAN, LOG, KEPT, RESULT = KEPT, MODEL, RANKS, FILES };
static const char *const file_names[FILES] = {"platform.xml", "plan.json",  "log",
                                              "result.json",  "model.json", RANKS_PROGRAM};

/** Files of a point, in a folder of its own. */
struct files {
  char folder[PATH_MAX / 2], at[FILES][PATH_MAX];
  int keeper[2]; /**< a pipe: its end tells the keeper that this program has ended */
  pid_t group;   /**< the keeper's, and the simulation's */
};

/* ---- what ends this program ends the simulation too, and its folder ---- */

static volatile sig_atomic_t group, stopped;
static const int endings[] = {SIGHUP, SIGINT, SIGTERM};
#define ENDINGS (sizeof endings / sizeof *endings)

static void stop(int number)
{
  stopped = number;
  if (group <= 0) return;
  kill(-group, SIGTERM);
  kill(-group, SIGCONT);
}

/* What was ignored, as nohup wants it, stays so. */
static void signals_to(void (*handler)(int))
{
  for (size_t e = 0; e < ENDINGS; e++)
    if (signal(endings[e], handler) == SIG_IGN) signal(endings[e], SIG_IGN);
}

/* 0 while something of it is left. smpirun has files there too. */
static int files_remove(const struct files *f)
{
  DIR *folder = opendir(f->folder);
  for (struct dirent *entry; folder && (entry = readdir(folder));) unlinkat(dirfd(folder), entry->d_name, 0);
  if (folder) closedir(folder);
  return rmdir(f->folder) == 0 || errno != ENOTEMPTY;
}

/* Outlives this program, which nothing else does that cannot be caught. */
static void launch_keep(const struct files *f)
{
  char byte;
  const struct timespec moment = {.tv_nsec = 50000000};
  setpgid(0, 0);
  signals_to(SIG_IGN);
  close(f->keeper[1]);
  while (read(f->keeper[0], &byte, 1) < 0 && errno == EINTR) continue;
  for (int tries = 0; tries < KEEPER_TRIES; tries++) {
    kill(0, SIGTERM);
    if (files_remove(f)) break;
    nanosleep(&moment, NULL);
  }
  kill(0, SIGKILL);
}

static status_t keeper_start(struct files *f)
{
  if (pipe2(f->keeper, O_CLOEXEC) != 0) return log_fail(STATUS_ENVIRONMENT, "a pipe cannot be made: %m");
  f->group = fork();
  if (f->group == 0) launch_keep(f);
  if (f->group > 0) {
    setpgid(f->group, f->group); /* the keeper does the same, whoever is first */
    group = f->group;
    return STATUS_OK;
  }
  close(f->keeper[0]);
  close(f->keeper[1]);
  return log_fail(STATUS_ENVIRONMENT, "a process cannot be started: %m");
}

/* ---- files ---- */

static status_t files_make(struct files *f)
{
  const char *temporary = getenv("TMPDIR");
  signals_to(stop);
  snprintf(f->folder, sizeof f->folder, "%s/himeno-sim.XXXXXX", temporary && *temporary ? temporary : "/tmp");
  if (!mkdtemp(f->folder)) return log_fail(STATUS_ENVIRONMENT, "%s: %m", f->folder);
  for (int n = 0; n < FILES; n++) snprintf(f->at[n], PATH_MAX, "%s/%s", f->folder, file_names[n]);
  status_t status = keeper_start(f);
  if (status != STATUS_OK) rmdir(f->folder);
  return status;
}

/* What is stopped hears SIGKILL alone, and the keeper may be. */
static void files_close(struct files *f)
{
  group = 0;
  kill(-f->group, SIGKILL);
  while (waitpid(f->group, NULL, 0) < 0 && errno == EINTR) continue;
  files_remove(f);
  close(f->keeper[0]);
  close(f->keeper[1]);
}

/* A copy, whole or not at all, so that what a folder holds besides is safe. */
static status_t file_keep(const struct files *f, enum file which, const char *folder)
{
  char path[PATH_MAX];
  size_t n;
  char *bytes = file_read(f->at[which], SIZE_MAX, &n);
  snprintf(path, sizeof path, "%s/%s", folder, file_names[which]);
  if (!bytes && errno != ENOENT) return log_fail(STATUS_ENVIRONMENT, "%s: %m", f->at[which]);
  const status_t status = bytes ? file_write(path, bytes, n) : STATUS_OK; /* it came not so far */
  free(bytes);
  return status;
}

static status_t files_keep(const struct files *f, const char *folder)
{
  for (int n = 0; n < KEPT; n++) RETURN_IF_FAILED(file_keep(f, (enum file)n, folder));
  return STATUS_OK;
}

/* A link in the folder. */
static status_t file_link(const struct files *f, enum file which, const char *path)
{
  char whole[PATH_MAX];
  if (realpath(path, whole) && symlink(whole, f->at[which]) == 0) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "%s: %m", path);
}

static status_t plan_write(const struct sim_config *c, const struct model *model, int via,
                           const struct sim_point *p, const struct files *f)
{
  RETURN_IF_FAILED(file_link(f, MODEL, c->model));
  struct doc plan;
  doc_open(&plan, 0);
  doc_text(&plan, "model", 0, "", file_names[MODEL]);
  doc_text(&plan, "transport", 0, "", model->paths.transports[via].name);
  doc_text(&plan, "result", 0, "", file_names[RESULT]);
  doc_wholes(&plan, "global", 0, "", p->global[0], p->global[1], p->global[2]);
  doc_wholes(&plan, "procs", 0, "", p->procs[0], p->procs[1], p->procs[2]);
  doc_reals(&plan, "between", 0, "", "", c->between.latency, c->between.bandwidth);
  doc_whole(&plan, "per_host", 0, "", c->per_host);
  doc_whole(&plan, "passes", 0, "", c->passes);
  doc_flag(&plan, "platform", 0, "", c->platform != NULL);
  return doc_write(&plan, f->at[PLAN]);
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
  return log_fail(STATUS_ENVIRONMENT, "%s was not found: it belongs next to himeno-sim or in " LIBEXECDIR,
                  RANKS_PROGRAM);
}

/* Plain bandwidth and latency: no factors fitted to some other network, no TCP windows. */
static void smpirun_exec(const struct files *f, const char *ranks)
{
  const char *const words[] = {SMPIRUN,
                               "-no-privatize",
                               "-np",
                               ranks,
                               "-platform",
                               file_names[PLATFORM],
                               "--cfg=smpi/simulate-computation:no",
                               "--cfg=network/model:CM02",
                               "--cfg=network/TCP-gamma:0",
                               "--cfg=network/latency-factor:1",
                               "--cfg=network/bandwidth-factor:1",
                               "--cfg=network/weight-S:0",
                               "--cfg=network/crosstraffic:0",
                               "--cfg=contexts/stack-size:256",
                               "--log=root.thres:warning",
                               "./" RANKS_PROGRAM,
                               file_names[PLAN],
                               NULL};
  int log = open(f->at[LOG], O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  if (chdir(f->folder) != 0 || setenv("TMPDIR", ".", 1) != 0) _exit(127);
  execv(SMPIRUN, (char *const *)words);
  _exit(127);
}

/* Without where in SimGrid's own source it was found, and the path of a copy. */
static const char *without_place(const char *line)
{
  static const char *const ends[] = {"/ERROR] ", "/CRITICAL] ", "Parse error at ", "himeno-sim: "};
  for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
    const char *at = strstr(line, ends[e]);
    if (at) line = at + strlen(ends[e]);
  }
  return line;
}

/* What it said first of an error, else last, in one line. */
static void complaint(const char *path, char text[200])
{
  char line[400];
  int found = 0;
  FILE *file = fopen(path, "r");
  snprintf(text, 200, "it said nothing");
  while (file && !found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    found = strstr(line, "/ERROR]") || strstr(line, "/CRITICAL]") || strncmp(line, "himeno-sim: ", 12) == 0;
    if (line[0]) snprintf(text, 200, "%.199s", without_place(line));
  }
  if (file) fclose(file);
}

/* In the keeper's group. A signal meanwhile waits until it finds all of it. */
static pid_t smpirun_start(const struct files *f, const char *ranks)
{
  sigset_t waiting, before;
  sigemptyset(&waiting);
  for (size_t e = 0; e < ENDINGS; e++) sigaddset(&waiting, endings[e]);
  sigprocmask(SIG_BLOCK, &waiting, &before);
  pid_t child = stopped ? 0 : fork();
  if (child == 0 && !stopped) {
    setpgid(0, f->group);
    signals_to(SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    smpirun_exec(f, ranks);
  }
  if (child > 0) setpgid(child, f->group); /* the child does the same, whoever is first */
  sigprocmask(SIG_SETMASK, &before, NULL);
  return child;
}

/* What it found wrong with the user's platform is the user's affair. */
static status_t failure(const struct files *f, const struct sim_config *c, int n_ranks)
{
  const char *name = file_names[PLATFORM];
  char said[200];
  complaint(f->at[LOG], said);
  if (c->platform && strncmp(said, name, strlen(name)) == 0)
    return log_fail(STATUS_USAGE, "%s%s", c->platform, said + strlen(name));
  if (c->platform) return log_fail(STATUS_USAGE, "%s: %s", c->platform, said);
  return log_fail(STATUS_FAULT, "the simulation of %d rank%s failed: %s", n_ranks, n_ranks == 1 ? "" : "s",
                  said);
}

static status_t smpirun(const struct files *f, const struct sim_config *c, int n_ranks)
{
  char program[PATH_MAX], ranks[16];
  int how = 0;
  RETURN_IF_FAILED(ranks_program(program));
  RETURN_IF_FAILED(file_link(f, RANKS, program));
  if (c->platform) RETURN_IF_FAILED(file_link(f, PLATFORM, c->platform));
  snprintf(ranks, sizeof ranks, "%d", n_ranks);
  pid_t child = smpirun_start(f, ranks);
  if (child < 0) return log_fail(STATUS_ENVIRONMENT, "smpirun cannot be started: %m");
  while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR && !stopped) continue;
  if (stopped) return log_fail(STATUS_INCOMPLETE, "stopped by signal %d", (int)stopped);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0 && access(f->at[RESULT], R_OK) == 0) return STATUS_OK;
  if (WIFEXITED(how) && WEXITSTATUS(how) == 127)
    return log_fail(STATUS_ENVIRONMENT, SMPIRUN " cannot be started");
  return failure(f, c, n_ranks);
}

status_t sim_point_run(const struct sim_config *config, const struct model *model, int via,
                       const struct sim_point *point, json_t **outcome)
{
  struct files f;
  json_error_t error;
  status_t status = STATUS_OK;
  double begin = stats_now();
  if (config->keep && mkdir(config->keep, 0777) != 0 && errno != EEXIST)
    return log_fail(STATUS_ENVIRONMENT, "%s: %m", config->keep);
  RETURN_IF_FAILED(files_make(&f));
  if (!config->platform) TRY(sim_platform_write(config, model, via, point->ranks, f.at[PLATFORM]), done);
  TRY(plan_write(config, model, via, point, &f), done);
  TRY(smpirun(&f, config, point->ranks), done);
  *outcome = json_load_file(f.at[RESULT], 0, &error);
  if (!*outcome) TRY(log_fail(STATUS_FAULT, "the simulation's outcome is no JSON: %s", error.text), done);
  json_object_set_new(*outcome, "simulated_in", json_real(stats_now() - begin));
done:
  if (config->keep) status = status_worst(status, files_keep(&f, config->keep));
  files_close(&f);
  return status;
}
