/* SPDX-License-Identifier: MIT */
#include "gpu/opencl/opencl_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/values.h"
#include "gpu/host.h"

/* Queries of extensions that are not in older headers. Sources: the Khronos registry's
 * cl_khr_device_uuid, cl_khr_pci_bus_info, cl_nv_device_attribute_query and
 * cl_amd_device_attribute_query. */
#define QUERY_UUID             0x106A
#define QUERY_PCI_KHR          0x410F
#define QUERY_NV_COMPUTE_MAJOR 0x4000
#define QUERY_NV_COMPUTE_MINOR 0x4001
#define QUERY_NV_PCI_BUS       0x4008
#define QUERY_NV_PCI_SLOT      0x4009
#define QUERY_NV_PCI_DOMAIN    0x400A
#define QUERY_AMD_TOPOLOGY     0x4037
#define QUERY_AMD_BOARD_NAME   0x4038

#define UUID_BYTES        16
#define VENDOR_NVIDIA     0x10de
#define AMD_TOPOLOGY_PCIE 1

/** The PCI address as AMD's driver returns it: a union whose PCIe member begins with the type. */
struct amd_topology {
  cl_uint type;
  cl_uchar unused[17];
  cl_uchar bus, device, function;
};

struct khr_pci {
  cl_uint domain, bus, device, function;
};

static int query(cl_device_id id, cl_device_info what, size_t bytes, void *value)
{
  size_t got = 0;
  return clGetDeviceInfo(id, what, bytes, value, &got) == CL_SUCCESS && got == bytes;
}

static cl_ulong query_number(cl_device_id id, cl_device_info what)
{
  cl_ulong value;
  return query(id, what, sizeof value, &value) ? value : 0;
}

static cl_uint query_uint(cl_device_id id, cl_device_info what)
{
  cl_uint value;
  return query(id, what, sizeof value, &value) ? value : 0;
}

/** Reads a text without the blanks that some drivers pad it with; "" if the device does not report
 * it. */
static void query_text(cl_device_id id, cl_device_info what, char text[GPU_TEXT_MAX])
{
  char all[1024] = "";
  if (clGetDeviceInfo(id, what, sizeof all - 1, all, NULL) != CL_SUCCESS) all[0] = '\0';
  char *start = all + strspn(all, " ");
  size_t length = strlen(start);
  while (length && start[length - 1] == ' ') length--;
  snprintf(text, GPU_TEXT_MAX, "%.*s", (int)length, start);
  value_make_printable(text);
}

int opencl_has_extension(cl_device_id id, const char *name)
{
  size_t bytes = 0, length = strlen(name);
  if (clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes) != CL_SUCCESS) return 0;
  char *list = calloc(1, bytes + 1);
  int found = 0;
  if (list && clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, bytes, list, NULL) == CL_SUCCESS)
    for (char *at = list; (at = strstr(at, name)); at += length)
      if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) found = 1;
  free(list);
  return found;
}

/* Writes UUIDs of NVIDIA as NVIDIA's tools do, "GPU-" and five groups; others as 32 hex digits. */
static void describe_uuid(cl_device_id id, struct gpu_device_info *info)
{
  static const int dash_before[UUID_BYTES] = {[4] = 1, [6] = 1, [8] = 1, [10] = 1};
  unsigned char uuid[UUID_BYTES];
  if (!opencl_has_extension(id, "cl_khr_device_uuid") || !query(id, QUERY_UUID, sizeof uuid, uuid)) return;
  int nvidia = query_uint(id, CL_DEVICE_VENDOR_ID) == VENDOR_NVIDIA;
  char *at = info->uuid;
  if (nvidia) at += sprintf(at, "GPU-");
  for (int i = 0; i < UUID_BYTES; i++)
    at += sprintf(at, "%s%02x", nvidia && dash_before[i] ? "-" : "", uuid[i]);
}

/** Reads the PCI address by an extension that the driver supports. Returns 0 if there is none. */
static int read_pci(cl_device_id id, struct khr_pci *pci)
{
  struct amd_topology amd;
  if (opencl_has_extension(id, "cl_khr_pci_bus_info") && query(id, QUERY_PCI_KHR, sizeof *pci, pci)) return 1;
  if (opencl_has_extension(id, "cl_nv_device_attribute_query")) {
    cl_uint slot = query_uint(id, QUERY_NV_PCI_SLOT);
    *pci = (struct khr_pci){query_uint(id, QUERY_NV_PCI_DOMAIN), 0, slot >> 3, slot & 7};
    return query(id, QUERY_NV_PCI_BUS, sizeof pci->bus, &pci->bus);
  }
  if (!opencl_has_extension(id, "cl_amd_device_attribute_query") ||
      !query(id, QUERY_AMD_TOPOLOGY, sizeof amd, &amd))
    return 0;
  *pci = (struct khr_pci){0, amd.bus, amd.device, amd.function};
  return amd.type == AMD_TOPOLOGY_PCIE;
}

static void describe_pci(cl_device_id id, struct gpu_device_info *info)
{
  struct khr_pci pci;
  if (!read_pci(id, &pci)) return;
  snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.%x", pci.domain & 0xffff, pci.bus & 0xff,
           pci.device & 0x1f, pci.function & 7);
}

/* AMD's CL_DEVICE_NAME is the chip's name ("gfx90a"). Other vendors return the product's name. */
static void describe_names(cl_device_id id, struct gpu_device_info *info)
{
  query_text(id, CL_DEVICE_NAME, info->name);
  if (opencl_has_extension(id, "cl_nv_device_attribute_query")) {
    snprintf(info->arch, sizeof info->arch, "sm_%u%u", query_uint(id, QUERY_NV_COMPUTE_MAJOR),
             query_uint(id, QUERY_NV_COMPUTE_MINOR));
  } else if (opencl_has_extension(id, "cl_amd_device_attribute_query")) {
    snprintf(info->arch, sizeof info->arch, "%.31s", info->name);
    char board[GPU_TEXT_MAX];
    query_text(id, QUERY_AMD_BOARD_NAME, board);
    if (board[0]) memcpy(info->name, board, sizeof board);
  }
}

static void opencl_describe(struct opencl_probed *entry)
{
  cl_device_id id = entry->id;
  struct gpu_device_info *info = &entry->info;
  char version[GPU_TEXT_MAX], driver[GPU_TEXT_MAX];
  memset(info, 0, sizeof *info);
  describe_names(id, info);
  describe_uuid(id, info);
  describe_pci(id, info);
  query_text(id, CL_DEVICE_VERSION, version);
  query_text(id, CL_DRIVER_VERSION, driver);
  snprintf(info->driver, sizeof info->driver, "%.80s, driver %.30s", version, driver);
  if (clGetPlatformInfo(entry->platform, CL_PLATFORM_NAME, sizeof info->platform, info->platform, NULL) !=
      CL_SUCCESS)
    info->platform[0] = '\0';
  info->memory_bytes = query_number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  info->max_alloc_bytes = query_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info->cache_bytes = query_number(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  info->compute_units = (int)query_uint(id, CL_DEVICE_MAX_COMPUTE_UNITS);
  info->numa = -1;
  info->fp64 = opencl_has_extension(id, "cl_khr_fp64");
  info->is_cpu = (entry->type & CL_DEVICE_TYPE_CPU) != 0;
  int allowed = info->is_cpu ? host_allowed_cpus() : 0;
  if (allowed > 0 && allowed < info->compute_units) info->compute_units = allowed;
}

/** Returns whether kernels can be built for the device by OpenCL 1.2 calls. */
static int usable(cl_device_id id)
{
  int major = 0, minor = 0;
  char version[GPU_TEXT_MAX];
  cl_bool available = CL_FALSE, compiler = CL_FALSE;
  query_text(id, CL_DEVICE_VERSION, version);
  query(id, CL_DEVICE_AVAILABLE, sizeof available, &available);
  query(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler);
  return available && compiler && sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 &&
         10 * major + minor >= 12;
}

/* Returns 1 if the list already has the device. Within one platform two entries are two devices
 * (sub-devices of one GPU have the same PCI address). In different platforms, equal UUIDs or PCI
 * addresses mean one device. */
static int listed_before(const struct opencl_probed *entries, int n, const struct opencl_probed *entry)
{
  for (int i = 0; i < n; i++) {
    if (entries[i].platform == entry->platform) continue;
    const struct gpu_device_info *a = &entries[i].info, *b = &entry->info;
    if (a->uuid[0] && !strcmp(a->uuid, b->uuid)) return 1;
    if (a->pci[0] && !strcmp(a->pci, b->pci)) return 1;
  }
  return 0;
}

static void list_platform(cl_platform_id platform, cl_device_type type, struct opencl_probed **entries,
                          int *n, int *unusable)
{
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, type, 0, NULL, &count) != CL_SUCCESS || !count) return;
  cl_device_id *ids = malloc(count * sizeof *ids);
  struct opencl_probed *grown = realloc(*entries, ((size_t)*n + count) * sizeof *grown);
  if (grown) *entries = grown;
  if (!ids || !grown || clGetDeviceIDs(platform, type, count, ids, NULL) != CL_SUCCESS) count = 0;
  for (cl_uint i = 0; i < count; i++) {
    struct opencl_probed *entry = &grown[*n];
    *entry = (struct opencl_probed){.platform = platform, .id = ids[i], .type = type};
    if (!usable(ids[i])) {
      ++*unusable;
      continue;
    }
    opencl_describe(entry);
    if (!listed_before(grown, *n, entry)) ++*n;
  }
  free(ids);
}

void opencl_list(struct opencl_probed **entries, int *n, char reason[GPU_TEXT_MAX])
{
  static const cl_device_type order[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
  cl_uint count = 0;
  int unusable = 0;
  *entries = NULL;
  *n = 0;
  cl_platform_id *platforms = NULL;
  if (clGetPlatformIDs(0, NULL, &count) == CL_SUCCESS && count) platforms = malloc(count * sizeof *platforms);
  if (!platforms || clGetPlatformIDs(count, platforms, NULL) != CL_SUCCESS) {
    snprintf(reason, GPU_TEXT_MAX, "no OpenCL platform: no driver is registered with the ICD loader");
    free(platforms);
    return;
  }
  for (size_t t = 0; t < sizeof order / sizeof *order; t++)
    for (cl_uint p = 0; p < count; p++) list_platform(platforms[p], order[t], entries, n, &unusable);
  free(platforms);
  /* CPUs for which the driver has no UUID get the UUID of the host. */
  for (int i = 0; i < *n; i++) {
    struct gpu_device_info *info = &(*entries)[i].info;
    if (info->is_cpu && !info->uuid[0]) host_uuid(info->uuid, sizeof info->uuid);
  }
  if (!*n && unusable)
    snprintf(reason, GPU_TEXT_MAX, "%d OpenCL devices, none available with a compiler and OpenCL 1.2",
             unusable);
  else if (!*n)
    snprintf(reason, GPU_TEXT_MAX, "%u OpenCL platforms, none of them with a device", count);
}
