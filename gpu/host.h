/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Facts of the host that the backends on the host's own memory and cores share. */
#ifndef GPU_HOST_H
#define GPU_HOST_H

#include <stddef.h>
#include <stdint.h>

/** One limit of host memory, in bytes. A limit that is not set has UINT64_MAX of both. */
struct host_limit {
  uint64_t total;
  uint64_t available; /**< free now, including page cache that can be dropped */
  char name[192];     /**< where, for messages: "on the host", "in control group /job7" */
};

/** Scope of a limit: all processes of the host, those of a control group, or this process alone. */
enum host_scope { HOST_MACHINE, HOST_GROUP, HOST_PROCESS, HOST_SCOPES };

struct host_memory {
  uint64_t total, available; /**< to this process: the least of all limits */
  struct host_limit limit[HOST_SCOPES];
};

/** Less than this is allocated without a look at what is free: the look reads a dozen files. */
#define HOST_SMALL_BYTES ((size_t)1 << 20)

/** \brief Reads /proc/meminfo, the limits of the process's control group (versions 1 and 2) and its
 * parents, and the process's own (RLIMIT_AS and RLIMIT_DATA). */
void host_memory_read(struct host_memory *memory);

/** \brief The limit that leaves least. */
const struct host_limit *host_memory_least(const struct host_memory *memory);

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
