/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/predict/model.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"

static const char *const where_names[STUDY_WHERES] = {"same_host", "other_host"};

/* Unit of a term, for readers. */
static const char *term_unit(int column)
{
  static const char *const units[TERMS] = {"s",       "s/point", "s/point", "s/point", "s/point",
                                           "s/point", "s/point", "s",       "s"};
  static const char *const way_units[WAY_TERMS] = {"s", "s/message", "1", "1", "1", "s/launch"};
  return column < TERMS ? units[column] : way_units[(column - TERMS) % WAY_TERMS];
}

/* ---- writing ---- */

static json_t *terms_json(const struct model *model)
{
  char name[96];
  json_t *terms = json_array();
  for (int c = 0; c < model->columns; c++)
    json_array_append_new(
        terms, json_pack("{s:s, s:o, s:o, s:s, s:b}", "name", model_term_name(model, c, name), "value",
                         report_json_real(model->value[c]), "error", report_json_real(model->error[c]),
                         "unit", term_unit(c), "seen", model->seen[c]));
  return terms;
}

static json_t *paths_json(const struct model *model)
{
  json_t *paths = json_array();
  for (int w = 0; w < model->paths.n; w++) {
    const struct study_way *way = &model->paths.ways[w];
    json_t *path =
        json_pack("{s:s, s:o, s:o}", "transport", way->name, "spread", report_json_real(model->way_spread[w]),
                  "far_spread", report_json_real(model->way_far_spread[w]));
    for (int where = 0; where < STUDY_WHERES; where++)
      object_set(path, where_names[where],
                 way->known[where]
                     ? json_pack("{s:o, s:o, s:o}", "latency_seconds", report_json_real(way->latency[where]),
                                 "bytes_per_second", report_json_real(way->bandwidth[where]), "residual",
                                 report_json_real(way->residual[where]))
                     : json_null());
    json_array_append_new(paths, path);
  }
  return paths;
}

static json_t *covariance_json(const struct model *model)
{
  json_t *rows = json_array();
  if (model->freedom <= 0) {
    json_decref(rows);
    return json_null();
  }
  for (int c = 0; c < model->columns; c++) {
    json_t *row = json_array();
    for (int d = 0; d < model->columns; d++)
      json_array_append_new(row, report_json_real(model->covariance[c * MODEL_COLUMNS_MAX + d]));
    json_array_append_new(rows, row);
  }
  return rows;
}

json_t *model_json(const struct model *model)
{
  json_t *o = json_object();
  object_set(o, "terms", terms_json(model));
  object_set(o, "paths", paths_json(model));
  object_real(o, "cache_points", model->cache_points);
  object_real(o, "tile_points", model->tile_points);
  object_set(o, "covariance", covariance_json(model));
  object_real(o, "spread", model->spread);
  object_real(o, "freedom", model->freedom);
  object_real(o, "far_spread", model->far_spread);
  object_whole(o, "runs", model->runs);
  object_whole(o, "ranks_most", model->ranks_most);
  object_whole(o, "hosts_most", model->hosts_most);
  object_whole(o, "per_host", model->per_host);
  object_whole(o, "T", model->depth);
  object_flag(o, "overlap", model->overlap);
  object_set(o, "points",
             json_pack("[o,o]", report_json_real(model->points_least), report_json_real(model->points_most)));
  object_real(o, "bytes_most", model->bytes_most);
  return o;
}

/* ---- reading ---- */

/* What a model may say: no machine has a sweep, a message or a point that takes an hour, nor a path
 * of an exabyte a second. */
#define SECONDS_MOST   3600.0
#define FACTOR_MOST    1e4
#define BANDWIDTH_MOST 1e18
#define COUNT_MOST     1e9
#define POINTS_MOST    1e18
#define SPREAD_MOST    10.0
#define DEPTH_MOST     1024.0

/** A document being read: the first thing that is wrong with it is told, once. */
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

/* A number of \a object within its bounds. */
static double number(struct reader *reader, const char *where, const json_t *object, const char *key,
                     double least, double most)
{
  const json_t *found = *key ? json_object_get(object, key) : object;
  const double value = json_number_value(found);
  char what[96];
  if (json_is_number(found) && value >= least && value <= most) return value;
  if (json_is_number(found))
    snprintf(what, sizeof what, "is %g: allowed are %g to %g", value, least, most);
  else
    snprintf(what, sizeof what, "%s", found ? "is no number" : "is missing");
  wrong(reader, where, key, what);
  return least;
}

static int flag(struct reader *reader, const char *where, const json_t *object, const char *key)
{
  const json_t *found = json_object_get(object, key);
  if (!json_is_boolean(found)) wrong(reader, where, key, found ? "is neither true nor false" : "is missing");
  return json_is_true(found);
}

static void path_read(struct reader *reader, const json_t *path, size_t p, struct model *model)
{
  char where[64];
  struct study_way *way = &model->paths.ways[model->paths.n];
  const char *name = json_string_value(json_object_get(path, "transport"));
  snprintf(where, sizeof where, "paths[%zu]", p);
  if (!name || !*name || strlen(name) >= sizeof way->name)
    wrong(reader, where, "transport", "is no name");
  else if (model_way(model, name) >= 0)
    wrong(reader, where, "transport", "stands there twice");
  else
    snprintf(way->name, sizeof way->name, "%s", name);
  model->paths.n++;
  model->way_spread[p] = number(reader, where, path, "spread", 0, SPREAD_MOST);
  model->way_far_spread[p] = number(reader, where, path, "far_spread", 0, SPREAD_MOST);
  for (int w = 0; w < STUDY_WHERES; w++) {
    const json_t *fit = json_object_get(path, where_names[w]);
    if (!fit || json_is_null(fit)) continue;
    snprintf(where, sizeof where, "paths[%zu].%s", p, where_names[w]);
    way->known[w] = 1;
    way->latency[w] = number(reader, where, fit, "latency_seconds", 0, SECONDS_MOST);
    way->bandwidth[w] = number(reader, where, fit, "bytes_per_second", 1, BANDWIDTH_MOST);
    way->residual[w] = number(reader, where, fit, "residual", 0, COUNT_MOST);
  }
  if (!way->known[0] && !way->known[1]) wrong(reader, where, "", "has neither path");
}

static void paths_read(struct reader *reader, const json_t *paths, struct model *model)
{
  size_t n = json_array_size(paths);
  if (!json_is_array(paths) || n > STUDY_WAYS_MAX) {
    wrong(reader, "paths", "", paths ? "is no list of transports" : "is missing");
    return;
  }
  for (size_t p = 0; p < n; p++) path_read(reader, json_array_get(paths, p), p, model);
}

static double term_most(int column)
{
  const char *unit = term_unit(column);
  return unit[0] == 's' ? SECONDS_MOST : FACTOR_MOST;
}

static void terms_read(struct reader *reader, const json_t *terms, struct model *model)
{
  char name[96], where[64];
  if (reader->status != STATUS_OK) return;
  for (int c = 0; c < model->columns; c++) {
    const json_t *term = json_array_get(terms, (size_t)c);
    const char *told = json_string_value(json_object_get(term, "name"));
    model_term_name(model, c, name);
    snprintf(where, sizeof where, "terms[%d]", c);
    if (!told || strcmp(told, name) != 0) {
      char what[128];
      snprintf(what, sizeof what, "is %.20s, and \"%s\" is wanted", told ? "another" : "missing", name);
      wrong(reader, where, "name", what);
      return;
    }
    snprintf(where, sizeof where, "terms[%d] (%.40s)", c, name);
    model->value[c] = number(reader, where, term, "value", 0, term_most(c));
    model->error[c] = number(reader, where, term, "error", 0, term_most(c));
    model->seen[c] = flag(reader, where, term, "seen");
  }
  if (json_array_size(terms) != (size_t)model->columns)
    wrong(reader, "terms", "", "are more than the paths have");
}

/* Without one there is no interval. */
static void covariance_read(struct reader *reader, const json_t *json, struct model *model)
{
  const json_t *rows = json_object_get(json, "covariance");
  char where[64];
  if (!rows || json_is_null(rows)) return;
  model->freedom = number(reader, "", json, "freedom", 0, COUNT_MOST);
  for (int c = 0; c < model->columns; c++)
    for (int d = 0; d < model->columns; d++) {
      snprintf(where, sizeof where, "covariance[%d][%d]", c, d);
      model->covariance[c * MODEL_COLUMNS_MAX + d] =
          number(reader, where, json_array_get(json_array_get(rows, (size_t)c), (size_t)d), "",
                 c == d ? 0 : -1e30, 1e30);
    }
}

static void range_read(struct reader *reader, const json_t *json, struct model *model)
{
  const json_t *points = json_object_get(json, "points");
  model->cache_points = number(reader, "", json, "cache_points", 0, POINTS_MOST);
  model->tile_points = number(reader, "", json, "tile_points", 0, POINTS_MOST);
  model->spread = number(reader, "", json, "spread", 0, SPREAD_MOST);
  model->far_spread = number(reader, "", json, "far_spread", 0, SPREAD_MOST);
  model->runs = (int)number(reader, "", json, "runs", 0, COUNT_MOST);
  model->ranks_most = (int)number(reader, "", json, "ranks_most", 1, COUNT_MOST);
  model->hosts_most = (int)number(reader, "", json, "hosts_most", 1, COUNT_MOST);
  model->per_host = (int)number(reader, "", json, "per_host", 0, COUNT_MOST);
  model->depth = (int)number(reader, "", json, "T", 1, DEPTH_MOST);
  model->overlap = flag(reader, "", json, "overlap");
  model->points_least = number(reader, "points[0]", json_array_get(points, 0), "", 1, POINTS_MOST);
  model->points_most =
      number(reader, "points[1]", json_array_get(points, 1), "", model->points_least, POINTS_MOST);
  model->bytes_most = number(reader, "", json, "bytes_most", 0, BANDWIDTH_MOST);
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

/* A model is of one kernel, which its document names. */
static status_t kernel_check(const char *path, const json_t *document, const char *kernel)
{
  const char *fitted = json_string_value(json_object_get(json_object_get(document, "config"), "kernel"));
  if (!kernel || (fitted && strcmp(fitted, kernel) == 0)) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--kernel %s: %s is a model of %s", kernel, path,
                  fitted ? fitted : "a kernel that it does not name");
}

status_t model_json_read(const char *path, const char *kernel, struct model *model)
{
  json_t *document;
  RETURN_IF_FAILED(report_json_read(path, &document));
  struct reader reader = {path, schema_check(path, document)};
  const json_t *json = json_object_get(document, "model");
  memset(model, 0, sizeof *model);
  paths_read(&reader, json_object_get(json, "paths"), model);
  model->columns = TERMS + WAY_TERMS * model->paths.n;
  terms_read(&reader, json_object_get(json, "terms"), model);
  range_read(&reader, json, model);
  covariance_read(&reader, json, model);
  if (reader.status == STATUS_OK) reader.status = kernel_check(path, document, kernel);
  json_decref(document);
  return reader.status;
}
