/* SPDX-License-Identifier: MIT */
/** \file \brief Tests the driver for a real Raspberry Pi. A fake kernel and firmware replace its
 * system calls. */
#include "tests/unit/contract.h"

#include "base/log.h"
#include "gpu/qpu/device.h"
#include "himeno/kernels/kernels.h"
#include "tests/unit/fake_pi.h"

/* what the backend's probe returned */
static struct gpu_device_info *infos;
static char reason[GPU_TEXT_MAX];
static int n;

static struct gpu_device *opened(void)
{
  struct gpu_device *device = NULL;
  status_t status = gpu_open(&gpu_backend_qpu, 0, &device);
  if (status != STATUS_OK) fail_msg("%s", log_held());
  return device;
}

static void expect_no_device(const char *message)
{
  struct gpu_device *device = NULL;
  status_t status = gpu_open(&gpu_backend_qpu, 0, &device);
  assert_int_equal(status, STATUS_ENVIRONMENT);
  if (!strstr(log_held(), message)) fail_msg("%s", log_held());
  assert_null(device);
  assert_true(fake_pi_is_clean());
  log_drop();
}

static int be_a_pi(void **state)
{
  log_hold(1);
  fake_pi_be("bcm2837");
  return 0;
}

static int leave_it_clean(void **state)
{
  log_drop();
  return !fake_pi_is_clean() || fake_pi->raw_opens;
}

TEST_WITH(a_pi_is_a_device_of_its_own, be_a_pi, leave_it_clean)
{
  gpu_backend_qpu.probe(&infos, &n, reason);
  assert_int_equal(n, 1);
  assert_string_equal(infos->name, "Raspberry Pi of the tests");
  assert_string_equal(infos->arch, "VideoCore IV bcm2837");
  assert_true(!infos->emulated && !infos->is_cpu);
  assert_int_equal(infos->memory_bytes, 256 << 20);
  free(infos);
}

TEST_WITH(another_chip_is_no_pi_1_to_3, be_a_pi, leave_it_clean)
{
  fake_pi_be("bcm2711");
  gpu_backend_qpu.probe(&infos, &n, reason);
  assert_int_equal(n, 1);
  assert_true(infos->emulated);
  free(infos);
  setenv("HIMENO_QPU", "pi", 1);
  expect_no_device("this is no Raspberry Pi 1 to 3");
  unsetenv("HIMENO_QPU");
}

TEST_WITH(the_kms_driver_is_named_with_the_setting, be_a_pi, leave_it_clean)
{
  fake_pi->has_kms = 1;
  gpu_backend_qpu.probe(&infos, &n, reason);
  assert_int_equal(n, 0);
  assert_non_null(strstr(reason, "# before dtoverlay=vc4-kms-v3d in /boot/firmware/config.txt and reboot"));
  expect_no_device("put # before dtoverlay=vc4-kms-v3d in /boot/firmware/config.txt and reboot");
  setenv("HIMENO_QPU", "emulator", 1);
  gpu_close(opened());
  unsetenv("HIMENO_QPU");
}

TEST_WITH(the_kms_drivers_line_is_quoted_from_the_settings, be_a_pi, leave_it_clean)
{
  fake_pi->has_kms = 1;
  fake_pi->config_path = "/boot/config.txt";
  fake_pi->config = "# dtoverlay=vc4-kms-v3d\ngpu_mem=128\ndtoverlay=vc4-fkms-v3d,cma-256\n[all]\n";
  expect_no_device("put # before dtoverlay=vc4-fkms-v3d in /boot/config.txt and reboot");
  fake_pi->config_path = "/boot/firmware/config.txt";
  fake_pi->config = "dtoverlay=vc4-kms-v3d-pi3 # graphics\n";
  expect_no_device("put # before dtoverlay=vc4-kms-v3d-pi3 in /boot/firmware/config.txt and reboot");
}

TEST_WITH(what_is_missing_is_named, be_a_pi, leave_it_clean)
{
  fake_pi->has_vcio = 0;
  expect_no_device("there is no /dev/vcio");
  fake_pi_be("bcm2837");
  fake_pi->forbids_open = 1;
  expect_no_device("/dev/vcio: Permission denied: be root, or a member of the group video");
  fake_pi_be("bcm2837");
  fake_pi->refuses_enable = 1;
  expect_no_device("the firmware does not switch the QPUs on");
  fake_pi_be("bcm2837");
  fake_pi->refuses_map = 1;
  expect_no_device("memory of /dev/vcsm-cma cannot be mapped");
  fake_pi_be("bcm2837");
  fake_pi->has_shared = 0;
  expect_no_device("there is no /dev/vcsm-cma");
}

/* Returns a sweep's checksum: through the mailbox it must equal the emulated device's. */
static uint64_t swept(struct gpu_device *device)
{
  const struct himeno_kernel_set *set = himeno_kernels_find("qpu");
  struct himeno_fields fields = {0};
  struct himeno_exec *exec;
  struct gpu_queue *queue;
  struct decomp decomp;
  uint64_t sum;
  decomp_init(&decomp, (const int64_t[3]){9, 8, 37}, (const int[3]){1, 1, 1}, 0);
  assert_int_equal(layout_init(&fields.layout, &decomp, 1, 0), STATUS_OK);
  size_t bytes = (size_t)layout_floats(&fields.layout) * sizeof(float);
  assert_int_equal(gpu_queue_create(device, GPU_NORMAL, &queue), STATUS_OK);
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++)
    assert_int_equal(gpu_alloc(device, bytes, &fields.coefficient[m]), STATUS_OK);
  for (int n = 0; n < 2; n++) assert_int_equal(gpu_alloc(device, bytes, &fields.p[n]), STATUS_OK);
  assert_int_equal(gpu_alloc(device, sizeof(double), &fields.gosa), STATUS_OK);
  assert_int_equal(set->open(device, &fields, himeno_kernel_find(set, "stream"), &exec), STATUS_OK);
  for (int m = 0; m < HIMENO_ARRAYS; m++)
    assert_int_equal(set->fill(exec, queue, m, HIMENO_DENSE), STATUS_OK);
  struct himeno_sweep sweep = {.box = fields.layout.owned};
  assert_int_equal(set->sweep(exec, queue, &sweep), STATUS_OK);
  assert_int_equal(set->checksum(exec, queue, &fields.p[1], 1, &fields.layout.counted, &sum), STATUS_OK);
  set->close(exec);
  gpu_free(device, &fields.gosa);
  for (int n = 0; n < 2; n++) gpu_free(device, &fields.p[n]);
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) gpu_free(device, &fields.coefficient[m]);
  gpu_queue_destroy(queue);
  return sum;
}

TEST_WITH(a_sweep_runs_through_the_mailbox, be_a_pi, leave_it_clean)
{
  uint64_t sums[2];
  for (int emulated = 0; emulated < 2; emulated++) {
    fake_pi_be("bcm2836");
    if (emulated) setenv("HIMENO_QPU", "emulator", 1);
    struct gpu_device *device = opened();
    sums[emulated] = swept(device);
    gpu_close(device);
    assert_int_equal(fake_pi->executes, !emulated);
    assert_int_equal(fake_pi->enables, !emulated);
    assert_true(fake_pi_is_clean());
  }
  unsetenv("HIMENO_QPU");
  assert_int_equal(sums[0], sums[1]);
}

TEST_WITH(programs_that_do_not_end_are_a_hang, be_a_pi, leave_it_clean)
{
  struct qpu_job job = {0};
  struct gpu_device *device = opened();
  fake_pi->times_out = 1;
  expect_failure(qpu_device_run(device, &job, 1, 1), STATUS_HANG);
  fake_pi->times_out = 0;
  fake_pi->refuses_execute = 1;
  expect_failure(qpu_device_run(device, &job, 1, 1), STATUS_FAULT);
  expect_failure(qpu_device_run(device, &job, 13, 1), STATUS_USAGE);
  expect_failure(qpu_device_run(device, &job, 1, 2), STATUS_ENVIRONMENT);
  gpu_close(device);
}

TEST_WITH(a_process_opens_the_qpus_once, be_a_pi, leave_it_clean)
{
  struct gpu_device *second = NULL;
  struct gpu_device *device = opened();
  expect_failure(gpu_open(&gpu_backend_qpu, 0, &second), STATUS_ENVIRONMENT);
  assert_true(fake_pi->enabled);
  gpu_close(device);
  gpu_close(opened());
}

TEST_WITH(memory_is_limited, be_a_pi, leave_it_clean)
{
  struct gpu_mem mem;
  uint64_t left;
  struct gpu_device *device = opened();
  expect_failure(gpu_alloc(device, (size_t)200 << 20 << 1, &mem), STATUS_ENVIRONMENT);
  assert_int_equal(gpu_alloc(device, (size_t)200 << 20, &mem), STATUS_OK);
  assert_int_equal(fake_pi->open_memories, 2);
  assert_int_equal(gpu_memory_free(device, &left), STATUS_OK);
  assert_int_equal(left, (56 << 20) - 4096);
  gpu_free(device, &mem);
  assert_int_equal(fake_pi->open_memories, 1);
  gpu_close(device);
}

TEST_WITH(closing_takes_back_what_was_never_freed, be_a_pi, leave_it_clean)
{
  struct gpu_mem mem;
  struct gpu_device *device = opened();
  for (int a = 0; a < 5; a++) assert_int_equal(gpu_alloc(device, 5000, &mem), STATUS_OK);
  assert_int_equal(fake_pi->open_memories, 6);
  gpu_close(device);
}

int main(void)
{
  unsetenv("HIMENO_QPU");
  log_hold(1);
  fake_pi_be("bcm2837");
  return contract_run(&gpu_backend_qpu, unit_list()->test, unit_list()->n);
}
