/* SPDX-License-Identifier: MIT */
/* Telemetry from sysfs. Files and units follow the kernel's documentation: Documentation/ABI
 * (sysfs-bus-pci), the hwmon class (microwatts, thousandths of a degree, hertz), and amdgpu's page
 * on RAS. */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/host.h"
#include "gpu/telemetry_sources.h"

#define PATH_BYTES 512

struct sysfs {
  char folder[PATH_BYTES];     /* folder of the PCI device */
  char hwmon[PATH_BYTES + 64]; /* folder of the device's hwmon class, whether it exists or not */
};

static FILE *file_open(const char *folder, const char *name)
{
  char path[2 * PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return fopen(path, "r");
}

static int read_line(const char *folder, const char *name, char *line, int size)
{
  char path[2 * PATH_BYTES];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return host_read_line(path, line, size);
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

/* Finds the device's hwmon folder; if there are several, the one with the smallest number. */
static void find_hwmon(struct sysfs *s)
{
  const int length = snprintf(s->hwmon, sizeof s->hwmon, "%s/hwmon", s->folder);
  DIR *list = opendir(s->hwmon);
  struct dirent *entry;
  long least = -1, number;
  if (!list) return;
  while ((entry = readdir(list)))
    if (sscanf(entry->d_name, "hwmon%ld", &number) == 1 && (least < 0 || number < least)) {
      least = number;
      snprintf(s->hwmon + length, sizeof s->hwmon - (size_t)length, "/hwmon%ld", number);
    }
  closedir(list);
}

void sysfs_memory(const struct sysfs *s, struct telemetry_memory *memory)
{
  double total, used;
  if (!sysfs_read_value(s->folder, "mem_info_vram_total", &total) ||
      !sysfs_read_value(s->folder, "mem_info_vram_used", &used))
    return;
  memory->total = (int64_t)total;
  memory->free = (int64_t)(total - used);
}

void sysfs_read(const struct sysfs *sysfs, struct telemetry_sample *sample)
{
  double microwatts;
  if (sysfs_read_value(sysfs->hwmon, "power1_average", &microwatts) ||
      sysfs_read_value(sysfs->hwmon, "power1_input", &microwatts))
    sample->watts = microwatts * 1e-6;
  read_int(sysfs->hwmon, "temp1_input", 1e-3, &sample->celsius);
  read_int(sysfs->hwmon, "freq1_input", 1e-6, &sample->sm_mhz);
  read_int(sysfs->hwmon, "freq2_input", 1e-6, &sample->memory_mhz);
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

/* Counts amdgpu's retired and pending pages. The file has a line per page, "0x027f5d43 : 0x00001000
 * : R": R is retired, P pending, F could not be retired. */
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
  read_int(sysfs->hwmon, "power1_cap", 1e-6, &state->watts_limit);
}

/* Finds the device's folder, also for an upper-case PCI address. Returns 0 if there is none. */
static int find_folder(struct sysfs *s, const char *pci)
{
  char place[32], vendor[16];
  size_t n = 0;
  for (; pci[n] && n + 1 < sizeof place; n++) place[n] = (char)tolower((unsigned char)pci[n]);
  place[n] = 0;
  snprintf(s->folder, sizeof s->folder, "%s/bus/pci/devices/%s", host_sysfs(), place);
  return read_line(s->folder, "vendor", vendor, sizeof vendor);
}

struct sysfs *sysfs_open(const char *pci)
{
  struct sysfs *s = calloc(1, sizeof *s);
  if (!s || !find_folder(s, pci)) {
    free(s);
    return NULL;
  }
  find_hwmon(s);
  return s;
}

void sysfs_close(struct sysfs *sysfs)
{
  free(sysfs);
}
