/* SPDX-License-Identifier: MIT */
#include "tools/memory/levels.h"

#include <stdio.h>

/** Two rises coincide if their ranges of footprints, widened by this factor, overlap. */
#define NEAR 1.5
/** At this many times its reach, a TLB with random replacement misses in 7 of 8 accesses. */
#define GRADUAL_FULL 8
/** Smallest gradual rise that counts, as a share of the level's latency. */
#define GRADUAL_RISE 0.015
/** A plateau belongs to the slowest level with a latency below this many times the plateau's
 * latency. */
#define BASE_ABOVE 1.02
/** A rise to less than this many times the first cache's latency still belongs to that cache. */
#define FIRST_FILLS 1.5
/** If only one cache is found on a GPU, it is named L2 if it is larger than this, otherwise L1. */
#define GPU_L1_MAX ((uint64_t)1 << 20)

/** A rise from one plateau to the next. */
struct rise {
  const struct levels_curve *curve;
  double from, to;     /* footprints: the largest before the rise, the smallest after it */
  double below, above; /* latencies before and after the rise */
};

static struct rise rise_at(const struct levels_curve *c, int p)
{
  const struct steps_plateau *a = &c->plateaus[p], *b = a + 1;
  return (struct rise){c, (double)c->bytes[a->last], (double)c->bytes[b->first], a->level, b->level};
}

static int levels_overlap(double from_a, double to_a, double from_b, double to_b)
{
  return from_a <= to_b * NEAR && from_b <= to_a * NEAR;
}

/* Returns whether the lines that a curve touches exceed a cache where \a r is. */
static int cache_explains(const struct levels_level *levels, int caches, const struct rise *r, uint64_t line)
{
  double narrower = r->curve->stride > line ? (double)line / (double)r->curve->stride : 1;
  for (int i = 0; i < caches; i++)
    if (levels_overlap((double)levels[i].bytes, (double)levels[i].next_bytes, r->from * narrower,
                       r->to * narrower))
      return 1;
  return 0;
}

/* Returns whether a curve of a stride wider than a line has a rise where \a r is: at the same
 * number of lines if \a same_lines is 1, otherwise at the same footprint. In the second case, rises
 * that an already found cache explains do not count. */
static int seen(const struct levels_curve *curves, int n, const struct rise *r, uint64_t line, int same_lines,
                const struct levels_level *levels, int caches)
{
  for (int c = 0; c < n; c++) {
    double wider = same_lines ? (double)curves[c].stride / (double)line : 1;
    if (curves[c].stride <= line) continue;
    for (int p = 0; p + 1 < curves[c].n_plateaus; p++) {
      struct rise other = rise_at(&curves[c], p);
      if (!same_lines && cache_explains(levels, caches, &other, line)) continue;
      if (levels_overlap(r->from * wider, r->to * wider, other.from, other.to)) return 1;
    }
  }
  return 0;
}

/* Returns the curve with the smallest stride of at least a line. Caches are found on this curve. */
static struct levels_curve *line_curve(struct levels_curve *curves, int n, uint64_t line)
{
  struct levels_curve *best = NULL;
  for (int c = 0; c < n; c++)
    if (curves[c].stride >= line && (!best || curves[c].stride < best->stride)) best = &curves[c];
  return best ? best : &curves[0];
}

static void name_caches(struct levels_level *levels, int n, int is_cpu)
{
  for (int i = 0; i < n; i++) {
    int number = !is_cpu && n == 1 && levels[i].bytes > GPU_L1_MAX ? 2 : i + 1;
    snprintf(levels[i].name, sizeof levels[i].name, "L%d", number);
  }
  if (is_cpu || n != 3) return;
  snprintf(levels[1].name, sizeof levels[1].name, "L2 near");
  snprintf(levels[2].name, sizeof levels[2].name, "L2 far");
}

/* Returns whether a rise belongs to a TLB that is already listed. A TLB is found on a wide stride,
 * at a rise that no cache explains, and is listed once, for the widest stride. Its reach is
 * constant in bytes for strides narrower than a page, and constant in strides for wider strides. */
static int tlb_known(const struct levels_level *levels, int first, int n, const struct rise *r)
{
  for (int i = first; i < n; i++) {
    double from = (double)levels[i].bytes, to = (double)levels[i].next_bytes;
    double narrower = (double)r->curve->stride / (double)levels[i].stride;
    if (levels_overlap(from, to, r->from, r->to) ||
        levels_overlap(from * narrower, to * narrower, r->from, r->to))
      return 1;
  }
  return 0;
}

static struct levels_level levels_level_make(enum levels_kind kind, const struct rise *r, double ns)
{
  return (struct levels_level){.kind = kind,
                               .ns = ns,
                               .bytes = (uint64_t)r->from,
                               .next_bytes = (uint64_t)r->to,
                               .stride = r->curve->stride};
}

static int find_caches(const struct levels_curve *curves, int n, const struct levels_curve *lines,
                       uint64_t line, uint64_t cache, struct levels_level *levels)
{
  int found = 0;
  double memory = lines->plateaus[0].level;
  for (int p = 0; p + 1 < lines->n_plateaus && found < LEVELS_MAX - 1; p++) {
    struct rise r = rise_at(lines, p);
    int beyond = cache && r.from > NEAR * (double)cache;
    int cached = seen(curves, n, &r, line, 1, levels, found);
    int paged = seen(curves, n, &r, line, 0, levels, found);
    if (!cached && (beyond || paged)) continue;
    levels[found++] = levels_level_make(LEVELS_CACHE, &r, r.below);
    memory = r.above;
  }
  levels[found] =
      (struct levels_level){.kind = LEVELS_MEMORY, .name = "DRAM", .ns = memory, .stride = lines->stride};
  return found;
}

/* Returns whether a rise comes from a GPU's first cache, whose sets fill up before the whole cache
 * does because that cache is indexed by virtual addresses. */
static int fills_first(const struct levels_level *levels, int caches, const struct rise *r, int is_cpu)
{
  return !is_cpu && caches > 0 && r->above < FIRST_FILLS * levels[0].ns;
}

static int find_tlbs(const struct levels_curve *curves, int n, int caches, uint64_t line, int is_cpu,
                     struct levels_level *levels)
{
  int found = caches + 1;
  for (int c = n - 1; c >= 0; c--) { /* wide strides first: they show TLBs best */
    for (int p = 0; p + 1 < curves[c].n_plateaus && found < LEVELS_MAX; p++) {
      struct rise r = rise_at(&curves[c], p);
      if (fills_first(levels, caches, &r, is_cpu) || cache_explains(levels, caches, &r, line) ||
          tlb_known(levels, caches + 1, found, &r))
        continue;
      levels[found++] = levels_level_make(LEVELS_TLB, &r, r.above - r.below);
    }
  }
  return found;
}

/* Returns the latency of the level that a plateau of a wide stride belongs to: the slowest level
 * whose latency the plateau's latency exceeds or nearly equals. */
static double base_of(const struct levels_level *levels, int caches, double ns)
{
  double base = 0;
  for (int i = 0; i <= caches; i++)
    if (levels[i].ns < ns * BASE_ABOVE) base = levels[i].ns;
  return base;
}

/* Finds TLBs with random replacement, which slow a level gradually: at a footprint F, they miss in
 * the fraction 1 − reach / F of accesses. A miss costs the difference between the latency that the
 * plateau approaches and the level's latency at a narrow stride, which stays within the reach. */
static int find_gradual(const struct levels_curve *curves, int n, const struct levels_curve *lines,
                        int caches, int found, struct levels_level *levels)
{
  for (int c = 0; c < n; c++)
    for (int p = 1; p < curves[c].n_plateaus && found < LEVELS_MAX; p++) {
      const struct steps_plateau *plateau = &curves[c].plateaus[p];
      double far, near, base = base_of(levels, caches, plateau->level);
      if (&curves[c] == lines || base <= 0 || base == levels[caches].ns ||
          !steps_approach(curves[c].bytes, curves[c].ns, plateau, &far, &near))
        continue;
      double miss = far - base, reach = near / miss;
      if (miss < GRADUAL_RISE * base || reach < (double)curves[c].bytes[plateau->first]) continue;
      struct rise r = {&curves[c], reach, reach, base, far};
      if (tlb_known(levels, caches + 1, found, &r)) continue;
      r.to = GRADUAL_FULL * reach;
      levels[found++] = levels_level_make(LEVELS_TLB, &r, miss);
    }
  return found;
}

static void sort_tlbs(struct levels_level *tlbs, int n)
{
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && tlbs[j].bytes < tlbs[j - 1].bytes; j--) {
      struct levels_level swap = tlbs[j];
      tlbs[j] = tlbs[j - 1];
      tlbs[j - 1] = swap;
    }
  for (int i = 0; i < n; i++) snprintf(tlbs[i].name, sizeof tlbs[i].name, "TLB %d", i + 1);
}

int levels_find(struct levels_curve *curves, int n, uint64_t line, uint64_t cache, int is_cpu,
                struct levels_level levels[LEVELS_MAX])
{
  if (n < 1) return 0;
  for (int c = 0; c < n; c++)
    curves[c].n_plateaus = steps_find(curves[c].ns, curves[c].n, curves[c].plateaus);
  const struct levels_curve *lines = line_curve(curves, n, line);
  if (lines->n_plateaus < 1) return 0;
  int caches = find_caches(curves, n, lines, line, cache, levels);
  name_caches(levels, caches, is_cpu);
  int all = find_tlbs(curves, n, caches, line, is_cpu, levels);
  if (!is_cpu) all = find_gradual(curves, n, lines, caches, all, levels);
  sort_tlbs(levels + caches + 1, all - caches - 1);
  return all;
}
