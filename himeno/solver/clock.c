/* SPDX-License-Identifier: MIT */
#include "himeno/solver/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/switches.h"
#include "base/values.h"
#include "gpu/null/null_device.h"

SWITCH("HIMENO_NULL_CLOCK", TEST, AGREED, FREE("`seed=N noise=X device=RANK:X link=A-B:X`"),
       "himeno-gpu on backend `null`: times of a simulated machine, with slow devices and links");

/* The simulated machine. */
#define DEVICE_BYTES_PER_SECOND 2e10
#define LINK_BYTES_PER_SECOND   2e10
#define LINK_SECONDS            1e-6
#define REDUCE_SECONDS          1e-6
#define BOUNDARY_SHARE          0.1
#define NOISE_DEFAULT           0.003
#define CEILING_SHARE           0.98 /* of the ceiling that a sweep reaches */
#define LEAST                   0.05 /* of its usual time, that noise leaves of a block */
#define BETWEEN_SECONDS         5e-3 /* between two blocks: checks, agreement of the ranks */

static const char *words(void)
{
  const char *text = switch_text("HIMENO_NULL_CLOCK");
  return text ? text : "";
}

/* One of seed=N, noise=X, device=RANK:X and link=LOWER-HIGHER:X, written as it is looked for. */
static int is_understood(const char *word)
{
  char key[64] = "noise=";
  int a, b;
  long long seed;
  double value;
  if (strncmp(word, "seed=", 5) == 0) return value_read_int(word + 5, 0, 1LL << 53, &seed) == STATUS_OK;
  if (sscanf(word, "device=%d:", &a) == 1 && a >= 0) snprintf(key, sizeof key, "device=%d:", a);
  if (sscanf(word, "link=%d-%d:", &a, &b) == 2 && a >= 0 && a < b)
    snprintf(key, sizeof key, "link=%d-%d:", a, b);
  return strncmp(word, key, strlen(key)) == 0 &&
         value_read_real(word + strlen(key), key[0] == 'n' ? 0 : 1e-9, 1e9, &value) == STATUS_OK;
}

status_t clock_check(void)
{
  char word[64];
  for (const char *at = words(); *at; at += strcspn(at, " "), at += strspn(at, " ")) {
    int n = snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
    if (n >= (int)sizeof word || (n && !is_understood(word)))
      return log_fail(
          STATUS_USAGE,
          "HIMENO_NULL_CLOCK \"%s\": must be of seed=N, noise=X, device=RANK:X, link=LOWER-HIGHER:X",
          words());
  }
  return STATUS_OK;
}

static double clock_number(const char *word, double missing)
{
  const char *at = strstr(words(), word);
  return at ? strtod(at + strlen(word), NULL) : missing;
}

/* The factor of a word such as "device=3:", 1 where it is not there. */
static double factor(const char *format, int a, int b)
{
  char word[48];
  snprintf(word, sizeof word, format, a, b);
  return clock_number(word, 1);
}

static double link_factor(int a, int b)
{
  return factor("link=%d-%d:", a < b ? a : b, a < b ? b : a);
}

/* Nearly normal, mean 1: twelve uniform numbers summed. A rank's blocks and the parts of a block
 * are independent. */
static double noisy(int rank, long number, int part)
{
  double sum = -6;
  uint64_t state =
      hash_mix((uint64_t)clock_number("seed=", 1)) + (uint64_t)rank * 1000003u + (uint64_t)number * 101u;
  for (int n = 0; n < 12; n++)
    sum += (double)(hash_mix(state + (uint64_t)(part * 12 + n) * 7919u) >> 11) * 0x1p-53;
  return fmax(LEAST, 1 + clock_number("noise=", NOISE_DEFAULT) * sum);
}

double clock_message(int a, int b, double bytes)
{
  return (LINK_SECONDS + bytes / LINK_BYTES_PER_SECOND) * link_factor(a, b);
}

static double transfer_seconds(const struct clock_block *b)
{
  double seconds = 0;
  for (int m = 0; m < b->plan->n; m++) {
    const struct halo_message *message = &b->plan->messages[m];
    seconds += clock_message(b->rank, message->peer, (double)message->count * sizeof(float));
  }
  return seconds;
}

void clock_block(const struct clock_block *b, double phases[HIMENO_PHASES], double *seconds)
{
  double compute = b->points * HIMENO_BYTES_PER_POINT / DEVICE_BYTES_PER_SECOND * b->sweeps *
                   factor("device=%d:", b->rank, 0) * noisy(b->rank, b->number, 0);
  double transfer = transfer_seconds(b) * b->sweeps * noisy(b->rank, b->number, 1);
  for (int p = 0; p < HIMENO_PHASES; p++) phases[p] = 0;
  phases[PHASE_BOUNDARY] = b->plan->n ? BOUNDARY_SHARE * compute : 0;
  phases[PHASE_INTERIOR] = compute - phases[PHASE_BOUNDARY];
  phases[PHASE_TRANSFER] = transfer;
  phases[PHASE_REDUCE] = b->plan->n ? REDUCE_SECONDS * b->sweeps : 0;
  *seconds = phases[PHASE_BOUNDARY] + fmax(phases[PHASE_INTERIOR], transfer) + phases[PHASE_REDUCE];
}

static void clock_advance(double seconds)
{
  null_clock_spend((int64_t)(1e9 * (seconds + BETWEEN_SECONDS)));
}

double clock_ceiling(int rank, double bytes)
{
  return CEILING_SHARE * bytes / DEVICE_BYTES_PER_SECOND * factor("device=%d:", rank, 0);
}

const struct solver_clock *clock_of(const struct gpu_backend *backend)
{
  static const struct solver_clock simulated = {clock_block, clock_advance, clock_ceiling};
  return backend->for_tests && words()[0] ? &simulated : NULL;
}

double clock_seconds(const struct gpu_backend *backend)
{
  return clock_of(backend) ? 1e-9 * (double)null_clock_now() : stats_now();
}
