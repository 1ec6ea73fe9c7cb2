/* SPDX-License-Identifier: MIT */
/* The checks of a policy: the values of the whole run and of each rank, the table check_kinds, and
 * the functions that judge. Checks of ranks report the worst rank. */
#include "judge/checks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/values.h"
#include "judge/judge.h"
#include "judge/parts.h"

#define CACHES_MIN    4   /* minimum size of a device's arrays, as a multiple of its cache */
#define POWER_LIMITED 0.9 /* share of its power limit from which a device counts as limited */

/* ---- values of the whole run ---- */

static double device_gflops(const struct judge_run *run, int rank)
{
  return run->ranks[rank].value[check_kind_find("device_gflops_min")];
}

/* Returns the rate of all devices together over the sum of each device's own rate. The rest is lost
 * to exchange, waiting and reduction. Uses the median block: a few interrupted blocks do not make a
 * machine slow. */
static double efficiency(const struct judge_run *run, struct check *check)
{
  const struct stats_summary s = stats_summarise(run->samples, (size_t)run->n_samples);
  double sum = 0;
  (void)check;
  for (int r = 0; r < run->n_ranks; r++) sum += device_gflops(run, r);
  return sum > 0 && s.median > 0 ? run->gflops * s.mean / s.median / sum : NAN;
}

static double product_gflops(const struct judge_run *run, int rank)
{
  return view_number(run->ranks[rank].row, "gflops");
}

static double rates_spread(const struct judge_run *run, struct check *check,
                           double (*gflops)(const struct judge_run *, int))
{
  int slowest = 0, known = 1;
  double *rates = calloc((size_t)run->n_ranks + 1, sizeof *rates);
  for (int r = 0; rates && r < run->n_ranks; r++) {
    rates[r] = gflops(run, r);
    known &= !isnan(rates[r]);
    if (rates[r] < rates[slowest]) slowest = r;
  }
  const struct stats_summary s = stats_summarise(rates, known && rates ? (size_t)run->n_ranks : 0);
  free(rates);
  if (s.min < s.max) check->rank = slowest;
  return s.median > 0 ? (s.max - s.min) / s.median : NAN;
}

static double spread(const struct judge_run *run, struct check *check)
{
  return rates_spread(run, check, device_gflops);
}

static double products_spread(const struct judge_run *run, struct check *check)
{
  return rates_spread(run, check, product_gflops);
}

static double products(const struct judge_run *run, struct check *check)
{
  check->rank = 0;
  for (int r = 1; r < run->n_ranks; r++)
    if (product_gflops(run, r) < product_gflops(run, check->rank)) check->rank = r;
  if (run->power_share > 0)
    snprintf(check->why, sizeof check->why, "at %.2f of the power limit", run->power_share);
  return product_gflops(run, check->rank);
}

static double noise(const struct judge_run *run, struct check *check)
{
  (void)check;
  return noise_of_blocks(run);
}

static double stragglers(const struct judge_run *run, struct check *check)
{
  if (run->n_stragglers > 0) check->rank = run->stragglers[0].rank;
  return run->knows_work ? run->n_stragglers : NAN;
}

static double slowdowns(const struct judge_run *run, struct check *check)
{
  if (run->n_slowdowns > 0) check->rank = run->slowdowns[0].rank;
  return run->n_slowdowns;
}

/* Returns the smallest number of devices per host. A device that ranks share counts once. */
static double devices_per_host(const struct judge_run *run, struct check *check)
{
  double least = INFINITY;
  for (int r = 0; r < run->n_ranks; r++) {
    double devices = 0;
    if (run->ranks[r].host != r) continue;
    for (int s = r; s < run->n_ranks; s++)
      if (run->ranks[s].host == r) devices += 1.0 / (1 + run->ranks[s].sharers);
    if (isnan(devices)) return NAN;
    if (devices >= least) continue;
    least = devices;
    check->rank = r;
  }
  return run->n_ranks > 0 ? round(least) : NAN;
}

/* ---- values of a rank ---- */

static double neither(double a, double b)
{
  return isnan(a) || isnan(b) ? NAN : a == 0 && b == 0;
}

static double unshared(const json_t *row)
{
  return neither(view_number(row, "device_shared"), view_number(row, "cpus_shared"));
}

/* Returns 1 if no other rank uses the rank's device, NAN if unknown. On CPUs, ranks that share
 * cores share the device. */
static double device_unshared(const json_t *row)
{
  const int is_gpu = view_number(row, "is_cpu") == 0;
  return neither(view_number(row, "device_shared"), is_gpu ? 0 : view_number(row, "cpus_shared"));
}

static double pcie_full(const json_t *row)
{
  const double width = view_number(row, "telemetry.link.pcie_width"),
               most = view_number(row, "telemetry.link.pcie_width_max");
  return isnan(width) || isnan(most) ? NAN : width >= most;
}

/* Returns the share of blocks with the most frequent forbidden reason of throttling. */
static double throttled(const json_t *row, const struct policy *policy)
{
  const double samples = view_number(row, "telemetry.samples");
  int found;
  if (!view_at(row, "telemetry.blocks.throttled")) return NAN;
  return suspect_throttled(row, policy->throttle_forbidden, &found) / samples;
}

/* ---- table of checks ---- */

enum { LEAST, MOST };
#define RUN(key, values, name, title, unit, of, at, ranks, value)                                            \
  {                                                                                                          \
    key, CHECK_##values, name, title, unit, OF_##of, at, ranks, .of_run = value                              \
  }
#define RANK(key, values, name, title, unit, of, at, value)                                                  \
  {                                                                                                          \
    key, CHECK_##values, name, title, unit, OF_##of, at, 1, value                                            \
  }

#define PRODUCTS(type)                                                                                       \
  RUN("gemm_" type "_gflops_min", NUMBER, type " products", "GFLOPS of " type " products on slowest device", \
      "GFLOPS", PRODUCTS, LEAST, 1, products)

const struct check_kind check_kinds[CHECK_KINDS] = {
    RUN("efficiency_min", NUMBER, "efficiency", "parallel efficiency", "", RUN, LEAST, 1, efficiency),
    RUN("device_spread_max", NUMBER, "spread of devices", "(max - min) / median GFLOPS while computing", "",
        DEVICE, MOST, 2, spread),
    RUN("noise_max", NUMBER, "noise of blocks", "relative std. deviation of block times", "", NOISE, MOST, 1,
        noise),
    RUN("exchange_us_max", NUMBER, "exchange latency", "latency of the worst link in us", "us", PAIRS, MOST,
        2, pairs_slowest),
    RUN("exchange_gbps_min", NUMBER, "exchange rate", "bandwidth of the worst link in GB/s", "GB/s", PAIRS,
        LEAST, 2, pairs_slowest),
    RUN("exchange_us_ratio_max", NUMBER, "latency over its like", "worst latency / median of similar links",
        "", PAIRS, MOST, 2, pairs_ratio),
    RUN("exchange_gbps_ratio_min", NUMBER, "rate over its like", "worst bandwidth / median of similar links",
        "", PAIRS, LEAST, 2, pairs_ratio),
    RUN("stragglers_max", COUNT, "stragglers", "ranks that are always slow (stragglers)", "", STRAGGLERS,
        MOST, STRAGGLER_RANKS_MIN, stragglers),
    RUN("episodes_max", COUNT, "slow for a while", "temporary slowdowns", "", SLOWDOWNS, MOST, 1, slowdowns),
    RUN("counted_max", COUNT, "errors counted", "hardware errors counted (not NVLink CRC)", "", COUNTERS,
        MOST, 1, suspect_most_counted),
    RUN("devices_per_host", COUNT, "devices a host", "devices per host", "", HOST, LEAST, 1,
        devices_per_host),
    PRODUCTS("f32"),
    PRODUCTS("tf32"),
    PRODUCTS("f16"),
    PRODUCTS("f16-f16"),
    PRODUCTS("bf16"),
    PRODUCTS("f64"),
    RUN("gemm_spread_max", NUMBER, "spread of products", "(max - min) / median GFLOPS of products", "",
        PRODUCTS, MOST, 2, products_spread),
    RUN("gemm_power_limited_spread_max", NUMBER, "spread of power-limited products",
        "(max - min) / median GFLOPS at power limit", "", PRODUCTS, MOST, 2, products_spread),
    RANK("ceiling_share_min", NUMBER, "share of ceiling", "bandwidth / ceiling of the worst device", "",
         CEILING, LEAST, .path = "ceiling_share"),
    RANK("theory_share_min", NUMBER, "ceiling of theory", "measured / theoretical GB/s of worst device", "",
         THEORY, LEAST, .path = "theory.share"),
    RANK("device_gflops_min", NUMBER, "device", "GFLOPS of the slowest device", "GFLOPS", RATE, LEAST,
         .path = "compute_gflops"),
    RANK("device_noise_max", NUMBER, "noise of devices", "relative std. deviation of compute times", "",
         DEVICE_NOISE, MOST, .path = "noise"),
    RANK("binding", FLAG, "device and cores unshared", "each rank has its own device and core", "yes/no",
         STATE, LEAST, .of_rank = unshared),
    RANK("devices_unshared", FLAG, "device unshared", "each rank has its own device", "yes/no", STATE, LEAST,
         .of_rank = device_unshared),
    RANK("ecc", FLAG, "ECC on", "ECC enabled", "yes/no", STATE, LEAST, .path = "telemetry.ecc.on"),
    RANK("ecc_corrected_max", COUNT, "ECC corrected", "corrected ECC errors", "errors", STATE, MOST,
         .path = "telemetry.ecc.corrected"),
    RANK("ecc_uncorrected_max", COUNT, "ECC uncorrected", "uncorrected ECC errors", "errors", STATE, MOST,
         .path = "telemetry.ecc.uncorrected"),
    RANK("retired_max", COUNT, "retired memory", "retired memory pages", "pages", STATE, MOST,
         .path = "telemetry.ecc.retired"),
    RANK("pcie_gen_min", COUNT, "PCIe generation", "PCIe generation", "", STATE, LEAST,
         .path = "telemetry.link.pcie_gen"),
    RANK("pcie_width_min", COUNT, "PCIe lanes", "PCIe lanes in use", "", STATE, LEAST,
         .path = "telemetry.link.pcie_width"),
    RANK("pcie_full", FLAG, "all PCIe lanes in use", "all PCIe lanes in use", "yes/no", STATE, LEAST,
         .of_rank = pcie_full),
    RANK("nvlinks_min", COUNT, "NVLinks active", "NVLinks active", "", STATE, LEAST,
         .path = "telemetry.link.nvlinks_active"),
    RANK("nvlink_crc_rate_max", NUMBER, "NVLink CRC errors", "NVLink CRC errors per second", "1/s", COUNTERS,
         MOST, .path = "telemetry.nvlink_crc_rate"),
    RANK("sm_mhz_min", NUMBER, "clock", "lowest clock in MHz", "MHz", STATE, LEAST,
         .path = "telemetry.sm_mhz.0"),
    RANK("celsius_max", NUMBER, "temperature", "highest temperature in C", "C", STATE, MOST,
         .path = "telemetry.celsius.1"),
    RANK("throttled_max", SHARE, "throttled blocks", "share of blocks with throttling", "", STATE, MOST,
         .path = NULL), /* NULL, because throttled() computes the value from the policy */
    RANK("cards_min", COUNT, "network cards up", "network cards up", "", HOST, LEAST, .path = "cards"),
    RANK("card_gbps_min", NUMBER, "slowest network card", "slowest network card in Gbit/s", "Gbit/s", HOST,
         LEAST, .path = "card_gbps"),
    RANK("wire_share_min", NUMBER, "share of wire", "rate / port rate of slowest network card", "", WIRES,
         LEAST, .path = "wire.share"),
    RUN("wire_spread_max", NUMBER, "spread of wires", "1 - rate / median of slowest network card", "", WIRES,
        MOST, 2, wire_spread),
    RUN("fabric_contention_max", NUMBER, "contention of fabric", "slowest pair of hosts: alone / all at once",
        "", WIRES, MOST, 2, fabric_contention),
    RUN("fabric_spread_max", NUMBER, "spread of hosts", "1 - rate / median of slowest host, alone", "", WIRES,
        MOST, 3, fabric_spread),
    RUN("collective_busbw_min", NUMBER, "rate of collectives", "busbw of the slowest collective in GB/s",
        "GB/s", WIRES, LEAST, 2, collective_busbw),
    {.key = "rate_of_installation_min", .values = CHECK_SHARE}, /* used by drift_check() */
    {.key = "unknown_fails", .values = CHECK_FLAG},
    {.key = "unverified_passes", .values = CHECK_FLAG},
};

int check_kind_find(const char *key)
{
  int k = 0;
  while (k < CHECK_KINDS && strcmp(key, check_kinds[k].key) != 0) k++;
  return k;
}

int check_inapplicable(struct check *check, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(check->why, sizeof check->why, format, arguments);
  va_end(arguments);
  check->outcome = CHECK_INAPPLICABLE;
  return 0;
}

/* Returns whether a run such as \a draft can have a check's value; if not, \a check gets the
 * reason. */
static int applies(const struct judge_draft *draft, const struct check_kind *kind, struct check *check)
{
  if (kind->of & NEEDS_SPEED && draft->emulated) return check_inapplicable(check, "emulated, so no speed");
  if (draft->ranks < kind->ranks_min) return check_inapplicable(check, "needs %d ranks", kind->ranks_min);
  if (kind->of & NEEDS_CEILING && draft->soak) return check_inapplicable(check, "a soak measures no ceiling");
  return 1;
}

/* Returns whether this run has the value of a check. If not, stores the reason in \a check. If
 * ranks share a device or cores, a rank's times depend on other ranks. A built-in limit with
 * NEEDS_SIZE applies only to GPUs, because a core may compute more slowly than it reads, and only
 * to grids beyond the caches, because smaller ones do not measure the memory. */
static int has_value(const struct judge_run *run, const struct policy *policy, const struct check_kind *kind,
                     struct check *check)
{
  const struct judge_draft draft = {.ranks = run->n_ranks, .emulated = run->emulated, .soak = run->soak};
  const int of = (int)kind->of,
            need = of & NEEDS_MANY ? straggler_blocks_min(run->n_ranks) : POLICY_BLOCKS_MIN;
  int devices = 0, cores = 0, cpus = 0, cached = 0;
  for (int r = 0; r < run->n_ranks; r++) {
    const struct judge_rank *rank = &run->ranks[r];
    devices |= rank->sharers > 0;
    cores |= rank->is_cpu && rank->cpus_shared;
    cpus |= rank->is_cpu;
    cached |= rank->sweep_bytes < CACHES_MIN * rank->cache_bytes;
  }
  if (!applies(&draft, kind, check)) return 0;
  if (of & NEEDS_DEVICES && devices) return check_inapplicable(check, "ranks share devices");
  if (of & NEEDS_CORES && cores) return check_inapplicable(check, "ranks share cores");
  if (of & NEEDS_SIZE && policy->built_in && cpus) return check_inapplicable(check, "the limit is for GPUs");
  if (of & NEEDS_SIZE && policy->built_in && cached)
    return check_inapplicable(check, "much of the grid is in cache");
  if (of & NEEDS_SPAN && run->n_blocks > 0 && !(run->ends[run->n_blocks - 1].end >= SLOWDOWN_SPAN))
    return check_inapplicable(check, "needs at least %.0f s of blocks", SLOWDOWN_SPAN);
  if (!(of & (NEEDS_BLOCKS | NEEDS_SERIES)) || (of & NEEDS_SERIES ? run->n_blocks : run->n_samples) >= need)
    return 1;
  snprintf(check->why, sizeof check->why, "needs %d timed blocks", need);
  return 0;
}

/* Sets value and rank of \a check from the worst rank. If \a unknown_fails, or if no rank's value
 * is known, that is a rank with an unknown value. */
static void worst_rank(const struct judge_run *run, int key, int unknown_fails, struct check *check)
{
  int unknown = -1, unknowns = 0;
  check->value = NAN;
  for (int r = 0; r < run->n_ranks; r++) {
    const double value = run->ranks[r].value[key];
    const int worse = check->at_most ? value > check->value : value < check->value;
    if (isnan(value) && unknowns++ == 0) unknown = r;
    if (isnan(value) || (check->rank >= 0 && !worse)) continue;
    check->value = value;
    check->rank = r;
  }
  if (unknowns > 0 && unknowns < run->n_ranks)
    snprintf(check->why, sizeof check->why, "unknown on %d of %d ranks", unknowns, run->n_ranks);
  if (unknown < 0 || (check->rank >= 0 && !unknown_fails)) return;
  check->value = NAN;
  check->rank = unknown;
}

static void check_explain(const struct judge_run *run, enum check_of of, struct check *check)
{
  char name[CHECK_WHY_MAX];
  if (check->outcome != CHECK_FAIL || check->rank < 0) return;
  suspect_append(check->why, sizeof check->why, of & NAMES_HOST ? "%shost %s" : "%s%s",
                 check->why[0] ? "; " : "",
                 of & NAMES_HOST ? view_text(run->ranks[check->rank].row, "host")
                                 : suspect_name(run, check->rank, name, sizeof name));
  value_make_printable(check->why);
}

/* Makes a check inapplicable if its value may be unknown and is: programs other than himeno-gpu do
 * not measure all values, and devices do not report all. */
static void excuse(const struct judge_run *run, enum check_of of, struct check *check)
{
  const int other = strcmp(run->program, "himeno-gpu") != 0;
  if (!isnan(check->value) || check->outcome == CHECK_INAPPLICABLE || !(other || of & MAY_BE_UNKNOWN)) return;
  check->rank = -1;
  if (of & NEEDS_WIRES && view_at(run->ranks[0].row, "wire"))
    check_inapplicable(check, "uncertain, or no rank is bound to its card");
  else if (other || of & NEEDS_WIRES)
    check_inapplicable(check, "%.20s does not measure it", run->program);
  else
    check_inapplicable(check, of & NEEDS_CEILING ? "clock or bus width is unknown"
                                                 : "no device reports error counters");
}

static void kind_judge(const struct judge_run *run, const struct policy *policy, int key, struct check *check)
{
  const struct check_kind *kind = &check_kinds[key];
  const int unknown_fails = policy_limit(policy, "unknown_fails") > 0;
  *check = (struct check){.name = kind->name,
                          .title = kind->title,
                          .is_flag = kind->values == CHECK_FLAG,
                          .unit = kind->unit,
                          .value = NAN,
                          .limit = policy->limit[key],
                          .at_most = kind->at_most,
                          .rank = -1,
                          .from = policy->from[key]};
  if (has_value(run, policy, kind, check)) {
    if (kind->of_run)
      check->value = kind->of_run(run, check);
    else
      worst_rank(run, key, unknown_fails && !(kind->of & MAY_BE_UNKNOWN), check);
  }
  excuse(run, kind->of, check);
  check_judge(check, unknown_fails);
  noise_heed(run, policy, kind->of, check);
  check_explain(run, kind->of, check);
}

/* Returns whether to list a check. A check of matrix products needs a run of its element type.
 * gemm_spread_max is for devices below their power limit; another key is for devices at the limit,
 * where products differ more, and for devices of unknown power. */
static int is_listed(const struct judge_run *run, const struct check_kind *kind)
{
  const size_t n = run->type ? strlen(run->type) : 0;
  if (!(kind->of & NEEDS_PRODUCTS)) return 1;
  if (kind->of_run == products_spread)
    return n > 0 && (strcmp(kind->key, "gemm_spread_max") == 0) == (run->power_share < POWER_LIMITED);
  return n > 0 && strncmp(kind->name, run->type, n) == 0 && kind->name[n] == ' ';
}

void checks_of_policy(struct judge_run *run, const struct policy *policy, struct checks *checks)
{
  const int throttle = check_kind_find("throttled_max");
  for (int r = 0; r < run->n_ranks; r++) run->ranks[r].value[throttle] = throttled(run->ranks[r].row, policy);
  for (int k = 0; k < CHECK_KINDS; k++)
    if (check_kinds[k].name && policy->limit[k] >= 0 && is_listed(run, &check_kinds[k]))
      kind_judge(run, policy, k, &checks->check[checks->n++]);
}

/* Extends \a plan by what a check needs. If the user asked for less than SLOWDOWN_SPAN seconds, the
 * run is not prolonged for slowdowns. */
static void plan_kind(const struct judge_draft *draft, const struct policy *policy, enum check_of of,
                      struct judge_plan *plan)
{
  if (of & NOISE_OF_RUN) plan->noise_max = fmin(plan->noise_max, noise_limit(policy, of));
  if (of & NOISE_OF_DEVICE) plan->device_noise_max = noise_limit(policy, of);
  if (of & NEEDS_SPAN && draft->seconds >= SLOWDOWN_SPAN) plan->span_min = SLOWDOWN_SPAN;
  if (of & NEEDS_MANY && plan->blocks_min < straggler_blocks_min(draft->ranks))
    plan->blocks_min = straggler_blocks_min(draft->ranks);
}

int checks_plan(const struct judge_draft *draft, const struct policy *policy, struct judge_plan *plan)
{
  struct check check;
  int some = 0;
  for (int k = 0; k < CHECK_KINDS; k++) {
    if (!check_kinds[k].name || policy->limit[k] < 0 || check_kinds[k].of & NEEDS_PRODUCTS ||
        !applies(draft, &check_kinds[k], &check))
      continue;
    some = 1;
    plan_kind(draft, policy, check_kinds[k].of, plan);
  }
  return some;
}

const char *const check_outcome_names[] = {"pass", "fail", "noisy", "unknown", "inapplicable"};

double check_margin(const struct check *check)
{
  return check->at_most ? check->limit - check->value : check->value - check->limit;
}

void check_judge(struct check *check, int unknown_fails)
{
  if (check->outcome == CHECK_INAPPLICABLE) return;
  if (isnan(check->value))
    check->outcome = unknown_fails ? CHECK_FAIL : CHECK_UNKNOWN;
  else
    check->outcome = check_margin(check) >= 0 ? CHECK_PASS : CHECK_FAIL;
}

int checks_count(const struct checks *checks, enum check_outcome outcome)
{
  int n = 0;
  for (int c = 0; c < checks->n; c++) n += checks->check[c].outcome == outcome;
  return n;
}
