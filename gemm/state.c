/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gemm/state.h"

struct gemm_machine gemm_run_machine(const struct gemm_run *run)
{
  return (struct gemm_machine){.ceilings = run->ceilings, .units = run->placement.info.compute_units};
}

double gemm_series_share(const struct gemm_run *run, const struct gemm_series *s)
{
  double peak = run->ceilings.flops * run->placement.ranks / 1e9;
  return peak > 0 ? gemm_series_gflops(run, s) / peak : 0;
}

/* A ladder's rungs that were timed before the signal have ended. A wrong block ends what stands
 * behind it. */
const char *gemm_series_verdict(const struct gemm_run *run, const struct gemm_series *s)
{
  int ended = s->n_samples > 0 && (!run->partial || run->ladder);
  return s->status == STATUS_OK && !ended ? "partial" : status_verdict(s->status);
}

double gemm_series_gflops(const struct gemm_run *run, const struct gemm_series *s)
{
  return s->seconds > 0 ? s->flop * run->placement.ranks / s->seconds / 1e9 : 0;
}
