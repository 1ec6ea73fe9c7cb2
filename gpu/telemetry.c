/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gpu/telemetry.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/telemetry_nvml.h"

#define PATH_BYTES 512

struct telemetry {
  struct nvml *nvml;
  char folder[PATH_BYTES]; /* of the PCI device in sysfs, "" where there is none */
  char hwmon[PATH_BYTES];
};

/* ---- sysfs ---- */

/* The first line of a file, whether there was one. */
static int read_line(const char *folder, const char *name, char *line, int size)
{
  char path[2 * PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = folder[0] ? fopen(path, "r") : NULL;
  if (!file) return 0;
  int some = fgets(line, size, file) != NULL;
  fclose(file);
  return some;
}

static int read_value(const char *folder, const char *name, double *value)
{
  char line[64], *end;
  if (!read_line(folder, name, line, sizeof line)) return 0;
  double number = strtod(line, &end);
  if (end == line || !isfinite(number)) return 0;
  *value = number;
  return 1;
}

static void read_int(const char *folder, const char *name, double scale, int *number)
{
  double value;
  if (read_value(folder, name, &value)) *number = (int)(value * scale);
}

/* Transfers a second of each PCI Express generation, in GT/s: what "16.0 GT/s PCIe" stands for. */
static void read_gen(const char *folder, const char *name, int *gen)
{
  static const double rates[] = {2.5, 5, 8, 16, 32, 64, 128};
  double value;
  if (!read_value(folder, name, &value)) return;
  for (int g = 0; g < (int)(sizeof rates / sizeof *rates); g++)
    if (value >= rates[g] - 0.01) *gen = g + 1;
}

/* A driver's sensors stand in the only folder below hwmon. */
static void find_hwmon(struct telemetry *t)
{
  char folder[PATH_BYTES + 8];
  struct dirent *entry;
  snprintf(folder, sizeof folder, "%s/hwmon", t->folder);
  DIR *list = opendir(folder);
  if (!list) return;
  while ((entry = readdir(list)))
    if (strncmp(entry->d_name, "hwmon", 5) == 0 &&
        snprintf(t->hwmon, sizeof t->hwmon, "%s/%s", folder, entry->d_name) >= (int)sizeof t->hwmon)
      t->hwmon[0] = 0;
  closedir(list);
}

static void find_folder(struct telemetry *t, const char *pci)
{
  char place[32], vendor[16];
  const char *root = getenv("HIMENO_SYSFS");
  size_t n = 0;
  for (; pci[n] && n + 1 < sizeof place; n++) place[n] = (char)tolower((unsigned char)pci[n]);
  place[n] = 0;
  snprintf(t->folder, sizeof t->folder, "%s/bus/pci/devices/%s", root ? root : "/sys", place);
  if (!n || !read_line(t->folder, "vendor", vendor, sizeof vendor)) t->folder[0] = 0;
  if (t->folder[0]) find_hwmon(t);
}

/* Units of the hwmon class: microwatts, thousandths of a degree, hertz. */
static void sysfs_read(const struct telemetry *t, struct telemetry_sample *sample)
{
  double microwatts;
  if (read_value(t->hwmon, "power1_average", &microwatts) ||
      read_value(t->hwmon, "power1_input", &microwatts))
    sample->watts = microwatts * 1e-6;
  read_int(t->hwmon, "temp1_input", 1e-3, &sample->celsius);
  read_int(t->hwmon, "freq1_input", 1e-6, &sample->sm_mhz);
  read_int(t->hwmon, "freq2_input", 1e-6, &sample->memory_mhz);
}

static void sysfs_state(const struct telemetry *t, struct telemetry_state *state)
{
  read_gen(t->folder, "current_link_speed", &state->pcie_gen);
  read_gen(t->folder, "max_link_speed", &state->pcie_gen_max);
  read_int(t->folder, "current_link_width", 1, &state->pcie_width);
  read_int(t->folder, "max_link_width", 1, &state->pcie_width_max);
}

/* ---- both ---- */

struct telemetry *telemetry_open(const char *pci)
{
  struct telemetry *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  find_folder(t, pci);
  t->nvml = nvml_open(pci);
  return t;
}

void telemetry_close(struct telemetry *telemetry)
{
  if (!telemetry) return;
  nvml_close(telemetry->nvml);
  free(telemetry);
}

const char *telemetry_source(const struct telemetry *telemetry)
{
  return telemetry->nvml ? "NVML" : telemetry->folder[0] ? "sysfs" : "";
}

void telemetry_read(struct telemetry *telemetry, struct telemetry_sample *sample)
{
  *sample = (struct telemetry_sample){TELEMETRY_UNKNOWN, TELEMETRY_UNKNOWN, TELEMETRY_UNKNOWN,
                                      TELEMETRY_UNKNOWN, TELEMETRY_UNKNOWN};
  sysfs_read(telemetry, sample);
  if (telemetry->nvml) nvml_read(telemetry->nvml, sample);
}

void telemetry_state(struct telemetry *telemetry, struct telemetry_state *state)
{
  const int none = TELEMETRY_UNKNOWN;
  *state = (struct telemetry_state){none, none, none, none, none, none, none, none, none, none, none, none};
  sysfs_state(telemetry, state);
  if (telemetry->nvml) nvml_state(telemetry->nvml, state);
}

const char *const telemetry_fact_names[TELEMETRY_FACTS] = {"corrected", "uncorrected", "retired",
                                                           "pcie_gen",  "pcie_width",  "nvlinks_active"};

int64_t telemetry_fact(const struct telemetry_state *state, enum telemetry_fact fact)
{
  const int64_t facts[TELEMETRY_FACTS] = {state->corrected, state->uncorrected, state->retired,
                                          state->pcie_gen,  state->pcie_width,  state->nvlinks_active};
  return facts[fact];
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
