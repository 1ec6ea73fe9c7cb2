/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/report.h"
#include "tools/memory/state.h"

#define SCHEMA "mem-gpu/1"

static json_t *rate_json(const struct stats_summary *s, double unit)
{
  return json_pack("{s:o, s:o, s:o, s:o, s:i}", "median", report_json_real(s->median / unit), "min",
                   report_json_real(s->min / unit), "max", report_json_real(s->max / unit), "noise",
                   report_json_real(stats_noise(s)), "samples", (int)s->n);
}

static json_t *sections_json(const struct mem_sections *s)
{
  json_t *o = json_object();
  object_flag(o, "copies", s->copies);
  object_flag(o, "mixes", s->mixes);
  object_flag(o, "latency", s->latency);
  object_flag(o, "host", s->host);
  object_flag(o, "roofline", s->roofline);
  object_flag(o, "pairs", s->pairs);
  return o;
}

static json_t *config_json(const struct mem_run *run)
{
  json_t *o = json_object();
  object_text(o, "backend", run->ops->backend);
  object_set(o, "backend_reason", run->claim.reason[0] ? report_json_text(run->claim.reason) : json_null());
  object_set(o, "sections", sections_json(&run->config.sections));
  object_real(o, "seconds", run->config.seconds);
  return o;
}

static json_t *device_json(const struct mem_run *run)
{
  const struct gpu_device_info *i = &run->device->info;
  json_t *o = json_object();
  object_text(o, "name", i->name);
  object_text(o, "uuid", i->uuid);
  object_text(o, "pci", i->pci);
  object_text(o, "driver", i->driver);
  object_text(o, "arch", i->arch);
  object_whole(o, "memory_bytes", i->memory_bytes);
  object_whole(o, "cache_bytes", i->cache_bytes);
  object_whole(o, "compute_units", i->compute_units);
  object_flag(o, "is_cpu", i->is_cpu);
  return o;
}

/* ---- copies and mixes ---- */

static json_t *point_json(const struct mem_copy_point *p)
{
  const struct mem_copy *c = &p->copy;
  json_t *o = json_object();
  object_whole(o, "bytes", c->bytes);
  object_whole(o, "streams", c->streams);
  object_flag(o, "paced", c->paced);
  object_text(o, "assign", mem_assign_names[c->assign]);
  object_whole(o, "width", c->width);
  object_whole(o, "threads", c->threads);
  object_whole(o, "blocks", c->blocks);
  object_set(o, "gbps", rate_json(&p->rate, 1e9));
  return o;
}

static double best_rival(const struct mem_rivals *r)
{
  double a = r->rate[MEM_NATIVE].median, b = r->rate[MEM_BABEL].median;
  return a > b ? a : b;
}

static json_t *rivals_json(const struct mem_run *run, const struct mem_rivals *r)
{
  json_t *o = json_object();
  object_whole(o, "bytes", r->bytes);
  object_text(o, "native", run->ops->native);
  object_set(o, "native_gbps", rate_json(&r->rate[MEM_NATIVE], 1e9));
  object_set(o, "babelstream_gbps", rate_json(&r->rate[MEM_BABEL], 1e9));
  object_set(o, "tuned_gbps", rate_json(&r->rate[MEM_TUNED], 1e9));
  object_text(o, "tuned_shape", run->traits.copy_shapes.names[r->shape]);
  object_set(o, "best_point_gbps", rate_json(&r->rate[MEM_STUDY], 1e9));
  object_real(o, "share", r->rate[MEM_TUNED].median / best_rival(r));
  return o;
}

static json_t *pacing_json(const struct mem_copies *c)
{
  json_t *all = json_array();
  for (int i = 0; i < c->n_pacing; i++) {
    const struct mem_pacing *p = &c->pacing[i];
    int from = mem_pacing_from(c, p->width);
    json_t *one = json_object();
    object_whole(one, "width", p->width);
    object_whole(one, "streams", p->streams);
    object_real(one, "ratio", p->ratio);
    object_real(one, "min", p->least);
    object_real(one, "max", p->most);
    object_whole(one, "sizes", p->sizes);
    object_set(one, "pays_from", from ? json_integer(from) : json_null());
    json_array_append_new(all, one);
  }
  return all;
}

static json_t *copies_json(const struct mem_run *run)
{
  const struct mem_copies *c = &run->copies;
  json_t *points = json_array(), *rivals = json_array();
  for (int p = 0; p < c->n; p++)
    if (c->points[p].rate.n) json_array_append_new(points, point_json(&c->points[p]));
  for (int r = 0; r < c->n_rivals; r++) json_array_append_new(rivals, rivals_json(run, &c->rivals[r]));
  return json_pack("{s:o, s:o, s:o}", "points", points, "ways", rivals, "pacing", pacing_json(c));
}

static json_t *mixes_json(const struct mem_run *run)
{
  json_t *mixes = json_array();
  for (int m = 0; m < run->n_mixes; m++) {
    const struct mem_mix_point *p = &run->mixes[m];
    json_array_append_new(mixes,
                          json_pack("{s:i, s:i, s:I, s:o, s:s}", "reads", p->reads, "writes", p->writes,
                                    "bytes", (json_int_t)p->bytes, "gbps", rate_json(&p->rate, 1e9), "shape",
                                    run->traits.mix_shapes.names[p->shape]));
  }
  return mixes;
}

/* ---- latency ---- */

static json_t *curve_json(const struct mem_curve *c)
{
  json_t *points = json_array();
  for (int p = 0; p < c->n; p++)
    json_array_append_new(points, json_pack("{s:I, s:o, s:o, s:o}", "bytes", (json_int_t)c->bytes[p], "ns",
                                            report_json_real(c->ns[p]), "cycles",
                                            c->cycles[p] > 0 ? report_json_real(c->cycles[p]) : json_null(),
                                            "spread", report_json_real(c->spread[p])));
  return json_pack("{s:I, s:o}", "stride", (json_int_t)c->stride, "points", points);
}

static json_t *level_json(const struct levels_level *l)
{
  static const char *const kinds[] = {"cache", "memory", "tlb"};
  int ends = l->kind != LEVELS_MEMORY;
  json_t *o = json_object();
  object_text(o, "kind", kinds[l->kind]);
  object_text(o, "name", l->name);
  object_real(o, "ns", l->ns);
  object_set(o, "bytes", ends ? json_integer((json_int_t)l->bytes) : json_null());
  object_set(o, "next_bytes", ends ? json_integer((json_int_t)l->next_bytes) : json_null());
  object_whole(o, "stride", l->stride);
  return o;
}

static json_t *halves_json(const struct mem_latency *l)
{
  if (!l->traced) return json_null();
  json_t *quantiles = json_array();
  for (int q = 0; q < MEM_QUANTILES; q++) json_array_append_new(quantiles, report_json_real(l->trace[q]));
  json_t *o = json_object();
  object_whole(o, "bytes", l->trace_bytes);
  object_set(o, "quantiles", quantiles);
  object_flag(o, "two_groups", l->halves);
  if (!l->halves) return o;
  object_real(o, "near_cycles", l->split.low);
  object_real(o, "far_cycles", l->split.high);
  object_real(o, "near_share", l->split.share);
  return o;
}

static json_t *latency_json(const struct mem_run *run)
{
  const struct mem_latency *l = &run->latency;
  json_t *curves = json_array(), *levels = json_array();
  for (int c = 0; c < l->n; c++) json_array_append_new(curves, curve_json(&l->curves[c]));
  for (int n = 0; n < l->n_levels; n++) json_array_append_new(levels, level_json(&l->levels[n]));
  return json_pack("{s:o, s:o, s:o}", "curves", curves, "levels", levels, "single_loads", halves_json(l));
}

/* ---- host, roofline, pairs ---- */

static json_t *host_json(const struct mem_run *run)
{
  json_t *host = json_array();
  for (int h = 0; h < run->n_host; h++) {
    const struct mem_host_point *p = &run->host[h];
    json_array_append_new(host, json_pack("{s:s, s:b, s:i, s:I, s:o}", "access", p->access, "streaming",
                                          p->streaming, "threads", p->threads, "bytes", (json_int_t)p->bytes,
                                          "gbps", rate_json(&p->rate, 1e9)));
  }
  return host;
}

static json_t *placed_json(const struct mem_roofline *r)
{
  json_t *placed = json_array();
  for (int i = 0; i < r->n_placed; i++) {
    const struct mem_placed *p = &r->placed[i];
    json_array_append_new(placed,
                          json_pack("{s:s, s:s, s:o, s:o, s:s}", "name", p->name, "type",
                                    mem_type_names[p->type], "intensity", report_json_real(p->intensity),
                                    "gflops", report_json_real(p->rate / 1e9), "traffic", p->traffic));
  }
  return placed;
}

static json_t *roofline_json(const struct mem_run *run)
{
  const struct mem_roofline *r = &run->roofline;
  json_t *levels = json_array(), *points = json_array(), *peaks = json_array();
  for (int w = 0; w < r->n_windows; w++)
    json_array_append_new(levels, json_pack("{s:s, s:I, s:o}", "level", r->windows[w].level, "bytes",
                                            (json_int_t)r->windows[w].bytes, "gbps",
                                            rate_json(&r->windows[w].rate, 1e9)));
  for (int p = 0; p < r->n_points; p++)
    json_array_append_new(points, json_pack("{s:s, s:o, s:o}", "type", mem_type_names[r->points[p].type],
                                            "intensity", report_json_real(r->points[p].intensity), "gflops",
                                            rate_json(&r->points[p].rate, 1e9)));
  for (int p = 0; p < r->n_peaks; p++)
    json_array_append_new(peaks,
                          json_pack("{s:s, s:o, s:s}", "type", mem_type_names[r->peaks[p].type], "gflops",
                                    report_json_real(r->peaks[p].rate / 1e9), "by", r->peaks[p].by));
  return json_pack("{s:o, s:o, s:o, s:o}", "levels", levels, "peaks", peaks, "points", points, "kernels",
                   placed_json(r));
}

static json_t *pairs_json(const struct mem_run *run)
{
  json_t *pairs = json_array();
  for (int i = 0; i < run->n_pairs; i++) {
    const struct mem_pair_point *p = &run->pairs[i];
    json_array_append_new(pairs, json_pack("{s:s, s:I, s:o, s:o, s:o}", "name", p->name, "words",
                                           (json_int_t)p->words, "before_gwords", rate_json(&p->before, 1e9),
                                           "after_gwords", rate_json(&p->after, 1e9), "ratio",
                                           report_json_real(p->after.median / p->before.median)));
  }
  return pairs;
}

/* A section that was not asked for is null. */
static void set(json_t *document, const char *name, int asked, json_t *(*make)(const struct mem_run *),
                const struct mem_run *run)
{
  object_set(document, name, asked ? make(run) : json_null());
}

json_t *mem_report_json(const struct mem_run *run)
{
  const struct mem_sections *s = &run->config.sections;
  json_t *document = report_json_frame(SCHEMA, "mem-gpu");
  object_set(document, "config", config_json(run));
  object_set(document, "device", device_json(run));
  object_set(
      document, "result",
      json_pack("{s:s, s:I}", "verdict", status_verdict(run->verdict), "checked", (json_int_t)run->checks));
  set(document, "copies", s->copies, copies_json, run);
  set(document, "mixes", s->mixes, mixes_json, run);
  set(document, "latency", s->latency, latency_json, run);
  set(document, "host", s->host, host_json, run);
  set(document, "roofline", s->roofline, roofline_json, run);
  set(document, "pairs", s->pairs, pairs_json, run);
  return document;
}
