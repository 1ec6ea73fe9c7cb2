/* SPDX-License-Identifier: MIT */
/* A real Raspberry Pi 1 to 3. Programs are started through the firmware's mailbox. Memory comes
 * from the kernel's allocator for memory shared with the VideoCore, /dev/vcsm-cma. It maps only
 * allocated memory, and frees it however the process ends. The machine's whole memory, /dev/mem, is
 * never opened. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/report.h"
#include "gpu/host.h"
#include "gpu/qpu/device.h"
#include "gpu/qpu/machine.h"
#include "gpu/qpu/system.h"

#define MAILBOX_PATH "/dev/vcio"
#define SHARED_PATH  "/dev/vcsm-cma"
#define PAGE         4096u
#define JOBS_MAX     QPU_DEVICE_QPUS
#define MILLISECONDS 60000
#define SHARED_NAME  32
#define SETTING_MAX  32 /* maximum bytes of a line of the firmware's settings */

/* The allocation of /dev/vcsm-cma, as the kernel's vc_sm_cma_ioctl.h defines it. */
struct shared_alloc {
  uint32_t size, num, cached, pad;
  char name[SHARED_NAME];
  int32_t file;
  uint32_t vc_handle;
  uint64_t bus;
};
#define SHARED_ALLOC _IOR('J', 0x5a, struct shared_alloc)

static const char *const chips[] = {"brcm,bcm2835", "brcm,bcm2836", "brcm,bcm2837"};

struct qpu_pi {
  int mailbox, shared; /* file descriptors, −1 for none */
  int on;
  struct qpu_piece control; /* addresses of the uniforms and the code of each program */
};

/* The QPUs can be opened once per process. */
static int in_use;

/* Source: "Mailbox property interface" in the firmware's wiki. Each call is one ioctl. */
#define PROPERTY_CALL _IOWR(100, 0, char *)
#define VALUES_MAX    4

enum { TAG_EXECUTE_QPU = 0x30011, TAG_ENABLE_QPU = 0x30012 };
#define RESPONSE_OK  0x80000000u /* status of a message that succeeded */
#define TAG_ANSWERED 0x80000000u /* bit of a tag that the firmware has answered */

/* Positions of words in a message with one tag: total bytes, code, tag, bytes of the tag's values,
 * the tag's code, values, and a final 0. */
enum {
  BYTES,
  CODE,
  TAG,
  TAG_BYTES,
  TAG_CODE,
  VALUES,
  END_WORDS = 1,
  WORDS_MAX = VALUES + VALUES_MAX + END_WORDS
};

/* Makes one mailbox call. Sets *answer to the first value of the firmware's answer. If the call
 * fails, sets *answer to 0 and returns −1. */
static int mailbox_call(int file, uint32_t tag, const uint32_t *values, uint32_t n, uint32_t *answer)
{
  uint32_t words[WORDS_MAX] __attribute__((aligned(16))) = {
      [BYTES] = (VALUES + n + END_WORDS) * 4, [TAG] = tag, [TAG_BYTES] = n * 4, [TAG_CODE] = n * 4};
  memcpy(words + VALUES, values, n * sizeof *values);
  *answer = 0;
  if (qpu_system->ioctl(file, PROPERTY_CALL, words) < 0) return -1;
  if (words[CODE] != RESPONSE_OK || !(words[TAG_CODE] & TAG_ANSWERED)) return -1;
  *answer = words[VALUES];
  return 0;
}

/* Switches the QPUs on or off. Returns nonzero if the firmware refuses. */
static int mailbox_enable(int file, int on)
{
  uint32_t value = on != 0, answer;
  return mailbox_call(file, TAG_ENABLE_QPU, &value, 1, &answer) != 0 || answer != 0;
}

/* Runs n programs and waits for their interrupt. Their pairs of addresses (uniforms, code) are at
 * bus address `control`. Returns 0 on success, 1 if the interrupt did not come in time, or −1 if
 * the call failed. The third value is "no flush"; it is 0, so the firmware flushes its caches
 * before the programs start. */
static int mailbox_execute(int file, uint32_t n, uint32_t control, uint32_t milliseconds)
{
  uint32_t answer;
  if (mailbox_call(file, TAG_EXECUTE_QPU, (uint32_t[]){n, control, 0, milliseconds}, 4, &answer) != 0)
    return -1;
  return answer != 0;
}

/* Returns the chip's name in the device tree, or NULL if this is no Raspberry Pi 1 to 3. The device
 * tree separates names by zero bytes. */
static const char *chip_find(void)
{
  char names[256];
  ssize_t n = qpu_system->read_file("/proc/device-tree/compatible", names, sizeof names - 1);
  if (n <= 0) return NULL;
  names[n] = '\0';
  for (const char *name = names; name < names + n; name += strlen(name) + 1)
    for (size_t c = 0; c < sizeof chips / sizeof chips[0]; c++)
      if (strcmp(name, chips[c]) == 0) return chips[c];
  return NULL;
}

/* Sets \a line to the line of the firmware's settings that loads the graphics driver, or to its
 * usual form if there is none. */
static void kms_setting(const char *path, char line[SETTING_MAX])
{
  static char text[65536];
  strcpy(line, "dtoverlay=vc4-kms-v3d");
  ssize_t n = qpu_system->read_file(path, text, sizeof text - 1);
  if (n <= 0) return;
  text[n] = '\0';
  for (const char *at = text; at; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (strncmp(at, "dtoverlay=vc4-", strlen("dtoverlay=vc4-")) == 0)
      snprintf(line, SETTING_MAX, "%.*s", (int)strcspn(at, ",# \r\n"), at);
  }
}

static void kms_reason(char reason[GPU_TEXT_MAX])
{
  static const char newer[] = "/boot/firmware/config.txt",
                    older[] = "/boot/config.txt"; /* path of the settings before Debian 12 */
  const char *path = !qpu_system->exists(newer) && qpu_system->exists(older) ? older : newer;
  char line[SETTING_MAX];
  kms_setting(path, line);
  snprintf(reason, GPU_TEXT_MAX, "the KMS driver has the QPUs: put # before %s in %s and reboot", line, path);
}

int qpu_pi_here(char reason[GPU_TEXT_MAX])
{
  reason[0] = '\0';
  if (!chip_find()) return 0;
  if (qpu_system->exists("/sys/module/vc4"))
    kms_reason(reason);
  else if (!qpu_system->exists(MAILBOX_PATH))
    snprintf(reason, GPU_TEXT_MAX, "there is no %s: the kernel needs CONFIG_BCM_VCIO", MAILBOX_PATH);
  else if (!qpu_system->exists(SHARED_PATH))
    snprintf(reason, GPU_TEXT_MAX, "there is no %s: the kernel needs CONFIG_BCM_VC_SM_CMA", SHARED_PATH);
  return 1;
}

/* Returns the bytes given in a line of /proc/meminfo, or 0 if the line is missing. */
static uint64_t meminfo_bytes(const char *key)
{
  char text[4096];
  ssize_t n = qpu_system->read_file("/proc/meminfo", text, sizeof text - 1);
  if (n <= 0) return 0;
  text[n] = '\0';
  const char *line = strstr(text, key);
  return line ? strtoull(line + strlen(key), NULL, 10) * 1024 : 0;
}

static void pi_describe(struct gpu_device_info *info)
{
  const char *chip = chip_find();
  memset(info, 0, sizeof *info);
  ssize_t n = qpu_system->read_file("/proc/device-tree/model", info->name, sizeof info->name - 1);
  if (n <= 0) snprintf(info->name, sizeof info->name, "Raspberry Pi");
  host_uuid(info->uuid, sizeof info->uuid);
  snprintf(info->arch, sizeof info->arch, "VideoCore IV %s", chip ? chip + strlen("brcm,") : "");
  info->memory_bytes = info->max_alloc_bytes = meminfo_bytes("CmaTotal:");
  info->compute_units = QPU_DEVICE_QPUS;
  info->numa = -1;
}

static uint64_t pi_left(const struct qpu_device *device)
{
  (void)device;
  return meminfo_bytes("CmaFree:");
}

static size_t pi_whole_pages(size_t bytes)
{
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

static status_t pi_alloc(struct qpu_device *device, struct qpu_piece *piece)
{
  struct shared_alloc request = {
      .size = (uint32_t)pi_whole_pages(piece->bytes), .num = 1, .name = "himeno-gpu"};
  if (piece->bytes > UINT32_MAX - PAGE || qpu_system->ioctl(device->pi->shared, SHARED_ALLOC, &request) < 0 ||
      request.file < 0)
    return log_fail(STATUS_ENVIRONMENT,
                    "too little memory for the QPUs: %s more needed, %s free in the kernel's CMA (cma= of "
                    "/boot/firmware/cmdline.txt)",
                    report_bytes(piece->bytes), report_bytes(pi_left(device)));
  void *host = qpu_system->map(request.size, request.file);
  if (host == MAP_FAILED) {
    int error = errno;
    qpu_system->close(request.file);
    return log_fail(STATUS_ENVIRONMENT, "memory of " SHARED_PATH " cannot be mapped: %s", strerror(error));
  }
  piece->host = host;
  piece->file = request.file;
  piece->bus = (uint32_t)request.bus;
  return STATUS_OK;
}

static void pi_free(struct qpu_device *device, struct qpu_piece *piece)
{
  (void)device;
  if (!piece->host) return;
  qpu_system->unmap(piece->host, pi_whole_pages(piece->bytes));
  qpu_system->close(piece->file);
}

static status_t no_file(const char *path)
{
  int error = errno;
  return log_fail(STATUS_ENVIRONMENT, "%s: %s%s", path, strerror(error),
                  error == EACCES ? ": be root, or a member of the group video" : "");
}

static status_t files_open(struct qpu_pi *pi)
{
  pi->mailbox = qpu_system->open(MAILBOX_PATH, O_RDWR | O_CLOEXEC);
  if (pi->mailbox < 0) return no_file(MAILBOX_PATH);
  pi->shared = qpu_system->open(SHARED_PATH, O_RDWR | O_CLOEXEC);
  return pi->shared < 0 ? no_file(SHARED_PATH) : STATUS_OK;
}

static status_t switch_on(struct qpu_pi *pi)
{
  if (mailbox_enable(pi->mailbox, 1) == 0) {
    pi->on = 1;
    return STATUS_OK;
  }
  return log_fail(STATUS_ENVIRONMENT,
                  "the firmware does not switch the QPUs on: it is older than 2014, or the device tree gives "
                  "them to the kernel (no dtoverlay=vc4-kms-v3d or vc4-fkms-v3d may stand in config.txt)");
}

static void pi_close(struct qpu_device *device)
{
  struct qpu_pi *pi = device->pi;
  pi_free(device, &pi->control);
  if (pi->on) mailbox_enable(pi->mailbox, 0);
  if (pi->shared >= 0) qpu_system->close(pi->shared);
  if (pi->mailbox >= 0) qpu_system->close(pi->mailbox);
  free(pi);
  in_use = 0;
}

static status_t pi_open(struct qpu_device *device)
{
  status_t status;
  if (in_use) return log_fail(STATUS_ENVIRONMENT, "this process has the Raspberry Pi's QPUs already");
  struct qpu_pi *pi = calloc(1, sizeof *pi);
  if (!pi) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a device's record");
  device->pi = pi;
  in_use = 1;
  pi->mailbox = pi->shared = -1;
  pi->control.bytes = JOBS_MAX * sizeof(uint32_t[2]);
  TRY(files_open(pi), fail);
  TRY(switch_on(pi), fail);
  TRY(pi_alloc(device, &pi->control), fail);
  return STATUS_OK;
fail:
  pi_close(device);
  return status;
}

static status_t pi_run(struct qpu_device *device, const struct qpu_job *jobs, int n, int threads)
{
  struct qpu_pi *pi = device->pi;
  uint32_t *control = pi->control.host;
  if (threads != 1)
    return log_fail(STATUS_ENVIRONMENT, "two threads a QPU: the firmware starts programs of one thread only");
  if (n < 1 || n > JOBS_MAX)
    return log_fail(STATUS_USAGE, "%d programs for %d QPUs of one thread each", n, JOBS_MAX);
  for (int j = 0; j < n; j++) {
    control[2 * j] = jobs[j].uniforms;
    control[2 * j + 1] = jobs[j].code;
  }
  __sync_synchronize();
  int failed = mailbox_execute(pi->mailbox, (uint32_t)n, pi->control.bus, MILLISECONDS);
  if (failed < 0)
    return log_fail(STATUS_FAULT, "the firmware does not take QPU programs: %s", strerror(errno));
  if (failed)
    return log_fail(STATUS_HANG, "the QPU programs did not end within %d seconds", MILLISECONDS / 1000);
  __sync_synchronize();
  return STATUS_OK;
}

const struct qpu_machine qpu_machine_pi = {
    .describe = pi_describe,
    .open = pi_open,
    .close = pi_close,
    .alloc = pi_alloc,
    .free = pi_free,
    .left = pi_left,
    .run = pi_run,
};
