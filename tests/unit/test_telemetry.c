/* SPDX-License-Identifier: MIT */
/* NVML is a library of the test's own; sysfs is a folder that the test writes. */
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "gpu/telemetry.h"

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static struct telemetry *fake(const char *says, const char *lacks)
{
  char library[600];
  const char *built = getenv("top_builddir");
  snprintf(library, sizeof library, "%s/tests/unit/fake_nvml.so", built ? built : ".");
  setenv("HIMENO_NVML", library, 1);
  setenv("HIMENO_SYSFS", "/nonexistent", 1);
  setenv("HIMENO_FAKE_NVML", says, 1);
  setenv("HIMENO_FAKE_NVML_LACKS", lacks, 1);
  struct telemetry *t = telemetry_open("0000:12:00.0");
  assert_non_null(t);
  return t;
}

static void nvml_tells_power_clocks_temperature_and_throttling(void **state)
{
  struct telemetry_sample sample;
  struct telemetry *t =
      fake("milliwatts=512500 clock@2=1305 clock=1980 memory=2500 celsius=71 throttle=101", "");
  (void)state;
  assert_string_equal(telemetry_source(t), "NVML");
  telemetry_read(t, &sample);
  assert_true(sample.watts == 512.5 && sample.sm_mhz == 1305 && sample.memory_mhz == 2500 &&
              sample.celsius == 71);
  assert_int_equal(sample.throttle, 100); /* 1 is idleness, which is no reason */
  telemetry_close(t);
}

static void nvml_tells_ecc_links_and_retired_memory(void **state)
{
  struct telemetry_state s;
  struct telemetry *t =
      fake("ecc=0 fixed=7 broken=2 rows=3 gen=4 width=8 width_max=16 links=18 links_up=17", "");
  (void)state;
  telemetry_state(t, &s);
  assert_true(s.ecc == 0 && s.corrected == 7 && s.uncorrected == 2 && s.retired == 3);
  assert_true(s.pcie_gen == 4 && s.pcie_gen_max == 5 && s.pcie_width == 8 && s.pcie_width_max == 16);
  assert_true(s.nvlinks == 18 && s.nvlinks_active == 17 && s.sm_mhz_max == 1980 && s.memory_mhz_max == 2619);
  telemetry_close(t);
}

static void pages_stand_in_for_rows_on_older_devices(void **state)
{
  struct telemetry_state s;
  struct telemetry *t = fake("pages=4 pages_double=1", "rows");
  (void)state;
  telemetry_state(t, &s);
  assert_int_equal(s.retired, 5);
  telemetry_close(t);
}

static void what_a_driver_lacks_stays_unknown(void **state)
{
  struct telemetry_sample sample;
  struct telemetry_state s;
  struct telemetry *t = fake("", "milliwatts celsius throttle ecc fixed");
  (void)state;
  telemetry_read(t, &sample);
  telemetry_state(t, &s);
  assert_true(sample.watts == TELEMETRY_UNKNOWN && sample.celsius == TELEMETRY_UNKNOWN);
  assert_true(sample.throttle == TELEMETRY_UNKNOWN && sample.sm_mhz == 1980);
  assert_true(s.ecc == TELEMETRY_UNKNOWN && s.corrected == TELEMETRY_UNKNOWN && s.uncorrected == 0);
  telemetry_close(t);
}

static void without_a_library_or_a_place_nothing_is_known(void **state)
{
  struct telemetry_sample sample;
  (void)state;
  setenv("HIMENO_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
  setenv("HIMENO_SYSFS", "/nonexistent", 1);
  for (int place = 0; place < 2; place++) {
    struct telemetry *t = telemetry_open(place ? "0000:12:00.0" : "");
    assert_string_equal(telemetry_source(t), "");
    telemetry_read(t, &sample);
    assert_true(sample.watts == TELEMETRY_UNKNOWN && sample.throttle == TELEMETRY_UNKNOWN);
    telemetry_close(t);
  }
}

/* As an AMD driver shows a card. */
static void sysfs_tells_power_temperature_and_link(void **state)
{
  static const char *const files[][2] = {{"vendor", "0x1002\n"},
                                         {"current_link_speed", "16.0 GT/s PCIe\n"},
                                         {"max_link_speed", "32.0 GT/s PCIe\n"},
                                         {"current_link_width", "8\n"},
                                         {"max_link_width", "16\n"},
                                         {"hwmon/hwmon3/power1_average", "305000000\n"},
                                         {"hwmon/hwmon3/temp1_input", "61500\n"},
                                         {"hwmon/hwmon3/freq1_input", "1700000000\n"}};
  char root[] = "/tmp/telemetry-XXXXXX", path[200], command[260];
  struct telemetry_sample sample;
  struct telemetry_state s;
  (void)state;
  assert_non_null(mkdtemp(root));
  snprintf(command, sizeof command, "mkdir -p %s/bus/pci/devices/0000:c1:00.0/hwmon/hwmon3", root);
  assert_int_equal(system(command), 0);
  for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
    snprintf(path, sizeof path, "%s/bus/pci/devices/0000:c1:00.0/%s", root, files[f][0]);
    write_file(path, files[f][1]);
  }
  setenv("HIMENO_NVML", "/nonexistent", 1);
  setenv("HIMENO_SYSFS", root, 1);
  struct telemetry *t = telemetry_open("0000:C1:00.0");
  assert_string_equal(telemetry_source(t), "sysfs");
  telemetry_read(t, &sample);
  telemetry_state(t, &s);
  assert_true(sample.watts == 305 && sample.celsius == 61 && sample.sm_mhz == 1700);
  assert_true(s.pcie_gen == 4 && s.pcie_gen_max == 5 && s.pcie_width == 8 && s.pcie_width_max == 16);
  assert_true(s.ecc == TELEMETRY_UNKNOWN && sample.throttle == TELEMETRY_UNKNOWN);
  telemetry_close(t);
  snprintf(command, sizeof command, "rm -r %s", root);
  assert_int_equal(system(command), 0);
}

static void reasons_are_named(void **state)
{
  char text[120];
  (void)state;
  assert_string_equal(telemetry_throttle_text(THROTTLE_POWER_CAP | THROTTLE_THERMAL, text, sizeof text),
                      "power cap, thermal");
  assert_string_equal(telemetry_throttle_text(0, text, sizeof text), "");
  assert_string_equal(telemetry_throttle_text(TELEMETRY_UNKNOWN, text, sizeof text), "");
  telemetry_throttle_text(0xfe, text, 8); /* cut, not overrun */
  assert_string_equal(text, "applica");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nvml_tells_power_clocks_temperature_and_throttling),
      cmocka_unit_test(nvml_tells_ecc_links_and_retired_memory),
      cmocka_unit_test(pages_stand_in_for_rows_on_older_devices),
      cmocka_unit_test(what_a_driver_lacks_stays_unknown),
      cmocka_unit_test(without_a_library_or_a_place_nothing_is_known),
      cmocka_unit_test(sysfs_tells_power_temperature_and_link),
      cmocka_unit_test(reasons_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
