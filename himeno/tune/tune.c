/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/meta.h"
#include "base/switches.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/tune/choose.h"
#include "suite/progress.h"
#include "base/document.h"
#include "base/file.h"

#define TRIAL_SECONDS    0.02
#define TRIAL_SWEEPS_MAX 1200
#define TRIAL_BLOCKS     3
/* A kernel is not tried further if its time per sweep exceeds the best one's by this factor. */
#define TRIAL_LOST 1.5
#define KEY_MAX    512

SWITCH("HIMENO_TUNE_CACHE", USER, OWN, CACHE("tune.json"),
       "file of remembered choices, instead of `$XDG_CACHE_HOME/himeno-gpu/tune.json`");

/* ---- remembered kernels ---- */

#define SCHEMA      "himeno-tune/1"
#define LOCK_TENTHS 20 /* tenths of a second; other processes hold it briefly */

/* Reads the cache. A new document if there is none, or if it is damaged, with the reason in
 * *trouble. NULL, with the reason, if the file cannot be opened or has another format: it must not
 * be overwritten. */
static json_t *cache_read(const char *path, const char **trouble)
{
  json_error_t error;
  FILE *file = file_open_regular(path);
  *trouble = file || errno == ENOENT || errno == ENOTDIR ? NULL : strerror(errno);
  if (*trouble) return NULL;
  json_t *document = file ? json_loadf(file, 0, &error) : NULL;
  const char *schema = json_string_value(json_object_get(document, "schema"));
  int empty = !file || (fseek(file, 0, SEEK_END) == 0 && ftell(file) == 0);
  int ours = schema && strcmp(schema, SCHEMA) == 0;
  if (file) fclose(file);
  if (ours && json_is_object(json_object_get(document, "choices"))) return document;
  json_decref(document);
  if (file)
    *trouble =
        ours || empty ? "it is damaged" : "it is not a file of remembered kernels, so it is not changed";
  return ours || empty ? json_pack("{s:s, s:{}}", "schema", SCHEMA, "choices") : NULL;
}

int tune_cache_find(const char *key, char *kernel, size_t size)
{
  char path[PATH_MAX];
  const char *trouble;
  if (!switch_cache("HIMENO_TUNE_CACHE", path)) return 0;
  json_t *document = cache_read(path, &trouble);
  if (trouble) log_warn("%s: %s: no choice of kernel is remembered", path, trouble);
  const char *name = json_string_value(
      json_object_get(json_object_get(json_object_get(document, "choices"), key), "kernel"));
  int found = name && name[0] && strlen(name) < size;
  if (found) memcpy(kernel, name, strlen(name) + 1);
  json_decref(document);
  return found;
}

/* Creates the missing folders of \a path. */
static int folders_make(const char *path)
{
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", path);
  for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return 0;
    *slash = '/';
  }
  return 1;
}

/* Waits a limited time for the lock on the file. −1, with errno, on failure. */
static int lock_take(const char *path)
{
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%.*s" SWITCH_CACHE_LOCK, PATH_MAX - (int)sizeof SWITCH_CACHE_LOCK, path);
  int lock = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock < 0) return -1;
  for (int tenths = 0; tenths < LOCK_TENTHS; tenths++) {
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno != EWOULDBLOCK) break;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  }
  int cause = errno;
  close(lock);
  errno = cause;
  return -1;
}

/* Adds a choice while the lock, if it could be created, is held. */
static const char *choice_add(const char *path, const char *key, const char *kernel, double gflops)
{
  struct doc choice;
  const char *trouble;
  json_t *document = cache_read(path, &trouble);
  if (!document) return trouble;
  doc_open(&choice, 0);
  doc_text(&choice, "kernel", 0, "", kernel);
  doc_real(&choice, "gflops", 0, "GFLOPS", "", gflops);
  doc_time(&choice);
  int muted = log_mute(1),
      stored = json_object_set_new(json_object_get(document, "choices"), key, doc_close(&choice)) == 0;
  stored = stored && document_write(document, path) == STATUS_OK;
  log_mute(muted);
  json_decref(document);
  return stored ? NULL : "it cannot be written";
}

int tune_cache_store(const char *key, const char *kernel, double gflops)
{
  char path[PATH_MAX];
  const char *trouble;
  int lock = -1;
  if (!switch_cache("HIMENO_TUNE_CACHE", path)) return 0;
  json_t *there = cache_read(path, &trouble); /* no lock next to a file of another format */
  if (there) {
    lock = folders_make(path) ? lock_take(path) : -1;
    trouble = lock < 0 ? strerror(errno) : choice_add(path, key, kernel, gflops);
  }
  json_decref(there);
  if (lock >= 0) close(lock);
  if (trouble) log_warn("the choice of kernel is not remembered: %s: %s", path, trouble);
  return !trouble;
}

/* ---- trials ---- */

/* Key of a remembered choice. Assumes that all ranks have the same kind of device as rank 0. */
static void key_make(const struct himeno_choice *choice, char key[KEY_MAX])
{
  const struct himeno_config *config = choice->config;
  const struct gpu_device_info *info = &choice->placement.info;
  int n = 0;
  snprintf(key, KEY_MAX,
           "%s|%s|%s|%s|%" PRId64 "x%" PRId64 "x%" PRId64 "|%s|%dx%dx%d|%s|%s|%d units|%" PRId64 "+%" PRId64
           " padded",
           choice->placement.backend->name, info->name, info->driver, meta_version(), choice->global[0],
           choice->global[1], choice->global[2], himeno_data_names[config->data], choice->procs[0],
           choice->procs[1], choice->procs[2], choice->transport->name,
           config->no_overlap ? "apart" : "overlap", info->compute_units, config->pad, config->array_pad);
  for (const struct switch_spec *s; (s = switch_at(n)); n++) {
    size_t used = strlen(key);
    if (s->kind == SWITCH_TUNING && switch_text(s->name))
      snprintf(key + used, KEY_MAX - used, "|%s=%s", s->name, switch_text(s->name));
  }
}

/* Sets the choice to \a kernel, with a decomposition for it. Returns 0 if that is impossible,
 * without a message, because the next kernel may fit. */
static int kernel_fits(struct himeno_choice *choice, const struct himeno_kernel *kernel)
{
  const double points = himeno_points(choice->global) / choice->placement.ranks;
  if (kernel->points_max && points > (double)kernel->points_max) return 0;
  choice->kernel = kernel;
  log_mute(1);
  int fits = agree_status(choice->placement.comm, himeno_refit(choice)) == STATUS_OK;
  log_mute(0);
  return fits;
}

/* Seconds per sweep, the same on all ranks: the best of a few blocks, each long enough to measure.
 * Only one block if the kernel is far slower than \a least. */
static status_t solver_time(struct solver *solver, int depth, double least, double *seconds)
{
  struct solver_block block;
  RETURN_IF_FAILED(solver_block_run(solver, 3 * depth, 0, &block));
  RETURN_IF_FAILED(solver_block_run(solver, 3 * depth, 0, &block));
  double passes = fmin(TRIAL_SWEEPS_MAX / depth, fmax(3, ceil(TRIAL_SECONDS / (block.seconds / 3))));
  int sweeps = (int)passes * depth;
  double best = INFINITY;
  for (int b = 0; b < TRIAL_BLOCKS && (b == 0 || best < TRIAL_LOST * least); b++) {
    RETURN_IF_FAILED(solver_block_run(solver, sweeps, 0, &block));
    best = fmin(best, block.seconds / sweeps);
  }
  *seconds = best;
  return STATUS_OK;
}

/* Time per sweep of \a kernel, infinite if this device cannot run it. Other failures end the
 * run. */
static status_t himeno_trial_run(struct himeno_choice *choice, const struct himeno_kernel *kernel,
                                 double least, double *seconds)
{
  struct solver *solver;
  *seconds = INFINITY;
  if (!kernel_fits(choice, kernel)) return STATUS_OK;
  struct solver_config wanted = himeno_solver_config(choice);
  wanted.max_sweeps = TRIAL_SWEEPS_MAX;
  wanted.faults = NULL; /* they are planted in the run itself */
  log_mute(LOG_UNFIT);
  status_t status = solver_open(&wanted, &solver);
  log_mute(0);
  if (status != STATUS_OK) return status_is_unfit(status) ? STATUS_OK : status;
  status = solver_time(solver, kernel->sweeps, least, seconds);
  solver_close(solver);
  return status;
}

static status_t trials_of(struct himeno_choice *choice, const struct himeno_kernel_set *set, int depth,
                          int *n, const struct himeno_kernel **best, double *least)
{
  for (int k = 0; k < set->n; k++) {
    double seconds;
    if (!set->kernels[k].trial || set->kernels[k].sweeps != depth) continue;
    progress_begin("trying kernels, %d of %d: %s", ++*n, himeno_kernel_trials(set), set->kernels[k].name);
    RETURN_IF_FAILED(himeno_trial_run(choice, &set->kernels[k], *least, &seconds));
    if (seconds >= *least) continue;
    *least = seconds;
    *best = &set->kernels[k];
  }
  return STATUS_OK;
}

/* Tries the kernels with most sweeps per pass first: they are likely to be the fastest, which saves
 * blocks of the others. */
static status_t trials(struct himeno_choice *choice, const struct himeno_kernel_set *set,
                       const struct himeno_kernel **best, double *least)
{
  int deepest = 1, n = 0;
  for (int k = 0; k < set->n; k++)
    if (set->kernels[k].sweeps > deepest) deepest = set->kernels[k].sweeps;
  *least = INFINITY;
  for (int depth = deepest; depth > 0; depth--)
    RETURN_IF_FAILED(trials_of(choice, set, depth, &n, best, least));
  return STATUS_OK;
}

/* Rank 0 reads the cache for all ranks. NULL if no suitable kernel is remembered. */
static status_t remembered(struct himeno_choice *choice, const struct himeno_kernel_set *set, const char *key,
                           const struct himeno_kernel **kernel)
{
  char name[64] = "";
  if (choice->placement.rank == 0 && !choice->config->tune) tune_cache_find(key, name, sizeof name);
  RETURN_IF_FAILED(
      watch_bcast(choice->placement.comm, name, sizeof name, MPI_CHAR, 0, "a remembered kernel"));
  *kernel = himeno_kernel_find(set, name);
  return STATUS_OK;
}

status_t himeno_tune(struct himeno_choice *choice)
{
  char key[KEY_MAX];
  const struct himeno_kernel_set *set = himeno_kernels_find(choice->placement.backend->name);
  const struct himeno_kernel *plain = choice->kernel, *kernel = NULL;
  double seconds;
  if (choice->config->no_tune || himeno_kernel_trials(set) < 2) return STATUS_OK;
  key_make(choice, key);
  RETURN_IF_FAILED(remembered(choice, set, key, &kernel));
  if (kernel && kernel_fits(choice, kernel)) {
    choice->kernel_origin = CHOICE_REMEMBERED;
    return STATUS_OK;
  }
  kernel = plain;
  RETURN_IF_FAILED(trials(choice, set, &kernel, &seconds));
  double gflops = himeno_gflops(himeno_points(choice->global), 1, seconds);
  if (choice->placement.rank == 0 && isfinite(seconds)) tune_cache_store(key, kernel->name, gflops);
  choice->kernel_origin = isfinite(seconds) ? CHOICE_TRIAL : CHOICE_DEFAULT;
  choice->kernel = kernel;
  return agree_status(choice->placement.comm, himeno_refit(choice));
}
