/* SPDX-License-Identifier: MIT */
/* Input of a fit from a study: its transports, its runs with their geometries, and the ranges that
 * they cover. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "tools/predict/fit_private.h"
#include "tools/predict/workload.h"

static status_t transport_add(const char *name, const struct study_paths *paths, struct model_terms *terms)
{
  if (study_transport_find(&terms->paths, name) >= 0) return STATUS_OK;
  const int via = study_transport_find(paths, name);
  if (via < 0)
    return log_fail(STATUS_ENVIRONMENT,
                    "the study has runs by %s, but there are no parameters of it: run mpirun -np 2 "
                    "comm-gpu -x %s --json FILE, or predict other transports by -x",
                    name, name);
  terms->paths.transports[terms->paths.n++] = paths->transports[via];
  return STATUS_OK;
}

/* Fails if the transport's paths were measured with another staging than the run. */
static status_t staging_check(const struct study_run *run, const struct study_transport *transport)
{
  if (run->handover < 0 || transport->handover < 0 || run->handover == transport->handover) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT,
                  "%s has halos staged %s, but comm-gpu's document is of halos staged %s: run mpirun "
                  "-np 2 comm-gpu --json FILE of that build",
                  run->file, study_staging(run->handover), study_staging(transport->handover));
}

status_t fit_transports_choose(const struct study *study, const struct study_paths *paths,
                               struct model_terms *terms)
{
  for (int r = 0; r < study->n; r++) {
    const struct study_run *run = &study->runs[r];
    if (run->ranks == 1) continue;
    RETURN_IF_FAILED(transport_add(run->transport, paths, terms));
    RETURN_IF_FAILED(
        staging_check(run, &terms->paths.transports[study_transport_find(&terms->paths, run->transport)]));
    if (run->hosts > 1 && model_within_hosts(run->transport))
      RETURN_IF_FAILED(transport_add("staged", paths, terms));
  }
  /* If no run has a transport, take all that comm-gpu measured ("copy" is not a transport). */
  for (int w = 0, alone = terms->paths.n == 0; w < paths->n && alone; w++)
    if (strcmp(paths->transports[w].name, "copy") != 0)
      RETURN_IF_FAILED(transport_add(paths->transports[w].name, paths, terms));
  terms->columns = TERMS + TRANSPORT_TERMS * terms->paths.n;
  return STATUS_OK;
}

status_t fit_samples_make(const struct study *study, struct fitting *f)
{
  const struct study_paths *transports = &f->model->terms.paths;
  f->samples = calloc((size_t)study->n + 1, sizeof *f->samples);
  f->study = study;
  if (!f->samples) return log_fail(STATUS_ENVIRONMENT, "out of host memory for runs");
  for (int r = 0; r < study->n; r++) {
    struct sample *s = &f->samples[f->n++];
    *s = (struct sample){.run = &study->runs[r], .configuration = f->configurations, .weight = 1};
    RETURN_IF_FAILED(workload_geometry(s->run, study_per_host(s->run), &s->geometry));
    s->via = s->run->ranks > 1 ? study_transport_find(transports, s->run->transport) : -1;
    if (s->via >= 0) RETURN_IF_FAILED(model_paths_check(transports, &s->geometry, s->via));
    for (int o = 0; o < r; o++)
      if (study_same_configuration(s->run, &study->runs[o])) s->configuration = f->samples[o].configuration;
    f->configurations += s->configuration == f->configurations;
  }
  return STATUS_OK;
}

/* Returns the most ranks per host in runs on several hosts, or 0 if there are no such runs. */
static int host_ranks(const struct study *study)
{
  int most = 0;
  for (int r = 0; r < study->n; r++) {
    const struct study_run *run = &study->runs[r];
    int each = run->hosts > 1 ? study_per_host(run) : 0;
    if (each > most) most = each;
  }
  return most;
}

/* GPU types of which many devices were measured. spread: estimated relative standard deviation of
 * their speeds, the range divided by its expectation in standard deviations (doc/devices.json).
 * units: multiprocessors. */
static const struct {
  const char *device;
  double spread;
  int units;
} types[] = {{"NVIDIA H100 80GB HBM3", 0.0036, 132}, {"NVIDIA H200", 0.0139, 132}};

/* Sets the spread of devices' speeds to the larger of the runs' spread and the known spread of the
 * device type, because devices of one host may be more alike than devices of many. */
static void devices_note(const struct fitting *f)
{
  double *shown = calloc((size_t)f->n + 1, sizeof *shown), spread = 0;
  size_t some = 0;
  for (int n = 0; n < f->n && shown; n++) {
    shown[some] = f->samples[n].run->device_spread;
    some += shown[some] > 0;
  }
  if (some > 0) spread = stats_summarise(shown, some).median;
  free(shown);
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    if (strcmp(f->samples[0].run->device, types[t].device) == 0)
      spread = fmax(spread, types[t].spread), f->model->terms.units = types[t].units;
  f->model->range.device_spread = spread;
}

void fit_range_note(const struct fitting *f)
{
  struct model *model = f->model;
  struct model_range *range = &model->range;
  char cut[STUDY_TEXT];
  model->product = workload_product(f->study);
  range->runs = f->n;
  range->per_host = host_ranks(f->study);
  devices_note(f);
  model->terms.depth = f->samples[0].run->depth;
  model->terms.overlap = model->terms.slabs_hidden = 1;
  for (int n = 0; n < f->n; n++) {
    const struct study_run *run = f->samples[n].run;
    const struct geometry *g = &f->samples[n].geometry;
    const int *tile = run->product.tile, *largest = model->terms.tile;
    double bytes = g->bytes[0] + g->bytes[1];
    if (model->terms.units > 0 && (double)tile[0] * tile[1] > (double)largest[0] * largest[1])
      memcpy(model->terms.tile, tile, sizeof model->terms.tile);
    if (n == 0 || g->points < range->points_least) range->points_least = g->points;
    if (g->points > range->points_most) range->points_most = g->points;
    if (bytes > range->bytes_most) range->bytes_most = bytes;
    if (g->ranks > range->ranks_most) range->ranks_most = g->ranks;
    if (run->hosts > range->hosts_most) range->hosts_most = run->hosts;
    if (run->sharers > range->sharers_most) range->sharers_most = run->sharers;
    if (run->memories > range->memories) range->memories = run->memories;
    if (!run->overlap) model->terms.overlap = 0;
    for (int d = 0; d < 3; d++) model->errors.seen[TERM_SLAB_I + d] |= run->procs[d] > 1;
    model_list(&range->sizes, run->size);
    if (run->ranks > 1) model_list(&range->cuts, study_cut_text(run->procs, cut));
  }
  /* If all runs have one rank, predictions do not need the term of slabs of whole planes. */
  if (range->ranks_most == 1) model->errors.seen[TERM_SLAB_I] = 1;
}

status_t fit_enough_check(const struct fitting *f)
{
  const struct model *model = f->model;
  int alone = 0;
  const char *command = workloads[model->program].command, *work = workloads[model->program].work,
             *point = workloads[model->program].point;
  for (int n = 0; n < f->n; n++) alone += f->samples[n].run->ranks == 1;
  if (alone == 0)
    return log_fail(STATUS_ENVIRONMENT,
                    "too little to predict from: no run on one rank: run mpirun -np 1 %s --json FILE",
                    command);
  if (model->range.points_most < 1.5 * model->range.points_least)
    return log_fail(STATUS_ENVIRONMENT,
                    "too little to predict from: all runs have about %.3g %ss a rank, so that the fixed "
                    "cost of a %s and "
                    "that of a %s cannot be distinguished: run mpirun -np 1 %s -s SIZE --json FILE with a "
                    "smaller and a larger SIZE",
                    model->range.points_most, point, work, point, command);
  return STATUS_OK;
}
