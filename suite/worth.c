/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "suite/worth.h"

#include <math.h>

#include "base/report.h"
#include "base/stats.h"

double worth_share(const double *watts, int n, int watts_limit)
{
  return n > 0 && watts_limit > 0 ? stats_summarise(watts, (size_t)n).median / watts_limit : NAN;
}

void worth_add(struct worth *w, double share)
{
  if (!(share >= w->share)) w->share = isnan(w->share) ? NAN : share;
}

double worth_excluded(const struct worth *w)
{
  return w->wrong == 0 && w->days > 0 ? 1000 * -log(0.05) / w->days : INFINITY;
}

void worth_text(const struct worth *w, const char *what, FILE *out)
{
  const double excluded = worth_excluded(w);
  if (isinf(excluded)) return;
  fprintf(out, "  excludes   %.3g wrong blocks or more in 1000 device-days, at 95%% (%.3g device-days %s)\n",
          excluded, w->days, what);
  if (isnan(w->share))
    fprintf(out, "  how hard   not known: a device tells no power, or no limit of it\n");
  else
    fprintf(out, "  how hard   %.2f of the power limit%s\n", w->share,
            w->share < WORTH_STRESSED ? ": NOT STRESSED, a fault that needs heat or power may have slept"
                                      : "");
}

void worth_json(const struct worth *w, json_t *object)
{
  object_real(object, "device_days", w->days);
  object_real(object, "excluded_per_1000_device_days", worth_excluded(w));
  object_real(object, "power_share", w->share);
}
