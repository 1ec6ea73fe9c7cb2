/* SPDX-License-Identifier: MIT */
#include "himeno/qpu/qpu_himeno.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "himeno/qpu/sweep_qpu.h"

#define MAX_QPUS       12
#define LANES          16
#define COEFFICIENTS   12
#define FLOP_A_POINT   34
#define BYTES_A_POINT  56
#define CONSTANT_WORDS 20
#define PASS_WORDS     3
#define END_WORDS      4
#define VPM_ROW_SETUP  (1u << 12 | 1u << 11 | 2u << 8) /* 32-bit words along a row */

struct qpu_himeno {
  struct qpu_emu *emu;
  struct qpu_himeno_fields fields; /* extents and omega; the pointers are not kept */
  uint32_t code, coefficients[COEFFICIENTS], p[2], sums, uniforms[MAX_QPUS];
  int current; /* which of the two p holds the field */
  int n_programs;
  struct qpu_emu_stats stats;
};

static size_t points(const struct qpu_himeno_fields *f)
{
  return f->imax * f->jmax * f->kmax;
}

static size_t vectors(const struct qpu_himeno_fields *f)
{
  return (f->kmax - 2 + LANES - 1) / LANES;
}

static size_t passes(const struct qpu_himeno_fields *f)
{
  return (f->jmax - 2) * vectors(f);
}

/* Passes of program n, which takes n, n + programs, … */
static size_t passes_of(const struct qpu_himeno *h, int n)
{
  size_t programs = (size_t)h->n_programs;
  return (passes(&h->fields) - (size_t)n + programs - 1) / programs;
}

static size_t uniform_bytes(const struct qpu_himeno *h, int n)
{
  return 4 * (CONSTANT_WORDS + PASS_WORDS * passes_of(h, n) + END_WORDS);
}

static status_t copy_array(struct qpu_himeno *h, const float *values, uint32_t *address)
{
  size_t bytes = points(&h->fields) * sizeof *values;
  RETURN_IF_FAILED(qpu_emu_alloc(h->emu, bytes, address));
  memcpy(qpu_emu_host(h->emu, *address), values, bytes);
  return STATUS_OK;
}

static status_t allocate(struct qpu_himeno *h, const struct qpu_himeno_fields *f)
{
  const float *const arrays[COEFFICIENTS] = {f->a[0], f->a[1], f->a[2], f->b[0], f->b[1], f->b[2],
                                             f->c[0], f->c[1], f->c[2], f->wrk1, f->a[3], f->bnd};
  RETURN_IF_FAILED(qpu_emu_alloc(h->emu, sizeof sweep, &h->code));
  memcpy(qpu_emu_host(h->emu, h->code), sweep, sizeof sweep);
  for (int i = 0; i < COEFFICIENTS; i++) RETURN_IF_FAILED(copy_array(h, arrays[i], &h->coefficients[i]));
  for (int i = 0; i < 2; i++) RETURN_IF_FAILED(copy_array(h, f->p, &h->p[i]));
  for (int n = 0; n < h->n_programs; n++)
    RETURN_IF_FAILED(qpu_emu_alloc(h->emu, uniform_bytes(h, n), &h->uniforms[n]));
  return qpu_emu_alloc(h->emu, (size_t)h->n_programs * LANES * 4, &h->sums);
}

static size_t memory_bytes(const struct qpu_himeno *h)
{
  size_t bytes = (points(&h->fields) * 4 + 2 * 4096) * (COEFFICIENTS + 2) + sizeof sweep + 8 * 4096;
  for (int n = 0; n < h->n_programs; n++) bytes += uniform_bytes(h, n) + 2 * 4096;
  return bytes;
}

status_t qpu_himeno_open(const struct qpu_himeno_fields *fields, int n_qpus, FILE *trace,
                         struct qpu_himeno **himeno)
{
  if (n_qpus < 1 || n_qpus > MAX_QPUS)
    return log_fail(STATUS_USAGE, "%d QPUs: there are 1 to %d", n_qpus, MAX_QPUS);
  if (fields->imax < 3 || fields->jmax < 3 || fields->kmax < 3)
    return log_fail(STATUS_USAGE, "size %zux%zux%zu: each extent must be 3 at least", fields->imax,
                    fields->jmax, fields->kmax);
  if (fields->imax > UINT32_MAX || fields->jmax > UINT32_MAX || fields->kmax > UINT32_MAX ||
      (double)fields->imax * (double)fields->jmax * (double)fields->kmax * BYTES_A_POINT > 0xd0000000u)
    return log_fail(STATUS_USAGE, "size %zux%zux%zu does not fit the QPU's 32-bit addresses", fields->imax,
                    fields->jmax, fields->kmax);
  struct qpu_himeno *made = calloc(1, sizeof *made);
  if (!made) return log_fail(STATUS_ENVIRONMENT, "out of memory for a QPU solver");
  made->fields = *fields;
  made->n_programs = passes(fields) < (size_t)n_qpus ? (int)passes(fields) : n_qpus;
  struct qpu_emu_config config = {
      .n_qpus = made->n_programs, .memory_bytes = memory_bytes(made), .trace = trace};
  status_t status;
  TRY(qpu_emu_create(&config, &made->emu), fail);
  TRY(allocate(made, fields), fail);
  *himeno = made;
  return STATUS_OK;
fail:
  qpu_himeno_close(made);
  return status;
}

void qpu_himeno_close(struct qpu_himeno *himeno)
{
  if (!himeno) return;
  qpu_emu_destroy(himeno->emu);
  free(himeno);
}

static uint32_t store_setup(uint32_t lanes, int row)
{
  return 0x80000000u | 1u << 23 | lanes << 16 | 1u << 14 | (uint32_t)row << 7;
}

static uint32_t *write_constants(struct qpu_himeno *h, int n, uint32_t *u)
{
  const struct qpu_himeno_fields *f = &h->fields;
  uint32_t row = (uint32_t)f->kmax * 4, plane = (uint32_t)f->jmax * row, omega;
  memcpy(&omega, &f->omega, sizeof omega);
  memcpy(u, h->coefficients, sizeof h->coefficients);
  u += COEFFICIENTS;
  *u++ = h->p[h->current] + plane;
  *u++ = h->p[!h->current];
  *u++ = plane;
  *u++ = row;
  *u++ = omega;
  *u++ = (uint32_t)f->imax - 2;
  *u++ = VPM_ROW_SETUP | (uint32_t)n;
  *u++ = (uint32_t)passes_of(h, n);
  return u;
}

/* The uniform stream of program n: see sweep.qasm. */
static void write_uniforms(struct qpu_himeno *h, int n)
{
  const struct qpu_himeno_fields *f = &h->fields;
  uint32_t *u = write_constants(h, n, qpu_emu_host(h->emu, h->uniforms[n]));
  for (size_t pass = (size_t)n; pass < passes(f); pass += (size_t)h->n_programs) {
    size_t j = 1 + pass / vectors(f), k = 1 + pass % vectors(f) * LANES;
    uint32_t lanes = f->kmax - 1 - k < LANES ? (uint32_t)(f->kmax - 1 - k) : LANES;
    *u++ = lanes - 1;
    *u++ = (uint32_t)(((f->jmax + j) * f->kmax + k) * 4);
    *u++ = store_setup(lanes, n);
  }
  *u++ = store_setup(LANES, n);
  *u++ = h->sums + (uint32_t)n * LANES * 4;
  *u++ = (uint32_t)n;
  *u++ = (uint32_t)h->n_programs - 1;
}

status_t qpu_himeno_sweep(struct qpu_himeno *himeno, double *gosa)
{
  struct qpu_job jobs[MAX_QPUS];
  for (int n = 0; n < himeno->n_programs; n++) {
    write_uniforms(himeno, n);
    jobs[n] = (struct qpu_job){himeno->code, himeno->uniforms[n]};
  }
  RETURN_IF_FAILED(qpu_emu_run(himeno->emu, jobs, (size_t)himeno->n_programs));
  const float *sums = qpu_emu_host(himeno->emu, himeno->sums);
  double sum = 0;
  for (int i = 0; i < himeno->n_programs * LANES; i++) sum += (double)sums[i];
  himeno->current ^= 1;
  himeno->stats = qpu_emu_stats(himeno->emu);
  *gosa = sum;
  return STATUS_OK;
}

const float *qpu_himeno_p(const struct qpu_himeno *himeno)
{
  return qpu_emu_host(himeno->emu, himeno->p[himeno->current]);
}

struct qpu_emu_stats qpu_himeno_stats(const struct qpu_himeno *himeno)
{
  return himeno->stats;
}

double qpu_himeno_bound_seconds(const struct qpu_himeno_fields *fields, double bytes_per_second)
{
  double interior = (double)(fields->imax - 2) * (double)(fields->jmax - 2) * (double)(fields->kmax - 2);
  return interior * BYTES_A_POINT / bytes_per_second;
}

double qpu_himeno_bound_gflops(double bytes_per_second)
{
  return bytes_per_second / BYTES_A_POINT * FLOP_A_POINT * 1e-9;
}
