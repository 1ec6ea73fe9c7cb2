/* SPDX-License-Identifier: MIT */
/* Telemetry from NVML. Functions and constants follow NVIDIA's NVML API reference. Each function is
 * looked up separately, since old drivers lack some. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/switches.h"
#include "gpu/telemetry_sources.h"

SWITCH("HIMENO_NVML", TEST, OWN, FREE("a file"), "library that replaces NVML, `libnvidia-ml.so.1`");

#define NVML_SUCCESS            0
#define NVML_INSUFFICIENT_SIZE  7
#define NVML_CLOCK_SM           1
#define NVML_CLOCK_MEMORY       2
#define NVML_TEMPERATURE_GPU    0
#define NVML_ERROR_CORRECTED    0
#define NVML_ERROR_UNCORRECTED  1
#define NVML_COUNTER_VOLATILE   0
#define NVML_RETIRED_MULTIPLE   0
#define NVML_RETIRED_DOUBLE_BIT 1
#define NVML_LINKS_MAX          18
#define NVML_THROTTLE_IDLE      1ull
#define NVML_EVENT_XID          8ull
#define NVML_FIELD_NVLINK_KIB   138 /* KiB of data sent by all links */
#define NVML_FIELD_PCIE_BYTES   197 /* bytes sent */
#define NVML_ALL_LINKS          (~0u)
#define NVML_PROCESSES_MAX      256

typedef void *device_t, *event_set_t;

struct event {
  device_t device;
  unsigned long long type, data; /* type of the event; for an Xid, data is its number */
  unsigned gpu_instance, compute_instance;
};

struct nvml_memory {
  unsigned long long total, free, used;
};

/* Entry of the lists that NVML's process functions of versions 2 and 3 return. */
struct process {
  unsigned id;
  unsigned long long bytes; /* memory used; all ones if unknown */
  unsigned gpu_instance, compute_instance;
};

typedef int processes_t(device_t, unsigned *n, struct process *);

struct field {
  unsigned id, scope;
  long long timestamp, latency;
  int type, outcome;
  union {
    unsigned number;
    unsigned long long number_long;
  } value;
};

enum { FIELD_UNSIGNED = 1, FIELD_UNSIGNED_LONG, FIELD_UNSIGNED_LONG_LONG };

enum { LINK_REPLAY, LINK_RECOVERY, LINK_CRC_FLIT, LINK_CRC_DATA };

struct nvml {
  void *library;
  device_t device;
  int (*shutdown)(void);
  int (*power)(device_t, unsigned *milliwatts);
  int (*clock)(device_t, int which, unsigned *mhz);
  int (*clock_max)(device_t, int which, unsigned *mhz);
  int (*temperature)(device_t, int sensor, unsigned *celsius);
  int (*throttle)(device_t, unsigned long long *reasons);
  int (*ecc_mode)(device_t, unsigned *current, unsigned *pending);
  int (*ecc_errors)(device_t, int type, int counter, unsigned long long *count);
  int (*link_gen)(device_t, unsigned *gen);
  int (*link_gen_max)(device_t, unsigned *gen);
  int (*link_width)(device_t, unsigned *width);
  int (*link_width_max)(device_t, unsigned *width);
  int (*remapped)(device_t, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed);
  int (*retired)(device_t, int cause, unsigned *count, unsigned long long *addresses);
  int (*nvlink)(device_t, unsigned link, unsigned *active);
  int (*energy)(device_t, unsigned long long *millijoules);
  int (*bus_width)(device_t, unsigned *bits);
  int (*cores)(device_t, unsigned *cores);
  int (*mig)(device_t, unsigned *current, unsigned *pending);
  int (*power_limit)(device_t, unsigned *milliwatts);
  int (*replays)(device_t, unsigned *count);
  int (*nvlink_errors)(device_t, unsigned link, int counter, unsigned long long *count);
  int (*fields)(device_t, int n, struct field *);
  int (*event_next)(event_set_t, struct event *, unsigned milliseconds);
  int (*events_free)(event_set_t);
  event_set_t events; /* NULL if Xid events are not supported */
  int64_t xids;
  int xid;
};

/* Object and function pointers have the same size on every system that has dlsym. */
static void nvml_find(const struct nvml *nvml, const char *name, void *function)
{
  *(void **)function = dlsym(nvml->library, name);
}

static void find_all(struct nvml *n)
{
  nvml_find(n, "nvmlShutdown", &n->shutdown);
  nvml_find(n, "nvmlDeviceGetPowerUsage", &n->power);
  nvml_find(n, "nvmlDeviceGetClockInfo", &n->clock);
  nvml_find(n, "nvmlDeviceGetMaxClockInfo", &n->clock_max);
  nvml_find(n, "nvmlDeviceGetTemperature", &n->temperature);
  nvml_find(n, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->throttle);
  nvml_find(n, "nvmlDeviceGetEccMode", &n->ecc_mode);
  nvml_find(n, "nvmlDeviceGetTotalEccErrors", &n->ecc_errors);
  nvml_find(n, "nvmlDeviceGetCurrPcieLinkGeneration", &n->link_gen);
  nvml_find(n, "nvmlDeviceGetMaxPcieLinkGeneration", &n->link_gen_max);
  nvml_find(n, "nvmlDeviceGetCurrPcieLinkWidth", &n->link_width);
  nvml_find(n, "nvmlDeviceGetMaxPcieLinkWidth", &n->link_width_max);
  nvml_find(n, "nvmlDeviceGetRemappedRows", &n->remapped);
  nvml_find(n, "nvmlDeviceGetRetiredPages", &n->retired);
  nvml_find(n, "nvmlDeviceGetNvLinkState", &n->nvlink);
  nvml_find(n, "nvmlDeviceGetTotalEnergyConsumption", &n->energy);
  nvml_find(n, "nvmlDeviceGetMemoryBusWidth", &n->bus_width);
  nvml_find(n, "nvmlDeviceGetNumGpuCores", &n->cores);
  nvml_find(n, "nvmlDeviceGetMigMode", &n->mig);
  nvml_find(n, "nvmlDeviceGetEnforcedPowerLimit", &n->power_limit);
  nvml_find(n, "nvmlDeviceGetPcieReplayCounter", &n->replays);
  nvml_find(n, "nvmlDeviceGetNvLinkErrorCounter", &n->nvlink_errors);
  nvml_find(n, "nvmlDeviceGetFieldValues", &n->fields);
  nvml_find(n, "nvmlEventSetWait_v2", &n->event_next);
  nvml_find(n, "nvmlEventSetFree", &n->events_free);
}

/* Makes NVML keep Xid events from now on, until they are read. */
static void events_begin(struct nvml *n)
{
  int (*create)(event_set_t *), (*enlist)(device_t, unsigned long long types, event_set_t);
  event_set_t events;
  nvml_find(n, "nvmlEventSetCreate", &create);
  nvml_find(n, "nvmlDeviceRegisterEvents", &enlist);
  if (!create || !enlist || !n->event_next || !n->events_free || create(&events) != NVML_SUCCESS) return;
  if (enlist(n->device, NVML_EVENT_XID, events) == NVML_SUCCESS)
    n->events = events;
  else
    n->events_free(events);
}

/* Starts NVML and finds the device. Returns 1 if both succeeded. */
static int start(struct nvml *n, const char *pci)
{
  int (*init)(void), (*by_pci)(const char *, device_t *);
  nvml_find(n, "nvmlInit_v2", &init);
  nvml_find(n, "nvmlDeviceGetHandleByPciBusId_v2", &by_pci);
  if (!init || !by_pci || !n->shutdown || init() != NVML_SUCCESS) return 0;
  if (by_pci(pci, &n->device) == NVML_SUCCESS) return 1;
  n->shutdown();
  return 0;
}

struct nvml *nvml_open(const char *pci)
{
  const char *name = switch_text("HIMENO_NVML");
  struct nvml *n = calloc(1, sizeof *n);
  if (!n || !pci[0]) goto fail;
  if (!(n->library = dlopen(name ? name : "libnvidia-ml.so.1", RTLD_NOW))) goto fail;
  find_all(n);
  if (start(n, pci)) {
    events_begin(n);
    return n;
  }
  dlclose(n->library);
fail:
  free(n);
  return NULL;
}

void nvml_close(struct nvml *nvml)
{
  if (!nvml) return;
  if (nvml->events) nvml->events_free(nvml->events);
  nvml->shutdown();
  dlclose(nvml->library);
  free(nvml);
}

static void read_one_of(const struct nvml *n, int (*function)(device_t, int, unsigned *), int which,
                        int *number)
{
  unsigned value;
  if (function && function(n->device, which, &value) == NVML_SUCCESS) *number = (int)value;
}

static void nvml_read_number(const struct nvml *n, int (*function)(device_t, unsigned *), int *number)
{
  unsigned value;
  if (function && function(n->device, &value) == NVML_SUCCESS) *number = (int)value;
}

void nvml_read(const struct nvml *n, struct telemetry_sample *sample)
{
  unsigned milliwatts;
  unsigned long long reasons;
  if (n->power && n->power(n->device, &milliwatts) == NVML_SUCCESS) sample->watts = milliwatts * 1e-3;
  read_one_of(n, n->clock, NVML_CLOCK_SM, &sample->sm_mhz);
  read_one_of(n, n->clock, NVML_CLOCK_MEMORY, &sample->memory_mhz);
  read_one_of(n, n->temperature, NVML_TEMPERATURE_GPU, &sample->celsius);
  if (n->throttle && n->throttle(n->device, &reasons) == NVML_SUCCESS)
    sample->throttle = (int)(reasons & ~NVML_THROTTLE_IDLE & 0xff);
}

int nvml_joules(const struct nvml *n, double *joules)
{
  unsigned long long millijoules;
  if (!n->energy || n->energy(n->device, &millijoules) != NVML_SUCCESS) return 0;
  *joules = (double)millijoules * 1e-3;
  return 1;
}

/* Adds a process to the largest users, in descending order. A process that is listed several times
 * counts once. */
static void holder_add(struct telemetry_memory *memory, const struct process *process)
{
  struct telemetry_holder holder = {process->id, process->bytes == ~0ull ? 0 : (int64_t)process->bytes};
  if (process->id == (unsigned)getpid()) return;
  for (int h = 0; h < memory->n && h < TELEMETRY_HOLDERS; h++)
    if (memory->holder[h].process == process->id) return;
  memory->n++;
  for (int h = 0; h < TELEMETRY_HOLDERS; h++) {
    const struct telemetry_holder at = memory->holder[h];
    if (at.process && at.bytes >= holder.bytes) continue;
    memory->holder[h] = holder;
    holder = at;
  }
}

void nvml_memory(const struct nvml *n, struct telemetry_memory *memory)
{
  static const char *const kinds[][2] = {
      {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"},
      {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2"},
      {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2"}};
  int (*memory_info)(device_t, struct nvml_memory *);
  struct nvml_memory info;
  nvml_find(n, "nvmlDeviceGetMemoryInfo", &memory_info);
  if (memory_info && memory_info(n->device, &info) == NVML_SUCCESS)
    memory->total = (int64_t)info.total, memory->free = (int64_t)info.free;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    struct process list[NVML_PROCESSES_MAX];
    unsigned count = NVML_PROCESSES_MAX;
    processes_t *processes;
    nvml_find(n, kinds[k][0], &processes);
    if (!processes) nvml_find(n, kinds[k][1], &processes);
    if (!processes || processes(n->device, &count, list) != NVML_SUCCESS) continue;
    for (unsigned p = 0; p < count; p++) holder_add(memory, &list[p]);
  }
}

static void read_field(const struct nvml *n, unsigned id, unsigned scope, int64_t each, int64_t *bytes)
{
  struct field field = {.id = id, .scope = scope};
  if (!n->fields || n->fields(n->device, 1, &field) != NVML_SUCCESS || field.outcome != NVML_SUCCESS) return;
  if (field.type == FIELD_UNSIGNED)
    *bytes = each * field.value.number;
  else if (field.type == FIELD_UNSIGNED_LONG || field.type == FIELD_UNSIGNED_LONG_LONG)
    *bytes = each * (int64_t)field.value.number_long;
}

void nvml_sent(const struct nvml *n, struct telemetry_sent *sent)
{
  read_field(n, NVML_FIELD_NVLINK_KIB, NVML_ALL_LINKS, 1024, &sent->nvlink);
  read_field(n, NVML_FIELD_PCIE_BYTES, 0, 1, &sent->pcie);
}

/* Reads nothing for a MIG instance, because NVML does not report its part of bus and cores. */
static void read_widths(const struct nvml *n, struct telemetry_state *state)
{
  unsigned divided, pending;
  if (n->mig && n->mig(n->device, &divided, &pending) == NVML_SUCCESS && divided) return;
  nvml_read_number(n, n->bus_width, &state->memory_bits);
  nvml_read_number(n, n->cores, &state->cores);
}

static void nvml_read_errors(const struct nvml *n, int type, int64_t *errors)
{
  unsigned long long count;
  if (n->ecc_errors && n->ecc_errors(n->device, type, NVML_COUNTER_VOLATILE, &count) == NVML_SUCCESS)
    *errors = (int64_t)count;
}

/* Reads the number of retired rows (since Ampere) or pages (before). */
static void nvml_read_retired(const struct nvml *n, int *retired)
{
  unsigned corrected, uncorrected, pending, failed, pages = 0;
  if (n->remapped && n->remapped(n->device, &corrected, &uncorrected, &pending, &failed) == NVML_SUCCESS) {
    *retired = (int)(corrected + uncorrected);
    return;
  }
  for (int cause = NVML_RETIRED_MULTIPLE; n->retired && cause <= NVML_RETIRED_DOUBLE_BIT; cause++) {
    unsigned count = 0;
    int outcome = n->retired(n->device, cause, &count, NULL);
    if (outcome != NVML_SUCCESS && outcome != NVML_INSUFFICIENT_SIZE) return;
    pages += count;
    *retired = (int)pages;
  }
}

static void read_nvlinks(const struct nvml *n, struct telemetry_state *state)
{
  unsigned active;
  int links = 0, up = 0;
  for (unsigned link = 0; n->nvlink && link < NVML_LINKS_MAX; link++) {
    if (n->nvlink(n->device, link, &active) != NVML_SUCCESS) continue;
    links++;
    up += active != 0;
  }
  if (n->nvlink) state->nvlinks = links, state->nvlinks_active = up;
}

static void read_nvlink_errors(const struct nvml *n, int counter, int64_t *errors)
{
  unsigned long long count;
  for (unsigned link = 0; n->nvlink_errors && link < NVML_LINKS_MAX; link++) {
    if (n->nvlink_errors(n->device, link, counter, &count) != NVML_SUCCESS) continue;
    *errors = (*errors < 0 ? 0 : *errors) + (int64_t)count;
  }
}

static void read_xids(struct nvml *n, struct telemetry_state *state)
{
  struct event event;
  while (n->events && n->event_next(n->events, &event, 0) == NVML_SUCCESS) {
    if (event.type != NVML_EVENT_XID) continue;
    n->xids++;
    n->xid = (int)event.data;
  }
  if (n->events) state->xids = n->xids, state->xid = n->xid;
}

void nvml_state(struct nvml *n, struct telemetry_state *state)
{
  unsigned current, pending, replays, milliwatts;
  read_one_of(n, n->clock_max, NVML_CLOCK_SM, &state->sm_mhz_max);
  read_one_of(n, n->clock_max, NVML_CLOCK_MEMORY, &state->memory_mhz_max);
  if (n->ecc_mode && n->ecc_mode(n->device, &current, &pending) == NVML_SUCCESS) state->ecc = (int)current;
  nvml_read_errors(n, NVML_ERROR_CORRECTED, &state->corrected);
  nvml_read_errors(n, NVML_ERROR_UNCORRECTED, &state->uncorrected);
  nvml_read_retired(n, &state->retired);
  nvml_read_number(n, n->link_gen, &state->pcie_gen);
  nvml_read_number(n, n->link_gen_max, &state->pcie_gen_max);
  nvml_read_number(n, n->link_width, &state->pcie_width);
  nvml_read_number(n, n->link_width_max, &state->pcie_width_max);
  read_nvlinks(n, state);
  read_widths(n, state);
  if (n->power_limit && n->power_limit(n->device, &milliwatts) == NVML_SUCCESS)
    state->watts_limit = (int)(milliwatts / 1000);
  if (n->replays && n->replays(n->device, &replays) == NVML_SUCCESS) state->pcie_replays = replays;
  read_nvlink_errors(n, LINK_REPLAY, &state->nvlink_replays);
  read_nvlink_errors(n, LINK_RECOVERY, &state->nvlink_recoveries);
  read_nvlink_errors(n, LINK_CRC_FLIT, &state->nvlink_crc);
  read_nvlink_errors(n, LINK_CRC_DATA, &state->nvlink_crc);
  read_xids(n, state);
}
