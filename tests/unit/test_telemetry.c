/* SPDX-License-Identifier: MIT */
/* NVML is replaced by the test's own library, and sysfs by a folder that the test writes. */
#include "tests/unit/unit.h"

#include <sys/stat.h>

#include "gpu/memory.h"
#include "gpu/telemetry.h"

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* Closes the device that the previous call opened. */
static struct telemetry *opened(const char *pci, const char *source)
{
  static struct telemetry *last;
  telemetry_close(last);
  last = telemetry_open(pci);
  assert_string_equal(telemetry_source(last), source);
  return last;
}

static struct telemetry *fake(const char *readings, const char *lacks)
{
  char library[600];
  const char *built = getenv("top_builddir");
  snprintf(library, sizeof library, "%s/tests/unit/fake_nvml.so", built ? built : ".");
  setenv("HIMENO_NVML", library, 1);
  setenv("HIMENO_SYSFS", "/nonexistent", 1);
  setenv("FAKE_NVML", readings, 1);
  setenv("FAKE_NVML_LACKS", lacks, 1);
  return opened("0000:12:00.0", "NVML");
}

TEST(nvml_reports_power_clocks_temperature_and_throttling)
{
  struct telemetry_sample sample;
  struct telemetry *t =
      fake("milliwatts=512500 clock@2=1305 clock=1980 memory=2500 celsius=71 throttle=101", "");
  telemetry_read(t, &sample);
  assert_true(sample.watts == 512.5 && sample.sm_mhz == 1305 && sample.memory_mhz == 2500 &&
              sample.celsius == 71);
  assert_int_equal(sample.throttle, 100); /* reason 1 is idleness, which does not count */
}

TEST(nvml_reports_ecc_links_and_retired_memory)
{
  struct telemetry_state s;
  struct telemetry *t =
      fake("ecc=0 fixed=7 broken=2 rows=3 rows_lost=4 gen=4 width=8 width_max=16 links=18 links_up=17", "");
  telemetry_state(t, &s);
  assert_true(s.ecc == 0 && s.corrected == 7 && s.uncorrected == 2 && s.retired == 7);
  assert_true(s.pcie_gen == 4 && s.pcie_gen_max == 5 && s.pcie_width == 8 && s.pcie_width_max == 16);
  assert_true(s.nvlinks == 18 && s.nvlinks_active == 17 && s.sm_mhz_max == 1980 && s.memory_mhz_max == 2619);
  telemetry_state(fake("pages=4 pages_double=1", "rows"), &s); /* of older devices */
  assert_int_equal(s.retired, 5);
}

/* An H200 has 6144 bits at 3201 MHz, twice per clock, and 16896 lanes at 1980 MHz. */
TEST(peaks_are_clocks_by_widths)
{
  struct telemetry_state s;
  telemetry_state(fake("top=1980 memory_top=3201 bits=6144 cores=16896", ""), &s);
  assert_true(telemetry_peak_bytes(&s) == 4916.736e9 && telemetry_peak_flops(&s) == 66908.16e9);
  static const char *const incomplete[] = {"bits=6144 cores=16896 mig=1", ""};
  for (int n = 0; n < 2; n++) {
    telemetry_state(fake(incomplete[n], ""), &s);
    assert_true(telemetry_peak_bytes(&s) == 0 && telemetry_peak_flops(&s) == 0);
  }
}

TEST(nvml_reports_who_else_holds_memory)
{
  struct telemetry_memory m;
  fake("memory_mib=81559 holder=4711 holder_mib=74752", "");
  telemetry_memory("0000:12:00.0", &m);
  assert_true(m.total == (int64_t)81559 << 20 && m.free == (int64_t)(81559 - 74752) << 20);
  assert_true(m.n == 1 && m.holder[0].process == 4711 && m.holder[0].bytes == (int64_t)74752 << 20);
  struct gpu_device device = {.info = {.pci = "0000:12:00.0"}};
  char text[GPU_HOLDERS_TEXT];
  fake("holder=4200000 holder_mib=2560 more=5", "");
  assert_string_equal(
      gpu_memory_holders(&device, text),
      "; held by process 4200005 (of another container, 5.0 GiB), process 4200004 (of another "
      "container, 4.0 GiB), process 4200003 (of another container, 3.0 GiB), process 4200000 (of "
      "another container, 2.5 GiB) and 2 more");
  telemetry_memory("", &m);
  assert_true(m.total < 0 && m.free < 0 && m.n == 0);
}

TEST(nvml_counts_bytes_through_links)
{
  struct telemetry_sent before, after, none;
  struct telemetry *t = fake("nvlink=7 nvlink_each=5 pcie=4294967290 pcie_each=10", "");
  telemetry_sent(t, &before);
  telemetry_sent(t, &after);
  assert_true(before.nvlink == 7 * 1024 && before.pcie == 4294967290 && after.pcie == 4);
  after = telemetry_sent_between(&before, &after);
  assert_true(after.nvlink == 5 * 1024 && after.pcie == 10);
  telemetry_sent(fake("pcie=3", ""), &none);
  assert_true(none.nvlink == TELEMETRY_UNKNOWN && none.pcie == 3);
  none = telemetry_sent_between(&before, &none);
  assert_true(none.nvlink == TELEMETRY_UNKNOWN);
}

TEST(nvml_counts_millijoules)
{
  double joules = -1;
  struct telemetry *t = fake("joules=1234.567", "");
  assert_non_null(strstr(telemetry_joules(t, &joules), "NVML"));
  assert_true(joules > 1234.5669 && joules < 1234.5671);
  assert_null(telemetry_joules(fake("", ""), &joules));
}

TEST(nvml_counts_replays_crc_errors_and_xids)
{
  struct telemetry_state s;
  char text[TELEMETRY_DETAIL_BYTES];
  struct telemetry *t = fake("resent=4 link_replays=1 link_recoveries=2 link_flits=5 link_data=6", "");
  telemetry_state(t, &s);
  assert_true(s.pcie_replays == 4 && s.nvlink_replays == 1 && s.nvlink_recoveries == 2 && s.nvlink_crc == 11);
  assert_int_equal(s.xids, 0);
  assert_string_equal(telemetry_fact_detail(&s, FACT_XIDS, text), "");
  setenv("FAKE_NVML", "xid=79", 1);
  telemetry_state(t, &s);
  telemetry_state(t, &s); /* each event comes once */
  assert_int_equal(s.xids, 1);
  assert_string_equal(telemetry_fact_detail(&s, FACT_XIDS, text), "Xid 79");
  setenv("FAKE_NVML", "xid=48", 1);
  telemetry_state(t, &s);
  assert_true(s.xids == 2 && s.xid == 48);
  telemetry_state(fake("links=0", "resent xid"), &s);
  assert_true(s.pcie_replays == TELEMETRY_UNKNOWN && s.xids == TELEMETRY_UNKNOWN);
  assert_true(s.nvlink_replays == TELEMETRY_UNKNOWN && s.nvlink_crc == TELEMETRY_UNKNOWN);
}

TEST(what_a_driver_lacks_stays_unknown)
{
  struct telemetry_sample sample;
  struct telemetry_state s;
  struct telemetry *t = fake("", "milliwatts celsius throttle ecc fixed");
  telemetry_read(t, &sample);
  telemetry_state(t, &s);
  assert_true(sample.watts == TELEMETRY_UNKNOWN && sample.celsius == TELEMETRY_UNKNOWN);
  assert_true(sample.throttle == TELEMETRY_UNKNOWN && sample.sm_mhz == 1980);
  assert_true(s.ecc == TELEMETRY_UNKNOWN && s.corrected == TELEMETRY_UNKNOWN && s.uncorrected == 0);
}

TEST(without_a_library_or_a_place_nothing_is_known)
{
  struct telemetry_sample sample;
  setenv("HIMENO_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
  setenv("HIMENO_SYSFS", "/nonexistent", 1);
  for (int place = 0; place < 2; place++) {
    telemetry_read(opened(place ? "0000:12:00.0" : "", ""), &sample);
    assert_true(sample.watts == TELEMETRY_UNKNOWN && sample.throttle == TELEMETRY_UNKNOWN);
  }
}

/* ---- sysfs ---- */

static char root[] = "/tmp/telemetry-XXXXXX", folder[120];

static int tree_open(void **state)
{
  strcpy(root + strlen(root) - 6, "XXXXXX");
  if (!mkdtemp(root)) return -1;
  snprintf(folder, sizeof folder, "%s/bus/pci/devices/0000:c1:00.0", root);
  setenv("HIMENO_NVML", "/nonexistent", 1);
  setenv("HIMENO_SYSFS", root, 1);
  return 0;
}

static int tree_close(void **state)
{
  char command[200];
  snprintf(command, sizeof command, "rm -r %s", root);
  return system(command);
}

static void put(const char *name, const char *text)
{
  char path[260], command[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  snprintf(command, sizeof command, "mkdir -p $(dirname %s)", path);
  assert_int_equal(system(command), 0);
  write_file(path, text);
}

TEST_WITH(sysfs_reports_power_temperature_and_link, tree_open, tree_close)
{
  static const char *const speeds[] = {"2.5 GT/s PCIe\n",  "5.0 GT/s PCIe\n",  "8.0 GT/s PCIe\n",
                                       "16.0 GT/s PCIe\n", "32.0 GT/s PCIe\n", "64.0 GT/s PCIe\n",
                                       "128.0 GT/s PCIe\n"};
  struct telemetry_state s;
  put("vendor", "0x1002\n");
  put("current_link_speed", "16.0 GT/s PCIe\n");
  put("max_link_speed", "32.0 GT/s PCIe\n");
  put("current_link_width", "8\n");
  put("max_link_width", "16\n");
  put("hwmon/hwmon3/power1_average", "305000000\n");
  put("hwmon/hwmon3/temp1_input", "61500\n");
  put("hwmon/hwmon3/freq1_input", "1700000000\n");
  put("hwmon/hwmon3/freq2_input", "1300000000\n");
  struct telemetry *t = opened("0000:C1:00.0", "sysfs");
  struct telemetry_sample sample;
  telemetry_read(t, &sample);
  telemetry_state(t, &s);
  assert_true(sample.watts == 305 && sample.celsius == 61 && sample.sm_mhz == 1700 &&
              sample.memory_mhz == 1300);
  assert_true(s.pcie_gen == 4 && s.pcie_gen_max == 5 && s.pcie_width == 8 && s.pcie_width_max == 16);
  assert_true(s.ecc == TELEMETRY_UNKNOWN && s.corrected == TELEMETRY_UNKNOWN &&
              s.retired == TELEMETRY_UNKNOWN && sample.throttle == TELEMETRY_UNKNOWN);
  for (int gen = 1; gen <= 7; gen++) {
    put("current_link_speed", speeds[gen - 1]);
    telemetry_state(t, &s);
    assert_int_equal(s.pcie_gen, gen);
  }
}

TEST_WITH(amdgpu_counts_errors_bad_pages_and_memory, tree_open, tree_close)
{
  struct telemetry_state s;
  struct telemetry_memory m;
  put("vendor", "0x1002\n");
  put("ras/umc_err_count", "ue: 1\nce: 12\nde: 3\n");
  put("ras/gpu_vram_bad_pages", "0x027f5d43 : 0x00001000 : R\n0x027f5d4b : 0x00001000 : P\n"
                                "0x027f5d53 : 0x00001000 : F\n");
  struct telemetry *t = opened("0000:C1:00.0", "sysfs");
  telemetry_state(t, &s);
  assert_true(s.uncorrected == 1 && s.corrected == 12 && s.retired == 2);
  put("ras/umc_err_count", "ue: 1\nce: 13\nde: 3\n");
  put("ras/gpu_vram_bad_pages", "");
  telemetry_state(t, &s);
  assert_true(s.corrected == 13 && s.retired == 0);
  put("ras/umc_err_count", "");
  put("ras/aca_umc", "ue: 0\nce: 4\nde: 0\n"); /* newer devices */
  telemetry_state(t, &s);
  assert_true(s.uncorrected == 0 && s.corrected == 4);
  put("mem_info_vram_total", "68702699520\n");
  put("mem_info_vram_used", "702699520\n");
  telemetry_memory("0000:C1:00.0", &m);
  assert_true(m.total == 68702699520 && m.free == 68000000000 && m.n == 0);
}

TEST(reasons_are_named)
{
  char text[120];
  assert_string_equal(telemetry_throttle_text(THROTTLE_POWER_CAP | THROTTLE_THERMAL, text, sizeof text),
                      "power cap, thermal");
  assert_string_equal(telemetry_throttle_text(0, text, sizeof text), "");
  assert_string_equal(telemetry_throttle_text(TELEMETRY_UNKNOWN, text, sizeof text), "");
  telemetry_throttle_text(0xfe, text, 8); /* cut, not overrun */
  assert_string_equal(text, "applica");
}

UNIT_MAIN(NULL, NULL)
