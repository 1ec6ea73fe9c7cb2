/* SPDX-License-Identifier: MIT */
#include "tools/predict/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/document.h"
#include "base/log.h"
#include "gemm/types.h"

#define POINTS_MOST 1e18
#define COUNT_MOST  1e9
#define SPREAD_MOST 10
#define FACTOR_MOST 1e4

/** A document being read. Only its first error is logged. */
struct reader {
  const char *path;
  status_t status;
};

static void wrong(struct reader *reader, const char *where, const char *key, const char *what)
{
  if (reader->status == STATUS_OK)
    reader->status = log_fail(STATUS_USAGE, "%s: not a model of himeno-predict: %s%s%s %s", reader->path,
                              where, *where && *key ? "." : "", key, what);
}

/* Returns the number \a key of \a object, or \a object itself if \a key is empty. */
static double number_within(struct reader *reader, const char *where, const json_t *object, const char *key,
                            int is_whole, double least, double most)
{
  const json_t *found = *key ? json_object_get(object, key) : object;
  const double value = json_number_value(found);
  char what[128];
  if (json_is_number(found) && value >= least && value <= most && (!is_whole || value == floor(value)))
    return value;
  if (json_is_number(found))
    snprintf(what, sizeof what, "is %g: must be %s%g to %g", value, is_whole ? "whole numbers from " : "",
             least, most);
  else
    snprintf(what, sizeof what, "%s", found ? "is no number" : "is missing");
  wrong(reader, where, key, what);
  return least;
}

static double model_number(struct reader *reader, const char *where, const json_t *object, const char *key,
                           double least, double most)
{
  return number_within(reader, where, object, key, 0, least, most);
}

static int model_whole(struct reader *reader, const char *where, const json_t *object, const char *key,
                       double least, double most)
{
  return (int)number_within(reader, where, object, key, 1, least, most);
}

static int flag(struct reader *reader, const char *where, const json_t *object, const char *key)
{
  const json_t *found = json_object_get(object, key);
  if (!json_is_boolean(found)) wrong(reader, where, key, found ? "is neither true nor false" : "is missing");
  return json_is_true(found);
}

/* Returns the list \a key of \a object, or NULL if there is none. */
static const json_t *model_json_list(struct reader *reader, const json_t *object, const char *key)
{
  const json_t *found = json_object_get(object, key);
  if (found && !json_is_null(found) && !json_is_array(found)) wrong(reader, "", key, "is no list");
  return found;
}

int model_staging(const json_t *path)
{
  const char *staging = json_string_value(json_object_get(path, "staging"));
  for (int handover = 0; staging && handover < 2; handover++)
    if (strcmp(staging, study_staging(handover)) == 0) return handover;
  return -1;
}

static void off_read(struct reader *reader, const json_t *object, double off[KINDS])
{
  const json_t *shares = json_object_get(object, "off");
  for (int kind = 0; kind < KINDS && shares; kind++)
    off[kind] = model_number(reader, "off", shares, model_kind_names[kind], 0, SPREAD_MOST);
}

static void model_path_read(struct reader *reader, const json_t *path, size_t p, struct model *model)
{
  char where[64];
  struct study_transport *transport = &model->terms.paths.transports[model->terms.paths.n];
  const char *name = json_string_value(json_object_get(path, "transport"));
  snprintf(where, sizeof where, "paths[%zu]", p);
  if (!name || !*name || strlen(name) >= sizeof transport->name)
    wrong(reader, where, "transport", "is no name");
  else if (study_transport_find(&model->terms.paths, name) >= 0)
    wrong(reader, where, "transport", "occurs twice");
  else
    snprintf(transport->name, sizeof transport->name, "%s", name);
  model->terms.paths.n++;
  transport->handover = model_staging(path);
  if (transport->handover < 0 && json_object_get(path, "staging") &&
      !json_is_null(json_object_get(path, "staging")))
    wrong(reader, where, "staging", "is none that is known");
  model->errors.transport_spread[p] = model_number(reader, where, path, "spread", 0, SPREAD_MOST);
  off_read(reader, path, model->errors.transport_off[p]);
  for (int w = 0; w < STUDY_WHERES; w++) {
    const json_t *fit = json_object_get(path, study_where_names[w]);
    if (!fit || json_is_null(fit)) continue;
    snprintf(where, sizeof where, "paths[%zu].%s", p, study_where_names[w]);
    transport->known[w] = 1;
    transport->latency[w] = model_number(reader, where, fit, "latency_seconds", 0, SECONDS_MOST);
    transport->bandwidth[w] = model_number(reader, where, fit, "bytes_per_second", 1, BANDWIDTH_MOST);
    transport->residual[w] = model_number(reader, where, fit, "residual", 0, COUNT_MOST);
  }
  if (!transport->known[0] && !transport->known[1]) wrong(reader, where, "", "has neither path");
}

static void model_paths_read(struct reader *reader, const json_t *paths, struct model *model)
{
  size_t n = json_array_size(paths);
  if (!json_is_array(paths) || n > STUDY_TRANSPORTS_MAX) {
    wrong(reader, "paths", "", paths ? "is no list of transports" : "is missing");
    return;
  }
  for (size_t p = 0; p < n; p++) model_path_read(reader, json_array_get(paths, p), p, model);
}

static double term_most(int column)
{
  return model_term_text(column)->unit[0] == 's' ? SECONDS_MOST : FACTOR_MOST;
}

static void terms_read(struct reader *reader, const json_t *terms, struct model *model)
{
  char name[96], where[64];
  if (reader->status != STATUS_OK) return;
  for (int c = 0; c < model->terms.columns; c++) {
    const json_t *term = json_array_get(terms, (size_t)c);
    const char *given = json_string_value(json_object_get(term, "name"));
    model_term_name(&model->terms.paths, c, name);
    snprintf(where, sizeof where, "terms[%d]", c);
    if (!given || strcmp(given, name) != 0) {
      char what[128];
      snprintf(what, sizeof what, "is %.20s; it must be \"%s\"", given ? "another" : "missing", name);
      wrong(reader, where, "name", what);
      return;
    }
    snprintf(where, sizeof where, "terms[%d] (%.40s)", c, name);
    model->terms.fitted.value[c] = model_number(reader, where, term, "value", 0, term_most(c));
    model->errors.error[c] = model_number(reader, where, term, "error", 0, term_most(c));
    model->errors.seen[c] = flag(reader, where, term, "seen");
  }
  if (json_array_size(terms) != (size_t)model->terms.columns)
    wrong(reader, "terms", "", "are more than the paths have");
}

static void replicates_read(struct reader *reader, const json_t *rows, int columns,
                            struct model_errors *errors)
{
  char where[64];
  const size_t n = json_array_size(rows);
  if (n > MODEL_REPLICATES) {
    wrong(reader, "replicates", "", "are too many");
    return;
  }
  for (size_t r = 0; r < n; r++) {
    const json_t *row = json_array_get(rows, r);
    errors->replicate[r].share = json_number_value(json_array_get(row, (size_t)columns + 1));
    errors->replicate[r].hinder = json_number_value(json_array_get(row, (size_t)columns + 2));
    for (int c = 0; c <= columns; c++) {
      const int last = c == columns;
      snprintf(where, sizeof where, "replicates[%zu][%d]", r, c);
      double value = model_number(reader, where, json_array_get(row, (size_t)c), "", 0,
                                  last ? POINTS_MOST : term_most(c));
      *(last ? &errors->replicate[r].cache_points : &errors->replicate[r].value[c]) = value;
    }
  }
  errors->n_replicates = (int)n;
}

/* Reads the data for intervals; models without replicates have none. */
static void interval_read(struct reader *reader, const json_t *json, int columns, struct model_errors *errors)
{
  const json_t *replicates = model_json_list(reader, json, "replicates");
  if (json_array_size(replicates) == 0) return;
  errors->freedom = model_number(reader, "", json, "freedom", 0, COUNT_MOST);
  replicates_read(reader, replicates, columns, errors);
}

static void covered_read(struct reader *reader, const json_t *json, struct model_coverage *coverage)
{
  char where[64];
  const json_t *groups = model_json_list(reader, json, "covered");
  if (json_array_size(groups) > MODEL_MEASURED) {
    wrong(reader, "covered", "", "are too many");
    return;
  }
  for (size_t c = 0; c < json_array_size(groups); c++) {
    const json_t *one = json_array_get(groups, c);
    const char *of = json_string_value(json_object_get(one, "of"));
    struct model_covered *covered = &coverage->group[coverage->n++];
    snprintf(where, sizeof where, "covered[%zu]", c);
    if (!of) wrong(reader, where, "of", "is no text");
    snprintf(covered->of, sizeof covered->of, "%s", of ? of : "");
    covered->n = model_whole(reader, where, one, "runs", 0, COUNT_MOST);
    covered->inside = model_whole(reader, where, one, "inside", 0, covered->n);
  }
}

static void held_out_read(struct reader *reader, const json_t *json, struct model_coverage *coverage)
{
  const json_t *held_out = json_object_get(json, "held_out"), *causes = json_object_get(held_out, "causes");
  if (!held_out) return;
  coverage->predicted = model_whole(reader, "held_out", held_out, "predicted", 0, COUNT_MOST);
  if (coverage->predicted > 0) {
    coverage->median = model_number(reader, "held_out", held_out, "median_error", 0, FACTOR_MOST);
    coverage->worst = model_number(reader, "held_out", held_out, "worst_error", 0, FACTOR_MOST);
  }
  coverage->spread = model_number(reader, "", json, "spread", 0, SPREAD_MOST);
  for (size_t c = 0; c < json_array_size(causes) && c < MODEL_CAUSES; c++) {
    const char *cause = json_string_value(json_array_get(causes, c));
    snprintf(coverage->cause[coverage->n_causes++], sizeof coverage->cause[0], "%s", cause ? cause : "");
  }
}

status_t model_covered_read(const char *path, const json_t *json, struct model_coverage *coverage)
{
  struct reader reader = {path, STATUS_OK};
  covered_read(&reader, json, coverage);
  held_out_read(&reader, json, coverage);
  return reader.status;
}

static void names_read(struct reader *reader, const json_t *json, const char *key, struct model_names *names)
{
  const json_t *texts = model_json_list(reader, json, key);
  if (json_array_size(texts) > MODEL_MEASURED) wrong(reader, key, "", "are too many");
  for (size_t t = 0; t < json_array_size(texts); t++) {
    const char *text = json_string_value(json_array_get(texts, t));
    if (!text) wrong(reader, key, "", "are no texts");
    model_list(names, text ? text : "");
  }
}

static void model_program_read(struct reader *reader, const json_t *json, struct model *model)
{
  const json_t *product = json_object_get(json, "product");
  const char *type = json_string_value(json_object_get(product, "type")),
             *name = json_string_value(json_object_get(json, "program"));
  if (name && strcmp(name, model_program_names[STUDY_HIMENO]) == 0) return;
  model->program = STUDY_GEMM;
  if (!name || strcmp(name, model_program_names[STUDY_GEMM]) != 0)
    wrong(reader, "program", "", "is none that is known");
  while (model->product.type < GEMM_TYPES && (!type || strcmp(type, gemm_types[model->product.type].name)))
    model->product.type++;
  if (model->product.type == GEMM_TYPES) wrong(reader, "product", "type", "is none that is known");
  model->product.panel = model_whole(reader, "product", product, "panel", 0, COUNT_MOST);
  model->product.on_cpu = flag(reader, "product", product, "on_cpu");
}

static void range_read(struct reader *reader, const json_t *json, struct model *model)
{
  const json_t *points = json_object_get(json, "points");
  model->terms.fitted.cache_points = model_number(reader, "", json, "cache_points", 0, POINTS_MOST);
  model->terms.tile_points = number_within(reader, "", json, "tile_points", 1, 0, POINTS_MOST);
  model->errors.spread = model_number(reader, "", json, "spread", 0, SPREAD_MOST);
  off_read(reader, json, model->errors.off);
  /* documents of earlier versions lack these fields */
  if (json_object_get(json, "device_spread")) {
    model->range.device_spread = model_number(reader, "", json, "device_spread", 0, SPREAD_MOST);
    model->terms.fitted.share = model_number(reader, "", json, "memory_share", 0, FACTOR_MOST);
    model->range.sharers_most = model_whole(reader, "", json, "sharers_most", 0, COUNT_MOST);
    model->range.memories = model_whole(reader, "", json, "memories", 0, COUNT_MOST);
  }
  if (json_object_get(json, "multiprocessors")) {
    const json_t *tile = json_object_get(json, "tile");
    for (size_t d = 0; d < 2; d++)
      model->terms.tile[d] = model_whole(reader, "tile", json_array_get(tile, d), "", 0, COUNT_MOST);
    model->terms.units =
        model_whole(reader, "", json, "multiprocessors", model->terms.tile[0] > 0, COUNT_MOST);
    model->terms.fitted.hinder = model_number(reader, "", json, "hidden_share", 0, FACTOR_MOST);
  }
  model->range.runs = model_whole(reader, "", json, "runs", 0, COUNT_MOST);
  model->range.ranks_most = model_whole(reader, "", json, "ranks_most", 1, COUNT_MOST);
  model->range.hosts_most = model_whole(reader, "", json, "hosts_most", 1, COUNT_MOST);
  model->range.per_host = model_whole(reader, "", json, "per_host", 0, COUNT_MOST);
  model->terms.depth = model_whole(reader, "", json, "T", 1, 1024);
  model->terms.overlap = flag(reader, "", json, "overlap");
  model->terms.slabs_hidden = flag(reader, "", json, "slabs_hidden");
  names_read(reader, json, "sizes", &model->range.sizes);
  names_read(reader, json, "cuts", &model->range.cuts);
  model->range.points_least =
      model_number(reader, "points[0]", json_array_get(points, 0), "", 1, POINTS_MOST);
  model->range.points_most = model_number(reader, "points[1]", json_array_get(points, 1), "",
                                          model->range.points_least, POINTS_MOST);
  model->range.bytes_most = model_number(reader, "", json, "bytes_most", 0, POINTS_MOST);
}

static status_t schema_check(const char *path, const json_t *document)
{
  const char *schema = json_string_value(json_object_get(document, "schema"));
  if (!schema || strcmp(schema, MODEL_SCHEMA) != 0)
    return log_fail(STATUS_USAGE, "%s: not a model of himeno-predict: %s %.60s, not " MODEL_SCHEMA, path,
                    schema ? "its schema is" : "it names no schema", schema ? schema : "");
  if (json_is_object(json_object_get(document, "model"))) return STATUS_OK;
  return log_fail(STATUS_USAGE, "%s: not a model of himeno-predict: it has no model", path);
}

status_t model_json_read(const char *path, const char *kernel, struct model *model)
{
  json_t *document;
  RETURN_IF_FAILED(document_read(path, &document));
  struct reader reader = {path, schema_check(path, document)};
  const json_t *json = json_object_get(document, "model");
  memset(model, 0, sizeof *model);
  model_program_read(&reader, json, model);
  model_paths_read(&reader, json_object_get(json, "paths"), model);
  model->terms.columns = TERMS + TRANSPORT_TERMS * model->terms.paths.n;
  terms_read(&reader, json_object_get(json, "terms"), model);
  range_read(&reader, json, model);
  interval_read(&reader, json, model->terms.columns, &model->errors);
  covered_read(&reader, json, &model->coverage);
  held_out_read(&reader, json, &model->coverage);
  const char *fitted = json_string_value(json_object_get(json_object_get(document, "config"), "kernel"));
  if (reader.status == STATUS_OK && kernel && (!fitted || strcmp(fitted, kernel) != 0))
    reader.status = log_fail(STATUS_USAGE, "--kernel %s: %s is a model of %s", kernel, path,
                             fitted ? fitted : "a kernel that it does not name");
  json_decref(document);
  return reader.status;
}
