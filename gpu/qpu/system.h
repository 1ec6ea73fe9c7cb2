/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The system calls of the driver for a real Raspberry Pi. Tests replace them to simulate the
 * firmware. */
#ifndef QPU_SYSTEM_H
#define QPU_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct qpu_system {
  int (*open)(const char *path, int flags);
  int (*close)(int file);
  int (*ioctl)(int file, unsigned long request, void *argument);
  /** maps shared memory for reading and writing; MAP_FAILED on errors */
  void *(*map)(size_t bytes, int file);
  int (*unmap)(void *address, size_t bytes);
  int (*exists)(const char *path);
  /** Reads at most \a size bytes of a file, for example of the device tree; −1 if there is none. */
  ssize_t (*read_file)(const char *path, char *text, size_t size);
};

/** \brief The system calls in use: those of the C library, unless a test replaces them. */
extern const struct qpu_system *qpu_system;

#endif
