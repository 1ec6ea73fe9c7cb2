/* SPDX-License-Identifier: MIT */
#include "gemm/kernels/qpu/qpu_sgemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gemm/kernels/qpu/sgemm_138_qpu.h"
#include "gemm/kernels/qpu/sgemm_67_qpu.h"
#include "gemm/kernels/qpu/sgemm_68_qpu.h"
#include "gemm/kernels/qpu/sgemm_72_qpu.h"
#include "gemm/kernels/qpu/sgemm_ctmu_qpu.h"
#include "gemm/kernels/qpu/sgemm_dot_qpu.h"
#include "gemm/kernels/qpu/sgemm_threads_qpu.h"
#include "gemm/kernels/qpu/sgemm_tmu1_qpu.h"
#include "gemm/kernels/qpu/sgemm_vertical_qpu.h"
#include "gpu/qpu/device.h"

#define MAX_PROGRAMS (2 * MAX_QPUS)
#define MAX_QPUS     QPU_DEVICE_QPUS
#define LANES        16
#define RECORD_WORDS 12
#define END_WORDS    2
#define MAX_A_STRIDE (1 << 24) /* maximum bytes between rows of A, limited by mul24 */

#define MOST_INSTRUCTIONS 20e6 /* products with more instructions are estimated from a part */
/* Size of the part of a larger product that is timed for the estimate: PART_ROUNDS tiles (rows, for
 * a dot product) per program, PART_COLUMNS columns for a dot product, and PART_DEPTH steps of q. */
#define PART_ROUNDS  8
#define PART_COLUMNS 64
#define PART_DEPTH   512

#define KERNEL(id, p, ...)                                                                                   \
  [qpu_sgemm_##id] = {#id, sgemm_##p, sgemm_##p##_words, sgemm_##p##_loop, sgemm_##p##_loop_end, __VA_ARGS__}

const struct qpu_sgemm_kernel qpu_sgemm_kernels[QPU_SGEMM_KERNELS] = {
    KERNEL(dot, dot, QPU_SGEMM_DOT, 1, 1, 1),
    KERNEL(138, 138, QPU_SGEMM_UNIFORM, 16, 64, 1),
    KERNEL(72, 72, QPU_SGEMM_UNIFORM, 16, 64, 1),
    KERNEL(68, 68, QPU_SGEMM_UNIFORM, 16, 64, 1),
    KERNEL(67, 67, QPU_SGEMM_UNIFORM, 16, 64, 1),
    KERNEL(tmu1, tmu1, QPU_SGEMM_TMU1, 48, 16, 1),
    KERNEL(ctmu, ctmu, QPU_SGEMM_UNIFORM, 16, 64, 1),
    KERNEL(vertical, vertical, QPU_SGEMM_UNIFORM, 16, 64, 1),
    KERNEL(threads, threads, QPU_SGEMM_THREADS, 16, 32, 2),
    KERNEL(half, threads, QPU_SGEMM_THREADS, 16, 32, 1),
};

#define MAX_C_STRIDE 65535 /* largest stride of a DMA load, in bytes */

/** The QPUs access C in the problem's own memory, or in a copy stored by rows or by tiles. */
enum c_place { C_IN_PLACE, C_IN_ROWS, C_IN_TILES };

/** The problem in the QPUs' memory: padded sizes, strides in bytes. */
struct sgemm_layout {
  const struct qpu_sgemm_kernel *kernel;
  const struct qpu_sgemm_problem *problem;
  /* padded sizes, without the additional elements that are loaded but not used */
  size_t p, q, r;
  uint32_t a, b, c, code, records; /* bus addresses */
  char *host_a, *host_b, *host_c, *host_records;
  uint32_t a_stride, b_stride, c_stride;
  enum c_place c_place;
  int n_programs;
};

enum sgemm_piece { PIECE_CODE, PIECE_A, PIECE_B, PIECE_C, PIECE_RECORDS, PIECES };

struct qpu_sgemm {
  struct gpu_device *device;
  size_t p, q, r;          /* size of the product */
  double estimate_seconds; /* estimate for one product, made in the first run; 0 before */
  struct sgemm_layout layout;
  struct gpu_mem memory[PIECES];
};

static size_t sgemm_round_up(size_t n, size_t multiple)
{
  return (n + multiple - 1) / multiple * multiple;
}

static status_t size_layout(struct sgemm_layout *l, size_t p, size_t q, size_t r)
{
  const struct qpu_sgemm_kernel *kernel = l->kernel;
  int dot = kernel->kind == QPU_SGEMM_DOT;
  if (p == 0 || q == 0 || r == 0)
    return log_fail(STATUS_USAGE, "matrices of %zu x %zu by %zu x %zu: every size must be 1 at least", p, q,
                    q, r);
  l->p = sgemm_round_up(p, kernel->tile_rows);
  l->r = sgemm_round_up(r, kernel->tile_columns);
  /* the rotated loop (see sgemm_67.qasm) runs at least twice */
  l->q = dot ? sgemm_round_up(q, LANES) : q < 2 ? 2 : q;
  size_t beyond = dot ? LANES : 1,
         /* the last iteration already looks up the next elements */
      inner = dot ? l->q + LANES : l->r;
  if ((l->q + beyond) * 4 >= MAX_A_STRIDE || inner * 4 >= UINT32_MAX)
    return log_fail(STATUS_USAGE, "rows of %zu and %zu numbers are longer than the QPU kernels can step over",
                    l->q, inner);
  l->a_stride = (uint32_t)((l->q + beyond) * 4);
  l->b_stride = (uint32_t)(inner * 4);
  return STATUS_OK;
}

static size_t count_tiles(const struct sgemm_layout *l)
{
  return l->p / l->kernel->tile_rows * (l->r / l->kernel->tile_columns);
}

static status_t allocate(struct qpu_sgemm *s)
{
  struct sgemm_layout *l = &s->layout;
  const int dot = l->kernel->kind == QPU_SGEMM_DOT, ahead = l->kernel->kind == QPU_SGEMM_TMU1;
  const size_t words = count_tiles(l) * (RECORD_WORDS + 1) + MAX_PROGRAMS * (END_WORDS + 1) + 16;
  const size_t bytes[PIECES] = {l->kernel->n_words * 8, l->p * l->a_stride,
                                (dot ? l->r : l->q + ahead) * l->b_stride, l->p * l->r * 4,
                                dot ? MAX_PROGRAMS * 64 : words * 4};
  uint32_t *const addresses[PIECES] = {&l->code, &l->a, &l->b, &l->c, &l->records};
  for (int piece = 0; piece < PIECES; piece++) {
    RETURN_IF_FAILED(gpu_alloc(s->device, bytes[piece], &s->memory[piece]));
    RETURN_IF_FAILED(qpu_device_address(s->device, s->memory[piece].handle, addresses[piece]));
    memset(s->memory[piece].handle, 0, bytes[piece]); /* padding stays zero */
  }
  memcpy(s->memory[PIECE_CODE].handle, l->kernel->words, bytes[PIECE_CODE]);
  l->host_a = s->memory[PIECE_A].handle;
  l->host_b = s->memory[PIECE_B].handle;
  l->host_c = s->memory[PIECE_C].handle;
  l->host_records = s->memory[PIECE_RECORDS].handle;
  return STATUS_OK;
}

/* Uses C in place if possible: only with kernels that read B by the uniform stream, because these
 * take C's stride from a record. */
static status_t place_c(struct qpu_sgemm *s, const struct qpu_sgemm_problem *m)
{
  struct sgemm_layout *l = &s->layout;
  const struct qpu_sgemm_kernel *kernel = l->kernel;
  int uniform = kernel->kind == QPU_SGEMM_UNIFORM, rows = uniform && l->r * 4 <= MAX_C_STRIDE;
  int whole = m->p == l->p && m->r == l->r && m->ldc * 4 <= MAX_C_STRIDE;
  l->c_place = kernel->kind == QPU_SGEMM_DOT || rows ? C_IN_ROWS : C_IN_TILES;
  RETURN_IF_FAILED(qpu_device_address(s->device, l->host_c, &l->c));
  if (uniform && whole && qpu_device_holds(s->device, m->c, ((m->p - 1) * m->ldc + m->r) * 4)) {
    l->c_place = C_IN_PLACE;
    RETURN_IF_FAILED(qpu_device_address(s->device, m->c, &l->c));
  }
  size_t stride = l->c_place == C_IN_PLACE ? m->ldc : l->c_place == C_IN_ROWS ? l->r : kernel->tile_columns;
  l->c_stride = (uint32_t)stride * 4;
  return STATUS_OK;
}

/* Returns the address of an element of C in the QPUs' copy, which is stored by rows, or by tiles
 * whose elements are in row or column order. */
static float *element_of_c(const struct sgemm_layout *l, size_t i, size_t j)
{
  const struct qpu_sgemm_kernel *kernel = l->kernel;
  size_t rows = kernel->tile_rows, columns = kernel->tile_columns;
  float *base = (float *)l->host_c;
  if (l->c_place == C_IN_ROWS) return base + i * l->r + j;
  base += (i / rows * (l->r / columns) + j / columns) * rows * columns;
  if (kernel->kind == QPU_SGEMM_THREADS) return base + j % columns * rows + i % rows;
  return base + i % rows * columns + j % columns;
}

/* Copies C to the QPUs' memory, or, if \a out, from there back to the problem's own memory. */
static void copy_c(const struct sgemm_layout *l, int out)
{
  const struct qpu_sgemm_problem *m = l->problem;
  for (size_t i = 0; i < m->p; i++)
    for (size_t j = 0; j < m->r; j++) {
      float *here = &m->c[i * m->ldc + j], *there = element_of_c(l, i, j);
      if (out)
        *here = *there;
      else
        *there = *here;
    }
}

/* Copies a matrix to rows at \a to. If \a transposed, it is stored by columns at \a from. */
static void copy_matrix(char *to, uint32_t stride, const float *from, size_t ld, size_t rows, size_t columns,
                        int transposed)
{
  for (size_t i = 0; i < rows; i++) {
    float *row = (float *)(to + i * stride);
    if (!transposed) memcpy(row, from + i * ld, columns * 4);
    for (size_t j = 0; transposed && j < columns; j++) row[j] = from[j * ld + i];
  }
}

/* Copies the matrices to the QPUs' memory. The dot product reads columns of B, so they are stored
 * as rows. If beta is 0, C is cleared, because its old contents must not matter. */
static void sgemm_copy_in(const struct sgemm_layout *l)
{
  const struct qpu_sgemm_problem *m = l->problem;
  int b_by_columns = l->kernel->kind == QPU_SGEMM_DOT;
  copy_matrix(l->host_a, l->a_stride, m->a, m->lda, m->p, m->q, m->trans_a);
  if (b_by_columns)
    copy_matrix(l->host_b, l->b_stride, m->b, m->ldb, m->r, m->q, !m->trans_b);
  else
    copy_matrix(l->host_b, l->b_stride, m->b, m->ldb, m->q, m->r, m->trans_b);
  if (l->c_place == C_IN_PLACE) {
    for (size_t i = 0; m->beta == 0 && i < m->p; i++) memset(m->c + i * m->ldc, 0, m->r * 4);
    return;
  }
  memset(l->host_c, 0, l->p * l->r * 4);
  if (m->beta != 0) copy_c(l, 0);
}

static uint32_t sgemm_bits(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/** Values for a tile's record; each kernel stores them in its own order. */
struct tile {
  uint32_t a, b, c, next, coefficients, record, program;
};

/* Writes a tile's record as sgemm.qinc defines it. */
static void write_uniform_record(const struct sgemm_layout *l, const struct tile *tile, uint32_t *record)
{
  const uint32_t words[] = {l->a_stride,
                            tile->a,
                            tile->b,
                            l->b_stride,
                            (uint32_t)l->q,
                            tile->c,
                            tile->next,
                            tile->coefficients,
                            9u << 28 | l->c_stride,
                            3u << 30 | (l->c_stride - LANES * 4)};
  memcpy(record, words, sizeof words);
}

/* Writes a tile's record as sgemm_tmu1.qasm defines it. */
static void write_tmu1_record(const struct sgemm_layout *l, const struct tile *tile, uint32_t *record)
{
  const uint32_t words[] = {l->a_stride,
                            tile->a,
                            LANES * l->a_stride,
                            tile->b,
                            l->b_stride,
                            (uint32_t)l->q,
                            tile->c,
                            sgemm_bits(l->problem->alpha),
                            sgemm_bits(l->problem->beta),
                            tile->next};
  memcpy(record, words, sizeof words);
}

/* Writes a tile's record as sgemm_threads.qasm defines it. */
static void write_threads_record(const struct sgemm_layout *l, const struct tile *tile, uint32_t *record)
{
  const uint32_t words[] = {l->a_stride,
                            tile->a,
                            tile->b,
                            l->b_stride,
                            (uint32_t)l->q,
                            tile->record + 6 * 4,
                            sgemm_bits(l->problem->alpha),
                            sgemm_bits(l->problem->beta),
                            tile->c,
                            2u << 30 | 1u << 23 | (uint32_t)LANES << 16 | 1u << 14 | tile->program << 7,
                            1u << 12 | 1u << 11 | 2u << 8 | tile->program,
                            tile->next};
  memcpy(record, words, sizeof words);
}

static void write_record(const struct sgemm_layout *l, size_t number, struct tile tile, uint32_t *record)
{
  size_t rows = l->kernel->tile_rows, columns = l->kernel->tile_columns, across = l->r / columns;
  tile.a = l->a + (uint32_t)(number / across * rows) * l->a_stride;
  tile.b = l->b + (uint32_t)(number % across * columns * 4);
  tile.c = l->c_place == C_IN_TILES ? l->c + (uint32_t)(number * rows * columns * 4)
                                    : l->c + (uint32_t)(number / across * rows) * l->c_stride +
                                          (uint32_t)(number % across * columns * 4);
  if (l->kernel->kind == QPU_SGEMM_TMU1)
    write_tmu1_record(l, &tile, record);
  else if (l->kernel->kind == QPU_SGEMM_THREADS)
    write_threads_record(l, &tile, record);
  else
    write_uniform_record(l, &tile, record);
}

/* Assigns the tiles n, n + programs, … to program n, as a chain of records that ends in its end
 * record. */
static void write_tiles(struct sgemm_layout *l, struct qpu_job *jobs)
{
  uint32_t *words = (uint32_t *)l->host_records;
  size_t n_tiles = count_tiles(l), ends = n_tiles * RECORD_WORDS, starts = ends + MAX_PROGRAMS * END_WORDS,
         pair = starts + MAX_PROGRAMS;
  uint32_t at = l->records, programs = (uint32_t)l->n_programs;
  words[pair] = sgemm_bits(l->problem->alpha);
  words[pair + 1] = sgemm_bits(l->problem->beta);
  for (size_t tile = 0; tile < n_tiles; tile++) {
    size_t following = tile + programs, mine = tile % programs;
    uint32_t next = following < n_tiles ? at + (uint32_t)(following * RECORD_WORDS * 4)
                                        : at + (uint32_t)((ends + mine * END_WORDS) * 4) + 1;
    struct tile about = {.next = next,
                         .coefficients = at + (uint32_t)(pair * 4),
                         .record = at + (uint32_t)(tile * RECORD_WORDS * 4),
                         .program = (uint32_t)mine};
    write_record(l, tile, about, &words[tile * RECORD_WORDS]);
  }
  for (uint32_t n = 0; n < programs; n++) {
    words[ends + n * END_WORDS] = n;
    words[ends + n * END_WORDS + 1] = programs - 1;
    words[starts + n] = at + n * RECORD_WORDS * 4;
    jobs[n] = (struct qpu_job){l->code, at + (uint32_t)(starts + n) * 4};
  }
}

/* Assigns the rows n, n + programs, … to program n. */
static void write_rows(struct sgemm_layout *l, struct qpu_job *jobs)
{
  uint32_t programs = (uint32_t)l->n_programs;
  for (uint32_t n = 0; n < programs; n++) {
    uint32_t address = l->records + n * 64, *u = (uint32_t *)(l->host_records + n * 64);
    const uint32_t uniforms[13] = {l->a + n * l->a_stride,
                                   programs * l->a_stride,
                                   l->b,
                                   l->b_stride,
                                   l->c + n * l->c_stride,
                                   programs * l->c_stride,
                                   ((uint32_t)l->p - n + programs - 1) / programs,
                                   (uint32_t)l->r,
                                   (uint32_t)(l->q / LANES),
                                   sgemm_bits(l->problem->alpha),
                                   sgemm_bits(l->problem->beta),
                                   n,
                                   programs - 1};
    memcpy(u, uniforms, sizeof uniforms);
    jobs[n] = (struct qpu_job){l->code, address};
  }
}

int qpu_sgemm_fits(const struct qpu_sgemm_kernel *kernel, const struct gpu_device *device,
                   char why[GPU_TEXT_MAX])
{
  if (kernel->threads == 1 || device->info.emulated) return 1;
  snprintf(why, GPU_TEXT_MAX, "needs two threads a QPU, which the firmware does not start");
  return 0;
}

status_t qpu_sgemm_open(struct gpu_device *device, const struct qpu_sgemm_kernel *kernel, size_t p, size_t q,
                        size_t r, struct qpu_sgemm **sgemm)
{
  status_t status;
  struct qpu_sgemm *s = calloc(1, sizeof *s);
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a QPU product");
  s->device = device;
  s->p = p;
  s->q = q;
  s->r = r;
  s->layout.kernel = kernel;
  TRY(size_layout(&s->layout, p, q, r), fail);
  TRY(allocate(s), fail);
  *sgemm = s;
  return STATUS_OK;
fail:
  qpu_sgemm_close(s);
  return status;
}

void qpu_sgemm_close(struct qpu_sgemm *s)
{
  if (!s) return;
  for (int piece = 0; piece < PIECES; piece++) gpu_free(s->device, &s->memory[piece]);
  free(s);
}

/* Returns the number of work items (tiles or rows) that the programs divide among them. */
static size_t sgemm_parts(const struct sgemm_layout *l)
{
  return l->kernel->kind == QPU_SGEMM_DOT ? l->p : count_tiles(l);
}

static status_t programs_run(struct qpu_sgemm *s, int n_qpus)
{
  struct sgemm_layout *l = &s->layout;
  struct qpu_job jobs[MAX_PROGRAMS] = {{0}};
  int most = n_qpus * l->kernel->threads;
  size_t parts = sgemm_parts(l);
  l->n_programs = parts < (size_t)most ? (int)parts : most;
  if (l->kernel->kind == QPU_SGEMM_DOT)
    write_rows(l, jobs);
  else
    write_tiles(l, jobs);
  return qpu_device_run(s->device, jobs, l->n_programs, l->kernel->threads);
}

/* Returns how many instructions the innermost loop executes, which are nearly all of a product. */
static double instructions(const struct sgemm_layout *l)
{
  const struct qpu_sgemm_kernel *kernel = l->kernel;
  double rounds = (double)count_tiles(l) * (double)l->q / (kernel->kind == QPU_SGEMM_DOT ? LANES : 1);
  return rounds * (kernel->loop_end - kernel->loop) / 8;
}

static status_t programs_time(struct qpu_sgemm *s, int n_qpus, double *seconds)
{
  struct qpu_emu *emu = qpu_device_emulator(s->device);
  RETURN_IF_FAILED(qpu_emu_estimate(emu, &qpu_cost_pi));
  status_t status = programs_run(s, n_qpus);
  *seconds = qpu_emu_seconds(emu);
  (void)qpu_emu_estimate(emu, NULL);
  return status;
}

static void sgemm_shrink(size_t *extent, size_t most)
{
  if (*extent > most) *extent = most;
}

static double sgemm_rounds(const struct sgemm_layout *l, size_t programs)
{
  return (double)((sgemm_parts(l) + programs - 1) / programs);
}

/* Reduces the product to its beginning, with unchanged strides. Returns the ratio of the whole
 * product's time to the time of the beginning. */
static double sgemm_shorten(struct sgemm_layout *l, size_t programs)
{
  const struct sgemm_layout whole = *l;
  const size_t wide = l->kernel->tile_columns, high = l->kernel->tile_rows, parts = PART_ROUNDS * programs;
  if (l->kernel->kind == QPU_SGEMM_DOT) {
    sgemm_shrink(&l->p, parts);
    sgemm_shrink(&l->r, PART_COLUMNS);
  } else {
    sgemm_shrink(&l->r, parts * wide);
    sgemm_shrink(&l->p, sgemm_round_up(parts * wide, l->r) / l->r * high);
  }
  sgemm_shrink(&l->q, PART_DEPTH);
  double longer = sgemm_rounds(&whole, programs) / sgemm_rounds(l, programs);
  if (l->kernel->kind == QPU_SGEMM_DOT) longer *= (double)whole.r / (double)l->r;
  return longer * (double)whole.q / (double)l->q;
}

status_t qpu_sgemm_estimate(struct qpu_sgemm *s, int n_qpus, double *seconds)
{
  const struct qpu_sgemm_problem none = {.p = s->p, .q = s->q, .r = s->r, .alpha = 1, .ldc = s->r};
  const struct sgemm_layout whole = s->layout;
  const double call = qpu_cost_pi.launch_seconds;
  *seconds = 0;
  if (!qpu_device_emulator(s->device)) return STATUS_OK;
  s->layout.problem = &none;
  RETURN_IF_FAILED(place_c(s, &none));
  double part = 0, longer = sgemm_shorten(&s->layout, (size_t)(n_qpus * whole.kernel->threads));
  status_t status = programs_time(s, n_qpus, &part);
  s->layout = whole;
  if (status == STATUS_OK) *seconds = call + (part - call) * longer;
  return status;
}

/* On an emulator, the first run also estimates the time of a product: its own modelled time or, for
 * a long product, an extrapolation from the first tiles. */
status_t qpu_sgemm_run(struct qpu_sgemm *s, const struct qpu_sgemm_problem *problem, int n_qpus,
                       struct gemm_counts *counts)
{
  struct sgemm_layout *l = &s->layout;
  struct qpu_emu *emu = qpu_device_emulator(s->device);
  if (n_qpus < 1 || n_qpus > MAX_QPUS)
    return log_fail(STATUS_USAGE, "%d QPUs: there are 1 to %d", n_qpus, MAX_QPUS);
  int timed = emu && s->estimate_seconds == 0;
  if (timed && instructions(l) > MOST_INSTRUCTIONS) {
    RETURN_IF_FAILED(qpu_sgemm_estimate(s, n_qpus, &s->estimate_seconds));
    timed = 0;
  }
  l->problem = problem;
  RETURN_IF_FAILED(place_c(s, problem));
  sgemm_copy_in(l);
  RETURN_IF_FAILED(timed ? programs_time(s, n_qpus, &s->estimate_seconds) : programs_run(s, n_qpus));
  if (l->c_place != C_IN_PLACE) copy_c(l, 1);
  if (counts) *counts = (struct gemm_counts){0};
  if (counts && emu) {
    const struct qpu_emu_stats all = qpu_emu_stats(emu);
    *counts = (struct gemm_counts){.instructions = all.issued,
                                   .arithmetic = all.arithmetic,
                                   .flop = all.flops,
                                   .loop_iterations = qpu_emu_issued_at(emu, l->code + l->kernel->loop),
                                   .estimate_seconds = s->estimate_seconds};
  }
  return STATUS_OK;
}
