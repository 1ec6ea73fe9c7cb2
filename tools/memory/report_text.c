/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/meta.h"
#include "base/report.h"
#include "base/stats.h"
#include "suite/list.h"
#include "tools/memory/state.h"

#define BAR_CELLS 20

static const struct mem_copy_point *find_point(const struct mem_copies *c, const struct mem_copy *like,
                                               int streams, uint64_t bytes, int paced)
{
  struct mem_copy copy = *like;
  copy.streams = streams;
  copy.bytes = bytes;
  copy.paced = paced;
  return mem_copy_find(c, &copy);
}

static void mem_print_table(const struct mem_copies *c, const struct mem_copy *like, int paced, FILE *out)
{
  fprintf(out,
          "\n  %s, GB/s read plus written; columns: arrays copied at once (streams)\n"
          "  %d bytes per access, %s assignment, %d thread%s per block, %d block%s per compute unit\n",
          paced ? "paced copies (with barriers)" : "unpaced copies", like->width ? like->width : 4096,
          mem_assign_names[like->assign], like->threads, like->threads == 1 ? "" : "s", like->blocks,
          like->blocks == 1 ? "" : "s");
  fprintf(out, "    bytes, all ");
  for (int s = 1; s <= MEM_STREAMS_MAX; s++)
    if (find_point(c, like, s, like->bytes, paced)) fprintf(out, "%4d stream%s", s, s > 1 ? "s" : " ");
  fprintf(out, "\n");
  for (int r = 0; r < c->n_rivals; r++) {
    fprintf(out, "    %-11s", report_bytes(c->rivals[r].bytes));
    for (int s = 1; s <= MEM_STREAMS_MAX; s++) {
      const struct mem_copy_point *p = find_point(c, like, s, c->rivals[r].bytes, paced);
      if (p) fprintf(out, "%12.1f", p->rate.median / 1e9);
    }
    fprintf(out, "\n");
  }
}

/* Prints tables of the copies with cyclic assignment at every size. Copies with block or group
 * assignment are only in the JSON document. */
static void print_study(const struct mem_copies *c, FILE *out)
{
  int widths[2] = {-1, -1}, n = 0;
  for (int p = 0; p < c->n; p++) {
    const struct mem_copy *one = &c->points[p].copy;
    if (one->bytes != c->points[0].copy.bytes || one->assign != c->points[0].copy.assign) continue;
    if (n == 2 || (n > 0 && widths[n - 1] == one->width)) continue;
    widths[n++] = one->width;
    for (int paced = 0; paced < 2; paced++)
      if (find_point(c, one, one->streams, one->bytes, paced)) mem_print_table(c, one, paced, out);
  }
}

static void print_pacing(const struct mem_copies *c, FILE *out)
{
  for (int i = 0; i < c->n_pacing; i++) {
    const struct mem_pacing *p = &c->pacing[i];
    if (i == 0 || c->pacing[i - 1].width != p->width) {
      int from = mem_pacing_from(c, p->width);
      fprintf(out, "\n  pacing     of arrays larger than the caches");
      if (p->width) fprintf(out, ", %d bytes per access", p->width);
      if (from)
        fprintf(out, ": faster from %d stream%s on\n", from, from > 1 ? "s" : "");
      else
        fprintf(out, ": never faster\n");
    }
    fprintf(out, "    %2d stream%s  paced / unpaced %5.1f%%  (%.1f ... %.1f over %d sizes)\n", p->streams,
            p->streams > 1 ? "s" : " ", 100 * p->ratio, 100 * p->least, 100 * p->most, p->sizes);
  }
}

static void print_methods(const struct mem_run *run, FILE *out)
{
  const struct mem_copies *c = &run->copies;
  fprintf(out, "\n  one array copied, GB/s; tuned: the fastest of this program's own;\n"
               "  share: tuned / the faster of the first two\n");
  fprintf(out, "    bytes      %20.20s BabelStream    tuned best of above   share tuned by\n",
          run->rig.ops->native);
  for (int r = 0; r < c->n_rivals; r++) {
    const struct stats_summary *rate = c->rivals[r].rate;
    double native = rate[MEM_NATIVE].median, babel = rate[MEM_BABEL].median;
    fprintf(out, "    %-11s%20.1f %11.1f %8.1f %13.1f %6.1f%% %s\n", report_bytes(c->rivals[r].bytes),
            native / 1e9, babel / 1e9, rate[MEM_TUNED].median / 1e9, rate[MEM_STUDY].median / 1e9,
            100 * rate[MEM_TUNED].median / (native > babel ? native : babel),
            run->rig.traits.copy_shapes.names[c->rivals[r].shape]);
  }
}

static void print_rate(const char *name, const struct stats_summary *s, double most, const char *unit,
                       FILE *out)
{
  char bar[4 * BAR_CELLS + 1];
  report_bar(bar, sizeof bar, s->median / most, BAR_CELLS);
  fprintf(out, "    %-31s %9.1f %s  (%.1f ... %.1f)  %s%s\n", name, s->median / 1e9, unit, s->min / 1e9,
          s->max / 1e9, bar, stats_noise(s) > STATS_NOISY ? " noisy" : "");
}

static void print_mixes(const struct mem_run *run, FILE *out)
{
  double most = 0;
  char name[40];
  fprintf(out, "\n  reading and writing several arrays of %s at once; median (min ... max)\n",
          report_bytes(run->mixes[0].bytes));
  for (int m = 0; m < run->n_mixes; m++)
    if (run->mixes[m].rate.median > most) most = run->mixes[m].rate.median;
  for (int m = 0; m < run->n_mixes; m++) {
    const struct mem_mix_point *p = &run->mixes[m];
    if (!p->writes || !p->reads)
      snprintf(name, sizeof name, "%s only", p->writes ? "writes" : "reads");
    else
      snprintf(name, sizeof name, "%d:%d reads to writes", p->reads, p->writes);
    print_rate(name, &p->rate, most, "GB/s", out);
  }
}

static void mem_print_host(const struct mem_run *run, FILE *out)
{
  double most = 0;
  char name[64];
  for (int h = 0; h < run->n_host; h++)
    if (run->host[h].rate.median > most) most = run->host[h].rate.median;
  for (int h = 0; h < run->n_host; h++) {
    const struct mem_host_point *p = &run->host[h];
    if (h == 0 || p->bytes != p[-1].bytes)
      fprintf(out,
              "\n  host memory, arrays of %s; TRIADD: c = a + b;\n"
              "  GB/s do not count the reads that ordinary stores cause\n",
              report_bytes(p->bytes));
    snprintf(name, sizeof name, "%d thread%s %s%s", p->threads, p->threads > 1 ? "s" : " ", p->access,
             p->streaming ? ", non-temporal" : "");
    print_rate(name, &p->rate, most, "GB/s", out);
  }
}

static void print_level(const struct levels_level *l, FILE *out)
{
  fprintf(out, "    %-8s", l->name);
  if (l->kind == LEVELS_MEMORY)
    fprintf(out, "%9.1f ns per load\n", l->ns);
  else if (l->kind == LEVELS_CACHE)
    fprintf(out, "%9.1f ns per load, up to %s (next level from %s on)\n", l->ns, report_bytes(l->bytes),
            report_bytes(l->next_bytes));
  else
    fprintf(out, "%9.1f ns more per load beyond %s (all from %s on; one load per %s)\n", l->ns,
            report_bytes(l->bytes), report_bytes(l->next_bytes), report_bytes(l->stride));
}

static void print_latency(const struct mem_run *run, FILE *out)
{
  const struct mem_latency *l = &run->latency;
  fprintf(out, "\n  latency of a load that waits for the one before, in random order; %d stride%s, with",
          l->n, l->n > 1 ? "s" : "");
  for (int c = 0; c < l->n; c++) fprintf(out, "%s %d", c ? "," : "", l->curves[c].n);
  fprintf(out, " sizes\n");
  for (int n = 0; n < l->n_levels; n++) print_level(&l->levels[n], out);
}

static void print_roofline(const struct mem_run *run, FILE *out)
{
  const struct mem_roofline *r = &run->roofline;
  const double memory = r->windows[r->n_windows - 1].rate.median;
  fprintf(out, "\n  ceilings\n");
  for (int w = 0; w < r->n_windows; w++)
    fprintf(out, "    %-8s %12.1f GB/s reading %s\n", r->windows[w].level, r->windows[w].rate.median / 1e9,
            report_bytes(r->windows[w].bytes));
  for (int p = 0; p < r->n_peaks; p++)
    fprintf(out, "    %-8s %12.1f GFLOPS by %s; compute-bound above %.1f flop/byte\n",
            mem_type_names[r->peaks[p].type], r->peaks[p].rate / 1e9, r->peaks[p].by,
            r->peaks[p].rate / memory);
  fprintf(out, "\n  flop/byte    GFLOPS\n");
  for (int i = 0; i < MEM_INTENSITIES; i++) {
    int any = 0;
    for (int p = 0; p < r->n_points; p++) {
      if (r->points[p].intensity != (1 << i) / 16.0) continue;
      if (!any++) fprintf(out, "    %9.4f", r->points[p].intensity);
      fprintf(out, "  %s %10.1f", mem_type_names[r->points[p].type], r->points[p].rate.median / 1e9);
    }
    if (any) fprintf(out, "\n");
  }
  if (r->n_placed)
    fprintf(out, "\n  kernels from --kernels: flop per byte, GFLOPS, how the bytes were counted\n");
  for (int i = 0; i < r->n_placed; i++)
    fprintf(out, "    %-32s %8.2f %10.1f  %s\n", r->placed[i].name, r->placed[i].intensity,
            r->placed[i].rate / 1e9, r->placed[i].traffic);
}

void mem_report_text(const struct mem_run *run, FILE *out)
{
  const struct gpu_device_info *info = &run->rig.device->info;
  fprintf(out,
          "mem-gpu %s\n\n  verdict    %s: %" PRIu64 " copies and sums compared with the expected values\n\n",
          meta_version(), run->verdict == STATUS_OK ? "PASS" : "WRONG", run->rig.checks);
  fprintf(out, "  device     %s, %s, %s of memory, last cache %s (backend %s)\n", info->name, info->uuid,
          report_bytes(info->memory_bytes), report_bytes(info->cache_bytes), run->rig.ops->backend);
  if (run->claim.reason[0]) fprintf(out, "  backend    the CPU (%s)\n", run->claim.reason);
  if (run->copies.n_rivals) {
    print_study(&run->copies, out);
    print_pacing(&run->copies, out);
    print_methods(run, out);
  }
  if (run->n_mixes) print_mixes(run, out);
  if (run->latency.n) print_latency(run, out);
  if (run->n_host) mem_print_host(run, out);
  if (run->roofline.n_points) print_roofline(run, out);
}

static void mem_list_backend(const struct gpu_backend *backend, int devices, FILE *out)
{
  const struct mem_ops *ops = mem_ops_find(backend->name);
  (void)devices;
  if (!ops) return;
  fprintf(out, "    measures   copies (%s), mixes, latency, host, roofline\n", ops->native);
}

void mem_report_list(const struct gpu_backend *asked, FILE *out)
{
  list_backends(asked, "", mem_list_backend, out);
}
