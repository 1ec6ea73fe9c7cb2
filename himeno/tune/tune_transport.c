/* SPDX-License-Identifier: MIT */
/* -x auto: times a few exchanges of this grid's halos by each transport that the backend supports.
 * This file also has the rule for runs without trials. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "gpu/binding.h"
#include "himeno/tune/choose.h"
#include "himeno/tune/trial.h"
#include "suite/progress.h"

/* Opens a trial. Sets \a any to 0 if the transport cannot be used in this job. */
static status_t trial_begin(const struct himeno_choice *choice, const struct halo_transport *transport,
                            struct trial **trial, int *any)
{
  struct trial_config c = {.comm = choice->placement.comm,
                           .device = choice->device,
                           .transport = transport,
                           .depth = choice->kernel->sweeps,
                           .pad = (int)choice->config->pad};
  memcpy(c.global, choice->global, sizeof c.global);
  memcpy(c.procs, choice->procs, sizeof c.procs);
  *any = 0;
  *trial = NULL;
  log_mute(LOG_UNFIT);
  status_t status = trial_open(&c, trial);
  log_mute(0);
  if (status == STATUS_OK) return trial_carries(*trial, any);
  return status_is_unfit(status) ? STATUS_OK : status;
}

/* Sets the seconds per exchange on the slowest rank; infinite if the transport cannot be used. */
static status_t trial_run(const struct himeno_choice *choice, const struct halo_transport *transport,
                          double *seconds, int *links)
{
  struct trial *trial;
  int any;
  *seconds = INFINITY;
  status_t status = trial_begin(choice, transport, &trial, &any);
  if (status == STATUS_OK && any) status = trial_time(trial, seconds);
  *links |= trial_links(trial);
  trial_close(trial);
  return status;
}

status_t himeno_transport_tune(struct himeno_choice *choice)
{
  const struct himeno_config *config = choice->config;
  double best = INFINITY;
  int tried = 0, links = 0;
  if (config->transport || config->no_tune || choice->placement.ranks == 1) return STATUS_OK;
  for (int t = 0; halo_transports[t]; t++) {
    char reason[GPU_TEXT_MAX];
    double seconds;
    if (!halo_transports[t]->trial || (links && halo_transports[t]->trial == HALO_TRIAL_SLOW) ||
        !halo_transports[t]->available(choice->placement.backend, reason))
      continue;
    progress_begin("trying transports, %s", halo_transports[t]->name);
    RETURN_IF_FAILED(trial_run(choice, halo_transports[t], &seconds, &links));
    tried++;
    if (seconds >= best) continue;
    best = seconds;
    choice->transport = halo_transports[t];
  }
  choice->transport_origin = tried > 1 ? CHOICE_TRIAL : CHOICE_DEFAULT;
  return STATUS_OK;
}

status_t himeno_transport_rule(struct himeno_choice *choice)
{
  char reason[GPU_TEXT_MAX];
  struct trial *trial;
  int any = 0;
  if (choice->config->transport || choice->placement.ranks == 1) return STATUS_OK;
  /* Not if ranks share a device: a kernel that waits for a neighbour would block the others. */
  if (!choice->sharing_most && halo_transport_p2p.available(choice->placement.backend, reason)) {
    status_t status = trial_begin(choice, &halo_transport_p2p, &trial, &any);
    trial_close(trial);
    RETURN_IF_FAILED(status);
  }
  choice->transport = any ? &halo_transport_p2p : &halo_transport_staged;
  choice->transport_origin = CHOICE_RULE;
  return STATUS_OK;
}

/* A rank's device. */
struct seat {
  int host_first;
  struct gpu_device_info info;
};

static void seats_count(const struct seat *seats, struct himeno_choice *choice)
{
  const int me = choice->placement.rank;
  for (int r = 0; r < choice->placement.ranks; r++) {
    if (seats[r].host_first != seats[me].host_first) continue;
    if (r != me && !binding_same_device(&seats[r].info, &seats[me].info)) continue;
    choice->sharing++;
    choice->sharing_rank += r < me;
  }
}

status_t himeno_sharing_find(struct himeno_choice *choice)
{
  const struct placement *p = &choice->placement;
  int shared;
  RETURN_IF_FAILED(watch_allreduce(p->comm, &p->shared, &shared, 1, MPI_INT, MPI_MAX, "who shares a device"));
  if (!shared) return STATUS_OK;
  struct seat mine = {.host_first = p->host_first, .info = p->info},
              *seats = calloc((size_t)p->ranks, sizeof *seats);
  status_t status = seats ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for ranks");
  TRY(agree_status(p->comm, status), done);
  TRY(watch_allgather(p->comm, &mine, seats, sizeof mine, "who shares a device"), done);
  seats_count(seats, choice);
  status = watch_allreduce(p->comm, &choice->sharing, &choice->sharing_most, 1, MPI_INT, MPI_MAX,
                           "who shares a device");
done:
  free(seats);
  return status;
}
