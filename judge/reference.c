/* SPDX-License-Identifier: MIT */
#include "judge/reference.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stats.h"
#include "judge/policy.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)
#define KEYS_MAX       6

/* Programs whose documents can be compared: schemas, and keys of `config` that must be equal. */
static const struct {
  const char *program, *schemas[3], *keys[KEYS_MAX];
} programs[] = {{"himeno-gpu", {"himeno-gpu/1", "himeno-gpu/2"}, {"imax", "jmax", "kmax", "data", "class"}},
                {"gemm-gpu", {"gemm-gpu/1"}, {"m", "n", "k", "type", "trans"}}};
#define PROGRAMS (sizeof programs / sizeof *programs)

static status_t reference_unfit(const char *where, const char *why)
{
  return log_fail(STATUS_USAGE, "reference %s: %s", where, why);
}

static int is_one_of(const char *word, const char *const *words)
{
  while (*words && strcmp(word, *words) != 0) words++;
  return *words != NULL;
}

/* Returns the index of the program by the document's schema; PROGRAMS if unknown. */
static size_t program_find(const json_t *document)
{
  size_t p = 0;
  while (p < PROGRAMS && !is_one_of(view_text(document, "schema"), programs[p].schemas)) p++;
  return p;
}

/* Returns by what share the mean block's time exceeds the median block's. Rates are compared by the
 * median, so that one interrupted block does not make a run slow. */
static double tail_of(const struct stats_summary *s)
{
  return s->median > 0 ? s->mean / s->median - 1 : 0;
}

/* Sets the blocks' noise and tail (tail_of). Fails if \a samples is not a list of enough times. */
static status_t noise_get(const json_t *samples, const char *where, struct reference *r)
{
  double *times = NULL;
  int n = 0;
  RETURN_IF_FAILED(view_samples(samples, &times, &n));
  const int whole = n >= POLICY_BLOCKS_MIN && (size_t)n == json_array_size(samples);
  const struct stats_summary s = stats_summarise(times, (size_t)n);
  free(times);
  r->noise = stats_noise_max(&s);
  r->tail = tail_of(&s);
  return whole ? STATUS_OK : reference_unfit(where, "it has fewer than 3 blocks, so its noise is unknown");
}

/* The earlier run may have been slow, but its result must have been correct. */
static status_t verdict_check(const json_t *document, const char *where, size_t program)
{
  static const char *const right[] = {"pass", "slow", "noisy", "usage", NULL};
  static const char *const verified_by[] = {"known", "reference", "model", NULL};
  if (!is_one_of(view_text(document, "result.verdict"), right))
    return reference_unfit(where, "that run did not compute right, or did not end");
  if (program == 0 && !is_one_of(view_text(document, "result.verified"), verified_by))
    return reference_unfit(where, "the timed part of that run was not verified");
  return STATUS_OK;
}

static status_t reference_fill(const json_t *document, const char *where, struct reference *r)
{
  const size_t p = program_find(document);
  const json_t *config = json_object_get(document, "config"), *ranks = json_object_get(document, "ranks");
  int whole = json_array_size(ranks) > 0 && *view_text(ranks, "0.device") && *view_text(config, "backend") &&
              *view_text(config, "kernel");
  if (p == PROGRAMS)
    return reference_unfit(
        where, "not a result of himeno-gpu or gemm-gpu (schemas himeno-gpu/1 and /2, gemm-gpu/1)");
  for (int k = 0; k < KEYS_MAX && programs[p].keys[k]; k++)
    whole = whole && view_at(config, programs[p].keys[k]);
  if (!whole) return reference_unfit(where, "its config or ranks are damaged");
  RETURN_IF_FAILED(verdict_check(document, where, p));
  r->gflops = view_number(document, "result.gflops");
  if (!(r->gflops > 0)) return reference_unfit(where, "it has no rate");
  RETURN_IF_FAILED(noise_get(view_at(document, "result.samples"), where, r));
  snprintf(r->program, sizeof r->program, "%s", programs[p].program);
  snprintf(r->device, sizeof r->device, "%s", view_text(ranks, "0.device"));
  r->ranks = (int)json_array_size(ranks);
  r->document = json_incref((json_t *)document);
  return STATUS_OK;
}

status_t reference_parse(const char *text, size_t bytes, const char *where, struct reference *reference)
{
  struct reference r = {.where = where};
  json_error_t error;
  json_t *document = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
  if (!document) return log_fail(STATUS_USAGE, "reference %s: line %d: %s", where, error.line, error.text);
  document_rows_unpack(document);
  status_t status = reference_fill(document, where, &r);
  json_decref(document);
  if (status == STATUS_OK) *reference = r;
  return status;
}

status_t reference_read(const char *path, struct reference *reference)
{
  size_t bytes;
  char *text = file_read(path, FILE_BYTES_MAX, &bytes);
  if (!text && errno == EINVAL) return reference_unfit(path, "a reference is a plain file");
  if (!text) return log_fail(STATUS_ENVIRONMENT, "reference %s: %s", path, strerror(errno));
  status_t status = reference_parse(text, bytes, path, reference);
  free(text);
  return status;
}

void reference_free(struct reference *reference)
{
  json_decref(reference->document);
  reference->document = NULL;
}

static status_t reference_differs(const struct reference *r, const char *what, const json_t *then,
                                  const json_t *now)
{
  char *texts[2] = {json_dumps(then, JSON_ENCODE_ANY), json_dumps(now, JSON_ENCODE_ANY)};
  status_t status = log_fail(STATUS_USAGE, "reference %s: its %s is %.60s, this run's is %.60s", r->where,
                             what, texts[0] ? texts[0] : "unknown", texts[1] ? texts[1] : "unknown");
  free(texts[0]);
  free(texts[1]);
  return status;
}

/* Returns the number of ranks. A draft lists no ranks yet, only the process grid. */
static int ranks_of(const json_t *document)
{
  const json_t *procs = view_at(document, "config.procs");
  if (json_array_size(procs) != 3) return (int)json_array_size(json_object_get(document, "ranks"));
  return (int)(view_number(procs, "0") * view_number(procs, "1") * view_number(procs, "2"));
}

status_t reference_same(const json_t *document, const struct reference *r)
{
  const size_t p = program_find(document);
  const json_t *config = json_object_get(document, "config");
  if (p == PROGRAMS || strcmp(programs[p].program, r->program) != 0)
    return log_fail(STATUS_USAGE, "reference %s: it is of %s", r->where, r->program);
  for (int k = 0; k < KEYS_MAX && programs[p].keys[k]; k++) {
    const json_t *then = view_at(json_object_get(r->document, "config"), programs[p].keys[k]),
                 *now = view_at(config, programs[p].keys[k]);
    if (!json_equal(then, now)) return reference_differs(r, programs[p].keys[k], then, now);
  }
  if (ranks_of(document) != r->ranks)
    return log_fail(STATUS_USAGE, "reference %s: that run had %d rank%s", r->where, r->ranks,
                    r->ranks > 1 ? "s" : "");
  return STATUS_OK;
}

static void others_warn(const json_t *document, const struct reference *r)
{
  const char *backend = view_text(r->document, "config.backend"),
             *kernel = view_text(r->document, "config.kernel"), *now = view_text(document, "config.kernel");
  if (strcmp(backend, view_text(document, "config.backend")) != 0 ||
      strcmp(r->device, view_text(document, "ranks.0.device")) != 0)
    log_warn("reference %s: that run was on %s by %s", r->where, r->device, backend);
  if (strcmp(kernel, now) != 0)
    log_warn("reference %s: that run was of kernel %s, this one is of %s", r->where, kernel, now);
}

static void reference_compare(const struct judge_run *run, const struct reference *r, struct check *check)
{
  const struct stats_summary s = stats_summarise(run->samples, (size_t)run->n_samples);
  const double noise = hypot(r->noise, stats_noise_max(&s)),
               tolerance = fmax(REFERENCE_LEAST, REFERENCE_SIGMAS * noise);
  check->limit = fmax(0, 1 - tolerance);
  check->value = run->gflops * (1 + tail_of(&s)) / (r->gflops * (1 + r->tail));
  check_judge(check, 0);
  if (check->outcome == CHECK_PASS && tolerance > REFERENCE_NOISY &&
      check->value < 1 + tolerance - REFERENCE_NOISY)
    check->outcome = CHECK_NOISY;
  if (tolerance > REFERENCE_NOISY)
    snprintf(check->why, sizeof check->why, "noisy: differences below %.1f%% of %.2f GFLOPS are noise",
             100 * tolerance, r->gflops);
  else
    snprintf(check->why, sizeof check->why, "reference %.2f GFLOPS; differences below %.1f%% are noise",
             r->gflops, 100 * tolerance);
}

void reference_check(const json_t *document, const struct judge_run *run, const struct reference *r,
                     struct check *check)
{
  *check = (struct check){.name = "rate over reference",
                          .title = "speed / speed of the reference run",
                          .unit = "",
                          .value = NAN,
                          .limit = 1 - REFERENCE_LEAST,
                          .rank = -1,
                          .from = "the noise of both runs"};
  others_warn(document, r);
  if (run->emulated) {
    check_inapplicable(check, "emulated, so no speed");
  } else if (run->n_samples < POLICY_BLOCKS_MIN) {
    check->outcome = CHECK_UNKNOWN;
    snprintf(check->why, sizeof check->why, "fewer than %d blocks: this run's noise is unknown",
             POLICY_BLOCKS_MIN);
  } else {
    reference_compare(run, r, check);
  }
}
