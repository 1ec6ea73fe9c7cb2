/* SPDX-License-Identifier: MIT */
/* The checks of a policy: those of the whole run first, then those of each rank, of which the worst
 * is listed. */
#include "himeno/accept/accept.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "himeno/accept/noise.h"
#include "himeno/accept/suspect.h"
#include "himeno/accept/ways.h"

#define CACHES_MIN   4 /* arrays of a device over its cache */
#define LIMIT(field) offsetof(struct accept_policy, field)

static double limit_of(const struct accept_policy *policy, size_t offset)
{
  return *(const double *)((const char *)policy + offset);
}

/* NULL where the policy does not name the limit at that offset. */
static struct accept_check *check_add(struct accept *accept, const struct accept_policy *policy,
                                      const char *name, const char *unit, size_t offset, int at_most)
{
  if (limit_of(policy, offset) < 0) return NULL;
  struct accept_check *check = &accept->checks[accept->n++];
  *check = (struct accept_check){.name = name,
                                 .unit = unit,
                                 .limit = limit_of(policy, offset),
                                 .at_most = at_most,
                                 .rank = -1,
                                 .from = policy_from(policy, offset)};
  return check;
}

/* ---- of the whole run ---- */

/* A few interrupted blocks are no slow machine: rates are those of the median block. */
static double typical_gflops(const struct himeno_result *r)
{
  struct stats_summary s = stats_summarise(r->samples, (size_t)r->n_samples);
  return s.median > 0 ? himeno_result_gflops(r) * s.mean / s.median : NAN;
}

static double device_gflops(const struct himeno_rank *rank)
{
  return rank->compute > 0 ? himeno_gflops((double)rank->points, 1, rank->compute) : NAN;
}

/* All devices together over what each reaches by itself: what exchange, waiting and reduction
 * leave. */
static double efficiency(const struct himeno_result *result, struct accept_check *check)
{
  double sum = 0;
  for (int r = 0; r < result->n_ranks; r++) sum += device_gflops(&result->ranks[r]);
  (void)check;
  return sum > 0 ? typical_gflops(result) / sum : NAN;
}

static double spread(const struct himeno_result *result, struct accept_check *check)
{
  int n = result->n_ranks, slowest = 0;
  double rates[n];
  for (int r = 0; r < n; r++) {
    rates[r] = device_gflops(&result->ranks[r]);
    if (rates[r] < rates[slowest]) slowest = r;
  }
  struct stats_summary s = stats_summarise(rates, (size_t)n);
  if (s.min < s.max) check->rank = slowest;
  return s.median > 0 ? (s.max - s.min) / s.median : NAN;
}

static double noise(const struct himeno_result *result, struct accept_check *check)
{
  (void)check;
  return noise_of_blocks(result);
}

/* The way between two ranks that is slowest by latency or by rate. */
static double way_slowest(const struct himeno_result *result, int rate, struct accept_check *check)
{
  double worst = NAN;
  int peer = -1;
  for (int r = 0; r < result->n_ranks; r++)
    for (int m = 0; m < result->ranks[r].n_paths; m++) {
      const struct himeno_path *path = &result->ranks[r].paths[m];
      const double value = rate ? path->way.bytes_per_second / 1e9 : path->way.seconds * 1e6;
      if (!(path->way.seconds > 0) || (rate ? value >= worst : value <= worst)) continue;
      worst = value;
      check->rank = r;
      peer = path->peer;
    }
  if (peer >= 0) suspect_end(result, &check->rank, peer, check->why, sizeof check->why);
  return worst;
}

static double exchange_us(const struct himeno_result *result, struct accept_check *check)
{
  return way_slowest(result, 0, check);
}

static double exchange_gbps(const struct himeno_result *result, struct accept_check *check)
{
  return way_slowest(result, 1, check);
}

static double way_ratio(const struct himeno_result *result, int rate, struct accept_check *check)
{
  const struct ways_worst worst = ways_worst(result, rate);
  check->rank = worst.rank;
  if (worst.rank < 0) {
    check->outcome = CHECK_INAPPLICABLE;
    snprintf(check->why, sizeof check->why, "needs %d pairs of ranks by one way", WAYS_ALIKE_MIN);
  } else {
    suspect_end(result, &check->rank, worst.peer, check->why, sizeof check->why);
  }
  return worst.times;
}

static double exchange_us_ratio(const struct himeno_result *result, struct accept_check *check)
{
  return way_ratio(result, 0, check);
}

static double exchange_gbps_ratio(const struct himeno_result *result, struct accept_check *check)
{
  return way_ratio(result, 1, check);
}

static double stragglers(const struct himeno_result *result, struct accept_check *check)
{
  if (result->n_stragglers > 0) check->rank = result->stragglers[0].rank;
  return result->n_stragglers;
}

static double episodes(const struct himeno_result *result, struct accept_check *check)
{
  if (result->n_episodes > 0) check->rank = result->episodes[0].rank;
  return result->n_episodes;
}

static double counted(const struct himeno_result *result, struct accept_check *check)
{
  return suspect_most_counted(result, &check->rank, check->why, sizeof check->why);
}

/* The host with fewest devices: ranks that share one count it once. */
static double devices_per_host(const struct himeno_result *result, struct accept_check *check)
{
  double least = INFINITY;
  for (int r = 0; r < result->n_ranks; r++) {
    double devices = 0;
    for (int s = 0; s < result->n_ranks; s++)
      if (rank_same_host(&result->ranks[s].row, &result->ranks[r].row))
        devices += 1.0 / (1 + result->ranks[s].row.shared);
    if (devices >= least) continue;
    least = devices;
    check->rank = r;
  }
  return round(least);
}

static const struct run_check {
  const char *name, *unit;
  size_t limit;
  int at_most;
  enum accept_of of;
  int ranks; /* with fewer there is no such value */
  double (*value)(const struct himeno_result *, struct accept_check *);
} run_checks[] = {
    {"efficiency", "", LIMIT(efficiency_min), 0, OF_RUN, 1, efficiency},
    {"spread of devices", "", LIMIT(device_spread_max), 1, OF_DEVICE, 2, spread},
    {"noise of blocks", "", LIMIT(noise_max), 1, OF_NOISE, 1, noise},
    {"exchange latency", "us", LIMIT(exchange_us_max), 1, OF_WAYS, 2, exchange_us},
    {"exchange rate", "GB/s", LIMIT(exchange_gbps_min), 0, OF_WAYS, 2, exchange_gbps},
    {"latency over its like", "", LIMIT(exchange_us_ratio_max), 1, OF_WAYS, 2, exchange_us_ratio},
    {"rate over its like", "", LIMIT(exchange_gbps_ratio_min), 0, OF_WAYS, 2, exchange_gbps_ratio},
    {"stragglers", "", LIMIT(stragglers_max), 1, OF_STRAGGLERS, STRAGGLER_RANKS_MIN, stragglers},
    {"slow for a while", "", LIMIT(episodes_max), 1, OF_EPISODES, 1, episodes},
    {"errors counted", "", LIMIT(counted_max), 1, OF_COUNTERS, 1, counted},
    {"devices a host", "", LIMIT(devices_per_host), 0, OF_STATE, 1, devices_per_host},
};
#define RUN_CHECKS (sizeof run_checks / sizeof *run_checks)

/* Whether a run of this kind has such a value; else the check gets the reason. */
static int applies(const struct himeno_config *config, const struct placement *placement, enum accept_of of,
                   int ranks, struct accept_check *check)
{
  const int emulated = of != OF_STATE && of != OF_COUNTERS && placement->info.emulated;
  const int with_ceiling = of == OF_CEILING || of == OF_THEORY;
  if (!emulated && placement->ranks >= ranks && !(with_ceiling && config->soak_given)) return 1;
  check->outcome = CHECK_INAPPLICABLE;
  if (emulated)
    snprintf(check->why, sizeof check->why, "an emulator has no speed");
  else if (placement->ranks < ranks)
    snprintf(check->why, sizeof check->why, "needs %d ranks", ranks);
  else
    snprintf(check->why, sizeof check->why, "no ceiling is measured in a run of this kind");
  return 0;
}

/* Whose times these are nobody knows where ranks share a device, or exchanges wait for a core. */
static int own_times(const struct himeno_result *result, enum accept_of of, struct accept_check *check)
{
  int devices = 0, cores = 0;
  for (int r = 0; r < result->n_ranks; r++) {
    const struct rank_row *row = &result->ranks[r].row;
    devices |= row->shared > 0;
    cores |= row->info.is_cpu && row->overlap;
  }
  const int in_turns =
      devices && (of == OF_RUN || of == OF_EPISODES || (noise_is_of_device(of) && of != OF_DEVICE_NOISE));
  if (!in_turns && !(cores && (of == OF_WAYS || of == OF_EPISODES))) return 1;
  check->outcome = CHECK_INAPPLICABLE;
  snprintf(check->why, sizeof check->why, "ranks share %s", in_turns ? "devices" : "cores");
  return 0;
}

/* A core need not compute as fast as it reads; a grid in the caches does not show the memory. */
static int in_scope(const struct himeno_result *result, const struct accept_policy *policy, enum accept_of of,
                    struct accept_check *check)
{
  int cores = 0, cached = 0;
  for (int r = 0; r < result->n_ranks; r++) {
    const struct himeno_rank *rank = &result->ranks[r];
    cores |= rank->row.info.is_cpu;
    cached |= (double)rank->points * HIMENO_BYTES_PER_POINT < CACHES_MIN * (double)rank->row.info.cache_bytes;
  }
  if (!policy->built_in || !(of == OF_CEILING || of == OF_RATE) || !(cores || cached)) return 1;
  check->outcome = CHECK_INAPPLICABLE;
  snprintf(check->why, sizeof check->why, "%s",
           cores ? "its limit is one of GPUs" : "needs more points a device: caches hold much of these");
  return 0;
}

/* An episode is slower than more than half of the run. */
static int long_enough(const struct himeno_result *r, enum accept_of of, struct accept_check *check)
{
  const double span = r->kept_blocks > 0 ? r->when[r->kept_blocks - 1].end : 0;
  if (of != OF_EPISODES || span >= EPISODE_SPAN) return 1;
  check->outcome = CHECK_INAPPLICABLE;
  snprintf(check->why, sizeof check->why, "needs %.0f s from first to last block", EPISODE_SPAN);
  return 0;
}

/* Whether there are blocks enough to tell the value; else the check gets the reason. */
static int enough_blocks(const struct himeno_result *r, enum accept_of of, struct accept_check *check)
{
  int need = of == OF_STRAGGLERS ? straggler_blocks_min(r->n_ranks) : ACCEPT_BLOCKS_MIN;
  if (of == OF_STATE || of == OF_WAYS || of == OF_THEORY || of == OF_COUNTERS || r->n_samples >= need)
    return 1;
  snprintf(check->why, sizeof check->why, "needs %d timed blocks", need);
  return 0;
}

/* ---- of each rank ---- */

static double known(double value)
{
  return value < 0 ? NAN : value;
}

static double rank_gflops(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return device_gflops(rank);
}

static double ceiling_share(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return rank->ceiling > 0 ? himeno_bytes_per_second(device_gflops(rank)) / rank->ceiling : NAN;
}

static double theory_share(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  const double peak = telemetry_peak_bytes(&rank->telemetry.after);
  (void)policy;
  return rank->ceiling > 0 && peak > 0 ? rank->ceiling / peak : NAN;
}

static double device_noise(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return rank->noise;
}

static double alone(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return !rank->row.shared && !rank->row.overlap;
}

static double device_alone(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return !rank->row.shared && !(rank->row.info.is_cpu && rank->row.overlap);
}

static double throttled(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  const struct record_telemetry *t = &rank->telemetry;
  if (t->samples == 0 || t->low.throttle < 0) return NAN;
  int most = 0;
  for (int b = 0; b < THROTTLE_BITS; b++)
    if (policy->throttle_forbidden >> b & 1 && t->by_reason[b] > most) most = t->by_reason[b];
  return (double)most / t->samples;
}

static double pcie_full(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  const struct telemetry_state *s = &rank->telemetry.after;
  (void)policy;
  return s->pcie_width < 0 || s->pcie_width_max < 0 ? NAN : s->pcie_width >= s->pcie_width_max;
}

#define STATE_VALUE(name, field)                                                                             \
  static double name(const struct himeno_rank *rank, const struct accept_policy *policy)                     \
  {                                                                                                          \
    (void)policy;                                                                                            \
    return known((double)rank->field);                                                                       \
  }
STATE_VALUE(ecc, telemetry.after.ecc)
STATE_VALUE(corrected, telemetry.after.corrected)
STATE_VALUE(uncorrected, telemetry.after.uncorrected)
STATE_VALUE(retired, telemetry.after.retired)
STATE_VALUE(pcie_gen, telemetry.after.pcie_gen)
STATE_VALUE(pcie_width, telemetry.after.pcie_width)
STATE_VALUE(nvlinks, telemetry.after.nvlinks_active)
STATE_VALUE(nvlink_crc_rate, telemetry.crc_rate)
STATE_VALUE(sm_mhz, telemetry.low.sm_mhz)
STATE_VALUE(celsius, telemetry.high.celsius)
STATE_VALUE(cards, cards)
#undef STATE_VALUE

static double card_gbps(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return rank->cards_gbps > 0 ? rank->cards_gbps : NAN;
}

static const struct rank_check {
  const char *name, *unit;
  size_t limit;
  int at_most;
  double (*value)(const struct himeno_rank *, const struct accept_policy *);
  enum accept_of of;
} rank_checks[] = {
    {"share of ceiling", "", LIMIT(ceiling_share_min), 0, ceiling_share, OF_CEILING},
    {"ceiling of theory", "", LIMIT(theory_share_min), 0, theory_share, OF_THEORY},
    {"device", "GFLOPS", LIMIT(device_gflops_min), 0, rank_gflops, OF_RATE},
    {"noise of devices", "", LIMIT(device_noise_max), 1, device_noise, OF_DEVICE_NOISE},
    {"device and cores unshared", "", LIMIT(binding), 0, alone, OF_STATE},
    {"device unshared", "", LIMIT(devices_unshared), 0, device_alone, OF_STATE},
    {"ECC on", "", LIMIT(ecc), 0, ecc, OF_STATE},
    {"ECC corrected", "errors", LIMIT(ecc_corrected_max), 1, corrected, OF_STATE},
    {"ECC uncorrected", "errors", LIMIT(ecc_uncorrected_max), 1, uncorrected, OF_STATE},
    {"retired memory", "pages", LIMIT(retired_max), 1, retired, OF_STATE},
    {"PCIe generation", "", LIMIT(pcie_gen_min), 0, pcie_gen, OF_STATE},
    {"PCIe lanes", "", LIMIT(pcie_width_min), 0, pcie_width, OF_STATE},
    {"all PCIe lanes in use", "", LIMIT(pcie_full), 0, pcie_full, OF_STATE},
    {"NVLinks active", "", LIMIT(nvlinks_min), 0, nvlinks, OF_STATE},
    {"NVLink CRC errors", "1/s", LIMIT(nvlink_crc_rate_max), 1, nvlink_crc_rate, OF_COUNTERS},
    {"clock", "MHz", LIMIT(sm_mhz_min), 0, sm_mhz, OF_STATE},
    {"temperature", "C", LIMIT(celsius_max), 1, celsius, OF_STATE},
    {"throttled blocks", "", LIMIT(throttled_max), 1, throttled, OF_STATE},
    {"network cards up", "", LIMIT(cards_min), 0, cards, OF_STATE},
    {"slowest network card", "Gbit/s", LIMIT(card_gbps_min), 0, card_gbps, OF_STATE},
};
#define RANK_CHECKS (sizeof rank_checks / sizeof *rank_checks)

/* What devices need not tell fails nothing. */
static int may_be_unknown(enum accept_of of)
{
  return of == OF_THEORY || of == OF_COUNTERS;
}

/* The worst rank's value; one that nobody can tell is worst only where unknown values fail. */
static void rank_check(const struct himeno_result *result, const struct rank_check *is,
                       const struct accept_policy *policy, struct accept_check *check)
{
  const int unknown_fails = policy->unknown_fails > 0 && !may_be_unknown(is->of);
  int unknown = -1, unknowns = 0;
  check->value = NAN;
  for (int r = 0; r < result->n_ranks; r++) {
    double value = is->value(&result->ranks[r], policy);
    int worse = check->at_most ? value > check->value : value < check->value;
    if (isnan(value) && unknowns++ == 0) unknown = r;
    if (isnan(value) || (check->rank >= 0 && !worse)) continue;
    check->value = value;
    check->rank = r;
  }
  if (unknowns > 0 && unknowns < result->n_ranks)
    snprintf(check->why, sizeof check->why, "not known of %d of %d ranks", unknowns, result->n_ranks);
  if (unknown < 0 || (check->rank >= 0 && !unknown_fails)) return;
  check->value = NAN;
  check->rank = unknown;
}

static void explain(const struct himeno_result *result, struct accept_check *check)
{
  size_t used = strlen(check->why);
  if (check->outcome != CHECK_FAIL || check->rank < 0) return;
  snprintf(check->why + used, sizeof check->why - used, "%s", used ? "; " : "");
  used = strlen(check->why);
  suspect_name(result, check->rank, check->why + used, sizeof check->why - used);
}

/* ---- all ---- */

/* Adds what a check needs. A run that was asked to be too short for episodes stays so. */
static void plan_check(const struct himeno_config *config, int ranks, const struct accept_policy *policy,
                       enum accept_of of, struct accept_plan *plan)
{
  if (noise_is_of_run(of)) plan->noise_max = fmin(plan->noise_max, noise_limit(policy, of));
  if (noise_is_of_device(of)) plan->device_noise_max = noise_limit(policy, of);
  if (of == OF_EPISODES && config->seconds >= EPISODE_SPAN) plan->span_min = EPISODE_SPAN;
  if (of == OF_STRAGGLERS && plan->blocks_min < straggler_blocks_min(ranks))
    plan->blocks_min = straggler_blocks_min(ranks);
}

int accept_policy_plan(const struct himeno_config *config, const struct placement *placement,
                       const struct accept_policy *policy, struct accept_plan *plan)
{
  struct accept_check check;
  int some = 0;
  for (size_t c = 0; c < RUN_CHECKS + RANK_CHECKS; c++) {
    const int of_run = c < RUN_CHECKS;
    const struct run_check *run = &run_checks[of_run ? c : 0];
    const struct rank_check *rank = &rank_checks[of_run ? 0 : c - RUN_CHECKS];
    const enum accept_of of = of_run ? run->of : rank->of;
    if (limit_of(policy, of_run ? run->limit : rank->limit) < 0 ||
        !applies(config, placement, of, of_run ? run->ranks : 1, &check))
      continue;
    some = 1;
    plan_check(config, placement->ranks, policy, of, plan);
  }
  return some;
}

static int can_tell(const struct himeno_config *config, const struct placement *placement,
                    const struct himeno_result *result, const struct accept_policy *policy, enum accept_of of,
                    int ranks, struct accept_check *check)
{
  return applies(config, placement, of, ranks, check) && own_times(result, of, check) &&
         in_scope(result, policy, of, check) && long_enough(result, of, check) &&
         enough_blocks(result, of, check);
}

static void judge(const struct placement *placement, const struct himeno_result *result,
                  const struct accept_policy *policy, enum accept_of of, struct accept_check *check)
{
  if (may_be_unknown(of) && isnan(check->value) && check->outcome != CHECK_INAPPLICABLE) {
    check->outcome = CHECK_INAPPLICABLE;
    check->rank = -1;
    snprintf(check->why, sizeof check->why, "no device tells %s",
             of == OF_THEORY ? "its clocks and widths" : "what it counts");
  }
  check_judge(check, policy->unknown_fails > 0);
  noise_heed(placement, result, policy, of, check);
  explain(result, check);
}

void accept_policy_checks(const struct himeno_config *config, const struct placement *placement,
                          const struct himeno_result *result, const struct accept_policy *policy,
                          struct accept *accept)
{
  for (size_t c = 0; c < RUN_CHECKS; c++) {
    const struct run_check *is = &run_checks[c];
    struct accept_check *check = check_add(accept, policy, is->name, is->unit, is->limit, is->at_most);
    if (!check) continue;
    check->value = can_tell(config, placement, result, policy, is->of, is->ranks, check)
                       ? is->value(result, check)
                       : NAN;
    judge(placement, result, policy, is->of, check);
  }
  for (size_t c = 0; c < RANK_CHECKS; c++) {
    const struct rank_check *is = &rank_checks[c];
    struct accept_check *check = check_add(accept, policy, is->name, is->unit, is->limit, is->at_most);
    if (!check) continue;
    check->value = NAN;
    if (can_tell(config, placement, result, policy, is->of, 1, check)) rank_check(result, is, policy, check);
    judge(placement, result, policy, is->of, check);
  }
}
