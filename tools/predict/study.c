/* SPDX-License-Identifier: MIT */
#include "tools/predict/study.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/document.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/stats.h"
#include "gemm/problem.h"
#include "tools/predict/model.h"
#include "tools/predict/workload.h"

static const char *study_text(const json_t *object, const char *key)
{
  return json_string_value(json_object_get(object, key));
}

static int text_is(const json_t *object, const char *key, const char *wanted)
{
  const char *text = study_text(object, key);
  return text && strcmp(text, wanted) == 0;
}

static void text_copy(char *to, size_t size, const char *from)
{
  snprintf(to, size, "%s", from ? from : "");
}

static int hosts_count(const json_t *ranks)
{
  int hosts = 0;
  size_t n = json_array_size(ranks);
  for (size_t r = 0; r < n; r++) {
    const char *mine = study_text(json_array_get(ranks, r), "host");
    int seen = 0;
    for (size_t s = 0; s < r && mine && !seen; s++) seen = text_is(json_array_get(ranks, s), "host", mine);
    hosts += !seen;
  }
  return hosts;
}

/* Sets whether the result was verified, and the checksum after \a sweeps sweeps from the start. */
static void bits_set(const json_t *config, const json_t *result, int64_t sweeps, struct study_run *run)
{
  const char *checksum = study_text(result, "checksum"), *data = study_text(config, "data");
  run->verified = study_text(result, "verified") && !text_is(result, "verified", "no");
  if (checksum && data)
    snprintf(run->checksum, sizeof run->checksum, "%.16s after %lld sweeps of %.9s data", checksum,
             (long long)sweeps, data);
}

/* Sets the seconds per sweep (in the median block if blocks were timed) and the blocks' noise. */
static void seconds_set(const json_t *result, int64_t block, double sweeps, struct study_run *run)
{
  const json_t *samples = json_object_get(result, "samples");
  size_t n = block > 0 ? json_array_size(samples) : 0;
  double *values = n ? malloc(n * sizeof *values) : NULL;
  run->seconds = sweeps > 0 ? json_number_value(json_object_get(result, "seconds")) / sweeps : 0;
  if (!values) return;
  for (size_t s = 0; s < n; s++) {
    uint64_t bits;
    values[s] = json_number_value(json_array_get(samples, s)) / (double)block;
    memcpy(&bits, &values[s], sizeof bits);
    run->samples = hash_mix(run->samples ^ bits);
  }
  struct stats_summary summary = stats_summarise(values, n);
  run->seconds = summary.median;
  run->noise = stats_noise(&summary);
  free(values);
}

static int run_is_whole(const struct study_run *run)
{
  const int product = run->program == STUDY_GEMM;
  for (int d = 0; d < 3; d++)
    if (run->global[d] < (product ? 1 : 3) || (d < 3 - product && run->procs[d] < 1) ||
        (product && run->global[d] > GEMM_EXTENT_MAX))
      return 0;
  if (product && (run->product.type == GEMM_TYPES || run->product.panel < 1)) return 0;
  return run->ranks == run->procs[0] * run->procs[1] * (product ? 1 : run->procs[2]) && run->depth >= 1 &&
         run->seconds > 0 && run->seconds < SECONDS_MOST && run->kernel[0] && run->size[0];
}

static const char *rank_host(const json_t *document, const json_t *rank)
{
  const json_t *ranks = json_object_get(document, "ranks");
  const char *host = study_text(json_array_get(ranks, (size_t)json_integer_value(rank)), "host");
  return host ? host : "";
}

/* Returns how halos within a host are staged, given the result \a known of the previous paths: 1
 * through shared memory, 0 if any path uses MPI (as all do in older documents), −1 if none is
 * staged. Between hosts they always use MPI. */
static int handover_of(const json_t *document, const json_t *path, int known)
{
  const char *handover = study_text(path, "handover");
  if (!text_is(path, "used", "staged")) return known;
  if (!handover) return 0;
  if (strcmp(rank_host(document, json_object_get(path, "rank")),
             rank_host(document, json_object_get(path, "peer"))) != 0)
    return known;
  return known != 0 && strcmp(handover, "shared memory") == 0;
}

static int is_cpu(const json_t *rank)
{
  const char *uuid = study_text(rank, "uuid");
  return uuid && strncmp(uuid, "CPU-", 4) == 0;
}

/* Returns whether two ranks share memory: CPU ranks on one NUMA node, or others on one device. */
static int shares(const json_t *a, const json_t *b)
{
  const char *host = study_text(a, "host"), *uuid = study_text(a, "uuid");
  if (!host || !text_is(b, "host", host)) return 0;
  return is_cpu(a) ? json_equal(json_object_get(a, "numa"), json_object_get(b, "numa"))
                   : a == b || (uuid && *uuid && text_is(b, "uuid", uuid));
}

static void sharing_set(const json_t *ranks, struct study_run *run)
{
  for (int r = 0; r < run->ranks; r++) {
    const json_t *rank = json_array_get(ranks, (size_t)r);
    int same = 0, before = 0;
    for (int s = 0; s < run->ranks; s++) {
      const int is = shares(rank, json_array_get(ranks, (size_t)s));
      same += is;
      before += is && s < r;
    }
    if (same > run->sharers) run->sharers = same;
    run->memories += is_cpu(rank) && !before && text_is(rank, "host", run->host);
  }
}

/* Returns the relative standard deviation of the ranks' bandwidth ceilings; 0 for fewer than four
 * GPUs, and for CPU ranks, whose ceilings depend on each other. */
static double device_spread(const json_t *ranks)
{
  const size_t n = json_array_size(ranks);
  double sum = 0, squares = 0;
  for (size_t r = 0; r < n; r++) {
    const json_t *rank = json_array_get(ranks, r);
    const double gbps = json_number_value(json_object_get(rank, "ceiling_gbps"));
    if (gbps <= 0 || !study_text(rank, "uuid") || strncmp(study_text(rank, "uuid"), "GPU-", 4)) return 0;
    sum += gbps;
    squares += gbps * gbps;
  }
  return n < 4 ? 0
               : sqrt(fmax(squares / (double)n - pow(sum / (double)n, 2), 0) * (double)n / ((double)n - 1)) /
                     (sum / (double)n);
}

/* Reads the fields that documents of all programs have. */
static void frame_read(const json_t *document, const char *path, struct study_run *run)
{
  const json_t *config = json_object_get(document, "config"), *ranks = json_object_get(document, "ranks");
  const json_t *first = json_array_get(ranks, 0);
  *run = (struct study_run){.ranks = (int)json_array_size(ranks), .hosts = hosts_count(ranks)};
  text_copy(run->file, sizeof run->file, path);
  text_copy(run->kernel, sizeof run->kernel, study_text(config, "kernel"));
  text_copy(run->backend, sizeof run->backend, study_text(config, "backend"));
  text_copy(run->device, sizeof run->device, study_text(first, "device"));
  text_copy(run->host, sizeof run->host, study_text(first, "host"));
  text_copy(run->driver, sizeof run->driver, study_text(first, "driver"));
  text_copy(run->pci, sizeof run->pci, study_text(first, "pci"));
  text_copy(run->uuid, sizeof run->uuid, study_text(first, "uuid"));
  run->device_spread = device_spread(ranks);
  sharing_set(ranks, run);
  run->handover = -1;
  const json_t *paths = json_object_get(document, "paths");
  for (size_t p = 0; p < json_array_size(paths); p++)
    run->handover = handover_of(document, json_array_get(paths, p), run->handover);
}

static void cut_read(const json_t *config, const json_t *cut, struct study_run *run)
{
  const char *const *extents = workloads[run->program].extents;
  const json_t *procs = json_object_get(cut, "procs");
  text_copy(run->transport, sizeof run->transport, study_text(cut, "transport"));
  run->weak = json_is_true(json_object_get(cut, "weak"));
  for (int d = 0; d < 3; d++) {
    run->global[d] = json_integer_value(json_object_get(config, extents[d]));
    run->procs[d] = (int)json_integer_value(json_array_get(procs, (size_t)d));
  }
}

static void run_read(const json_t *document, const char *path, struct study_run *run)
{
  const json_t *config = json_object_get(document, "config"), *result = json_object_get(document, "result");
  const int64_t block = json_integer_value(json_object_get(config, "block"));
  frame_read(document, path, run);
  cut_read(config, config, run);
  text_copy(run->size, sizeof run->size, study_text(config, "size"));
  bits_set(config, result, block, run);
  run->overlap = json_is_true(json_object_get(config, "overlap"));
  run->depth = (int)json_integer_value(json_object_get(config, "T"));
  seconds_set(result, block, json_number_value(json_object_get(config, "sweeps")), run);
}

/* Names the size as the user gave it: in weak scaling, with one rank's block of C. */
static void product_size(struct study_run *run)
{
  const int64_t *of = run->global;
  const int p = run->weak && run->procs[0] > 0 ? run->procs[0] : 1,
            q = run->weak && run->procs[1] > 0 ? run->procs[1] : 1;
  if (of[0] / p == of[1] / q && of[1] / q == of[2])
    snprintf(run->size, sizeof run->size, "%lld", (long long)of[2]);
  else
    snprintf(run->size, sizeof run->size, "%lldx%lldx%lld", (long long)(of[0] / p), (long long)(of[1] / q),
             (long long)of[2]);
}

/* Reads a product's run: the median time of the slowest rank, and the noise of rank 0. */
static void product_read(const json_t *document, const char *path, struct study_run *run)
{
  const json_t *config = json_object_get(document, "config"), *result = json_object_get(document, "result"),
               *cut = json_object_get(config, "distributed");
  frame_read(document, path, run);
  run->program = STUDY_GEMM;
  cut_read(config, cut, run);
  if (run->ranks == 1) text_copy(run->transport, sizeof run->transport, "none");
  run->product.panel = json_integer_value(json_object_get(cut, "panel"));
  while (run->product.type < GEMM_TYPES && !text_is(config, "type", gemm_types[run->product.type].name))
    run->product.type++;
  const json_t *blocks = json_object_get(result, "blocks");
  run->product.tile[0] = (int)json_integer_value(json_object_get(blocks, "group_m"));
  run->product.tile[1] = (int)json_integer_value(json_object_get(blocks, "group_n"));
  product_size(run);
  run->overlap = run->depth = 1;
  seconds_set(result, json_integer_value(json_object_get(result, "launches")), 1, run);
  run->seconds = json_number_value(json_object_get(result, "seconds"));
  run->verified = !text_is(json_object_get(result, "check"), "how", "no");
}

static status_t run_keep(struct study *study, const struct study_run *run)
{
  if (study->n > 0 && run->program != study->program)
    return log_fail(STATUS_USAGE, "%s: a run of %s, but %s is one of %s: a study is of one program",
                    run->file, model_program_names[run->program], study->runs[0].file,
                    model_program_names[study->program]);
  study->program = run->program;
  struct study_run *longer = realloc(study->runs, (size_t)(study->n + 1) * sizeof *longer);
  if (!longer) return log_fail(STATUS_ENVIRONMENT, "out of host memory for runs");
  study->runs = longer;
  study->runs[study->n++] = *run;
  return STATUS_OK;
}

static status_t run_add(struct study *study, const json_t *document, const char *path)
{
  const json_t *result = json_object_get(document, "result");
  struct study_run run;
  const int product = text_is(document, "schema", "gemm-gpu/1");
  if (product && !json_object_get(json_object_get(document, "config"), "distributed"))
    return study_leave(study, LEFT_OTHER, path, "products of each rank's own, without --distributed");
  if (!product && !text_is(document, "schema", "himeno-gpu/1") &&
      !text_is(document, "schema", "himeno-gpu/2"))
    return study_leave(study, LEFT_OTHER, path, "no document of himeno-gpu or gemm-gpu");
  if (!text_is(result, "verdict", "pass") && !text_is(result, "verdict", "slow"))
    return study_leave(study, LEFT_FAILED, path, "the run did not pass");
  if (json_object_get(result, "counts"))
    return study_leave(study, LEFT_OTHER, path, "an emulated run, which has no speed");
  (product ? product_read : run_read)(document, path, &run);
  if (!run_is_whole(&run))
    return log_fail(STATUS_USAGE,
                    "%s: not as its schema says: nothing was timed, or the cut does not fit the ranks", path);
  return run_keep(study, &run);
}

static status_t file_add(struct study *study, const char *path)
{
  json_t *document;
  RETURN_IF_FAILED(document_read(path, &document));
  int before = study->n;
  status_t status = run_add(study, document, path);
  if (study->n > before) file_is_input(path);
  json_decref(document);
  return status;
}

/* Adds the document in one line of a log file. The line also has the document's file name. */
static status_t study_line_add(struct study *study, const char *line, const char *path, int number)
{
  char name[PATH_MAX];
  json_error_t error;
  json_t *one = json_loads(line, JSON_REJECT_DUPLICATES, &error);
  const json_t *document = json_object_get(one, "document");
  status_t status;
  if (!one)
    status = log_fail(STATUS_ENVIRONMENT, "%s: line %d is no JSON document: %s", path, number, error.text);
  else if (!document || !study_text(one, "name"))
    status = log_fail(STATUS_USAGE, "%s: line %d has no document with a name", path, number);
  else {
    snprintf(name, sizeof name, "%s %s", path, study_text(one, "name"));
    document_rows_unpack(document);
    status = run_add(study, document, name);
  }
  json_decref(one);
  return status;
}

static status_t lines_add(struct study *study, const char *path)
{
  FILE *file = file_open_text(path);
  char *line = NULL;
  size_t capacity = 0;
  status_t status = STATUS_OK;
  if (!file) return log_fail(STATUS_ENVIRONMENT, "%s: cannot be read: %s", path, strerror(errno));
  for (int number = 1; status == STATUS_OK && getline(&line, &capacity, file) > 0; number++)
    status = study_line_add(study, line, path, number);
  if (status == STATUS_OK && ferror(file))
    status = log_fail(STATUS_ENVIRONMENT, "%s: cannot be read: %s", path, strerror(errno));
  free(line);
  fclose(file);
  return status;
}

static int is_json(const struct dirent *entry)
{
  return fnmatch("*.json", entry->d_name, FNM_PERIOD) == 0;
}

static status_t folder_add(struct study *study, const char *path)
{
  struct dirent **entries;
  char name[PATH_MAX];
  status_t status = STATUS_OK;
  int n = scandir(path, &entries, is_json, versionsort);
  if (n < 0) return log_fail(STATUS_ENVIRONMENT, "%s: cannot be read: %s", path, strerror(errno));
  for (int e = 0; e < n; e++) {
    if (status == STATUS_OK &&
        snprintf(name, sizeof name, "%s/%s", path, entries[e]->d_name) < (int)sizeof name)
      status = file_add(study, name);
    free(entries[e]);
  }
  free(entries);
  return status;
}

status_t study_read(const char *path, struct study *study)
{
  struct stat info;
  struct study s = {.n = 0};
  if (stat(path, &info) != 0) return log_fail(STATUS_ENVIRONMENT, "%s: %s", path, strerror(errno));
  status_t status = S_ISDIR(info.st_mode)              ? folder_add(&s, path)
                    : fnmatch("*.jsonl", path, 0) == 0 ? lines_add(&s, path)
                                                       : file_add(&s, path);
  if (status == STATUS_OK && s.n == 0)
    status = log_fail(STATUS_ENVIRONMENT,
                      "%s: no document of a run of himeno-gpu, or gemm-gpu --distributed, that passed", path);
  if (status == STATUS_OK)
    *study = s;
  else
    study_free(&s);
  return status;
}

void study_free(struct study *study)
{
  free(study->runs);
  free(study->left);
  *study = (struct study){.n = 0};
}

int study_per_host(const struct study_run *run)
{
  return run->hosts > 0 ? (run->ranks + run->hosts - 1) / run->hosts : run->ranks;
}

/* Returns whether a pair was measured with this transport, place, load ("alone", or "all" pairs at
 * once) and direction, and has a fit. */
static int pair_counts(const json_t *document, const json_t *pair, const char *transport,
                       enum study_where where, const char *load, const char *direction)
{
  const char *a = rank_host(document, json_object_get(pair, "rank")),
             *b = rank_host(document, json_object_get(pair, "peer"));
  return text_is(pair, "way", transport) && text_is(pair, "used", transport) &&
         text_is(pair, "company", load) && text_is(pair, "direction", direction) &&
         json_is_object(json_object_get(pair, "fit")) && (strcmp(a, b) != 0) == (where == STUDY_OTHER_HOST);
}

static double fit_median(const json_t *document, const char *transport, enum study_where where,
                         const char *load, const char *direction, const char *key, int *n)
{
  const json_t *pairs = json_object_get(document, "pairs");
  size_t all = json_array_size(pairs);
  double *values = calloc(all + 1, sizeof *values);
  *n = 0;
  for (size_t p = 0; values && p < all; p++) {
    const json_t *pair = json_array_get(pairs, p);
    if (pair_counts(document, pair, transport, where, load, direction))
      values[(*n)++] = json_number_value(json_object_get(json_object_get(pair, "fit"), key));
  }
  double median = values ? stats_summarise(values, (size_t)*n).median : 0;
  free(values);
  return median;
}

static void transport_fill(const json_t *document, const char *name, struct study_transport *transport)
{
  *transport = (struct study_transport){.handover = -1};
  text_copy(transport->name, sizeof transport->name, name);
  const json_t *pairs = json_object_get(document, "pairs");
  for (size_t p = 0; p < json_array_size(pairs); p++) {
    const json_t *pair = json_array_get(pairs, p);
    if (text_is(pair, "way", name)) transport->handover = handover_of(document, pair, transport->handover);
  }
  int n, one;
  for (int where = 0; where < STUDY_WHERES; where++) {
    enum study_where w = (enum study_where)where;
    /* if pairs were also measured all at once, isolated ones do not count */
    const char *load = "all";
    fit_median(document, name, w, load, "both", "residual", &n);
    if (n == 0) load = "alone";
    transport->residual[where] = fit_median(document, name, w, load, "both", "residual", &n);
    transport->latency[where] = fit_median(document, name, w, load, "both", "latency_seconds", &n);
    transport->bandwidth[where] = fit_median(document, name, w, load, "both", "bytes_per_second", &n);
    transport->known[where] = n > 0 && transport->bandwidth[where] > 0;
  }
  const double both = fit_median(document, name, STUDY_SAME_HOST, "alone", "both", "bytes_per_second", &n),
               single = fit_median(document, name, STUDY_SAME_HOST, "alone", "one", "bytes_per_second", &one);
  if (n > 0 && one > 0) transport->host_share = fmin(fmax(1 - both / single, 0), 0.4);
}

static status_t study_transport_check(const char *path, const struct study_transport *transport)
{
  for (int w = 0; w < STUDY_WHERES; w++)
    if (transport->known[w] && (transport->latency[w] < 0 || transport->latency[w] > SECONDS_MOST ||
                                transport->bandwidth[w] > BANDWIDTH_MOST))
      return log_fail(STATUS_USAGE, "%s: not as its schema says: %s takes %g s and carries %g bytes a second",
                      path, transport->name, transport->latency[w], transport->bandwidth[w]);
  return STATUS_OK;
}

/* Returns whether a pair has its transport, its ranks' hosts and, if there is a fit, its values. */
static int pair_is_complete(const json_t *document, const json_t *pair)
{
  static const char *const ends[] = {"rank", "peer"};
  static const char *const numbers[] = {"latency_seconds", "bytes_per_second", "residual"};
  const json_t *fit = json_object_get(pair, "fit");
  int complete = study_text(pair, "way") && (json_is_null(fit) || json_is_object(fit));
  for (int e = 0; e < 2; e++) {
    const json_t *rank = json_object_get(pair, ends[e]);
    complete = complete && json_is_integer(rank) && *rank_host(document, rank);
  }
  for (int n = 0; n < 3 && json_is_object(fit); n++)
    complete = complete && json_is_number(json_object_get(fit, numbers[n]));
  return complete && (json_is_null(fit) || json_number_value(json_object_get(fit, "bytes_per_second")) > 0);
}

static status_t study_paths_fill(const json_t *document, const char *path, struct study_paths *paths)
{
  const json_t *pairs = json_object_get(document, "pairs");
  if (!text_is(document, "schema", "comm-gpu/1"))
    return log_fail(STATUS_USAGE, "%s: not a document of comm-gpu", path);
  paths->n = 0;
  for (size_t p = 0; p < json_array_size(pairs); p++)
    if (!pair_is_complete(document, json_array_get(pairs, p)))
      return log_fail(STATUS_USAGE, "%s: not as its schema says: pairs[%zu] lacks its transport, host or fit",
                      path, p);
  for (size_t p = 0; p < json_array_size(pairs); p++) {
    const char *name = study_text(json_array_get(pairs, p), "way");
    if (!name || study_transport_find(paths, name) >= 0 || paths->n == STUDY_TRANSPORTS_MAX) continue;
    transport_fill(document, name, &paths->transports[paths->n]);
    RETURN_IF_FAILED(study_transport_check(path, &paths->transports[paths->n]));
    if (paths->transports[paths->n].known[0] || paths->transports[paths->n].known[1]) paths->n++;
  }
  if (paths->n > 0) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT,
                  "%s: holds no fitted pair of ranks: run mpirun -np 2 comm-gpu --json FILE", path);
}

status_t study_paths_read(const char *path, struct study_paths *paths)
{
  json_t *document;
  RETURN_IF_FAILED(document_read(path, &document));
  status_t status = study_paths_fill(document, path, paths);
  json_decref(document);
  return status;
}
