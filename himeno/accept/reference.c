/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/accept/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/stats.h"
#include "himeno/accept/accept.h"
#include "himeno/run.h"

#define SAMPLES_MAX 1000000

static status_t unfit(const char *where, const char *why)
{
  return log_fail(STATUS_USAGE, "--reference %s: %s", where, why);
}

/* ---- reading ---- */

static int text_get(const json_t *object, const char *key, char *text, size_t size)
{
  const char *value = json_string_value(json_object_get(object, key));
  if (!value || strlen(value) >= size) return 0;
  strcpy(text, value);
  return 1;
}

static int extents_get(const json_t *config, int64_t global[3])
{
  static const char *const keys[] = {"imax", "jmax", "kmax"};
  for (int a = 0; a < 3; a++) {
    const json_t *value = json_object_get(config, keys[a]);
    if (!json_is_integer(value)) return 0;
    global[a] = json_integer_value(value);
  }
  return 1;
}

/* The blocks' noise; −1 for what is no list of times, or a short one. */
static double noise_get(const json_t *samples)
{
  size_t n = json_array_size(samples);
  double *times = n >= ACCEPT_BLOCKS_MIN && n <= SAMPLES_MAX ? malloc(n * sizeof *times) : NULL, noise = -1;
  if (!times) return -1;
  size_t good = 0;
  while (good < n && json_number_value(json_array_get(samples, good)) > 0) {
    times[good] = json_number_value(json_array_get(samples, good));
    good++;
  }
  if (good == n) {
    struct stats_summary s = stats_summarise(times, n);
    noise = stats_noise(&s);
  }
  free(times);
  return noise;
}

static status_t document_read(const json_t *document, const char *where, struct reference *r)
{
  const json_t *config = json_object_get(document, "config"), *result = json_object_get(document, "result"),
               *ranks = json_object_get(document, "ranks");
  char verdict[16], schema[16];
  if (!text_get(document, "schema", schema, sizeof schema) || strcmp(schema, "himeno-gpu/1") != 0)
    return unfit(where, "not a result of himeno-gpu (schema himeno-gpu/1)");
  if (!extents_get(config, r->global) || !text_get(config, "data", r->data, sizeof r->data) ||
      !text_get(config, "backend", r->backend, sizeof r->backend) ||
      !text_get(config, "class", r->class_, sizeof r->class_) ||
      !text_get(config, "kernel", r->kernel, sizeof r->kernel) ||
      !text_get(json_array_get(ranks, 0), "device", r->device, sizeof r->device))
    return unfit(where, "its config or ranks are damaged");
  r->ranks = (int)json_array_size(ranks);
  if (!text_get(result, "verdict", verdict, sizeof verdict) ||
      (strcmp(verdict, "pass") != 0 && strcmp(verdict, "slow") != 0))
    return unfit(where, "that run did not compute right");
  r->gflops = json_number_value(json_object_get(result, "gflops"));
  if (!(r->gflops > 0)) return unfit(where, "it has no rate");
  if ((r->noise = noise_get(json_object_get(result, "samples"))) < 0)
    return unfit(where, "it has fewer than 3 blocks, so its noise is unknown");
  return STATUS_OK;
}

status_t reference_parse(const char *text, size_t bytes, const char *where, struct reference *reference)
{
  struct reference r = {.ranks = 0};
  json_error_t error;
  json_t *document = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
  if (!document) return log_fail(STATUS_USAGE, "--reference %s: line %d: %s", where, error.line, error.text);
  status_t status = document_read(document, where, &r);
  json_decref(document);
  if (status == STATUS_OK) *reference = r;
  return status;
}

status_t reference_read(const char *path, struct reference *reference)
{
  struct reference r = {.ranks = 0};
  json_error_t error;
  FILE *file = file_open_regular(path);
  if (!file && errno == EINVAL) return unfit(path, "a reference is a plain file");
  if (!file) return log_fail(STATUS_ENVIRONMENT, "--reference %s: %s", path, strerror(errno));
  json_t *document = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
  fclose(file);
  if (!document) return log_fail(STATUS_USAGE, "--reference %s: %s", path, error.text);
  status_t status = document_read(document, path, &r);
  json_decref(document);
  if (status == STATUS_OK) *reference = r;
  return status;
}

/* ---- comparing ---- */

status_t reference_same(const struct himeno_run *run, const struct reference *r)
{
  const char *class_ = run->kernel->class_ == HIMENO_CLASSIC ? "classic" : "temporal";
  const char *data = run->config.data == HIMENO_DENSE ? "dense" : "standard";
  const struct gpu_device_info *info = &run->placement.info;
  const char *where = run->config.reference;
  if (memcmp(r->global, run->global, sizeof r->global) != 0)
    return log_fail(STATUS_USAGE,
                    "--reference %s: that run was of %" PRId64 "x%" PRId64 "x%" PRId64 " points", where,
                    r->global[0], r->global[1], r->global[2]);
  if (strcmp(r->data, data) != 0)
    return log_fail(STATUS_USAGE, "--reference %s: that run had %s data", where, r->data);
  if (strcmp(r->class_, class_) != 0)
    return log_fail(STATUS_USAGE, "--reference %s: that run had a %s kernel, %s; never compare the two",
                    where, r->class_, r->kernel);
  if (r->ranks != run->placement.ranks)
    return log_fail(STATUS_USAGE, "--reference %s: that run had %d rank%s", where, r->ranks,
                    r->ranks > 1 ? "s" : "");
  if (strcmp(r->backend, run->placement.backend->name) != 0 || strcmp(r->device, info->name) != 0)
    log_warn("--reference %s: that run was on %s by %s", where, r->device, r->backend);
  if (strcmp(r->kernel, run->kernel->name) != 0)
    log_warn("--reference %s: that run was of kernel %s, this one is of %s", where, r->kernel,
             run->kernel->name);
  return STATUS_OK;
}

void accept_reference_check(const struct himeno_run *run, const struct reference *r, struct accept *accept)
{
  struct stats_summary s = stats_summarise(run->result.samples, (size_t)run->result.n_samples);
  double noise = hypot(r->noise, stats_noise(&s)),
         tolerance = fmax(REFERENCE_LEAST, REFERENCE_SIGMAS * noise);
  struct check *check = &accept->checks[accept->n++];
  *check = (struct check){.name = "rate over reference", .unit = "", .limit = 1 - tolerance, .rank = -1};
  check->value = s.n < ACCEPT_BLOCKS_MIN ? NAN : himeno_gflops(run) / r->gflops;
  check_judge(check, 0);
  if (s.n < ACCEPT_BLOCKS_MIN)
    snprintf(check->why, sizeof check->why, "fewer than %d blocks: this run's noise is unknown",
             ACCEPT_BLOCKS_MIN);
  else if (tolerance > 0.05)
    snprintf(check->why, sizeof check->why, "noisy: nothing below %.1f%% can be told from %.2f GFLOPS",
             100 * tolerance, r->gflops);
  else
    snprintf(check->why, sizeof check->why, "%.2f GFLOPS then; differences below %.1f%% are noise", r->gflops,
             100 * tolerance);
}
