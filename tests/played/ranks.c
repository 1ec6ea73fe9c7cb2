/* SPDX-License-Identifier: MIT */
/* himeno-gpu on one rank whose gathers bring the rows of PLAYED_RANKS: copies of its own, on hosts
 * of eight, each with the messages of its place in a cut of i, j and k. What rank 0 keeps, writes
 * and judges is the work of the product. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/halo/halo.h"
#include "comm/ranks/watch.h"
#include "himeno/config/choice.h"
#include "himeno/result/result.h"

#define PER_HOST 8

status_t __real_himeno_ranks_gather(const struct placement *placement, struct solver *solver,
                                    struct record *record, struct himeno_result *result);
status_t __wrap_himeno_ranks_gather(const struct placement *placement, struct solver *solver,
                                    struct record *record, struct himeno_result *result);
status_t __wrap_watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what);
status_t __real_record_open(const struct placement *placement, struct record **record);
status_t __wrap_record_open(const struct placement *placement, struct record **record);

static int played;

/* The longest dimension is halved until there is one rank. */
static void cut(int procs[3])
{
  procs[0] = procs[1] = procs[2] = 1;
  for (int left = played, d = 2; left > 1; left /= 2, d = (d + 2) % 3) procs[d] *= 2;
}

static void paths_fill(struct himeno_rank *rank, int r)
{
  int procs[3], dir[3];
  cut(procs);
  const int at[3] = {r / (procs[1] * procs[2]), r / procs[2] % procs[1], r % procs[2]};
  for (int n = 0; n < 27; n++) {
    int peer = 0, inside = n != 13;
    for (int d = 0; d < 3; d++) {
      dir[d] = (d == 0 ? n / 9 : d == 1 ? n / 3 % 3 : n % 3) - 1;
      inside &= at[d] + dir[d] >= 0 && at[d] + dir[d] < procs[d];
      peer = peer * procs[d] + at[d] + dir[d];
    }
    if (!inside || !halo_dir_is_needed(dir, 1)) continue;
    const int within = peer / PER_HOST == r / PER_HOST;
    struct himeno_path *path = &rank->paths[rank->n_paths++];
    *path = (struct himeno_path){.peer = peer, .bytes = 64516 * (int64_t)sizeof(float)};
    halo_dir_name(dir, path->face);
    strcpy(path->used, within ? "p2p" : "staged");
    if (within) continue;
    snprintf(path->why, sizeof path->why, "on another host");
    snprintf(path->handover, sizeof path->handover, "MPI");
    snprintf(path->handover_why, sizeof path->handover_why, "on another host");
  }
}

static void rank_vary(struct himeno_rank *rank, int r)
{
  const double times = 1 + 1e-3 * (r * 7919 % 101 - 50) / 50;
  snprintf(rank->row.host, sizeof rank->row.host, "n%04d", r / PER_HOST);
  snprintf(rank->row.info.uuid, sizeof rank->row.info.uuid, "GPU-%08x-0000-0000-0000-000000000000", r);
  rank->row.host_first = r - r % PER_HOST;
  rank->row.gflops /= times;
  for (int p = 0; p < HIMENO_PHASES; p++) rank->phases[p] *= times;
  rank->telemetry.samples = rank->telemetry.rows;
  strcpy(rank->telemetry.source, "NVML");
  paths_fill(rank, r);
}

status_t __wrap_watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what)
{
  (void)comm;
  for (int r = 0; r < played; r++) memcpy((char *)receive + (size_t)r * bytes, send, bytes);
  for (int r = 0; r < played && strcmp(what, "what the ranks found") == 0; r++)
    rank_vary((struct himeno_rank *)receive + r, r);
  return STATUS_OK;
}

/* As many blocks and samples as one of so many ranks keeps. */
status_t __wrap_record_open(const struct placement *placement, struct record **record)
{
  struct placement many = *placement;
  many.ranks = played = atoi(getenv("PLAYED_RANKS"));
  return __real_record_open(&many, record);
}

status_t __wrap_himeno_ranks_gather(const struct placement *placement, struct solver *solver,
                                    struct record *record, struct himeno_result *result)
{
  struct placement many = *placement;
  many.ranks = played;
  cut(((struct himeno_choice *)((char *)placement - offsetof(struct himeno_choice, placement)))->procs);
  return __real_himeno_ranks_gather(&many, solver, record, result);
}
