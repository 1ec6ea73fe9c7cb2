/* SPDX-License-Identifier: MIT */
/* What a study has for a fit: its transports, its runs with their geometries, and what they
 * cover. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tools/predict/fit_private.h"
#include "tools/predict/workload.h"

static status_t transport_add(const char *name, const struct study_paths *paths, struct model *model)
{
  if (model_transport_find(model, name) >= 0) return STATUS_OK;
  const int via = study_transport_find(paths, name);
  if (via < 0)
    return log_fail(STATUS_ENVIRONMENT,
                    "the study has runs by %s, and there are no parameters of it: run mpirun -np 2 "
                    "comm-gpu -x %s --json FILE",
                    name, name);
  model->paths.transports[model->paths.n++] = paths->transports[via];
  return STATUS_OK;
}

/* Paths are measured as the runs went, or tell nothing of them. */
static status_t staging_check(const struct study_run *run, const struct study_transport *transport)
{
  if (run->handover < 0 || transport->handover < 0 || run->handover == transport->handover) return STATUS_OK;
  return log_fail(
      STATUS_ENVIRONMENT,
      "%s has halos staged %s, and comm-gpu's document is of halos staged %s: measure it with the "
      "comm-gpu of that build",
      run->file, study_staging(run->handover), study_staging(transport->handover));
}

status_t fit_transports_choose(const struct study *study, const struct study_paths *paths,
                               struct model *model)
{
  for (int r = 0; r < study->n; r++) {
    const struct study_run *run = &study->runs[r];
    if (run->ranks == 1) continue;
    RETURN_IF_FAILED(transport_add(run->transport, paths, model));
    RETURN_IF_FAILED(
        staging_check(run, &model->paths.transports[model_transport_find(model, run->transport)]));
    if (run->hosts > 1 && model_within_hosts(run->transport))
      RETURN_IF_FAILED(transport_add("staged", paths, model));
  }
  /* of one rank alone: by what comm-gpu measured, where "copy" is no transport's */
  for (int w = 0, alone = model->paths.n == 0; w < paths->n && alone; w++)
    if (strcmp(paths->transports[w].name, "copy") != 0)
      RETURN_IF_FAILED(transport_add(paths->transports[w].name, paths, model));
  model->columns = TERMS + TRANSPORT_TERMS * model->paths.n;
  return STATUS_OK;
}

status_t fit_samples_make(const struct study *study, struct model *model, struct fitting *f)
{
  f->samples = calloc((size_t)study->n + 1, sizeof *f->samples);
  f->study = study;
  if (!f->samples) return log_fail(STATUS_ENVIRONMENT, "out of memory for runs");
  for (int r = 0; r < study->n; r++) {
    struct sample *s = &f->samples[f->n++];
    *s = (struct sample){.run = &study->runs[r], .configuration = f->configurations, .weight = 1};
    RETURN_IF_FAILED(workload_geometry(s->run, study_per_host(s->run), &s->geometry));
    s->via = s->run->ranks > 1 ? model_transport_find(model, s->run->transport) : -1;
    if (s->via >= 0) RETURN_IF_FAILED(model_paths_check(model, &s->geometry, s->via));
    for (int o = 0; o < r; o++)
      if (study_same_configuration(s->run, &study->runs[o])) s->configuration = f->samples[o].configuration;
    f->configurations += s->configuration == f->configurations;
  }
  return STATUS_OK;
}

/* Ranks of a host in the runs on several hosts; 0 when there are none. */
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

void fit_range_note(const struct fitting *f, struct model *model)
{
  char cut[STUDY_TEXT];
  model->product = workload_product(f->study);
  model->runs = f->n;
  model->per_host = host_ranks(f->study);
  model->depth = f->samples[0].run->depth;
  model->overlap = model->slabs_hidden = 1;
  model->steps_hidden = model->depth > 1;
  for (int n = 0; n < f->n; n++) {
    const struct study_run *run = f->samples[n].run;
    const struct geometry *g = &f->samples[n].geometry;
    double bytes = g->bytes[0] + g->bytes[1];
    if (n == 0 || g->points < model->points_least) model->points_least = g->points;
    if (g->points > model->points_most) model->points_most = g->points;
    if (bytes > model->bytes_most) model->bytes_most = bytes;
    if (g->ranks > model->ranks_most) model->ranks_most = g->ranks;
    if (run->hosts > model->hosts_most) model->hosts_most = run->hosts;
    if (!run->overlap) model->overlap = 0;
    for (int d = 0; d < 3; d++) model->seen[TERM_SLAB_I + d] |= run->procs[d] > 1;
    model_list(&model->sizes, run->size);
    if (run->ranks > 1) model_list(&model->cuts, study_cut_text(run->procs, cut));
  }
  if (model->ranks_most == 1) model->seen[TERM_SLAB_I] = 1; /* no term is of whole planes alone */
}

status_t fit_enough_check(const struct fitting *f, const struct model *model)
{
  int alone = 0;
  const char *program = model_program_names[model->program], *work = workloads[model->program].work,
             *point = workloads[model->program].point;
  for (int n = 0; n < f->n; n++) alone += f->samples[n].run->ranks == 1;
  if (alone == 0)
    return log_fail(STATUS_ENVIRONMENT,
                    "too little to predict from: no run on one rank; measure %s on one rank", program);
  if (model->points_most < 1.5 * model->points_least)
    return log_fail(STATUS_ENVIRONMENT,
                    "too little to predict from: all runs have about %.3g %ss a rank, so that the fixed "
                    "cost of a %s and "
                    "that of a %s cannot be distinguished; measure a smaller and a larger --size",
                    model->points_most, point, work, point);
  return STATUS_OK;
}
