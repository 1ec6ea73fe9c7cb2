/* SPDX-License-Identifier: MIT */
/* The roofline's work with vectors, included once per instruction set. The includer defines
 * FN(name) (the function name for this instruction set), TARGET (function attribute), BYTES (size
 * of a vector) and FMA(x, a, b); this file undefines them at its end. */

typedef float FN(vector) __attribute__((vector_size(BYTES)));
typedef uint32_t FN(words) __attribute__((vector_size(BYTES)));
typedef uint32_t FN(loose) __attribute__((vector_size(BYTES), aligned(4), may_alias));

#define VF    FN(vector)
#define VW    FN(words)
#define LANES (BYTES / 4)
#define EACH  _Pragma("GCC unroll 8") for (int v = 0; v < 8; v++)

/* Returns a mask of the first \a places of every four lanes. */
static inline TARGET __attribute__((always_inline)) VW FN(every_fourth)(int places)
{
  VW mask;
  for (int lane = 0; lane < LANES; lane++) mask[lane] = lane % 4 < places ? ~0u : 0u;
  return mask;
}

static TARGET uint32_t FN(flops)(const uint32_t *from, size_t words, int flop16)
{
  const VF a = MEM_FLOPS_A + (VF){0}, b = MEM_FLOPS_B + (VF){0};
  VW sum = {0}, few = FN(every_fourth)(flop16 == 4 ? 2 : 1);
  uint32_t total = 0;
  for (size_t w = 0; w < words; w += 8 * LANES) {
    VF x[8];
    EACH x[v] = (VF)((*(const FN(loose) *)(from + w + v * LANES) & 0x007fffffu) | 0x3f800000u);
    if (flop16 == 1)
      EACH x[v] = (VF)(((VW)(x[v] + b) & few) | ((VW)x[v] & ~few));
    else if (flop16 < 8)
      EACH x[v] = (VF)(((VW)FMA(x[v], a, b) & few) | ((VW)x[v] & ~few));
    else
      for (int r = 0; r < flop16 / 8; r++) EACH x[v] = FMA(x[v], a, b);
    EACH sum += (VW)x[v];
  }
  for (int lane = 0; lane < LANES; lane++) total += sum[lane];
  return total;
}

#undef FN
#undef TARGET
#undef BYTES
#undef FMA
