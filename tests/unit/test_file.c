/* SPDX-License-Identifier: MIT */
/* Writing to a name that a user gave: the file that changes, the properties that it keeps, and the
 * files that a signal during the write leaves. */
#include "tests/unit/text_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/log.h"
#include "tests/unit/capture.h"

static char folder[] = "/tmp/test_file.XXXXXX";

/* ---- simulated properties of the system ---- */

static int at_the_draft; /* a signal that arrives when the draft is complete */
static int no_nameless;  /* 1: files need a name from the start */
static int no_chmod;     /* 1: the file system has no permissions */
static int no_rename;    /* 1: the file is a mount point, which an older kernel does not report */
static int writes_left;  /* writes of a byte and interrupted ones; the last writes nothing */

int fsync(int descriptor)
{
  if (at_the_draft) raise(at_the_draft);
  return (int)syscall(SYS_fsync, descriptor);
}

int access(const char *path, int mode)
{
  if (no_nameless && strcmp(path, "/proc/self/fd") == 0) return errno = ENOENT, -1;
  return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

int fchmod(int descriptor, mode_t mode)
{
  if (no_chmod) return errno = EPERM, -1;
  return (int)syscall(SYS_fchmod, descriptor, mode);
}

int rename(const char *from, const char *to)
{
  if (no_rename) return errno = EBUSY, -1;
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

ssize_t write(int descriptor, const void *bytes, size_t size)
{
  if (writes_left > 0 && --writes_left == 0) return 0;
  if (writes_left % 2) return errno = EINTR, -1;
  return syscall(SYS_write, descriptor, bytes, writes_left > 0 ? 1 : size);
}

/* ---- the folder ---- */

static int enter(void **state)
{
  log_hold(1);
  strcpy(folder + strlen(folder) - 6, "XXXXXX");
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
  char command[256];
  log_drop();
  at_the_draft = no_nameless = no_chmod = no_rename = writes_left = 0;
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return chdir("/") == 0 ? system(command) : -1;
}

static void assert_files(int expected)
{
  int n = -2; /* the entries "." and ".." */
  DIR *directory = opendir(".");
  while (readdir(directory)) n++;
  closedir(directory);
  assert_int_equal(n, expected);
}

static status_t write_new(const char *path)
{
  return file_write(path, "new", 3);
}

/* ---- which file ---- */

TEST_WITH(a_link_stays_and_its_target_is_made_or_replaced, enter, leave)
{
  char name[64];
  mkdir("there", 0777);
  assert_int_equal(symlink("two", "one"), 0);
  assert_int_equal(symlink("there/three", "two"), 0);
  for (int exists = 0; exists < 2; exists++) {
    if (exists) put("there/three", "older");
    assert_int_equal(file_check("one"), STATUS_OK);
    assert_int_equal(write_new("one"), STATUS_OK);
    assert_contents("there/three", "new");
  }
  assert_true(readlink("one", name, sizeof name) == 3 && readlink("two", name, sizeof name) == 11);
  assert_files(3);
  assert_int_equal(symlink("../four", "there/out"), 0);
  assert_int_equal(write_new("there/out"), STATUS_OK);
  assert_contents("four", "new");
}

TEST_WITH(a_link_in_a_circle_is_an_error, enter, leave)
{
  assert_int_equal(symlink("round", "round"), 0);
  assert_int_equal(file_check("round"), STATUS_ENVIRONMENT);
  assert_string_equal(log_held(), "cannot write \"round\": Too many levels of symbolic links");
}

TEST_WITH(permissions_and_owner_stay, enter, leave)
{
  struct stat info;
  put("a", "older");
  assert_int_equal(chmod("a", 0640), 0);
  if (geteuid() == 0) assert_int_equal(chown("a", 33, 34), 0);
  for (no_nameless = 0; no_nameless < 2; no_nameless++) {
    assert_int_equal(write_new("a"), STATUS_OK);
    stat("a", &info);
    assert_int_equal(info.st_mode & 07777, 0640);
    if (geteuid() == 0) assert_true(info.st_uid == 33 && info.st_gid == 34);
  }
}

TEST_WITH(another_name_of_the_file_keeps_what_it_had, enter, leave)
{
  put("a", "older");
  assert_int_equal(link("a", "b"), 0);
  assert_int_equal(write_new("a"), STATUS_OK);
  assert_contents("a", "new");
  assert_contents("b", "older");
}

TEST_WITH(a_name_as_long_as_any_can_be_written, enter, leave)
{
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  assert_int_equal(write_new(name), STATUS_OK);
  assert_int_equal(write_new(name), STATUS_OK);
  assert_files(1);
}

/* An open file keeps its position: earlier text stays before the new text, and later text follows
 * it. */
TEST_WITH(an_open_descriptor_is_written_to, enter, leave)
{
  char name[32];
  int first = open("a", O_WRONLY | O_CREAT, 0666), file = dup2(first, 20);
  assert_int_equal(write(file, "before ", 7), 7);
  for (int variant = 0; variant < 3; variant++) {
    snprintf(name, sizeof name, variant ? "/proc/self/fd/%d" : "/dev/fd/%d", file);
    if (variant == 2) assert_int_equal(symlink(name, "link"), 0);
    assert_false(file_is_plain(variant == 2 ? "link" : name));
    assert_int_equal(write_new(variant == 2 ? "link" : name), STATUS_OK);
  }
  assert_int_equal(write(file, " after", 6), 6);
  FILE *append = file_open_append(name);
  assert_int_equal(fputs("!", append) + fclose(append), 1);
  close(file);
  close(first);
  assert_contents("a", "before newnewnew after!");
  append = file_open_append("a");
  assert_int_equal(fputs("?", append) + fclose(append), 1);
  assert_contents("a", "before newnewnew after!?");
  assert_int_equal(file_check(name), STATUS_ENVIRONMENT);
  assert_non_null(strstr(log_held(), "Bad file descriptor"));
  first = open("a", O_RDONLY);
  assert_int_equal(dup2(first, file), file);
  assert_null(file_open_append(name));
  assert_int_equal(errno, EBADF);
  close(file);
  close(first);
}

TEST_WITH(a_pipe_that_nobody_reads_is_an_error_and_is_not_waited_for, enter, leave)
{
  assert_int_equal(mkfifo("pipe", 0666), 0);
  assert_int_equal(file_check("pipe"), STATUS_ENVIRONMENT);
  assert_string_equal(log_held(), "cannot write \"pipe\": no process reads this pipe");
  assert_int_equal(write_new("pipe"), STATUS_ENVIRONMENT);
  assert_null(file_open_append("pipe"));
}

/* A reader that sees the end of a pipe stops reading, so the check must not close the pipe. */
TEST_WITH(a_pipe_stays_open_from_the_check_to_the_document, enter, leave)
{
  struct stat info;
  char text[4] = "";
  assert_int_equal(mkfifo("pipe", 0666), 0);
  int reader = open("pipe", O_RDONLY | O_NONBLOCK);
  assert_false(file_is_plain("pipe"));
  assert_int_equal(file_check("pipe"), STATUS_OK);
  assert_int_equal(read(reader, text, 3), -1);
  assert_int_equal(errno, EAGAIN);
  assert_int_equal(write_new("pipe"), STATUS_OK);
  assert_true(read(reader, text, 3) == 3 && strcmp(text, "new") == 0);
  assert_int_equal(read(reader, text, 3), 0);
  assert_int_equal(write_new("pipe"), STATUS_OK);
  assert_true(read(reader, text, 3) == 3 && lstat("pipe", &info) == 0 && S_ISFIFO(info.st_mode));
  close(reader);
}

/* ---- files that cannot be replaced ---- */

/* Returns what a check of "a" and two writes print. */
static char *written_in_place(void)
{
  struct capture capture = capture_begin(stderr);
  struct stat before, after;
  stat("a", &before);
  assert_int_equal(file_check("a"), STATUS_OK);
  assert_contents("a", "older and longer");
  assert_int_equal(write_new("a"), STATUS_OK);
  assert_int_equal(write_new("a"), STATUS_OK);
  stat("a", &after);
  assert_true(before.st_dev == after.st_dev && before.st_ino == after.st_ino);
  assert_contents("a", "new");
  return capture_end(&capture);
}

/* Only the check may print a warning. */
static void assert_in_place(const char *cause)
{
  char warning[256], *output = written_in_place();
  snprintf(warning, sizeof warning,
           "warning: \"a\" is overwritten in place, because it cannot be replaced: %s\n", cause);
  assert_string_equal(output, warning);
  free(output);
}

TEST_WITH(without_chmod_a_file_is_overwritten_and_a_new_one_is_made, enter, leave)
{
  no_chmod = 1;
  assert_int_equal(file_check("new"), STATUS_OK);
  assert_int_equal(write_new("new"), STATUS_OK);
  put("a", "older and longer");
  assert_in_place("Operation not permitted");
  assert_files(2);
}

/* Some errors occur only when the draft is renamed, so the check cannot find them. */
TEST_WITH(a_file_whose_renaming_fails_is_overwritten, enter, leave)
{
  put("a", "older and longer");
  no_rename = 1;
  assert_int_equal(file_check("a"), STATUS_OK);
  struct capture capture = capture_begin(stderr);
  assert_int_equal(write_new("a"), STATUS_OK);
  char *output = capture_end(&capture);
  assert_non_null(strstr(output, "cannot be replaced: Device or resource busy"));
  assert_contents("a", "new");
  assert_files(1);
  free(output);
}

TEST_WITH(what_cannot_be_overwritten_whole_stays, enter, leave)
{
  struct rlimit whole, tiny;
  put("a", "o");
  no_chmod = 1;
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &whole);
  tiny = (struct rlimit){.rlim_cur = 2, .rlim_max = whole.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tiny);
  status_t status = write_new("a");
  setrlimit(RLIMIT_FSIZE, &whole);
  assert_int_equal(status, STATUS_ENVIRONMENT);
  assert_contents("a", "o");
}

TEST_WITH(a_write_goes_on_where_it_was_cut_short, enter, leave)
{
  writes_left = 8;
  assert_int_equal(write_new("a"), STATUS_OK);
  assert_contents("a", "new");
  writes_left = 4;
  assert_int_equal(write_new("a"), STATUS_ENVIRONMENT);
  assert_string_equal(log_held(), "cannot write \"a\": Input/output error");
  assert_contents("a", "new");
}

/* Runs a test in a child process, as a user who owns no file here. */
static void as_nobody(void (*test)(void))
{
  int how;
  if (geteuid() != 0) skip();
  pid_t child = fork();
  if (child == 0) {
    assert_int_equal(setegid(65534) + seteuid(65534), 0);
    test();
    _exit(42);
  }
  waitpid(child, &how, 0);
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 42);
}

static void is_refused_a_replacement(void)
{
  assert_in_place("Operation not permitted");
}

static void is_refused_a_draft(void)
{
  assert_in_place("Permission denied");
}

TEST_WITH(another_users_file_is_overwritten_in_a_sticky_folder, enter, leave)
{
  put("a", "older and longer");
  assert_int_equal(chmod("a", 0666) + chmod(".", 01777), 0);
  as_nobody(is_refused_a_replacement);
  assert_files(1);
}

TEST_WITH(a_file_is_overwritten_in_a_folder_that_takes_no_draft, enter, leave)
{
  put("a", "older and longer");
  assert_int_equal(chmod("a", 0666) + chmod(".", 0755), 0);
  as_nobody(is_refused_a_draft);
}

TEST_WITH(a_file_that_is_mounted_is_overwritten, enter, leave)
{
  int how;
  put("a", "");
  put("under", "older and longer");
  pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("under", "a", NULL, MS_BIND, NULL) != 0)
      _exit(77);
    assert_in_place("Device or resource busy");
    assert_contents("under", "new");
    _exit(42);
  }
  waitpid(child, &how, 0);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 77) skip();
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 42);
}

/* ---- one file with several names ---- */

TEST_WITH(one_file_has_many_names, enter, leave)
{
  put("a", "a");
  put("b", "a");
  mkdir("c", 0777);
  assert_int_equal(link("a", "hard"), 0);
  assert_int_equal(symlink("a", "soft"), 0);
  assert_true(file_is_same("a", "a") && file_is_same("a", "./a") && file_is_same("c/../a", "a"));
  assert_true(file_is_same("a", "hard") && file_is_same("soft", "a") && file_is_same("soft", "hard"));
  assert_false(file_is_same("a", "b") || file_is_same("c", "c") || file_is_same("a", "none"));
  assert_true(file_is_same("none", "./none") && file_is_same("c/none", "./c/none"));
  assert_false(file_is_same("none", "c/none") || file_is_same("x/none", "x/none"));
  assert_false(file_is_same("-", "-") || file_is_same("/dev/null", "/dev/null"));
  assert_false(file_is_same("/dev/stdout", "/dev/stdout"));
}

/* ---- signals during a write ---- */

/* Returns the exit status of a process that receives a signal while it has a draft. */
static int meets(int number, int ignores)
{
  int how;
  pid_t child = fork();
  if (child == 0) {
    at_the_draft = number;
    signal(number, ignores ? SIG_IGN : SIG_DFL);
    _exit(write_new("a") == STATUS_OK ? 42 : 43);
  }
  waitpid(child, &how, 0);
  return how;
}

TEST_WITH(a_signal_leaves_the_file_whole_and_no_draft, enter, leave)
{
  static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGUSR1, SIGUSR2};
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (int n = 0; n < 14; n++) {
    no_nameless = n % 2;
    put("a", "older");
    int how = meets(numbers[n / 2], 0);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == numbers[n / 2]);
    assert_contents("a", "new");
    how = meets(numbers[n / 2], 1);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 42);
    assert_files(1);
  }
}

TEST_WITH(a_signal_that_none_can_catch_leaves_the_older_file_and_no_draft, enter, leave)
{
  int nameless = open(".", O_TMPFILE | O_WRONLY, 0666);
  if (nameless < 0) skip();
  close(nameless);
  put("a", "older");
  int how = meets(SIGKILL, 0);
  assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
  assert_contents("a", "older");
  assert_files(1);
}

TEST_WITH(an_error_leaves_the_older_file_as_it_was, enter, leave)
{
  struct rlimit whole, tiny;
  struct stat before, after;
  put("a", "older");
  stat("a", &before);
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &whole);
  tiny = (struct rlimit){.rlim_cur = 1, .rlim_max = whole.rlim_max};
  for (no_nameless = 0; no_nameless < 2; no_nameless++) {
    log_drop();
    setrlimit(RLIMIT_FSIZE, &tiny);
    status_t status = write_new("a");
    setrlimit(RLIMIT_FSIZE, &whole);
    assert_int_equal(status, STATUS_ENVIRONMENT);
    assert_string_equal(log_held(), "cannot write \"a\": File too large");
    stat("a", &after);
    assert_true(before.st_ino == after.st_ino && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    assert_contents("a", "older");
    assert_files(1);
  }
}

TEST_WITH(checking_leaves_nothing, enter, leave)
{
  for (no_nameless = 0; no_nameless < 2; no_nameless++) {
    assert_int_equal(file_check("a"), STATUS_OK);
    assert_files(0);
  }
  assert_int_equal(file_check("-"), STATUS_OK);
}

/* This test must be last, because an input stays an input. */
TEST_WITH(what_was_read_is_not_written, enter, leave)
{
  put("read", "older");
  file_is_input("read");
  file_is_input("none");
  file_is_input("/dev/null");
  assert_int_equal(symlink("read", "soft"), 0);
  assert_int_equal(write_new("soft"), STATUS_USAGE);
  assert_contents("read", "older");
  assert_int_equal(write_new("none"), STATUS_OK);
  assert_int_equal(write_new("/dev/null"), STATUS_OK);
}

UNIT_MAIN(NULL, NULL)
