/* SPDX-License-Identifier: MIT */
/* Telemetry from sysfs. Files and units follow the kernel's documentation: Documentation/ABI
 * (sysfs-bus-pci, sysfs-driver-intel-i915-hwmon, -xe-hwmon), the hwmon class (microwatts,
 * microjoules, thousandths of a degree, hertz), and the drivers' own pages (amdgpu's RAS, i915's
 * and xe's frequencies). */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "gpu/host.h"
#include "gpu/telemetry_sources.h"

#define PATH_BYTES 512
#define TILES_MAX  4

/* Energy counters advance about once per millisecond, so shorter intervals are not used. */
#define ENERGY_SECONDS 0.01

/* Names of the files of a GT (an Intel graphics engine with its own clock) in one driver. */
struct gt_names {
  const char *clock, *clock_max, *status, *reason;
};
static const struct gt_names gt_i915 = {"rps_act_freq_mhz", "rps_RP0_freq_mhz", "throttle_reason_status",
                                        "throttle_reason_"};
static const struct gt_names gt_card = {"gt_act_freq_mhz", "gt_RP0_freq_mhz", "", ""};
static const struct gt_names gt_xe = {"freq0/act_freq", "freq0/rp0_freq", "freq0/throttle/status",
                                      "freq0/throttle/reason_"};

struct gt {
  const struct gt_names *names;
  char folder[PATH_BYTES];
};

struct sysfs {
  char folder[PATH_BYTES]; /* folder of the PCI device */
  char hwmon[PATH_BYTES];  /* "" if there is none */
  struct gt gt[TILES_MAX]; /* the compute GT of each tile */
  int n_gt;
  /* last reading of the energy counter, and its time; unknown: negative */
  double microjoules, counted;
  double watts; /* mean between the last two readings */
};

/* Joins a folder and a name. Returns 0 if the path is too long. */
static int join(char path[PATH_BYTES], const char *folder, const char *name)
{
  int length = snprintf(path, PATH_BYTES, "%s/%s", folder, name);
  if (length > 0 && length < PATH_BYTES) return 1;
  path[0] = 0;
  return 0;
}

static FILE *file_open(const char *folder, const char *name)
{
  char path[PATH_BYTES];
  return folder[0] && name[0] && join(path, folder, name) ? fopen(path, "r") : NULL;
}

/* Reads the first line of a file. Returns whether there was one. */
static int read_line(const char *folder, const char *name, char *line, int size)
{
  char path[PATH_BYTES];
  return folder[0] && name[0] && join(path, folder, name) && host_read_line(path, line, size);
}

static int sysfs_read_value(const char *folder, const char *name, double *value)
{
  char line[64], *end;
  if (!read_line(folder, name, line, sizeof line)) return 0;
  double number = strtod(line, &end);
  if (end == line || !isfinite(number)) return 0;
  *value = number;
  return 1;
}

static int read_int(const char *folder, const char *name, double scale, int *number)
{
  double value;
  if (!sysfs_read_value(folder, name, &value)) return 0;
  *number = (int)(value * scale);
  return 1;
}

/* Finds the entry of \a folder with the smallest number after \a prefix; 0 for none. */
static int first_entry(const char *folder, const char *prefix, char path[PATH_BYTES])
{
  DIR *list = opendir(folder);
  struct dirent *entry;
  long least = -1;
  size_t length = strlen(prefix);
  if (!list) return 0;
  while ((entry = readdir(list))) {
    char *end;
    const char *digits = entry->d_name + length;
    if (strncmp(entry->d_name, prefix, length) != 0 || !isdigit((unsigned char)*digits)) continue;
    long number = strtol(digits, &end, 10);
    if (*end == 0 && (least < 0 || number < least) && join(path, folder, entry->d_name)) least = number;
  }
  closedir(list);
  return least >= 0;
}

/* i915 and xe give tiles separate sensors, named i915_gtN and xe_tileN. The other sensors belong to
 * the card. */
static void find_hwmon(struct sysfs *s)
{
  char folder[PATH_BYTES], path[PATH_BYTES], name[64];
  struct dirent *entry;
  DIR *list = join(folder, s->folder, "hwmon") ? opendir(folder) : NULL;
  if (!list) return;
  while ((entry = readdir(list))) {
    if (strncmp(entry->d_name, "hwmon", 5) != 0 || !join(path, folder, entry->d_name)) continue;
    int part = read_line(path, "name", name, sizeof name) && (strstr(name, "_gt") || strstr(name, "_tile"));
    if (!part) memcpy(s->hwmon, path, sizeof path);
  }
  closedir(list);
}

static void gt_add(struct sysfs *s, const struct gt_names *names, const char *folder)
{
  double mhz;
  if (s->n_gt == TILES_MAX || !sysfs_read_value(folder, names->clock, &mhz)) return;
  s->gt[s->n_gt].names = names;
  memcpy(s->gt[s->n_gt++].folder, folder, PATH_BYTES);
}

/* The first GT of a tile computes; another one is for media. Older i915 drivers, without GTs,
 * report the card's clock. */
static void find_gts(struct sysfs *s)
{
  char tile[PATH_BYTES], gt[PATH_BYTES], name[16];
  for (int t = 0; t < TILES_MAX; t++) {
    snprintf(name, sizeof name, "tile%d", t);
    if (join(tile, s->folder, name) && first_entry(tile, "gt", gt)) gt_add(s, &gt_xe, gt);
  }
  char drm[PATH_BYTES], card[PATH_BYTES];
  if (s->n_gt > 0 || !join(drm, s->folder, "drm") || !first_entry(drm, "card", card)) return;
  if (join(tile, card, "gt") && first_entry(tile, "gt", gt)) gt_add(s, &gt_i915, gt);
  if (s->n_gt == 0) gt_add(s, &gt_card, card);
}

/* Reads the energy counter. xe: that of the package if the card has none. */
static int read_energy(const struct sysfs *s, double *microjoules)
{
  return sysfs_read_value(s->hwmon, "energy1_input", microjoules) ||
         sysfs_read_value(s->hwmon, "energy2_input", microjoules);
}

int sysfs_joules(const struct sysfs *sysfs, double *joules)
{
  double microjoules;
  if (!read_energy(sysfs, &microjoules)) return 0;
  *joules = microjoules * 1e-6;
  return 1;
}

/* Reads amdgpu's memory use. */
void sysfs_memory(const struct sysfs *s, struct telemetry_memory *memory)
{
  double total, used;
  if (!sysfs_read_value(s->folder, "mem_info_vram_total", &total) ||
      !sysfs_read_value(s->folder, "mem_info_vram_used", &used))
    return;
  memory->total = (int64_t)total;
  memory->free = (int64_t)(total - used);
}

/* Mean power in watts since the last reading. A reading younger than ENERGY_SECONDS is reused. */
static double energy_watts(struct sysfs *s)
{
  double microjoules, now = stats_now();
  if (s->microjoules >= 0 && now - s->counted < ENERGY_SECONDS) return s->watts;
  if (!read_energy(s, &microjoules)) return TELEMETRY_UNKNOWN;
  int goes_on = s->microjoules >= 0 && microjoules >= s->microjoules;
  s->watts = goes_on ? (microjoules - s->microjoules) * 1e-6 / (now - s->counted) : TELEMETRY_UNKNOWN;
  s->microjoules = microjoules;
  s->counted = now;
  return s->watts;
}

static int gt_reasons(const struct gt *gt)
{
  static const struct {
    const char *name;
    int reason;
  } reasons[] = {{"pl1", THROTTLE_POWER_CAP},
                 {"pl2", THROTTLE_POWER_CAP},
                 {"pl4", THROTTLE_POWER_CAP},
                 {"thermal", THROTTLE_THERMAL},
                 {"ratl", THROTTLE_THERMAL}, /* running average thermal limit */
                 {"prochot", THROTTLE_HARDWARE_THERMAL},
                 {"vr_thermalert", THROTTLE_HARDWARE_THERMAL},
                 {"vr_tdc", THROTTLE_HARDWARE}}; /* limit of the regulator's current */
  int status, is, all = 0;
  char name[64];
  if (!read_int(gt->folder, gt->names->status, 1, &status)) return TELEMETRY_UNKNOWN;
  for (size_t r = 0; status && r < sizeof reasons / sizeof *reasons; r++) {
    snprintf(name, sizeof name, "%s%s", gt->names->reason, reasons[r].name);
    if (read_int(gt->folder, name, 1, &is) && is) all |= reasons[r].reason;
  }
  return status && !all ? THROTTLE_HARDWARE : all; /* newer chips have further reasons */
}

/* Reads the slowest tile's clock, and the throttle reasons of all tiles. */
static void gts_read(const struct sysfs *s, struct telemetry_sample *sample)
{
  for (int g = 0; g < s->n_gt; g++) {
    const struct gt *gt = &s->gt[g];
    int mhz, reasons = gt_reasons(gt);
    if (read_int(gt->folder, gt->names->clock, 1, &mhz) && (sample->sm_mhz < 0 || mhz < sample->sm_mhz))
      sample->sm_mhz = mhz;
    if (reasons >= 0) sample->throttle = (sample->throttle < 0 ? 0 : sample->throttle) | reasons;
  }
}

void sysfs_read(struct sysfs *sysfs, struct telemetry_sample *sample)
{
  double microwatts;
  if (sysfs_read_value(sysfs->hwmon, "power1_average", &microwatts) ||
      sysfs_read_value(sysfs->hwmon, "power1_input", &microwatts))
    sample->watts = microwatts * 1e-6;
  else
    sample->watts = energy_watts(sysfs);
  if (!read_int(sysfs->hwmon, "temp1_input", 1e-3, &sample->celsius)) /* xe */
    read_int(sysfs->hwmon, "temp2_input", 1e-3, &sample->celsius);
  read_int(sysfs->hwmon, "freq1_input", 1e-6, &sample->sm_mhz);
  read_int(sysfs->hwmon, "freq2_input", 1e-6, &sample->memory_mhz);
  gts_read(sysfs, sample);
}

/* Finds the PCI Express generation for a transfer rate such as "16.0 GT/s PCIe". */
static void read_gen(const char *folder, const char *name, int *gen)
{
  static const double rates[] = {2.5, 5, 8, 16, 32, 64, 128};
  double value;
  if (!sysfs_read_value(folder, name, &value)) return;
  for (int g = 0; g < (int)(sizeof rates / sizeof *rates); g++)
    if (value >= rates[g] - 0.01) *gen = g + 1;
}

/* Reads amdgpu's error counts of the memory controller: the line "ue: 0" has uncorrected errors and
 * "ce: 0" corrected ones. */
static void sysfs_read_errors(const char *folder, const char *name, struct telemetry_state *state)
{
  char line[64];
  long long count;
  FILE *file = file_open(folder, name);
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "ue: %lld", &count) == 1 && count >= 0) state->uncorrected = count;
    if (sscanf(line, "ce: %lld", &count) == 1 && count >= 0) state->corrected = count;
  }
  fclose(file);
}

/* Counts amdgpu's bad pages. A line per page, "0x027f5d43 : 0x00001000 : R": R is retired, P
 * pending, F could not be retired. */
static void sysfs_read_retired(const char *folder, int *retired)
{
  char line[64], flag;
  int pages = 0;
  FILE *file = file_open(folder, "ras/gpu_vram_bad_pages");
  if (!file) return;
  while (fgets(line, sizeof line, file))
    pages += sscanf(line, "%*x : %*x : %c", &flag) == 1 && (flag == 'R' || flag == 'P');
  fclose(file);
  *retired = pages;
}

void sysfs_state(const struct sysfs *sysfs, struct telemetry_state *state)
{
  const char *folder = sysfs->folder;
  read_gen(folder, "current_link_speed", &state->pcie_gen);
  read_gen(folder, "max_link_speed", &state->pcie_gen_max);
  read_int(folder, "current_link_width", 1, &state->pcie_width);
  read_int(folder, "max_link_width", 1, &state->pcie_width_max);
  sysfs_read_errors(folder, "ras/umc_err_count", state);
  /* the file's name on newer chips */
  if (state->uncorrected < 0) sysfs_read_errors(folder, "ras/aca_umc", state);
  sysfs_read_retired(folder, &state->retired);
  if (!read_int(sysfs->hwmon, "power1_cap", 1e-6, &state->watts_limit)) /* amdgpu; i915, xe */
    read_int(sysfs->hwmon, "power1_max", 1e-6, &state->watts_limit);
  if (sysfs->n_gt > 0) read_int(sysfs->gt[0].folder, sysfs->gt[0].names->clock_max, 1, &state->sm_mhz_max);
}

/* Finds the device's folder; accepts upper-case PCI addresses too. */
static int find_folder(struct sysfs *s, const char *pci)
{
  char place[32], vendor[16];
  size_t n = 0;
  for (; pci[n] && n + 1 < sizeof place; n++) place[n] = (char)tolower((unsigned char)pci[n]);
  place[n] = 0;
  int length = snprintf(s->folder, sizeof s->folder, "%s/bus/pci/devices/%s", host_sysfs(), place);
  return n > 0 && length < (int)sizeof s->folder && read_line(s->folder, "vendor", vendor, sizeof vendor);
}

struct sysfs *sysfs_open(const char *pci)
{
  struct sysfs *s = calloc(1, sizeof *s);
  if (!s || !find_folder(s, pci)) {
    free(s);
    return NULL;
  }
  find_hwmon(s);
  find_gts(s);
  s->microjoules = s->watts = TELEMETRY_UNKNOWN;
  energy_watts(s);
  return s;
}

void sysfs_close(struct sysfs *sysfs)
{
  free(sysfs);
}
