/* SPDX-License-Identifier: MIT */
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

#define SAMPLES_MAX    1000000
#define FILE_BYTES_MAX ((size_t)1 << 30)

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

/* One interrupted block does not make a run slow: rates are compared by the median block's time. */
static double tail_of(const struct stats_summary *s)
{
  return s->median > 0 ? s->mean / s->median - 1 : 0;
}

/* The blocks' noise and tail. 0 for what is no list of times, or a short one. */
static int noise_get(const json_t *samples, struct reference *r)
{
  size_t n = json_array_size(samples);
  double *times = n >= ACCEPT_BLOCKS_MIN && n <= SAMPLES_MAX ? malloc(n * sizeof *times) : NULL;
  if (!times) return 0;
  size_t good = 0;
  while (good < n && json_number_value(json_array_get(samples, good)) > 0) {
    times[good] = json_number_value(json_array_get(samples, good));
    good++;
  }
  if (good == n) {
    struct stats_summary s = stats_summarise(times, n);
    r->noise = stats_noise_max(&s);
    r->tail = tail_of(&s);
  }
  free(times);
  return good == n;
}

static int is_one_of(const char *word, const char *const *words)
{
  while (*words && strcmp(word, *words) != 0) words++;
  return *words != NULL;
}

/* Whatever became of that run's speed, its bits must have been right. */
static status_t verdict_check(const json_t *result, const char *where)
{
  static const char *const right[] = {"pass", "slow", "noisy", "usage", NULL};
  static const char *const verified_by[] = {"known", "reference", "model", NULL};
  char verdict[16], verified[16];
  if (!text_get(result, "verdict", verdict, sizeof verdict) || !is_one_of(verdict, right))
    return unfit(where, "that run did not compute right, or did not end");
  if (!text_get(result, "verified", verified, sizeof verified) || !is_one_of(verified, verified_by))
    return unfit(where, "the timed part of that run was not verified");
  return STATUS_OK;
}

static status_t document_read(const json_t *document, const char *where, struct reference *r)
{
  const json_t *config = json_object_get(document, "config"), *result = json_object_get(document, "result"),
               *ranks = json_object_get(document, "ranks");
  static const char *const schemas[] = {"himeno-gpu/1", "himeno-gpu/2", NULL};
  char schema[16];
  if (!text_get(document, "schema", schema, sizeof schema) || !is_one_of(schema, schemas))
    return unfit(where, "not a result of himeno-gpu (schema himeno-gpu/1 or himeno-gpu/2)");
  if (!extents_get(config, r->global) || !text_get(config, "data", r->data, sizeof r->data) ||
      !text_get(config, "backend", r->backend, sizeof r->backend) ||
      !text_get(config, "class", r->class_, sizeof r->class_) ||
      !text_get(config, "kernel", r->kernel, sizeof r->kernel) ||
      !text_get(json_array_get(ranks, 0), "device", r->device, sizeof r->device))
    return unfit(where, "its config or ranks are damaged");
  r->ranks = (int)json_array_size(ranks);
  RETURN_IF_FAILED(verdict_check(result, where));
  r->gflops = json_number_value(json_object_get(result, "gflops"));
  if (!(r->gflops > 0)) return unfit(where, "it has no rate");
  if (!noise_get(json_object_get(result, "samples"), r))
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
  size_t bytes;
  char *text = file_read(path, FILE_BYTES_MAX, &bytes);
  if (!text && errno == EINVAL) return unfit(path, "a reference is a plain file");
  if (!text) return log_fail(STATUS_ENVIRONMENT, "--reference %s: %s", path, strerror(errno));
  status_t status = reference_parse(text, bytes, path, reference);
  free(text);
  return status;
}

/* ---- comparing ---- */

status_t reference_same(const struct himeno_config *config, const struct himeno_choice *choice,
                        const struct reference *r)
{
  const char *class_ = himeno_class_names[choice->kernel->class_];
  const char *data = himeno_data_names[config->data];
  const struct placement *p = &choice->placement;
  const char *where = config->reference;
  if (memcmp(r->global, choice->global, sizeof r->global) != 0)
    return log_fail(STATUS_USAGE,
                    "--reference %s: that run was of %" PRId64 "x%" PRId64 "x%" PRId64 " points", where,
                    r->global[0], r->global[1], r->global[2]);
  if (strcmp(r->data, data) != 0)
    return log_fail(STATUS_USAGE, "--reference %s: that run had %s data", where, r->data);
  if (strcmp(r->class_, class_) != 0)
    return log_fail(STATUS_USAGE, "--reference %s: that run had a %s kernel, %s; never compare the two",
                    where, r->class_, r->kernel);
  if (r->ranks != p->ranks)
    return log_fail(STATUS_USAGE, "--reference %s: that run had %d rank%s", where, r->ranks,
                    r->ranks > 1 ? "s" : "");
  if (strcmp(r->backend, p->backend->name) != 0 || strcmp(r->device, p->info.name) != 0)
    log_warn("--reference %s: that run was on %s by %s", where, r->device, r->backend);
  if (strcmp(r->kernel, choice->kernel->name) != 0)
    log_warn("--reference %s: that run was of kernel %s, this one is of %s", where, r->kernel,
             choice->kernel->name);
  return STATUS_OK;
}

static void compare(const struct himeno_result *result, const struct reference *r, struct accept_check *check)
{
  struct stats_summary s = stats_summarise(result->samples, (size_t)result->n_samples);
  double noise = hypot(r->noise, stats_noise_max(&s)),
         tolerance = fmax(REFERENCE_LEAST, REFERENCE_SIGMAS * noise);
  check->limit = fmax(0, 1 - tolerance);
  check->value = himeno_result_gflops(result) * (1 + tail_of(&s)) / (r->gflops * (1 + r->tail));
  check_judge(check, 0);
  if (check->outcome == CHECK_PASS && tolerance > REFERENCE_NOISY &&
      check->value < 1 + tolerance - REFERENCE_NOISY)
    check->outcome = CHECK_NOISY;
  if (tolerance > REFERENCE_NOISY)
    snprintf(check->why, sizeof check->why, "noisy: nothing below %.1f%% can be told from %.2f GFLOPS",
             100 * tolerance, r->gflops);
  else
    snprintf(check->why, sizeof check->why, "%.2f GFLOPS then; differences below %.1f%% are noise", r->gflops,
             100 * tolerance);
}

void accept_reference_check(const struct himeno_result *result, const struct reference *r,
                            struct accept *accept)
{
  struct accept_check *check = &accept->checks[accept->n++];
  *check = (struct accept_check){.name = "rate over reference",
                                 .unit = "",
                                 .value = NAN,
                                 .limit = 1 - REFERENCE_LEAST,
                                 .rank = -1,
                                 .from = "the noise of both runs"};
  if (result->ranks[0].row.info.emulated) {
    check->outcome = CHECK_INAPPLICABLE;
    snprintf(check->why, sizeof check->why, "an emulator has no speed");
  } else if (result->n_samples < ACCEPT_BLOCKS_MIN) {
    check->outcome = CHECK_UNKNOWN;
    snprintf(check->why, sizeof check->why, "fewer than %d blocks: this run's noise is unknown",
             ACCEPT_BLOCKS_MIN);
  } else {
    compare(result, r, check);
  }
}
