/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The driver of a real Raspberry Pi, with the kernel and the firmware faked behind its
 * system calls. */
#include "tests/unit/contract.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "gpu/qpu/device.h"
#include "himeno/kernels/kernels.h"
#include "tests/unit/fake_pi.h"

static struct gpu_device *opened(void)
{
  struct gpu_device *device = NULL;
  status_t status = gpu_open(&gpu_backend_qpu, 0, &device);
  if (status != STATUS_OK) print_error("%s\n", log_held());
  assert_int_equal(status, STATUS_OK);
  return device;
}

static void expect_no_device(const char *message)
{
  struct gpu_device *device = NULL;
  status_t status = gpu_open(&gpu_backend_qpu, 0, &device);
  assert_int_equal(status, STATUS_ENVIRONMENT);
  if (!strstr(log_held(), message)) print_error("%s\n", log_held());
  assert_non_null(strstr(log_held(), message));
  assert_null(device);
  assert_true(fake_pi_is_clean());
  log_drop();
}

static int be_a_pi(void **state)
{
  (void)state;
  log_hold(1);
  fake_pi_be("bcm2837");
  return 0;
}

static int leave_it_clean(void **state)
{
  (void)state;
  log_drop();
  return !fake_pi_is_clean() || fake_pi->raw_opens;
}

static void a_pi_is_a_device_of_its_own(void **state)
{
  struct gpu_device_info *infos;
  char reason[GPU_TEXT_MAX];
  int n;
  (void)state;
  gpu_backend_qpu.probe(&infos, &n, reason);
  assert_int_equal(n, 1);
  assert_string_equal(infos->name, "Raspberry Pi of the tests");
  assert_string_equal(infos->arch, "VideoCore IV bcm2837");
  assert_true(!infos->emulated && !infos->is_cpu);
  assert_int_equal(infos->memory_bytes, 256 << 20);
  free(infos);
}

static void the_firmwares_memory_has_the_flags_of_the_model(void **state)
{
  static const struct {
    const char *chip;
    uint32_t flags;
  } models[] = {{"bcm2835", 0xc}, {"bcm2836", 0x4}, {"bcm2837", 0x4}};
  (void)state;
  for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
    fake_pi_be(models[m].chip);
    fake_pi->has_shared = 0;
    struct gpu_device *device = opened();
    assert_int_equal(fake_pi->flags, models[m].flags);
    assert_int_equal(fake_pi->locked, fake_pi->allocated);
    gpu_close(device);
    assert_true(fake_pi_is_clean());
  }
}

static void another_chip_is_no_pi_1_to_3(void **state)
{
  struct gpu_device_info *infos;
  char reason[GPU_TEXT_MAX];
  int n;
  (void)state;
  fake_pi_be("bcm2711");
  gpu_backend_qpu.probe(&infos, &n, reason);
  assert_int_equal(n, 1);
  assert_true(infos->emulated);
  free(infos);
  setenv("HIMENO_QPU", "pi", 1);
  expect_no_device("this is no Raspberry Pi 1 to 3");
  unsetenv("HIMENO_QPU");
}

static void the_kms_driver_is_named_with_the_setting(void **state)
{
  struct gpu_device_info *infos;
  char reason[GPU_TEXT_MAX];
  int n;
  (void)state;
  fake_pi->has_kms = 1;
  gpu_backend_qpu.probe(&infos, &n, reason);
  assert_int_equal(n, 0);
  assert_non_null(strstr(reason, "# before dtoverlay=vc4-kms-v3d in /boot/firmware/config.txt and reboot"));
  expect_no_device("put # before dtoverlay=vc4-kms-v3d in /boot/firmware/config.txt and reboot");
  setenv("HIMENO_QPU", "emulator", 1);
  gpu_close(opened());
  unsetenv("HIMENO_QPU");
}

static void the_kms_drivers_line_is_quoted_from_the_settings(void **state)
{
  (void)state;
  fake_pi->has_kms = 1;
  fake_pi->config_path = "/boot/config.txt";
  fake_pi->config = "# dtoverlay=vc4-kms-v3d\ngpu_mem=128\ndtoverlay=vc4-fkms-v3d,cma-256\n[all]\n";
  expect_no_device("put # before dtoverlay=vc4-fkms-v3d in /boot/config.txt and reboot");
  fake_pi->config_path = "/boot/firmware/config.txt";
  fake_pi->config = "dtoverlay=vc4-kms-v3d-pi3 # graphics\n";
  expect_no_device("put # before dtoverlay=vc4-kms-v3d-pi3 in /boot/firmware/config.txt and reboot");
}

static void what_is_missing_is_named(void **state)
{
  (void)state;
  fake_pi->has_vcio = 0;
  expect_no_device("there is no /dev/vcio");
  fake_pi_be("bcm2837");
  fake_pi->forbids_open = 1;
  expect_no_device("be root, or a member of the group video");
  fake_pi_be("bcm2837");
  fake_pi->refuses_enable = 1;
  expect_no_device("the firmware does not switch the QPUs on");
  fake_pi_be("bcm2837");
  fake_pi->refuses_map = 1;
  expect_no_device("memory of /dev/vcsm-cma cannot be mapped");
  fake_pi_be("bcm2837");
  fake_pi->refuses_map = 1;
  fake_pi->has_shared = 0;
  expect_no_device("cannot be mapped through /dev/vc-mem");
  fake_pi_be("bcm2837");
  fake_pi->refuses_lock = 1;
  fake_pi->has_shared = 0;
  expect_no_device("does not lock memory");
}

/* A sweep through the mailbox gives the emulated device's bits. */
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

static void a_sweep_runs_through_the_mailbox(void **state)
{
  uint64_t sums[3];
  (void)state;
  for (int variant = 0; variant < 3; variant++) {
    fake_pi_be("bcm2836");
    fake_pi->has_shared = variant == 1;
    if (variant == 2) setenv("HIMENO_QPU", "emulator", 1);
    struct gpu_device *device = opened();
    sums[variant] = swept(device);
    gpu_close(device);
    assert_int_equal(fake_pi->executes, variant < 2);
    assert_int_equal(fake_pi->enables, variant < 2);
    assert_true(fake_pi_is_clean());
  }
  unsetenv("HIMENO_QPU");
  assert_int_equal(sums[0], sums[2]);
  assert_int_equal(sums[1], sums[2]);
}

static void programs_that_do_not_end_are_a_hang(void **state)
{
  struct qpu_job job = {0};
  (void)state;
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

static void a_process_opens_the_qpus_once(void **state)
{
  struct gpu_device *second = NULL;
  (void)state;
  struct gpu_device *device = opened();
  expect_failure(gpu_open(&gpu_backend_qpu, 0, &second), STATUS_ENVIRONMENT);
  assert_true(fake_pi->enabled);
  gpu_close(device);
  gpu_close(opened());
}

static void pieces_of_memory_are_limited_in_number_and_size(void **state)
{
  struct gpu_mem mem[300];
  int n = 0;
  (void)state;
  fake_pi->has_shared = 0;
  struct gpu_device *device = opened();
  expect_failure(gpu_alloc(device, (size_t)200 << 20 << 1, &mem[0]), STATUS_ENVIRONMENT);
  while (n < 300 && gpu_alloc(device, 4096, &mem[n]) == STATUS_OK) n++;
  assert_in_range(n, 100, 299);
  assert_non_null(strstr(log_held(), "memory"));
  log_drop();
  gpu_free(device, &mem[n - 1]);
  assert_int_equal(gpu_alloc(device, 4096, &mem[n - 1]), STATUS_OK);
  gpu_close(device);
}

static void closing_takes_back_what_was_never_freed(void **state)
{
  struct gpu_mem mem;
  (void)state;
  fake_pi->has_shared = 0;
  struct gpu_device *device = opened();
  for (int a = 0; a < 5; a++) assert_int_equal(gpu_alloc(device, 5000, &mem), STATUS_OK);
  assert_int_equal(fake_pi->allocated, 6);
  gpu_close(device);
}

/* ---- ends of a process ---- */

static int in_child;

/* Called by the leak sanitizer before it checks. It cannot suspend the only thread of a forked
 * child, whose stack it would then not search for pointers. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
  return in_child;
}

/* A child that holds the firmware's memory and ends so; its exit code, or the number of the signal
 * plus 128. */
static int child_ends(int by_signal)
{
  int how;
  struct gpu_mem mem;
  fake_pi_be("bcm2835");
  fake_pi->has_shared = 0;
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    struct gpu_device *device;
    in_child = 1;
    if (gpu_open(&gpu_backend_qpu, 0, &device) != STATUS_OK || gpu_alloc(device, 5000, &mem) != STATUS_OK ||
        fake_pi->allocated != 2 || !fake_pi->enabled)
      _exit(99);
    if (!by_signal) exit(7);
    raise(by_signal);
    _exit(98);
  }
  assert_int_equal(waitpid(child, &how, 0), child);
  return WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
}

static void every_signal_that_ends_the_process_gives_back(void **state)
{
  static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGPIPE, SIGUSR1, SIGXCPU};
  (void)state;
  for (size_t s = 0; s < sizeof signals / sizeof *signals; s++) {
    int end = child_ends(signals[s]);
    if (end != 128 + signals[s]) print_error("signal %d: the child ended with %d\n", signals[s], end);
    assert_int_equal(end, 128 + signals[s]);
    assert_int_equal(fake_pi->enabled | fake_pi->allocated | fake_pi->locked, 0);
  }
  fake_pi_be("bcm2837");
}

static void *send_term(void *unused)
{
  (void)unused;
  raise(SIGTERM); /* to this thread, while the other allocates and frees */
  return NULL;
}

/* Wherever the one thread is, the other's handler finds a whole table. */
static void a_signal_to_another_thread_gives_back(void **state)
{
  (void)state;
  for (int round = 0; round < 20; round++) {
    int how;
    fake_pi_be("bcm2835");
    fake_pi->has_shared = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      struct gpu_device *device;
      struct gpu_mem mem;
      pthread_t other;
      if (gpu_open(&gpu_backend_qpu, 0, &device) != STATUS_OK ||
          pthread_create(&other, NULL, send_term, NULL) != 0)
        _exit(99);
      for (;;)
        if (gpu_alloc(device, 5000, &mem) == STATUS_OK) gpu_free(device, &mem);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM);
    assert_int_equal(fake_pi->enabled | fake_pi->allocated | fake_pi->locked, 0);
  }
  fake_pi_be("bcm2837");
}

static void an_exit_without_close_gives_back(void **state)
{
  (void)state;
  assert_int_equal(child_ends(0), 7);
  assert_int_equal(fake_pi->enabled | fake_pi->allocated | fake_pi->locked, 0);
  fake_pi_be("bcm2837");
}

static volatile sig_atomic_t seen;
static void note(int number)
{
  seen = number;
}

static void a_signal_that_somebody_handles_ends_nothing(void **state)
{
  struct sigaction ours = {.sa_handler = note}, before;
  (void)state;
  sigaction(SIGUSR2, &ours, &before);
  struct gpu_device *device = opened();
  raise(SIGUSR2);
  assert_int_equal(seen, SIGUSR2);
  assert_true(fake_pi->enabled);
  gpu_close(device);
  sigaction(SIGUSR2, &before, NULL);
}

static void handlers_go_with_the_device(void **state)
{
  struct sigaction now;
  (void)state;
  gpu_close(opened());
  assert_int_equal(sigaction(SIGTERM, NULL, &now), 0);
  assert_true(now.sa_handler == SIG_DFL);
}

#define PI_TEST(function) cmocka_unit_test_setup_teardown(function, be_a_pi, leave_it_clean)

int main(void)
{
  const struct CMUnitTest tests[] = {
      PI_TEST(a_pi_is_a_device_of_its_own),
      PI_TEST(the_firmwares_memory_has_the_flags_of_the_model),
      PI_TEST(another_chip_is_no_pi_1_to_3),
      PI_TEST(the_kms_driver_is_named_with_the_setting),
      PI_TEST(the_kms_drivers_line_is_quoted_from_the_settings),
      PI_TEST(what_is_missing_is_named),
      PI_TEST(a_sweep_runs_through_the_mailbox),
      PI_TEST(programs_that_do_not_end_are_a_hang),
      PI_TEST(a_process_opens_the_qpus_once),
      PI_TEST(pieces_of_memory_are_limited_in_number_and_size),
      PI_TEST(closing_takes_back_what_was_never_freed),
      PI_TEST(every_signal_that_ends_the_process_gives_back),
      PI_TEST(a_signal_to_another_thread_gives_back),
      PI_TEST(an_exit_without_close_gives_back),
      PI_TEST(a_signal_that_somebody_handles_ends_nothing),
      PI_TEST(handlers_go_with_the_device),
  };
  unsetenv("HIMENO_QPU");
  log_hold(1);
  fake_pi_be("bcm2837");
  return contract_run(&gpu_backend_qpu, tests, sizeof tests / sizeof *tests);
}
