/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include <jansson.h>

#include "base/document.h"
#include "base/meta.h"
#include "base/switches.h"

static void the_version_is_a_number_with_points(void **state)
{
  int major, minor, patch;
  (void)state;
  assert_int_equal(sscanf(meta_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

static void time_is_utc_to_the_second(void **state)
{
  int year, month, day, hour, minute, second;
  char text[32], again[32];
  (void)state;
  meta_time(text);
  assert_int_equal(sscanf(text, "%d-%d-%dT%d:%d:%dZ", &year, &month, &day, &hour, &minute, &second), 6);
  snprintf(again, sizeof again, "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, hour, minute, second);
  assert_string_equal(text, again);
  assert_true(year >= 2024);
}

static void the_host_has_its_full_name_in_printable_ascii(void **state)
{
  char text[META_HOST_BYTES], own[META_HOST_BYTES];
  (void)state;
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

static void a_short_buffer_cuts_and_does_not_overflow(void **state)
{
  char text[4] = "zzz";
  (void)state;
  meta_host(text, 2);
  assert_int_equal(strlen(text), 1);
  assert_int_equal(text[2], 'z');
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

static void the_system_is_described(void **state)
{
  static const char *const keys[] = {"os", "kernel", "cpu", "compiler"};
  json_t *system = system_of();
  (void)state;
  assert_non_null(system);
  for (size_t i = 0; i < 4; i++) assert_true(json_string_length(json_object_get(system, keys[i])) > 0);
  json_decref(system);
}

static void settings_are_those_of_the_list_and_never_the_whole_environment(void **state)
{
  (void)state;
  setenv("OMP_NUM_THREADS", "3", 1);
  setenv("SLURM_JOB_ID", "123", 1);
  setenv("SECRET_TOKEN", "hidden", 1);
  setenv("OMP_NUM_THREADS_SECRET", "hidden", 1);
  unsetenv("CUDA_VISIBLE_DEVICES");
  json_t *system = system_of();
  const json_t *settings = json_object_get(system, "settings");
  assert_string_equal(json_string_value(json_object_get(settings, "OMP_NUM_THREADS")), "3");
  assert_string_equal(json_string_value(json_object_get(settings, "SLURM_JOB_ID")), "123");
  assert_null(json_object_get(settings, "CUDA_VISIBLE_DEVICES"));
  char *text = json_dumps(system, 0);
  assert_null(strstr(text, "hidden"));
  free(text);
  json_decref(system);
}

static void every_second_switch(int first)
{
  const struct switch_spec *s;
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

static void every_switch_that_is_set_is_a_setting(void **state)
{
  (void)state;
  every_second_switch(0);
  every_second_switch(1);
}

static void a_setting_that_is_no_text_does_not_break_the_document(void **state)
{
  (void)state;
  setenv("OMP_PLACES", "\xff\n{0}", 1);
  json_t *system = system_of();
  assert_non_null(system);
  const json_t *settings = json_object_get(system, "settings");
  assert_string_equal(json_string_value(json_object_get(settings, "OMP_PLACES")), "??{0}");
  json_decref(system);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_version_is_a_number_with_points),
      cmocka_unit_test(time_is_utc_to_the_second),
      cmocka_unit_test(the_host_has_its_full_name_in_printable_ascii),
      cmocka_unit_test(a_short_buffer_cuts_and_does_not_overflow),
      cmocka_unit_test(the_system_is_described),
      cmocka_unit_test(settings_are_those_of_the_list_and_never_the_whole_environment),
      cmocka_unit_test(every_switch_that_is_set_is_a_setting),
      cmocka_unit_test(a_setting_that_is_no_text_does_not_break_the_document),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
