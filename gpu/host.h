/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Facts of the host that the backends on the host's own memory and cores share. */
#ifndef GPU_HOST_H
#define GPU_HOST_H

#include <stddef.h>
#include <stdint.h>

/** What this process may use, in bytes: the machine's memory, or less where a control group limits
 * it. */
struct host_memory {
  uint64_t total;
  uint64_t available; /**< free now, page cache that can be dropped included */
};

/** Less than this is allocated without a look at what is free: the look reads a dozen files. */
#define HOST_SMALL_BYTES ((size_t)1 << 20)

/** \brief Reads /proc/meminfo and the limits of the process's control group (versions 1 and 2) and
 * its parents. */
void host_memory_read(struct host_memory *memory);

/** \brief The root of sysfs: /sys, or what HIMENO_SYSFS names. */
const char *host_sysfs(void);

/** \brief The first line of a small file of the kernel's, without its end; "" and 0 where there is
 * none. */
int host_read_line(const char *path, char *line, int size);

/** \brief "CPU-" and 16 hex digits: the same for all processes of a host and after a reboot. */
void host_uuid(char *text, size_t size);

/** \brief How many logical CPUs the calling thread may run on; 0 if unknown. */
int host_allowed_cpus(void);

/** \brief OpenMP threads that a parallel region gets: the limit of OMP_THREAD_LIMIT counts too. */
int host_threads(void);

/** \brief Smallest page that mmap deals in, bytes. */
size_t host_page_bytes(void);

#endif
