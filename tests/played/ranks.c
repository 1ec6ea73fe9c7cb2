/* SPDX-License-Identifier: MIT */
/* himeno-gpu on one rank that simulates rank 0 of PLAYED_RANKS: its gathers return that many copies
 * of its own row, on hosts with eight ranks, with messages to nine ranks on either side. Figures
 * that vary between real devices differ in each row. Paths were measured as with --accept. The code
 * under test stores, writes and judges the rows. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/halo/halo.h"
#include "himeno/config/choice.h"
#include "himeno/result/result.h"

#define PER_HOST 8
#define PEERS    9 /* half of a rank's 18 messages in three dimensions */

typedef status_t record_opener(const struct placement *placement, struct record **record);
typedef status_t ranks_gatherer(const struct placement *placement, struct solver *solver,
                                struct record *record, struct himeno_result *result);
record_opener __real_record_open, __wrap_record_open;
ranks_gatherer __real_himeno_ranks_gather, __wrap_himeno_ranks_gather;
typedef status_t all_reducer(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                             MPI_Op op, const char *what);
all_reducer __real_watch_allreduce, __wrap_watch_allreduce;
status_t __wrap_watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what);

static int played;

/* Returns \a value increased by up to 1%, depending on rank \a r and on \a of. */
static double vary(double value, int r, int of)
{
  return value * (1 + 1e-2 * ((r * 7919LL + of * 104729LL) % 10007) / 10007);
}

/* Texts of a path to a rank on another host, and on the same host. */
static const struct path_texts texts[] = {{"staged", "on another host", "MPI", "on another host", NULL},
                                          {.used = "p2p"}};

static int peer_next(int r, int peer)
{
  do peer++;
  while (peer < 0 || peer == r);
  return peer <= r + PEERS && peer < played ? peer : -1;
}

/* Sets the texts of the rank's path number \a m, if there is one. */
static void texts_vary(struct path_texts *path, int r, int m)
{
  int peer = r - PEERS - 1;
  do peer = peer_next(r, peer);
  while (m-- > 0 && peer >= 0);
  *path = texts[peer / PER_HOST == r / PER_HOST];
}

static void rank_vary(struct himeno_rank *rank, int r)
{
  snprintf(rank->row.host, sizeof rank->row.host, "n%04d", r / PER_HOST);
  snprintf(rank->row.info.uuid, sizeof rank->row.info.uuid, "GPU-%08x-0000-0000-0000-000000000000", r);
  snprintf(rank->row.info.pci, sizeof rank->row.info.pci, "0000:%02x:00.0", 16 * (r % PER_HOST));
  rank->row.host_first = r - r % PER_HOST;
  rank->row.numa = rank->row.info.numa = r % PER_HOST / 4;
  rank->row.gflops = vary(1e4, r, 1);
  rank->ceiling = vary(4e12, r, 2);
  rank->waited = vary(1e-5, r, 3);
  rank->points += r % 3 * 900;
  for (int p = 0; p < HIMENO_PHASES; p++) rank->phases[p] = vary(1e-4, r, 10 + p);
  struct record_telemetry *t = &rank->telemetry;
  strcpy(t->source, "NVML");
  t->samples = 100;
  t->starved = vary(1e-3, r, 4);
  t->crc_rate = 0;
  t->low = (struct telemetry_sample){floor(vary(300, r, 5)), 1900 + r % 80, 2619, 40 + r % 9, 0};
  t->high = (struct telemetry_sample){floor(vary(690, r, 6)), 1980, 2619, 60 + r % 9, 0};
  t->after.sm_mhz_max = 1980;
  t->after.memory_bits = 5120;
  t->after.cores = 16896;
  t->after.corrected = t->before.corrected = r % 10;
  for (int peer = r - PEERS - 1; (peer = peer_next(r, peer)) >= 0; rank->n_paths++) {
    struct himeno_path *path = &rank->paths[rank->n_paths];
    *path = (struct himeno_path){.peer = peer, .bytes = 258064 >> 2 * (rank->n_paths % 3)};
    path->probe.seconds = vary(4e-6, r, 20 + rank->n_paths);
    path->probe.bytes_per_second = vary(3e11, r, 40 + rank->n_paths);
    halo_dir_name((const int[3]){rank->n_paths % 3 - 1, rank->n_paths / 3 % 3 - 1, rank->n_paths / 9},
                  path->face);
  }
}

static void block_vary(struct record_block *blocks, size_t n, int r)
{
  for (size_t b = 0; b < n; b++)
    blocks[b] = (struct record_block){vary(1e-4, r, (int)b), vary(1e-5, r, (int)b + 99), 0};
}

static void row_vary(struct telemetry_sample *rows, size_t n, int r)
{
  for (size_t b = 0; b < n; b++)
    rows[b] = (struct telemetry_sample){.001 * (int)(1e3 * vary(690, r, (int)b)), 1900 + (r + (int)b) % 80,
                                        2619, 60 + r % 9, 0};
}

status_t __wrap_watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what)
{
  static int slot = -1;
  (void)comm;
  slot = strcmp(what, "texts of paths") == 0 ? slot + 1 : -1;
  for (int r = 0; r < played; r++) memcpy((char *)receive + (size_t)r * bytes, send, bytes);
  for (int r = 0; r < played && strcmp(what, "what the ranks found") == 0; r++)
    rank_vary((struct himeno_rank *)receive + r, r);
  for (int r = 0; r < played && strcmp(what, "texts of paths") == 0; r++)
    texts_vary((struct path_texts *)receive + r, r, slot);
  for (int r = 0; r < played && strcmp(what, "times of blocks") == 0; r++)
    block_vary((struct record_block *)((char *)receive + (size_t)r * bytes),
               bytes / sizeof(struct record_block), r);
  for (int r = 0; r < played && strcmp(what, "devices' samples") == 0; r++)
    row_vary((struct telemetry_sample *)((char *)receive + (size_t)r * bytes),
             bytes / sizeof(struct telemetry_sample), r);
  return STATUS_OK;
}

status_t __wrap_watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                                MPI_Op op, const char *what)
{
  const status_t status = __real_watch_allreduce(comm, send, receive, count, type, op, what);
  if (strcmp(what, "changes and paths") == 0) ((int *)receive)[1] = 2 * PEERS;
  return status;
}

/* Opens a record with as many blocks and samples as one of PLAYED_RANKS ranks has. */
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
  for (; record->n < RECORDS_MIN; record->n++)
    record->when[record->n] = (struct record_when){record->n + 1.0, record->n};
  while (series_rows(&record->series) < SERIES_ROWS_MIN) series_add(&record->series, record->series.rows);
  ((struct himeno_choice *)((char *)placement - offsetof(struct himeno_choice, placement)))->procs[0] =
      played;
  return __real_himeno_ranks_gather(&many, solver, record, result);
}
