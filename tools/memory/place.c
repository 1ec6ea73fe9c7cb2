/* SPDX-License-Identifier: MIT */
/* Places kernels of the suite on the roofline, from their JSON documents: the measured rate, and
 * the intensity from the bytes that the kernel moves. A pass of T sweeps does 34·T operations per
 * point and moves 56 bytes per point, or as many as hardware counters measured
 * (scripts/dram-traffic). A matrix product reads a row and a column of blocks for each block,
 * unless a cache holds them. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "tools/memory/state.h"

#define SWEEP_FLOP  34.0
#define SWEEP_BYTES 56.0

static status_t no_document(const char *path, const char *why)
{
  return log_fail(STATUS_USAGE, "--kernels %s: %s", path, why);
}

/* Returns the number object[one][two], or object[one] if \a two is NULL, or 0 if there is none. */
static double mem_place_number(const json_t *object, const char *one, const char *two)
{
  const json_t *value = json_object_get(object, one);
  if (two) value = json_object_get(value, two);
  return json_number_value(value);
}

static const char *mem_place_text(const json_t *object, const char *key)
{
  const char *value = json_string_value(json_object_get(object, key));
  return value ? value : "";
}

static struct mem_placed *next(struct mem_roofline *r)
{
  return r->n_placed < MEM_PLACED_MAX ? &r->placed[r->n_placed++] : NULL;
}

/* Places a sweep. \a classed is the JSON object that contains the kernel's class and its T. */
static status_t place_sweep(struct mem_roofline *r, const char *path, const char *kernel,
                            const json_t *config, const json_t *classed, double gflops)
{
  int temporal = strcmp(mem_place_text(classed, "class"), "temporal") == 0;
  double sweeps = mem_place_number(classed, "T", NULL);
  struct mem_placed *p;
  if (sweeps < 1 || gflops <= 0) return no_document(path, "it has no class, T and rate of a kernel");
  if (!(p = next(r))) return no_document(path, "there are too many kernels");
  p->type = MEM_FP32;
  p->rate = gflops * 1e9;
  p->sweeps = sweeps;
  p->intensity = SWEEP_FLOP * sweeps / SWEEP_BYTES;
  snprintf(p->name, sizeof p->name, "%.40s %.30s", kernel, mem_place_text(config, "size"));
  if (temporal)
    snprintf(p->traffic, sizeof p->traffic,
             "56 bytes per point and pass of %.0f sweeps; halos of tiles not counted", sweeps);
  else
    snprintf(p->traffic, sizeof p->traffic, "56 bytes per point");
  return STATUS_OK;
}

static status_t place_run(struct mem_roofline *r, const char *path, const json_t *document)
{
  const json_t *config = json_object_get(document, "config");
  size_t ranks = json_array_size(json_object_get(document, "ranks"));
  return place_sweep(r, path, mem_place_text(config, "kernel"), config, config,
                     mem_place_number(document, "result", "gflops") / (double)(ranks ? ranks : 1));
}

static status_t place_ladder(struct mem_roofline *r, const char *path, const json_t *document)
{
  const json_t *config = json_object_get(document, "config"), *rung;
  double ranks = mem_place_number(config, "ranks", NULL);
  size_t i;
  json_array_foreach(json_object_get(document, "rungs"), i, rung)
  {
    if (strcmp(mem_place_text(rung, "verdict"), "pass")) continue;
    RETURN_IF_FAILED(place_sweep(r, path, mem_place_text(rung, "kernel"), config, rung,
                                 mem_place_number(rung, "gflops", NULL) / (ranks > 0 ? ranks : 1)));
  }
  return STATUS_OK;
}

static enum mem_type type_named(const char *name, double *bytes)
{
  *bytes = strstr(name, "16") ? 2 : 4;
  if (strstr(name, "bf16")) return MEM_BF16;
  if (strstr(name, "16")) return MEM_FP16;
  return strstr(name, "tf32") ? MEM_TF32 : MEM_FP32;
}

/* Returns the operations per byte: from the document's model of the blocks or, without one, as if
 * each matrix moved once. \a sizes contains m, n and k. */
static double product_intensity(const json_t *series, const json_t *sizes, double bytes, char traffic[160])
{
  double model = mem_place_number(series, "predicted", "device_intensity");
  double m = mem_place_number(sizes, "m", NULL), n = mem_place_number(sizes, "n", NULL),
         k = mem_place_number(sizes, "k", NULL);
  snprintf(traffic, 160,
           model > 0 ? "its blocks read their rows and columns; caches not counted" : "A, B and C move once");
  return model > 0 ? model : 2 * m * n * k / (bytes * (m * k + k * n + m * n));
}

/* Places one series of a document; ignores a series that did not pass. */
static status_t place_series(struct mem_roofline *r, const char *path, const json_t *series, const char *type,
                             const json_t *sizes, double ranks)
{
  double bytes, gflops = mem_place_number(series, "gflops", NULL);
  struct mem_placed *p;
  if (strcmp(mem_place_text(series, "verdict"), "pass") || gflops <= 0) return STATUS_OK;
  if (!(p = next(r))) return no_document(path, "there are too many kernels");
  p->type = type_named(type, &bytes);
  p->rate = gflops * 1e9 / (ranks > 0 ? ranks : 1);
  p->intensity = product_intensity(series, sizes, bytes, p->traffic);
  snprintf(p->name, sizeof p->name, "%.30s %.20s %.0f", mem_place_text(series, "kernel"), type,
           mem_place_number(sizes, "n", NULL));
  return STATUS_OK;
}

static int has_sizes(const json_t *sizes)
{
  return mem_place_number(sizes, "m", NULL) >= 1 && mem_place_number(sizes, "n", NULL) >= 1 &&
         mem_place_number(sizes, "k", NULL) >= 1;
}

static status_t place_product(struct mem_roofline *r, const char *path, const json_t *document)
{
  const json_t *config = json_object_get(document, "config"), *one;
  double ranks = (double)json_array_size(json_object_get(document, "ranks"));
  size_t i;
  if (!has_sizes(config) || mem_place_number(document, "result", "gflops") <= 0)
    return no_document(path, "it has no sizes and rate of a product");
  RETURN_IF_FAILED(place_series(r, path, json_object_get(document, "result"), mem_place_text(config, "type"),
                                config, ranks));
  json_array_foreach(json_object_get(document, "yardsticks"), i, one)
      RETURN_IF_FAILED(place_series(r, path, one, mem_place_text(config, "type"), config, ranks));
  return STATUS_OK;
}

/* Places gemm-gpu's kernels (rungs) at the document's last size. */
static status_t place_products(struct mem_roofline *r, const char *path, const json_t *document)
{
  const json_t *config = json_object_get(document, "config"), *sizes = json_object_get(document, "sizes");
  const json_t *last = json_array_get(sizes, json_array_size(sizes) - 1), *rung;
  size_t i;
  if (!has_sizes(last)) return no_document(path, "it has no size");
  json_array_foreach(json_object_get(last, "rungs"), i, rung) RETURN_IF_FAILED(place_series(
      r, path, rung, mem_place_text(config, "type"), last, mem_place_number(config, "ranks", NULL)));
  return STATUS_OK;
}

/* Reads bytes that hardware counters measured. They also apply to sweeps placed later. */
static status_t read_traffic(struct mem_roofline *r, const char *path, const json_t *document)
{
  const json_t *one;
  size_t i;
  json_array_foreach(json_object_get(document, "kernels"), i, one)
  {
    if (r->n_traffic == MEM_TRAFFIC_MAX) return no_document(path, "there are too many kernels");
    struct mem_traffic *t = &r->traffic[r->n_traffic];
    t->bytes = mem_place_number(one, "bytes_a_point", NULL);
    if (t->bytes <= 0) return no_document(path, "it has no bytes per point of a kernel");
    snprintf(t->name, sizeof t->name, "%.40s %.30s", mem_place_text(one, "kernel"),
             mem_place_text(one, "size"));
    r->n_traffic++;
  }
  return STATUS_OK;
}

static void traffic_apply(struct mem_roofline *r)
{
  for (int p = 0; p < r->n_placed; p++)
    for (int t = 0; t < r->n_traffic; t++) {
      struct mem_placed *placed = &r->placed[p];
      if (placed->sweeps <= 0 || strcmp(placed->name, r->traffic[t].name)) continue;
      placed->intensity = SWEEP_FLOP * placed->sweeps / r->traffic[t].bytes;
      snprintf(placed->traffic, sizeof placed->traffic, "%.1f bytes per point and pass, by hardware counters",
               r->traffic[t].bytes);
    }
}

static status_t mem_place_print(struct mem_roofline *r, const char *path, const json_t *document)
{
  static const struct {
    const char *schema;
    status_t (*place)(struct mem_roofline *, const char *, const json_t *);
  } readers[] = {{"himeno-gpu/1", place_run},       {"himeno-gpu/2", place_run},
                 {"himeno-ladder/1", place_ladder}, {"himeno-traffic/1", read_traffic},
                 {"gemm-gpu/1", place_product},     {"gemm-ladder/1", place_products},
                 {"gemm-ladder/2", place_products}};
  const char *schema = mem_place_text(document, "schema");
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    if (!strcmp(schema, readers[i].schema)) return readers[i].place(r, path, document);
  return no_document(path, "no document of himeno-gpu or gemm-gpu");
}

static status_t read_one(struct mem_roofline *r, const char *path)
{
  json_error_t error;
  FILE *file = file_open_text(path);
  if (!file) return log_fail(STATUS_ENVIRONMENT, "--kernels %s: the file cannot be read", path);
  json_t *document = json_loadf(file, 0, &error);
  fclose(file);
  if (!document) return no_document(path, error.text);
  status_t status = mem_place_print(r, path, document);
  json_decref(document);
  return status;
}

status_t mem_place_read(const char *kernels, struct mem_roofline *r)
{
  char *paths = strdup(kernels), *rest = paths, *path;
  status_t status = STATUS_OK;
  if (!paths) return log_fail(STATUS_ENVIRONMENT, "out of host memory for file names");
  while (status == STATUS_OK && (path = strsep(&rest, ","))) status = read_one(r, path);
  free(paths);
  traffic_apply(r);
  return status;
}
