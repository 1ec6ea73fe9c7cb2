/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/vpm.h"

#include <stddef.h>

struct qpu_vpm_access qpu_vpm_access_of(uint32_t setup)
{
  struct qpu_vpm_access access = {
      .size = setup >> 8 & 3,
      .laned = setup >> 10 & 1,
      .horizontal = setup >> 11 & 1,
      .stride = setup >> 12 & 63,
      .address = setup & 255,
      .left = setup >> 20 & 15,
  };
  if (access.stride == 0) access.stride = 64;
  if (access.left == 0) access.left = 16;
  return access;
}

/* Where a lane's element begins. Below the vector's address are one or two bits that choose a part
 * of it: the quarter or half of the words that packed elements fill, or the byte or half of every
 * word that laned ones take. */
static unsigned lane_offset(const struct qpu_vpm_access *access, unsigned lane)
{
  unsigned parts = access->size == 0 ? 4 : access->size == 1 ? 2 : 1;
  unsigned bytes = 4 / parts;
  unsigned part = access->address % parts, vector = access->address / parts % 64;
  unsigned word = access->laned || parts == 1 ? lane : part * (QPU_LANES / parts) + lane / parts;
  unsigned in_word = access->laned || parts == 1 ? part * bytes : lane % parts * bytes;
  unsigned row = access->horizontal ? vector : (vector & 0x30) + word;
  unsigned column = access->horizontal ? word : vector & 15;
  return row * 64 + column * 4 + in_word;
}

void qpu_vpm_read(const struct qpu_vpm *vpm, struct qpu_vpm_access *access, qpu_vec *out)
{
  unsigned bytes = 1u << access->size;
  for (unsigned lane = 0; lane < QPU_LANES; lane++) {
    const uint8_t *at = &vpm->bytes[lane_offset(access, lane)];
    uint32_t value = 0;
    for (unsigned b = 0; b < bytes; b++) value |= (uint32_t)at[b] << 8 * b;
    (*out)[lane] = value;
  }
  access->left--;
  access->address = (uint8_t)(access->address + access->stride);
}

void qpu_vpm_write(struct qpu_vpm *vpm, struct qpu_vpm_access *access, const qpu_vec *in)
{
  unsigned bytes = 1u << access->size;
  for (unsigned lane = 0; lane < QPU_LANES; lane++) {
    uint8_t *at = &vpm->bytes[lane_offset(access, lane)];
    for (unsigned b = 0; b < bytes; b++) at[b] = (uint8_t)((*in)[lane] >> 8 * b);
  }
  access->address = (uint8_t)(access->address + access->stride);
}

/* ---- DMA ---- */

/* Zero stands for the largest number that the field cannot hold. */
static int count(uint32_t setup, int shift, int bits)
{
  int value = (int)(setup >> shift & ((1u << bits) - 1));
  return value ? value : 1 << bits;
}

int qpu_dma_rows(uint32_t setup, int store)
{
  return store ? count(setup, 23, 7) : count(setup, 16, 4);
}

static int width_of(uint32_t mode)
{
  return mode == 0 ? 4 : mode < 4 ? 2 : 1;
}

int qpu_dma_row_bytes(uint32_t setup, int store)
{
  return store ? count(setup, 16, 7) * width_of(setup & 7) : count(setup, 20, 4) * width_of(setup >> 28 & 7);
}

int qpu_dma_block_differs(const struct qpu_dma *store)
{
  uint32_t setup = store->setup;
  int whole_rows =
      (setup >> 14 & 1) && (setup >> 3 & 15) == 0 && count(setup, 16, 7) * width_of(setup & 7) == 64;
  return (store->stride >> 16 & 1) && qpu_dma_rows(setup, 1) > 1 && !whole_rows;
}

/** A block in the VPM: where its elements lie. */
struct block {
  int bytes; /* of an element */
  int vertical;
  int row, column;
};

/* The place of the byte that lies `along` bytes on from the block's start, or NULL outside the
 * VPM. */
static uint8_t *place(uint8_t *vpm, const struct block *block, int along)
{
  int row = block->row, column_byte = block->column * 4;
  if (block->vertical) {
    row += along / 4;
    column_byte += along % 4;
  } else {
    row += (column_byte + along) / 64;
    column_byte = (column_byte + along) % 64;
  }
  if (row < 0 || row >= QPU_VPM_ROWS || column_byte >= 64) return NULL;
  return vpm + row * 64 + column_byte;
}

/* Moves a row's bytes from the block's `skip` on. */
static const char *move_row(const struct block *block, int skip, int bytes, uint8_t *vpm, uint8_t *memory,
                            int store)
{
  for (int i = 0; i < bytes; i++) {
    uint8_t *in_vpm = place(vpm, block, skip + i);
    if (!in_vpm) return "DMA beyond the 64 rows of the VPM";
    if (store)
      memory[i] = *in_vpm;
    else
      *in_vpm = memory[i];
  }
  return NULL;
}

const char *qpu_dma_load(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm)
{
  uint32_t setup = dma->active_setup, mode = setup >> 28 & 7;
  int rows = qpu_dma_rows(setup, 0), elements = count(setup, 20, 4), row_pitch = count(setup, 12, 4);
  uint32_t pitch_code = setup >> 24 & 15;
  uint32_t pitch = pitch_code ? 8u << pitch_code : dma->active_stride & 0xffff;
  int bytes = width_of(mode), parts = 4 / bytes;
  int part = (int)mode & (parts - 1), first = (int)(setup >> 4 & 127) * parts + part;
  struct block block = {.bytes = bytes, .vertical = (int)(setup >> 11 & 1)};
  for (int r = 0; r < rows; r++) {
    uint32_t address = dma->address + (uint32_t)r * pitch;
    int at = first + r * row_pitch, words_in = at % parts * (QPU_LANES / parts);
    block.row = at / parts + (block.vertical ? words_in : 0);
    block.column = (int)(setup & 15) + (block.vertical ? 0 : words_in);
    if (!qpu_memory_ok(memory, address, (uint32_t)(elements * bytes)))
      return "DMA load from memory outside every allocation";
    const char *error = move_row(&block, 0, elements * bytes, vpm->bytes, qpu_memory_at(memory, address), 0);
    if (error) return error;
  }
  return NULL;
}

const char *qpu_dma_store(const struct qpu_dma *dma, const struct qpu_memory *memory, struct qpu_vpm *vpm)
{
  uint32_t setup = dma->active_setup, mode = setup & 7, address = dma->address;
  int rows = qpu_dma_rows(setup, 1), elements = count(setup, 16, 7);
  if (mode == 1) return "DMA store with the reserved mode 1";
  if (setup >> 15 & 1) return "DMA store with the laned bit, which must be 0";
  struct block block = {.bytes = width_of(mode), .vertical = !(setup >> 14 & 1)};
  int row_bytes = elements * block.bytes,
      offset = (int)(mode & (uint32_t)(4 / block.bytes - 1)) * block.bytes;
  for (int r = 0; r < rows; r++) {
    block.row = (int)(setup >> 7 & 127) + (block.vertical ? 0 : r);
    block.column = (int)(setup >> 3 & 15) + (block.vertical ? r : 0);
    if (!qpu_memory_ok(memory, address, (uint32_t)row_bytes))
      return "DMA store to memory outside every allocation";
    const char *error = move_row(&block, offset, row_bytes, vpm->bytes, qpu_memory_at(memory, address), 1);
    if (error) return error;
    address += (uint32_t)row_bytes + (dma->active_stride & 0xffff);
  }
  return NULL;
}
