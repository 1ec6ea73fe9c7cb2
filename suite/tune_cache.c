/* SPDX-License-Identifier: MIT */
#include "suite/tune_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/document.h"
#include "base/file.h"
#include "base/log.h"
#include "base/switches.h"

#define SCHEMA      "himeno-tune/1"
#define LOCK_TENTHS 20 /* of a second; others hold it for a moment */

/* The document, or a new one where there is none, with *trouble where it is damaged. NULL, with
 * why, where what is there cannot be opened or is not ours: it is not to be lost. */
static json_t *cache_read(const char *path, const char **trouble)
{
  json_error_t error;
  FILE *file = file_open_regular(path);
  *trouble = file || errno == ENOENT || errno == ENOTDIR ? NULL : strerror(errno);
  if (*trouble) return NULL;
  json_t *document = file ? json_loadf(file, 0, &error) : NULL;
  const char *schema = json_string_value(json_object_get(document, "schema"));
  int empty = !file || (fseek(file, 0, SEEK_END) == 0 && ftell(file) == 0);
  int ours = schema && strcmp(schema, SCHEMA) == 0;
  if (file) fclose(file);
  if (ours && json_is_object(json_object_get(document, "choices"))) return document;
  json_decref(document);
  if (file)
    *trouble =
        ours || empty ? "it is damaged" : "it is not a file of remembered kernels, so it is not changed";
  return ours || empty ? json_pack("{s:s, s:{}}", "schema", SCHEMA, "choices") : NULL;
}

int tune_cache_find(const char *key, char *kernel, size_t size)
{
  char path[PATH_MAX];
  const char *trouble;
  if (!switch_tune_cache(path)) return 0;
  json_t *document = cache_read(path, &trouble);
  if (trouble) log_warn("%s: %s: no choice of kernel is remembered", path, trouble);
  const char *name = json_string_value(
      json_object_get(json_object_get(json_object_get(document, "choices"), key), "kernel"));
  int found = name && name[0] && strlen(name) < size;
  if (found) memcpy(kernel, name, strlen(name) + 1);
  json_decref(document);
  return found;
}

/* Makes the folders on the way to \a path. */
static int folders_make(const char *path)
{
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", path);
  for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return 0;
    *slash = '/';
  }
  return 1;
}

/* Waits for the file's only writer to be us, but not for ever; −1, with errno, if that cannot
 * be. */
static int lock_take(const char *path)
{
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%.*s" SWITCH_TUNE_LOCK, PATH_MAX - (int)sizeof SWITCH_TUNE_LOCK, path);
  int lock = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock < 0) return -1;
  for (int tenths = 0; tenths < LOCK_TENTHS; tenths++) {
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno != EWOULDBLOCK) break;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  }
  int cause = errno;
  close(lock);
  errno = cause;
  return -1;
}

/* With the lock held, if there could be one. */
static const char *choice_add(const char *path, const char *key, const char *kernel, double gflops)
{
  struct doc choice;
  const char *trouble;
  json_t *document = cache_read(path, &trouble);
  if (!document) return trouble;
  doc_open(&choice, 0);
  doc_text(&choice, "kernel", 0, "", kernel);
  doc_real(&choice, "gflops", 0, "GFLOPS", "", gflops);
  doc_time(&choice);
  int muted = log_mute(1),
      stored = json_object_set_new(json_object_get(document, "choices"), key, doc_close(&choice)) == 0;
  stored = stored && document_write(document, path) == STATUS_OK;
  log_mute(muted);
  json_decref(document);
  return stored ? NULL : "it cannot be written";
}

int tune_cache_store(const char *key, const char *kernel, double gflops)
{
  char path[PATH_MAX];
  const char *trouble;
  int lock = -1;
  if (!switch_tune_cache(path)) return 0;
  json_t *there = cache_read(path, &trouble); /* no lock beside what is not ours */
  if (there) {
    lock = folders_make(path) ? lock_take(path) : -1;
    trouble = lock < 0 ? strerror(errno) : choice_add(path, key, kernel, gflops);
  }
  json_decref(there);
  if (lock >= 0) close(lock);
  if (trouble) log_warn("the choice of kernel is not remembered: %s: %s", path, trouble);
  return !trouble;
}
