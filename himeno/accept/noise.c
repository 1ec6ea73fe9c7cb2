/* SPDX-License-Identifier: MIT */
#include "himeno/accept/noise.h"

#include <math.h>
#include <stdio.h>

#include "base/stats.h"

int noise_is_of_run(enum accept_of of)
{
  return of == OF_RUN || of == OF_NOISE;
}

int noise_is_of_device(enum accept_of of)
{
  return of == OF_DEVICE || of == OF_RATE || of == OF_CEILING || of == OF_DEVICE_NOISE;
}

double noise_limit(const struct accept_policy *policy, enum accept_of of)
{
  const double most = policy->noise_max >= 0 ? policy->noise_max : ACCEPT_NOISE_MAX;
  return noise_is_of_run(of) || policy->device_noise_max < 0 ? most : policy->device_noise_max;
}

double noise_of_blocks(const struct himeno_result *r)
{
  const struct stats_summary s = stats_summarise(r->samples, (size_t)r->n_samples);
  return stats_noise_max(&s);
}

static double devices_noise(const struct himeno_result *result)
{
  double most = 0;
  for (int r = 0; r < result->n_ranks; r++) most = fmax(most, result->ranks[r].noise);
  return most;
}

int noise_starved_rank(const struct himeno_result *result)
{
  int most = 0;
  for (int r = 1; r < result->n_ranks; r++)
    if (result->ranks[r].telemetry.starved > result->ranks[most].telemetry.starved) most = r;
  return most;
}

/* Whether times of this kind depend on the host's cores: not those that a GPU takes by itself. */
static int needs_host(const struct placement *placement, const struct himeno_result *r, enum accept_of of)
{
  int exchange = 1;
  if (noise_is_of_run(of) || of == OF_WAYS) return 1;
  if (!noise_is_of_device(of) && of != OF_STRAGGLERS && of != OF_EPISODES) return 0;
  if (gpu_takes_cores(placement->backend, &r->ranks[0].row.info)) return 1;
  for (int s = 0; s < r->n_stragglers && s < HIMENO_STRAGGLERS_MAX; s++)
    exchange &= r->stragglers[s].of == STRAGGLER_EXCHANGE;
  for (int e = 0; e < r->n_episodes && e < HIMENO_EPISODES_MAX; e++)
    exchange &= r->episodes[e].of == STRAGGLER_EXCHANGE;
  return !noise_is_of_device(of) && exchange;
}

void noise_heed(const struct placement *placement, const struct himeno_result *result,
                const struct accept_policy *policy, enum accept_of of, struct accept_check *check)
{
  const double most = noise_limit(policy, of),
               is = noise_is_of_run(of) ? noise_of_blocks(result) : devices_noise(result);
  const int starved = noise_starved_rank(result);
  if (check->outcome != CHECK_FAIL || isnan(check->value)) return;
  if (needs_host(placement, result, of) && result->ranks[starved].telemetry.starved > most) {
    check->outcome = CHECK_NOISY;
    snprintf(check->why, sizeof check->why, "the host is busy, rank %d waited %.1f%% for a core: run again",
             starved, 100 * result->ranks[starved].telemetry.starved);
    check->rank = -1;
  } else if ((noise_is_of_run(of) || noise_is_of_device(of)) && is > most) {
    check->outcome = CHECK_NOISY;
    snprintf(check->why, sizeof check->why, "blocks vary by up to %.1f%%: run again", 100 * is);
    check->rank = -1;
  }
}
