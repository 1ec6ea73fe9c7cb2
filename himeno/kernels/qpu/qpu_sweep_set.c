/* SPDX-License-Identifier: MIT */
/* QPU kernels: columns of 16 points along k, marched along i, are distributed over 12 programs. The
 * QPU rounds toward zero and flushes denormals, so a field is bitwise equal to that of
 * himeno_kernel_toward_zero, not to that of the IEEE backends. The host, which sees the same
 * memory, fills initial data and computes checksums. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/device.h"
#include "himeno/kernels/kernels.h"
#include "himeno/kernels/qpu/ceiling_qpu.h"
#include "himeno/kernels/qpu/naive_qpu.h"
#include "himeno/kernels/qpu/sweep_qpu.h"

#define LANES          16
#define PROGRAMS       QPU_DEVICE_QPUS
#define CONSTANT_WORDS 20
#define PASS_WORDS     3
#define END_WORDS      4
#define CEILING_WORDS  (HIMENO_ARRAYS + 7)
#define VPM_ROW_SETUP  (1u << 12 | 1u << 11 | 2u << 8) /* VPM set-up: 32-bit words along a row */

struct qpu_program_words {
  const uint64_t *words;
  size_t n_words;
};

static const struct qpu_program_words naive_program = {naive, naive_words},
                                      stream_program = {sweep, sweep_words},
                                      ceiling_program = {ceiling, ceiling_words};

static const struct himeno_kernel kernels[] = {
    {.name = "naive",
     .step = "load every neighbour when it is used",
     .sweeps = 1,
     .rung = 1,
     .toward_zero = 1,
     .variant = &naive_program},
    {.name = "stream",
     .step = "load each vector once for three planes, four loads ahead on both TMUs",
     .sweeps = 1,
     .rung = 2,
     .standard = 1,
     .toward_zero = 1,
     .variant = &stream_program},
};

/* A long box's time is estimated from a part of it with at most this many points. */
#define MOST_POINTS  131072
#define LEAST_PASSES (4 * PROGRAMS)

struct qpu_exec {
  struct gpu_device *device;
  struct himeno_fields fields;
  struct himeno_exec *host; /* kernels on the host, which fill arrays and compute checksums */
  struct gpu_mem sweep_code, ceiling_code, uniforms, sums;
  uint32_t sweep_at, ceiling_at, uniforms_at, sums_at; /* bus addresses */
  uint32_t coefficient[HIMENO_COEFFICIENTS], p[2];
  struct himeno_counts counts;
};

static int64_t vectors(const struct box *box)
{
  return (box_extent(box, 2) + LANES - 1) / LANES;
}

static int64_t passes(const struct box *box)
{
  return box_extent(box, 1) * vectors(box);
}

static status_t code_load(struct qpu_exec *x, const struct qpu_program_words *program, struct gpu_mem *code,
                          uint32_t *address)
{
  RETURN_IF_FAILED(gpu_alloc(x->device, program->n_words * sizeof *program->words, code));
  memcpy(code->handle, program->words, code->bytes);
  return qpu_device_address(x->device, code->handle, address);
}

/* Allocates the sums of squares, and memory for the uniforms of any box and the ceiling kernel. */
static status_t buffers_alloc(struct qpu_exec *x)
{
  const int64_t *extent = x->fields.layout.extent;
  size_t most = (size_t)(extent[1] * ((extent[2] + LANES - 1) / LANES)) * PASS_WORDS +
                PROGRAMS * (CONSTANT_WORDS + END_WORDS + CEILING_WORDS);
  RETURN_IF_FAILED(gpu_alloc(x->device, most * sizeof(uint32_t), &x->uniforms));
  RETURN_IF_FAILED(gpu_alloc(x->device, PROGRAMS * LANES * sizeof(float), &x->sums));
  RETURN_IF_FAILED(qpu_device_address(x->device, x->uniforms.handle, &x->uniforms_at));
  return qpu_device_address(x->device, x->sums.handle, &x->sums_at);
}

static status_t addresses_find(struct qpu_exec *x)
{
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++)
    RETURN_IF_FAILED(qpu_device_address(x->device, x->fields.coefficient[m].handle, &x->coefficient[m]));
  for (int n = 0; n < 2; n++)
    RETURN_IF_FAILED(qpu_device_address(x->device, x->fields.p[n].handle, &x->p[n]));
  return STATUS_OK;
}

static void qpu_sweep_close(struct himeno_exec *exec)
{
  struct qpu_exec *x = (struct qpu_exec *)exec;
  if (!x) return;
  gpu_free(x->device, &x->sums);
  gpu_free(x->device, &x->uniforms);
  gpu_free(x->device, &x->ceiling_code);
  gpu_free(x->device, &x->sweep_code);
  himeno_kernels_cpu.close(x->host);
  free(x);
}

static status_t qpu_sweep_open(struct gpu_device *device, const struct himeno_fields *fields,
                               const struct himeno_kernel *kernel, struct himeno_exec **exec)
{
  status_t status;
  struct qpu_exec *x = calloc(1, sizeof *x);
  if (!x) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the QPU kernels");
  x->device = device;
  x->fields = *fields;
  TRY(himeno_kernels_cpu.open(device, fields, &himeno_kernel_toward_zero, &x->host), fail);
  TRY(code_load(x, kernel->variant, &x->sweep_code, &x->sweep_at), fail);
  TRY(code_load(x, &ceiling_program, &x->ceiling_code, &x->ceiling_at), fail);
  TRY(buffers_alloc(x), fail);
  TRY(addresses_find(x), fail);
  *exec = (struct himeno_exec *)x;
  return STATUS_OK;
fail:
  qpu_sweep_close((struct himeno_exec *)x);
  return status;
}

static status_t qpu_fill(struct himeno_exec *exec, struct gpu_queue *queue, enum himeno_array array,
                         enum himeno_data data)
{
  struct qpu_exec *x = (struct qpu_exec *)exec;
  return himeno_kernels_cpu.fill(x->host, queue, array, data);
}

static status_t qpu_checksum(struct himeno_exec *exec, struct gpu_queue *queue, const struct gpu_mem *arrays,
                             int n, const struct box *box, uint64_t *sum)
{
  struct qpu_exec *x = (struct qpu_exec *)exec;
  return himeno_kernels_cpu.checksum(x->host, queue, arrays, n, box, sum);
}

static uint32_t store_setup(uint32_t lanes, int row)
{
  return 0x80000000u | 1u << 23 | lanes << 16 | 1u << 14 | (uint32_t)row << 7;
}

static uint32_t qpu_sweep_bits(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Writes constants in the order of sweep.qasm, which reads coefficients in the order of the
 * expression. */
static uint32_t *write_constants(const struct qpu_exec *x, const struct himeno_sweep *sweep, int n,
                                 int64_t n_passes, uint32_t *u)
{
  static const enum himeno_array order[] = {HIMENO_A0, HIMENO_A1,   HIMENO_A2, HIMENO_B0,
                                            HIMENO_B1, HIMENO_B2,   HIMENO_C0, HIMENO_C1,
                                            HIMENO_C2, HIMENO_WRK1, HIMENO_A3, HIMENO_BND};
  const struct layout *layout = &x->fields.layout;
  uint32_t row = (uint32_t)layout->pitch * 4, plane = (uint32_t)layout->plane * 4;
  for (size_t c = 0; c < sizeof order / sizeof order[0]; c++) *u++ = x->coefficient[order[c]];
  *u++ = x->p[sweep->source] + plane;
  *u++ = x->p[1 - sweep->source];
  *u++ = plane;
  *u++ = row;
  *u++ = qpu_sweep_bits(HIMENO_OMEGA);
  *u++ = (uint32_t)box_extent(&sweep->box, 0);
  *u++ = VPM_ROW_SETUP | (uint32_t)n;
  *u++ = (uint32_t)n_passes;
  return u;
}

/* Writes the uniforms of program n of \a used, which does passes n, n + used, …: see sweep.qasm. */
static uint32_t *write_uniforms(const struct qpu_exec *x, const struct himeno_sweep *sweep, int n, int used,
                                uint32_t *u)
{
  const struct layout *layout = &x->fields.layout;
  const struct box *b = &sweep->box;
  int64_t all = passes(b);
  u = write_constants(x, sweep, n, (all - n + used - 1) / used, u);
  for (int64_t pass = n; pass < all; pass += used) {
    int64_t j = b->lo[1] + pass / vectors(b), k = b->lo[2] + pass % vectors(b) * LANES;
    uint32_t lanes = b->hi[2] - k < LANES ? (uint32_t)(b->hi[2] - k) : LANES;
    *u++ = lanes - 1;
    *u++ = (uint32_t)((b->lo[0] * layout->plane + j * layout->pitch + k) * 4);
    *u++ = store_setup(lanes, n);
  }
  *u++ = store_setup(LANES, n);
  *u++ = x->sums_at + (uint32_t)n * LANES * 4;
  *u++ = (uint32_t)n;
  *u++ = (uint32_t)used - 1;
  return u;
}

static void counts_add(struct qpu_exec *x, const struct box *box)
{
  struct qpu_emu *emu = qpu_device_emulator(x->device);
  if (!emu) return;
  struct qpu_emu_stats stats = qpu_emu_stats(emu);
  x->counts.points += (uint64_t)box_points(box);
  x->counts.instructions += stats.issued;
  x->counts.arithmetic += stats.arithmetic;
  x->counts.flop += stats.flops;
  for (int s = 0; s < QPU_N_STALLS; s++) x->counts.stalls += stats.stalls[s];
}

/* Writes the jobs of a sweep. Returns their number. */
static int jobs_write(struct qpu_exec *x, const struct himeno_sweep *sweep, struct qpu_job jobs[PROGRAMS])
{
  uint32_t *first = x->uniforms.handle, *u = first;
  int64_t all = passes(&sweep->box);
  int used = all < PROGRAMS ? (int)all : PROGRAMS;
  for (int n = 0; n < used; n++) {
    jobs[n] = (struct qpu_job){x->sweep_at, x->uniforms_at + (uint32_t)(u - first) * 4};
    u = write_uniforms(x, sweep, n, used, u);
  }
  return used;
}

/* Shortens a long box to its first rows, as many as the programs share evenly. */
static void shorten(struct box *b)
{
  if (box_points(b) <= MOST_POINTS) return;
  while (box_extent(b, 1) > 1 && passes(b) > LEAST_PASSES &&
         (box_points(b) > MOST_POINTS || passes(b) % PROGRAMS))
    b->hi[1]--;
}

/* Estimates the time of the first sweep from a box, or a part of it, run once more. That is
 * harmless, because a sweep reads one field and writes the other. The time without the host's call
 * is proportional to the number of points. */
static status_t qpu_sweep_estimate(struct qpu_exec *x, const struct himeno_sweep *sweep)
{
  struct qpu_job jobs[PROGRAMS] = {{0}};
  struct qpu_emu *emu = qpu_device_emulator(x->device);
  struct himeno_sweep part = *sweep;
  if (!emu) return STATUS_OK;
  shorten(&part.box);
  RETURN_IF_FAILED(qpu_emu_estimate(emu, &qpu_cost_pi));
  status_t status = qpu_device_run(x->device, jobs, jobs_write(x, &part, jobs), 1);
  double call = qpu_cost_pi.launch_seconds, part_seconds = qpu_emu_seconds(emu) - call;
  double longer = (double)box_points(&sweep->box) / (double)box_points(&part.box);
  x->counts.estimate_ns += (uint64_t)((call + part_seconds * longer) * 1e9);
  x->counts.estimate_points += (uint64_t)box_points(&sweep->box);
  (void)qpu_emu_estimate(emu, NULL);
  return status;
}

/* Sweeps a box. Sums of squares, one per lane of a program, are floats and are added up in
 * double. */
static status_t qpu_sweep(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_sweep *sweep)
{
  struct qpu_exec *x = (struct qpu_exec *)exec;
  struct qpu_job jobs[PROGRAMS] = {{0}};
  double *gosa = x->fields.gosa.handle;
  const float *sums = x->sums.handle;

  (void)queue;
  if (!box_points(&sweep->box)) return STATUS_OK;
  if (x->counts.points < (uint64_t)box_points(&x->fields.layout.owned))
    RETURN_IF_FAILED(qpu_sweep_estimate(x, sweep));
  int used = jobs_write(x, sweep, jobs);
  RETURN_IF_FAILED(qpu_device_run(x->device, jobs, used, 1));
  for (int s = 0; s < used * LANES; s++) gosa[sweep->slot] += (double)sums[s];
  counts_add(x, &sweep->box);
  return STATUS_OK;
}

/* Writes the uniforms of the ceiling: see ceiling.qasm. */
static uint32_t *write_ceiling(const struct qpu_exec *x, int n, int used, uint32_t *u)
{
  uint32_t all = (uint32_t)(layout_floats(&x->fields.layout) / LANES), start = (uint32_t)n * LANES * 4;
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) *u++ = x->coefficient[m] + start;
  *u++ = x->p[0] + start;
  *u++ = x->p[1] + start;
  *u++ = (uint32_t)used * LANES * 4;
  *u++ = (all - (uint32_t)n + (uint32_t)used - 1) / (uint32_t)used;
  *u++ = VPM_ROW_SETUP | (uint32_t)n;
  *u++ = store_setup(LANES, n);
  *u++ = (uint32_t)n;
  *u++ = (uint32_t)used - 1;
  return u;
}

/* Rows are padded to a multiple of 32 floats, so an array consists of whole vectors. */
static status_t qpu_ceiling(struct himeno_exec *exec, struct gpu_queue *queue)
{
  struct qpu_exec *x = (struct qpu_exec *)exec;
  struct qpu_job jobs[PROGRAMS] = {{0}};
  uint32_t *first = x->uniforms.handle, *u = first;
  int64_t all = layout_floats(&x->fields.layout) / LANES;
  int used = all < PROGRAMS ? (int)all : PROGRAMS;

  (void)queue;
  for (int n = 0; n < used; n++) {
    jobs[n] = (struct qpu_job){x->ceiling_at, x->uniforms_at + (uint32_t)(u - first) * 4};
    u = write_ceiling(x, n, used, u);
  }
  return qpu_device_run(x->device, jobs, used, 1);
}

static void qpu_counts(const struct himeno_exec *exec, struct himeno_counts *counts)
{
  const struct qpu_exec *x = (const struct qpu_exec *)exec;
  *counts = x->counts;
}

const struct himeno_kernel_set himeno_kernels_qpu = {
    .backend = "qpu",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .open = qpu_sweep_open,
    .close = qpu_sweep_close,
    .fill = qpu_fill,
    .sweep = qpu_sweep,
    .ceiling = qpu_ceiling,
    .checksum = qpu_checksum,
    .counts = qpu_counts,
};
