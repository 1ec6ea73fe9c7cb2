/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/soak/devices.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/report.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"

/* ---- gathering ---- */

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

/* ---- JSON ---- */

typedef double value_of(const struct soak_device *device, int which);

static double sample_of(const struct soak_device *device, int which)
{
  return telemetry_value(&device->now, (enum telemetry_value)which);
}

static double fact_of(const struct soak_device *device, int which)
{
  return (double)telemetry_fact(&device->state, (enum telemetry_fact)which);
}

/* The first rank that has the least or greatest known value; -1 for none. */
static int extreme(const struct soak_devices *d, value_of *of, int which, int greatest)
{
  int at = -1;
  for (int r = 0; r < d->ranks; r++) {
    double value = of(&d->after[r], which), best = at < 0 ? value : of(&d->after[at], which);
    if (value >= 0 && (at < 0 || (greatest ? value > best : value < best))) at = r;
  }
  return at;
}

static json_t *extreme_json(const struct soak_devices *d, value_of *of, int which, int greatest)
{
  int rank = extreme(d, of, which, greatest);
  if (rank < 0) return json_null();
  double value = of(&d->after[rank], which);
  return json_pack("{s:o, s:i, s:s}", "value",
                   value == (double)(json_int_t)value ? json_integer((json_int_t)value) : json_real(value),
                   "rank", rank, "host", d->after[rank].host);
}

/* Of each reason how many ranks have it, and the first. */
static json_t *throttled_json(const struct soak_devices *d)
{
  json_t *reasons = json_object();
  char text[TELEMETRY_THROTTLE_BYTES];
  for (int b = 0; b < THROTTLE_BITS; b++) {
    int n = 0, first = -1;
    for (int r = 0; r < d->ranks; r++) {
      if (d->after[r].now.throttle < 0 || !(d->after[r].now.throttle >> b & 1)) continue;
      if (n++ == 0) first = r;
    }
    if (n > 0)
      json_object_set_new(
          reasons, telemetry_throttle_text(1 << b, text, sizeof text),
          json_pack("{s:i, s:i, s:s}", "ranks", n, "rank", first, "host", d->after[first].host));
  }
  return reasons;
}

static json_t *changes_json(const struct soak_devices *d)
{
  json_t *list = json_array();
  for (int r = 0; r < d->ranks; r++)
    for (enum telemetry_fact f = 0; f < TELEMETRY_FACTS; f++) {
      char detail[TELEMETRY_DETAIL_BYTES];
      int64_t from = telemetry_fact(&d->before[r].state, f), to = telemetry_fact(&d->after[r].state, f);
      if (from == to) continue;
      json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:o, s:o, s:s}", "rank", r, "host",
                                            d->after[r].host, "of", telemetry_fact_names[f], "from",
                                            report_json_known(from), "to", report_json_known(to), "detail",
                                            telemetry_fact_detail(&d->after[r].state, f, detail)));
    }
  return list;
}

static int is_silent(const struct soak_devices *d)
{
  for (int s = 0; s < TELEMETRY_VALUES; s++)
    if (extreme(d, sample_of, s, 1) >= 0) return 0;
  for (int f = 0; f < TELEMETRY_FACTS; f++)
    if (extreme(d, fact_of, f, 1) >= 0) return 0;
  return 1;
}

/* Errors are worst where they are most, links where they are least. */
json_t *soak_devices_json(const struct soak_devices *devices)
{
  json_t *changes = changes_json(devices);
  if (is_silent(devices) && json_array_size(changes) == 0) {
    json_decref(changes);
    return json_null();
  }
  json_t *all = json_object();
  for (int s = 0; s < TELEMETRY_VALUES; s++)
    json_object_set_new(all, telemetry_value_names[s],
                        json_pack("{s:o, s:o}", "low", extreme_json(devices, sample_of, s, 0), "high",
                                  extreme_json(devices, sample_of, s, 1)));
  json_object_set_new(all, "throttled", throttled_json(devices));
  for (int f = 0; f < TELEMETRY_FACTS; f++)
    json_object_set_new(all, telemetry_fact_names[f],
                        extreme_json(devices, fact_of, f, f < TELEMETRY_COUNTERS));
  json_object_set_new(all, "changes", changes);
  return all;
}
