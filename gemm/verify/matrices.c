/* SPDX-License-Identifier: MIT */
#include "gemm/verify/matrices.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"

/* Bytes per transfer when A and B are fetched for comparison. If beta is 0, C is reset by copying
 * this many bytes to the device, which replicates them if its backend has such copies. */
#define PIECE ((size_t)8 << 20)

uint64_t gemm_matrices_bytes(const struct gemm_problem *p)
{
  uint64_t bytes = 0;
  for (int matrix = 0; matrix < GEMM_MATRICES; matrix++) bytes += gemm_bytes(p, matrix);
  return bytes;
}

static struct gpu_mem *device_matrix(struct gemm_matrices *m, enum gemm_matrix matrix)
{
  struct gpu_mem *all[] = {&m->on.a, &m->on.b, &m->on.c};
  return all[matrix];
}

static status_t matrix_open(struct gemm_matrices *m, enum gemm_matrix matrix, enum gemm_data data,
                            uint64_t seed, const struct gemm_place *places)
{
  size_t bytes = gemm_bytes(&m->problem, matrix);
  if (!(m->host[matrix] = malloc(bytes)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for a matrix of %s", report_bytes(bytes));
  gemm_data_fill(&m->problem, matrix, data, seed, places ? &places[matrix] : NULL, m->host[matrix]);
  if (places && matrix != GEMM_C) return STATUS_OK;
  RETURN_IF_FAILED(gpu_alloc(m->device, bytes, device_matrix(m, matrix)));
  return gpu_copy_in(m->queue, *device_matrix(m, matrix), 0, m->host[matrix], bytes);
}

status_t gemm_matrices_open(struct gemm_matrices *m, struct gpu_device *device, struct gpu_queue *queue,
                            const struct gemm_problem *problem, enum gemm_data data, uint64_t seed,
                            const struct gemm_place *places)
{
  *m = (struct gemm_matrices){.device = device, .queue = queue, .problem = *problem};
  for (int matrix = 0; matrix < GEMM_MATRICES; matrix++)
    RETURN_IF_FAILED(matrix_open(m, matrix, data, seed, places));
  size_t bytes = gemm_bytes(problem, GEMM_C);
  RETURN_IF_FAILED(gpu_alloc_host(device, bytes > PIECE ? bytes : PIECE, GPU_HOST_PINNED, &m->out));
  return gpu_sync(queue);
}

void gemm_matrices_close(struct gemm_matrices *m)
{
  for (int matrix = 0; matrix < GEMM_MATRICES; matrix++) {
    gpu_free(m->device, device_matrix(m, matrix));
    free(m->host[matrix]);
  }
  gpu_free_host(m->device, GPU_HOST_PINNED, m->out);
  memset(m, 0, sizeof *m);
}

/* Restores C on the device. If beta is 0, C has only one value, and a piece of it is replicated. */
status_t gemm_matrices_reset(struct gemm_matrices *m)
{
  const size_t bytes = gemm_bytes(&m->problem, GEMM_C);
  size_t at = m->problem.beta == 0 && m->device->backend->sharing.copy && bytes > PIECE ? PIECE : bytes;
  RETURN_IF_FAILED(gpu_copy_in(m->queue, m->on.c, 0, m->host[GEMM_C], at));
  for (size_t some; at < bytes; at += some) {
    some = bytes - at < at ? bytes - at : at;
    RETURN_IF_FAILED(gpu_copy(m->queue, m->on.c, at, m->on.c, 0, some));
  }
  return STATUS_OK;
}

int gemm_same_bits(const void *x, const void *y, size_t bytes)
{
  int differ = 0;
#pragma omp parallel for schedule(static) reduction(| : differ) if (bytes >= PIECE)
  for (size_t at = 0; at < bytes; at += PIECE / 64)
    differ |= memcmp((const char *)x + at, (const char *)y + at,
                     bytes - at < PIECE / 64 ? bytes - at : PIECE / 64) != 0;
  return !differ;
}

void gemm_copy_bits(void *to, const void *from, size_t bytes)
{
#pragma omp parallel for schedule(static) if (bytes >= PIECE)
  for (size_t at = 0; at < bytes; at += PIECE / 64)
    memcpy((char *)to + at, (const char *)from + at, bytes - at < PIECE / 64 ? bytes - at : PIECE / 64);
}

status_t gemm_matrices_fetch(struct gemm_matrices *m, void *out)
{
  return gpu_read(m->queue, out, m->on.c, 0, gemm_bytes(&m->problem, GEMM_C));
}

static status_t piece_wrong(const struct gemm_matrices *m, enum gemm_matrix matrix, size_t at,
                            const unsigned char *piece)
{
  const struct gemm_problem *p = &m->problem;
  const unsigned char *host = m->host[matrix];
  size_t bytes = gemm_element_bytes(p, matrix), byte = 0;
  while (piece[byte] == host[at + byte]) byte++;
  int64_t element = (int64_t)((at + byte) / bytes), now = (int64_t)(byte / bytes);
  return log_fail(
      STATUS_WRONG,
      "%c changed in device memory: at stored row %" PRId64 ", column %" PRId64 " it is %.*g, must be %.*g",
      "ABC"[matrix], element / p->ld[matrix], element % p->ld[matrix], gemm_digits(p->type),
      gemm_operand_get(p->type, piece, now), gemm_digits(p->type), gemm_operand_get(p->type, host, element));
}

status_t gemm_matrices_check(struct gemm_matrices *m)
{
  for (enum gemm_matrix matrix = GEMM_A; matrix <= GEMM_B; matrix++) {
    size_t all = gemm_bytes(&m->problem, matrix);
    for (size_t at = 0, some; at < all; at += some) {
      some = all - at < PIECE ? all - at : PIECE;
      RETURN_IF_FAILED(gpu_read(m->queue, m->out, *device_matrix(m, matrix), at, some));
      if (!gemm_same_bits(m->out, (const unsigned char *)m->host[matrix] + at, some))
        return piece_wrong(m, matrix, at, m->out);
    }
  }
  return STATUS_OK;
}
