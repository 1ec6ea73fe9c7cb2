/* SPDX-License-Identifier: MIT */
#include "gemm/state/state.h"

#include <math.h>
#include <string.h>

#define DAY 86400.0

struct gemm_machine gemm_run_machine(const struct gemm_rig *rig)
{
  return (struct gemm_machine){.ceilings = rig->ceilings, .units = rig->placement.info.compute_units};
}

struct gemm_machine gemm_run_predicted(const struct gemm_rig *rig)
{
  return rig->config.card.units ? rig->config.card : gemm_run_machine(rig);
}

int gemm_run_modelled(const struct gemm_rig *rig)
{
  return rig->config.card.units || !rig->placement.info.is_cpu ||
         strcmp(rig->placement.backend->name, "opencl") != 0;
}

double gemm_series_share(const struct gemm_rig *rig, const struct gemm_series *s)
{
  double peak = rig->ceilings.flops * rig->placement.ranks / 1e9;
  return peak > 0 ? gemm_series_gflops(rig, s) / peak : 0;
}

/* A series without samples is incomplete, and so is a product that a signal interrupted. The series
 * of a ladder that were measured before the signal are complete. */
const char *gemm_series_verdict(const struct gemm_result *result, const struct gemm_series *s)
{
  int ended = s->n_samples > 0 && (!result->partial || result->ladder);
  return status_verdict(s->status == STATUS_OK && !ended ? STATUS_INCOMPLETE : s->status);
}

double gemm_series_gflops(const struct gemm_rig *rig, const struct gemm_series *s)
{
  return s->seconds > 0 ? s->flop * rig->placement.ranks / s->seconds / 1e9 : 0;
}

struct worth gemm_worth(const struct gemm_rig *rig, const struct gemm_result *result)
{
  struct worth w = {.share = INFINITY, .wrong = result->verdict != STATUS_OK};
  double seconds = 0, devices = 0;
  for (int y = 0; y < result->n_series; y++) {
    const struct gemm_series *s = &result->series[y];
    const int compared = rig->config.beta != 0 ? s->launches : 1;
    for (int b = 0; b < s->n_samples; b++) seconds += s->samples[b] * compared / s->launches;
  }
  for (int r = 0; r < rig->placement.ranks; r++) {
    devices += 1.0 / (1 + result->ranks[r].row.shared);
    worth_add(&w, result->ranks[r].power_share);
  }
  w.days = seconds * devices / DAY;
  return w;
}

const char *gemm_arithmetic_of(const struct gemm_rig *rig, const struct gemm_series *s)
{
  return rig->config.data == GEMM_RANDOM ? gemm_arithmetic_names[s->check.arithmetic] : NULL;
}
