/* SPDX-License-Identifier: MIT */
/* Compares the predictions of an earlier document with runs that were measured later. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tools/predict/predict.h"
#include "tools/predict/workload.h"

static int is_of_run(const json_t *point, const struct study_run *run)
{
  const char *const *extents = workloads[run->program].extents;
  const char *transport = json_string_value(json_object_get(point, "transport"));
  for (int d = 0; d < 3; d++) {
    if (json_integer_value(json_object_get(point, extents[d])) != run->global[d]) return 0;
    if (json_integer_value(json_array_get(json_object_get(point, "procs"), (size_t)d)) != run->procs[d])
      return 0;
  }
  return transport && (run->ranks == 1 || strcmp(transport, run->transport) == 0);
}

static void pair_fill(const json_t *document, struct validate_pair *pair)
{
  const json_t *points = json_object_get(document, "predictions");
  for (size_t p = 0; p < json_array_size(points) && !pair->predicted; p++) {
    const json_t *point = json_array_get(points, p);
    if (!is_of_run(point, &pair->run)) continue;
    pair->time.seconds = json_number_value(json_object_get(point, "seconds"));
    pair->time.low = json_number_value(json_object_get(point, "low"));
    pair->time.high = json_number_value(json_object_get(point, "high"));
    pair->predicted = pair->time.seconds > 0;
    pair->error = pair->time.seconds / pair->run.seconds - 1;
  }
}

static status_t pairs_make(const json_t *document, const struct study *measured, struct validate_table *table)
{
  struct validate_table t = {.pairs = calloc((size_t)measured->n + 1, sizeof *t.pairs)};
  if (!t.pairs) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a comparison");
  for (int r = 0; r < measured->n; r++) {
    struct validate_pair *pair = &t.pairs[t.n];
    pair->run = measured->runs[r];
    pair_fill(document, pair);
    t.n += pair->predicted;
  }
  if (t.n == 0) {
    validate_free(&t);
    return log_fail(STATUS_ENVIRONMENT,
                    "none of the %d runs was predicted: other sizes, ranks, cuts or transports", measured->n);
  }
  *table = t;
  return STATUS_OK;
}

status_t predict_check(struct predict *p)
{
  json_t *document;
  RETURN_IF_FAILED(document_read(p->config.check, &document));
  const json_t *paths = json_object_get(json_object_get(document, "model"), "paths");
  const char *of = json_string_value(json_object_get(json_object_get(document, "config"), "kernel"));
  status_t status = json_is_array(json_object_get(document, "predictions"))
                        ? study_read(p->config.against, &p->compared)
                        : log_fail(STATUS_USAGE, "%s: has no predictions; himeno-predict --json writes them",
                                   p->config.check);
  if (status == STATUS_OK) status = study_select(&p->compared, p->config.kernel ? p->config.kernel : of, 0);
  for (size_t n = 0; status == STATUS_OK && n < json_array_size(paths); n++)
    status = study_staging_select(&p->compared, model_staging(json_array_get(paths, n)));
  if (status == STATUS_OK)
    status = model_covered_read(p->config.check, json_object_get(document, "model"), &p->model.coverage);
  p->model.program = p->compared.program;
  if (status == STATUS_OK) status = pairs_make(document, &p->compared, &p->against);
  json_decref(document);
  return status;
}

status_t predict_within(const struct predict *p)
{
  double median, worst;
  int n;
  if (!p->config.check && model_is_poor(&p->model.coverage))
    return log_fail(STATUS_SLOW,
                    "the predictions are poor: runs left out of the fit are off by more than %.0f%% in the "
                    "median, or fewer than %.0f%% of them lie inside their 90%% intervals, or none could be "
                    "predicted and the fit is off as far",
                    100 * MODEL_POOR_MEDIAN, 100 * MODEL_POOR_INSIDE);
  validate_summary(&p->against, &median, &worst, &n);
  if (p->config.within <= 0 || 100 * worst <= p->config.within) return STATUS_OK;
  return log_fail(STATUS_SLOW, "an error of %.1f%% is more than the %g%% that --within allows", 100 * worst,
                  p->config.within);
}
