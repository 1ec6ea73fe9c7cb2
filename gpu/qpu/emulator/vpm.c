/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/vpm.h"

#include <stddef.h>
#include <string.h>

struct qpu_vpm_access qpu_vpm_access_of(uint32_t setup)
{
  struct qpu_vpm_access access = {.horizontal = setup >> 11 & 1,
                                  .stride = setup >> 12 & 63,
                                  .address = setup & 63,
                                  .left = setup >> 20 & 15};
  if (access.stride == 0) access.stride = 64;
  if (access.left == 0) access.left = 16;
  return access;
}

static uint32_t *lane_place(struct qpu_vpm *vpm, const struct qpu_vpm_access *access, int lane)
{
  return access->horizontal ? &vpm->words[access->address][lane]
                            : &vpm->words[(access->address & 0x30) + lane][access->address & 15];
}

void qpu_vpm_read(struct qpu_vpm *vpm, struct qpu_vpm_access *access, qpu_vec *out)
{
  for (int lane = 0; lane < QPU_LANES; lane++) (*out)[lane] = *lane_place(vpm, access, lane);
  access->left--;
  access->address = (access->address + access->stride) % QPU_VPM_ROWS;
}

void qpu_vpm_write(struct qpu_vpm *vpm, struct qpu_vpm_access *access, const qpu_vec *in)
{
  for (int lane = 0; lane < QPU_LANES; lane++) *lane_place(vpm, access, lane) = (*in)[lane];
  access->address = (access->address + access->stride) % QPU_VPM_ROWS;
}

/* Reads a count. Zero means the smallest number that does not fit in the field. */
static int vpm_count(uint32_t setup, int shift, int bits)
{
  int value = (int)(setup >> shift & ((1u << bits) - 1));
  return value ? value : 1 << bits;
}

int qpu_dma_rows(uint32_t setup, int store)
{
  return store ? vpm_count(setup, 23, 7) : vpm_count(setup, 16, 4);
}

int qpu_dma_row_bytes(uint32_t setup, int store)
{
  return 4 * (store ? vpm_count(setup, 16, 7) : vpm_count(setup, 20, 4));
}

int qpu_dma_block_differs(const struct qpu_dma *store)
{
  uint32_t setup = store->setup;
  int whole_rows = (setup >> 14 & 1) && (setup >> 3 & 15) == 0 && qpu_dma_row_bytes(setup, 1) == 64;
  return (store->stride >> 16 & 1) && qpu_dma_rows(setup, 1) > 1 && !whole_rows;
}

/* Returns the i-th word of a block that starts at a row and column and runs down a column or along
 * rows, or NULL outside the VPM. */
static uint32_t *vpm_place(struct qpu_vpm *vpm, int vertical, int row, int column, int i)
{
  row += vertical ? i : (column + i) / QPU_LANES;
  if (!vertical) column = (column + i) % QPU_LANES;
  return row < QPU_VPM_ROWS && column < QPU_LANES ? &vpm->words[row][column] : NULL;
}

static const char *const beyond = "DMA beyond the 64 rows of the VPM";
static const char *const narrow = "DMA of 8 and 16-bit elements is not emulated";

const char *qpu_dma_load(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm)
{
  uint32_t setup = dma->active_setup, pitch_code = setup >> 24 & 15;
  int rows = qpu_dma_rows(setup, 0), elements = vpm_count(setup, 20, 4), row_pitch = vpm_count(setup, 12, 4);
  uint32_t pitch = pitch_code ? 8u << pitch_code : dma->active_stride & 0xffff;
  if (setup >> 28 & 7) return narrow;
  for (int r = 0; r < rows; r++) {
    uint32_t address = dma->address + (uint32_t)r * pitch;
    if (!qpu_memory_ok(memory, address, (uint32_t)elements * 4))
      return "DMA load from memory outside every allocation";
    for (int i = 0; i < elements; i++) {
      uint32_t *to =
          vpm_place(vpm, setup >> 11 & 1, (int)(setup >> 4 & 127) + r * row_pitch, (int)(setup & 15), i);
      if (!to) return beyond;
      memcpy(to, (char *)qpu_memory_at(memory, address) + 4 * i, 4);
    }
  }
  return NULL;
}

const char *qpu_dma_store(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm)
{
  uint32_t setup = dma->active_setup, address = dma->address;
  int rows = qpu_dma_rows(setup, 1), elements = vpm_count(setup, 16, 7), vertical = !(setup >> 14 & 1);
  if (setup & 7) return narrow;
  if (setup >> 15 & 1) return "DMA store with the laned bit, which must be 0";
  for (int r = 0; r < rows; r++) {
    int row = (int)(setup >> 7 & 127) + (vertical ? 0 : r),
        column = (int)(setup >> 3 & 15) + (vertical ? r : 0);
    if (!qpu_memory_ok(memory, address, (uint32_t)elements * 4))
      return "DMA store to memory outside every allocation";
    for (int i = 0; i < elements; i++) {
      const uint32_t *from = vpm_place(vpm, vertical, row, column, i);
      if (!from) return beyond;
      memcpy((char *)qpu_memory_at(memory, address) + 4 * i, from, 4);
    }
    address += (uint32_t)elements * 4 + (dma->active_stride & 0xffff);
  }
  return NULL;
}
