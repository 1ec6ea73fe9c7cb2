/* SPDX-License-Identifier: MIT */
/* The roofline model of a blocked product: the speed that a device can reach with a kernel's
 * blocks.
 *
 * Source: Williams, Waterman and Patterson, "Roofline", Comm. ACM 52, 2009, applied to each memory
 * level as in Fixstars' seminar of 2022. Per step of k, a block of M×N float elements reads 4·(M+N)
 * bytes for 2·M·N operations. Its intensity is therefore M·N / (2·(M+N)) flop per byte. For device
 * memory, the block is that of a work-group; for local memory, that of a work-item. A read of less
 * than a sector takes as long as a whole sector. Overlapped times count as their maximum,
 * sequential times are added up. Caches are ignored. */
#include "gemm/state/state.h"

#include <math.h>

/* Seconds of overhead per launch. If k is split, a second launch adds up the splits. */
#define LAUNCH_SECONDS 5e-6

const char *const gemm_bound_names[] = {"arithmetic", "device memory", "local memory"};

/* Smallest access to device memory, in bytes. */
#define SECTOR 32.0

/* Returns the operations per byte for a block of rows × columns that reads `depth` elements of each
 * row and column at a time. Without transposition, a row's elements are contiguous. A column's
 * elements are not, but the block also uses their neighbours in the same sectors. */
static double intensity(const struct gemm_problem *p, double rows, double columns, double depth)
{
  double bytes = (double)gemm_types[p->type].operand_bytes;
  double row = depth > 0 ? fmax(depth * bytes, SECTOR) / depth : bytes;
  return 2 * rows * columns / (rows * (p->trans_a ? bytes : row) + columns * (p->trans_b ? row : bytes));
}

/* Returns the share of compute units with useful work. Units are idle if the last wave of
 * work-groups is incomplete. Elements of tiles beyond the matrix's edge are useless work. */
static double filled_share(const struct gemm_machine *machine, const struct gemm_problem *p,
                           const struct gemm_blocks *b)
{
  double down = ceil((double)p->m / b->group_m), across = ceil((double)p->n / b->group_n);
  double groups = down * across * (b->splits > 1 ? b->splits : 1);
  double units = machine->units > 0 ? machine->units : 1;
  double inside = (double)p->m * (double)p->n / (down * b->group_m * across * b->group_n);
  return inside * groups / (ceil(groups / units) * units);
}

static double gemm_model_time(double work, double rate)
{
  return rate > 0 ? work / rate : 0;
}

/* Returns the seconds to write, read and add up the partial results of C if k is split. */
static double splits_time(const struct gemm_machine *machine, const struct gemm_problem *p, int splits)
{
  if (splits < 2) return 0;
  double bytes = 2.0 * splits * (double)p->m * (double)p->n *
                 fmax(sizeof(float), (double)gemm_types[p->type].result_bytes);
  return LAUNCH_SECONDS + gemm_model_time(bytes, machine->ceilings.bytes_per_second);
}

struct gemm_prediction gemm_predict(const struct gemm_machine *machine, const struct gemm_problem *p,
                                    const struct gemm_blocks *b)
{
  struct gemm_prediction out = {.seconds = 0};
  const struct gemm_ceilings *c = &machine->ceilings;
  if (c->flops <= 0 || b->item_m == 0 || b->group_m == 0) return out;
  double flop = gemm_flop(p);
  out.filled = filled_share(machine, p, b);
  out.device_intensity = b->group_k > 0 ? intensity(p, b->group_m, b->group_n, b->group_k)
                                        : intensity(p, b->item_m, b->item_n, 0);
  out.local_intensity = b->group_k > 0 ? intensity(p, b->item_m, b->item_n, 0) : 0;
  /* Each load of four elements takes an issue slot from a multiply-add. */
  double slots = (double)b->item_m * b->item_n;
  double share = b->group_k > 0 ? slots / (slots + (b->item_m + b->item_n) / 4.0) : 1;
  double arithmetic = flop / (c->flops * share * out.filled);
  double local = out.local_intensity > 0
                     ? gemm_model_time(flop / out.local_intensity, c->local_bytes_per_second * out.filled)
                     : 0;
  double device = gemm_model_time(flop / out.device_intensity, c->bytes_per_second);
  double compute = b->ahead ? fmax(arithmetic, local) : arithmetic + local;
  /* Without local memory, loads of many work-items overlap with arithmetic of other work-items. */
  int overlapped = b->stages > 1 || b->group_k == 0;
  out.seconds = LAUNCH_SECONDS + splits_time(machine, p, b->splits) +
                (overlapped ? fmax(compute, device) : compute + device);
  out.bound = device > arithmetic && device > local ? GEMM_BOUND_DEVICE : GEMM_BOUND_ARITHMETIC;
  if (local > arithmetic && local >= device) out.bound = GEMM_BOUND_LOCAL;
  return out;
}
