/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The system calls that the driver of a real Raspberry Pi makes: the boundary at which tests
 * put a firmware of their own; and the calls of the firmware. */
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
  /** Reads at most \a size bytes of a file of the device tree or the like; −1 where there is
   * none. */
  ssize_t (*read_file)(const char *path, char *text, size_t size);
};

/** \brief The one in use: the C library's, unless a test says otherwise. */
extern const struct qpu_system *qpu_system;

/* Calls of the Raspberry Pi's firmware through its mailbox, after the "Mailbox property interface"
 * of the firmware's wiki. Each is one ioctl and logs nothing. */

#define QPU_MAILBOX_PATH "/dev/vcio"

/** \brief Switches the QPUs on or off. Nonzero when the firmware refuses. */
int qpu_mailbox_enable(int file, int on);

/** \brief Runs \a n programs, whose pairs of addresses (uniforms, code) lie at bus address \a
 * control, and waits for their interrupt. Nonzero when it did not come within \a milliseconds, −1
 * when the call itself failed. */
int qpu_mailbox_execute(int file, uint32_t n, uint32_t control, uint32_t milliseconds);

#endif
