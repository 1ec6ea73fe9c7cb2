/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/output.h"

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

#define LINKS_MAX     40
#define NAMES_MAX     100
#define READER_TENTHS 20 /* tenths of a second to wait for a pipe's reader */

/** An output file. */
struct target {
  char path[PATH_MAX]; /**< all symbolic links are resolved, so that no link is replaced */
  int plain;           /**< 1 if the path is a plain file or does not exist yet */
  int descriptor;      /**< N if the path leads to /dev/fd/N of this process, otherwise −1 */
  int exists;
  struct stat before; /**< the file's attributes, zeros if it does not exist */
};

static status_t cannot_write(const char *path, int cause)
{
  return log_fail(STATUS_ENVIRONMENT, "cannot write \"%s\": %s", path,
                  cause == ENXIO ? "no process reads this pipe" : strerror(cause));
}

/* Returns the length of the folder part of a path, with the slash; 0 if there is none. */
static int folder_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? (int)(slash - path) + 1 : 0;
}

/* Returns the number N of a path /dev/fd/N in any spelling, otherwise -1. The caller must write to
 * this descriptor: opening the path again would lose the position in the file. */
static int descriptor_of(const char *path)
{
  char folder[PATH_MAX + 1], real[PATH_MAX], own[PATH_MAX];
  const char *name = path + folder_of(path);
  if (!*name || name[strspn(name, "0123456789")]) return -1;
  snprintf(folder, sizeof folder, "%.*s.", folder_of(path), path);
  if (!realpath(folder, real) || !realpath("/proc/self/fd", own) || strcmp(real, own) != 0) return -1;
  const long number = strtol(name, NULL, 10);
  return number <= INT_MAX ? (int)number : -1;
}

/* Follows symbolic links to a target, which need not exist. Returns 0 or an errno. */
static int follow(struct target *target)
{
  char link[PATH_MAX];
  for (int links = 0; links < LINKS_MAX; links++) {
    ssize_t length = -1;
    target->descriptor = descriptor_of(target->path);
    if (target->descriptor < 0) length = readlink(target->path, link, sizeof link - 1);
    if (length < 0) return 0;
    link[length] = '\0';
    const char *slash = strrchr(target->path, '/');
    size_t folder = slash && link[0] != '/' ? (size_t)(slash - target->path) + 1 : 0;
    if (folder + (size_t)length >= sizeof target->path) return ENAMETOOLONG;
    memcpy(target->path + folder, link, (size_t)length + 1);
  }
  return ELOOP;
}

/* Finds the file that \a path leads to. Returns 0, or the errno if nothing can be written there. */
static int target_init(struct target *target, const char *path)
{
  memset(target, 0, sizeof *target);
  if (strlen(path) >= sizeof target->path) return ENAMETOOLONG;
  strcpy(target->path, path);
  int cause = follow(target);
  if (cause) return cause;
  if (target->descriptor == STDOUT_FILENO)
    target->descriptor = output_descriptor();
  else if (target->descriptor == output_descriptor())
    return EBADF; /* output_keep opened this descriptor, not the user */
  if (target->descriptor >= 0) {
    return (fcntl(target->descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY ? EBADF : 0;
  }
  if (stat(target->path, &target->before) != 0) {
    target->plain = 1;
    return errno == ENOENT ? 0 : errno;
  }
  target->exists = 1;
  if (S_ISDIR(target->before.st_mode)) return EISDIR;
  if (faccessat(AT_FDCWD, target->path, W_OK, AT_EACCESS) != 0) return errno;
  target->plain = S_ISREG(target->before.st_mode);
  return 0;
}

int file_is_plain(const char *path)
{
  struct target target;
  return strcmp(path, "-") != 0 && target_init(&target, path) == 0 && target.plain;
}

static int same_inode(const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int same_name(const char *a, const char *b)
{
  char folder[PATH_MAX + 1];
  struct stat info[2];
  const char *const paths[] = {a, b};
  if (strcmp(a + folder_of(a), b + folder_of(b)) != 0) return 0;
  for (int i = 0; i < 2; i++) {
    snprintf(folder, sizeof folder, "%.*s.", folder_of(paths[i]), paths[i]);
    if (stat(folder, &info[i]) != 0) return 0;
  }
  return same_inode(&info[0], &info[1]);
}

int file_is_same(const char *a, const char *b)
{
  struct target x, y;
  int no_x = target_init(&x, a), no_y = target_init(&y, b);
  if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0 || x.descriptor >= 0) return 0;
  if (x.exists || y.exists) return S_ISREG(x.before.st_mode) && same_inode(&x.before, &y.before);
  return !no_x && !no_y && same_name(x.path, y.path);
}

/* ---- input files and open pipes ---- */

/** Files that were read (inputs), and pipes that are kept open (held). */
static struct inodes {
  struct inode {
    struct stat info;
    int descriptor; /**< descriptor of an open pipe, otherwise −1 */
  } * list;
  size_t n;
} inputs, held;

/* Adds a file to the list. If memory runs out, the file is not recorded. */
static int inode_add(struct inodes *inodes, const struct stat *info, int descriptor)
{
  struct inode *longer = realloc(inodes->list, (inodes->n + 1) * sizeof *longer);
  if (!longer) return 0;
  inodes->list = longer;
  longer[inodes->n++] = (struct inode){*info, descriptor};
  return 1;
}

static struct inode *inode_find(const struct inodes *inodes, const struct target *target)
{
  for (size_t i = 0; i < inodes->n; i++)
    if (same_inode(&inodes->list[i].info, &target->before)) return &inodes->list[i];
  return NULL;
}

void file_is_input(const char *path)
{
  struct stat info;
  if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) inode_add(&inputs, &info, -1);
}

/* ---- removal of the draft on a signal ---- */

static const int endings[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGUSR1, SIGUSR2};
#define ENDINGS (sizeof endings / sizeof *endings)
static volatile sig_atomic_t came;

static void file_note(int number)
{
  came = number;
}

/* Use handlers rather than a signal mask: a blocked signal would be delivered to another thread. */
static void signals_hold(struct sigaction before[ENDINGS])
{
  struct sigaction later;
  memset(&later, 0, sizeof later);
  later.sa_handler = file_note;
  later.sa_flags = SA_RESTART;
  came = 0;
  for (size_t e = 0; e < ENDINGS; e++) {
    sigaction(endings[e], NULL, &before[e]);
    if (before[e].sa_handler == SIG_DFL) sigaction(endings[e], &later, NULL);
  }
}

static void signals_release(const struct sigaction before[ENDINGS])
{
  for (size_t e = 0; e < ENDINGS; e++) sigaction(endings[e], &before[e], NULL);
  raise(came); /* 0 sends nothing */
}

/* Writes all bytes. Returns 0, or the errno. */
static int file_put(int descriptor, const char *bytes, size_t size)
{
  while (size > 0) {
    ssize_t n = write(descriptor, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    bytes += n;
    size -= (size_t)n;
  }
  return 0;
}

/* Gives \a draft a unique name in the target's folder. Links the nameless file \a descriptor to
 * that name, or creates a file if \a descriptor is −1. Returns the descriptor, or −1 with errno. */
static int name_take(const struct target *target, int descriptor, char draft[PATH_MAX])
{
  char nameless[32];
  struct timespec now;
  int made = -1;
  snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", descriptor);
  for (int tries = 0; tries < NAMES_MAX; tries++) {
    clock_gettime(CLOCK_REALTIME, &now);
    if (snprintf(draft, PATH_MAX, "%.*s.%lx-%lx.new", folder_of(target->path), target->path, (long)getpid(),
                 now.tv_nsec) >= PATH_MAX) {
      errno = ENAMETOOLONG;
      return -1;
    }
    if (descriptor < 0)
      made = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    else if (linkat(AT_FDCWD, nameless, AT_FDCWD, draft, AT_SYMLINK_FOLLOW) == 0)
      made = descriptor;
    if (made >= 0 || errno != EEXIST) break;
  }
  return made;
}

/* Opens a file without a name, which disappears with the process. If the file system does not
 * support that, opens a named file. */
static int draft_open(const struct target *target, char draft[PATH_MAX])
{
  char folder[PATH_MAX + 1];
  draft[0] = '\0';
  snprintf(folder, sizeof folder, "%.*s.", folder_of(target->path), target->path);
  int descriptor = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor >= 0 && access("/proc/self/fd", X_OK) == 0) return descriptor;
  if (descriptor >= 0) close(descriptor);
  descriptor = name_take(target, -1, draft);
  if (descriptor < 0) draft[0] = '\0';
  return descriptor;
}

/* Gives the draft the permissions and, if that is allowed, the owner of the replaced file. */
static int draft_dress(int descriptor, const struct target *target)
{
  const struct stat *before = &target->before;
  if (!target->exists) return 0;
  int kept = fchown(descriptor, before->st_uid, before->st_gid);
  if (kept != 0) kept = fchown(descriptor, (uid_t)-1, before->st_gid);
  (void)kept; /* only root may change the owner */
  return fchmod(descriptor, before->st_mode & 0777) == 0 ? 0 : errno;
}

/* Returns 0 if another file could be renamed to \a path, otherwise the errno. Tries rmdir, which
 * never removes a file. It fails with EPERM in a sticky folder or for an immutable file, and with
 * ENOTDIR only if the name could be removed. */
static int rename_try(const char *path)
{
  struct statx info;
  if (rmdir(path) != 0 && errno != ENOTDIR && errno != ENOENT) return errno;
  const int known = statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &info) == 0;
  return known && (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) ? EBUSY : 0;
}

/** Result of replacing a file. */
struct attempt {
  int cause;   /**< 0, or the errno of the failure */
  int refused; /**< 1 if the file cannot be replaced, but perhaps overwritten */
};

static struct attempt attempt_of(int cause)
{
  return (struct attempt){cause, cause != 0};
}

/* Writes and renames the draft. If \a bytes is NULL, does every step except these two. */
static struct attempt draft_rename(int descriptor, const struct target *target, char draft[PATH_MAX],
                                   const char *bytes, size_t size)
{
  struct attempt made = attempt_of(draft_dress(descriptor, target));
  if (made.cause) return made;
  int cause = file_put(descriptor, bytes, size);
  if (!cause && bytes && fsync(descriptor) != 0) cause = errno;
  if (cause) return (struct attempt){cause, 0};
  if (!draft[0] && name_take(target, descriptor, draft) < 0) {
    made = attempt_of(errno);
    draft[0] = '\0';
  } else if (!bytes) {
    made = attempt_of(rename_try(target->path));
  } else if (rename(draft, target->path) != 0) {
    made = attempt_of(errno);
  } else {
    draft[0] = '\0';
  }
  return made;
}

/* Replaces a file; if \a bytes is NULL, checks that it could be replaced: see draft_rename. */
static struct attempt replace(const struct target *target, const char *bytes, size_t size)
{
  char draft[PATH_MAX];
  struct sigaction before[ENDINGS];
  struct attempt made;
  signals_hold(before);
  int descriptor = draft_open(target, draft);
  if (descriptor < 0) {
    made = attempt_of(errno);
    made.refused = errno == EACCES || errno == EPERM || errno == EROFS || errno == ENAMETOOLONG;
  } else {
    made = draft_rename(descriptor, target, draft, bytes, size);
    close(descriptor);
    if (draft[0]) unlink(draft);
  }
  signals_release(before);
  return made;
}

/* Opens a file that is overwritten in place. Waits a short time for the reader of a pipe, which may
 * start at the same time as this program. */
static int open_into(const struct target *target)
{
  const struct timespec tenth = {.tv_nsec = 100000000};
  int descriptor;
  struct inode *pipe = inode_find(&held, target);
  if (target->descriptor >= 0) return fcntl(target->descriptor, F_DUPFD_CLOEXEC, 0);
  if (pipe && pipe->descriptor >= 0) {
    descriptor = pipe->descriptor;
    pipe->descriptor = -1;
    return descriptor;
  }
  for (int tenths = 0; tenths < READER_TENTHS; tenths++) {
    descriptor = open(target->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor >= 0 || errno != ENXIO) break;
    nanosleep(&tenth, NULL);
  }
  if (descriptor >= 0) fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  return descriptor;
}

/* Reserves the space before writing, so that a full disk does not leave half a file. */
static int overwrite(int descriptor, const struct target *target, const char *bytes, size_t size)
{
  if (size > 0 && fallocate(descriptor, 0, 0, (off_t)size) != 0 && errno != EOPNOTSUPP && errno != ENOSYS) {
    const int cause = errno, cut = ftruncate(descriptor, target->before.st_size);
    (void)cut;
    return cause;
  }
  int cause = file_put(descriptor, bytes, size);
  if (!cause && (ftruncate(descriptor, (off_t)size) != 0 || fsync(descriptor) != 0)) cause = errno;
  return cause;
}

/* Overwrites a file in place; if \a bytes is NULL, only opens it. A pipe stays open until it is
 * written to, because a reader that sees it closed stops reading. */
static int write_into(const struct target *target, const char *bytes, size_t size)
{
  int descriptor = open_into(target), cause = 0;
  if (descriptor < 0) return errno;
  if (bytes && target->plain)
    cause = overwrite(descriptor, target, bytes, size);
  else if (bytes)
    cause = file_put(descriptor, bytes, size);
  else if (S_ISFIFO(target->before.st_mode) && inode_add(&held, &target->before, descriptor))
    return 0;
  return close(descriptor) != 0 && !cause ? errno : cause;
}

/* Writes \a bytes. If \a bytes is NULL, takes every step except the write, so that a check fails
 * whenever a write would fail. Returns 0, or the errno. */
static int file_write_target(const struct target *target, const char *path, const char *bytes, size_t size)
{
  if (!target->plain) return write_into(target, bytes, size);
  const struct attempt made = replace(target, bytes, size);
  if (!made.refused || !target->exists) return made.cause;
  const int cause = write_into(target, bytes, size);
  /* file_check has already printed this warning if its own attempt was refused */
  if (!cause && (!bytes || !replace(target, NULL, 0).refused))
    log_warn("\"%s\" is overwritten in place, because it cannot be replaced: %s", path, strerror(made.cause));
  return cause;
}

/* Writes to standard output, after flushing the text printed earlier. */
static int write_stdout(const char *bytes, size_t size)
{
  FILE *stream = output_stream();
  int cause = fflush(stream) != 0 ? errno : file_put(fileno(stream), bytes, size);
  if (cause) {
    __fpurge(stream); /* the caller reports the failure, file_flush_stdout need not repeat it */
    clearerr(stream);
  }
  return cause;
}

FILE *file_open_append(const char *path)
{
  struct target target;
  errno = target_init(&target, path);
  if (errno) return NULL;
  if (target.plain) return fopen(path, "a+");
  int descriptor = open_into(&target);
  return descriptor < 0 ? NULL : fdopen(descriptor, "w");
}

status_t file_check(const char *path)
{
  struct target target;
  if (strcmp(path, "-") == 0) return STATUS_OK;
  int cause = target_init(&target, path);
  if (!cause) cause = file_write_target(&target, path, NULL, 0);
  return cause ? cannot_write(path, cause) : STATUS_OK;
}

status_t file_write(const char *path, const void *bytes, size_t size)
{
  struct target target;
  int is_stdout = strcmp(path, "-") == 0, cause = is_stdout ? 0 : target_init(&target, path);
  if (cause) return cannot_write(path, cause);
  if (is_stdout || target.descriptor == output_descriptor())
    cause = write_stdout(bytes, size);
  else if (inode_find(&inputs, &target))
    return log_fail(STATUS_USAGE, "\"%s\" is not written: it is an input of this run", path);
  else
    cause = file_write_target(&target, path, bytes, size);
  return cause ? cannot_write(is_stdout ? "standard output" : path, cause) : STATUS_OK;
}

/* The errno of an earlier failed write is lost: write an empty line to find the cause again. */
status_t file_flush_stdout(void)
{
  FILE *stream = output_stream();
  if (fflush(stream) != 0) return cannot_write("standard output", errno);
  if (!ferror(stream)) return STATUS_OK;
  fputc('\n', stream);
  if (fflush(stream) != 0) return cannot_write("standard output", errno);
  return log_fail(STATUS_ENVIRONMENT, "cannot write \"standard output\": a part of it was lost");
}
