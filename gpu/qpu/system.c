/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/system.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int system_open(const char *path, int flags)
{
  return open(path, flags);
}

static int system_ioctl(int file, unsigned long request, void *argument)
{
  return ioctl(file, request, argument);
}

static void *system_map(size_t bytes, int file)
{
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static int system_exists(const char *path)
{
  return access(path, F_OK) == 0;
}

static ssize_t system_read_file(const char *path, char *text, size_t size)
{
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t n = read(file, text, size);
  close(file);
  return n;
}

static const struct qpu_system real = {system_open, close,         system_ioctl,    system_map,
                                       munmap,      system_exists, system_read_file};
const struct qpu_system *qpu_system = &real;
