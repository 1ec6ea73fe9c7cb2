/* SPDX-License-Identifier: MIT */
/* Energy of the sweeps, per device and in total. */
#include <math.h>

#include "himeno/report/report.h"

enum note { NOTE_NONE, NOTE_SHORT, NOTE_PAUSES, NOTE_SHARED, NOTE_COUNTERS, NOTE_BACK };
static const char *const notes[] = {
    [NOTE_NONE] = "",
    [NOTE_SHORT] = "too short",
    [NOTE_PAUSES] = "mostly pauses",
    [NOTE_SHARED] = "ranks share devices",
    [NOTE_COUNTERS] = "not every device has a counter",
    [NOTE_BACK] = "a counter went back",
};

/* Sums over all devices. */
struct energy_sum {
  /* joules, flop: of the sweeps; seconds: the shortest window */
  double joules, flop, idle_watts, seconds;
  int64_t sweeps;
  int counters;   /* ranks whose device has an energy counter */
  enum note note; /* the reason why there is no value */
};

static struct energy_sum energy_total(const struct himeno_ranks *r)
{
  struct energy_sum s = {.note = NOTE_NONE};
  int shared = 0, untold = 0, paused = 0, is_short = 0;
  for (int n = 0; n < r->n; n++) {
    const struct himeno_rank *rank = &r->rank[n];
    const struct energy *e = &rank->energy;
    const double joules = e->joules - fmax(0, e->idle_watts) * (e->seconds - e->sweeping);
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
  s.note = shared              ? NOTE_SHARED
           : s.counters < r->n ? NOTE_COUNTERS
           : is_short          ? NOTE_SHORT
           : paused            ? NOTE_PAUSES
           : untold            ? NOTE_BACK
                               : NOTE_NONE;
  return s;
}

void himeno_energy_text(const struct himeno_ranks *r, FILE *out)
{
  const struct energy_sum s = energy_total(r);
  if (s.counters == 0) return;
  const char *scope = r->rank[0].energy.scope;
  if (s.note) {
    fprintf(out, "  energy     unknown: %s", notes[s.note]);
    if (s.seconds < ENERGY_SECONDS_MIN) fprintf(out, ": %.1f s of %.0f", s.seconds, ENERGY_SECONDS_MIN);
    fprintf(out, "\n");
    return;
  }
  fprintf(out, "  energy     %.4f J per sweep, %.2f GFLOPS/W, %d device%s (%s)\n             ",
          s.joules / (double)s.sweeps, s.flop / s.joules / 1e9, s.counters, s.counters > 1 ? "s" : "", scope);
  if (s.idle_watts >= 0)
    fprintf(out, "an idle power of %.1f W is subtracted for the time between blocks\n", s.idle_watts);
  else
    fprintf(out, "includes the time between blocks\n");
}

void himeno_rank_energy_document(struct doc *d, const struct himeno_rank *rank)
{
  const struct energy *e = &rank->energy;
  if (!doc_object(
          d, "energy", DOC_OPTIONAL | DOC_NULLABLE,
          "Of the device's energy counter, between two of its steps around the timed blocks; null if it "
          "has none.",
          e->scope[0]))
    return;
  doc_text(d, "scope", 0, "What is counted.", e->scope);
  doc_real(d, "seconds", 0, "s", "", e->seconds);
  doc_real(d, "joules", DOC_NULLABLE, "J",
           "In all of that time; null if less than ten seconds were asked for.", doc_known(e->joules));
  doc_whole(d, "sweeps", 0, "Timed ones, and those of untimed blocks between them.", e->sweeps);
  doc_real(d, "sweeping", 0, "s", "The part of that time spent in sweeps.", e->sweeping);
  doc_real(d, "idle_watts", DOC_NULLABLE, "W",
           "Just before, over 0.2 to 1 s; null with -n, and if less than ten seconds were asked for.",
           e->idle_watts);
  doc_end(d);
}

void himeno_energy_document(struct doc *d, const struct himeno_ranks *r)
{
  const struct energy_sum s = energy_total(r);
  if (!doc_object(d, "energy", DOC_OPTIONAL | DOC_NULLABLE,
                  "Of all devices' sweeps, without what idle devices take in the pauses; null if none has an "
                  "energy counter.",
                  s.counters > 0))
    return;
  doc_real(d, "joules_per_sweep", DOC_NULLABLE, "J", "null if note says why.",
           s.note ? NAN : s.joules / (double)s.sweeps);
  doc_real(d, "gflops_per_watt", DOC_NULLABLE, "GFLOPS/W", "", s.note ? NAN : s.flop / s.joules / 1e9);
  doc_real(d, "idle_watts", DOC_NULLABLE, "W", "Of all devices; null if the pauses are counted too.",
           s.note ? NAN : s.idle_watts);
  doc_whole(d, "devices", DOC_POSITIVE, "Devices that have a counter.", s.counters);
  doc_enum(d, "note", 0, DOC_WORDS(notes), "", notes[s.note]);
  doc_end(d);
}
