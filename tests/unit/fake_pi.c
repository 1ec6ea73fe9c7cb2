/* SPDX-License-Identifier: MIT */
#include "tests/unit/fake_pi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h> /* MAP_FAILED */

#include "gpu/qpu/emulator/emu.h"
#include "gpu/qpu/system.h"

#define MEMORY_BYTES ((size_t)256 << 20)
#define BUS_BASE     0xc1000000u /* bus address of the memory: an alias and an offset */
#define PAGE         4096u
#define JOBS_MAX     12
#define PIECES       128

enum { FILE_MAILBOX = 1000, FILE_SHARED, FILE_MEMORY = 2000 };
enum { EXECUTE = 0x30011, ENABLE = 0x30012 };

static struct qpu_emu *emu;
static uint32_t pieces[PIECES]; /* bus addresses */
static uint64_t held;
static uint32_t bytes_of[PIECES];
static struct fake_pi the_pi;
struct fake_pi *const fake_pi = &the_pi;

static int piece_new(uint32_t bytes)
{
  for (int p = 0; p < PIECES; p++) {
    if (pieces[p]) continue;
    if (bytes > MEMORY_BYTES - held || qpu_memory_alloc(qpu_emu_memory(emu), bytes, &pieces[p]) != STATUS_OK)
      return -1;
    bytes_of[p] = bytes;
    held += bytes;
    return p;
  }
  return -1;
}

static void piece_drop(int p)
{
  qpu_memory_free(qpu_emu_memory(emu), pieces[p]);
  held -= bytes_of[p];
  pieces[p] = 0;
}

/* ---- files ---- */

static int fake_open(const char *path, int flags)
{
  (void)flags;
  int file = strcmp(path, "/dev/vcio") == 0       ? FILE_MAILBOX
             : strcmp(path, "/dev/vcsm-cma") == 0 ? FILE_SHARED
                                                  : -1;
  if (file < 0) fake_pi->raw_opens++;
  errno = fake_pi->forbids_open ? EACCES : ENOENT;
  if (file < 0 || fake_pi->forbids_open) return -1;
  fake_pi->open_files++;
  return file;
}

static int fake_close(int file)
{
  if (file < FILE_MEMORY) {
    fake_pi->open_files--;
    return 0;
  }
  fake_pi->open_memories--;
  piece_drop(file - FILE_MEMORY);
  return 0;
}

static int fake_exists(const char *path)
{
  if (strcmp(path, "/dev/vcio") == 0) return fake_pi->has_vcio;
  if (strcmp(path, "/dev/vcsm-cma") == 0) return fake_pi->has_shared;
  if (strcmp(path, "/sys/module/vc4") == 0) return fake_pi->has_kms;
  return fake_pi->config_path && strcmp(path, fake_pi->config_path) == 0;
}

static ssize_t fake_read_file(const char *path, char *text, size_t size)
{
  if (strcmp(path, "/proc/device-tree/compatible") == 0) {
    if (!fake_pi->compatible) return -1;
    size_t n = fake_pi->compatible_bytes < size ? fake_pi->compatible_bytes : size;
    memcpy(text, fake_pi->compatible, n);
    return (ssize_t)n;
  }
  if (strcmp(path, "/proc/device-tree/model") == 0) return snprintf(text, size, "Raspberry Pi of the tests");
  if (strcmp(path, "/proc/meminfo") == 0)
    return snprintf(text, size, "MemTotal: %zu kB\nCmaTotal: %zu kB\nCmaFree: %zu kB\n", MEMORY_BYTES >> 10,
                    MEMORY_BYTES >> 10, (size_t)(MEMORY_BYTES - held) >> 10);
  if (fake_pi->config_path && strcmp(path, fake_pi->config_path) == 0)
    return snprintf(text, size, "%s", fake_pi->config);
  return -1;
}

/* ---- memory ---- */

static void *fake_map(size_t bytes, int file)
{
  const int p = file - FILE_MEMORY;
  errno = fake_pi->refuses_map ? EPERM : EINVAL;
  if (fake_pi->refuses_map || p < 0 || p >= PIECES || !pieces[p] || bytes_of[p] != bytes) return MAP_FAILED;
  fake_pi->mapped++;
  return qpu_memory_at(qpu_emu_memory(emu), pieces[p]);
}

static int fake_unmap(void *address, size_t bytes)
{
  (void)address, (void)bytes;
  fake_pi->mapped--;
  return 0;
}

struct shared_alloc {
  uint32_t size, num, cached, pad;
  char name[32];
  int32_t file;
  uint32_t vc_handle;
  uint64_t bus;
};

static int shared_alloc(struct shared_alloc *request)
{
  int p = request->size % PAGE ? -1 : piece_new(request->size);
  if (p < 0) {
    errno = ENOMEM;
    return -1;
  }
  fake_pi->open_memories++;
  request->file = FILE_MEMORY + p;
  request->bus = pieces[p];
  return 0;
}

/* ---- the firmware ---- */

static uint32_t firmware_execute(const uint32_t *values)
{
  struct qpu_job jobs[JOBS_MAX];
  if (values[0] > JOBS_MAX || !fake_pi->enabled || fake_pi->times_out) return 1u << 31;
  const uint32_t *control = qpu_memory_at(qpu_emu_memory(emu), values[1]);
  for (uint32_t j = 0; j < values[0]; j++) jobs[j] = (struct qpu_job){control[2 * j + 1], control[2 * j]};
  fake_pi->executes++;
  return qpu_emu_run(emu, jobs, values[0]) == STATUS_OK ? 0 : 1u << 31;
}

static uint32_t firmware_enable(uint32_t on)
{
  if (on && (fake_pi->refuses_enable || fake_pi->has_kms)) return 1u << 31;
  fake_pi->enabled = (int)on;
  fake_pi->enables += (int)on;
  return 0;
}

/* A property call has a size, a code, tags and 0, as the firmware's wiki has it. Here: one tag. */
static int property_call(uint32_t *words)
{
  uint32_t *values = words + 5, tag = words[2];
  if (words[0] % 4 || words[0] < 24 || words[1] != 0 || words[words[0] / 4 - 1] != 0) {
    errno = EINVAL;
    return -1;
  }
  if (tag == EXECUTE && fake_pi->refuses_execute) {
    errno = EPERM;
    return -1;
  }
  words[1] = 0x80000000u;
  words[4] = 0x80000004u;
  if (tag == EXECUTE)
    *values = firmware_execute(values);
  else if (tag == ENABLE)
    *values = firmware_enable(*values);
  else
    words[4] = 0;
  return 0;
}

static int fake_ioctl(int file, unsigned long request, void *argument)
{
  (void)request;
  if (file == FILE_MAILBOX) return property_call(argument);
  if (file == FILE_SHARED) return shared_alloc(argument);
  errno = EBADF;
  return -1;
}

static const struct qpu_system fake = {fake_open,  fake_close,  fake_ioctl,    fake_map,
                                       fake_unmap, fake_exists, fake_read_file};

void fake_pi_be(const char *chip)
{
  static char compatible[64];
  struct qpu_emu_config config = {.memory_bytes = MEMORY_BYTES, .base = BUS_BASE - PAGE};
  if (!emu && qpu_emu_create(&config, &emu) != STATUS_OK) return;
  int n = snprintf(compatible, sizeof compatible, "raspberrypi,some-model%cbrcm,%s", 0, chip);
  *fake_pi = (struct fake_pi){
      .compatible = compatible, .compatible_bytes = (size_t)n + 1, .has_vcio = 1, .has_shared = 1};
  qpu_system = &fake;
}

int fake_pi_is_clean(void)
{
  return !fake_pi->enabled && !fake_pi->open_files && !fake_pi->open_memories && !fake_pi->mapped;
}
