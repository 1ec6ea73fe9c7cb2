/* SPDX-License-Identifier: MIT */
/* Finds the GPUs on the PCI bus. Every NVIDIA display device is a GPU. AMD and Intel also build
 * integrated graphics: their devices count only if they are no VGA controllers and have a large
 * memory window. Devices of other vendors do not count. */
#include "gpu/select.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "gpu/host.h"

#define CLASS_DISPLAY     0x03
#define CLASS_VGA         0x0300
#define CLASS_ACCELERATOR 0x12
/* Minimum size of a compute GPU's memory window, in bytes; the graphics part of a CPU maps less. */
#define WINDOW_MIN ((unsigned long long)4 << 30)

struct vendor {
  enum gpu_vendor vendor;
  unsigned long id;
  const char *name;
  int any_display;     /**< 1: every display device of this vendor is a GPU */
  const char *node;    /**< path of a device node of its driver */
  const char *hide[2]; /**< environment variables that select among the vendor's GPUs */
};

static const struct vendor vendors[] = {
    {GPU_VENDOR_NVIDIA, 0x10de, "NVIDIA", 1, "/dev/nvidia0", {"CUDA_VISIBLE_DEVICES", NULL}},
    {GPU_VENDOR_AMD, 0x1002, "AMD", 0, "/dev/kfd", {"ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"}},
    {GPU_VENDOR_INTEL, 0x8086, "Intel", 0, NULL, {NULL, NULL}}};
#define VENDORS ((int)(sizeof vendors / sizeof *vendors))

/* Returns whether the value selects no device. The first entry decides, because drivers stop
 * reading at an entry that names no device. Slurm writes NoDevFiles. */
static int names_nothing(const char *value)
{
  static const char *const words[] = {"none", "void", "NoDevFiles"};
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    if (strcasecmp(value, words[w]) == 0) return 1;
  value += strspn(value, " ");
  return *value == '\0' || *value == '-' || *value == ',';
}

static const char *hiding_variable(const struct vendor *vendor)
{
  for (int v = 0; v < 2 && vendor->hide[v]; v++) {
    const char *value = getenv(vendor->hide[v]);
    if (value && names_nothing(value)) return vendor->hide[v];
  }
  return NULL;
}

static unsigned long read_hex(const char *folder, const char *name)
{
  char path[2 * PATH_MAX + 16], line[64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return host_read_line(path, line, sizeof line) ? strtoul(line, NULL, 16) : 0;
}

/* Returns the size of the largest memory window in bytes, or 0 if unknown. */
static unsigned long long window_bytes(const char *folder)
{
  char path[2 * PATH_MAX + 16];
  unsigned long long first, last, most = 0;
  snprintf(path, sizeof path, "%s/resource", folder);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  while (fscanf(file, "%llx %llx %*x", &first, &last) == 2)
    if (last > first && last - first + 1 > most) most = last - first + 1;
  fclose(file);
  return most;
}

static const struct vendor *gpu_vendor(const char *folder, const char *pci)
{
  const unsigned long vendor = read_hex(folder, "vendor"), class = read_hex(folder, "class") >> 8;
  int v = 0;
  while (v < VENDORS && vendors[v].id != vendor) v++;
  if (v == VENDORS) return NULL;
  if (vendors[v].any_display) return class >> 8 == CLASS_DISPLAY ? &vendors[v] : NULL;
  if (class == CLASS_VGA || (class >> 8 != CLASS_DISPLAY && class >> 8 != CLASS_ACCELERATOR)) return NULL;
  const unsigned long long window = window_bytes(folder);
  const int integrated = window ? window < WINDOW_MIN : strncmp(strchr(pci, ':'), ":00:", 4) == 0;
  return integrated ? NULL : &vendors[v];
}

static void bus_add(struct gpu_bus *bus, const struct vendor *vendor, const char *where, const char *driver)
{
  const size_t used = strlen(bus->listed);
  const char *hide = hiding_variable(vendor);
  if (hide) {
    bus->hiding = hide;
    return;
  }
  bus->n++;
  bus->of[vendor->vendor]++;
  for (int v = 0; v < 2 && vendor->hide[v]; v++) bus->chosen |= getenv(vendor->hide[v]) != NULL;
  snprintf(bus->listed + used, sizeof bus->listed - used, "%s%s %s%s%s", used ? "; " : "", vendor->name,
           where, driver[0] ? ", kernel driver " : ", no kernel driver", driver);
}

static void read_device(struct gpu_bus *bus, const char *root, const char *pci)
{
  char folder[2 * PATH_MAX], link[2 * PATH_MAX + 16], target[PATH_MAX];
  if (!strchr(pci, ':')) return;
  snprintf(folder, sizeof folder, "%s/%s", root, pci);
  bus->known = 1;
  const struct vendor *vendor = gpu_vendor(folder, pci);
  if (!vendor) return;
  snprintf(link, sizeof link, "%s/driver", folder);
  const ssize_t length = readlink(link, target, sizeof target - 1);
  target[length > 0 ? length : 0] = '\0';
  const char *driver = strrchr(target, '/');
  bus_add(bus, vendor, pci, driver ? driver + 1 : target);
}

void gpu_bus_read(struct gpu_bus *bus)
{
  char root[PATH_MAX];
  struct dirent **entries;
  memset(bus, 0, sizeof *bus);
  snprintf(root, sizeof root, "%s/bus/pci/devices", host_sysfs());
  const int n = scandir(root, &entries, NULL, alphasort);
  for (int e = 0; e < n; e++) {
    read_device(bus, root, entries[e]->d_name);
    free(entries[e]);
  }
  if (n >= 0) free(entries);
  for (int v = 0; v < VENDORS && !bus->known; v++)
    if (vendors[v].node && access(vendors[v].node, F_OK) == 0) bus_add(bus, &vendors[v], vendors[v].node, "");
}
