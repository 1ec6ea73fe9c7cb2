/* SPDX-License-Identifier: MIT */
#include "tools/memory/cpu/mem_cpu.h"

#include <math.h>
#include <string.h>

#include "gpu/cpu/every_cpu.h"
#include "tools/memory/kernels/flops.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

EVERY_CPU("avx2") static uint32_t sum_words(const uint32_t *from, size_t words)
{
  uint32_t sum = 0;
  for (size_t w = 0; w < words; w++) sum += from[w];
  return sum;
}

EVERY_CPU("avx2")
static void combine(uint32_t *restrict to, const uint32_t *const *from, int reads, size_t words)
{
  enum { PIECE = 64 };
  for (size_t w = 0; w < words; w += PIECE) {
    uint32_t x[PIECE];
    memcpy(x, from[0] + w, sizeof x);
    for (int r = 1; r < reads; r++)
      for (size_t i = 0; i < PIECE; i++) x[i] ^= from[r][w + i];
    memcpy(to + w, x, sizeof x);
  }
}

uint32_t (*const mem_cpu_sum)(const uint32_t *, size_t) = sum_words;
void (*const mem_cpu_combine)(uint32_t *, const uint32_t *const *, int, size_t) = combine;

/* Works on one element at a time, with the library's fmaf, or the processor's instruction if every
 * processor of this architecture has it. */
uint32_t mem_cpu_flops_plain(const uint32_t *from, size_t words, int flop16)
{
  uint32_t sum = 0;
  for (size_t w = 0; w < words; w++) {
    int place = (int)(w % 4), rounds = flop16 >= 8 ? flop16 / 8 : place < flop16 / 2;
    float x = mem_float(mem_flops_bits(from[w]));
    if (flop16 == 1 && place == 0) x = x + MEM_FLOPS_B;
    for (int r = 0; r < rounds; r++) x = fmaf(x, MEM_FLOPS_A, MEM_FLOPS_B);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    sum += bits;
  }
  return sum;
}

#ifdef __x86_64__
/* flops_body.h computes eight vectors at once, to have enough multiply-adds in flight. */
#define FN(name)     avx512_##name
#define TARGET       __attribute__((target("avx512f")))
#define BYTES        64
#define FMA(x, a, b) ((VF)_mm512_fmadd_ps((__m512)(x), (__m512)(a), (__m512)(b)))
#include "tools/memory/cpu/flops_body.h"

#define FN(name)     avx2_##name
#define TARGET       __attribute__((target("avx2,fma")))
#define BYTES        32
#define FMA(x, a, b) ((VF)_mm256_fmadd_ps((__m256)(x), (__m256)(a), (__m256)(b)))
#include "tools/memory/cpu/flops_body.h"
#endif

uint32_t mem_cpu_flops(const uint32_t *from, size_t words, int flop16)
{
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return avx512_flops(from, words, flop16);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_flops(from, words, flop16);
#endif
  return mem_cpu_flops_plain(from, words, flop16);
}

#ifdef __SSE2__
static void copy_streaming(float *to, const float *from, size_t n)
{
  for (size_t i = 0; i < n; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
  _mm_sfence();
}

static void add_streaming(float *to, const float *x, const float *y, size_t n)
{
  for (size_t i = 0; i < n; i += 4)
    _mm_stream_ps(to + i, _mm_add_ps(_mm_loadu_ps(x + i), _mm_loadu_ps(y + i)));
  _mm_sfence();
}

void (*const mem_cpu_copy_streaming)(float *, const float *, size_t) = copy_streaming;
void (*const mem_cpu_add_streaming)(float *, const float *, const float *, size_t) = add_streaming;
#else
void (*const mem_cpu_copy_streaming)(float *, const float *, size_t) = NULL;
void (*const mem_cpu_add_streaming)(float *, const float *, const float *, size_t) = NULL;
#endif
