/* SPDX-License-Identifier: MIT */
/* Kernels of the suite under the roof, from their JSON: rate as measured, intensity by the bytes that the kernel moves. A sweep
 * of T does 34·T operations for the 56 bytes of one pass; a matrix product reads a row and a column of blocks for each
 * block, as far as no cache helps. */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/mem/run.h"

#define SWEEP_FLOP  34.0
#define SWEEP_BYTES 56.0

static status_t no_document(const char *path, const char *why)
{
  return log_fail(STATUS_USAGE, "--kernels %s: %s", path, why);
}

/* The number at a path of keys, or 0. */
static double number(const json_t *object, const char *one, const char *two)
{
  const json_t *value = json_object_get(object, one);
  if (two) value = json_object_get(value, two);
  return json_number_value(value);
}

static const char *text(const json_t *object, const char *key)
{
  const char *value = json_string_value(json_object_get(object, key));
  return value ? value : "";
}

static struct mem_placed *next(struct mem_run *run)
{
  struct mem_roofline *r = &run->roofline;
  return r->n_placed < MEM_PLACED_MAX ? &r->placed[r->n_placed++] : NULL;
}

/* A sweep of the class and T that \a classed names. */
static status_t place_sweep(struct mem_run *run, const char *path, const char *kernel, const json_t *config,
                            const json_t *classed, double gflops)
{
  int temporal = strcmp(text(classed, "class"), "temporal") == 0;
  double sweeps = number(classed, "T", NULL);
  struct mem_placed *p;
  if (sweeps < 1 || gflops <= 0) return no_document(path, "it has no class, T and rate of a kernel");
  if (!(p = next(run))) return no_document(path, "there are too many kernels");
  p->type = MEM_FP32;
  p->rate = gflops * 1e9;
  p->intensity = SWEEP_FLOP * sweeps / SWEEP_BYTES;
  snprintf(p->name, sizeof p->name, "%.40s %.30s", kernel, text(config, "size"));
  if (temporal)
    snprintf(p->traffic, sizeof p->traffic,
             "56 bytes a point for each pass of %.0f sweeps; halos of tiles not counted", sweeps);
  else
    snprintf(p->traffic, sizeof p->traffic, "56 bytes a point");
  return STATUS_OK;
}

static status_t place_run(struct mem_run *run, const char *path, const json_t *document)
{
  const json_t *config = json_object_get(document, "config");
  size_t ranks = json_array_size(json_object_get(document, "ranks"));
  return place_sweep(run, path, text(config, "kernel"), config, config,
                     number(document, "result", "gflops") / (double)(ranks ? ranks : 1));
}

static status_t place_ladder(struct mem_run *run, const char *path, const json_t *document)
{
  const json_t *config = json_object_get(document, "config"), *rung;
  double ranks = number(config, "ranks", NULL);
  size_t i;
  json_array_foreach(json_object_get(document, "rungs"), i, rung)
  {
    if (strcmp(text(rung, "verdict"), "pass")) continue;
    RETURN_IF_FAILED(place_sweep(run, path, text(rung, "kernel"), config, rung,
                                 number(rung, "gflops", NULL) / (ranks > 0 ? ranks : 1)));
  }
  return STATUS_OK;
}

/* ---- matrix products ---- */

static enum mem_type type_named(const char *name, double *bytes)
{
  *bytes = strstr(name, "16") ? 2 : 4;
  if (strstr(name, "bf16")) return MEM_BF16;
  if (strstr(name, "16")) return MEM_FP16;
  return strstr(name, "tf32") ? MEM_TF32 : MEM_FP32;
}

/* Operations a byte: the document's own model, else by its blocks, else with each matrix moved once. */
static double product_intensity(const json_t *document, double bytes, char traffic[160])
{
  const json_t *config = json_object_get(document, "config"), *result = json_object_get(document, "result");
  const json_t *blocks = json_object_get(result, "blocks");
  double m = number(config, "m", NULL), n = number(config, "n", NULL), k = number(config, "k", NULL);
  double rows = number(blocks, "group_m", NULL), columns = number(blocks, "group_n", NULL);
  double model = number(result, "intensity", NULL);
  if (model <= 0) model = number(result, "model", "intensity");
  if (model > 0) {
    snprintf(traffic, 160, "as its document models it");
    return model;
  }
  if (rows > 1 && columns > 1) {
    snprintf(traffic, 160, "blocks of %.0fx%.0f read their rows and columns of A and B; caches not counted",
             rows, columns);
    return 2 * rows * columns / (bytes * (rows + columns));
  }
  snprintf(traffic, 160, "A, B and C move once");
  return 2 * m * n * k / (bytes * (m * k + k * n + m * n));
}

static status_t place_product(struct mem_run *run, const char *path, const json_t *document)
{
  const json_t *config = json_object_get(document, "config");
  double bytes, gflops = number(document, "result", "gflops"),
                ranks = (double)json_array_size(json_object_get(document, "ranks"));
  enum mem_type type = type_named(text(config, "type"), &bytes);
  struct mem_placed *p;
  if (gflops <= 0 || number(config, "m", NULL) < 1 || number(config, "n", NULL) < 1 ||
      number(config, "k", NULL) < 1)
    return no_document(path, "it has no sizes and rate of a product");
  if (!(p = next(run))) return no_document(path, "there are too many kernels");
  p->type = type;
  p->rate = gflops * 1e9 / (ranks > 0 ? ranks : 1);
  p->intensity = product_intensity(document, bytes, p->traffic);
  snprintf(p->name, sizeof p->name, "%.30s %.20s %.0f", text(config, "kernel"), text(config, "type"),
           number(config, "n", NULL));
  return STATUS_OK;
}

/* ---- documents ---- */

static status_t place(struct mem_run *run, const char *path, const json_t *document)
{
  static const struct {
    const char *schema;
    status_t (*place)(struct mem_run *, const char *, const json_t *);
  } readers[] = {
      {"himeno-gpu/1", place_run}, {"himeno-ladder/1", place_ladder}, {"gemm-gpu/1", place_product}};
  const char *schema = text(document, "schema");
  for (size_t r = 0; r < sizeof readers / sizeof *readers; r++)
    if (!strcmp(schema, readers[r].schema)) return readers[r].place(run, path, document);
  return no_document(path, "no document of himeno-gpu or gemm-gpu");
}

static status_t read_one(struct mem_run *run, const char *path)
{
  json_error_t error;
  FILE *file = fopen(path, "r");
  if (!file) return log_fail(STATUS_ENVIRONMENT, "--kernels %s: the file cannot be read", path);
  json_t *document = json_loadf(file, 0, &error);
  fclose(file);
  if (!document) return no_document(path, error.text);
  status_t status = place(run, path, document);
  json_decref(document);
  return status;
}

status_t mem_place_read(struct mem_run *run)
{
  char *paths = strdup(run->config.kernels), *rest = paths, *path;
  status_t status = STATUS_OK;
  if (!paths) return log_fail(STATUS_ENVIRONMENT, "out of host memory for file names");
  while (status == STATUS_OK && (path = strsep(&rest, ","))) status = read_one(run, path);
  free(paths);
  return status;
}
