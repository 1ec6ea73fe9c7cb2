/* SPDX-License-Identifier: MIT */
/* Tests results that comm-gpu derives: fits, contents of messages, network cards of a recorded
 * host. */
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <unistd.h>

#include "base/log.h"
#include "comm/ranks/cards.h"
#include "comm/ranks/mpi_check.h"
#include "comm/transports/aware.h"
#include "tools/network/bench.h"
#include "tools/network/pattern.h"

static const struct gpu_backend cuda = {.name = "cuda", .memory = GPU_MEMORY_CUDA};

/* ---- fit ---- */

static struct bench_curve curve_of(double latency, double bandwidth, double noise)
{
  struct bench_curve curve = {.n = 0};
  for (int64_t bytes = 8; bytes <= 1 << 28; bytes *= 4) {
    double off = 1 + (curve.n % 2 ? noise : -noise);
    curve.points[curve.n++] =
        (struct bench_point){.bytes = bytes, .seconds = (latency + (double)bytes / bandwidth) * off};
  }
  return curve;
}

TEST(noise_shows_in_the_residual_and_hardly_in_the_parameters)
{
  for (int noisy = 0; noisy < 2; noisy++) {
    struct bench_curve curve = curve_of(3e-6, 390e9, noisy ? 0.05 : 0);
    bench_fit(&curve);
    assert_int_equal(curve.fit.points, curve.n);
    assert_true(fabs(curve.fit.latency / 3e-6 - 1) < (noisy ? 0.03 : 1e-9));
    assert_true(fabs(curve.fit.bandwidth / 390e9 - 1) < (noisy ? 0.05 : 1e-9));
    assert_true(noisy ? curve.fit.residual > 0.04 && curve.fit.residual < 0.06 : curve.fit.residual < 1e-9);
  }
}

TEST(a_negative_latency_becomes_none_and_one_size_is_not_fitted)
{
  struct bench_curve curve = {.n = 2,
                              .points = {{.bytes = 1000, .seconds = 1e-6}, {.bytes = 3000, .seconds = 4e-6}}};
  bench_fit(&curve);
  assert_true(curve.fit.latency == 0);
  assert_true(curve.fit.bandwidth > 0.75e9 && curve.fit.bandwidth < 1e9);
  curve.points[1].bytes = 1000;
  bench_fit(&curve);
  assert_int_equal(curve.fit.points, 0);
}

/* ---- batches ---- */

static int batch;

static status_t noisy_batch(void *of, double *seconds)
{
  *seconds = 1 + *(double *)of * (batch++ % 3 - 1);
  return STATUS_OK;
}

/* Returns how many batches a size gets. */
static int64_t batches(double noise, double end, double point_end)
{
  static struct bench bench;
  struct bench_point point;
  double mean;
  batch = 0;
  bench.config.samples = 7;
  bench.plan = (struct bench_plan){.end = end, .point_end = point_end, .uncertain = 0.01};
  assert_int_equal(bench_point_make(&bench, MPI_COMM_WORLD, 8, noisy_batch, &noise, &point, &mean),
                   STATUS_OK);
  assert_true(fabs(point.seconds - 1) < 1e-9 && fabs(mean - 1) <= noise / 3 && point.best <= 1 - noise);
  return point.transfers;
}

TEST(noise_takes_more_batches_and_time_that_is_over_fewer)
{
  assert_int_equal(batches(0, 1e99, 1e99), 7);
  assert_int_equal(batches(0.02, 1e99, 1e99), 9);
  assert_int_equal(batches(0.2, 1e99, 1e99), BENCH_SAMPLES_MAX);
  assert_int_equal(batches(0.2, INFINITY, INFINITY), 7);
  assert_int_equal(batches(0.2, 1e99, 0), 3);
}

TEST(a_rate_counts_if_it_is_certain_or_far_below_the_usual_one)
{
  const double seconds[] = {1, 1.1, 1.2, 1.3, 1.4, 1, 1.1, 1.2, 1.3, 1.4}; /* 12.4% of noise */
  const struct stats_summary few = stats_summarise(seconds, 5), more = stats_summarise(seconds, 10);
  assert_true(bench_rate_counts(&more, 1, 0.05, 0) && !bench_rate_counts(&few, 1, 0.05, 0));
  assert_true(bench_rate_counts(&few, 1, 0.05, 1.6) && !bench_rate_counts(&few, 1, 0.05, 1.5));
}

TEST(a_path_without_memory_is_an_error)
{
  struct bench bench = {.placement.comm = MPI_COMM_WORLD};
  struct bench_path path = {.curve.n = 1}, *list = NULL;
  int n = -2; /* one more path would be SIZE_MAX of them */
  assert_int_equal(bench_path_collect(&bench, 0, &path, &list, &n), STATUS_ENVIRONMENT);
}

/* ---- content ---- */

TEST(content_is_its_own_by_place_and_version_and_damaged_from_a_transfer_on)
{
  uint32_t words[256];
  pattern_fill(words, sizeof words, 7);
  assert_int_equal(pattern_check(words, sizeof words, 7), sizeof words);
  assert_int_equal(pattern_check(words, sizeof words, 8), 0);
  assert_int_equal(pattern_check(words + 1, sizeof words - 4, 7), 0);
  for (int bit = 0; bit < 32; bit++) {
    words[200] ^= 1u << bit;
    assert_int_equal(pattern_check(words, sizeof words, 7), 800);
    words[200] ^= 1u << bit;
  }
  setenv("HIMENO_BENCH_CORRUPT", "4", 1);
  pattern_fault_read();
  assert_true(!pattern_fault(2) && !pattern_fault(1) && pattern_fault(1));
}

/* ---- network cards ---- */

static char folder[] = "/tmp/himeno-sysfs-XXXXXX";

static void command(const char *format, const char *a, const char *b)
{
  char text[1024];
  snprintf(text, sizeof text, format, a, b, folder);
  assert_int_equal(system(text), 0);
}

static int unfold(void **state)
{
  const char *source = getenv("top_srcdir");
  if (MPI_Init(NULL, NULL) != MPI_SUCCESS || !mkdtemp(folder)) return -1;
  command("%s/tests/topo/unfold-sysfs %s/tests/topo/four-gpus-two-cards.sysfs %s", source, source);
  return setenv("HIMENO_SYSFS", folder, 1);
}

static int fold(void **state)
{
  command("rm -r%s%s %s", "", "");
  return unsetenv("HIMENO_SYSFS") || MPI_Finalize() != MPI_SUCCESS;
}

static void write_counter(const char *path, const char *value)
{
  char name[512];
  snprintf(name, sizeof name, "%s/%s", folder, path);
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fprintf(file, "%s\n", value);
  fclose(file);
}

TEST(cards_are_read_with_rate_state_and_errors)
{
  static const char *const wanted[] = {
      "mlx5_0/1 InfiniBand active 0000:18:00.0 400 0, errors 4, in 4000, out 8000",
      "mlx5_1/1 InfiniBand active 0000:9a:00.0 400 1, errors 0, in 0, out 0",
      "mlx5_2/1 InfiniBand down 0000:9a:00.0 10 1, errors 0, in 0, out 0",
      "eno1 Ethernet active 0000:a1:00.0 25 1, errors 7, in 500, out 700"};
  static struct cards cards;
  cards_read("0000:10:00.0", &cards);
  assert_int_equal(cards.n, 4); /* loopback and an RDMA card's net device do not count */
  for (int i = 0; i < cards.n; i++) {
    const struct card *card = &cards.card[i];
    char text[256];
    snprintf(text, sizeof text, "%s %s %s %s %g %d, errors %lld, in %lld, out %lld", card->name, card->link,
             card->state, card->pci, card->gbps, card->numa, (long long)card->errors,
             (long long)card->received, (long long)card->sent);
    assert_string_equal(text, wanted[i]);
  }
}

TEST(nearness_follows_the_pci_tree)
{
  assert_int_equal(cards_near("0000:10:00.0", "0000:18:00.0"), CARDS_SWITCH);
  assert_int_equal(cards_near("0000:11:00.0", "0000:18:00.0"), CARDS_ROOT);
  assert_int_equal(cards_near("0000:12:00.0", "0000:18:00.0"), CARDS_NODE);
  assert_int_equal(cards_near("0000:13:00.0", "0000:18:00.0"), CARDS_SYSTEM);
  assert_int_equal(cards_near("0000:13:00.0", "0000:9A:00.0"), CARDS_ROOT);
  assert_int_equal(cards_near("", "0000:18:00.0"), CARDS_UNKNOWN);
  assert_int_equal(cards_near("0000:77:00.0", "0000:18:00.0"), CARDS_UNKNOWN);
}

TEST(the_card_that_carried_the_bytes_is_distinguished_from_the_idle_one)
{
  static struct cards before, after;
  struct cards_table table;
  struct rank_row row = {.numa = -1};
  char text[4096];
  FILE *out = fmemopen(text, sizeof text, "w");
  cards_read("0000:10:00.0", &before);
  write_counter("class/infiniband/mlx5_0/ports/1/counters/port_xmit_data",
                "252000"); /* a million bytes more */
  write_counter("class/infiniband/mlx5_0/ports/1/counters/symbol_error", "5");
  write_counter("class/net/eno1/statistics/tx_bytes", "5700"); /* chatter */
  cards_read("0000:10:00.0", &after);
  assert_int_equal(cards_compare(MPI_COMM_WORLD, &before, &after, 0, 1000000, &table), STATUS_OK);
  assert_int_equal(table.n, 4);
  assert_int_equal(table.rows[0].sent, 1000000);
  const int down = table.rows[2].idle;
  assert_true(!table.rows[0].idle && table.rows[1].idle && !down && table.rows[3].idle);
  assert_int_equal(table.asked[1], 1000000);
  assert_int_equal(table.near[0], CARDS_SWITCH);
  bench_report_text(&(struct bench){.placement.backend = &cuda, .ranks = &row, .cards = table}, out);
  fclose(out);
  assert_non_null(strstr(text, " ranks sent 976.6 KiB; 2 ERRORS\n"));
  cards_free(&table);
  assert_int_equal(cards_compare(MPI_COMM_WORLD, &before, &after, 0, 0, &table), STATUS_OK);
  assert_false(table.rows[1].idle); /* no data had to leave the host */
  cards_free(&table);
}

#define NETSTAT(x) "TcpExt: A\nTcpExt: 1\nIpExt: InOctets B OutOctets\nIpExt: " x "\nX: OutOctets\nX: 9"

TEST(bytes_by_tcp_are_found_while_an_rdma_card_is_idle)
{
  static struct cards before, after;
  struct bench_counters counters = {.part = "pairs"};
  char text[256];
  command("mkdir -p %s/proc/net %s/class/net/lo/statistics", folder, folder);
  for (int half = 0; half < 2; half++) {
    bench_counters_read("", &before);
    write_counter("proc/net/netstat", half ? NETSTAT("7 0 1690000") : NETSTAT("5 0 1300000"));
    write_counter("proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 100 3");
    write_counter("class/net/lo/statistics/tx_bytes", half ? "290000" : "300000");
    bench_counters_read("", &after);
    assert_int_equal(after.n, 5);
    assert_int_equal(
        cards_compare(MPI_COMM_WORLD, &before, &after, 0, half ? 1000000 : 2000000, &counters.cards),
        STATUS_OK);
    assert_int_equal(counters.cards.rows[4].sent, half ? 400000 : 1000000);
    assert_int_equal(counters.cards.rows[4].errors, half ? 0 : 3);
    /* A finding needs more than half of the data by TCP. */
    assert_int_equal(bench_counters_finding(&counters, 0, text, sizeof text), !half);
    assert_int_equal(bench_counters_finding(&counters, 3, text, sizeof text), 0);
    cards_free(&counters.cards);
  }
  assert_non_null(strstr(text, "pairs: 0.001 GB left "));
  assert_non_null(strstr(text, " over TCP while InfiniBand port mlx5_0/1 is up and carried 0.000 GB"));
}

TEST(a_rank_is_bound_to_the_card_of_its_number)
{
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0", 1);
  write_counter("class/infiniband/mlx5_1/ports/1/rate", "200 Gb/sec");
  write_counter("class/infiniband/mlx5_2/ports/1/rate", "1000 Gb/sec");
  bench_wires_bind();
  assert_string_equal(getenv("UCX_NET_DEVICES"), "mlx5_0:1");
  assert_string_equal(getenv("MV2_IBA_HCA"), "mlx5_0");
  assert_string_equal(getenv("FI_TCP_IFACE"), "ib0");
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "3", 1);
  bench_wires_bind();
  assert_string_equal(getenv("UCX_NET_DEVICES"), "mlx5_1:1");
  assert_string_equal(getenv("FI_TCP_IFACE"), "ib0");
}

/* The dynamic linker finds the program's function before the library's. */
static int reported;
int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
  return reported;
}

TEST(mpi_takes_device_memory_if_it_says_so_or_cannot_be_asked)
{
  char reason[GPU_TEXT_MAX];
  for (reported = -1; reported <= 1; reported += 2) {
    assert_true(aware_available(&cuda, reason));
    assert_string_equal(aware_mover(),
                        reported > 0 ? "MPI, CUDA-aware as it says" : "MPI, CUDA-aware as a trial showed");
    setenv("HIMENO_MPI_DEVICE", "0", 1);
    assert_int_equal(aware_available(&cuda, reason), reported > 0);
    unsetenv("HIMENO_MPI_DEVICE");
  }
  reported = 0;
  setenv("HIMENO_MPI_DEVICE", "1", 1);
  assert_true(aware_available(&cuda, reason));
  unsetenv("HIMENO_MPI_DEVICE");
}

TEST(a_call_that_fails_is_reported_with_the_librarys_words)
{
  log_hold(1);
  assert_int_equal(mpi_check(MPI_SUCCESS, "MPI_Test"), STATUS_OK);
  assert_int_equal(mpi_check(MPI_ERR_TRUNCATE, "MPI_Test"), STATUS_FAULT);
  assert_true(strncmp(log_held(), "MPI_Test: ", 10) == 0 && strcasestr(log_held(), "message truncated"));
  log_drop();
  log_hold(0);
}

/* Any library named libuct_cuda stands for UCX's CUDA transports. */
TEST(ucx_with_cuda_is_found_if_mpi_sends_by_it)
{
  const char *pml = getenv("OMPI_MCA_pml"), *build = getenv("top_builddir");
  char reason[GPU_TEXT_MAX], name[512];
  const int by_ucx = pml && strcmp(pml, "ucx") == 0;
  const int takes = by_ucx || aware_available(&cuda, reason); /* or its UCX has CUDA */
  command("cp %s/tests/unit/fake_nvml.so%s %s/libuct_cuda.so.0", build, "");
  snprintf(name, sizeof name, "%s/libuct_cuda.so.0", folder);
  assert_non_null(dlopen(name, RTLD_NOW));
  assert_int_equal(aware_available(&cuda, reason), takes);
  if (takes) assert_non_null(strstr(aware_mover(), "UCX"));
  setenv("UCX_TLS", "tcp,self", 1);
  assert_int_equal(aware_available(&cuda, reason), 0);
  assert_null(aware_mover());
  setenv("UCX_TLS", "^cuda_ipc", 1);
  assert_int_equal(aware_available(&cuda, reason), 0);
  setenv("UCX_TLS", "self,cuda_copy", 1);
  assert_int_equal(aware_available(&cuda, reason), takes);
  unsetenv("UCX_TLS");
}

/* Rank 0's outgoing rate is its peer's incoming one. Shares are of the rank's own port. */
TEST(a_card_has_what_its_peer_received_and_nothing_if_another_carried_it)
{
  struct bench_wire wire[] = {{.gbps = 100, .carried = 1, .peer = 1, .gbps_in = {80, 60}},
                              {.gbps = 200, .carried = 1, .peer = 0, .gbps_in = {90, 70}}};
  struct bench bench = {.wire = wire};
  const double shares[] = {0.9, 0.8, 0.7, 0.6};
  for (int share = 0; share < 4; share++) {
    wire[0].carried = 1;
    assert_true(fabs(bench_wire_share(&bench, 0, share) - shares[share]) < 1e-12);
    wire[0].carried = 0.89;
    assert_true(isnan(bench_wire_share(&bench, 0, share)));
  }
}

UNIT_MAIN(unfold, fold)
