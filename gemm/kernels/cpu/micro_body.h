/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A tile of C in vector registers. The file of each instruction set includes this file once
 * per type.
 *
 * The includer defines NUMBER (float or double), FN(name) (its name for a function), LANES (numbers
 * per vector), TARGET (function attribute), ROWS and VECTORS (a tile has ROWS × VECTORS·LANES
 * elements), SPREAD(x), a vector with x in all lanes, and FMA(a, b, c) on vectors.
 *
 * A step loads VECTORS vectors of B and multiplies them by ROWS elements of A that are broadcast to
 * all lanes: ROWS·VECTORS multiply-adds for VECTORS + ROWS loads. Source: Van Zee and van de Geijn,
 * "BLIS: a framework for rapidly instantiating BLAS functionality", ACM TOMS 41, 2015. */

typedef NUMBER FN(vector) __attribute__((vector_size(sizeof(NUMBER) * LANES)));
#ifndef EACH
#define VF FN(vector)
#define EACH                                                                                                 \
  _Pragma("GCC unroll 32") for (int r = 0; r < ROWS; r++)                                                    \
      _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++)
/* The constraint for a vector operand in inline assembly. */
#if defined(__x86_64__) || defined(__i386__)
#define VECTOR_PLACE "x"
#elif defined(__aarch64__)
#define VECTOR_PLACE "w"
#else
#define VECTOR_PLACE "m"
#endif
/* Prefetch distance for B, in steps. */
#define AHEAD 8
#endif

static TARGET void FN(tile)(int64_t k, const void *lines_a, const void *lines_b, void *tile)
{
  const NUMBER *a = lines_a, *b = lines_b;
  VF sums[ROWS][VECTORS];
  EACH sums[r][v] = (VF){0};
  for (int64_t l = 0; l < k; l++) {
    const VF *line = (const VF *)(b + l * VECTORS * LANES);
    VF terms[VECTORS];
    _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++) terms[v] = line[v];
    __builtin_prefetch(b + (l + AHEAD) * VECTORS * LANES);
    __builtin_prefetch(a + (l + AHEAD) * ROWS);
    _Pragma("GCC unroll 32") for (int r = 0; r < ROWS; r++)
    {
      const VF factor = SPREAD(a[l * ROWS + r]);
      _Pragma("GCC unroll 8") for (int v = 0; v < VECTORS; v++) sums[r][v] =
          FMA(factor, terms[v], sums[r][v]);
    }
  }
  EACH((VF *)tile)[r * VECTORS + v] = sums[r][v];
}

static TARGET double FN(spin)(int64_t iterations)
{
  VF sums[ROWS][VECTORS], factor = SPREAD((NUMBER)0.5), term = SPREAD((NUMBER)1);
  EACH sums[r][v] = SPREAD((NUMBER)(r * VECTORS + v));
  for (int64_t t = 0; t < iterations; t++) {
    EACH sums[r][v] = FMA(sums[r][v], factor, term);
    __asm__ volatile("" : "+" VECTOR_PLACE(factor));
  }
  EACH __asm__ volatile("" : : VECTOR_PLACE(sums[r][v]));
  return 2.0 * ROWS * VECTORS * LANES * (double)iterations;
}

#undef NUMBER
#undef FN
#undef LANES
#undef FMA
#undef SPREAD
