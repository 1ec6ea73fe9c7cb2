/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "comm/ranks/agree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/watch.h"

#define TEXT_MAX    2048
#define WHO_MAX     256
#define RANKS_NAMED 8

struct verdict {
  int status, local; /* local: as log_held_local */
  char who[WHO_MAX];
  char text[TEXT_MAX];
};

static void verdict_fill(struct verdict *verdict, status_t status)
{
  memset(verdict, 0, sizeof *verdict);
  verdict->status = (int)status;
  verdict->local = log_held_local() || status == STATUS_FAULT;
  snprintf(verdict->who, sizeof verdict->who, "%s", log_identity());
  snprintf(verdict->text, sizeof verdict->text, "%s", log_held());
}

/* Prints what rank r said, unless an earlier rank said the same. What all say alike needs no names,
 * but for what is some device's own, as all faults are. */
static void print_once(const struct verdict *all, int n, int r)
{
  int alike = 0, named = 0;
  char who[RANKS_NAMED * WHO_MAX] = "";
  for (int s = 0; s < n; s++) {
    if (strcmp(all[s].text, all[r].text) != 0) continue;
    if (s < r) return;
    size_t used = strlen(who);
    if (named++ < RANKS_NAMED) snprintf(who + used, sizeof who - used, "%s%s", used ? "; " : "", all[s].who);
    alike++;
  }
  size_t used = strlen(who);
  if (alike > RANKS_NAMED) snprintf(who + used, sizeof who - used, "; and %d more", alike - RANKS_NAMED);
  if (all[r].text[0]) log_print(alike == n && !all[r].local ? "" : who, all[r].text);
}

status_t agree_status(MPI_Comm comm, status_t status)
{
  int rank, n, bad = status != STATUS_OK, any = 0;
  if (status == STATUS_HANG) agree_abort(comm, status);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  RETURN_IF_FAILED(watch_allreduce(comm, &bad, &any, 1, MPI_INT, MPI_MAX, "agreement"));
  if (!any) return STATUS_OK;

  struct verdict mine, *all = calloc((size_t)n, sizeof *all);
  if (!all) agree_abort(comm, status != STATUS_OK ? status : STATUS_ENVIRONMENT);
  verdict_fill(&mine, status);
  status_t worst = watch_allgather(comm, &mine, all, sizeof mine, "what went wrong");
  if (worst != STATUS_OK) agree_abort(comm, worst);
  for (int r = 0; r < n; r++) worst = status_worst(worst, (status_t)all[r].status);
  for (int r = 0; rank == 0 && r < n; r++) print_once(all, n, r);
  log_drop();
  free(all);
  return worst;
}

void agree_abort(MPI_Comm comm, status_t status)
{
  log_hold(0);
  fflush(NULL);
  MPI_Abort(comm, (int)status);
  abort();
}
