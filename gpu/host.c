/* SPDX-License-Identifier: MIT */
#include <config.h>

#include "gpu/host.h"

#include <inttypes.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/switches.h"

#define PATH_BYTES 1024

/** Where one version of the control groups keeps its memory figures. */
struct group_files {
  const char *root, *limit, *usage;
};

static const struct group_files group_v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                            "memory.usage_in_bytes"};
static const struct group_files group_v2 = {"/sys/fs/cgroup", "memory.max", "memory.current"};

size_t host_page_bytes(void)
{
  long bytes = sysconf(_SC_PAGESIZE);
  return bytes > 0 ? (size_t)bytes : 4096;
}

/* The set is made larger until the kernel's fits. */
int host_allowed_cpus(void)
{
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    cpu_set_t *set = CPU_ALLOC((size_t)size);
    if (!set) return 0;
    int known = !sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)size), set);
    int n = known ? CPU_COUNT_S(CPU_ALLOC_SIZE((size_t)size), set) : 0;
    CPU_FREE(set);
    if (known) return n;
  }
  return 0;
}

const char *host_sysfs(void)
{
  const char *root = switch_text("HIMENO_SYSFS");
  return root ? root : "/sys";
}

int host_threads(void)
{
  const int most = omp_get_max_threads(), limit = omp_get_thread_limit();
  return limit < most ? limit : most;
}

int host_read_line(const char *path, char *line, int size)
{
  FILE *stream = fopen(path, "r");
  line[0] = '\0';
  if (!stream) return 0;
  int some = fgets(line, size, stream) != NULL;
  line[strcspn(line, "\n")] = '\0';
  fclose(stream);
  return some;
}

/** The first number of a file; 0 when there is none ("max" means no limit). */
static int read_number(const char *folder, const char *file, uint64_t *value)
{
  char path[2 * PATH_BYTES], line[64];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  return host_read_line(path, line, sizeof line) && sscanf(line, "%" SCNu64, value) == 1;
}

/** The value of "key value" in a file of such lines; stays as it is when the key is not there. */
static void read_keyed(const char *path, const char *key, uint64_t *value)
{
  char line[256];
  size_t length = strlen(key);
  FILE *stream = fopen(path, "r");
  if (!stream) return;
  while (fgets(line, sizeof line, stream))
    if (!strncmp(line, key, length) && sscanf(line + length, " %" SCNu64, value) == 1) break;
  fclose(stream);
}

static void apply_group(const struct group_files *files, const char *folder, struct host_memory *memory)
{
  uint64_t limit, used, dropable = 0;
  char stat[PATH_BYTES + 16];
  if (!read_number(folder, files->limit, &limit) || !read_number(folder, files->usage, &used)) return;
  snprintf(stat, sizeof stat, "%s/memory.stat", folder);
  read_keyed(stat, "inactive_file ", &dropable);
  used -= dropable < used ? dropable : used;
  uint64_t left = used < limit ? limit - used : 0;
  if (limit < memory->total) memory->total = limit;
  if (left < memory->available) memory->available = left;
}

/** A group's limit binds all groups below it, so the way up to the root counts. */
static void apply_groups(const struct group_files *files, const char *group, struct host_memory *memory)
{
  char folder[PATH_BYTES];
  size_t root = strlen(files->root);
  if ((size_t)snprintf(folder, sizeof folder, "%s%s", files->root, group) >= sizeof folder) return;
  for (;;) {
    apply_group(files, folder, memory);
    char *slash = strrchr(folder, '/');
    if (!slash || (size_t)(slash - folder) < root) return;
    *slash = '\0';
  }
}

void host_memory_read(struct host_memory *memory)
{
  char line[PATH_BYTES];
  long pages = sysconf(_SC_PHYS_PAGES);
  memory->total = pages > 0 ? (uint64_t)pages * host_page_bytes() : 0;
  memory->available = memory->total >> 10;
  read_keyed("/proc/meminfo", "MemAvailable:", &memory->available);
  memory->available <<= 10;
  /* A process of 32 bits has no use for more than it can address. */
  const uint64_t limit = SIZE_MAX;
  if (memory->total > limit) memory->total = limit;
  if (memory->available > memory->total) memory->available = memory->total;

  FILE *stream = fopen("/proc/self/cgroup", "r");
  if (!stream) return;
  while (fgets(line, sizeof line, stream)) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    if (!strncmp(controllers, "::", 2)) apply_groups(&group_v2, group + 1, memory);
    if (!strncmp(controllers, ":memory:", 8)) apply_groups(&group_v1, group + 1, memory);
  }
  fclose(stream);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
  for (; *text; text++) hash = hash_mix(hash ^ (unsigned char)*text);
  return hash;
}

/* The machine's id is confidential by its manual page, so only a hash of it is shown; the host's
 * name tells apart machines that were made from one image. */
void host_uuid(char *text, size_t size)
{
  char id[64], name[256] = "";
  /* its line's end has always been a part of it */
  const char *end = host_read_line("/etc/machine-id", id, sizeof id) ? "\n" : "";
  gethostname(name, sizeof name - 1);
  snprintf(text, size, "CPU-%016" PRIx64, hash_text(hash_text(hash_text(0, id), end), name));
}
