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
  void *(*map)(size_t bytes, int file, off_t offset); /**< shared, to read and write; MAP_FAILED */
  int (*unmap)(void *address, size_t bytes);
  int (*exists)(const char *path);
  /** Reads at most \a size bytes of a file of the device tree or the like; −1 where there is
   * none. */
  ssize_t (*read_file)(const char *path, char *text, size_t size);
};

/** \brief The one in use: the C library's, unless a test says otherwise. */
extern const struct qpu_system *qpu_system;

/* Calls of the Raspberry Pi's firmware through its mailbox, after the "Mailbox property interface"
 * of the firmware's wiki. Each is one ioctl and says nothing, so that a signal handler can make
 * it. */

#define QPU_MAILBOX_PATH "/dev/vcio"

/** Memory flags of the firmware: the alias of the bus address selects the caches of a QPU's
 * accesses. */
enum qpu_mailbox_flags {
  QPU_MEMORY_DIRECT = 1 << 2,  /**< alias 0xc: past the VideoCore's L2 cache */
  QPU_MEMORY_COHERENT = 1 << 3 /**< with DIRECT: alias 0x4, through the L2 cache, in no L1 */
};

/** \brief Switches the QPUs on or off. Nonzero when the firmware refuses. */
int qpu_mailbox_enable(int file, int on);

/** \brief Handle of \a bytes at a multiple of \a alignment, 0 when there is none. */
uint32_t qpu_mailbox_allocate(int file, uint32_t bytes, uint32_t alignment, uint32_t flags);
/** \brief Bus address, at which the memory stays until it is unlocked; 0 when it cannot be
 * locked. */
uint32_t qpu_mailbox_lock(int file, uint32_t handle);
/** \brief Unlocks the memory, if it is locked, and gives it back. */
void qpu_mailbox_release(int file, uint32_t handle);

/** \brief Runs \a n programs, whose pairs of addresses (uniforms, code) lie at bus address \a
 * control, and waits for their interrupt. Nonzero when it did not come within \a milliseconds, −1
 * when the call itself failed. */
int qpu_mailbox_execute(int file, uint32_t n, uint32_t control, uint32_t milliseconds);

#endif
