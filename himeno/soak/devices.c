/* SPDX-License-Identifier: MIT */
#include "himeno/soak/soak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"

status_t soak_devices_gather(const struct record *record, struct soak_devices *devices)
{
  struct soak_device *oldest = devices->before;
  devices->mine.now = record->now;
  devices->mine.state = record->telemetry.after;
  devices->before = devices->after;
  devices->after = oldest;
  return watch_gather(devices->comm, &devices->mine, devices->after, sizeof devices->mine,
                      "a block's telemetry");
}

status_t soak_devices_open(MPI_Comm comm, const char *host, const struct record *record,
                           struct soak_devices *devices)
{
  struct soak_devices d = {.comm = comm};
  int rank, ranks, have = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  snprintf(d.mine.host, sizeof d.mine.host, "%s", host);
  if (rank == 0) {
    d.ranks = ranks;
    d.before = calloc((size_t)ranks, sizeof *d.before);
    d.after = calloc((size_t)ranks, sizeof *d.after);
    have = d.before && d.after;
  }
  status_t status = agree_status(
      comm, have ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for devices' samples"));
  if (status == STATUS_OK) status = soak_devices_gather(record, &d);
  if (status == STATUS_OK)
    *devices = d;
  else
    soak_devices_close(&d);
  return status;
}

void soak_devices_close(struct soak_devices *devices)
{
  free(devices->before);
  free(devices->after);
}

int soak_devices_throttled(const struct soak_devices *devices)
{
  for (int r = 0; r < devices->ranks; r++)
    if (devices->after[r].now.throttle > 0) return 1;
  return 0;
}

typedef double value_of(const struct soak_device *device, int which);

static double sample_of(const struct soak_device *device, int which)
{
  return telemetry_value(&device->now, (enum telemetry_value)which);
}

static double fact_of(const struct soak_device *device, int which)
{
  return (double)telemetry_fact(&device->state, (enum telemetry_fact)which);
}

/* The first rank with the minimum or maximum known value; -1 if none is known. */
static int extreme(const struct soak_devices *d, value_of *of, int which, int greatest)
{
  int at = -1;
  for (int r = 0; r < d->ranks; r++) {
    double value = of(&d->after[r], which), best = at < 0 ? value : of(&d->after[at], which);
    if (value >= 0 && (at < 0 || (greatest ? value > best : value < best))) at = r;
  }
  return at;
}

static void extreme_document(struct doc *d, const char *name, int rules, const char *about,
                             const struct soak_devices *devices, value_of *of, int which, int greatest)
{
  const int rank = extreme(devices, of, which, greatest);
  const double value = rank < 0 ? 0 : of(&devices->after[rank], which);
  if (!doc_object(d, name, rules | DOC_NULLABLE, about, rank >= 0)) return;
  if (d->schema || value != floor(value))
    doc_real(d, "value", 0, "", "", value);
  else
    doc_whole(d, "value", 0, "", value);
  doc_whole(d, "rank", 0, "The first that has this value.", rank);
  doc_text(d, "host", 0, "", devices->after[rank].host);
  doc_end(d);
}

static void soak_throttled_document(struct doc *d, const struct soak_devices *devices)
{
  char text[TELEMETRY_THROTTLE_BYTES];
  if (!doc_map(d, "throttled", 0, "By reason: how many ranks, and the first.")) return;
  for (int b = 0; doc_each(d, b, THROTTLE_BITS); b++) {
    int n = 0, first = -1;
    for (int r = 0; r < devices->ranks; r++) {
      if (devices->after[r].now.throttle < 0 || !(devices->after[r].now.throttle >> b & 1)) continue;
      if (n++ == 0) first = r;
    }
    if (!(d->schema || n > 0) || !doc_object(d, telemetry_throttle_text(1 << b, text, sizeof text), 0, "", 1))
      continue;
    doc_whole(d, "ranks", DOC_POSITIVE, "", n);
    doc_whole(d, "rank", 0, "", first);
    doc_text(d, "host", 0, "", devices->after[first].host);
    doc_end(d);
  }
  doc_end(d);
}

static void change_document(struct doc *d, const struct soak_devices *devices, int r, enum telemetry_fact f)
{
  char detail[TELEMETRY_DETAIL_BYTES];
  const struct soak_device *before = doc_at(d, devices->before, r), *after = doc_at(d, devices->after, r);
  const int64_t from = telemetry_fact(&before->state, f), to = telemetry_fact(&after->state, f);
  if ((!d->schema && from == to) || !doc_object(d, NULL, 0, "", 1)) return;
  doc_whole(d, "rank", 0, "", r);
  doc_text(d, "host", 0, "", after->host);
  doc_enum(d, "of", 0, DOC_WORDS(telemetry_fact_names), "", telemetry_fact_names[f]);
  doc_whole(d, "from", DOC_NULLABLE, "", from);
  doc_whole(d, "to", DOC_NULLABLE, "", to);
  doc_text(d, "detail", DOC_OPTIONAL | DOC_ANY, "The last Xid, or the network card.",
           telemetry_fact_detail(&after->state, f, detail));
  doc_end(d);
}

static int soak_is_silent(const struct soak_devices *d)
{
  for (int s = 0; s < TELEMETRY_VALUES; s++)
    if (extreme(d, sample_of, s, 1) >= 0) return 0;
  for (int f = 0; f < TELEMETRY_FACTS; f++) {
    if (extreme(d, fact_of, f, 1) >= 0) return 0;
    for (int r = 0; r < d->ranks; r++)
      if (fact_of(&d->before[r], f) >= 0) return 0;
  }
  return 1;
}

/* The worst value is the maximum for errors, and the minimum for links. */
void soak_devices_document(struct doc *d, const struct soak_devices *devices)
{
  if (!doc_object(d, "telemetry", DOC_NULLABLE, "null if no rank's device reports anything.",
                  !soak_is_silent(devices)))
    return;
  for (int s = 0; s < TELEMETRY_VALUES; s++)
    if (doc_object(d, telemetry_value_names[s], 0, "", 1)) {
      extreme_document(d, "low", 0, "", devices, sample_of, s, 0);
      extreme_document(d, "high", 0, "", devices, sample_of, s, 1);
      doc_end(d);
    }
  soak_throttled_document(d, devices);
  for (int f = 0; f < TELEMETRY_FACTS; f++)
    extreme_document(d, telemetry_fact_names[f],
                     f > FACT_RETIRED && f < TELEMETRY_COUNTERS ? DOC_OPTIONAL : 0,
                     f < TELEMETRY_COUNTERS ? telemetry_counter_words[f] : "The least of a rank.", devices,
                     fact_of, f, f < TELEMETRY_COUNTERS);
  if (doc_list(d, "changes", 0, "Since the block before.", 1)) {
    for (int r = 0; doc_each(d, r, devices->ranks); r++)
      for (enum telemetry_fact f = 0; doc_each(d, f, TELEMETRY_FACTS); f++) change_document(d, devices, r, f);
    doc_end(d);
  }
  doc_end(d);
}
