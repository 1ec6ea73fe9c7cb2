/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Facts about the host, for the backends that use its memory and cores. */
#ifndef GPU_HOST_H
#define GPU_HOST_H

#include <stddef.h>
#include <stdint.h>

/** One limit of host memory, in bytes. Both values are UINT64_MAX if the limit is not set. */
struct host_limit {
  uint64_t total;
  uint64_t available; /**< bytes free now, including page cache that can be dropped */
  char name[192];     /**< scope for messages: "on the host", "in control group /job7" */
};

/** Scope of a limit: all processes of the host, those of a control group, or this process alone. */
enum host_scope { HOST_MACHINE, HOST_GROUP, HOST_PROCESS, HOST_SCOPES };

struct host_memory {
  uint64_t total, available; /**< the smallest total and available memory of all limits */
  struct host_limit limit[HOST_SCOPES];
};

/** Allocations below this size do not check free memory first, because that reads a dozen files. */
#define HOST_SMALL_BYTES ((size_t)1 << 20)

/** \brief Reads /proc/meminfo, the limits of the process's control group (versions 1 and 2) and its
 * parents, and the process's own limits (RLIMIT_AS and RLIMIT_DATA). */
void host_memory_read(struct host_memory *memory);

/** \brief Returns the limit with the smallest available memory. */
const struct host_limit *host_memory_least(const struct host_memory *memory);

/** \brief Returns the root of sysfs: /sys, or the folder in HIMENO_SYSFS. */
const char *host_sysfs(void);

/** \brief Reads the first line of a small file, without its end. Returns 0 if there is no line. */
int host_read_line(const char *path, char *line, int size);

/** \brief Writes an identifier of the host, "CPU-" and 16 hex digits. It is equal for all processes
 * of a host, and stays the same after a reboot. */
void host_uuid(char *text, size_t size);

/** \brief Returns the number of logical CPUs that the calling thread may use; 0 if unknown. */
int host_allowed_cpus(void);

/** \brief Returns the number of OpenMP threads of a parallel region, within OMP_THREAD_LIMIT. */
int host_threads(void);

/** \brief Returns the smallest page size of mmap, in bytes. */
size_t host_page_bytes(void);

#endif
