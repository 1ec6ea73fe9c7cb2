/* SPDX-License-Identifier: MIT */
/* Compares the CPU's sweep with the ceiling kernel, and the ceiling kernel with other memory-bound
 * loops: `bench_cpu SIZE [ROUNDS [KERNEL]]`. A STREAM triad, plain reading, plain writing, the
 * ceiling kernel and the sweep alternate on the same threads, so that all see the same state of the
 * machine. Prints medians. Rates count the necessary bytes: 12 per element of the triad, 56 per
 * point of the ceiling and of the sweep (nominally, if a kernel makes several sweeps per pass). No
 * loop reads what it writes, so write-allocation hides no bytes. Of the triad's bytes a third is
 * written, of the ceiling's a 14th. If streaming stores are faster than reading, the ceiling cannot
 * be as fast as the triad; so it is also compared with reading 13 bytes and then writing one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/openmp.h"
#include "base/stats.h"
#include "comm/halo/grid.h"
#include "himeno/kernels/kernels.h"

#define ROUNDS_MAX 1000

/** Computes a = b + 3·c over n floats (a multiple of 4), with streaming stores if possible. */
static void triad_part(float *a, const float *b, const float *c, int64_t n)
{
#ifdef __x86_64__
  const __m128 factor = _mm_set1_ps(3.0f);
  for (int64_t x = 0; x < n; x += 4)
    _mm_stream_ps(a + x, _mm_add_ps(_mm_load_ps(b + x), _mm_mul_ps(factor, _mm_load_ps(c + x))));
  _mm_sfence();
#else
  for (int64_t x = 0; x < n; x++) a[x] = b[x] + 3.0f * c[x];
#endif
}

/** Returns how many floats of an array the calling thread has (whole lines); *first: their
 * index. */
static int64_t my_floats(const struct himeno_fields *f, int64_t *first)
{
  const int64_t lines = layout_floats(&f->layout) / 16;
  int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
  *first = lines * me / threads * 16;
  return lines * (me + 1) / threads * 16 - *first;
}

/** Runs the triad over four triples of arrays, with 6/7 of the bytes of a pass of the ceiling. */
static void triad(const struct himeno_fields *f)
{
#pragma omp parallel
  {
    int64_t first, n = my_floats(f, &first);
    for (int m = 0; m < HIMENO_COEFFICIENTS; m += 3)
      triad_part((float *)f->coefficient[m].handle + first, (float *)f->coefficient[m + 1].handle + first,
                 (float *)f->coefficient[m + 2].handle + first, n);
  }
}

/** Returns the sum of n floats, a multiple of 16. */
static float read_part(const float *b, int64_t n)
{
#ifdef __x86_64__
  __m128 sum[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
  float lanes[4];
  for (int64_t x = 0; x < n; x += 16)
    for (int v = 0; v < 4; v++) sum[v] = _mm_add_ps(sum[v], _mm_load_ps(b + x + 4 * v));
  _mm_storeu_ps(lanes, _mm_add_ps(_mm_add_ps(sum[0], sum[1]), _mm_add_ps(sum[2], sum[3])));
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
#else
  float sum = 0;
  for (int64_t x = 0; x < n; x++) sum += b[x];
  return sum;
#endif
}

/** Sets n floats (a multiple of 4), with streaming stores if the CPU has them. */
static void write_part(float *a, float value, int64_t n)
{
#ifdef __x86_64__
  for (int64_t x = 0; x < n; x += 4) _mm_stream_ps(a + x, _mm_set1_ps(value));
  _mm_sfence();
#else
  for (int64_t x = 0; x < n; x++) a[x] = value;
#endif
}

/** Reads, or writes, four arrays. */
static void one_way(const struct himeno_fields *f, int writes)
{
  float all = 0;
#pragma omp parallel reduction(+ : all)
  {
    int64_t first, n = my_floats(f, &first);
    for (int m = 0; m < HIMENO_COEFFICIENTS; m += 3) {
      float *array = (float *)f->coefficient[m].handle + first;
      if (writes)
        write_part(array, (float)m, n);
      else
        all += read_part(array, n);
    }
  }
  __asm__ volatile("" : : "g"(all)); /* keeps the compiler from removing the reads */
}

static status_t fields_open(struct gpu_device *device, const struct grid_size *size, int sweeps,
                            struct himeno_fields *f)
{
  struct decomp whole;
  decomp_init(&whole, size->extent, (const int[3]){1, 1, 1}, 0);
  memset(f, 0, sizeof *f);
  RETURN_IF_FAILED(layout_init(&f->layout, &whole, sweeps, 0));
  size_t bytes = (size_t)layout_floats(&f->layout) * sizeof(float);
  for (int n = 0; n < 2; n++) RETURN_IF_FAILED(gpu_alloc(device, bytes, &f->p[n]));
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++)
    RETURN_IF_FAILED(gpu_alloc(device, bytes, &f->coefficient[m]));
  return gpu_alloc(device, (size_t)sweeps * sizeof(double), &f->gosa);
}

static status_t measure(const struct himeno_fields *f, struct himeno_exec *exec, int sweeps, int rounds)
{
  static double triads[ROUNDS_MAX], ceilings[ROUNDS_MAX], rates[ROUNDS_MAX], shares[ROUNDS_MAX],
      reads[ROUNDS_MAX], writes[ROUNDS_MAX], mixes[ROUNDS_MAX];
  const double floats = (double)layout_floats(&f->layout), points = (double)box_points(&f->layout.owned);

  for (int r = 0; r < rounds; r++) {
    struct himeno_sweep pass = {.box = f->layout.owned, .sweeps = sweeps, .source = r % 2, .ends_equal = 1};
    double t0 = stats_now();
    RETURN_IF_FAILED(himeno_kernels_cpu.ceiling(exec, NULL));
    double t1 = stats_now();
    RETURN_IF_FAILED(himeno_kernels_cpu.sweep(exec, NULL, &pass));
    double t2 = stats_now();
    triad(f);
    double t3 = stats_now();
    one_way(f, 0);
    double t4 = stats_now();
    one_way(f, 1);
    double t5 = stats_now();
    triads[r] = 48e-9 * floats / (t3 - t2);
    reads[r] = 16e-9 * floats / (t4 - t3);
    writes[r] = 16e-9 * floats / (t5 - t4);
    mixes[r] = 14 / (13 / reads[r] + 1 / writes[r]);
    ceilings[r] = 1e-9 * HIMENO_BYTES_PER_POINT * floats / (t1 - t0);
    rates[r] = 1e-9 * HIMENO_BYTES_PER_POINT * points * sweeps / (t2 - t1);
    shares[r] = rates[r] / ceilings[r];
  }
  size_t n = (size_t)rounds;
  double triad_rate = stats_summarise(triads, n).median, ceiling_rate = stats_summarise(ceilings, n).median;
  double mix_rate = stats_summarise(mixes, n).median;
  printf("threads %d: triad %.1f GB/s, reads %.1f, writes %.1f, 13 to 1 of them %.1f; ",
         omp_get_max_threads(), triad_rate, stats_summarise(reads, n).median,
         stats_summarise(writes, n).median, mix_rate);
  printf("ceiling %.1f GB/s (%.3f of triad, %.3f of 13 to 1), sweep %.1f GB/s (%.3f of ceiling)\n",
         ceiling_rate, ceiling_rate / triad_rate, ceiling_rate / mix_rate, stats_summarise(rates, n).median,
         stats_summarise(shares, n).median);
  return STATUS_OK;
}

int main(int argc, char **argv)
{
  struct grid_size size;
  struct himeno_fields fields;
  struct gpu_device *device;
  struct himeno_exec *exec;
  const struct himeno_kernel *kernel = himeno_kernel_find(&himeno_kernels_cpu, argc > 3 ? argv[3] : "stream");
  int rounds = argc > 2 ? atoi(argv[2]) : 20;
  status_t status;

  if (argc < 2 || rounds < 1 || rounds > ROUNDS_MAX || !kernel) {
    fprintf(stderr, "usage: bench_cpu SIZE [ROUNDS up to %d [KERNEL of the CPU]]\n", ROUNDS_MAX);
    return STATUS_USAGE;
  }
  RETURN_IF_FAILED(grid_size_parse("SIZE", argv[1], &size));
  RETURN_IF_FAILED(gpu_open(&gpu_backend_cpu, 0, &device));
  TRY(fields_open(device, &size, kernel->sweeps, &fields), done);
  TRY(himeno_kernels_cpu.open(device, &fields, kernel, &exec), done);
  for (int m = 0; m < HIMENO_ARRAYS; m++) TRY(himeno_kernels_cpu.fill(exec, NULL, m, HIMENO_STANDARD), close);
  TRY(measure(&fields, exec, kernel->sweeps, rounds), close);
close:
  himeno_kernels_cpu.close(exec);
  gpu_free(device, &fields.gosa);
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) gpu_free(device, &fields.coefficient[m]);
  for (int n = 0; n < 2; n++) gpu_free(device, &fields.p[n]);
done:
  gpu_close(device);
  return status;
}
