/* SPDX-License-Identifier: MIT */
/* Simulates one point in a process of its own, whose files are in memory: the platform that it
 * reads and what it prints. Nothing is left behind however this program ends. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "suite/progress.h"
#include "tools/sim/sim.h"

struct files {
  FILE *platform, *log;
  char path[PATH_MAX]; /**< of the platform */
};

/* ---- a signal that ends this program ends the simulation too ---- */

static volatile sig_atomic_t child, stopped;
static const int endings[] = {SIGHUP, SIGINT, SIGTERM};

static void stop(int number)
{
  stopped = number;
  if (child > 0) kill(child, SIGKILL);
}

/* Ignored signals, as nohup wants them, stay ignored. */
static void signals_to(void (*handler)(int))
{
  for (size_t e = 0; e < sizeof endings / sizeof *endings; e++)
    if (signal(endings[e], handler) == SIG_IGN) signal(endings[e], SIG_IGN);
}

/* ---- files ---- */

static void files_close(struct files *f)
{
  if (f->platform) fclose(f->platform);
  if (f->log) fclose(f->log);
}

static status_t file_make(const char *name, FILE **file)
{
  *file = fdopen(memfd_create(name, 0), "w+");
  return *file ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for the file %s: %m", name);
}

static status_t files_make(const struct sim_setup *setup, const struct sim_point *point, struct files *f)
{
  const struct sim_config *c = &setup->config;
  RETURN_IF_FAILED(file_make("log", &f->log));
  if (c->platform) {
    snprintf(f->path, sizeof f->path, "%s", c->platform);
    return STATUS_OK;
  }
  RETURN_IF_FAILED(file_make("platform.xml", &f->platform));
  snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", fileno(f->platform));
  sim_platform_write(setup, point->ranks, f->platform);
  if (fflush(f->platform) == 0 && !ferror(f->platform)) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for the platform: %m");
}

/* A copy, complete or not at all, so that the folder's other files are safe. */
static status_t file_keep(const char *from, const char *folder, const char *name)
{
  char path[PATH_MAX];
  size_t n;
  char *bytes = file_read(from, SIZE_MAX, &n);
  if (!bytes) return log_fail(STATUS_ENVIRONMENT, "%s: %m", name);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const status_t status = file_write(path, bytes, n);
  free(bytes);
  return status;
}

static status_t files_keep(const struct files *f, const char *folder)
{
  char log[32];
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) return log_fail(STATUS_ENVIRONMENT, "%s: %m", folder);
  RETURN_IF_FAILED(file_keep(f->path, folder, "platform.xml"));
  snprintf(log, sizeof log, "/proc/self/fd/%d", fileno(f->log));
  return file_keep(log, folder, "log");
}

/* ---- the process ---- */

static void child_run(const struct sim_setup *setup, const struct sim_point *point, const struct files *f,
                      pid_t parent, struct sim_outcome *outcome)
{
  const struct rlimit none = {0, 0};
  signals_to(SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(STATUS_ENVIRONMENT);
  setrlimit(RLIMIT_CORE, &none); /* SimGrid aborts on an error of the platform */
  dup2(fileno(f->log), STDOUT_FILENO);
  dup2(fileno(f->log), STDERR_FILENO);
  progress_open(1, 0);
  _exit((int)sim_ranks_run(setup, point, f->path, outcome));
}

/* The first line of an error, without the place in SimGrid's own source that reports it; otherwise
 * the last line. */
static void complaint(FILE *log, char text[200])
{
  static const char *const marks[] = {"/ERROR] ", "/CRITICAL] ", "Parse error at ", "himeno-sim: "};
  char line[400];
  int found = 0;
  snprintf(text, 200, "it printed nothing");
  rewind(log);
  while (!found && fgets(line, sizeof line, log)) {
    const char *said = line, *at;
    line[strcspn(line, "\n")] = '\0';
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++)
      if ((at = strstr(said, marks[m]))) {
        said = at + strlen(marks[m]);
        found = 1;
      }
    if (*said) snprintf(text, 200, "%.199s", said);
  }
}

/* A rank reports its own status. What SimGrid refuses is an error of the user's platform. */
static status_t failure(const struct files *f, const struct sim_config *c, int ranks, int how)
{
  char said[200];
  complaint(f->log, said);
  if (WIFEXITED(how)) return log_fail((status_t)WEXITSTATUS(how), "%s", said);
  if (!c->platform)
    return log_fail(STATUS_FAULT, "the simulation of %d rank%s failed: %s", ranks, ranks == 1 ? "" : "s",
                    said);
  if (strncmp(said, c->platform, strlen(c->platform)) == 0) return log_fail(STATUS_USAGE, "%s", said);
  return log_fail(STATUS_USAGE, "%s: %s", c->platform, said);
}

static status_t simulate(const struct sim_setup *setup, const struct sim_point *point, const struct files *f,
                         struct sim_outcome *outcome)
{
  const pid_t parent = getpid();
  int how = 0;
  signals_to(stop);
  const pid_t pid = fork();
  if (pid < 0) return log_fail(STATUS_ENVIRONMENT, "a process cannot be started: %m");
  if (pid == 0) child_run(setup, point, f, parent, outcome);
  child = pid;
  if (stopped) kill(pid, SIGKILL);
  while (waitpid(pid, &how, 0) < 0 && errno == EINTR) continue;
  child = 0;
  if (stopped) return log_fail(STATUS_INCOMPLETE, "stopped by signal %d", (int)stopped);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return STATUS_OK;
  return failure(f, &setup->config, point->ranks, how);
}

status_t sim_point_run(const struct sim_setup *setup, const struct sim_point *point,
                       struct sim_outcome *outcome)
{
  struct files f = {0};
  const double begin = stats_now();
  status_t status = files_make(setup, point, &f);
  if (status == STATUS_OK) {
    status = simulate(setup, point, &f, outcome);
    if (setup->config.keep) status = status_worst(status, files_keep(&f, setup->config.keep));
  }
  outcome->simulated_in = stats_now() - begin;
  files_close(&f);
  return status;
}
