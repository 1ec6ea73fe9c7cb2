/* SPDX-License-Identifier: MIT */
/* For scripts/accept-power: the policy "default" judges a run whose times were simulated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/stats.h"
#include "himeno/accept/accept.h"

#define EXPORTED   __attribute__((visibility("default")))
#define RANKS_MAX  4096
#define BLOCKS_MAX 256
/* A sound device's ceiling, of what its memory could do. */
#define OF_THEORY 0.9
/* A check of the ways between ranks compares those that carry as much. */
#define WAY_BYTES (1 << 19)

/* One run. Times are [rank][block][2]: seconds per sweep of compute and of exchange. */
struct simulated {
  int ranks, blocks, per_host;
  const double *times;
  const double *ways; /* [rank - 1][2] to the next rank: seconds and bytes per second */
  double sweeps;      /* of a block */
};

/* What judged() says of it. */
struct judgement {
  int slow, noisy, stragglers, episodes;
  char failed[256]; /* the checks that fail, with commas */
  int rank[HIMENO_STRAGGLERS_MAX], of_compute[HIMENO_STRAGGLERS_MAX];
};

static struct himeno_rank rank[RANKS_MAX];
static struct straggler_work work[RANKS_MAX];
static struct record_block kept[RANKS_MAX * BLOCKS_MAX];

static void way_add(const struct simulated *in, int a, int b, struct himeno_way way)
{
  struct himeno_path *path = &rank[a].paths[rank[a].n_paths++];
  const int apart = a / in->per_host != b / in->per_host;
  *path = (struct himeno_path){.peer = b, .bytes = WAY_BYTES, .way = way};
  snprintf(path->used, sizeof path->used, "%s", apart ? "staged" : "p2p");
  work[a].neighbours++;
  work[a].bytes += WAY_BYTES;
  work[a].between += apart;
}

static void rank_fill(const struct simulated *in, int r)
{
  double compute[BLOCKS_MAX];
  for (int b = 0; b < in->blocks; b++) {
    const double *time = &in->times[2 * (r * in->blocks + b)];
    kept[r * in->blocks + b] = (struct record_block){time[0], time[1], 0};
    compute[b] = time[0];
  }
  const struct stats_summary s = stats_summarise(compute, (size_t)in->blocks);
  rank[r].points = 33162240; /* of size L */
  rank[r].compute = s.median;
  rank[r].noise = stats_noise_max(&s);
  rank[r].ceiling = 56.0 * (double)rank[r].points / s.median / 0.97;
  /* 1 MHz of a bit is 0.25 MB per second. */
  rank[r].telemetry.after.memory_mhz_max = 1;
  rank[r].telemetry.after.memory_bits = (int)(rank[r].ceiling / OF_THEORY / 0.25e6);
  work[r].points = (double)rank[r].points;
  if (r + 1 == in->ranks || !in->ways) return;
  const struct himeno_way way = {.seconds = in->ways[2 * r], .bytes_per_second = in->ways[2 * r + 1]};
  way_add(in, r, r + 1, way);
  way_add(in, r + 1, r, way);
}

/* Whether more blocks have to be timed before the run can be judged. */
EXPORTED int needs_more(const struct simulated *in)
{
  double samples[BLOCKS_MAX], noise = 0;
  struct accept_policy policy;
  const struct himeno_config config = {.seconds = 10};
  const struct placement placement = {.ranks = in->ranks};
  struct accept_plan plan = {
      .blocks_min = ACCEPT_BLOCKS_MIN, .noise_max = INFINITY, .device_noise_max = INFINITY};
  if (policy_read("default", &policy)) return 0;
  accept_policy_plan(&config, &placement, &policy, &plan);
  for (int r = 0; r < in->ranks; r++) {
    for (int b = 0; b < in->blocks; b++) samples[b] = in->times[2 * (r * in->blocks + b)];
    const struct stats_summary s = stats_summarise(samples, (size_t)in->blocks);
    noise = fmax(noise, stats_noise_max(&s));
  }
  return in->blocks < plan.blocks_min || noise > plan.device_noise_max;
}

EXPORTED int judged(const struct simulated *in, struct judgement *out)
{
  static struct himeno_result run;
  double samples[BLOCKS_MAX] = {0};
  struct accept_policy policy;
  const struct himeno_config config = {.seconds = 10};
  const struct placement placement = {.ranks = in->ranks};
  if (in->ranks > RANKS_MAX || in->blocks > BLOCKS_MAX || policy_read("default", &policy)) return -1;
  memset(&run, 0, sizeof run);
  memset(rank, 0, sizeof *rank * (size_t)in->ranks);
  memset(work, 0, sizeof *work * (size_t)in->ranks);
  for (int r = 0; r < in->ranks; r++) rank_fill(in, r);
  for (int b = 0; b < in->blocks; b++) {
    for (int r = 0; r < in->ranks; r++)
      samples[b] = fmax(samples[b],
                        in->sweeps * (kept[r * in->blocks + b].compute + kept[r * in->blocks + b].exchange));
    run.seconds += samples[b];
    run.when[b] = (struct record_when){run.seconds, b};
  }
  run.samples = samples;
  run.n_samples = run.kept_blocks = in->blocks;
  run.n_ranks = in->ranks;
  run.ranks = rank;
  const struct straggler_ranks ranks = {in->ranks, in->blocks, kept, work};
  const struct episode_ranks spans = {in->ranks, in->blocks, kept, run.when};
  run.n_stragglers = straggler_find(&ranks, run.stragglers, HIMENO_STRAGGLERS_MAX);
  run.n_episodes = episode_find(&spans, run.episodes, HIMENO_EPISODES_MAX);
  accept_policy_checks(&config, &placement, &run, &policy, &run.accept);
  *out = (struct judgement){.noisy = accept_count(&run.accept, CHECK_NOISY),
                            .stragglers = run.n_stragglers,
                            .episodes = run.n_episodes};
  for (int c = 0; c < run.accept.n; c++)
    if (run.accept.checks[c].outcome == CHECK_FAIL) {
      size_t used = strlen(out->failed);
      snprintf(out->failed + used, sizeof out->failed - used, "%s%s", used ? "," : "",
               run.accept.checks[c].name);
      out->slow++;
    }
  for (int s = 0; s < run.n_stragglers && s < HIMENO_STRAGGLERS_MAX; s++) {
    out->rank[s] = run.stragglers[s].rank;
    out->of_compute[s] = run.stragglers[s].of == STRAGGLER_COMPUTE;
  }
  return 0;
}
