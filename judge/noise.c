/* SPDX-License-Identifier: MIT */
#include "judge/parts.h"

#include <math.h>
#include <stdio.h>

#include "base/stats.h"

double noise_limit(const struct policy *policy, enum check_of of)
{
  const double all = policy_limit(policy, "noise_max"), device = policy_limit(policy, "device_noise_max");
  return of & NOISE_OF_RUN || device < 0 ? all >= 0 ? all : POLICY_NOISE_MAX : device;
}

double noise_of_blocks(const struct judge_run *run)
{
  const struct stats_summary s = stats_summarise(run->samples, (size_t)run->n_samples);
  return stats_noise_max(&s);
}

static double devices_noise(const struct judge_run *run)
{
  double most = 0;
  for (int r = 0; r < run->n_ranks; r++) most = fmax(most, run->ranks[r].noise);
  return most;
}

/* Returns the rank that waited for a core for the largest share of its time. */
static int starved_rank(const struct judge_run *run)
{
  int most = 0;
  for (int r = 1; r < run->n_ranks; r++)
    if (!(run->ranks[r].starved <= run->ranks[most].starved) && !isnan(run->ranks[r].starved)) most = r;
  return most;
}

/* Returns whether times of this kind depend on the host's cores. Only computing on a GPU does
 * not. */
static int needs_host(const struct judge_run *run, enum check_of of)
{
  int exchange = 1;
  if (of & NOISE_OF_RUN || of == OF_PAIRS) return 1;
  if (!(of & (NOISE_OF_DEVICE | NEEDS_SERIES))) return 0;
  if (run->ranks[0].takes_cores) return 1;
  for (int s = 0; s < judge_stored(run->n_stragglers); s++)
    exchange &= run->stragglers[s].of == JUDGE_EXCHANGE;
  for (int s = 0; s < judge_stored(run->n_slowdowns); s++) exchange &= run->slowdowns[s].of == JUDGE_EXCHANGE;
  return !(of & NOISE_OF_DEVICE) && exchange;
}

void noise_heed(const struct judge_run *run, const struct policy *policy, enum check_of of,
                struct check *check)
{
  const double most = noise_limit(policy, of),
               noise = of & NOISE_OF_RUN ? noise_of_blocks(run) : devices_noise(run);
  if (check->outcome != CHECK_FAIL || isnan(check->value)) return;
  const int starved = starved_rank(run);
  if (needs_host(run, of) && run->ranks[starved].starved > most)
    snprintf(check->why, sizeof check->why, "the host is busy, rank %d waited %.1f%% for a core: run again",
             starved, 100 * run->ranks[starved].starved);
  else if (of & (NOISE_OF_RUN | NOISE_OF_DEVICE) && noise > most)
    snprintf(check->why, sizeof check->why, "blocks vary by up to %.1f%%: run again", 100 * noise);
  else
    return;
  check->outcome = CHECK_NOISY;
  check->rank = -1;
}
