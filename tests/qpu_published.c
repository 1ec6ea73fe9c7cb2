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
  const char *folder;
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

/* With warnings where a rule is broken or a reading was chosen. */
static status_t run(struct published *p, const struct qpu_job *jobs, size_t n)
{
  status_t status = qpu_emu_run(p->emu, jobs, n);
  qpu_emu_warn(p->emu);
  return status;
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

/* Whether FOLDER/NAME.hex is there. */
static int read_program(const char *folder, const char *name, struct published *p)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.hex", folder, name);
  log_mute(1);
  status_t status = qpu_words_read(path, &p->words, &p->n_words);
  log_mute(0);
  return status == STATUS_OK;
}

static float random_float(void)
{
  return (float)(rand() / (double)RAND_MAX - 0.5);
}

/* ---- GPU_FFT: transforms of 2^8 to 2^22 points on eight QPUs ---- */

enum { FFT_QPUS = 8, ROW_BYTES = 8 * LANES, MAX_PASSES = 4 };

static const struct fft {
  const char *name;
  int log2_n;
  int radix[MAX_PASSES + 1]; /* log2 of each pass's, in release 2.0 */
  double ppm[2];             /* published errors, of releases 2.0 and 3.0; 0 for none */
} ffts[] = {
    {"gpu_fft_256", 8, {4, 4}, {0.27, 0.33}},        {"gpu_fft_512", 9, {5, 4}, {0.42, 0.46}},
    {"gpu_fft_1k", 10, {5, 5}, {0.50, 0.52}},        {"gpu_fft_2k", 11, {6, 5}, {0.70, 0.59}},
    {"gpu_fft_4k", 12, {4, 4, 4}, {2.3, 0.78}},      {"gpu_fft_8k", 13, {5, 4, 4}, {4.4, 0.83}},
    {"gpu_fft_16k", 14, {5, 5, 4}, {7.6, 0.92}},     {"gpu_fft_32k", 15, {5, 5, 5}, {9.2, 0.98}},
    {"gpu_fft_64k", 16, {6, 5, 5}, {18, 1.0}},       {"gpu_fft_128k", 17, {5, 4, 4, 4}, {70, 1.3}},
    {"gpu_fft_256k", 18, {5, 4, 4, 5}, {100, 1.3}},  {"gpu_fft_512k", 19, {5, 4, 5, 5}, {180, 1.4}},
    {"gpu_fft_1024k", 20, {5, 5, 5, 5}, {360, 1.5}}, {"gpu_fft_2048k", 21, {6, 5, 5, 5}, {0, 1.5}},
    {"gpu_fft_4096k", 22, {6, 6, 5, 5}, {0, 1.5}},
};

/* What gpu_fft.txt has for one transform in batches, in microseconds: the model's only teacher is
 * the first size. */
static const struct {
  int log2_n, batch;
  double published;
} fft_times[] = {{8, 1, 112},    {8, 2, 56},     {8, 5, 31},     {8, 10, 22},    {8, 20, 19},   {8, 50, 16},
                 {9, 1, 125},    {9, 10, 37},    {10, 1, 136},   {10, 10, 54},   {11, 1, 180},  {11, 10, 107},
                 {12, 1, 298},   {12, 10, 256},  {13, 1, 689},   {14, 1, 1274},  {15, 1, 3397}, {16, 1, 6978},
                 {17, 1, 16734}, {18, 1, 42000}, {19, 1, 95000}, {20, 1, 190000}};

/* Factors of the four radix-2 steps within a vector, turned by an angle: lane i of step s =
 * floor(log2 i) has the weight 8 >> s; in a row of a larger radix each lane has its own. */
static float *factors(float *row, int radix, double circle, double turn)
{
  for (; radix > 4; radix--, turn *= 2)
    for (int i = 0; i < 1 << (radix - 1); i++) {
      *row++ = (float)cos(circle / (1 << radix) * i + turn);
      *row++ = (float)sin(circle / (1 << radix) * i + turn);
    }
  for (int i = 0; i < LANES; i++) {
    int step = i ? (int)floor(log2(i)) : 0, weight = i ? 8 >> step : 0;
    double angle = circle / LANES * weight * (i - (1 << step)) + turn * weight;
    *row++ = (float)cos(i ? angle : 0);
    *row++ = (float)sin(i ? angle : 0);
  }
  return row;
}

/* What a factor turns by from one row of a QPU's to its next, for a recurrence: 2 sin²(x/2) and sin
 * x. */
static float *turns(float *row, int radix, double turn)
{
  for (; radix >= 4; radix--, turn *= 2)
    for (int i = 0; i < (radix > 4 ? 1 << (radix - 1) : LANES); i++) {
      double angle = radix > 4 ? turn : i ? turn * (8 >> (int)floor(log2(i))) : 0;
      *row++ = (float)(2 * pow(sin(angle / 2), 2));
      *row++ = (float)sin(angle);
    }
  return row;
}

/* Rows for all QPUs, then rows of each; *own is where the latter begin, in rows. */
static uint32_t place_twiddles(struct published *p, const struct fft *fft, int direction, uint32_t *own)
{
  const double circle = -2 * M_PI * direction, turn = circle / (1 << fft->log2_n);
  uint32_t address = place(p, NULL, 64 * ROW_BYTES);
  float *rows = qpu_memory_at(qpu_emu_memory(p->emu), address),
        *row = factors(rows, fft->radix[0], circle, 0);
  int last = 1;
  while (fft->radix[last + 1]) last++;
  for (int pass = 1; pass <= last; pass++) {
    int apart = pass == last ? FFT_QPUS : 1;
    for (int later = pass + 1; later <= last; later++) apart <<= fft->radix[later];
    row = turns(row, fft->radix[pass], turn * apart);
  }
  *own = (uint32_t)((row - rows) / (2 * LANES));
  for (int q = 0; q < FFT_QPUS; q++) row = factors(row, fft->radix[last], circle, turn * q);
  return address;
}

/* hello_fft's measure is two impulses, which become a cosine of frequency 1, 2, … along a batch;
 * one becomes a turn that knows the direction. */
static void impulses(float complex *x, size_t n, size_t frequency, int two)
{
  memset(x, 0, n * sizeof *x);
  x[frequency] = two ? 0.5F : 1;
  if (two) x[n - frequency] = 0.5F;
}

/* Adds squares of what is off, and of what is exact. */
static void compare(const float complex *got, size_t n, double turn, int two, double sums[2])
{
  for (size_t i = 0; i < n; i++) {
    double complex exact = two ? cos(turn * (double)i) : cexp(I * turn * (double)i);
    sums[0] += pow(cabs((double complex)got[i] - exact), 2);
    sums[1] += pow(cabs(exact), 2);
  }
}

/* A batch's relative error in norm, or 1 where the run fails; *seconds is the estimate. */
static double fft_batch(const struct published *program, const struct fft *fft, int batch, int direction,
                        int two, double *seconds)
{
  const size_t n = (size_t)1 << fft->log2_n, bytes = n * sizeof(float complex), page = 8192;
  struct qpu_emu_config config = {.n_qpus = FFT_QPUS,
                                  .memory_bytes = (size_t)(2 * batch) * (bytes + page) + 64 * page,
                                  .max_instructions = UINT64_C(10000000000)};
  qpu_emu_set_rules(&config, QPU_WARN);
  config.rules[QPU_RULE_OUTSIDE] = QPU_IGNORE; /* it looks up ahead of itself, and past the end */
  struct published p = *program;
  struct qpu_job jobs[FFT_QPUS];
  uint32_t *uniforms = calloc((size_t)(3 + 2 * batch + 2), 4), own, rows = 0;
  double sums[2] = {0};
  if (!uniforms || qpu_emu_create(&config, &p.emu) != STATUS_OK) exit(3);
  if (seconds && qpu_emu_estimate(p.emu, &qpu_cost_pi) != STATUS_OK) exit(3);
  uint32_t code = place_code(&p), twiddles = place_twiddles(&p, fft, direction, &own);
  for (int pass = 0; fft->radix[pass]; pass++) rows = 1u << (fft->radix[pass] - 4);
  for (int j = 0; j < batch; j++) {
    uniforms[3 + 2 * j] = place(&p, NULL, bytes);
    uniforms[4 + 2 * j] = place(&p, NULL, bytes);
    impulses(qpu_memory_at(qpu_emu_memory(p.emu), uniforms[3 + 2 * j]), n, (size_t)j + 1, two);
  }
  for (uint32_t q = 0; q < FFT_QPUS; q++) {
    uniforms[0] = twiddles;
    uniforms[1] = twiddles + ROW_BYTES * (own + rows * q);
    uniforms[2] = q;
    uniforms[3 + 2 * batch + 1] = q == 0; /* behind a 0: who calls the host */
    jobs[q] = (struct qpu_job){code, place(&p, uniforms, 4 * (size_t)(3 + 2 * batch + 2))};
  }
  int odd = fft->log2_n > 11 && fft->log2_n < 17; /* three passes end in the other buffer */
  int ran = run(&p, jobs, FFT_QPUS) == STATUS_OK && qpu_emu_stats(p.emu).interrupts == 1;
  for (int j = 0; j < batch; j++)
    compare(qpu_memory_at(qpu_emu_memory(p.emu), uniforms[3 + 2 * j + odd]), n,
            -2 * M_PI * direction * (j + 1) / (double)n, two, sums);
  const double error = ran ? sqrt(sums[0] / sums[1]) : 1;
  if (seconds) *seconds = qpu_emu_seconds(p.emu);
  printf("  %s, batch of %d, %llu instructions: %.3g ppm off\n", direction > 0 ? "forward" : "inverse", batch,
         (unsigned long long)qpu_emu_stats(p.emu).issued, 1e6 * error);
  qpu_emu_destroy(p.emu);
  free(uniforms);
  return error;
}

/* Equal to two digits, as the errors are published. */
static int same_digits(double ppm, double published)
{
  char got[16], expected[16];
  snprintf(got, sizeof got, "%.2g", ppm);
  snprintf(expected, sizeof expected, "%.2g", published);
  return strcmp(got, expected) == 0;
}

/* Release 2.0's errors are of batches of 10, from 2^18 on of 1; release 3.0's of 1. 1000 parts
 * where 2.0 has none. */
static int is_published(const struct fft *fft, double ppm, double of_one)
{
  if (same_digits(ppm, fft->ppm[0]) || same_digits(of_one, fft->ppm[1])) return 1;
  return fft->ppm[0] == 0 && ppm < 1000;
}

/* 1 right, 0 wrong, −1 not there: hello_fft's batches have the published error, both ways. */
static int attempt_fft(const struct fft *fft, const char *folder)
{
  struct published p = {0};
  if (!read_program(folder, fft->name, &p)) return -1;
  const int batch = fft->log2_n < 18 ? 10 : 1;
  double ppm = 0;
  int right = 1;
  for (int direction = 1; direction >= -1; direction -= 2) {
    ppm = 1e6 * fft_batch(&p, fft, batch, direction, 1, NULL);
    double of_one = batch == 1 ? ppm : 1e6 * fft_batch(&p, fft, 1, direction, 1, NULL);
    right &= is_published(fft, ppm, of_one) && 1e6 * fft_batch(&p, fft, 1, direction, 0, NULL) < 2 * ppm;
  }
  for (size_t i = 0; i < sizeof fft_times / sizeof fft_times[0]; i++) {
    double seconds, published = fft_times[i].published;
    if (fft_times[i].log2_n != fft->log2_n) continue;
    (void)fft_batch(&p, fft, fft_times[i].batch, -1, 1, &seconds);
    double us = 1e6 * seconds / fft_times[i].batch;
    printf("    %.1f us a transform estimated, %.0f published (%+.0f%%)\n", us, published,
           100 * (us / published - 1));
  }
  printf("%-14s %s: %zu instructions long, %.3g ppm off, published", fft->name, right ? "right" : "WRONG",
         p.n_words, ppm);
  for (int release = 0; release < 2; release++)
    if (fft->ppm[release] != 0) printf(" %g (%d.0)", fft->ppm[release], release + 2);
  printf("\n");
  free(p.words);
  return right;
}

/* ---- GPU_FFT in two dimensions: rows, its transposition on one QPU, and rows again ---- */

enum { SIDE = 256, ROW = 8 * SIDE };

/* Transforms SIDE rows where they lie; *first are the first QPU's uniforms. */
static int fft_rows(struct published *p, const struct published *rows, uint32_t from, uint32_t spare,
                    uint32_t *first)
{
  uint32_t uniforms[3 + 2 * SIDE + 2] = {0}, own, twiddles = place_twiddles(p, &ffts[0], 1, &own);
  uint32_t code = place(p, rows->words, 8 * rows->n_words);
  struct qpu_job jobs[FFT_QPUS];
  for (uint32_t j = 0; j < SIDE; j++) {
    uniforms[3 + 2 * j] = from + ROW * j;
    uniforms[4 + 2 * j] = spare + ROW * j;
  }
  for (uint32_t q = 0; q < FFT_QPUS; q++) {
    uniforms[0] = twiddles;
    uniforms[1] = twiddles + ROW_BYTES * (own + q);
    uniforms[2] = q;
    uniforms[3 + 2 * SIDE + 1] = q == 0;
    jobs[q] = (struct qpu_job){code, place(p, uniforms, sizeof uniforms)};
  }
  *first = jobs[0].uniforms;
  return run(p, jobs, FFT_QPUS) == STATUS_OK;
}

/* An impulse becomes a plane wave. The transposition finds its buffers by what the host keeps of
 * both transforms: where the uniforms of each lie. */
static int plane_wave(struct published *p)
{
  struct published rows = {0};
  double worst = 0;
  uint32_t from = place(p, NULL, ROW * SIDE), to = place(p, NULL, ROW * SIDE),
           spare = place(p, NULL, ROW * SIDE);
  uint32_t uniforms, other = place(p, (uint32_t[]){0, 0, 0, to}, 16);
  if (!read_program(p->folder, "gpu_fft_256", &rows)) return -1;
  ((float complex *)qpu_memory_at(qpu_emu_memory(p->emu), from))[3 * SIDE + 5] = 1;
  int ran = fft_rows(p, &rows, from, spare, &uniforms);
  uint32_t turn[] = {place(p, &uniforms, 4), 0, place(p, &other, 4), 0, ROW, ROW, SIDE, SIDE};
  ran &= run(p, &(struct qpu_job){place_code(p), place(p, turn, sizeof turn)}, 1) == STATUS_OK;
  ran &= fft_rows(p, &rows, to, spare, &uniforms);
  const float complex *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (int i = 0; i < SIDE * SIDE; i++)
    worst = fmax(
        worst, cabs((double complex)out[i] - cexp(-2 * M_PI * I * (5 * (i / SIDE) + 3 * (i % SIDE)) / SIDE)));
  free(rows.words);
  return ran && worst < 1e-6;
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
  if (run(p, jobs, 3) != STATUS_OK) return 0;
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
  if (run(p, jobs, 2) != STATUS_OK) return 0;
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
  if (run(p, &(struct qpu_job){place_code(p), uniforms}, 1) != STATUS_OK) return 0;
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
  if (run(p, jobs, 12) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (uint32_t i = 0; i < 13 * LANES; i++) right &= out[i] == (i < 12 * LANES ? i / LANES : 0);
  return right && qpu_emu_stats(p->emu).interrupts == 12;
}

static int screen(struct published *p)
{
  uint32_t to = place(p, NULL, 8192), uniforms = place(p, (uint32_t[]){8, 10, to, 640}, 16);
  int right = 1;
  if (run(p, &(struct qpu_job){place_code(p), uniforms}, 1) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (int i = 0; i < 10 * 160; i++) right &= out[i] == (i % 160 < 128 ? UINT32_MAX : 0);
  return right;
}

static int columns(struct published *p)
{
  uint32_t to = place(p, NULL, 4096), uniforms = place(p, (uint32_t[]){1, to}, 8);
  int right = 1;
  if (run(p, &(struct qpu_job){place_code(p), uniforms}, 1) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (uint32_t i = 0; i < 5 * LANES; i++) right &= out[i] == (i % 5 < 4 ? 1u << i % 5 : i / 5);
  return right && qpu_emu_stats(p->emu).interrupts == 1;
}

static int writes(struct published *p)
{
  uint32_t to = place(p, NULL, 4096), uniforms = place(p, (uint32_t[]){to, 10, 3}, 12);
  int right = 1;
  if (run(p, &(struct qpu_job){place_code(p), uniforms}, 1) != STATUS_OK) return 0;
  const uint32_t *out = qpu_memory_at(qpu_emu_memory(p->emu), to);
  for (int i = 0; i < 641; i++) right &= out[i] == (i < 640 ? 3 : 0);
  return right;
}

static const struct {
  const char *name;
  int n_qpus;
  int (*run)(struct published *p);
} programs[] = {{"gpu_fft_trans", 8, plane_wave},
                {"vertex_shader", 1, vertex_shader},
                {"tessellator", 1, tessellator},
                {"numbers", 12, numbers},
                {"screen", 1, screen},
                {"columns", 1, columns},
                {"writes", 1, writes},
                {"complements", 1, complements}};

/* 1 right, 0 wrong, −1 not there. */
static int attempt(size_t i, const char *folder)
{
  struct qpu_emu_config config = {
      .n_qpus = programs[i].n_qpus, .memory_bytes = 4 << 20, .max_instructions = 10000000};
  struct published p = {0};
  p.folder = folder;
  if (!read_program(folder, programs[i].name, &p)) return -1;
  qpu_emu_set_rules(&config, QPU_WARN);
  config.rules[QPU_RULE_OUTSIDE] = QPU_IGNORE;
  if (qpu_emu_create(&config, &p.emu) != STATUS_OK) exit(3);
  int right = programs[i].run(&p);
  if (right >= 0)
    printf("%-14s %s: %zu instructions long, %llu issued\n", programs[i].name, right ? "right" : "WRONG",
           p.n_words, (unsigned long long)qpu_emu_stats(p.emu).issued);
  qpu_emu_destroy(p.emu);
  free(p.words);
  return right;
}

int main(int argc, char **argv)
{
  enum { N_FFTS = sizeof ffts / sizeof ffts[0], N_PROGRAMS = sizeof programs / sizeof programs[0] };
  int wrong = 0, found = 0;
  log_set_program("qpu_published");
  for (size_t i = 0; argc == 2 && i < N_FFTS + N_PROGRAMS; i++) {
    int how = i < N_FFTS ? attempt_fft(&ffts[i], argv[1]) : attempt(i - N_FFTS, argv[1]);
    if (how < 0) printf("%-14s not in %s\n", i < N_FFTS ? ffts[i].name : programs[i - N_FFTS].name, argv[1]);
    found += how >= 0;
    wrong += how == 0;
  }
  if (!found) fprintf(stderr, "usage: qpu_published FOLDER, with machine code as doc/qpu.md tells\n");
  return found && !wrong ? 0 : wrong ? 4 : 2;
}
