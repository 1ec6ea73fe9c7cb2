/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/result.h"

#include <stdlib.h>

void himeno_result_free(struct himeno_result *result)
{
  free(result->samples);
  free(result->throttled);
  free(result->series);
  free(result->ranks);
}

double himeno_result_gflops(const struct himeno_result *result)
{
  return himeno_gflops(result->points, (double)result->sweeps, result->seconds);
}
