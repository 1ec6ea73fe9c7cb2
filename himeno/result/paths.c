/* SPDX-License-Identifier: MIT */
/* Measures the paths between neighbours, each pair in isolation: latency and bandwidth, for the
 * checks of an acceptance. Pairs along one direction are measured in two half rounds, so that no
 * rank is in two pairs at once. Each pair uses the run's transport or its fallback. An exchange of
 * one float gives the latency. The extra time of a larger one gives the bandwidth, in both
 * directions at once. */
#include "himeno/result/ranks.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/guard.h"
#include "himeno/tune/trial.h"

#define WIDE_SIDE   1024 /* side of the larger exchange in floats: 4 MiB per direction */
#define DIRECTIONS  13   /* opposite directions count once */
#define FLOAT_BYTES 4.0

/* Times an exchange of \a side × \a side floats between two ranks. */
static status_t pair_time(const struct himeno_choice *choice, MPI_Comm pair, int64_t side, double *seconds)
{
  const struct trial_config c = {.comm = pair,
                                 .device = choice->device,
                                 .transport = choice->transport,
                                 .global = {4, side + 2, side + 2},
                                 .procs = {2, 1, 1},
                                 .depth = 1};
  struct trial *trial = NULL;
  status_t status = trial_open(&c, &trial);
  if (status == STATUS_OK) status = trial_time(trial, seconds);
  trial_close(trial);
  return status;
}

static status_t pair_measure(const struct himeno_choice *choice, struct telemetry *device, MPI_Comm pair,
                             struct path_probe *probe)
{
  const double bytes = WIDE_SIDE * WIDE_SIDE * FLOAT_BYTES;
  double least, wide;
  struct telemetry_sent before, after;
  struct telemetry_state state;
  telemetry_state(device, &state);
  RETURN_IF_FAILED(pair_time(choice, pair, 1, &least));
  telemetry_sent(device, &before);
  RETURN_IF_FAILED(pair_time(choice, pair, WIDE_SIDE, &wide));
  telemetry_sent(device, &after);
  *probe =
      (struct path_probe){least, wide > least ? bytes / (wide - least) : INFINITY, TRIAL_EXCHANGES * bytes,
                          telemetry_sent_between(&before, &after), state.nvlinks_active};
  return STATUS_OK;
}

/* Returns the index of this rank's message to its partner in a half round, −1 if it has none. */
static int partner_of(const struct decomp *decomp, const struct halo_plan *plan, const int dir[3], int half)
{
  const int d = dir[0] ? 0 : dir[1] ? 1 : 2, side = decomp->coord[d] % 2 == half ? 1 : -1;
  for (int m = 0; m < plan->n; m++) {
    const int *to = plan->messages[m].dir;
    if (to[0] == side * dir[0] && to[1] == side * dir[1] && to[2] == side * dir[2]) return m;
  }
  return -1;
}

/* Measures one half round. Returns at once if no rank has a partner. */
static status_t half_round(const struct himeno_choice *choice, struct telemetry *device, int m, int peer,
                           struct path_probe *probes)
{
  const struct placement *p = &choice->placement;
  MPI_Comm pair;
  int mine = m >= 0, any;
  RETURN_IF_FAILED(watch_allreduce(p->comm, &mine, &any, 1, MPI_INT, MPI_MAX, "the ways between ranks"));
  if (!any) return STATUS_OK;
  int color = m < 0 ? MPI_UNDEFINED : p->rank < peer ? p->rank : peer;
  RETURN_IF_FAILED(guard_mpi(p->comm, MPI_Comm_split(p->comm, color, p->rank, &pair), "MPI_Comm_split"));
  status_t status = STATUS_OK;
  if (m >= 0) {
    MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
    status = pair_measure(choice, device, pair, &probes[m]);
    MPI_Comm_free(&pair);
  }
  return agree_status(p->comm, status);
}

status_t paths_probe(const struct himeno_choice *choice, struct path_probe probes[HALO_MESSAGES_MAX])
{
  const struct placement *p = &choice->placement;
  struct decomp decomp;
  struct layout layout;
  struct halo_plan plan;
  decomp_init(&decomp, choice->global, choice->procs, p->rank);
  RETURN_IF_FAILED(agree_status(p->comm, layout_init(&layout, &decomp, choice->kernel->sweeps, 0)));
  halo_plan_init(&plan, &decomp, &layout, choice->kernel->sweeps);
  struct telemetry *device = telemetry_open(p->info.pci);
  status_t status = agree_status(
      p->comm, device ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for telemetry"));
  /* of all 27 directions, those after the middle one: their first nonzero number is 1 */
  for (int round = 0; round < 2 * DIRECTIONS && status == STATUS_OK; round++) {
    const int code = round / 2 + DIRECTIONS + 1, dir[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
    const int m = partner_of(&decomp, &plan, dir, round % 2);
    status = half_round(choice, device, m, m < 0 ? -1 : plan.messages[m].peer, probes);
  }
  telemetry_close(device);
  return status;
}

#define MOST 0.9 /* minimum share of the bytes that a medium must have carried */

const char *const path_medium_names[PATH_MEDIA] = {NULL, "direct by NVLink", "by PCIe", "through the host",
                                                   "through the host in disguise"};

enum path_medium path_medium(const struct himeno_path *path, int within_host)
{
  const struct path_probe *probe = &path->probe;
  if (!(probe->sent > 0) || !within_host) return MEDIUM_UNKNOWN;
  if ((double)probe->counted.nvlink >= MOST * probe->sent) return MEDIUM_NVLINK;
  if ((double)probe->counted.pcie < MOST * probe->sent) return MEDIUM_UNKNOWN;
  if (path->texts->handover[0] || strcmp(path->texts->used, halo_transport_pageable.name) == 0)
    return MEDIUM_HOST;
  return probe->nvlinks > 0 ? MEDIUM_DISGUISED : MEDIUM_PCIE;
}
