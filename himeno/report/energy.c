/* SPDX-License-Identifier: MIT */
/* What sweeps cost in energy, of each device and of all. */
#include "config.h"

#include "base/report.h"
#include "himeno/report/report.h"

/* Over all devices. */
struct energy_sum {
  double joules, flop, idle_watts, seconds; /* of sweeps; seconds: the shortest window */
  int64_t sweeps;
  int counters;     /* ranks whose device has one */
  const char *note; /* why nothing is told, or NULL */
};

static struct energy_sum sum_of(const struct himeno_result *r)
{
  struct energy_sum s = {.note = NULL};
  int shared = 0, untold = 0, paused = 0, is_short = 0;
  for (int n = 0; n < r->n_ranks; n++) {
    const struct himeno_rank *rank = &r->ranks[n];
    const struct energy *e = &rank->energy;
    const double joules = energy_of_sweeps(e);
    shared |= rank->row.shared;
    if (!e->scope[0]) continue;
    untold |= !(joules > 0);
    is_short |= e->counted < 0 || e->seconds < ENERGY_SECONDS_MIN;
    paused |= e->sweeping < ENERGY_SWEEPING_MIN * e->seconds;
    s.seconds = s.counters++ == 0 || e->seconds < s.seconds ? e->seconds : s.seconds;
    s.sweeps = e->sweeps;
    s.joules += joules;
    s.flop += (double)rank->points * HIMENO_FLOP_PER_POINT * (double)e->sweeps;
    s.idle_watts = e->idle_watts < 0 || s.idle_watts < 0 ? -1 : s.idle_watts + e->idle_watts;
  }
  s.note = shared                    ? "ranks share devices"
           : s.counters < r->n_ranks ? "not every device has a counter"
           : is_short                ? "too short"
           : paused                  ? "mostly pauses"
           : untold                  ? "a counter went back"
                                     : NULL;
  return s;
}

void himeno_energy_text(const struct himeno_result *r, FILE *out)
{
  const struct energy_sum s = sum_of(r);
  if (s.counters == 0) return;
  const char *scope = r->ranks[0].energy.scope;
  if (s.note) {
    fprintf(out, "  energy     not told: %s", s.note);
    if (s.seconds < ENERGY_SECONDS_MIN) fprintf(out, ": %.1f s of %.0f", s.seconds, ENERGY_SECONDS_MIN);
    fprintf(out, "\n");
    return;
  }
  fprintf(out, "  energy     %.4f J a sweep, %.2f GFLOPS/W, %d device%s: %s; ", s.joules / (double)s.sweeps,
          s.flop / s.joules / 1e9, s.counters, s.counters > 1 ? "s" : "", scope);
  if (s.idle_watts >= 0)
    fprintf(out, "without the pauses, at %.1f W idle\n", s.idle_watts);
  else
    fprintf(out, "with the pauses\n");
}

json_t *himeno_rank_energy_json(const struct himeno_rank *rank)
{
  const struct energy *e = &rank->energy;
  if (!e->scope[0]) return json_null();
  json_t *o = json_object();
  object_text(o, "scope", e->scope);
  object_real(o, "seconds", e->seconds);
  object_set(o, "joules", e->joules > 0 ? report_json_real(e->joules) : json_null());
  object_whole(o, "sweeps", e->sweeps);
  object_real(o, "sweeping", e->sweeping);
  object_set(o, "idle_watts", e->idle_watts < 0 ? json_null() : report_json_real(e->idle_watts));
  return o;
}

json_t *himeno_energy_json(const struct himeno_result *r)
{
  const struct energy_sum s = sum_of(r);
  if (s.counters == 0) return json_null();
  json_t *o = json_object();
  object_set(o, "joules_per_sweep", s.note ? json_null() : report_json_real(s.joules / (double)s.sweeps));
  object_set(o, "gflops_per_watt", s.note ? json_null() : report_json_real(s.flop / s.joules / 1e9));
  object_set(o, "idle_watts", s.note || s.idle_watts < 0 ? json_null() : report_json_real(s.idle_watts));
  object_whole(o, "devices", s.counters);
  object_text(o, "note", s.note ? s.note : "");
  return o;
}
