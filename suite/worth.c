/* SPDX-License-Identifier: MIT */
#include "suite/worth.h"

#include <math.h>

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

void worth_text(const struct worth *w, FILE *out)
{
  const double excluded = worth_excluded(w);
  if (isinf(excluded)) return;
  fprintf(out,
          "  confidence 95%%: fewer than %.3g wrong blocks per 1000 device-days, from %.3g device-days\n",
          excluded, w->days);
  if (isnan(w->share))
    fprintf(out, "  load       unknown: a device reports no power or no power limit\n");
  else
    fprintf(out, "  load       %.2f of the power limit%s\n", w->share,
            w->share < WORTH_STRESSED ? ": NOT STRESSED, faults that need heat or power may be hidden" : "");
}

void worth_document(struct doc *d, int rules, const struct worth *w)
{
  doc_real(d, "device_days", rules, "d", "Timed seconds of all devices.", w->days);
  doc_real(d, "excluded_per_1000_device_days", rules | DOC_NULLABLE, "",
           "Rate of wrong blocks that a run without any excludes at 95%; null if one was wrong.",
           worth_excluded(w));
  doc_real(d, "power_share", rules | DOC_NULLABLE, "",
           "Median power over its limit, of the device with the least; below 0.9 it was not stressed.",
           w->share);
}
