/* SPDX-License-Identifier: MIT */
#include "tests/unit/text_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/document.h"
#include "base/file.h"
#include "base/log.h"
#include "base/report.h"
#include "tests/unit/capture.h"

#define NOBODY 65534

static char folder[] = "/tmp/test_report.XXXXXX";

/** Returns the path of a name in the test's folder. */
static const char *in_folder(const char *name)
{
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static int enter(void **state)
{
  log_hold(1);
  strcpy(folder + strlen(folder) - 6, "XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int leave(void **state)
{
  char command[256];
  log_drop();
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static int files_in_folder(void)
{
  int n = 0;
  DIR *directory = opendir(folder);
  for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
    n += entry->d_name[0] != '.';
  closedir(directory);
  return n;
}

static json_t *example(void)
{
  return json_pack("{si}", "answer", 42);
}

static status_t write_example(const char *path)
{
  json_t *document = example();
  status_t status = document_write(document, path);
  json_decref(document);
  return status;
}

#define EXAMPLE_TEXT "{\n  \"answer\": 42\n}\n"

/* Valid UTF-8 stays. Every other byte becomes U+FFFD: an overlong form, half of a UTF-16 pair, a
 * truncated character, one beyond U+10FFFF. */
TEST_WITH(any_bytes_are_a_text, enter, leave)
{
  static const char *const texts[][2] = {
      {"gr\xc3\xb6\xc3\x9f\x65 \xe2\x82\xac \xf0\x9f\x8c\x8d\x1b",
       "gr\xc3\xb6\xc3\x9f\x65 \xe2\x82\xac \xf0\x9f\x8c\x8d\x1b"},
      {"n\xff.json", "n\xef\xbf\xbd.json"},
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
  };
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    json_t *text = document_text(texts[t][0]);
    assert_string_equal(json_string_value(text), texts[t][1]);
    json_decref(text);
  }
}

/* Writing it */

TEST_WITH(a_document_is_written_alone_and_readable_as_files_are, enter, leave)
{
  struct stat info;
  mode_t mask = umask(022);
  assert_int_equal(write_example(in_folder("a.json")), STATUS_OK);
  umask(mask);
  assert_contents(in_folder("a.json"), EXAMPLE_TEXT);
  assert_int_equal(files_in_folder(), 1);
  stat(in_folder("a.json"), &info);
  assert_int_equal(info.st_mode & 0777, 0644);
}

TEST_WITH(a_dash_is_standard_output, enter, leave)
{
  struct capture output = capture_begin(stdout);
  status_t status = write_example("-");
  char *text = capture_end(&output);
  assert_int_equal(status, STATUS_OK);
  assert_string_equal(text, EXAMPLE_TEXT);
  free(text);
}

TEST_WITH(a_device_is_written_to_and_not_replaced, enter, leave)
{
  struct stat info;
  assert_int_equal(write_example("/dev/null"), STATUS_OK);
  stat("/dev/null", &info);
  assert_true(S_ISCHR(info.st_mode));
  assert_int_equal(write_example("/dev/full"), STATUS_ENVIRONMENT);
  assert_string_equal(log_held(), "cannot write \"/dev/full\": No space left on device");
}

static void assert_unwritable(const char *path, const char *cause)
{
  char expected[512];
  snprintf(expected, sizeof expected, "cannot write \"%s\": %s", path, cause);
  log_drop();
  assert_int_equal(file_check(path), STATUS_ENVIRONMENT);
  assert_string_equal(log_held(), expected);
  log_drop();
  assert_int_equal(write_example(path), STATUS_ENVIRONMENT);
  assert_string_equal(log_held(), expected);
}

TEST_WITH(why_a_file_cannot_be_written_is_reported, enter, leave)
{
  assert_unwritable(in_folder("no/a.json"), "No such file or directory");
  assert_unwritable(folder, "Is a directory");
  put(in_folder("a.json"), "older");
  assert_unwritable(in_folder("a.json/b.json"), "Not a directory");
  put(in_folder("mine.json"), "older");
  chmod(in_folder("mine.json"), 0444);
  chmod(folder, 0555);
  uid_t user = geteuid();
  if (user == 0) assert_int_equal(seteuid(NOBODY), 0);
  assert_unwritable(in_folder("new.json"), "Permission denied");
  assert_unwritable(in_folder("mine.json"), "Permission denied");
  if (user == 0) assert_int_equal(seteuid(0), 0);
  chmod(folder, 0755);
  assert_contents(in_folder("mine.json"), "older");
}

/* Reading */

/* A byte order mark of UTF-8 is skipped. */
TEST_WITH(a_file_is_read_without_its_mark_and_no_further_than_allowed, enter, leave)
{
  static const char *const texts[][2] = {{"", ""},
                                         {"{}", "{}"},
                                         {"\xef\xbb\xbf{}", "{}"},
                                         {"\xef\xbb{}", "\xef\xbb{}"},
                                         {"\xef", "\xef"},
                                         {"\xef\xbb\xbf\xef\xbb\xbf", "\xef\xbb\xbf"}};
  char a[64], pipe[64], none[64];
  size_t bytes;
  strcpy(a, in_folder("a"));
  strcpy(pipe, in_folder("pipe"));
  strcpy(none, in_folder("none"));
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    const size_t size = strlen(texts[t][0]);
    put(a, texts[t][0]);
    char *text = file_read(a, size, &bytes);
    assert_string_equal(text, texts[t][1]);
    assert_int_equal(bytes, strlen(text));
    free(text);
    assert_true(size == 0 || (!file_read(a, size - 1, &bytes) && errno == EFBIG));
  }
  assert_int_equal(mkfifo(pipe, 0666), 0);
  assert_true(!file_read(pipe, 9, &bytes) && errno == EINVAL);
  assert_true(!file_read(folder, 9, &bytes) && errno == EINVAL);
  assert_true(!file_read(none, 9, &bytes) && errno == ENOENT);
  assert_true(!file_open_text(none) && errno == ENOENT);
}

/* The writer of a pipe may start later, and write its text in parts. */
TEST_WITH(a_pipe_is_read_to_its_end, enter, leave)
{
  int how;
  char text[8] = "", pipe[64];
  strcpy(pipe, in_folder("pipe"));
  assert_int_equal(mkfifo(pipe, 0666), 0);
  pid_t child = fork();
  if (child == 0) {
    usleep(200000);
    int writer = open(pipe, O_WRONLY);
    for (int part = 0; part < 2; part++, usleep(200000))
      if (write(writer, "new", 3) != 3) _exit(1);
    _exit(0);
  }
  FILE *file = file_open_text(pipe);
  assert_non_null(file);
  assert_int_equal(fread(text, 1, sizeof text, file), 6);
  assert_string_equal(text, "newnew");
  fclose(file);
  assert_true(waitpid(child, &how, 0) == child && how == 0);
}

/* Text */

/* Bars have eighths of a cell, are plain where UTF-8 is not read, and never exceed their width or
 * buffer. */
TEST_WITH(bars_fit_into_their_width_and_buffer, enter, leave)
{
  static const struct {
    const char *locale;
    double share;
    const char *bar;
  } cases[] = {{"en_US.UTF-8", 0, ""},
               {"en_US.UTF-8", 1.0 / 32, "▏"},
               {"C.utf8", 0.5, "██"},
               {"en_US.UTF-8", 0.625, "██▌"},
               {"en_US.UTF-8", 1, "████"},
               {"C", 0.5, "##"},
               {"de_DE.ISO-8859-1", 1, "####"},
               {"C", 17, "####"},
               {"C", -1, ""},
               {"C", NAN, ""}};
  char text[64];
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    setenv("LC_ALL", cases[c].locale, 1);
    report_bar(text, sizeof text, cases[c].share, 4);
    assert_string_equal(text, cases[c].bar);
  }
  setenv("LC_ALL", "", 1); /* counts as not set */
  setenv("LC_CTYPE", "C.UTF-8", 1);
  report_bar(text, 8, 1, 4);
  assert_string_equal(text, "██");
}

/* Standard deviations are at most 1.4826 times 5.1 times the largest deviation of three. */
TEST_WITH(noise_is_reported_or_warned_of, enter, leave)
{
  static const struct {
    double deviation;
    int n, warn;
    const char *text;
  } cases[] = {
      {0.01, 2, 0, ""},
      {0.01, 3, 0,
       "  noise      standard deviation of the blocks' times: at most 7.6%, with 99% confidence\n"},
      {0.0013, 3, 1, ""},
      {0.01, 3, 1, "  WARNING    noisy: a difference of less than 7.6% from another run may be noise\n"},
      {0.04, 3, 1,
       "  WARNING    this speed is too noisy to compare: standard deviation of block times up to 30%\n"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct capture capture = capture_begin(stdout);
    report_noise((const double[]){1, 1, 1 + cases[c].deviation}, cases[c].n, cases[c].warn, stdout);
    char *text = capture_end(&capture);
    assert_string_equal(text, cases[c].text);
    free(text);
  }
}

TEST_WITH(bytes_have_binary_units, enter, leave)
{
  assert_string_equal(report_bytes(0), "0 B");
  assert_string_equal(report_bytes(1023), "1023 B");
  assert_string_equal(report_bytes(1024), "1.0 KiB");
  assert_string_equal(report_bytes(1024 * 1024 - 1), "1.0 MiB");
  assert_string_equal(report_bytes(24ull << 30), "24.0 GiB");
  assert_string_equal(report_bytes(UINT64_MAX), "16.0 EiB");
  const char *first = report_bytes(1), *second = report_bytes(2); /* several fit into one message */
  assert_true(strcmp(first, "1 B") == 0 && strcmp(second, "2 B") == 0);
}

TEST_WITH(numbers_and_spreads_fill_their_columns, enter, leave)
{
  static const struct {
    const char *locale;
    double value;
    int width, known;
    const char *number, *spread;
  } cases[] = {{"C", 1.25, 0, 1, "1.2", "+-125.0%"},
               {"C", 1.25, 10, 1, "       1.2", "  +-125.0%"},
               {"C", -1, 0, 0, "-", "-"},
               {"C", NAN, 4, 0, "   -", "   -"},
               {"C.UTF-8", 1.25, 10, 1, "       1.2", "   ±125.0%"},
               {"C.UTF-8", 0, 0, 0, "–", "–"},
               {"C.UTF-8", 0, 4, 0, "   –", "   –"},
               {"C", 0.25, 3, 1, "0.2", "+-25.0%"}};
  char number[REPORT_NUMBER_BYTES], spread[REPORT_SPREAD_BYTES];
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    setenv("LC_ALL", cases[c].locale, 1);
    assert_string_equal(report_number(cases[c].value, cases[c].width, 1, number), cases[c].number);
    assert_string_equal(report_spread(cases[c].value, cases[c].known, cases[c].width, spread),
                        cases[c].spread);
  }
}

UNIT_MAIN(NULL, NULL)
