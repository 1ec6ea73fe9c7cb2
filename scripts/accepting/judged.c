/* SPDX-License-Identifier: MIT */
/* Judges a run with simulated times by the policy "default", for scripts/accept-power. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "judge/judge.h"

#define EXPORTED   __attribute__((visibility("default")))
#define RANKS_MAX  4096
#define BLOCKS_MAX 256
/* Ceiling of a healthy device, as a share of its memory's theoretical bandwidth. */
#define OF_THEORY 0.9
/* Bytes per exchange. It is equal for all pairs of ranks, so that the check compares them. */
#define PAIR_BYTES (1 << 19)

/* A run. `times` is an array [rank][block][2]: seconds per sweep of compute and of exchange. */
struct simulated {
  int ranks, blocks, per_host;
  const double *times;
  const double *paths; /* [ranks - 1][2]: seconds and bytes/s to the next rank; or NULL */
  double sweeps;       /* sweeps per block */
};

/* Result of judged(). */
struct judgement {
  int slow, noisy, stragglers, episodes;
  char failed[256]; /* the names of the failing checks, separated by commas */
  int rank[JUDGE_FOUND_MAX], of_compute[JUDGE_FOUND_MAX];
};

static struct judge_rank rank[RANKS_MAX];
static struct judge_path paths[RANKS_MAX][2];
static struct judge_block kept[RANKS_MAX * BLOCKS_MAX];

static void pair_add(const struct simulated *in, int a, int b, const double pair[2])
{
  const int across = a / in->per_host != b / in->per_host;
  paths[a][rank[a].n_paths++] = (struct judge_path){.peer = b,
                                                    .bytes = PAIR_BYTES,
                                                    .used = across ? "staged" : "p2p",
                                                    .handover = "",
                                                    .us = 1e6 * pair[0],
                                                    .gbps = pair[1] / 1e9};
}

static void value_set(struct judge_rank *one, const char *key, double value)
{
  one->value[check_kind_find(key)] = value;
}

static void judged_rank_fill(const struct simulated *in, int r)
{
  struct judge_rank *one = &rank[r];
  double compute[BLOCKS_MAX];
  for (int b = 0; b < in->blocks; b++) {
    const double *time = &in->times[2 * (r * in->blocks + b)];
    kept[r * in->blocks + b] = (struct judge_block){time[0], time[1]};
    compute[b] = time[0];
  }
  const struct stats_summary s = stats_summarise(compute, (size_t)in->blocks);
  one->points = 33162240; /* of size L */
  one->noise = stats_noise_max(&s);
  one->paths = paths[r];
  for (int k = 0; k < CHECK_KINDS; k++) one->value[k] = NAN;
  value_set(one, "device_noise_max", one->noise);
  value_set(one, "device_gflops_min", 34e-9 * one->points / s.median);
  value_set(one, "ceiling_share_min", 0.97);
  value_set(one, "theory_share_min", OF_THEORY);
  value_set(one, "devices_unshared", 1);
  if (r + 1 == in->ranks || !in->paths) return;
  pair_add(in, r, r + 1, &in->paths[2 * r]);
  pair_add(in, r + 1, r, &in->paths[2 * r]);
}

/* Returns 1 if more blocks must be timed before the run can be judged, otherwise 0. */
EXPORTED int needs_more(const struct simulated *in)
{
  double samples[BLOCKS_MAX], noise = 0;
  struct policy policy;
  const struct judge_draft draft = {.ranks = in->ranks, .seconds = 10};
  struct judge_plan plan = {
      .blocks_min = POLICY_BLOCKS_MIN, .noise_max = INFINITY, .device_noise_max = INFINITY};
  if (policy_read("default", &policy)) return 0;
  checks_plan(&draft, &policy, &plan);
  for (int r = 0; r < in->ranks; r++) {
    for (int b = 0; b < in->blocks; b++) samples[b] = in->times[2 * (r * in->blocks + b)];
    const struct stats_summary s = stats_summarise(samples, (size_t)in->blocks);
    noise = fmax(noise, stats_noise_max(&s));
  }
  return in->blocks < plan.blocks_min || noise > plan.device_noise_max;
}

EXPORTED int judged(const struct simulated *in, struct judgement *out)
{
  static struct judge_run run;
  static struct checks checks;
  double samples[BLOCKS_MAX] = {0}, seconds = 0;
  struct policy policy;
  if (in->ranks > RANKS_MAX || in->blocks > BLOCKS_MAX || policy_read("default", &policy)) return -1;
  memset(rank, 0, sizeof *rank * (size_t)in->ranks);
  for (int r = 0; r < in->ranks; r++) judged_rank_fill(in, r);
  run = (struct judge_run){.program = "himeno-gpu",
                           .n_ranks = in->ranks,
                           .ranks = rank,
                           .has_pairs = in->paths != NULL,
                           .samples = samples,
                           .n_samples = in->blocks,
                           .blocks = kept,
                           .n_blocks = in->blocks};
  for (int b = 0; b < in->blocks; b++) {
    for (int r = 0; r < in->ranks; r++)
      samples[b] = fmax(samples[b],
                        in->sweeps * (kept[r * in->blocks + b].compute + kept[r * in->blocks + b].exchange));
    seconds += samples[b];
    run.ends[b] = (struct judge_end){seconds, b};
  }
  if (judge_find(&run)) return -1;
  checks.n = 0;
  checks_of_policy(&run, &policy, &checks);
  *out = (struct judgement){.noisy = checks_count(&checks, CHECK_NOISY),
                            .stragglers = run.n_stragglers,
                            .episodes = run.n_slowdowns};
  for (int c = 0; c < checks.n; c++)
    if (checks.check[c].outcome == CHECK_FAIL) {
      size_t used = strlen(out->failed);
      snprintf(out->failed + used, sizeof out->failed - used, "%s%s", used ? "," : "", checks.check[c].name);
      out->slow++;
    }
  for (int s = 0; s < run.n_stragglers && s < JUDGE_FOUND_MAX; s++) {
    out->rank[s] = run.stragglers[s].rank;
    out->of_compute[s] = run.stragglers[s].of == JUDGE_COMPUTE;
  }
  return 0;
}
