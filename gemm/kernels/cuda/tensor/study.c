/* SPDX-License-Identifier: MIT */
/* WMMA fragments, measured: which lane holds which element, and how fast they are loaded by
 * load_matrix_sync and by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "gemm/kernels/cuda/tensor/fragment.h"
#include "gemm/study.h"
#include "gpu/cuda/cuda_device.h"

#define TURNS        2000
#define ROUNDS       7
#define BLOCKS_EACH  4 /* on a multiprocessor */
#define FRAGMENT_KIB (256 * 2 / 1024.0)

static status_t chip_check(struct gpu_device *device)
{
  const struct cudaDeviceProp *chip = &((const struct cuda_device *)device)->properties;
  if (chip->major >= 7) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "WMMA fragments need sm_70 or later, this is sm_%d%d (%s)", chip->major,
                  chip->minor, device->info.name);
}

/* ---- which lane holds which element ---- */

static const char *const uses[FRAGMENT_USES] = {"matrix_a, half", "matrix_b, half", "accumulator, half",
                                                "accumulator, float"};

static status_t map_measure(struct gpu_device *device, struct gpu_queue *queue,
                            const struct fragment_kind *kind, struct fragment_map *map)
{
  struct gpu_mem on = {0};
  status_t status;
  TRY(cuda_use(device), done);
  TRY(gpu_alloc(device, sizeof *map, &on), done);
  TRY(cuda_check(fragment_map_measure(kind, on.handle, cuda_queue_handle(queue)), "fragment map"), done);
  TRY(gpu_copy_out(queue, map, on, 0, sizeof *map), done);
  TRY(gpu_sync(queue), done);
done:
  gpu_free(device, &on);
  return status;
}

static void kind_size(const struct fragment_kind *kind, int *rows, int *columns)
{
  const int *shape = fragment_shapes[kind->shape];
  *rows = kind->use == FRAGMENT_B ? 16 : shape[0];
  *columns = kind->use == FRAGMENT_A ? 16 : shape[1];
}

/* How many lanes hold an element, the same for all. */
static status_t map_check(const struct fragment_kind *kind, const struct fragment_map *map, int *holders)
{
  int count[512] = {0}, rows, columns;
  kind_size(kind, &rows, &columns);
  for (int lane = 0; lane < FRAGMENT_LANES; lane++)
    for (int i = 0; i < map->elements; i++)
      if (map->at[lane][i] >= 0 && map->at[lane][i] < rows * columns) count[map->at[lane][i]]++;
  for (int at = 0; at < rows * columns; at++)
    if (count[at] == 0 || count[at] != count[0])
      return log_fail(STATUS_WRONG,
                      "fragment %s: row %d, column %d is held %d times, and row 0, column 0 %d times",
                      uses[kind->use], at / columns, at % columns, count[at], count[0]);
  *holders = count[0];
  return STATUS_OK;
}

static void map_print(const struct fragment_kind *kind, const struct fragment_map *map, FILE *out)
{
  int rows, columns;
  kind_size(kind, &rows, &columns);
  for (int lane = 0; lane < FRAGMENT_LANES; lane++) {
    fprintf(out, "    lane %2d ", lane);
    for (int i = 0; i < map->elements; i++)
      fprintf(out, " %2d,%-2d", map->at[lane][i] / columns, map->at[lane][i] % columns);
    fprintf(out, "\n");
  }
}

/* Stored by rows, by columns; printed once where that makes no difference. */
static status_t use_study(struct gpu_device *device, struct gpu_queue *queue, int shape,
                          enum fragment_use use, FILE *out)
{
  static const char *const majors[] = {"stored by rows", "stored by columns"};
  struct fragment_map maps[2];
  int holders[2];
  struct fragment_kind kind = {.shape = shape, .use = use};
  memset(maps, 0, sizeof maps);
  for (int major = 0; major < 2; major++) {
    kind.by_columns = major;
    RETURN_IF_FAILED(map_measure(device, queue, &kind, &maps[major]));
    RETURN_IF_FAILED(map_check(&kind, &maps[major], &holders[major]));
  }
  int alike = memcmp(&maps[0], &maps[1], sizeof maps[0]) == 0;
  for (int major = 0; major < 2 - alike; major++) {
    fprintf(out, "\n  %s, %dx%dx16, %s: %d elements a lane, each element in %d place%s\n", uses[use],
            fragment_shapes[shape][0], fragment_shapes[shape][1],
            alike ? "stored by rows or by columns alike" : majors[major], maps[major].elements,
            holders[major], holders[major] > 1 ? "s" : "");
    map_print(&kind, &maps[major], out);
  }
  return STATUS_OK;
}

status_t gemm_study_fragments(struct gpu_device *device, struct gpu_queue *queue, FILE *out)
{
  RETURN_IF_FAILED(chip_check(device));
  fprintf(out, "\nFragments, measured: a lane's elements as row,column of the matrix, in the order of "
               "fragment.x[]\n");
  for (int shape = 0; shape < FRAGMENT_SHAPES; shape++)
    for (int use = 0; use < FRAGMENT_USES; use++)
      RETURN_IF_FAILED(use_study(device, queue, shape, (enum fragment_use)use, out));
  return STATUS_OK;
}

/* ---- loads: same elements, every load from another place, all results used ---- */

/** All that a measurement needs. */
struct bench {
  struct gpu_device *device;
  struct gpu_queue *queue;
  struct gpu_event *begin, *end;
  struct gpu_mem matrices, map, sums;
  struct fragment_map known;
  int blocks;
  size_t sum_bytes;
  uint32_t *expected, *found;
};

static const char *const load_names[FRAGMENT_LOADS] = {"load_matrix_sync", "by elements", "by pairs"};

static void bench_close(struct bench *b)
{
  free(b->expected);
  free(b->found);
  gpu_free(b->device, &b->sums);
  gpu_free(b->device, &b->map);
  gpu_free(b->device, &b->matrices);
  gpu_event_destroy(b->begin);
  gpu_event_destroy(b->end);
}

static status_t window_fill(struct bench *b)
{
  uint16_t *window = malloc(FRAGMENT_WINDOW * sizeof *window);
  if (!window) return log_fail(STATUS_ENVIRONMENT, "out of host memory for matrices");
  for (int i = 0; i < FRAGMENT_WINDOW; i++) window[i] = (uint16_t)hash_mix((uint64_t)i);
  status_t status = gpu_copy_in(b->queue, b->matrices, 0, window, FRAGMENT_WINDOW * sizeof *window);
  if (status == STATUS_OK) status = gpu_sync(b->queue);
  free(window);
  return status;
}

static status_t bench_open(struct bench *b, struct gpu_device *device, struct gpu_queue *queue)
{
  const struct fragment_kind kind = {.use = FRAGMENT_A};
  *b = (struct bench){.device = device, .queue = queue, .blocks = BLOCKS_EACH * device->info.compute_units};
  b->sum_bytes = (size_t)b->blocks * FRAGMENT_THREADS * sizeof(uint32_t);
  b->expected = malloc(b->sum_bytes);
  b->found = malloc(b->sum_bytes);
  if (!b->expected || !b->found) return log_fail(STATUS_ENVIRONMENT, "out of host memory for sums");
  RETURN_IF_FAILED(gpu_event_create(device, &b->begin));
  RETURN_IF_FAILED(gpu_event_create(device, &b->end));
  RETURN_IF_FAILED(gpu_alloc(device, FRAGMENT_WINDOW * sizeof(uint16_t), &b->matrices));
  RETURN_IF_FAILED(gpu_alloc(device, sizeof b->known, &b->map));
  RETURN_IF_FAILED(gpu_alloc(device, b->sum_bytes, &b->sums));
  RETURN_IF_FAILED(map_measure(device, queue, &kind, &b->known));
  RETURN_IF_FAILED(gpu_copy_in(queue, b->map, 0, &b->known, sizeof b->known));
  return window_fill(b);
}

/* All rounds of all loads must have read the same: the first one's sums are kept. */
static status_t sums_compare(struct bench *b, enum fragment_load how, int first)
{
  uint32_t *to = first ? b->expected : b->found;
  RETURN_IF_FAILED(gpu_copy_out(b->queue, to, b->sums, 0, b->sum_bytes));
  RETURN_IF_FAILED(gpu_sync(b->queue));
  if (first || memcmp(b->expected, b->found, b->sum_bytes) == 0) return STATUS_OK;
  return log_fail(STATUS_WRONG, "loads %s: WRONG, other elements than load_matrix_sync's were read",
                  load_names[how]);
}

/* Fastest of some rounds, in seconds. */
static status_t load_time(struct bench *b, enum fragment_load how, int shared, double *seconds)
{
  const struct fragment_load_job job = {.how = how,
                                        .shared = shared,
                                        .blocks = b->blocks,
                                        .turns = TURNS,
                                        .matrices = b->matrices.handle,
                                        .map = b->map.handle,
                                        .sums = b->sums.handle};
  double best = INFINITY, one;
  for (int round = 0; round < ROUNDS; round++) {
    RETURN_IF_FAILED(gpu_clear(b->queue, b->sums, 0, b->sum_bytes));
    RETURN_IF_FAILED(gpu_record(b->begin, b->queue));
    RETURN_IF_FAILED(cuda_check(fragment_load_run(&job, cuda_queue_handle(b->queue)), "fragment loads"));
    RETURN_IF_FAILED(gpu_record(b->end, b->queue));
    RETURN_IF_FAILED(gpu_sync(b->queue));
    RETURN_IF_FAILED(gpu_elapsed(b->begin, b->end, &one));
    RETURN_IF_FAILED(sums_compare(b, how, how == FRAGMENT_LOAD_WMMA && round == 0));
    best = fmin(best, one);
  }
  *seconds = best;
  return STATUS_OK;
}

static int map_has_pairs(const struct fragment_map *map)
{
  for (int lane = 0; lane < FRAGMENT_LANES; lane++)
    for (int i = 0; i < map->elements; i += 2)
      if (map->at[lane][i] % 2 || map->at[lane][i + 1] != map->at[lane][i] + 1) return 0;
  return 1;
}

static status_t place_study(struct bench *b, int shared, FILE *out)
{
  double wmma = 0, fragments = (double)b->blocks * FRAGMENT_THREADS / 32 * TURNS;
  fprintf(out, "\n  from %s memory\n", shared ? "shared" : "device");
  for (int how = 0; how < FRAGMENT_LOADS; how++) {
    double seconds = 0;
    if (how == FRAGMENT_LOAD_PAIRS && !map_has_pairs(&b->known)) {
      fprintf(out, "    %-17s not on this chip: pairs of a lane's elements are no neighbours\n",
              load_names[how]);
      continue;
    }
    RETURN_IF_FAILED(load_time(b, (enum fragment_load)how, shared, &seconds));
    if (how == FRAGMENT_LOAD_WMMA) wmma = seconds;
    fprintf(out,
            "    %-17s %7.2f ns a fragment and multiprocessor, %7.1f GB/s, %.2f of load_matrix_sync's time\n",
            load_names[how], 1e9 * seconds / fragments * b->device->info.compute_units,
            FRAGMENT_KIB * 1024 * fragments / seconds * 1e-9, seconds / wmma);
  }
  return STATUS_OK;
}

status_t gemm_study_loads(struct gpu_device *device, struct gpu_queue *queue, FILE *out)
{
  struct bench b = {0};
  status_t status;
  RETURN_IF_FAILED(chip_check(device));
  TRY(bench_open(&b, device, queue), done);
  fprintf(out,
          "\nLoads of a 16x16 matrix_a fragment, stored by rows: %d blocks of %d threads, %d loads a warp, "
          "each from\n"
          "another of %d matrices; what was read is added up and compared\n",
          b.blocks, FRAGMENT_THREADS, TURNS, FRAGMENT_WINDOW / 256);
  for (int shared = 1; shared >= 0; shared--) TRY(place_study(&b, shared, out), done);
done:
  bench_close(&b);
  return status;
}
