/* SPDX-License-Identifier: MIT */
/* Tests which claims of ranks make a job, what is reported about others, which ranks are late. */
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/log.h"
#include "comm/ranks/alarm.h"
#include "comm/ranks/placement.h"
#include "suite/ranks.h"
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

TEST(one_backend_for_all_ranks_is_taken)
{
  struct rank_claim all[3];
  for (int r = 0; r < 3; r++) claim_set(all, r, "n1", 0, position("cuda"), "");
  assert_int_equal(rank_claims_check(all, 3), STATUS_OK);
  claim_set(all, 0, "n1", 0, position("cpu"), "no GPU on the PCI bus");
  claim_set(all, 1, "n2", 1, position("cpu"), "CUDA_VISIBLE_DEVICES hides all GPUs");
  assert_int_equal(rank_claims_check(all, 2), STATUS_OK);
}

TEST(backends_are_never_mixed)
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
  for (int r = 0; r < 3; r++) all[r].claim.backend = position("opencl");
  all[2].claim.only_cpus = 1;
  refused(all, 3,
          MIXED "host n1 (from rank 0 on, 2 ranks) would use backend opencl\n"
                "host n2 (rank 2) would use backend opencl on its CPU\n");
  for (int r = 0; r < 3; r++) all[r].claim.backend = position("cuda");
  claim_set(all, 2, "n2", 2, -1, "a GPU that is lost");
  refused(all, 3,
          MIXED "host n1 (from rank 0 on, 2 ranks) would use backend cuda\n"
                "host n2 (rank 2): a GPU that is lost\n");
}

TEST(hosts_with_one_reason_share_a_line)
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

static void gpu_and_cpu(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  (void)reason;
  *devices = calloc(2, sizeof **devices);
  (*devices)[1].is_cpu = 1;
  *n = 2;
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

TEST(another_backend_does_not_replace_a_broken_driver)
{
  struct gpu_choice choice;
  const struct gpu_backend *const broken[] = {&best, &any, &host, NULL}, *const sound[] = {&works, &any,
                                                                                           &host, NULL};
  struct gpu_claim claim;
  log_hold(1);
  assert_int_equal(gpu_choice_make(&best, NULL, &choice), STATUS_ENVIRONMENT);
  assert_string_equal(log_held(), "backend best: the driver is broken");
  log_drop();
  log_hold(0);
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

TEST(a_driver_of_the_cpu_stands_in_for_no_gpu)
{
  const struct gpu_backend both = {.name = "both", .probe = gpu_and_cpu};
  struct gpu_choice choice;
  for (int asked = 0; asked < 2; asked++) {
    assert_int_equal(gpu_choice_make(&both, asked ? "1" : NULL, &choice), STATUS_OK);
    assert_int_equal(choice.n, 1);
    assert_int_equal(choice.index[0], asked);
    assert_int_equal(choice.devices[0].is_cpu, asked);
    gpu_choice_free(&choice);
  }
}

TEST(long_lists_of_ranks_end_with_the_number_of_others)
{
  static struct rank_row rows[RANKS_MAX + 2];
  static const struct {
    int n, lines;
    const char *hosts, *ranks, *warnings;
  } cases[] = {
      {8, 20, ", 1 on h7\n",
       "\n     7  h7                            1.5                 1  0000:c1:00.0  \n",
       "not those of a whole device.\n"},
      {9, 22, ", 1 on h7; 9 on 9 hosts in all\n",
       "\n     8  a-host-of-8                    1.5                 1  0000:c1:00.0  \n",
       "rank 8 SHARES its device  on a-host-of-8 with 1 other rank\n"},
      {64, 132, "; 64 on 64 hosts in all\n", "h63", "rank 63 SHARES"},
      {66, 134, "; 66 on 66", "  ... and 2 more: see --json\n", "  ... and 2 more warnings: see --json\n"}};
  for (int r = 0; r < RANKS_MAX + 2; r++) {
    rows[r] = (struct rank_row){.host_first = r, .host_unused = 1, .numa = 1, .shared = 1, .gflops = 1.5};
    strcpy(rows[r].info.pci, "0000:c1:00.0");
    snprintf(rows[r].host, sizeof rows[r].host, r == 8 ? "a-host-of-%d" : "h%d", r);
  }
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    struct capture capture = capture_begin(stdout);
    ranks_print_backend(rows, sizeof *rows, cases[c].n, stdout);
    ranks_print(rows, sizeof *rows, cases[c].n, "GFLOPS", 0, stdout);
    ranks_print_sharing(rows, sizeof *rows, cases[c].n, stdout);
    char *text = capture_end(&capture);
    int lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++) lines++;
    if (lines != cases[c].lines || !strstr(text, cases[c].hosts) || !strstr(text, cases[c].ranks) ||
        !strstr(text, cases[c].warnings))
      fail_msg("%d ranks: %d lines:\n%s", cases[c].n, lines, text);
    free(text);
  }
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

TEST(a_thread_is_late_for_want_of_a_processor_only_if_it_is_ready_to_run)
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

static void reports_take_until(const int *number, int expected)
{
  while (*number != expected) alarm_reports_take();
}

/* With a deadline of 4 s, a rank answers another one's failure after it has waited for 1 s. */
TEST(a_rank_is_stuck_if_it_waits_long_after_the_failure_and_after_its_waits_begin)
{
  struct alarm *monitor = alarm_monitor();
  const struct alarm_report note = {.kind = ALARM_FAILED, .failure = 7, .rank = 0};
  const uint64_t now = alarm_clock(), early = now - 2 * ALARM_SECOND;
  const struct {
    const char *what;
    uint64_t begin, failed_at;
    int answers;
  } cases[] = {{"halos", early, now, 0},
               {"halos", now, early, 0},
               {NULL, early, early, 0},
               {watch_agreement, early, early, 0},
               {"halos", early, early, 1}};
  MPI_Request request;
  MPI_Isend(&note, (int)sizeof note, MPI_BYTE, 0, 32000, MPI_COMM_WORLD, &request);
  reports_take_until(&monitor->failed.failure, 7);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  assert_true(monitor->failed_at >= now);
  monitor->seconds = 4;
  monitor->failure = 7;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const struct watch_wait wait = {.what = cases[c].what, .begin = cases[c].begin};
    assert_false(alarm_is_stuck());
    monitor->failed_at = cases[c].failed_at;
    alarm_failure_answer(&wait);
    assert_int_equal(monitor->failed.failure, cases[c].answers ? 0 : 7);
  }
  reports_take_until(&monitor->stuck, 7);
  assert_true(alarm_is_stuck());
}

/* ---- the message about a wait that passed its deadline ---- */

#define HOSTS 19

static struct alarm_slot *slots;

static struct alarm_slot *slot_of(int rank, enum alarm_presence presence, int age)
{
  const uint64_t now = alarm_clock();
  slots[rank].state = presence;
  slots[rank].beat = age < 0 ? 0 : now - (uint64_t)age * ALARM_SECOND;
  slots[rank].moved = slots[rank].device = slots[rank].polled = now;
  return &slots[rank];
}

/* Fills a rank's report, a wait named \a what for the ranks \a first and \a second (−1: none). */
static void report_of(int rank, long sweep, const char *what, int first, int second)
{
  struct alarm_report *report = &slots[rank].report;
  slots[rank].filled = 1;
  *report = (struct alarm_report){.rank = rank, .sweep = sweep, .computing = !what};
  snprintf(report->what, sizeof report->what, "%s", what ? what : "");
  report->targets.n = (first >= 0) + (second >= 0);
  report->targets.at[0].rank = first;
  report->targets.at[1].rank = second;
  if (sweep) strcpy(report->targets.at[0].face, "i+");
  if (sweep > 5) strcpy(report->targets.at[1].face, "j-");
}

/* Reports as rank \a rank of the first \a ranks ranks. The message must be \a expected,
 * or be cut if \a expected is NULL. */
static void printed(int ranks, int rank, const char *expected)
{
  struct alarm_snapshot snapshot;
  struct alarm *monitor = alarm_monitor();
  monitor->ranks = monitor->table->n = ranks;
  monitor->rank = rank;
  monitor->table->reported = 0;
  assert_int_equal(alarm_snapshot_open(&snapshot, ranks), STATUS_OK);
  for (int twice = 0; twice < 2; twice++) {
    struct capture capture = capture_begin(stderr);
    alarm_report_for(&snapshot);
    char *text = capture_end(&capture);
    if (expected || twice) assert_string_equal(text, twice ? "" : expected);
    if (!expected && !twice) assert_int_equal(strlen(text), 900); /* with the end of the line */
    free(text);
  }
  alarm_snapshot_close(&snapshot);
}

#define MANY_SILENT                                                                                          \
  "rank 0 on host n0 computes, and waits for rank 1 on host n1 to answer, for over 2.5 s; silent: rank 1 "   \
  "on "                                                                                                      \
  "host n1, rank 2 on host n2, rank 3, rank 4, rank 5, rank 6, rank 7, rank 8"
#define MANY_COMPUTE                                                                                         \
  " computes; rank 11 computes; rank 12 computes; rank 13 computes; rank 14 computes; rank 15 computes"

TEST(the_message_begins_with_the_rank_next_to_the_cause)
{
  struct alarm *monitor = alarm_monitor();
  monitor->table = calloc(1, sizeof *monitor->table + HOSTS * sizeof *slots);
  monitor->hosts = calloc(HOSTS, sizeof *monitor->hosts);
  monitor->seconds = 2.5;
  slots = monitor->table->slot;
  for (int r = 0; r < HOSTS; r++) {
    slots[r].rank = r;
    if (r < 3) snprintf(monitor->hosts[r], sizeof *monitor->hosts, "n%d", r);
  }
  slot_of(0, ALARM_HERE, 0);
  slot_of(1, ALARM_HERE, 0)->blocked = 1;
  strcpy(slots[1].call, "a barrier");
  slot_of(2, ALARM_HERE, 2);
  slot_of(3, ALARM_HERE, 0);
  slot_of(4, ALARM_LEFT, -1);
  slot_of(5, ALARM_AWAY, -1);
  printed(
      2, 0,
      "rank 1 on host n1 waits for all ranks (a barrier), for over 2.5 s; also rank 0 on host n0 computes\n");
  printed(
      3, 0,
      "rank 1 on host n1 waits for all ranks (a barrier), for over 2.5 s; silent: rank 2 on host n2; also "
      "rank 0 on host n0 computes\n");
  report_of(3, 5, "halos", 1, 0);
  printed(
      6, 1,
      "rank 3 waits in sweep 5 for rank 1 on host n1, halo of face i+, rank 0, for over 2.5 s; silent: rank "
      "2 on host n2; also rank 0 on host n0 computes; rank 1 on host n1 waits for all ranks (a barrier)\n");
  report_of(0, 7, "halos", 3, 2);
  printed(
      6, 1,
      "rank 0 on host n0 waits in sweep 7 for rank 2 on host n2, halo of face j-, rank 3 face i+, for over "
      "2.5 s; silent: rank 2 on host n2; also rank 1 on host n1 waits for all ranks (a barrier); rank 3 "
      "waits in sweep 5 for rank 1 on host n1, halo of face i+, rank 0\n");
  report_of(0, 0, NULL, -1, -1);
  slots[1].blocked = 0;
  slots[1].moved = alarm_clock() - (uint64_t)(1.25 * ALARM_SECOND);
  printed(
      3, 1,
      "rank 1 on host n1 waits for its own device, and waits for rank 2 on host n2 to answer, for over 2.5 "
      "s; silent: rank 2 on host n2; also rank 0 on host n0 computes\n");
  slots[1].device = alarm_clock() - ALARM_SECOND / 2;
  printed(2, 1, "rank 1 on host n1 computes, for over 2.5 s; also rank 0 on host n0 computes\n");
  slots[3].filled = 0;
  for (int r = 1; r < HOSTS; r++) slot_of(r, ALARM_HERE, r < 9 ? -1 : 0);
  printed(17, 0, MANY_SILENT "; also rank 9 computes; rank 10" MANY_COMPUTE "; rank 16 computes\n");
  slot_of(9, ALARM_HERE, -1);
  printed(HOSTS, 0,
          MANY_SILENT " and 1 more; also rank 10" MANY_COMPUTE
                      "; rank 16 computes; rank 17 computes; and 1 more\n");
  for (int r = 0; r < HOSTS; r++) memset(monitor->hosts[r], 'h', sizeof *monitor->hosts - 1);
  printed(HOSTS, 0, NULL);
}

static int mpi_begin(void **state)
{
  return MPI_Init(NULL, NULL);
}

static int mpi_end(void **state)
{
  return MPI_Finalize();
}

UNIT_MAIN(mpi_begin, mpi_end)
