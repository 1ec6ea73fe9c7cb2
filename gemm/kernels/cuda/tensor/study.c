/* SPDX-License-Identifier: MIT */
/* Measures the layout of WMMA fragments: which lane holds which element. */
#include <string.h>

#include "base/log.h"
#include "gemm/kernels/cuda/tensor/fragment.h"
#include "gemm/kernels/cuda/tensor/study.h"
#include "gpu/cuda/cuda_device.h"

static status_t chip_check(struct gpu_device *device)
{
  const struct cudaDeviceProp *chip = &((const struct cuda_device *)device)->properties;
  if (chip->major >= 7) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "WMMA fragments need sm_70 or later, this is sm_%d%d (%s)", chip->major,
                  chip->minor, device->info.name);
}

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
  TRY(gpu_read(queue, map, on, 0, sizeof *map), done);
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

/* Sets *holders to the number of lanes that hold an element, which must be the same for all
 * elements. */
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
                      "fragment %s: row %d, column %d is held %d times, but row 0, column 0 %d times",
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

/* Prints the layouts for storage by rows and by columns, or only one if both are equal. */
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
  int equal = memcmp(&maps[0], &maps[1], sizeof maps[0]) == 0;
  for (int major = 0; major < 2 - equal; major++) {
    fprintf(out, "\n  %s, %dx%dx16, %s: %d elements a lane, each element in %d place%s\n", uses[use],
            fragment_shapes[shape][0], fragment_shapes[shape][1],
            equal ? "stored by rows or by columns alike" : majors[major], maps[major].elements,
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
