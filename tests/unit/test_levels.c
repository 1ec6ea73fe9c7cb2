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
  uint64_t touched = bytes / stride * m->line;
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
    for (double at = (double)least; at <= (double)most && n < POINTS; at *= exp2(1.0 / 6)) {
      c.bytes[s][n] = (uint64_t)at / strides[s] * strides[s];
      c.ns[s][n] = latency(m, strides[s], c.bytes[s][n]);
      n++;
    }
    c.curve[s] = (struct levels_curve){.stride = strides[s], .n = n, .bytes = c.bytes[s], .ns = c.ns[s]};
  }
}

static void assert_level(const struct levels_level *level, const char *name, double ns, uint64_t ends)
{
  assert_string_equal(level->name, name);
  assert_true(fabs(level->ns - ns) < 0.02 * ns);
  if (!ends) return;
  assert_true(level->bytes <= ends && ends < level->next_bytes);
  assert_true(level->next_bytes < 1.3 * (double)level->bytes);
}

static const struct machine gpu = {.line = 128,
                                   .caches = {{192 * KIB, 16}, {24 * MIB, 136}, {48 * MIB, 260}, {0, 341}},
                                   .reach = 256 * MIB,
                                   .miss = 6,
                                   .noise = 0.002};
static const uint64_t gpu_strides[CURVES] = {128, 64 * 1024, 2 * 1024 * 1024};

static void a_gpu_has_a_first_cache_two_halves_of_a_second_and_memory(void **state)
{
  measure(&gpu, gpu_strides, 64 * GIB);
  int n = levels_find(c.curve, CURVES, 128, 50 * MIB, 0, l);
  assert_in_range(n, 5, LEVELS_MAX);
  assert_level(&l[0], "L1", 16, 192 * KIB);
  assert_level(&l[1], "L2 near", 136, 24 * MIB);
  assert_level(&l[2], "L2 far", 260, 48 * MIB);
  assert_true(l[3].kind == LEVELS_MEMORY && fabs(l[3].ns - 350) < 12);
}

static void a_table_that_is_replaced_at_random_shows_its_reach(void **state)
{
  measure(&gpu, gpu_strides, 64 * GIB);
  int n = levels_find(c.curve, CURVES, 128, 50 * MIB, 0, l);
  assert_int_equal(n, 5);
  assert_string_equal(l[4].name, "TLB 1");
  assert_true(fabs(l[4].ns - gpu.miss) < 0.2 * gpu.miss);
  assert_true((double)l[4].bytes > 0.75 * (double)gpu.reach && (double)l[4].bytes < 1.34 * (double)gpu.reach);
}

static void no_table_is_found_where_there_is_none(void **state)
{
  struct machine flat = gpu;
  flat.reach = 0;
  flat.noise = 0.01;
  measure(&flat, gpu_strides, 64 * GIB);
  assert_int_equal(levels_find(c.curve, CURVES, 128, 50 * MIB, 0, l), 4);
}

static void a_cpu_has_three_caches_and_a_tlb_that_stays_at_its_footprint(void **state)
{
  static const struct machine cpu = {.line = 64,
                                     .caches = {{32 * KIB, 1.2}, {1 * MIB, 4}, {32 * MIB, 15}, {0, 90}},
                                     .reach = 8 * MIB,
                                     .miss = 9,
                                     .tlb_in_use_order = 1,
                                     .noise = 0.02};
  static const uint64_t strides[CURVES] = {64, 4 * 1024, 64 * 1024};
  measure(&cpu, strides, 1 * GIB);
  int n = levels_find(c.curve, CURVES, 64, 32 * MIB, 1, l);
  assert_in_range(n, 5, 6);
  assert_level(&l[0], "L1", 1.2, 32 * KIB);
  assert_level(&l[1], "L2", 4, 1 * MIB);
  assert_string_equal(l[n - 1].name, n == 6 ? "TLB 2" : "TLB 1");
  int at = 0;
  for (int i = 0; i < n; i++)
    at |= l[i].kind == LEVELS_TLB && l[i].bytes <= 8 * MIB && 8 * MIB <= l[i].next_bytes;
  assert_true(at);
}

static void noise_makes_no_levels(void **state)
{
  static const struct machine even = {.line = 128, .caches = {{0, 100}}, .noise = 0.05};
  measure(&even, gpu_strides, 64 * GIB);
  assert_int_equal(levels_find(c.curve, CURVES, 128, 50 * MIB, 0, l), 1);
  assert_string_equal(l[0].name, "DRAM");
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
    c.curve[s] =
        (struct levels_curve){.stride = (uint64_t)json_integer_value(json_object_get(curve, "stride")),
                              .n = (int)json_array_size(json_object_get(curve, "points")),
                              .bytes = c.bytes[s],
                              .ns = c.ns[s]};
  }
  json_decref(one);
}

/* CUDA and OpenCL measured the levels. OpenCL's driver does not report the last cache's size. */
static void a_recorded_h100_has_the_levels_that_it_is_known_for(void **state)
{
  static const char *const names[] = {"mem-latency", "mem-opencl"};
  static const uint64_t caches[] = {50 * MIB, 0};
  for (int d = 0; d < 2; d++) {
    read_curves("h100-2026-11", names[d]);
    assert_int_equal(levels_find(c.curve, CURVES, 128, caches[d], 0, l), 5);
    assert_string_equal(l[0].name, "L1");
    assert_string_equal(l[1].name, "L2 near");
    assert_true(l[1].bytes > 20 * MIB && l[1].next_bytes < 34 * MIB);
    assert_string_equal(l[2].name, "L2 far");
    assert_true(l[2].bytes > 40 * MIB && l[2].next_bytes < 60 * MIB);
    assert_string_equal(l[3].name, "DRAM");
    assert_string_equal(l[4].name, "TLB 1");
    assert_true(l[4].bytes > 200 * MIB && l[4].bytes < 280 * MIB && fabs(l[4].ns - 5) < 0.5);
  }
}

/* With 140 GB of memory, a second TLB level appears. */
static void a_recorded_h200_has_two_tables(void **state)
{
  read_curves("h200-2026-11", "mem-memory");
  assert_int_equal(levels_find(c.curve, CURVES, 128, 60 * MIB, 0, l), 6);
  assert_string_equal(l[4].name, "TLB 1");
  assert_true(l[4].bytes > 230 * MIB && l[4].bytes < 300 * MIB && fabs(l[4].ns - 5) < 0.5);
  assert_string_equal(l[5].name, "TLB 2");
  assert_true(l[5].bytes > 64 * GIB && l[5].bytes < 80 * GIB && fabs(l[5].ns - 15) < 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gpu_has_a_first_cache_two_halves_of_a_second_and_memory),
      cmocka_unit_test(a_table_that_is_replaced_at_random_shows_its_reach),
      cmocka_unit_test(no_table_is_found_where_there_is_none),
      cmocka_unit_test(a_cpu_has_three_caches_and_a_tlb_that_stays_at_its_footprint),
      cmocka_unit_test(noise_makes_no_levels),
      cmocka_unit_test(a_recorded_h100_has_the_levels_that_it_is_known_for),
      cmocka_unit_test(a_recorded_h200_has_two_tables)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
