/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <sys/utsname.h>

#include "base/document.h"
#include "base/meta.h"
#include "base/switches.h"

/* Texts of the system's files; NULL: the file cannot be opened. */
static const char *cpuinfo, *os_release = "NAME=x\nPRETTY_NAME=\"A system 1\"\nID=y\n";

FILE *fopen(const char *path, const char *mode)
{
  const char *text = strcmp(path, "/proc/cpuinfo") == 0     ? cpuinfo
                     : strcmp(path, "/etc/os-release") == 0 ? os_release
                                                            : NULL;
  return text ? fmemopen((char *)(uintptr_t)text, strlen(text), mode) : NULL;
}

/* The build is the ID that readelf shows, if the linker wrote one. */
TEST(the_version_is_a_number_with_points_and_the_build_an_id)
{
  int major, minor, patch;
  char command[100], id[80] = "unknown";
  assert_int_equal(sscanf(meta_version(), "%d.%d.%d", &major, &minor, &patch), 3);
  snprintf(command, sizeof command, "LC_ALL=C readelf -n /proc/%d/exe | sed -n 's/.*Build ID: //p'",
           (int)getpid());
  FILE *shown = popen(command, "r");
  assert_true(fscanf(shown, "%79s", id) == 1 || strcmp(id, "unknown") == 0);
  pclose(shown);
  for (int n = 0; n < 2; n++) assert_string_equal(meta_build(), id);
}

TEST(time_is_utc_to_the_second)
{
  int year, month, day, hour, minute, second;
  char text[32], again[32];
  meta_time(text);
  assert_int_equal(sscanf(text, "%d-%d-%dT%d:%d:%dZ", &year, &month, &day, &hour, &minute, &second), 6);
  snprintf(again, sizeof again, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, hour, minute, second);
  assert_string_equal(text, again);
  assert_true(year >= 2024);
}

TEST(the_host_has_its_full_name_in_printable_ascii)
{
  char text[META_HOST_BYTES], own[META_HOST_BYTES];
  meta_host(own, sizeof own);
  assert_true(own[0] != '\0');
  setenv("SLURMD_NODENAME", "", 1); /* counts as not set */
  meta_host(text, sizeof text);
  assert_string_equal(text, own);
  setenv("SLURMD_NODENAME", "rack1.n2.example", 1);
  meta_host(text, sizeof text);
  assert_string_equal(text, "rack1.n2.example");
  setenv("SLURMD_NODENAME", "n\x1b[31m\n\xff", 1);
  meta_host(text, sizeof text);
  assert_string_equal(text, "n?[31m??");
  unsetenv("SLURMD_NODENAME");
}

TEST(a_short_buffer_cuts_and_does_not_overflow)
{
  char text[4] = "zzz";
  meta_host(text, 2);
  assert_int_equal(strlen(text), 1);
  assert_int_equal(text[2], 'z');
  cpuinfo = NULL;
  meta_cpu_model(text, 2);
  assert_int_equal(strlen(text), 1);
  assert_int_equal(text[2], 'z');
}

/* Returns the field `system` of a document. */
static json_t *system_of(void)
{
  struct doc d;
  doc_open(&d, 0);
  meta_system_document(&d);
  json_t *document = doc_close(&d), *found = json_incref(json_object_get(document, "system"));
  json_decref(document);
  return found;
}

TEST(the_system_is_described)
{
  static const char *const cpus[][2] = {{"processor\t: 0\nmodel name\t: A CPU\nmodel name\t: B\n", "A CPU"},
                                        {"Revision\t: 1\nModel\t\t: A\x01 board\n", "A? board"},
                                        {"model name\ncpu model\t: M\n", "M"},
                                        {"cpu\t\t: POWER9\n", "POWER9"},
                                        {"model name\t:\nmodel name\t: B\n", "B"},
                                        {"flags\t: x\n", "unknown"},
                                        {NULL, "unknown"}};
  struct utsname names;
  char kernel[400];
  uname(&names);
  snprintf(kernel, sizeof kernel, "%s %s %s", names.sysname, names.release, names.machine);
  for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++) {
    cpuinfo = cpus[c][0];
    json_t *system = system_of();
    assert_string_equal(json_string_value(json_object_get(system, "cpu")), cpus[c][1]);
    assert_string_equal(json_string_value(json_object_get(system, "os")), "A system 1");
    assert_string_equal(json_string_value(json_object_get(system, "kernel")), kernel);
    assert_true(json_string_length(json_object_get(system, "compiler")) > 3);
    json_decref(system);
  }
}

TEST(settings_are_those_of_the_list_and_never_the_whole_environment)
{
  setenv("OMP_NUM_THREADS", "3", 1);
  setenv("SLURM_JOB_ID", "123", 1);
  setenv("SECRET_TOKEN", "hidden", 1);
  setenv("OMP_NUM_THREADS_SECRET", "hidden", 1);
  setenv("OMP_PLACES", "\xff\n{0}", 1); /* must not break the document */
  unsetenv("CUDA_VISIBLE_DEVICES");
  json_t *system = system_of();
  const json_t *settings = json_object_get(system, "settings");
  assert_string_equal(json_string_value(json_object_get(settings, "OMP_NUM_THREADS")), "3");
  assert_string_equal(json_string_value(json_object_get(settings, "SLURM_JOB_ID")), "123");
  assert_string_equal(json_string_value(json_object_get(settings, "OMP_PLACES")), "??{0}");
  assert_null(json_object_get(settings, "CUDA_VISIBLE_DEVICES"));
  char *text = json_dumps(system, 0);
  assert_null(strstr(text, "hidden"));
  free(text);
  json_decref(system);
}

TEST(every_switch_that_is_set_is_a_setting)
{
  const struct switch_spec *s;
  for (int first = 0; first < 2; first++) {
    for (int n = 0; (s = switch_at(n)); n++) setenv(s->name, n % 2 == first ? "1" : "", 1);
    json_t *system = system_of();
    const json_t *settings = json_object_get(system, "settings");
    for (int n = 0; (s = switch_at(n)); n++) {
      const char *value = json_string_value(json_object_get(settings, s->name));
      assert_true(n % 2 == first ? value && strcmp(value, "1") == 0 : !value);
      unsetenv(s->name);
    }
    json_decref(system);
  }
}

UNIT_MAIN(NULL, NULL)
