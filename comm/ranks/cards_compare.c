/* SPDX-License-Identifier: MIT */
#include "comm/ranks/cards.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"

/* A card that carried less than this share of its host's bytes is idle. */
#define IDLE_SHARE 0.01

/* One rank's readings of the cards of its host. */
struct reading {
  struct cards before, after;
  uint64_t sent;
  int host; /**< lowest rank on its host */
};

const struct card *cards_find(const struct cards *cards, const char *name)
{
  for (int c = 0; c < cards->n; c++)
    if (strcmp(cards->card[c].name, name) == 0) return &cards->card[c];
  return NULL;
}

static int cards_same_host(const struct reading *a, const struct reading *b)
{
  return a->host == b->host;
}

static int first_of_host(const struct reading *readings, int r)
{
  for (int s = 0; s < r; s++)
    if (cards_same_host(&readings[s], &readings[r])) return 0;
  return 1;
}

static void row_fill(const struct reading *readings, int ranks, int r, const struct card *card,
                     struct cards_table *table)
{
  struct cards_row *row = &table->rows[table->n];
  const struct card *before = cards_find(&readings[r].before, card->name);
  int64_t *asked = &table->asked[table->n];
  *row = (struct cards_row){.card = *card};
  *asked = 0;
  if (before) {
    row->received = card->received - before->received;
    row->sent = card->sent - before->sent;
    row->errors = card->errors - before->errors;
    row->discards = card->discards - before->discards;
    row->symbols = card->symbols - before->symbols;
  }
  for (int s = 0; s < ranks; s++) {
    const struct card *seen =
        cards_same_host(&readings[r], &readings[s]) ? cards_find(&readings[s].after, card->name) : NULL;
    table->near[table->n * ranks + s] = (unsigned char)(seen ? seen->near : CARDS_UNKNOWN);
    if (cards_same_host(&readings[r], &readings[s])) *asked += (int64_t)readings[s].sent;
  }
  row->idle =
      strcmp(card->state, "active") == 0 && *asked > 0 && (double)row->sent < IDLE_SHARE * (double)*asked;
  table->n++;
}

static status_t cards_table_make(const struct reading *readings, int ranks, struct cards_table *table)
{
  int n = 0;
  for (int r = 0; r < ranks; r++) n += first_of_host(readings, r) ? readings[r].after.n : 0;
  struct cards_table t = {.ranks = ranks,
                          .rows = calloc((size_t)n + 1, sizeof *t.rows),
                          .asked = calloc((size_t)n + 1, sizeof *t.asked),
                          .near = calloc((size_t)n * (size_t)ranks + 1, 1)};
  if (!t.rows || !t.asked || !t.near) {
    cards_free(&t);
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for network cards");
  }
  for (int r = 0; r < ranks; r++)
    for (int c = 0; first_of_host(readings, r) && c < readings[r].after.n; c++)
      row_fill(readings, ranks, r, &readings[r].after.card[c], &t);
  *table = t;
  return STATUS_OK;
}

status_t cards_compare(MPI_Comm comm, const struct cards *before, const struct cards *after, int host,
                       uint64_t sent, struct cards_table *table)
{
  int rank, ranks;
  struct reading *readings = NULL, *mine = calloc(1, sizeof *mine);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank == 0) readings = calloc((size_t)ranks, sizeof *readings);
  status_t status = STATUS_OK;
  if (!mine || (rank == 0 && !readings))
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for network cards");
  status = agree_status(comm, status);
  if (status == STATUS_OK) {
    mine->before = *before;
    mine->after = *after;
    mine->sent = sent;
    mine->host = host;
    status = watch_gather(comm, mine, readings, sizeof *mine, "network cards");
  }
  if (status == STATUS_OK && rank == 0) status = cards_table_make(readings, ranks, table);
  free(mine);
  free(readings);
  return agree_status(comm, status);
}

void cards_free(struct cards_table *table)
{
  free(table->rows);
  free(table->asked);
  free(table->near);
  *table = (struct cards_table){.n = 0};
}
