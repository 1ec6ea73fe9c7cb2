/* SPDX-License-Identifier: MIT */
/* Shared memory is a mapping of an unnamed file in memory, which disappears with the last process
 * that maps it. Other processes open it through the owner's open files under /proc. A random mark
 * after the data identifies the memory. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"
#include "gpu/host.h"
#include "gpu/host_share.h"

struct shared {
  struct shared *next;
  void *start;
  size_t map_bytes;
  int file;
  uint64_t mark;
};

/* The contents of gpu_share.handle. */
struct offer {
  int process, file;
  uint64_t mark, map_bytes;
};

static struct shared *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the size of the mapping for \a bytes bytes and the mark, which has its own page. */
static size_t map_size(size_t bytes)
{
  size_t page = host_page_bytes();
  return (bytes + page - 1) / page * page + page;
}

static uint64_t *mark_place(void *start, size_t map_bytes)
{
  return (uint64_t *)((char *)start + map_bytes - host_page_bytes());
}

static int map_new(struct shared *s)
{
  s->file = memfd_create("himeno", MFD_CLOEXEC);
  if (s->file < 0) return 0;
  /* With PID namespaces, another process may have the same PID as this one, so the mark is
   * random. */
  if (ftruncate(s->file, (off_t)s->map_bytes) == 0 && getrandom(&s->mark, sizeof s->mark, 0) > 0) {
    s->start = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->file, 0);
    if (s->start != MAP_FAILED) return 1;
  }
  close(s->file);
  return 0;
}

void *host_share_alloc(size_t bytes)
{
  struct shared *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->map_bytes = map_size(bytes);
  if (!map_new(s)) {
    free(s);
    return NULL;
  }
  *mark_place(s->start, s->map_bytes) = s->mark;
  pthread_mutex_lock(&lock);
  s->next = all;
  all = s;
  pthread_mutex_unlock(&lock);
  return s->start;
}

int host_share_free(void *memory)
{
  struct shared *found = NULL;
  pthread_mutex_lock(&lock);
  for (struct shared **link = &all; *link && !found; link = &(*link)->next) {
    if ((*link)->start != memory) continue;
    found = *link;
    *link = found->next;
    break;
  }
  pthread_mutex_unlock(&lock);
  if (!found) return 0;
  munmap(found->start, found->map_bytes);
  close(found->file);
  free(found);
  return 1;
}

status_t host_share_offer(struct gpu_mem mem, struct gpu_share *share)
{
  struct offer offer = {.process = 0};
  _Static_assert(sizeof offer <= sizeof share->handle, "it fits");
  pthread_mutex_lock(&lock);
  for (const struct shared *s = all; s; s = s->next)
    if (s->start == mem.handle)
      offer =
          (struct offer){.process = getpid(), .file = s->file, .mark = s->mark, .map_bytes = s->map_bytes};
  pthread_mutex_unlock(&lock);
  if (!offer.process) return log_fail(STATUS_FAULT, "this memory was not allocated to be shared");
  *share = (struct gpu_share){.bytes = mem.bytes};
  memcpy(share->handle, &offer, sizeof offer);
  return STATUS_OK;
}

int host_share_attach(const struct gpu_share *share, struct gpu_mem *mem, char reason[GPU_TEXT_MAX])
{
  struct offer offer;
  char path[64];
  memcpy(&offer, share->handle, sizeof offer);
  snprintf(path, sizeof path, "/proc/%d/fd/%d", offer.process, offer.file);
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) {
    snprintf(reason, GPU_TEXT_MAX, "the neighbour's memory cannot be opened: %.60s", strerror(errno));
    return 0;
  }
  void *start = MAP_FAILED;
  if (lseek(file, 0, SEEK_END) == (off_t)offer.map_bytes)
    start = mmap(NULL, offer.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (start == MAP_FAILED || *mark_place(start, offer.map_bytes) != offer.mark) {
    if (start != MAP_FAILED) munmap(start, offer.map_bytes);
    snprintf(reason, GPU_TEXT_MAX, "the neighbour's memory is not in this host's");
    return 0;
  }
  *mem = (struct gpu_mem){start, share->bytes};
  return 1;
}

void host_share_detach(struct gpu_mem *mem)
{
  munmap(mem->handle, map_size(mem->bytes));
}
