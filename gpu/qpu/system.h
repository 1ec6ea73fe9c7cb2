/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The system calls that the driver of a real Raspberry Pi makes: the boundary at which tests
 * put a firmware of their own. */
#ifndef QPU_SYSTEM_H
#define QPU_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct qpu_system {
  int (*open)(const char *path, int flags);
  int (*close)(int file);
  int (*ioctl)(int file, unsigned long request, void *argument);
  void *(*map)(size_t bytes, int file); /**< shared, to read and write; MAP_FAILED */
  int (*unmap)(void *address, size_t bytes);
  int (*exists)(const char *path);
  /** Reads at most \a size bytes of a file, for example of the device tree; −1 if there is none. */
  ssize_t (*read_file)(const char *path, char *text, size_t size);
};

/** \brief The one in use: the C library's, unless a test says otherwise. */
extern const struct qpu_system *qpu_system;

#endif
