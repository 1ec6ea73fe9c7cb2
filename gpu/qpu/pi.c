/* SPDX-License-Identifier: MIT */
/* A real Raspberry Pi 1 to 3. Programs start through the firmware's mailbox. Memory comes from the
 * kernel's allocator of memory that the VideoCore shares, /dev/vcsm-cma, which maps nothing but
 * what it gave, and takes it back whatever happens to the process; on kernels without it from the
 * firmware, mapped through /dev/vc-mem, which knows the VideoCore's memory. Memory of the machine
 * at large, /dev/mem, is never opened.
 *
 * What only the firmware would take back, its memory and the power of the QPUs, is given back at
 * every end of the process that it can see: close, exit, and the signals that end it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
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

#define SHARED_PATH   "/dev/vcsm-cma"
#define FIRMWARE_PATH "/dev/vc-mem"
#define PAGE          4096u
#define BUS_ALIAS     0xc0000000u /* the bits of a bus address that choose caches */
#define JOBS_MAX      QPU_DEVICE_QPUS
#define MILLISECONDS  60000
#define SHARED_NAME   32
#define HANDLES_MAX   256
#define SETTING_MAX   32 /* of a reason's room */

/* The allocation of /dev/vcsm-cma, as the kernel's vc_sm_cma_ioctl.h defines it. */
struct shared_alloc {
  uint32_t size, num, cached, pad;
  char name[SHARED_NAME];
  int32_t file;
  uint32_t vc_handle;
  uint64_t bus;
};
#define SHARED_ALLOC _IOR('J', 0x5a, struct shared_alloc)

/** A chip and the flags that its memory needs. The first one's ARM reaches memory through the
 * VideoCore's L2 cache, so its QPUs must too; the others' ARM does not, so their QPUs must not. */
struct chip {
  const char *compatible;
  uint32_t flags;
};
static const struct chip chips[] = {
    {"brcm,bcm2835", QPU_MEMORY_DIRECT | QPU_MEMORY_COHERENT},
    {"brcm,bcm2836", QPU_MEMORY_DIRECT},
    {"brcm,bcm2837", QPU_MEMORY_DIRECT},
};

struct qpu_pi {
  const struct chip *chip;
  int mailbox, shared, firmware; /* files, −1 for none */
  int on;
  uint32_t handles[HANDLES_MAX]; /* memory that the firmware gave, 0 where none */
  struct qpu_piece control;      /* pairs of addresses: uniforms, code */
};

/* ---- what this machine is ---- */

/* The device tree's names are zero-terminated texts. */
static const struct chip *chip_find(void)
{
  char names[256];
  ssize_t n = qpu_system->read_file("/proc/device-tree/compatible", names, sizeof names - 1);
  if (n <= 0) return NULL;
  names[n] = '\0';
  for (const char *name = names; name < names + n; name += strlen(name) + 1)
    for (size_t c = 0; c < sizeof chips / sizeof chips[0]; c++)
      if (strcmp(name, chips[c].compatible) == 0) return &chips[c];
  return NULL;
}

/* The line of the firmware's settings that loads the driver, or its usual form. */
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
                    older[] = "/boot/config.txt"; /* before Debian 12 */
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
  else if (!qpu_system->exists(QPU_MAILBOX_PATH))
    snprintf(reason, GPU_TEXT_MAX, "there is no %s: the kernel needs CONFIG_BCM_VCIO", QPU_MAILBOX_PATH);
  return 1;
}

/* Bytes of a line of /proc/meminfo; 0 if it is missing. */
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
  const struct chip *chip = chip_find();
  memset(info, 0, sizeof *info);
  ssize_t n = qpu_system->read_file("/proc/device-tree/model", info->name, sizeof info->name - 1);
  if (n <= 0) snprintf(info->name, sizeof info->name, "Raspberry Pi");
  host_uuid(info->uuid, sizeof info->uuid);
  snprintf(info->arch, sizeof info->arch, "VideoCore IV %s", chip ? chip->compatible + strlen("brcm,") : "");
  info->memory_bytes = meminfo_bytes(qpu_system->exists(SHARED_PATH) ? "CmaTotal:" : "MemTotal:");
  info->max_alloc_bytes = info->memory_bytes;
  info->compute_units = QPU_DEVICE_QPUS;
  info->numa = -1;
}

static uint64_t pi_left(const struct qpu_device *device)
{
  if (device->pi->shared >= 0) return meminfo_bytes("CmaFree:");
  uint64_t all = device->base.info.memory_bytes, held = device->held_bytes;
  return held < all ? all - held : 0;
}

/* ---- giving back ---- */

static struct qpu_pi *volatile in_use;

static atomic_flag table_is_taken = ATOMIC_FLAG_INIT;

static void pi_table_take(void)
{
  while (atomic_flag_test_and_set(&table_is_taken)) poll(NULL, 0, 1);
}

static void table_leave(void)
{
  atomic_flag_clear(&table_is_taken);
}

/* From here to signals_allow no handler sees a table half made: none of this thread, and another
 * thread's waits. */
static void signals_block(sigset_t *before)
{
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
  pi_table_take();
}

static void signals_allow(const sigset_t *before)
{
  table_leave();
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void handle_release(struct qpu_pi *pi, uint32_t *handle)
{
  if (!*handle) return;
  qpu_mailbox_release(pi->mailbox, *handle);
  *handle = 0;
}

/* Only calls that a signal handler can make. */
static void give_back(void)
{
  pi_table_take();
  struct qpu_pi *pi = in_use;
  in_use = NULL;
  for (int h = 0; pi && h < HANDLES_MAX; h++) handle_release(pi, &pi->handles[h]);
  if (pi && pi->on) qpu_mailbox_enable(pi->mailbox, 0);
  if (pi) pi->on = 0;
  table_leave();
}

/* Fatal signals are always handled; the others only if they have the default action. */
static const struct {
  int number, fault;
} endings[] = {{SIGILL, 1},  {SIGABRT, 1}, {SIGBUS, 1},  {SIGFPE, 1},  {SIGSEGV, 1},
               {SIGHUP, 0},  {SIGINT, 0},  {SIGQUIT, 0}, {SIGPIPE, 0}, {SIGALRM, 0},
               {SIGTERM, 0}, {SIGXCPU, 0}, {SIGUSR1, 0}, {SIGUSR2, 0}};
#define ENDINGS (sizeof endings / sizeof endings[0])
static struct sigaction before_us[ENDINGS];

/* Gives memory back, restores the previous action and raises the signal again. */
static void on_signal(int number)
{
  give_back();
  for (size_t e = 0; e < ENDINGS; e++)
    if (endings[e].number == number) sigaction(number, &before_us[e], NULL);
  raise(number);
}

static void handlers_install(void)
{
  static int at_exit;
  struct sigaction ours = {.sa_handler = on_signal};
  sigfillset(&ours.sa_mask);
  for (size_t e = 0; e < ENDINGS; e++) {
    sigaction(endings[e].number, NULL, &before_us[e]);
    if (endings[e].fault || before_us[e].sa_handler == SIG_DFL) sigaction(endings[e].number, &ours, NULL);
  }
  if (!at_exit++) atexit(give_back);
}

static void handlers_remove(void)
{
  struct sigaction now;
  for (size_t e = 0; e < ENDINGS; e++)
    if (sigaction(endings[e].number, NULL, &now) == 0 && now.sa_handler == on_signal)
      sigaction(endings[e].number, &before_us[e], NULL);
}

/* ---- memory ---- */

static status_t too_little(const struct qpu_device *device, size_t bytes, const char *where)
{
  return log_fail(STATUS_ENVIRONMENT, "too little memory for the QPUs: %s more needed, %s free in %s",
                  report_bytes(bytes), report_bytes(pi_left(device)), where);
}

static size_t pi_whole_pages(size_t bytes)
{
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

static status_t shared_alloc(struct qpu_device *device, struct qpu_piece *piece)
{
  struct shared_alloc request = {
      .size = (uint32_t)pi_whole_pages(piece->bytes), .num = 1, .name = "himeno-gpu"};
  if (qpu_system->ioctl(device->pi->shared, SHARED_ALLOC, &request) < 0 || request.file < 0)
    return too_little(device, piece->bytes, "the kernel's CMA (cma= of /boot/firmware/cmdline.txt)");
  void *host = qpu_system->map(request.size, request.file, 0);
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

static status_t firmware_alloc(struct qpu_device *device, struct qpu_piece *piece)
{
  struct qpu_pi *pi = device->pi;
  size_t bytes = pi_whole_pages(piece->bytes);
  uint32_t *handle = pi->handles;
  while (*handle && handle < pi->handles + HANDLES_MAX - 1) handle++;
  if (*handle)
    return log_fail(STATUS_ENVIRONMENT, "more than %d blocks of the firmware's memory are in use",
                    HANDLES_MAX);
  *handle = qpu_mailbox_allocate(pi->mailbox, (uint32_t)bytes, PAGE, pi->chip->flags);
  if (!*handle) return too_little(device, piece->bytes, "the firmware (gpu_mem= of /boot/config.txt)");
  uint32_t bus = qpu_mailbox_lock(pi->mailbox, *handle);
  void *host = bus ? qpu_system->map(bytes, pi->firmware, (off_t)(bus & ~BUS_ALIAS)) : MAP_FAILED;
  if (host == MAP_FAILED) {
    int error = errno;
    handle_release(pi, handle);
    if (!bus) return log_fail(STATUS_ENVIRONMENT, "the firmware does not lock memory that it gave");
    return log_fail(STATUS_ENVIRONMENT,
                    "the firmware's memory cannot be mapped through " FIRMWARE_PATH ": %s", strerror(error));
  }
  piece->handle = *handle;
  piece->file = -1;
  piece->bus = bus;
  piece->host = host;
  return STATUS_OK;
}

static status_t piece_alloc(struct qpu_device *device, struct qpu_piece *piece)
{
  if (!in_use) return log_fail(STATUS_ENVIRONMENT, "the QPUs were given back: the process is ending");
  return device->pi->shared >= 0 ? shared_alloc(device, piece) : firmware_alloc(device, piece);
}

static void piece_free(struct qpu_device *device, struct qpu_piece *piece)
{
  if (!piece->host) return;
  qpu_system->unmap(piece->host, pi_whole_pages(piece->bytes));
  for (int h = 0; piece->handle && h < HANDLES_MAX; h++)
    if (device->pi->handles[h] == piece->handle) handle_release(device->pi, &device->pi->handles[h]);
  if (piece->file >= 0) qpu_system->close(piece->file);
}

static status_t pi_alloc(struct qpu_device *device, struct qpu_piece *piece)
{
  sigset_t before;
  if (piece->bytes > UINT32_MAX - PAGE)
    return too_little(device, piece->bytes, "a machine of 32-bit addresses");
  signals_block(&before);
  status_t status = piece_alloc(device, piece);
  signals_allow(&before);
  return status;
}

static void pi_free(struct qpu_device *device, struct qpu_piece *piece)
{
  sigset_t before;
  signals_block(&before);
  piece_free(device, piece);
  signals_allow(&before);
}

/* ---- opening and closing ---- */

static status_t no_file(const char *path)
{
  int error = errno;
  return log_fail(STATUS_ENVIRONMENT, "%s: %s%s", path, strerror(error),
                  error == EACCES ? ": be root, or a member of the group video" : "");
}

static status_t files_open(struct qpu_pi *pi)
{
  pi->mailbox = qpu_system->open(QPU_MAILBOX_PATH, O_RDWR | O_CLOEXEC);
  if (pi->mailbox < 0) return no_file(QPU_MAILBOX_PATH);
  if (qpu_system->exists(SHARED_PATH)) {
    pi->shared = qpu_system->open(SHARED_PATH, O_RDWR | O_CLOEXEC);
    return pi->shared < 0 ? no_file(SHARED_PATH) : STATUS_OK;
  }
  pi->firmware = qpu_system->open(FIRMWARE_PATH, O_RDWR | O_SYNC | O_CLOEXEC);
  return pi->firmware < 0 ? no_file(FIRMWARE_PATH) : STATUS_OK;
}

static status_t switch_on(struct qpu_pi *pi)
{
  if (qpu_mailbox_enable(pi->mailbox, 1) == 0) {
    pi->on = 1;
    return STATUS_OK;
  }
  return log_fail(STATUS_ENVIRONMENT,
                  "the firmware does not switch the QPUs on: it is older than 2014, or the device tree gives "
                  "them to the kernel (no dtoverlay=vc4-kms-v3d or vc4-fkms-v3d may stand in config.txt)");
}

static void pi_shut(struct qpu_device *device)
{
  struct qpu_pi *pi = device->pi;
  piece_free(device, &pi->control);
  if (pi->on) qpu_mailbox_enable(pi->mailbox, 0);
  if (pi->firmware >= 0) qpu_system->close(pi->firmware);
  if (pi->shared >= 0) qpu_system->close(pi->shared);
  if (pi->mailbox >= 0) qpu_system->close(pi->mailbox);
  free(pi);
}

static status_t pi_open(struct qpu_device *device)
{
  status_t status;
  sigset_t before;
  struct qpu_pi *pi = calloc(1, sizeof *pi);
  if (in_use) {
    free(pi);
    return log_fail(STATUS_ENVIRONMENT, "this process has the Raspberry Pi's QPUs already");
  }
  if (!pi) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a device's record");
  device->pi = pi;
  pi->mailbox = pi->shared = pi->firmware = -1;
  pi->chip = chip_find();
  pi->control.bytes = JOBS_MAX * sizeof(uint32_t[2]);
  TRY(files_open(pi), fail);
  signals_block(&before); /* a signal finds all of it, or nothing */
  handlers_install();
  in_use = pi;
  TRY(switch_on(pi), in_use);
  TRY(piece_alloc(device, &pi->control), in_use);
  signals_allow(&before);
  return STATUS_OK;
in_use:
  in_use = NULL;
  pi_shut(device);
  handlers_remove();
  signals_allow(&before);
  return status;
fail:
  pi_shut(device);
  return status;
}

static void pi_close(struct qpu_device *device)
{
  sigset_t before;
  signals_block(&before);
  in_use = NULL;
  pi_shut(device);
  handlers_remove();
  signals_allow(&before);
}

/* ---- programs ---- */

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
  int failed = qpu_mailbox_execute(pi->mailbox, (uint32_t)n, pi->control.bus, MILLISECONDS);
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
