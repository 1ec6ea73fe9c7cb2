/* SPDX-License-Identifier: MIT */
#include "tools/predict/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "gemm/types.h"

static const char *const where_names[STUDY_WHERES] = {"same_host", "other_host"};

/* Unit of a term, for readers. */
static const char *term_unit(int column)
{
  static const char *const units[TERMS] = {"s",       "s/point", "s/point", "s/point", "s/point",
                                           "s/point", "s/point", "s",       "s"};
  static const char *const way_units[WAY_TERMS] = {"s", "s/message", "1",          "1",
                                                   "1", "s/launch",  "s/point^0.5"};
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

static json_t *off_json(const double off[KINDS])
{
  json_t *o = json_object();
  for (int kind = 0; kind < KINDS; kind++) object_real(o, model_kind_names[kind], off[kind]);
  return o;
}

static json_t *paths_json(const struct model *model)
{
  json_t *paths = json_array();
  for (int w = 0; w < model->paths.n; w++) {
    const struct study_way *way = &model->paths.ways[w];
    json_t *path = json_pack(
        "{s:s, s:o, s:o, s:o}", "transport", way->name, "spread", report_json_real(model->way_spread[w]),
        "far_spread", report_json_real(model->way_off[w][KIND_RANKS]), "off", off_json(model->way_off[w]));
    object_set(path, "staging",
               way->handover < 0 ? json_null() : report_json_text(study_staging(way->handover)));
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

/* Of each replicate the values in the order of the terms, then C. */
static json_t *replicates_json(const struct model *model)
{
  json_t *rows = json_array();
  for (int r = 0; r < model->n_replicates; r++) {
    json_t *row = json_array();
    for (int c = 0; c < model->columns; c++)
      json_array_append_new(row, report_json_real(model->replicate[r].value[c]));
    json_array_append_new(row, report_json_real(model->replicate[r].cache_points));
    json_array_append_new(rows, row);
  }
  return rows;
}

static json_t *names_json(const struct model_names *names)
{
  json_t *texts = json_array();
  for (int n = 0; n < names->n; n++) json_array_append_new(texts, report_json_text(names->name[n]));
  return texts;
}

static json_t *covered_json(const struct model *model)
{
  json_t *list = json_array();
  for (int c = 0; c < model->n_covered; c++) {
    const struct model_covered *covered = &model->covered[c];
    json_array_append_new(
        list, json_pack("{s:s, s:i, s:i}", "of", covered->of, "inside", covered->inside, "runs", covered->n));
  }
  return list;
}

json_t *model_json(const struct model *model)
{
  json_t *o = json_object();
  object_text(o, "program", model_program_names[model->program]);
  if (model->program == STUDY_GEMM)
    object_set(o, "product",
               json_pack("{s:s, s:I, s:b}", "type", gemm_types[model->product.type].name, "panel",
                         (json_int_t)model->product.panel, "on_cpu", model->product.on_cpu));
  object_set(o, "terms", terms_json(model));
  object_set(o, "paths", paths_json(model));
  object_real(o, "cache_points", model->cache_points);
  object_real(o, "tile_points", model->tile_points);
  object_set(o, "covariance", json_null());
  object_set(o, "replicates", replicates_json(model));
  object_real(o, "spread", model->spread);
  object_real(o, "freedom", model->freedom);
  object_real(o, "far_spread", model->off[KIND_RANKS]);
  object_set(o, "off", off_json(model->off));
  object_set(o, "covered", covered_json(model));
  object_whole(o, "runs", model->runs);
  object_whole(o, "ranks_most", model->ranks_most);
  object_whole(o, "hosts_most", model->hosts_most);
  object_whole(o, "per_host", model->per_host);
  object_whole(o, "T", model->depth);
  object_flag(o, "overlap", model->overlap);
  object_flag(o, "slabs_hidden", model->slabs_hidden);
  object_flag(o, "steps_hidden", model->steps_hidden);
  object_set(o, "sizes", names_json(&model->sizes));
  object_set(o, "cuts", names_json(&model->cuts));
  object_set(o, "points",
             json_pack("[o,o]", report_json_real(model->points_least), report_json_real(model->points_most)));
  object_real(o, "bytes_most", model->bytes_most);
  return o;
}

/* ---- reading ---- */

enum number_kind {
  TERM_IN_SECONDS,
  TERM_FACTOR,
  SPREAD,
  LATENCY,
  BANDWIDTH,
  RESIDUAL,
  FREEDOM,
  GRID_POINTS,
  CACHED_POINTS,
  TILE_POINTS,
  MESSAGE_BYTES,
  RUN_COUNT,
  RANK_COUNT,
  HOST_RANKS,
  SWEEPS_PER_PASS,
  PANEL_ROWS
};

/* What a model's numbers may be: no machine has a sweep, a message or a point that takes an hour,
 * nor a path of an exabyte per second. */
static const struct number_range {
  double least, most;
  int or_zero; /**< 0 too, for none */
  int whole;
} ranges[] = {[TERM_IN_SECONDS] = {0, 3600, 0, 0},
              [TERM_FACTOR] = {0, 1e4, 0, 0},
              [SPREAD] = {0, 10, 0, 0},
              [LATENCY] = {0, 3600, 0, 0},
              [BANDWIDTH] = {1, 1e18, 0, 0},
              [RESIDUAL] = {0, 1e9, 0, 0},
              [FREEDOM] = {0, 1e9, 0, 0},
              [GRID_POINTS] = {1, 1e18, 0, 0},
              [CACHED_POINTS] = {0, 1e18, 0, 0},
              [TILE_POINTS] = {1, 1e18, 1, 1},
              [MESSAGE_BYTES] = {0, 1e18, 0, 0},
              [RUN_COUNT] = {0, 1e9, 0, 1},
              [RANK_COUNT] = {1, 1e9, 0, 1},
              [HOST_RANKS] = {0, 1e9, 0, 1},
              [SWEEPS_PER_PASS] = {1, 1024, 0, 1},
              [PANEL_ROWS] = {0, 1e9, 0, 1}};

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

static int is_allowed(const struct number_range *range, double value)
{
  return (range->or_zero && value == 0) ||
         (value >= range->least && value <= range->most && (!range->whole || value == floor(value)));
}

/* A number of \a object within a range. */
static double number_within(struct reader *reader, const char *where, const json_t *object, const char *key,
                            const struct number_range *range)
{
  const json_t *found = *key ? json_object_get(object, key) : object;
  const double value = json_number_value(found);
  char what[128];
  if (json_is_number(found) && is_allowed(range, value)) return value;
  if (json_is_number(found))
    snprintf(what, sizeof what, "is %g: allowed are %s%s%g to %g", value, range->or_zero ? "0 and " : "",
             range->whole ? "whole numbers from " : "", range->least, range->most);
  else
    snprintf(what, sizeof what, "%s", found ? "is no number" : "is missing");
  wrong(reader, where, key, what);
  return range->least;
}

static double number(struct reader *reader, const char *where, const json_t *object, const char *key,
                     enum number_kind kind)
{
  return number_within(reader, where, object, key, &ranges[kind]);
}

static int flag(struct reader *reader, const char *where, const json_t *object, const char *key)
{
  const json_t *found = json_object_get(object, key);
  if (!json_is_boolean(found)) wrong(reader, where, key, found ? "is neither true nor false" : "is missing");
  return json_is_true(found);
}

/* A list that documents of before lack; NULL: none. */
static const json_t *list(struct reader *reader, const json_t *object, const char *key)
{
  const json_t *found = json_object_get(object, key);
  if (found && !json_is_null(found) && !json_is_array(found)) wrong(reader, "", key, "is no list");
  return found;
}

int model_staging(const json_t *path)
{
  const char *told = json_string_value(json_object_get(path, "staging"));
  for (int handover = 0; told && handover < 2; handover++)
    if (strcmp(told, study_staging(handover)) == 0) return handover;
  return -1;
}

/* None in a document of before. */
static void off_read(struct reader *reader, const json_t *object, double off[KINDS])
{
  const json_t *told = json_object_get(object, "off");
  for (int kind = 0; kind < KINDS && told; kind++)
    off[kind] = number(reader, "off", told, model_kind_names[kind], SPREAD);
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
  way->handover = model_staging(path);
  if (way->handover < 0 && json_object_get(path, "staging") &&
      !json_is_null(json_object_get(path, "staging")))
    wrong(reader, where, "staging", "is none that is known");
  model->way_spread[p] = number(reader, where, path, "spread", SPREAD);
  off_read(reader, path, model->way_off[p]);
  for (int w = 0; w < STUDY_WHERES; w++) {
    const json_t *fit = json_object_get(path, where_names[w]);
    if (!fit || json_is_null(fit)) continue;
    snprintf(where, sizeof where, "paths[%zu].%s", p, where_names[w]);
    way->known[w] = 1;
    way->latency[w] = number(reader, where, fit, "latency_seconds", LATENCY);
    way->bandwidth[w] = number(reader, where, fit, "bytes_per_second", BANDWIDTH);
    way->residual[w] = number(reader, where, fit, "residual", RESIDUAL);
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

static enum number_kind term_kind(int column)
{
  return term_unit(column)[0] == 's' ? TERM_IN_SECONDS : TERM_FACTOR;
}

static void terms_read(struct reader *reader, const json_t *terms, struct model *model)
{
  char name[96], where[64];
  size_t next = 0;
  if (reader->status != STATUS_OK) return;
  for (int c = 0; c < model->columns; c++) {
    if (!model->slabs_hidden && c >= TERMS && (c - TERMS) % WAY_TERMS == WAY_ROOT) continue;
    const json_t *term = json_array_get(terms, next);
    const char *told = json_string_value(json_object_get(term, "name"));
    model_term_name(model, c, name);
    snprintf(where, sizeof where, "terms[%zu]", next++);
    if (!told || strcmp(told, name) != 0) {
      char what[128];
      snprintf(what, sizeof what, "is %.20s, and \"%s\" is wanted", told ? "another" : "missing", name);
      wrong(reader, where, "name", what);
      return;
    }
    snprintf(where, sizeof where, "terms[%zu] (%.40s)", next - 1, name);
    model->value[c] = number(reader, where, term, "value", term_kind(c));
    model->error[c] = number(reader, where, term, "error", term_kind(c));
    model->seen[c] = flag(reader, where, term, "seen");
  }
  if (json_array_size(terms) != next) wrong(reader, "terms", "", "are more than the paths have");
}

static void replicates_read(struct reader *reader, const json_t *rows, struct model *model)
{
  char where[64];
  const size_t n = json_array_size(rows);
  if (n > MODEL_REPLICATES) {
    wrong(reader, "replicates", "", "are too many");
    return;
  }
  for (size_t r = 0; r < n; r++)
    for (int c = 0; c <= model->columns; c++) {
      const int last = c == model->columns;
      snprintf(where, sizeof where, "replicates[%zu][%d]", r, c);
      double value = number(reader, where, json_array_get(json_array_get(rows, r), (size_t)c), "",
                            last ? CACHED_POINTS : term_kind(c));
      *(last ? &model->replicate[r].cache_points : &model->replicate[r].value[c]) = value;
    }
  model->n_replicates = (int)n;
}

/* What the interval is made of. Models of before had a covariance, whose intervals held too few. */
static void interval_read(struct reader *reader, const json_t *json, struct model *model)
{
  const json_t *replicates = list(reader, json, "replicates");
  if (json_array_size(replicates) == 0) return;
  model->freedom = number(reader, "", json, "freedom", FREEDOM);
  replicates_read(reader, replicates, model);
}

static void covered_read(struct reader *reader, const json_t *json, struct model *model)
{
  char where[64];
  const json_t *told = list(reader, json, "covered");
  if (json_array_size(told) > MODEL_MEASURED) {
    wrong(reader, "covered", "", "are too many");
    return;
  }
  for (size_t c = 0; c < json_array_size(told); c++) {
    const json_t *one = json_array_get(told, c);
    const char *of = json_string_value(json_object_get(one, "of"));
    struct model_covered *covered = &model->covered[model->n_covered++];
    snprintf(where, sizeof where, "covered[%zu]", c);
    if (!of) wrong(reader, where, "of", "is no text");
    snprintf(covered->of, sizeof covered->of, "%s", of ? of : "");
    covered->n = (int)number(reader, where, one, "runs", RUN_COUNT);
    covered->inside = (int)number_within(reader, where, one, "inside",
                                         &(struct number_range){.most = covered->n, .whole = 1});
  }
}

status_t model_covered_read(const char *path, const json_t *json, struct model *model)
{
  struct reader reader = {path, STATUS_OK};
  covered_read(&reader, json, model);
  return reader.status;
}

static void names_read(struct reader *reader, const json_t *json, const char *key, struct model_names *names)
{
  const json_t *texts = list(reader, json, key);
  if (json_array_size(texts) > MODEL_MEASURED) wrong(reader, key, "", "are too many");
  for (size_t t = 0; t < json_array_size(texts); t++) {
    const char *text = json_string_value(json_array_get(texts, t));
    if (!text) wrong(reader, key, "", "are no texts");
    model_list(names, text ? text : "");
  }
}

/* Documents of before are of himeno-gpu. */
static void program_read(struct reader *reader, const json_t *json, struct model *model)
{
  const json_t *product = json_object_get(json, "product"), *program = json_object_get(json, "program");
  const char *type = json_string_value(json_object_get(product, "type")), *name = json_string_value(program);
  if (!program || (name && strcmp(name, model_program_names[STUDY_HIMENO]) == 0)) return;
  model->program = STUDY_GEMM;
  if (!name || strcmp(name, model_program_names[STUDY_GEMM]) != 0)
    wrong(reader, "program", "", "is none that is known");
  while (model->product.type < GEMM_TYPES && (!type || strcmp(type, gemm_types[model->product.type].name)))
    model->product.type++;
  if (model->product.type == GEMM_TYPES) wrong(reader, "product", "type", "is none that is known");
  model->product.panel = (int64_t)number(reader, "product", product, "panel", PANEL_ROWS);
  model->product.on_cpu = flag(reader, "product", product, "on_cpu");
}

static void range_read(struct reader *reader, const json_t *json, struct model *model)
{
  const json_t *points = json_object_get(json, "points");
  model->cache_points = number(reader, "", json, "cache_points", CACHED_POINTS);
  model->tile_points = number(reader, "", json, "tile_points", TILE_POINTS);
  model->spread = number(reader, "", json, "spread", SPREAD);
  off_read(reader, json, model->off);
  model->runs = (int)number(reader, "", json, "runs", RUN_COUNT);
  model->ranks_most = (int)number(reader, "", json, "ranks_most", RANK_COUNT);
  model->hosts_most = (int)number(reader, "", json, "hosts_most", RANK_COUNT);
  model->per_host = (int)number(reader, "", json, "per_host", HOST_RANKS);
  model->depth = (int)number(reader, "", json, "T", SWEEPS_PER_PASS);
  model->overlap = flag(reader, "", json, "overlap");
  names_read(reader, json, "sizes", &model->sizes);
  names_read(reader, json, "cuts", &model->cuts);
  model->points_least = number(reader, "points[0]", json_array_get(points, 0), "", GRID_POINTS);
  model->points_most =
      number_within(reader, "points[1]", json_array_get(points, 1), "",
                    &(struct number_range){model->points_least, ranges[GRID_POINTS].most, 0, 0});
  model->bytes_most = number(reader, "", json, "bytes_most", MESSAGE_BYTES);
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
  model->slabs_hidden = json_object_get(json, "slabs_hidden") && flag(&reader, "", json, "slabs_hidden");
  model->steps_hidden = json_object_get(json, "steps_hidden") && flag(&reader, "", json, "steps_hidden");
  program_read(&reader, json, model);
  paths_read(&reader, json_object_get(json, "paths"), model);
  model->columns = TERMS + WAY_TERMS * model->paths.n;
  terms_read(&reader, json_object_get(json, "terms"), model);
  range_read(&reader, json, model);
  interval_read(&reader, json, model);
  covered_read(&reader, json, model);
  if (reader.status == STATUS_OK) reader.status = kernel_check(path, document, kernel);
  json_decref(document);
  return reader.status;
}
