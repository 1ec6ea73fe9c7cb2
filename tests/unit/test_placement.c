/* SPDX-License-Identifier: MIT */
/* Tests which claims of ranks make a job, what is reported about others, which ranks are late. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "comm/ranks/alarm.h"
#include "comm/ranks/placement.h"
#include "tests/unit/capture.h"

#define RANKS_MAX 64

static int position(const char *name)
{
  int b = 0;
  while (strcmp(gpu_backends[b]->name, name) != 0) b++;
  return b;
}

/* Sets the claim of rank r. \a host is its host's name, and \a first that host's first rank. */
static void claim_set(struct rank_claim *all, int r, const char *host, int first, int backend,
                      const char *reason)
{
  memset(&all[r], 0, sizeof all[r]);
  all[r].claim.backend = backend;
  all[r].host_first = first;
  snprintf(all[r].claim.reason, sizeof all[r].claim.reason, "%s", reason);
  snprintf(all[r].host, sizeof all[r].host, "%s", host);
}

static void refused(const struct rank_claim *all, int n, const char *expected)
{
  struct capture capture = capture_begin(stderr);
  status_t status = rank_claims_check(all, n);
  char *text = capture_end(&capture);
  assert_int_equal(status, STATUS_ENVIRONMENT);
  assert_string_equal(text, expected);
  free(text);
}

#define MIXED                                                                                                \
  "the ranks would use different backends, which are never mixed. Mend the hosts, or name one backend for "  \
  "all ranks with -b\n"

static void one_backend_for_all_ranks_is_taken(void **state)
{
  struct rank_claim all[3];
  for (int r = 0; r < 3; r++) claim_set(all, r, "n1", 0, position("cuda"), "");
  assert_int_equal(rank_claims_check(all, 3), STATUS_OK);
  claim_set(all, 0, "n1", 0, position("cpu"), "no GPU on the PCI bus");
  claim_set(all, 1, "n2", 1, position("cpu"), "CUDA_VISIBLE_DEVICES hides all GPUs");
  assert_int_equal(rank_claims_check(all, 2), STATUS_OK);
}

static void backends_are_never_mixed(void **state)
{
  struct rank_claim all[RANKS_MAX];
  for (int r = 0; r < 3; r++) claim_set(all, r, r < 2 ? "n1" : "n2", r < 2 ? 0 : 2, position("cuda"), "");
  claim_set(all, 2, "n2", 2, position("cpu"), "no GPU on the PCI bus");
  refused(all, 3,
          MIXED "host n1 (from rank 0 on, 2 ranks) would use backend cuda\n"
                "host n2 (rank 2) would use backend cpu: no GPU on the PCI bus\n");
  claim_set(all, 2, "n2", 2, position("opencl"), "");
  refused(all, 3,
          MIXED "host n1 (from rank 0 on, 2 ranks) would use backend cuda\n"
                "host n2 (rank 2) would use backend opencl\n");
  claim_set(all, 2, "n2", 2, -1, "a GPU that is lost");
  refused(all, 3,
          MIXED "host n1 (from rank 0 on, 2 ranks) would use backend cuda\n"
                "host n2 (rank 2): a GPU that is lost\n");
}

static void hosts_with_one_reason_share_a_line(void **state)
{
  struct rank_claim all[RANKS_MAX];
  for (int r = 0; r < 4; r++) claim_set(all, r, r < 2 ? "n1.a" : "n1.b", r / 2 * 2, -1, "no driver");
  refused(all, 4, "host n1.a, n1.b (from rank 0 on, 4 ranks): no driver\n");
  for (int r = 0; r < RANKS_MAX; r++) claim_set(all, r, "same", r, -1, "no driver");
  refused(all, RANKS_MAX,
          "host same, same, same, same, same, same, same, same and 56 more (from rank 0 on, 64 ranks): no "
          "driver\n");
  claim_set(all, 0, "n1", 0, -1, "no driver");
  refused(all, 1, "host n1: no driver\n");
}

/* ---- the automatic choice ---- */

static void nothing(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  *devices = NULL;
  *n = 0;
  snprintf(reason, GPU_TEXT_MAX, "the driver is broken");
}

static void one_gpu(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  (void)reason;
  *devices = calloc(1, sizeof **devices);
  *n = 1;
}

static const struct gpu_backend best = {.name = "best", .vendor = GPU_VENDOR_NVIDIA, .probe = nothing},
                                works = {.name = "best", .vendor = GPU_VENDOR_NVIDIA, .probe = one_gpu},
                                any = {.name = "any", .probe = one_gpu},
                                host = {.name = "host", .on_host = 1, .probe = nothing};

/* Makes a PCI bus with one device of this vendor. */
static void bus_with(const char *vendor)
{
  char command[256];
  snprintf(command, sizeof command,
           "f=bus.tmp/bus/pci/devices/0000:3b:00.0 && mkdir -p $f && echo 0x030200 >$f/class && echo %s "
           ">$f/vendor",
           vendor);
  assert_int_equal(system(command), 0);
  setenv("HIMENO_SYSFS", "bus.tmp", 1);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

static void another_backend_does_not_replace_a_broken_driver(void **state)
{
  const struct gpu_backend *const broken[] = {&best, &any, &host, NULL}, *const sound[] = {&works, &any,
                                                                                           &host, NULL};
  struct gpu_claim claim;
  bus_with("0x10de");
  gpu_claim_best(broken, &claim);
  assert_int_equal(claim.backend, -1);
  assert_non_null(strstr(claim.reason,
                         "a GPU on the PCI bus cannot be used (NVIDIA 0000:3b:00.0, no kernel driver): "
                         "best: the driver is broken. "));
  gpu_claim_best(sound, &claim);
  assert_int_equal(claim.backend, 0);
  gpu_claim_best(broken + 1, &claim);
  assert_int_equal(claim.backend, 0);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  gpu_claim_best(broken, &claim);
  assert_int_equal(claim.backend, 1);
  bus_with("0x1a03");
  gpu_claim_best(broken, &claim);
  assert_int_equal(claim.backend, 1);
  assert_string_equal(claim.reason, "");
  unsetenv("HIMENO_SYSFS");
  assert_int_equal(system("rm -r bus.tmp"), 0);
}

/* Starts a process that computes or sleeps, and sends it \a signal. */
static pid_t process_that(int signal, int computes)
{
  const pid_t child = fork();
  if (child == 0)
    for (;;)
      if (!computes) pause();
  if (signal) kill(child, signal);
  return child;
}

static int starves_at_last(struct alarm_slot *slot, pid_t process, int expected)
{
  int starves = !expected;
  slot->thread = process;
  for (int try = 0; try < 10000 && starves != expected; try++) {
    starves = alarm_starves(slot, alarm_clock());
    usleep(1000);
  }
  return starves;
}

static void a_thread_is_late_for_want_of_a_processor_only_if_it_is_ready_to_run(void **state)
{
  const pid_t processes[] = {process_that(0, 1), process_that(0, 0), process_that(SIGSTOP, 1)};
  struct alarm_slot slot = {.beat = alarm_clock() - ALARM_SECOND};
  assert_true(starves_at_last(&slot, processes[0], 1));
  slot.beat = alarm_clock();
  assert_false(alarm_starves(&slot, alarm_clock()));
  slot.beat = 1;
  assert_false(starves_at_last(&slot, processes[1], 0));
  assert_false(starves_at_last(&slot, processes[2], 0));
  for (int p = 0; p < 3; p++) kill(processes[p], SIGKILL);
  for (int p = 0; p < 3; p++) waitpid(processes[p], NULL, 0);
  assert_false(alarm_starves(&slot, alarm_clock()));
  slot.thread = 0;
  assert_false(alarm_starves(&slot, alarm_clock()));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_backend_for_all_ranks_is_taken),
      cmocka_unit_test(backends_are_never_mixed),
      cmocka_unit_test(hosts_with_one_reason_share_a_line),
      cmocka_unit_test(another_backend_does_not_replace_a_broken_driver),
      cmocka_unit_test(a_thread_is_late_for_want_of_a_processor_only_if_it_is_ready_to_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
