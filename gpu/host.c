/* SPDX-License-Identifier: MIT */
#include "gpu/host.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/openmp.h"
#include "base/switches.h"

SWITCH("HIMENO_SYSFS", TEST, OWN, FREE("a folder"),
       "folder that replaces `/sys`, where GPUs, network cards and sensors are listed");

#define PATH_BYTES 1024

/** The files of one control group version that hold memory limits and usage. */
struct group_files {
  const char *root, *limit, *usage;
  const char *soft; /**< file of the limit above which processes are throttled; NULL: none */
};

static const struct group_files group_v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                            "memory.usage_in_bytes", NULL};
static const struct group_files group_v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "memory.high"};

size_t host_page_bytes(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* sched_getaffinity fails if the kernel's set of CPUs is larger than `set`, so try larger sets. */
int host_allowed_cpus(void)
{
  for (int size = 1024; size <= 1 << 20; size *= 2) {
    cpu_set_t *set = CPU_ALLOC((size_t)size);
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

/** Reads the first number of a file. Returns 0 if there is no number ("max" means no limit). */
static int host_read_number(const char *folder, const char *file, uint64_t *value)
{
  char path[2 * PATH_BYTES], line[64];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  return host_read_line(path, line, sizeof line) && sscanf(line, "%" SCNu64, value) == 1;
}

/** Reads the value of a line "key value"; leaves *value unchanged if the key is missing. */
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

static void limit_apply(struct host_limit *limit, uint64_t total, uint64_t available, const char *format,
                        const char *name)
{
  if (available >= limit->available) return;
  *limit = (struct host_limit){.total = total, .available = available};
  snprintf(limit->name, sizeof limit->name, format, name);
}

static void apply_group(const struct group_files *files, const char *folder, struct host_memory *memory)
{
  uint64_t limit = UINT64_MAX, soft, used, dropable = 0;
  char stat[PATH_BYTES + 16];
  host_read_number(folder, files->limit, &limit);
  if (files->soft && host_read_number(folder, files->soft, &soft) && soft < limit) limit = soft;
  if (limit >= memory->limit[HOST_MACHINE].total || !host_read_number(folder, files->usage, &used)) return;
  snprintf(stat, sizeof stat, "%s/memory.stat", folder);
  read_keyed(stat, "inactive_file ", &dropable);
  used -= dropable < used ? dropable : used;
  const char *name = folder + strlen(files->root);
  limit_apply(&memory->limit[HOST_GROUP], limit, used < limit ? limit - used : 0, "in control group %.160s",
              *name ? name : "/");
}

/** Applies the limits of a control group and of all its parents, which include the group. */
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

static void read_groups(struct host_memory *memory)
{
  char line[PATH_BYTES];
  FILE *stream = fopen("/proc/self/cgroup", "r");
  if (!stream) return;
  while (fgets(line, sizeof line, stream)) {
    line[strcspn(line, "\n")] = '\0';
    const char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue; /* the rest of a line that is longer than the buffer */
    if (!strncmp(controllers, "::", 2)) apply_groups(&group_v2, group + 1, memory);
    if (!strncmp(controllers, ":memory:", 8)) apply_groups(&group_v1, group + 1, memory);
  }
  fclose(stream);
}

static void read_machine(struct host_memory *memory)
{
  uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * host_page_bytes(), available = total >> 10;
  read_keyed("/proc/meminfo", "MemAvailable:", &available);
  limit_apply(&memory->limit[HOST_MACHINE], total, available << 10, "%s", "on the host");
}

static void read_process_limit(int resource, const char *key, const char *name, struct host_memory *memory)
{
  struct rlimit limit;
  uint64_t used = 0;
  getrlimit(resource, &limit);
  read_keyed("/proc/self/status", key, &used);
  used <<= 10;
  const uint64_t total = limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (uint64_t)limit.rlim_cur;
  /* A 32-bit process cannot address more than SIZE_MAX, with or without a limit. */
  if (total == UINT64_MAX) return;
  limit_apply(&memory->limit[HOST_PROCESS], total, used < total ? total - used : 0, "%s", name);
}

const struct host_limit *host_memory_least(const struct host_memory *memory)
{
  const struct host_limit *least = memory->limit;
  for (int s = 1; s < HOST_SCOPES; s++)
    if (memory->limit[s].available < least->available) least = &memory->limit[s];
  return least;
}

void host_memory_read(struct host_memory *memory)
{
  for (int s = 0; s < HOST_SCOPES; s++)
    memory->limit[s] = (struct host_limit){.total = UINT64_MAX, .available = UINT64_MAX};
  read_machine(memory);
  read_groups(memory);
  read_process_limit(RLIMIT_AS, "VmSize:", "within the address space of this process (ulimit -v)", memory);
  read_process_limit(RLIMIT_DATA, "VmData:", "within the data of this process (ulimit -d)", memory);
  memory->available = host_memory_least(memory)->available;
  memory->total = UINT64_MAX;
  for (int s = 0; s < HOST_SCOPES; s++)
    if (memory->limit[s].total < memory->total) memory->total = memory->limit[s].total;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
  for (; *text; text++) hash = hash_mix(hash ^ (unsigned char)*text);
  return hash;
}

/* The manual page calls the machine's id confidential, so only a hash of it is shown. The host name
 * distinguishes machines made from one image. */
void host_uuid(char *text, size_t size)
{
  char id[64], name[256] = "";
  /* the hash includes the line's end, so that UUIDs stay the same across versions */
  const char *end = host_read_line("/etc/machine-id", id, sizeof id) ? "\n" : "";
  gethostname(name, sizeof name - 1);
  snprintf(text, size, "CPU-%016" PRIx64, hash_text(hash_text(hash_text(0, id), end), name));
}
