/* SPDX-License-Identifier: MIT */
/* himeno-gpu on one rank whose gathers bring the rows of PLAYED_RANKS: copies of its own, on hosts
 * of eight, each with messages to nine ranks on either side. What rank 0 keeps, writes and judges
 * is the work of the product. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "himeno/config/choice.h"
#include "himeno/result/result.h"

#define PER_HOST 8
#define PEERS    9 /* of the 18 messages of a rank in three dimensions */

typedef status_t record_opener(const struct placement *placement, struct record **record);
typedef status_t ranks_gatherer(const struct placement *placement, struct solver *solver,
                                struct record *record, struct himeno_result *result);
record_opener __real_record_open, __wrap_record_open;
ranks_gatherer __real_himeno_ranks_gather, __wrap_himeno_ranks_gather;
status_t __wrap_watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what);

static int played;

static void rank_vary(struct himeno_rank *rank, int r)
{
  snprintf(rank->row.host, sizeof rank->row.host, "n%04d", r / PER_HOST);
  snprintf(rank->row.info.uuid, sizeof rank->row.info.uuid, "GPU-%08x-0000-0000-0000-000000000000", r);
  rank->row.host_first = r - r % PER_HOST;
  for (int p = 0; p < HIMENO_PHASES; p++) rank->phases[p] *= 1 + 1e-5 * (r * 7919 % 101);
  rank->telemetry.samples = rank->telemetry.rows;
  strcpy(rank->telemetry.source, "NVML");
  for (int peer = r - PEERS; peer <= r + PEERS; peer++) {
    if (peer < 0 || peer >= played || peer == r) continue;
    const int within = peer / PER_HOST == r / PER_HOST;
    struct himeno_path *path = &rank->paths[rank->n_paths++];
    *path = (struct himeno_path){.peer = peer, .face = "i+", .bytes = 258064};
    strcpy(path->used, within ? "p2p" : "staged");
    if (within) continue;
    strcpy(path->why, "on another host");
    strcpy(path->handover, "MPI");
    strcpy(path->handover_why, "on another host");
  }
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
  ((struct himeno_choice *)((char *)placement - offsetof(struct himeno_choice, placement)))->procs[0] =
      played;
  return __real_himeno_ranks_gather(&many, solver, record, result);
}
