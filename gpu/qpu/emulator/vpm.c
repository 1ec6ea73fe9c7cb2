/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/vpm.h"

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

static void advance(struct qpu_vpm_access *access)
{
  access->address = (uint8_t)(access->address + access->stride);
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
  advance(access);
}

void qpu_vpm_write(struct qpu_vpm *vpm, struct qpu_vpm_access *access, const qpu_vec *in)
{
  unsigned bytes = 1u << access->size;
  for (unsigned lane = 0; lane < QPU_LANES; lane++) {
    uint8_t *at = &vpm->bytes[lane_offset(access, lane)];
    for (unsigned b = 0; b < bytes; b++) at[b] = (uint8_t)((*in)[lane] >> 8 * b);
  }
  advance(access);
}
