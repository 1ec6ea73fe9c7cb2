/* SPDX-License-Identifier: MIT */
#include "gpu/telemetry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/telemetry_sources.h"

struct telemetry {
  struct nvml *nvml;   /* NULL if NVML is unavailable */
  struct sysfs *sysfs; /* NULL if sysfs is unavailable */
};

struct telemetry *telemetry_open(const char *pci)
{
  struct telemetry *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->sysfs = sysfs_open(pci);
  t->nvml = nvml_open(pci);
  return t;
}

void telemetry_close(struct telemetry *telemetry)
{
  if (!telemetry) return;
  nvml_close(telemetry->nvml);
  sysfs_close(telemetry->sysfs);
  free(telemetry);
}

const char *const telemetry_sources[] = {"NVML", "sysfs"};

const char *telemetry_source(const struct telemetry *telemetry)
{
  return telemetry->nvml ? telemetry_sources[0] : telemetry->sysfs ? telemetry_sources[1] : "";
}

void telemetry_read(struct telemetry *telemetry, struct telemetry_sample *sample)
{
  *sample = (struct telemetry_sample){TELEMETRY_UNKNOWN, TELEMETRY_UNKNOWN, TELEMETRY_UNKNOWN,
                                      TELEMETRY_UNKNOWN, TELEMETRY_UNKNOWN};
  if (telemetry->sysfs) sysfs_read(telemetry->sysfs, sample);
  if (telemetry->nvml) nvml_read(telemetry->nvml, sample);
}

void telemetry_state(struct telemetry *telemetry, struct telemetry_state *state)
{
  memset(state, 0xff, sizeof *state); /* sets every field to TELEMETRY_UNKNOWN */
  state->card[0] = 0;
  if (telemetry->sysfs) sysfs_state(telemetry->sysfs, state);
  if (telemetry->nvml) nvml_state(telemetry->nvml, state);
}

static double telemetry_product(double a, double b, double each)
{
  return a > 0 && b > 0 ? a * b * each : 0;
}

double telemetry_peak_bytes(const struct telemetry_state *state)
{
  return telemetry_product(state->memory_mhz_max, state->memory_bits, 2 * 1e6 / 8);
}

double telemetry_peak_flops(const struct telemetry_state *state)
{
  return telemetry_product(state->sm_mhz_max, state->cores, 2 * 1e6);
}

const char *telemetry_joules(struct telemetry *telemetry, double *joules)
{
  if (telemetry->nvml && nvml_joules(telemetry->nvml, joules)) return "GPU and its memory, by NVML";
  return NULL;
}

void telemetry_sent(struct telemetry *telemetry, struct telemetry_sent *sent)
{
  *sent = (struct telemetry_sent){TELEMETRY_UNKNOWN, TELEMETRY_UNKNOWN};
  if (telemetry->nvml) nvml_sent(telemetry->nvml, sent);
}

void telemetry_memory(const char *pci, struct telemetry_memory *memory)
{
  struct telemetry *t = telemetry_open(pci);
  *memory = (struct telemetry_memory){TELEMETRY_UNKNOWN, TELEMETRY_UNKNOWN, .n = 0};
  if (t && t->sysfs) sysfs_memory(t->sysfs, memory);
  if (t && t->nvml) nvml_memory(t->nvml, memory);
  telemetry_close(t);
}

static int64_t rise(int64_t before, int64_t after, int64_t again)
{
  if (before < 0 || after < 0) return TELEMETRY_UNKNOWN;
  return after >= before ? after - before : after + again - before;
}

struct telemetry_sent telemetry_sent_between(const struct telemetry_sent *before,
                                             const struct telemetry_sent *after)
{
  return (struct telemetry_sent){rise(before->nvlink, after->nvlink, 0),
                                 rise(before->pcie, after->pcie, (int64_t)1 << 32)};
}

const char *const telemetry_value_names[TELEMETRY_VALUES] = {"watts", "sm_mhz", "memory_mhz", "celsius"};

double telemetry_value(const struct telemetry_sample *sample, enum telemetry_value value)
{
  const double values[TELEMETRY_VALUES] = {sample->watts, sample->sm_mhz, sample->memory_mhz,
                                           sample->celsius};
  return values[value];
}

const char *const telemetry_fact_names[TELEMETRY_FACTS] = {
    "corrected",  "uncorrected", "retired",     "pcie_replays", "nvlink_replays", "nvlink_recoveries",
    "nvlink_crc", "xids",        "card_errors", "pcie_gen",     "pcie_width",     "nvlinks_active"};

int64_t telemetry_fact(const struct telemetry_state *state, enum telemetry_fact fact)
{
  const int64_t facts[TELEMETRY_FACTS] = {
      state->corrected,      state->uncorrected,       state->retired,    state->pcie_replays,
      state->nvlink_replays, state->nvlink_recoveries, state->nvlink_crc, state->xids,
      state->card_errors,    state->pcie_gen,          state->pcie_width, state->nvlinks_active};
  return facts[fact];
}

const char *telemetry_fact_detail(const struct telemetry_state *state, enum telemetry_fact fact,
                                  char text[TELEMETRY_DETAIL_BYTES])
{
  text[0] = 0;
  if (fact == FACT_XIDS && state->xids > 0) snprintf(text, TELEMETRY_DETAIL_BYTES, "Xid %d", state->xid);
  if (fact == FACT_CARD_ERRORS) snprintf(text, TELEMETRY_DETAIL_BYTES, "%s", state->card);
  return text;
}

const char *telemetry_throttle_text(int throttle, char *text, size_t size)
{
  static const struct {
    int bit;
    const char *name;
  } names[] = {{THROTTLE_APPLICATION_CLOCKS, "application clocks"},
               {THROTTLE_POWER_CAP, "power cap"},
               {THROTTLE_HARDWARE, "hardware slowdown"},
               {THROTTLE_SYNC_BOOST, "sync boost"},
               {THROTTLE_THERMAL, "thermal"},
               {THROTTLE_HARDWARE_THERMAL, "hardware thermal"},
               {THROTTLE_POWER_BRAKE, "power brake"}};
  size_t used = 0;
  text[0] = 0;
  for (size_t n = 0; throttle > 0 && n < sizeof names / sizeof *names; n++)
    if (throttle & names[n].bit && used < size)
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", names[n].name);
  return text;
}
