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

static int paths_read(const json_t *paths, struct model *model)
{
  size_t n = json_array_size(paths);
  if (n > STUDY_WAYS_MAX) return 0;
  for (size_t p = 0; p < n; p++) {
    const json_t *path = json_array_get(paths, p);
    struct study_way *way = &model->paths.ways[model->paths.n++];
    model->way_spread[p] = json_number_value(json_object_get(path, "spread"));
    model->way_far_spread[p] = json_number_value(json_object_get(path, "far_spread"));
    const char *name = json_string_value(json_object_get(path, "transport"));
    if (!name) return 0;
    snprintf(way->name, sizeof way->name, "%s", name);
    for (int where = 0; where < STUDY_WHERES; where++) {
      const json_t *fit = json_object_get(path, where_names[where]);
      way->latency[where] = json_number_value(json_object_get(fit, "latency_seconds"));
      way->bandwidth[where] = json_number_value(json_object_get(fit, "bytes_per_second"));
      way->residual[where] = json_number_value(json_object_get(fit, "residual"));
      way->known[where] = way->bandwidth[where] > 0;
    }
    if (!way->known[0] && !way->known[1]) return 0;
  }
  return 1;
}

static int terms_read(const json_t *terms, struct model *model)
{
  char name[96];
  if (json_array_size(terms) != (size_t)model->columns) return 0;
  for (int c = 0; c < model->columns; c++) {
    const json_t *term = json_array_get(terms, (size_t)c);
    const char *told = json_string_value(json_object_get(term, "name"));
    if (!told || strcmp(told, model_term_name(model, c, name)) != 0) return 0;
    model->value[c] = json_number_value(json_object_get(term, "value"));
    model->error[c] = json_number_value(json_object_get(term, "error"));
    model->seen[c] = json_is_true(json_object_get(term, "seen"));
  }
  return 1;
}

static void covariance_read(const json_t *rows, struct model *model)
{
  for (int c = 0; c < model->columns; c++)
    for (int d = 0; d < model->columns; d++)
      model->covariance[c * MODEL_COLUMNS_MAX + d] =
          json_number_value(json_array_get(json_array_get(rows, (size_t)c), (size_t)d));
}

static int range_read(const json_t *json, struct model *model)
{
  const json_t *points = json_object_get(json, "points");
  model->cache_points = json_number_value(json_object_get(json, "cache_points"));
  model->tile_points = json_number_value(json_object_get(json, "tile_points"));
  model->spread = json_number_value(json_object_get(json, "spread"));
  model->far_spread = json_number_value(json_object_get(json, "far_spread"));
  model->runs = (int)json_integer_value(json_object_get(json, "runs"));
  model->ranks_most = (int)json_integer_value(json_object_get(json, "ranks_most"));
  model->hosts_most = (int)json_integer_value(json_object_get(json, "hosts_most"));
  model->per_host = (int)json_integer_value(json_object_get(json, "per_host"));
  model->depth = (int)json_integer_value(json_object_get(json, "T"));
  model->overlap = json_is_true(json_object_get(json, "overlap"));
  model->points_least = json_number_value(json_array_get(points, 0));
  model->points_most = json_number_value(json_array_get(points, 1));
  model->bytes_most = json_number_value(json_object_get(json, "bytes_most"));
  if (json_is_array(json_object_get(json, "covariance")))
    model->freedom = json_number_value(json_object_get(json, "freedom"));
  return model->per_host >= 0 && model->depth > 0 && model->ranks_most > 0;
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
  const json_t *json = json_object_get(document, "model");
  memset(model, 0, sizeof *model);
  int whole = paths_read(json_object_get(json, "paths"), model);
  model->columns = TERMS + WAY_TERMS * model->paths.n;
  whole = whole && terms_read(json_object_get(json, "terms"), model) && range_read(json, model);
  if (whole) covariance_read(json_object_get(json, "covariance"), model);
  status_t status =
      whole ? kernel_check(path, document, kernel)
            : log_fail(STATUS_USAGE,
                       "%s: not a model of himeno-predict: its terms, paths or ranges are not whole", path);
  json_decref(document);
  return status;
}
