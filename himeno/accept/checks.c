/* SPDX-License-Identifier: MIT */
/* The checks of a policy: those of the whole run first, then those of each rank, of which the worst is listed. */
#include "config.h"

#include "himeno/accept/checks.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "himeno/ranks.h"
#include "himeno/run.h"
#include "himeno/suspect.h"

#define LIMIT(field) offsetof(struct accept_policy, field)

static double limit_of(const struct accept_policy *policy, size_t offset)
{
  return *(const double *)((const char *)policy + offset);
}

static struct check *check_add(struct accept *accept, const char *name, const char *unit, double limit,
                               int at_most)
{
  struct check *check = &accept->checks[accept->n++];
  *check = (struct check){.name = name, .unit = unit, .limit = limit, .at_most = at_most, .rank = -1};
  return check;
}

/* ---- of the whole run ---- */

static double ceiling_share(const struct himeno_run *run, struct check *check)
{
  if (run->config.soak_given || himeno_is_emulated(run)) {
    check->outcome = CHECK_INAPPLICABLE;
    snprintf(check->why, sizeof check->why, "no ceiling is measured in a run of this kind");
    return NAN;
  }
  return run->result.ceiling > 0 ? himeno_bytes_per_second(run) / run->result.ceiling : NAN;
}

/* All devices together over what each reaches by itself: what exchange, waiting and reduction leave. */
static double efficiency(const struct himeno_run *run, struct check *check)
{
  double sum = 0;
  for (int r = 0; r < run->placement.ranks; r++) sum += himeno_rank_gflops(&run->result.ranks[r]);
  (void)check;
  return sum > 0 ? himeno_gflops(run) / sum : NAN;
}

static double spread(const struct himeno_run *run, struct check *check)
{
  int n = run->placement.ranks, slowest = 0;
  double rates[n];
  for (int r = 0; r < n; r++) {
    rates[r] = himeno_rank_gflops(&run->result.ranks[r]);
    if (rates[r] < rates[slowest]) slowest = r;
  }
  struct stats_summary s = stats_summarise(rates, (size_t)n);
  if (s.min < s.max) check->rank = slowest;
  return s.median > 0 ? (s.max - s.min) / s.median : NAN;
}

static double noise(const struct himeno_run *run, struct check *check)
{
  struct stats_summary s = stats_summarise(run->result.samples, (size_t)run->result.n_samples);
  (void)check;
  return s.n < ACCEPT_BLOCKS_MIN ? NAN : stats_noise(&s);
}

static double stragglers(const struct himeno_run *run, struct check *check)
{
  if (run->placement.ranks < STRAGGLER_RANKS_MIN) {
    check->outcome = CHECK_INAPPLICABLE;
    snprintf(check->why, sizeof check->why, "needs %d ranks", STRAGGLER_RANKS_MIN);
    return NAN;
  }
  if (run->result.n_stragglers > 0) check->rank = run->result.stragglers[0].rank;
  return run->result.n_stragglers;
}

/* The host with fewest devices: ranks that share one count it once. */
static double devices_per_host(const struct himeno_run *run, struct check *check)
{
  double least = INFINITY;
  for (int r = 0; r < run->placement.ranks; r++) {
    double devices = 0;
    for (int s = 0; s < run->placement.ranks; s++)
      if (strcmp(run->result.ranks[s].host, run->result.ranks[r].host) == 0)
        devices += 1.0 / (1 + run->result.ranks[s].shared);
    if (devices >= least) continue;
    least = devices;
    check->rank = r;
  }
  return round(least);
}

static const struct {
  const char *name, *unit;
  size_t limit;
  int at_most;
  double (*value)(const struct himeno_run *, struct check *);
} run_checks[] = {
    {"share of ceiling", "", LIMIT(ceiling_share_min), 0, ceiling_share},
    {"efficiency", "", LIMIT(efficiency_min), 0, efficiency},
    {"spread of devices", "", LIMIT(device_spread_max), 1, spread},
    {"noise of blocks", "", LIMIT(noise_max), 1, noise},
    {"stragglers", "", LIMIT(stragglers_max), 1, stragglers},
    {"devices a host", "", LIMIT(devices_per_host), 0, devices_per_host},
};

/* ---- of each rank ---- */

static double known(double value)
{
  return value < 0 ? NAN : value;
}

static double rank_gflops(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return rank->info.emulated ? NAN : himeno_rank_gflops(rank);
}

static double alone(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return !rank->shared && !rank->overlap;
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

#define OF_STATE(name, field)                                                                                \
  static double name(const struct himeno_rank *rank, const struct accept_policy *policy)                     \
  {                                                                                                          \
    (void)policy;                                                                                            \
    return known((double)rank->telemetry.field);                                                             \
  }
OF_STATE(ecc, after.ecc)
OF_STATE(corrected, after.corrected)
OF_STATE(uncorrected, after.uncorrected)
OF_STATE(retired, after.retired)
OF_STATE(pcie_gen, after.pcie_gen)
OF_STATE(pcie_width, after.pcie_width)
OF_STATE(nvlinks, after.nvlinks_active)
OF_STATE(sm_mhz, low.sm_mhz)
OF_STATE(celsius, high.celsius)
#undef OF_STATE

static double cards(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return rank->cards;
}

static double card_gbps(const struct himeno_rank *rank, const struct accept_policy *policy)
{
  (void)policy;
  return rank->cards_gbps > 0 ? rank->cards_gbps : NAN;
}

static const struct {
  const char *name, *unit;
  size_t limit;
  int at_most;
  double (*value)(const struct himeno_rank *, const struct accept_policy *);
} rank_checks[] = {
    {"device", "GFLOPS", LIMIT(device_gflops_min), 0, rank_gflops},
    {"device and cores unshared", "", LIMIT(binding), 0, alone},
    {"ECC on", "", LIMIT(ecc), 0, ecc},
    {"ECC corrected", "errors", LIMIT(ecc_corrected_max), 1, corrected},
    {"ECC uncorrected", "errors", LIMIT(ecc_uncorrected_max), 1, uncorrected},
    {"retired memory", "pages", LIMIT(retired_max), 1, retired},
    {"PCIe generation", "", LIMIT(pcie_gen_min), 0, pcie_gen},
    {"PCIe lanes", "", LIMIT(pcie_width_min), 0, pcie_width},
    {"all PCIe lanes in use", "", LIMIT(pcie_full), 0, pcie_full},
    {"NVLinks active", "", LIMIT(nvlinks_min), 0, nvlinks},
    {"clock", "MHz", LIMIT(sm_mhz_min), 0, sm_mhz},
    {"temperature", "C", LIMIT(celsius_max), 1, celsius},
    {"throttled blocks", "", LIMIT(throttled_max), 1, throttled},
    {"network cards up", "", LIMIT(cards_min), 0, cards},
    {"slowest network card", "Gbit/s", LIMIT(card_gbps_min), 0, card_gbps},
};

/* The worst rank's value; one that nobody can tell is worst only where unknown values fail. */
static void rank_check(const struct himeno_run *run, size_t c, const struct accept_policy *policy,
                       struct check *check)
{
  int unknown_fails = policy->unknown_fails > 0, unknown = -1;
  check->value = NAN;
  for (int r = 0; r < run->placement.ranks; r++) {
    double value = rank_checks[c].value(&run->result.ranks[r], policy);
    int worse = check->at_most ? value > check->value : value < check->value;
    if (isnan(value) && unknown < 0) unknown = r;
    if (isnan(value) || (check->rank >= 0 && !worse)) continue;
    check->value = value;
    check->rank = r;
  }
  if (unknown < 0 || (check->rank >= 0 && !unknown_fails)) return;
  check->value = NAN;
  check->rank = unknown;
}

static void explain(const struct himeno_run *run, struct check *check)
{
  size_t used = strlen(check->why);
  if (check->outcome != CHECK_FAIL || check->rank < 0) return;
  snprintf(check->why + used, sizeof check->why - used, "%s", used ? "; " : "");
  used = strlen(check->why);
  suspect_name(run, check->rank, check->why + used, sizeof check->why - used);
}

void accept_policy_checks(const struct himeno_run *run, const struct accept_policy *policy,
                          struct accept *accept)
{
  int unknown_fails = policy->unknown_fails > 0, first = accept->n;
  for (size_t c = 0; c < sizeof run_checks / sizeof *run_checks; c++) {
    double limit = limit_of(policy, run_checks[c].limit);
    if (limit < 0) continue;
    struct check *check =
        check_add(accept, run_checks[c].name, run_checks[c].unit, limit, run_checks[c].at_most);
    check->value = run_checks[c].value(run, check);
  }
  for (size_t c = 0; c < sizeof rank_checks / sizeof *rank_checks; c++) {
    double limit = limit_of(policy, rank_checks[c].limit);
    if (limit < 0) continue;
    rank_check(run, c, policy,
               check_add(accept, rank_checks[c].name, rank_checks[c].unit, limit, rank_checks[c].at_most));
  }
  for (int c = first; c < accept->n; c++) {
    check_judge(&accept->checks[c], unknown_fails);
    explain(run, &accept->checks[c]);
  }
}
