/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "base/log.h"
#include "base/switches.h"
#include "tests/unit/capture.h"

/** Each name of the table must occur once. */
TEST(every_switch_has_values_and_a_meaning)
{
  const struct switch_spec *s, *other;
  for (int n = 0; (s = switch_at(n)); n++) {
    char text[VALUE_TEXT_MAX];
    assert_true(strncmp(s->name, "HIMENO_", 7) == 0 && s->meaning[0]);
    assert_true(value_describe(&s->range, text)[0] != '\0');
    for (int m = 0; m < n && (other = switch_at(m)); m++) assert_string_not_equal(s->name, other->name);
  }
}

TEST(what_is_not_in_the_table_is_never_set)
{
  long long pair[2];
  setenv("HIMENO_NOWHERE", "1", 1);
  assert_null(switch_text("HIMENO_NOWHERE"));
  assert_int_equal(switch_number("HIMENO_NOWHERE", 7), 7);
  setenv("HIMENO_NOWHERE", "1:2", 1);
  assert_false(switch_pair("HIMENO_NOWHERE", pair));
  setenv("HIMENO_CPU_CACH", "1", 1);
  setenv("HIMENO_EMPTY", "", 1); /* counts as not set */
  struct capture capture = capture_begin(stderr);
  switches_warn();
  char *text = capture_end(&capture);
  assert_string_equal(text,
                      "warning: HIMENO_NOWHERE, HIMENO_CPU_CACH: nothing reads a variable of that name, "
                      "see doc/reference/switches.md\n");
  free(text);
  unsetenv("HIMENO_CPU_CACH");
  unsetenv("HIMENO_NOWHERE");
}

TEST(nothing_and_no_number_count_as_not_set)
{
  long long pair[2] = {-1, -1};
  unsetenv("HIMENO_CPU_CACHE");
  assert_null(switch_text("HIMENO_CPU_CACHE"));
  assert_int_equal(switch_number("HIMENO_CPU_CACHE", -3), -3);
  setenv("HIMENO_CPU_CACHE", "", 1);
  assert_null(switch_text("HIMENO_CPU_CACHE"));
  assert_int_equal(switch_number("HIMENO_CPU_CACHE", -3), -3);
  setenv("HIMENO_CPU_CACHE", "4096", 1);
  assert_string_equal(switch_text("HIMENO_CPU_CACHE"), "4096");
  assert_int_equal(switch_number("HIMENO_CPU_CACHE", -3), 4096);
  setenv("HIMENO_CPU_CACHE", "4k", 1);
  assert_int_equal(switch_number("HIMENO_CPU_CACHE", -3), -3);
  setenv("HIMENO_HALO_CORRUPT", "12:34", 1);
  assert_true(switch_pair("HIMENO_HALO_CORRUPT", pair) && pair[0] == 12 && pair[1] == 34);
  unsetenv("HIMENO_HALO_CORRUPT");
  unsetenv("HIMENO_CPU_CACHE");
}

/** The page must list the table's rows in order, each below the heading of its kind. */
TEST(the_page_shows_the_table)
{
  static const char *const headings[] = {[SWITCH_USER] = "## For users\n",
                                         [SWITCH_TUNING] = "## For tuning\n",
                                         [SWITCH_TEST] = "## For tests\n"};
  const char *source = getenv("top_srcdir");
  char path[4096], line[1024], row[1024], values[VALUE_TEXT_MAX];
  int n = 0, kind = -1;
  snprintf(path, sizeof path, "%s/doc/reference/switches.md", source ? source : "..");
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    for (int k = 0; k < 3; k++)
      if (strcmp(line, headings[k]) == 0) kind = k;
    if (strncmp(line, "| `HIMENO_", 10)) continue;
    const struct switch_spec *s = switch_at(n++);
    assert_non_null(s);
    snprintf(row, sizeof row, "| `%s` | %s | %s |\n", s->name, value_describe(&s->range, values), s->meaning);
    assert_string_equal(line, row);
    assert_int_equal(kind, s->kind);
  }
  fclose(file);
  assert_null(switch_at(n));
}

UNIT_MAIN(NULL, NULL)
