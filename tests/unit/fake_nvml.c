/* SPDX-License-Identifier: MIT */
/* A library with NVML's functions for tests. Its devices are 0000:10:00.0, 0000:11:00.0, … Their
 * values are in FAKE_NVML, as words like "throttle=64 clock@2=1305 width@3=8": a value for all
 * devices or, after @, for the device of that number. A word with the suffix "-late" counts after
 * the device has reported its temperature LATE times, as in "celsius-late@1=90". Functions listed
 * in FAKE_NVML_LACKS return "not supported", as an old driver does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SUCCESS       0
#define NOT_SUPPORTED 3
#define NOT_FOUND     6
#define FIRST_BUS     0x10
#define DEVICES       64
#define LATE          3
#define TIMEOUT       10
#define EVENT_XID     8ull

typedef void *device_t;

static char places[DEVICES]; /* times that each device has reported its temperature, up to LATE */
static device_t watched;     /* the device whose events are polled */

static double given_now(const char *word, device_t device, double missing)
{
  char own[64], all[64];
  const char *text = getenv("FAKE_NVML"), *at;
  if (!text) return missing;
  snprintf(own, sizeof own, "%s@%d=", word, (int)((char *)device - places));
  snprintf(all, sizeof all, "%s=", word);
  if ((at = strstr(text, own))) return strtod(at + strlen(own), NULL);
  if ((at = strstr(text, all))) return strtod(at + strlen(all), NULL);
  return missing;
}

static double given(const char *word, device_t device, double missing)
{
  char late[64];
  double value = given_now(word, device, missing);
  snprintf(late, sizeof late, "%s-late", word);
  return *(char *)device < LATE ? value : given_now(late, device, value);
}

static int answer(const char *word, device_t device, double missing, unsigned *value)
{
  const char *lacks = getenv("FAKE_NVML_LACKS");
  if (lacks && strstr(lacks, word)) return NOT_SUPPORTED;
  *value = (unsigned)given(word, device, missing);
  return SUCCESS;
}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
  return SUCCESS;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
  return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, device_t *device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, device_t *device)
{
  unsigned domain, bus;
  if (sscanf(pci, "%x:%x:", &domain, &bus) != 2 || bus < FIRST_BUS || bus >= FIRST_BUS + DEVICES)
    return NOT_FOUND;
  *device = &places[bus - FIRST_BUS];
  return SUCCESS;
}

#define NUMBER(function, word, missing)                                                                      \
  int function(device_t device, unsigned *value);                                                            \
  int function(device_t device, unsigned *value)                                                             \
  {                                                                                                          \
    return answer(word, device, missing, value);                                                             \
  }
NUMBER(nvmlDeviceGetPowerUsage, "milliwatts", 300000)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "gen", 5)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "gen_max", 5)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "width", 16)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "width_max", 16)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, "limit", 700000)
NUMBER(nvmlDeviceGetPcieReplayCounter, "resent", 0)

int nvmlDeviceGetClockInfo(device_t device, int which, unsigned *mhz);
int nvmlDeviceGetClockInfo(device_t device, int which, unsigned *mhz)
{
  return which == 1 ? answer("clock", device, 1980, mhz) : answer("memory", device, 2619, mhz);
}

int nvmlDeviceGetMaxClockInfo(device_t device, int which, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(device_t device, int which, unsigned *mhz)
{
  return answer(which == 1 ? "top" : "memory_top", device, which == 1 ? 1980 : 2619, mhz);
}

int nvmlDeviceGetTemperature(device_t device, int sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(device_t device, int sensor, unsigned *celsius)
{
  int outcome = sensor == 0 ? answer("celsius", device, 55, celsius) : NOT_SUPPORTED;
  char *reads = device;
  if (*reads < LATE) ++*reads;
  return outcome;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(device_t device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(device_t device, unsigned long long *reasons)
{
  unsigned value = 0;
  int outcome = answer("throttle", device, 0, &value);
  *reasons = value;
  return outcome;
}

int nvmlDeviceGetEccMode(device_t device, unsigned *current, unsigned *pending);
int nvmlDeviceGetEccMode(device_t device, unsigned *current, unsigned *pending)
{
  *pending = 1;
  return answer("ecc", device, 1, current);
}

int nvmlDeviceGetTotalEccErrors(device_t device, int type, int counter, unsigned long long *count);
int nvmlDeviceGetTotalEccErrors(device_t device, int type, int counter, unsigned long long *count)
{
  unsigned value = 0;
  int outcome = answer(type == 0 ? "fixed" : "broken", device, 0, &value);
  *count = value;
  return counter == 0 ? outcome : NOT_SUPPORTED;
}

int nvmlDeviceGetRemappedRows(device_t device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
                              unsigned *failed);
int nvmlDeviceGetRemappedRows(device_t device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
                              unsigned *failed)
{
  *uncorrected = (unsigned)given("rows_lost", device, 0);
  *pending = *failed = 0;
  return answer("rows", device, 0, corrected);
}

int nvmlDeviceGetRetiredPages(device_t device, int cause, unsigned *count, unsigned long long *addresses);
int nvmlDeviceGetRetiredPages(device_t device, int cause, unsigned *count, unsigned long long *addresses)
{
  (void)addresses;
  return answer(cause == 0 ? "pages" : "pages_double", device, 0, count);
}

/* Reports the value only if FAKE_NVML has the word, because simulated times do not depend on it. */
#define WIDTH(function, word)                                                                                \
  int function(device_t device, unsigned *value);                                                            \
  int function(device_t device, unsigned *value)                                                             \
  {                                                                                                          \
    return given(word, device, -1) < 0 ? NOT_SUPPORTED : answer(word, device, 0, value);                     \
  }
WIDTH(nvmlDeviceGetMemoryBusWidth, "bits")
WIDTH(nvmlDeviceGetNumGpuCores, "cores")

int nvmlDeviceGetMigMode(device_t device, unsigned *current, unsigned *pending);
int nvmlDeviceGetMigMode(device_t device, unsigned *current, unsigned *pending)
{
  *pending = 0;
  return answer("mig", device, 0, current);
}

/* joules=X is the value of the energy counter, energy=WATTS its rate, in steps of 20 ms. */
int nvmlDeviceGetTotalEnergyConsumption(device_t device, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(device_t device, unsigned long long *millijoules)
{
  double watts = given("energy", device, -1), joules = given("joules", device, -1);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (watts < 0 && joules < 0) return NOT_SUPPORTED;
  const long steps = (long)now.tv_sec * 50 + now.tv_nsec / 20000000;
  *millijoules = (unsigned long long)(1e3 * (joules >= 0 ? joules : watts * (double)steps / 50));
  return SUCCESS;
}

int nvmlDeviceGetNvLinkErrorCounter(device_t device, unsigned link, int counter, unsigned long long *count);
int nvmlDeviceGetNvLinkErrorCounter(device_t device, unsigned link, int counter, unsigned long long *count)
{
  static const char *const words[] = {"link_replays", "link_recoveries", "link_flits", "link_data"};
  unsigned value = 0;
  if (counter > 3 || link >= given("links", device, 18)) return NOT_SUPPORTED;
  int outcome = answer(words[counter], device, 0, &value);
  *count = link == 3 ? value : 0;
  return outcome;
}

/* nvlink=KIB, pcie=BYTES: values of the counters. nvlink_each, pcie_each: their rise per read.
 * PCIe's wraps at 4 GiB. */
struct field {
  unsigned id, scope;
  long long timestamp, latency;
  int type, outcome;
  unsigned long long value;
};

int nvmlDeviceGetFieldValues(device_t device, int n, struct field *fields);
int nvmlDeviceGetFieldValues(device_t device, int n, struct field *fields)
{
  static unsigned long long reads[2];
  for (int f = 0; f < n; f++) {
    const int nvlink = fields[f].id == 138;
    const double shown = given(nvlink ? "nvlink" : "pcie", device, -1),
                 each = given(nvlink ? "nvlink_each" : "pcie_each", device, 0);
    fields[f].outcome = shown < 0 || (!nvlink && fields[f].id != 197) ? NOT_SUPPORTED : SUCCESS;
    fields[f].type = nvlink ? 3 : 1;
    fields[f].value = (unsigned long long)(shown + each * (double)reads[nvlink]++);
    if (!nvlink) fields[f].value &= 0xffffffffu;
  }
  return SUCCESS;
}

/* holder=PID: a process that, besides this one, uses holder_mib of memory. more: further processes,
 * with the next numbers and 1 GiB, 2 GiB and so on. memory_mib: the whole memory. */
struct process {
  unsigned id;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};

int nvmlDeviceGetComputeRunningProcesses_v3(device_t device, unsigned *n, struct process *list);
int nvmlDeviceGetComputeRunningProcesses_v3(device_t device, unsigned *n, struct process *list)
{
  const unsigned holder = (unsigned)given("holder", device, 0);
  if (*n < 2) return NOT_SUPPORTED;
  list[0] = (struct process){.id = (unsigned)getpid(), .bytes = 1 << 30};
  list[1] = (struct process){.id = holder, .bytes = (unsigned long long)given("holder_mib", device, 0) << 20};
  *n = holder ? 2 : 1;
  return SUCCESS;
}

int nvmlDeviceGetGraphicsRunningProcesses_v2(device_t device, unsigned *n, struct process *list);
int nvmlDeviceGetGraphicsRunningProcesses_v2(device_t device, unsigned *n, struct process *list)
{
  *n = (unsigned)given("more", device, 0) + 1;
  for (unsigned p = 0; p < *n; p++)
    list[p] = (struct process){.id = (unsigned)given("holder", device, getpid()) + p,
                               .bytes = (unsigned long long)p << 30};
  return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(device_t device, unsigned long long memory[3]);
int nvmlDeviceGetMemoryInfo(device_t device, unsigned long long memory[3])
{
  memory[0] = (unsigned long long)given("memory_mib", device, 81559) << 20;
  memory[2] = (unsigned long long)given("holder_mib", device, 0) << 20;
  memory[1] = memory[0] - memory[2];
  return SUCCESS;
}

/* An Xid event occurs whenever the value of the word xid has changed; its number is the value. */
struct event {
  device_t device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

int nvmlEventSetCreate(void **set);
int nvmlEventSetCreate(void **set)
{
  *set = &watched;
  return SUCCESS;
}

int nvmlEventSetFree(void *set);
int nvmlEventSetFree(void *set)
{
  (void)set;
  watched = NULL;
  return SUCCESS;
}

int nvmlDeviceRegisterEvents(device_t device, unsigned long long types, void *set);
int nvmlDeviceRegisterEvents(device_t device, unsigned long long types, void *set)
{
  unsigned value;
  (void)set;
  watched = device;
  return types == EVENT_XID ? answer("xid", device, 0, &value) : NOT_SUPPORTED;
}

int nvmlEventSetWait_v2(void *set, struct event *event, unsigned milliseconds);
int nvmlEventSetWait_v2(void *set, struct event *event, unsigned milliseconds)
{
  static unsigned last;
  unsigned now;
  if (milliseconds > 0 || !*(void **)set || answer("xid", watched, 0, &now) != SUCCESS || now == last)
    return TIMEOUT;
  *event = (struct event){watched, EVENT_XID, last = now, ~0u, ~0u};
  return now ? SUCCESS : TIMEOUT;
}

int nvmlDeviceGetNvLinkState(device_t device, unsigned link, unsigned *active);
int nvmlDeviceGetNvLinkState(device_t device, unsigned link, unsigned *active)
{
  if (link >= given("links", device, 18)) return NOT_SUPPORTED;
  *active = link < given("links_up", device, 18);
  return SUCCESS;
}
