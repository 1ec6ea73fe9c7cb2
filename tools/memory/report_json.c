/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/document.h"
#include "tools/memory/state.h"

static void rate_document(struct doc *d, const char *name, const char *about, const struct stats_summary *s,
                          double unit)
{
  doc_object(d, name, 0, about, 1);
  doc_real(d, "median", DOC_POSITIVE, "", "", s->median / unit);
  doc_real(d, "min", DOC_POSITIVE, "", "", s->min / unit);
  doc_real(d, "max", DOC_POSITIVE, "", "", s->max / unit);
  doc_real(d, "noise", 0, "", "1.4826 times the median absolute deviation, over the median.", stats_noise(s));
  doc_whole(d, "samples", DOC_POSITIVE, "", s->n);
  doc_end(d);
}

static void mem_config_document(struct doc *d, const struct mem_run *run)
{
  /* the first three names: cuda, opencl, cpu */
  const struct doc_words backends = {gpu_backend_names, 3, sizeof *gpu_backend_names};
  doc_object(d, "config", 0, "", 1);
  doc_enum(d, "backend", 0, backends, "", run->rig.ops->backend);
  doc_text(d, "backend_reason", DOC_OPTIONAL | DOC_NULLABLE,
           "Why the automatic choice took the CPU; null if it took a GPU, or -b named a backend.",
           run->claim.reason[0] ? run->claim.reason : NULL);
  doc_real(d, "seconds", DOC_POSITIVE, "s", "Of samples in each section.", run->config.seconds);
  doc_end(d);
}

static void device_document(struct doc *d, const struct gpu_device_info *i)
{
  doc_object(d, "device", 0, "", 1);
  doc_text(d, "name", 0, "", i->name);
  doc_text(d, "uuid", DOC_ANY, "", i->uuid);
  doc_text(d, "pci", DOC_ANY, "", i->pci);
  doc_text(d, "driver", DOC_ANY, "", i->driver);
  doc_text(d, "arch", DOC_ANY, "", i->arch);
  doc_whole(d, "memory_bytes", 0, "", i->memory_bytes);
  doc_whole(d, "cache_bytes", 0, "Of the last cache as the driver reports it, 0 if it does not.",
            i->cache_bytes);
  doc_whole(d, "compute_units", 0, "", i->compute_units);
  doc_flag(d, "is_cpu", 0, "", i->is_cpu);
  doc_end(d);
}

static void mem_point_document(struct doc *d, const struct mem_copy_point *p)
{
  const struct mem_copy *c = &p->copy;
  doc_object(d, NULL, 0, "", 1);
  doc_whole(d, "bytes", DOC_POSITIVE, "Copied: as many are read as written.", c->bytes);
  doc_one_of(d, "streams", "", c->streams, 1, 2, 4, 8, 16);
  doc_flag(d, "paced", 0, "A barrier of the block before each element.", c->paced);
  doc_enum(d, "assign", 0, DOC_WORDS(mem_assign_names),
           "Neighbouring threads take neighbouring elements; or each thread, or each thread block, has a run "
           "of its "
           "own.",
           mem_assign_names[c->assign]);
  doc_one_of(d, "width", "Bytes that a thread moves at once; 0 on CPUs, which move pages.", c->width, 0, 4,
             16);
  doc_whole(d, "threads", DOC_POSITIVE, "Per block; of a CPU, in all.", c->threads);
  doc_whole(d, "blocks", DOC_POSITIVE, "Per compute unit.", c->blocks);
  rate_document(d, "gbps", "Read and written, 1e9 bytes per second.", &p->rate, 1e9);
  doc_end(d);
}

static void rivals_document(struct doc *d, const struct mem_run *run, const struct mem_rivals *r)
{
  doc_object(d, NULL, 0, "", 1);
  doc_whole(d, "bytes", DOC_POSITIVE, "", r->bytes);
  doc_text(d, "native", 0, "The library's own copy, as its users call it.", run->rig.ops->native);
  rate_document(d, "native_gbps", "", &r->rate[MEM_NATIVE], 1e9);
  rate_document(d, "babelstream_gbps", "One double per thread, blocks of 1024, as BabelStream does it.",
                &r->rate[MEM_BABEL], 1e9);
  rate_document(d, "tuned_gbps", "The suite's fastest.", &r->rate[MEM_TUNED], 1e9);
  doc_text(d, "tuned_shape", DOC_OPTIONAL, "How the suite's fastest is launched.",
           run->rig.traits.copy_shapes.names[r->shape]);
  doc_real(d, "share", DOC_POSITIVE, "", "Tuned over the better of native and BabelStream.",
           r->rate[MEM_TUNED].median / fmax(r->rate[MEM_NATIVE].median, r->rate[MEM_BABEL].median));
  doc_end(d);
}

static void pacing_document(struct doc *d, const struct mem_copies *c, const struct mem_pacing *p)
{
  doc_object(d, NULL, 0, "", 1);
  doc_one_of(d, "width", "", p->width, 0, 4, 16);
  doc_one_of(d, "streams", "", p->streams, 1, 2, 4, 8, 16);
  doc_real(d, "ratio", DOC_POSITIVE, "", "Paced over unpaced, median over the sizes beyond the last cache.",
           p->ratio);
  doc_real(d, "min", DOC_POSITIVE, "", "", p->least);
  doc_real(d, "max", DOC_POSITIVE, "", "", p->most);
  doc_whole(d, "sizes", DOC_POSITIVE, "", p->sizes);
  doc_whole(d, "pays_from", DOC_NULLABLE | DOC_POSITIVE,
            "From so many streams on, up to the most, the median gain is at least 1%; null: it does not pay.",
            mem_pacing_from(c, p->width));
  doc_end(d);
}

static void copies_document(struct doc *d, const struct mem_run *run)
{
  const struct mem_copies *c = &run->copies;
  if (!doc_object(d, "copies", DOC_NULLABLE, "Copies of several streams at once; null if not asked for.",
                  run->config.sections.copies))
    return;
  doc_list(d, "points", 0, "", 1);
  for (int p = 0; doc_each(d, p, c->n); p++) {
    const struct mem_copy_point *point = doc_at(d, c->points, p);
    if (d->schema || point->rate.n) mem_point_document(d, point);
  }
  doc_end(d);
  doc_list(d, "ways", 0, "Ways to copy, compared in the same run.", 1);
  for (int r = 0; doc_each(d, r, c->n_rivals); r++) rivals_document(d, run, &c->rivals[r]);
  doc_end(d);
  doc_list(d, "pacing", 0, "Cyclic copies.", 1);
  for (int p = 0; doc_each(d, p, c->n_pacing); p++) pacing_document(d, c, &c->pacing[p]);
  doc_end(d);
  doc_end(d);
}

static void mixes_document(struct doc *d, const struct mem_run *run)
{
  if (!doc_list(d, "mixes", DOC_NULLABLE, "Reads and writes in given proportions; null if not asked for.",
                run->config.sections.mixes))
    return;
  for (int m = 0; doc_each(d, m, run->n_mixes); m++) {
    const struct mem_mix_point *p = &run->mixes[m];
    doc_object(d, NULL, 0, "", 1);
    doc_whole(d, "reads", 0, "", p->reads);
    doc_whole(d, "writes", 0, "", p->writes);
    doc_whole(d, "bytes", DOC_POSITIVE, "Of each array.", p->bytes);
    rate_document(d, "gbps", "", &p->rate, 1e9);
    doc_text(d, "shape", DOC_OPTIONAL, "How the fastest is launched.",
             run->rig.traits.mix_shapes.names[p->shape]);
    doc_end(d);
  }
  doc_end(d);
}

static void curve_document(struct doc *d, const struct mem_curve *c)
{
  doc_object(d, NULL, 0, "", 1);
  doc_whole(d, "stride", DOC_POSITIVE, "", c->stride);
  doc_list(d, "points", 0, "", 1);
  for (int p = 0; doc_each(d, p, c->n); p++) {
    doc_object(d, NULL, 0, "", 1);
    doc_whole(d, "bytes", DOC_POSITIVE, "Footprint.", c->bytes[p]);
    doc_real(d, "ns", DOC_POSITIVE, "ns", "Per load; median over walks.", c->ns[p]);
    doc_real(d, "cycles", DOC_NULLABLE | DOC_POSITIVE, "", "Of the device's clock; null if it has none.",
             c->cycles[p]);
    doc_real(d, "spread", 0, "", "Greatest over least, less one.", c->spread[p]);
    doc_end(d);
  }
  doc_end(d);
  doc_end(d);
}

static void level_document(struct doc *d, const struct levels_level *l)
{
  static const char *const kinds[] = {"cache", "memory", "tlb"};
  const int ends = l->kind != LEVELS_MEMORY;
  doc_object(d, NULL, 0, "", 1);
  doc_enum(d, "kind", 0, DOC_WORDS(kinds), "", kinds[l->kind]);
  doc_text(d, "name", 0, "", l->name);
  doc_real(d, "ns", 0, "ns", "Per load; of a TLB, what a miss adds.", l->ns);
  doc_whole(d, "bytes", DOC_NULLABLE, "The largest footprint on this level; null for memory.",
            ends ? (int64_t)l->bytes : -1);
  doc_whole(d, "next_bytes", DOC_NULLABLE, "The smallest on the next one.",
            ends ? (int64_t)l->next_bytes : -1);
  doc_whole(d, "stride", DOC_POSITIVE, "Of the curve that shows it.", l->stride);
  doc_end(d);
}

static void latency_document(struct doc *d, const struct mem_run *run)
{
  const struct mem_latency *l = &run->latency;
  if (!doc_object(d, "latency", DOC_NULLABLE, "A pointer chase in random order; null if not asked for.",
                  run->config.sections.latency))
    return;
  doc_list(d, "curves", 0, "", 1);
  for (int c = 0; doc_each(d, c, l->n); c++) curve_document(d, doc_at(d, l->curves, c));
  doc_end(d);
  doc_list(d, "levels", 0, "Steps that were found: caches in order, memory, TLBs.", 1);
  for (int n = 0; doc_each(d, n, l->n_levels); n++) level_document(d, &l->levels[n]);
  doc_end(d);
  doc_end(d);
}

static void host_document(struct doc *d, const struct mem_run *run)
{
  if (!doc_list(
          d, "host", DOC_NULLABLE,
          "The host's own memory: one point per access, number of threads and size; null if not asked for.",
          run->config.sections.host))
    return;
  for (int h = 0; doc_each(d, h, run->n_host); h++) {
    const struct mem_host_point *p = doc_at(d, run->host, h);
    doc_object(d, NULL, 0, "", 1);
    doc_enum(d, "access", 0, DOC_WORDS(mem_access_names), "", p->access);
    doc_flag(d, "streaming", 0, "Stores bypass the caches.", p->streaming);
    doc_whole(d, "threads", DOC_POSITIVE, "", p->threads);
    doc_whole(d, "bytes", DOC_POSITIVE, "Of each array.", p->bytes);
    rate_document(d, "gbps", "Bytes of the loop: lines that a store reads first are not counted.", &p->rate,
                  1e9);
    doc_end(d);
  }
  doc_end(d);
}

static void type_field(struct doc *d, int type)
{
  doc_enum(d, "type", 0, DOC_WORDS(mem_type_names), "", mem_type_names[type]);
}

static void placed_document(struct doc *d, const struct mem_roofline *r)
{
  doc_list(d, "kernels", 0, "Of the documents of --kernels.", 1);
  for (int i = 0; doc_each(d, i, r->n_placed); i++) {
    const struct mem_placed *p = doc_at(d, r->placed, i);
    doc_object(d, NULL, 0, "", 1);
    doc_text(d, "name", 0, "", p->name);
    type_field(d, p->type);
    doc_real(d, "intensity", DOC_POSITIVE, "", "", p->intensity);
    doc_real(d, "gflops", DOC_POSITIVE, "GFLOPS", "Of one device.", p->rate / 1e9);
    doc_text(d, "traffic", 0, "How its bytes were counted.", p->traffic);
    doc_end(d);
  }
  doc_end(d);
}

static void mem_ceilings_document(struct doc *d, const struct mem_roofline *r)
{
  static const char *const windows[] = {"L1", "cache", "memory"};
  doc_list(d, "levels", 0, "", 1);
  for (int w = 0; doc_each(d, w, r->n_windows); w++) {
    doc_object(d, NULL, 0, "", 1);
    doc_enum(d, "level", 0, DOC_WORDS(windows), "", r->windows[w].level);
    doc_whole(d, "bytes", DOC_POSITIVE, "", r->windows[w].bytes);
    rate_document(d, "gbps", "Reading.", &r->windows[w].rate, 1e9);
    doc_end(d);
  }
  doc_end(d);
  doc_list(d, "peaks", 0, "", 1);
  for (int p = 0; doc_each(d, p, r->n_peaks); p++) {
    doc_object(d, NULL, 0, "", 1);
    type_field(d, r->peaks[p].type);
    doc_real(d, "gflops", DOC_POSITIVE, "GFLOPS", "", r->peaks[p].rate / 1e9);
    doc_text(d, "by", 0, "The kernel that reached it.", r->peaks[p].by);
    doc_end(d);
  }
  doc_end(d);
}

static void roofline_document(struct doc *d, const struct mem_run *run)
{
  const struct mem_roofline *r = &run->roofline;
  if (!doc_object(d, "roofline", DOC_NULLABLE,
                  "Measured ceilings, and what lies below them; null if not asked for.",
                  run->config.sections.roofline))
    return;
  mem_ceilings_document(d, r);
  doc_list(d, "points", 0, "", 1);
  for (int p = 0; doc_each(d, p, r->n_points); p++) {
    doc_object(d, NULL, 0, "", 1);
    type_field(d, r->points[p].type);
    doc_real(d, "intensity", DOC_POSITIVE, "", "Operations per byte.", r->points[p].intensity);
    rate_document(d, "gflops", "", &r->points[p].rate, 1e9);
    doc_end(d);
  }
  doc_end(d);
  placed_document(d, r);
  doc_end(d);
}

void mem_document(struct doc *d, const struct mem_run *run)
{
  static const char *const verdicts[] = {"pass", "wrong"};
  doc_frame(d, "mem-gpu/1", "mem-gpu", "Result of mem-gpu",
            "One run on one device. A document with verdict \"wrong\" holds what was measured before the "
            "comparison "
            "that failed.");
  mem_config_document(d, run);
  device_document(d, d->schema ? NULL : &run->rig.device->info);
  doc_object(d, "result", 0, "", 1);
  doc_enum(d, "verdict", 0, DOC_WORDS(verdicts), "", status_verdict(run->verdict));
  doc_whole(d, "checked", 0, "Results that were compared with the reference.", run->rig.checks);
  doc_end(d);
  copies_document(d, run);
  mixes_document(d, run);
  latency_document(d, run);
  host_document(d, run);
  roofline_document(d, run);
}
