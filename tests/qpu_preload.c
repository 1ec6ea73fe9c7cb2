/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A Raspberry Pi's mailbox and memory for programs that were written for one: preloaded, it
 * stands behind /dev/vcio, /dev/mem and /dev/vc4mem, and the emulator runs what they execute.
 *
 * scripts/qpu-published builds and uses it. Broken rules are warned of; registers of the V3D can be
 * mapped and do nothing, so programs that start QPUs through them wait in vain. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "gpu/qpu/emulator/emu.h"

#define MEMORY_BYTES ((size_t)320 << 20)
#define BUS_BASE     0xc1000000u
#define PAGE         4096u
#define BUS_MASK     0x3fffffffu /* without the alias, which chooses caches */
#define MAX_PIECES   4096
#define MAX_FILES    64
#define MAX_JOBS     64

enum { ALLOCATE = 0x3000c, LOCK, UNLOCK, RELEASE, EXECUTE = 0x30011, ENABLE = 0x30012 };
enum { IS_MAILBOX = 1, IS_MEMORY };

static struct qpu_emu *emu;
static uint32_t pieces[MAX_PIECES]; /* bus addresses, by handle less one */
static struct {
  int file, is;
} files[MAX_FILES];

static void start(void)
{
  struct qpu_emu_config config = {.memory_bytes = MEMORY_BYTES, .base = BUS_BASE - PAGE};
  if (emu) return;
  qpu_emu_set_rules(&config, QPU_WARN);
  log_set_program("qpu");
  if (qpu_emu_create(&config, &emu) != STATUS_OK) exit(3);
}

static int kind_of(int file)
{
  for (int i = 0; i < MAX_FILES; i++)
    if (files[i].is && files[i].file == file) return files[i].is;
  return 0;
}

/* A file of our own instead of a device; 0 where it is none of them. */
static int device_of(const char *path)
{
  if (strcmp(path, "/dev/vcio") == 0 || strcmp(path, "char_dev") == 0) return IS_MAILBOX;
  if (strcmp(path, "/dev/mem") == 0 || strcmp(path, "/dev/vc4mem") == 0) return IS_MEMORY;
  return 0;
}

static int open_anyway(int folder, const char *path, int flags, int mode)
{
  static int (*real)(int, const char *, int, ...);
  if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
  int is = device_of(path);
  if (!is) return real(folder, path, flags, mode);
  start();
  int file = real(AT_FDCWD, "/dev/null", O_RDWR);
  for (int i = 0; file >= 0 && i < MAX_FILES; i++)
    if (!files[i].is) {
      files[i].file = file;
      files[i].is = is;
      break;
    }
  return file;
}

#define OPENS(name)                                                                                          \
  int name(const char *path, int flags, ...)                                                                 \
  {                                                                                                          \
    va_list list;                                                                                            \
    va_start(list, flags);                                                                                   \
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;                                        \
    va_end(list);                                                                                            \
    return open_anyway(AT_FDCWD, path, flags, mode);                                                         \
  }
OPENS(open)
OPENS(open64)

int close(int file)
{
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "close");
  for (int i = 0; i < MAX_FILES; i++)
    if (files[i].is && files[i].file == file) files[i].is = 0;
  return real(file);
}

static uint32_t allocate(uint32_t bytes)
{
  for (uint32_t p = 0; p < MAX_PIECES; p++)
    if (!pieces[p]) return qpu_memory_alloc(qpu_emu_memory(emu), bytes, &pieces[p]) == STATUS_OK ? p + 1 : 0;
  return 0;
}

static uint32_t execute(uint32_t n, uint32_t control)
{
  struct qpu_job jobs[MAX_JOBS];
  if (n > MAX_JOBS || !qpu_memory_ok(qpu_emu_memory(emu), control, n * 8)) return 1u << 31;
  const uint32_t *pairs = qpu_memory_at(qpu_emu_memory(emu), control);
  for (uint32_t j = 0; j < n; j++) jobs[j] = (struct qpu_job){pairs[2 * j + 1], pairs[2 * j]};
  status_t status = qpu_emu_run(emu, jobs, n);
  qpu_emu_warn(emu);
  return status == STATUS_OK ? 0 : 1u << 31;
}

static uint32_t answer(uint32_t tag, const uint32_t *values)
{
  uint32_t handle = values[0], piece = handle - 1 < MAX_PIECES ? pieces[handle - 1] : 0;
  switch (tag) {
  case ALLOCATE:
    return allocate(values[0]);
  case LOCK:
    return piece;
  case RELEASE:
    if (piece) qpu_memory_free(qpu_emu_memory(emu), piece);
    if (piece) pieces[handle - 1] = 0;
    return 0;
  case EXECUTE:
    return execute(values[0], values[1]);
  default:
    return 0;
  }
}

int ioctl(int file, unsigned long request, ...)
{
  static int (*real)(int, unsigned long, void *);
  va_list list;
  va_start(list, request);
  uint32_t *words = va_arg(list, uint32_t *);
  va_end(list);
  if (!real) real = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
  if (kind_of(file) != IS_MAILBOX) return real(file, request, words);
  words[5] = answer(words[2], words + 5);
  words[1] = 0x80000000u;
  words[4] = 0x80000004u;
  return 0;
}

static void *map(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
  static void *(*real)(void *, size_t, int, int, int, off_t);
  if (!real) real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  if (file < 0 || kind_of(file) != IS_MEMORY) return real(at, bytes, access, flags, file, offset);
  uint32_t bus = ((uint32_t)offset & BUS_MASK) | (BUS_BASE & ~BUS_MASK);
  if (qpu_memory_ok(qpu_emu_memory(emu), bus, 4)) return qpu_memory_at(qpu_emu_memory(emu), bus);
  return real(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void *mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
  return map(at, bytes, access, flags, file, offset);
}

void *mmap64(void *at, size_t bytes, int access, int flags, int file, off64_t offset)
{
  return map(at, bytes, access, flags, file, offset);
}

int munmap(void *at, size_t bytes)
{
  static int (*real)(void *, size_t);
  if (!real) real = (int (*)(void *, size_t))dlsym(RTLD_NEXT, "munmap");
  const uint8_t *memory = emu ? qpu_emu_memory(emu)->bytes : NULL;
  if (memory && (uint8_t *)at >= memory && (uint8_t *)at < memory + qpu_emu_memory(emu)->size) return 0;
  return real(at, bytes);
}
