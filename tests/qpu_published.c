/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Published QPU programs on the emulator, with their results checked: `tests/qpu_published
 * FOLDER`.
 *
 * Their machine code is not part of this project. doc/qpu.md says where each stands; the numbers of
 * its array go into FOLDER/NAME.hex, and what is not there is left out. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/asm/asm.h"
#include "gpu/qpu/emulator/emu.h"

#define LANES 16

struct published {
  struct qpu_emu *emu;
  uint64_t *words;
  size_t n_words;
};

static uint32_t place(struct published *p, const void *bytes, size_t n)
{
  uint32_t address;
  if (qpu_memory_alloc(qpu_emu_memory(p->emu), n, &address) != STATUS_OK) exit(3);
  if (bytes) memcpy(qpu_memory_at(qpu_emu_memory(p->emu), address), bytes, n);
  return address;
}

static uint32_t place_code(struct published *p)
{
  return place(p, p->words, 8 * p->n_words);
}

/* A program of our own, to set the VPM up or to see what is in it: on one QPU programs follow each
 * other. */
static uint32_t place_text(struct published *p, const char *text)
{
  struct qpu_program program;
  if (qpu_assemble("built in", text, NULL, &program) != STATUS_OK) exit(3);
  uint32_t address = place(p, program.words, 8 * program.n_words);
  qpu_program_free(&program);
  return address;
}

static uint32_t store_rows(struct published *p, int rows)
{
  char text[200];
  snprintf(text, sizeof text,
           "ldi vw_setup, 0x80000000 | %d << 23 | 16 << 16 | 1 << 14\nmov vw_addr, unif\nmov -, vw_wait\n"
           "thrend\nnop\nnop\n",
           rows);
  return place_text(p, text);
}

static float random_float(void)
{
  return (float)(rand() / (double)RAND_MAX - 0.5);
}

/* ---- GPU_FFT, 256 points: batches of transforms on eight QPUs ---- */

enum { POINTS = 256, MAX_BATCH = 50, FFT_QPUS = 8, ROW_BYTES = 8 * LANES };

/* Factors of the four radix-2 steps within a vector, turned by an angle: lane i of step s =
 * floor(log2 i) has the weight 8 >> s. */
static void twiddle_row(float *row, double within, double turn)
{
  for (int i = 0; i < LANES; i++) {
    int step = i ? (int)floor(log2(i)) : 0, weight = i ? 8 >> step : 0;
    double angle = within / LANES * weight * (i - (1 << step)) + turn * weight;
    row[2 * i] = (float)cos(i ? angle : 0);
    row[2 * i + 1] = (float)sin(i ? angle : 0);
  }
}

/* What a factor turns by from one row of a QPU's to its next, for a recurrence: 2 sin²(x/2) and sin
 * x. */
static void twiddle_step(float *row, double turn)
{
  for (int i = 0; i < LANES; i++) {
    double angle = i ? turn * (8 >> (int)floor(log2(i))) : 0;
    row[2 * i] = (float)(2 * pow(sin(angle / 2), 2));
    row[2 * i + 1] = (float)sin(angle);
  }
}

static uint32_t place_twiddles(struct published *p)
{
  const double circle = -2 * M_PI;
  uint32_t address = place(p, NULL, (2 + FFT_QPUS) * ROW_BYTES);
  float *rows = qpu_memory_at(qpu_emu_memory(p->emu), address);
  twiddle_row(rows, circle, 0);
  twiddle_step(rows + 2 * LANES, circle / POINTS * FFT_QPUS);
  for (int q = 0; q < FFT_QPUS; q++) twiddle_row(rows + 2 * LANES * (2 + q), circle, circle / POINTS * q);
  return address;
}

static double fft_error(const float complex *x, const float complex *got)
{
  double wrong = 0, norm = 0;
  for (int f = 0; f < POINTS; f++) {
    double complex exact = 0;
    for (int t = 0; t < POINTS; t++)
      exact += (double complex)x[t] * cexp(-2 * M_PI * I * ((f * t) % POINTS) / POINTS);
    wrong += pow(cabs((double complex)got[f] - exact), 2);
    norm += pow(cabs(exact), 2);
  }
  return sqrt(wrong / norm);
}

/* The worst relative error of a batch, or 1 where the run fails. */
static double fft_batch(struct published *p, int n)
{
  static float complex x[MAX_BATCH][POINTS];
  struct qpu_job jobs[FFT_QPUS];
  uint32_t buffers[MAX_BATCH][2], code = place_code(p), twiddles = place_twiddles(p);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < POINTS; i++) x[j][i] = random_float() + I * random_float();
    buffers[j][0] = place(p, x[j], sizeof x[j]);
    buffers[j][1] = place(p, NULL, sizeof x[j]);
  }
  for (uint32_t q = 0; q < FFT_QPUS; q++) {
    uint32_t uniforms[3 + 2 * MAX_BATCH + 2] = {twiddles, twiddles + ROW_BYTES * (2 + q), q};
    memcpy(uniforms + 3, buffers, (size_t)n * sizeof buffers[0]);
    uniforms[3 + 2 * n + 1] = q == 0; /* behind a 0: who calls the host */
    jobs[q] = (struct qpu_job){code, place(p, uniforms, sizeof uniforms)};
  }
  if (qpu_emu_run(p->emu, jobs, FFT_QPUS) != STATUS_OK) return 1;
  double worst = qpu_emu_stats(p->emu).interrupts == 1 ? 0 : 1;
  for (int j = 0; j < n; j++)
    worst = fmax(worst, fft_error(x[j], qpu_memory_at(qpu_emu_memory(p->emu), buffers[j][0])));
  return worst;
}

/* What gpu_fft.txt has for one transform in batches, in microseconds: the model's only teacher. */
static const struct {
  int batch;
  double published;
} fft_times[] = {{1, 112}, {2, 56}, {5, 31}, {10, 22}, {20, 19}, {50, 16}};

static int gpu_fft(struct published *p)
{
  double worst = 0;
  if (qpu_emu_estimate(p->emu, &qpu_cost_pi) != STATUS_OK) exit(3);
  for (size_t i = 0; i < sizeof fft_times / sizeof fft_times[0]; i++) {
    double error = fft_batch(p, fft_times[i].batch), us = qpu_emu_seconds(p->emu) / fft_times[i].batch * 1e6;
    printf("  batch of %2d: %5.1f us a transform estimated, %5.1f published (%+.0f%%)\n", fft_times[i].batch,
           us, fft_times[i].published, 100 * (us / fft_times[i].published - 1));
    worst = fmax(worst, error);
  }
  (void)qpu_emu_estimate(p->emu, NULL);
  worst = fmax(worst, fft_batch(p, 3));
  printf("  relative error %.2g in norm\n", worst);
  return worst < 2e-6;
}

/* ---- a vertex shader: a matrix, a division by w, a viewport of 640 x 480 ---- */

static int is_near(double a, double b, double bound)
{
  return fabs(a - b) <= bound;
}

static int vertex_is_right(const float m[4][4], const float in[7][LANES], const uint32_t *out, int lane)
{
  double v[4] = {0};
  float z, w, colour;
  int right = 1;
  for (int r = 0; r < 4; r++)
    for (int k = 0; k < 4; k++) v[r] += (double)m[r][k] * (double)in[k][lane];
  memcpy(&z, &out[LANES + lane], 4);
  memcpy(&w, &out[2 * LANES + lane], 4);
  right &= is_near((int16_t)(out[lane] & 0xffff), v[0] / v[3] * 319.5 * 16, 1.01);
  right &= is_near((int16_t)(out[lane] >> 16), -v[1] / v[3] * 239.5 * 16, 1.01);
  right &= is_near((double)z, (v[2] / v[3] + 1) / 2, 1e-6) && is_near((double)w, 1 / v[3], 1e-6);
  for (int k = 0; k < 3; k++) {
    memcpy(&colour, &out[(3 + k) * LANES + lane], 4);
    right &= memcmp(&colour, &in[4 + k][lane], 4) == 0;
  }
  return right;
}

static int vertex_shader(struct published *p)
{
  float in[7][LANES], m[4][4];
  int right = 1;
  for (int r = 0; r < 7; r++)
    for (int i = 0; i < LANES; i++) in[r][i] = r == 3 ? 1 : random_float();
  for (int r = 0; r < 4; r++)
    for (int k = 0; k < 4; k++) m[r][k] = random_float() + (r == 3 && k == 3 ? 3 : 0);
  uint32_t from = place(p, in, sizeof in), to = place(p, NULL, 4096);
  uint32_t load = place_text(p, "ldi vr_setup, 0x83000000 | 7 << 16 | 1 << 12\nmov vr_addr, unif\n"
                                "mov -, vr_wait\nthrend\nnop\nnop\n");
  struct qpu_job jobs[] = {{load, place(p, &from, 4)},
                           {place_code(p), place(p, m, sizeof m)},
                           {store_rows(p, 6), place(p, &to, 4)}};
  if (qpu_emu_run(p->emu, jobs, 3) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (int i = 0; i < LANES; i++) right &= vertex_is_right(m, in, out, i);
  return right;
}

/* ---- the driver's own: the vector tessellator's set-up of the VPM ---- */

static int tessellator(struct published *p)
{
  static const int places[] = {1, 4, 7, 10, 13}, offsets[] = {4, 132, 156, 180, 204};
  uint32_t words[64], to = place(p, NULL, 4096);
  int right = 1;
  for (uint32_t i = 0; i < 64; i++) words[i] = 1000 + i;
  uint32_t interface = place(p, words, sizeof words);
  for (int i = 0; i < 5; i++) /* what its loader writes into it */
    p->words[places[i]] = (p->words[places[i]] & ~UINT64_C(0xffffffff)) | (interface + (uint32_t)offsets[i]);
  p->words[18] = (p->words[18] & ~UINT64_C(0xffffffff)) | interface;
  uint32_t uniforms = place(p, &to, 4);
  struct qpu_job jobs[] = {{place_code(p), uniforms}, {store_rows(p, 64), uniforms}};
  if (qpu_emu_run(p->emu, jobs, 2) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to),
                 *back = qpu_memory_at(qpu_emu_memory(p->emu), interface);
  for (uint32_t i = 0; i < 32; i++) right &= out[(15 + i / 16 * 16) * 16 + i % 16] == 1001 + i;
  for (uint32_t block = 0; block < 4; block++)
    for (uint32_t i = 0; i < 6; i++)
      right &= out[(block * 16 + i / 2 * 5) * 16 + i % 2] == 1033 + block * 6 + i;
  return right && back[0] == UINT32_MAX && qpu_emu_stats(p->emu).interrupts == 1;
}

/* ---- small ones ---- */

/* Four vectors down the VPM's last column, read down it, complemented, and back. */
static int complements(struct published *p)
{
  uint32_t in[4 * LANES];
  int right = 1;
  for (int i = 0; i < 4 * LANES; i++) in[i] = (uint32_t)rand();
  uint32_t from = place(p, in, sizeof in), to = place(p, NULL, sizeof in);
  uint32_t load = 1u << 31 | 3 << 24 | 4 << 16 | 1 << 11 | 15, read = 4 << 20 | 16 << 12 | 2 << 8 | 15,
           write = 16 << 12 | 2 << 8 | 15, save = 2u << 30 | 1 << 23 | 16 << 16 | 15 << 3;
  uint32_t uniforms = place(p, (uint32_t[]){load, from, read, write, save, to}, 24);
  if (qpu_emu_run(p->emu, &(struct qpu_job){place_code(p), uniforms}, 1) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (int i = 0; i < 4 * LANES; i++) right &= out[i] == ~in[i];
  return right && qpu_emu_stats(p->emu).interrupts == 1;
}

static int numbers(struct published *p)
{
  struct qpu_job jobs[12];
  uint32_t code = place_code(p), to = place(p, NULL, 4096);
  int right = 1;
  for (uint32_t q = 0; q < 12; q++) jobs[q] = (struct qpu_job){code, place(p, (uint32_t[]){q, to}, 8)};
  if (qpu_emu_run(p->emu, jobs, 12) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (uint32_t i = 0; i < 13 * LANES; i++) right &= out[i] == (i < 12 * LANES ? i / LANES : 0);
  return right && qpu_emu_stats(p->emu).interrupts == 12;
}

static int screen(struct published *p)
{
  uint32_t to = place(p, NULL, 8192), uniforms = place(p, (uint32_t[]){8, 10, to, 640}, 16);
  int right = 1;
  if (qpu_emu_run(p->emu, &(struct qpu_job){place_code(p), uniforms}, 1) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (int i = 0; i < 10 * 160; i++) right &= out[i] == (i % 160 < 128 ? UINT32_MAX : 0);
  return right;
}

static int columns(struct published *p)
{
  uint32_t to = place(p, NULL, 4096), uniforms = place(p, (uint32_t[]){1, to}, 8);
  int right = 1;
  if (qpu_emu_run(p->emu, &(struct qpu_job){place_code(p), uniforms}, 1) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (uint32_t i = 0; i < 5 * LANES; i++) right &= out[i] == (i % 5 < 4 ? 1u << i % 5 : i / 5);
  return right && qpu_emu_stats(p->emu).interrupts == 1;
}

static int writes(struct published *p)
{
  uint32_t to = place(p, NULL, 4096), uniforms = place(p, (uint32_t[]){to, 10, 3}, 12);
  int right = 1;
  if (qpu_emu_run(p->emu, &(struct qpu_job){place_code(p), uniforms}, 1) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (int i = 0; i < 641; i++) right &= out[i] == (i < 640 ? 3 : 0);
  return right;
}

static const struct {
  const char *name;
  int n_qpus;
  int (*run)(struct published *p);
} programs[] = {{"gpu_fft_256", 8, gpu_fft},     {"vertex_shader", 1, vertex_shader},
                {"tessellator", 1, tessellator}, {"numbers", 12, numbers},
                {"screen", 1, screen},           {"columns", 1, columns},
                {"writes", 1, writes},           {"complements", 1, complements}};

/* 1 right, 0 wrong, −1 not there. */
static int attempt(size_t i, const char *folder)
{
  struct qpu_emu_config config = {
      .n_qpus = programs[i].n_qpus, .memory_bytes = 4 << 20, .max_instructions = 10000000};
  struct published p = {0};
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.hex", folder, programs[i].name);
  log_mute(1);
  status_t status = qpu_words_read(path, &p.words, &p.n_words);
  log_mute(0);
  if (status != STATUS_OK) return -1;
  if (qpu_emu_create(&config, &p.emu) != STATUS_OK) exit(3);
  int right = programs[i].run(&p);
  printf("%-14s %s: %zu instructions long, %llu issued\n", programs[i].name, right ? "right" : "WRONG",
         p.n_words, (unsigned long long)qpu_emu_stats(p.emu).issued);
  qpu_emu_destroy(p.emu);
  free(p.words);
  return right;
}

int main(int argc, char **argv)
{
  int wrong = 0, found = 0;
  log_set_program("qpu_published");
  for (size_t i = 0; argc == 2 && i < sizeof programs / sizeof programs[0]; i++) {
    int how = attempt(i, argv[1]);
    if (how < 0) printf("%-14s not in %s\n", programs[i].name, argv[1]);
    found += how >= 0;
    wrong += how == 0;
  }
  if (!found) fprintf(stderr, "usage: qpu_published FOLDER, with machine code as doc/qpu.md tells\n");
  return found && !wrong ? 0 : wrong ? 4 : 2;
}
