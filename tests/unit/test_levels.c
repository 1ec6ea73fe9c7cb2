/* SPDX-License-Identifier: MIT */
/* Levels of memory must be found in latency curves of machines whose levels are known. */
#include "tests/unit/unit.h"

#include <jansson.h>
#include <math.h>

#include "tools/memory/levels.h"

#define KIB (uint64_t)1024
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

#define POINTS 200
#define CURVES 3

/** A machine. Its caches give the time of a load, which depends on the bytes of the lines touched;
 * the TLB adds a time if the footprint is beyond its reach. */
struct machine {
  uint64_t line;
  struct {
    uint64_t bytes;
    double ns;
  } caches[4]; /* ends with the memory, an entry of 0 bytes */
  uint64_t reach;
  double miss; /* extra time of a miss in a TLB that replaces entries at random */
  int tlb_in_use_order;
  double noise;
};

/** Curves, with the storage of their points. */
struct curves {
  uint64_t bytes[CURVES][POINTS];
  double ns[CURVES][POINTS];
  struct levels_curve curve[CURVES];
};

static struct curves c;
static struct levels_level l[LEVELS_MAX];

/* Returns a number from -1 to 1, always the same for one n. */
static double noise(uint32_t n)
{
  uint32_t z = n * 2654435769u;
  z = (z ^ z >> 15) * 0x85ebca6bu;
  z = (z ^ z >> 13) * 0xc2b2ae35u;
  return (double)(z ^ z >> 16) / 2147483648.0 - 1;
}

static double latency(const struct machine *m, uint64_t stride, uint64_t bytes)
{
  int cache = 0;
  uint64_t touched = stride > m->line ? bytes / stride * m->line : bytes;
  while (m->caches[cache].bytes && touched > m->caches[cache].bytes) cache++;
  double ns = m->caches[cache].ns;
  if (cache > 0 && m->reach && bytes > m->reach)
    ns += m->miss * (m->tlb_in_use_order ? 1 : 1 - (double)m->reach / (double)bytes);
  return ns * (1 + m->noise * noise((uint32_t)(bytes / stride * 7 + stride)));
}

static void measure(const struct machine *m, const uint64_t strides[CURVES], uint64_t most)
{
  for (int s = 0; s < CURVES; s++) {
    uint64_t least = 4 * strides[s] > 4096 ? 4 * strides[s] : 4096;
    int n = 0;
    for (double at; (at = (double)least * exp2(n / 6.0)) <= (double)most && n < POINTS;) {
      c.bytes[s][n] = (uint64_t)at / strides[s] * strides[s];
      c.ns[s][n] = latency(m, strides[s], c.bytes[s][n]);
      n++;
    }
    c.curve[s] = (struct levels_curve){.stride = strides[s], .n = n, .bytes = c.bytes[s], .ns = c.ns[s]};
  }
}

/* Asserts the levels' names, nanoseconds, MiB up to which and from which on, and strides. */
static void assert_levels(uint64_t line, uint64_t cache, int is_cpu, const char *levels)
{
  char text[512] = "";
  const int n = levels_find(c.curve, CURVES, line, cache, is_cpu, l);
  for (int i = 0; i < n; i++)
    sprintf(text + strlen(text), "%s %.3g %.4g %.4g %llu; ", l[i].name, l[i].ns,
            (double)l[i].bytes / (double)MIB, (double)l[i].next_bytes / (double)MIB,
            (unsigned long long)l[i].stride);
  assert_string_equal(text, levels);
}

static const struct machine gpu = {.line = 128,
                                   .caches = {{192 * KIB, 16}, {24 * MIB, 136}, {48 * MIB, 260}, {0, 341}},
                                   .reach = 256 * MIB,
                                   .miss = 6,
                                   .noise = 0.002};
static const uint64_t gpu_strides[CURVES] = {128, 64 * 1024, 2 * 1024 * 1024};

TEST(a_gpu_has_two_caches_memory_and_a_table_that_is_replaced_at_random)
{
  measure(&gpu, gpu_strides, 64 * GIB);
  assert_levels(128, 50 * MIB, 0,
                "L1 16 0.1768 0.1984 128; L2 near 136 22.63 25.4 128; L2 far 260 45.25 50.8 128; DRAM 346 0 "
                "0 128; TLB 1 5.73 224.4 1795 65536; ");
  assert_levels(128, 50 * MIB, 1, /* gradual rises of a CPU do not count */
                "L1 16 0.1768 0.1984 128; L2 136 22.63 25.4 128; L3 260 45.25 50.8 128; DRAM 346 0 0 128; ");
}

TEST(strides_below_a_line_show_no_table)
{
  measure(&gpu, (const uint64_t[CURVES]){32, 64, 16}, 64 * MIB);
  assert_levels(
      128, 50 * MIB, 0,
      "L1 16 0.1768 0.1984 32; L2 near 136 22.63 25.4 32; L2 far 260 45.25 50.8 32; DRAM 341 0 0 32; ");
}

TEST(no_table_is_found_where_there_is_none_and_noise_makes_no_levels)
{
  struct machine flat = gpu;
  flat.reach = 0;
  flat.noise = 0.01;
  measure(&flat, gpu_strides, 64 * GIB);
  assert_levels(
      128, 50 * MIB, 0,
      "L1 16 0.1768 0.1984 128; L2 near 136 22.63 25.4 128; L2 far 259 45.25 50.8 128; DRAM 341 0 0 128; ");
}

TEST(a_cpu_has_three_caches_and_a_tlb_that_stays_at_its_footprint)
{
  static const struct machine cpu = {.line = 64,
                                     .caches = {{32 * KIB, 1.2}, {1 * MIB, 4}, {32 * MIB, 15}, {0, 90}},
                                     .reach = 8 * MIB,
                                     .miss = 9,
                                     .tlb_in_use_order = 1,
                                     .noise = 0.02};
  static const uint64_t strides[CURVES] = {64, 4 * 1024, 64 * 1024};
  measure(&cpu, strides, 1 * GIB);
  assert_levels(64, 32 * MIB, 1,
                "L1 1.21 0.03125 0.03503 64; L2 4.01 1 1.122 64; L3 24.1 32 35.92 64; DRAM 99 0 0 64; TLB 1 "
                "9.05 8 8.977 4096; ");
  static const struct machine even = {.line = 128, .caches = {{0, 100}}, .noise = 0.05};
  measure(&even, gpu_strides, 64 * GIB);
  assert_levels(128, 50 * MIB, 0, "DRAM 99.9 0 0 128; ");
}

/* Reads curves from the document \a name of mem-gpu in doc/results/FOLDER/runs.jsonl. */
static void read_curves(const char *folder, const char *name)
{
  char path[4096];
  json_t *curve, *point, *one = NULL;
  size_t s, n;
  FILE *file;
  snprintf(path, sizeof path, "%s/doc/results/%s/runs.jsonl",
           getenv("top_srcdir") ? getenv("top_srcdir") : "..", folder);
  if (!(file = fopen(path, "r"))) skip(); /* releases have no doc/results */
  do {
    json_decref(one);
    assert_non_null(one = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL));
  } while (strcmp(json_string_value(json_object_get(one, "name")), name) != 0);
  fclose(file);
  const json_t *document = json_object_get(one, "document");
  json_array_foreach(json_object_get(json_object_get(document, "latency"), "curves"), s, curve)
  {
    json_array_foreach(json_object_get(curve, "points"), n, point)
    {
      c.bytes[s][n] = (uint64_t)json_integer_value(json_object_get(point, "bytes"));
      c.ns[s][n] = json_number_value(json_object_get(point, "ns"));
    }
    const json_int_t stride = json_integer_value(json_object_get(curve, "stride"));
    c.curve[s] =
        (struct levels_curve){.stride = (uint64_t)stride, .n = (int)n, .bytes = c.bytes[s], .ns = c.ns[s]};
  }
  json_decref(one);
}

/* The second half of a curve is so many times as high as the first. */
TEST(a_rise_of_more_than_8_percent_is_a_step)
{
  static const struct {
    double times;
    int plateaus, last; /* last: point of the first plateau */
  } cases[] = {{1.06, 1, 11}, {1.1, 2, 5}, {0.5, 1, 5}};
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    struct steps_plateau found[STEPS_PLATEAUS_MAX] = {{0}};
    double y[12];
    for (int i = 0; i < 12; i++) y[i] = i < 6 ? 10 : 10 * cases[t].times;
    assert_int_equal(steps_find(y, 12, found), cases[t].plateaus);
    assert_int_equal(found[0].last, cases[t].last);
  }
}

/* OpenCL measured the second curves, whose driver does not report the last cache's size. With the
 * third GPU's 140 GB of memory, a second TLB level appears. */
TEST(recorded_gpus_have_the_levels_that_they_are_known_for)
{
  static const struct {
    const char *folder, *name;
    uint64_t cache;
    const char *levels;
  } runs[] = {{"h100-2026-11", "mem-latency", 50 * MIB,
               "L1 16.4 0.05566 0.3149 128; L2 near 139 22.63 32 128; L2 far 264 45.25 57.02 128; DRAM 347 0 "
               "0 128; TLB 1 5.02 238.5 1908 65536; "},
              {"h100-2026-11", "mem-opencl", 0,
               "L1 23 0.07874 0.3149 128; L2 near 145 22.63 32 128; L2 far 269 45.25 57.02 128; DRAM 351 0 0 "
               "128; TLB 1 5.14 256.9 2055 65536; "},
              {"h200-2026-11", "mem-memory", 60 * MIB,
               "L1 16.6 0.07007 0.3149 128; L2 near 142 25.4 35.92 128; L2 far 267 57.02 64 128; DRAM 352 0 "
               "0 128; TLB 1 4.64 276.6 2213 65536; TLB 2 14.9 7.356e+04 8.257e+04 2097152; "}};
  for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
    read_curves(runs[r].folder, runs[r].name);
    assert_levels(128, runs[r].cache, 0, runs[r].levels);
  }
}

UNIT_MAIN(NULL, NULL)
