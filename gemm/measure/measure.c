/* SPDX-License-Identifier: MIT */
#include "gemm/measure/measure.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/starvation.h"
#include "base/stats.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "gpu/telemetry.h"
#include "suite/progress.h"

#define LAUNCHES_MAX 10000
#define PROBES       5
#define ROUNDS_LEAST 3
/* Times of an emulator are no measurements, so one round is enough. */
#define ROUNDS_EMULATED 1
/* Seconds for which threads of the previous kernel may still spin. */
#define SETTLE_SECONDS 0.03
#define POLL_SECONDS   0.05
#define NOISE_MAX      0.05 /* --accept adds blocks until the noise is known to be at most this */
#define NOISE_SECONDS  10.0 /* maximum seconds of all added blocks, or --time if longer */

status_t gemm_block_time(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_exec *exec,
                         int launches, double *seconds)
{
  RETURN_IF_FAILED(gpu_record(rig->begin, rig->queue));
  for (int n = 0; n < launches; n++) RETURN_IF_FAILED(gemm_launch(exec, rig->queue, &work->matrices.on));
  RETURN_IF_FAILED(gpu_record(rig->end, rig->queue));
  RETURN_IF_FAILED(gpu_sync(rig->queue));
  return gpu_elapsed(rig->begin, rig->end, seconds);
}

static status_t gemm_series_open(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s)
{
  const struct gemm_machine machine = gemm_run_predicted(rig);
  const struct gemm_blocks none = {0}, *blocks = NULL;
  char why[GPU_TEXT_MAX];
  if (work->cluster) {
    s->exec = &work->cluster->exec;
    s->blocks = s->exec->blocks;
    return gemm_compare_product(rig, work, s, 0);
  }
  if (s->fault[0]) return gemm_compare_counts(rig, work, s) ? STATUS_WRONG : STATUS_OK;
  if (!gemm_kernel_fits(s->kernel, rig->device, &work->problem, why)) {
    s->status = STATUS_ENVIRONMENT;
    snprintf(s->why, sizeof s->why, "%s", why);
    return STATUS_OK;
  }
  if (memcmp(&s->blocks, &none, sizeof none) != 0) blocks = &s->blocks;
  status_t status = gemm_exec_open(s->kernel, rig->device, &work->problem, blocks, &s->exec);
  if (status == STATUS_ENVIRONMENT) { /* a kernel that this device cannot run is skipped */
    s->status = STATUS_ENVIRONMENT;
    snprintf(s->why, sizeof s->why, "%s", gemm_compare_held(s));
    log_drop();
    return STATUS_OK;
  }
  RETURN_IF_FAILED(status);
  s->blocks = s->exec->blocks;
  if (gemm_run_modelled(rig)) s->predicted = gemm_predict(&machine, &work->problem, &s->blocks);
  if (s->kernel->ops->resources) s->kernel->ops->resources(s->exec, &s->resources);
  return gemm_compare_product(rig, work, s, 0);
}

/* Sets *fastest to the seconds of the fastest of a few products after an untimed one, because other
 * processes on a CPU may delay any of them. Long products are timed once, and so are distributed
 * products, because all ranks must run the same number. */
static status_t gemm_probe(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s,
                           double *fastest)
{
  double seconds, all = 0;
  RETURN_IF_FAILED(gemm_block_time(rig, work, s->exec, 1, &seconds));
  *fastest = INFINITY;
  for (int n = 0; n < PROBES && all < rig->config.block && !(work->cluster && n); n++) {
    RETURN_IF_FAILED(gemm_block_time(rig, work, s->exec, 1, &seconds));
    *fastest = fmin(*fastest, seconds);
    all += seconds;
  }
  return STATUS_OK;
}

/* Sets the number of products that fill a block, equal on all ranks. */
static status_t series_calibrate(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s)
{
  double one = 0, slowest = 0;
  if (rig->placement.info.emulated) {
    s->launches = 1;
    return STATUS_OK;
  }
  if (s->status == STATUS_OK) RETURN_IF_FAILED(gemm_probe(rig, work, s, &one));
  RETURN_IF_FAILED(
      watch_allreduce(rig->placement.comm, &one, &slowest, 1, MPI_DOUBLE, MPI_MAX, "a product's time"));
  double block = fmin(rig->config.block, rig->config.seconds);
  s->launches = (int)fmin(LAUNCHES_MAX, ceil(block / slowest)); /* slowest may be 0 */
  return STATUS_OK;
}

/* Ranks agree whether a kernel continues. Returns STATUS_WRONG if its result was wrong on a rank
 * and this decides the verdict. All ranks report the fault of the lowest rank that has one. */
static status_t series_agree(const struct gemm_rig *rig, struct gemm_series *s, status_t mine)
{
  enum { WRONG, ABLE, FACTS };
  int ranks = rig->placement.ranks, least[FACTS];
  int facts[FACTS] = {s->fault[0] ? rig->placement.rank : ranks, s->status != STATUS_ENVIRONMENT};
  status_t status = agree_status(rig->placement.comm, mine);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  RETURN_IF_FAILED(watch_allreduce(rig->placement.comm, facts, least, FACTS, MPI_INT, MPI_MIN,
                                   "whether a kernel fits and is right"));
  if (least[WRONG] < ranks) {
    if (rig->placement.rank == least[WRONG])
      snprintf(s->why, sizeof s->why, "gives a wrong result: %s: %s", log_identity(), s->fault);
    s->status = STATUS_WRONG;
    RETURN_IF_FAILED(
        watch_bcast(rig->placement.comm, s->why, sizeof s->why, MPI_CHAR, least[WRONG], "what was wrong"));
  }
  if (s->status != STATUS_OK || least[ABLE]) return status;
  s->status = STATUS_ENVIRONMENT;
  snprintf(s->why, sizeof s->why, "cannot run on every rank's device");
  return status;
}

/* Opens the series. Ranks stop or continue together, so that all open the same kernels. */
static status_t gemm_prepare(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *series,
                             int n)
{
  status_t worst = STATUS_OK;
  for (int s = 0; s < n; s++) {
    progress_begin("verifying, %d of %d: %s", s + 1, n, series[s].kernel->name);
    status_t status = series_agree(rig, &series[s], gemm_series_open(rig, work, &series[s]));
    if (status != STATUS_OK && status != STATUS_WRONG) return status;
    worst = status_worst(worst, status);
    RETURN_IF_FAILED(series_calibrate(rig, work, &series[s]));
  }
  return worst;
}

/* Ranks agree whether to begin a block: otherwise the others would wait for a rank that stopped. */
static status_t block_agree(const struct gemm_rig *rig, struct gemm_result *result, int *go)
{
  enum { SIGNAL, WRONG, FACTS };
  int mine[FACTS] = {stop_asked(), result->wrong}, any[FACTS];
  RETURN_IF_FAILED(
      watch_allreduce(rig->placement.comm, mine, any, FACTS, MPI_INT, MPI_MAX, "the start of a block"));
  result->partial = any[SIGNAL];
  *go = !any[SIGNAL] && !any[WRONG];
  return STATUS_OK;
}

/* Runs untimed products first, so that caches and clocks settle for this kernel. On a GPU, as many
 * products run as in a timed block, without pauses. */
static status_t gemm_settle(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s)
{
  double unused, wanted = fmin(SETTLE_SECONDS, rig->config.seconds);
  if (rig->placement.info.emulated) return STATUS_OK;
  if (!rig->placement.info.is_cpu || work->cluster)
    return gemm_block_time(rig, work, s->exec, s->launches, &unused);
  for (double begin = stats_now(); stats_now() - begin < wanted;)
    RETURN_IF_FAILED(gemm_block_time(rig, work, s->exec, 1, &unused));
  return STATUS_OK;
}

static status_t gemm_block_run(struct gemm_run *run, struct gemm_series *s, int *go)
{
  struct gemm_power *power = &run->power;
  struct telemetry_sample now;
  double seconds;
  RETURN_IF_FAILED(gemm_settle(&run->rig, &run->work, s));
  RETURN_IF_FAILED(gemm_matrices_reset(&run->work.matrices));
  RETURN_IF_FAILED(gpu_sync(run->rig.queue));
  RETURN_IF_FAILED(block_agree(&run->rig, &run->result, go));
  if (!*go) return STATUS_OK;
  RETURN_IF_FAILED(gemm_block_time(&run->rig, &run->work, s->exec, s->launches, &seconds));
  RETURN_IF_FAILED(stats_add(&s->samples, &s->n_samples, seconds));
  /* Polling is rare enough not to delay the device. */
  if (power->telemetry && stats_now() - power->polled >= POLL_SECONDS) {
    telemetry_read(power->telemetry, &now);
    power->polled = stats_now();
    if (now.watts >= 0) RETURN_IF_FAILED(stats_add(&power->watts, &power->n_watts, now.watts));
  }
  status_t status = gemm_compare_block(&run->rig, &run->work, s, s->n_samples);
  if (status != STATUS_WRONG) return status;
  run->result.wrong = 1;
  return STATUS_OK;
}

/* Rank 0's clock decides for all ranks. With --accept, while the noise is above NOISE_MAX or
 * unknown on any rank, rounds continue for NOISE_SECONDS or 10 times `wanted`, whichever is less,
 * but at least for `wanted` seconds more. */
static status_t time_is_up(const struct gemm_rig *rig, const struct gemm_series *s, double begin,
                           double wanted, int *up)
{
  enum { ELAPSED, MORE, FACTS };
  const double most = wanted + fmax(wanted, fmin(10 * wanted, NOISE_SECONDS));
  const int first = rig->placement.rank == 0;
  const struct stats_summary summary = stats_summarise(s->samples, (size_t)s->n_samples);
  const int unknown =
      rig->config.accept && s->status == STATUS_OK && !(stats_noise_max(&summary) <= NOISE_MAX);
  double mine[FACTS] = {first ? stats_now() - begin : 0, unknown}, all[FACTS];
  RETURN_IF_FAILED(watch_allreduce(rig->placement.comm, mine, all, FACTS, MPI_DOUBLE, MPI_MAX, "the clock"));
  *up = all[ELAPSED] >= (all[MORE] > 0 ? most : wanted);
  return STATUS_OK;
}

/* Successive rounds run the kernels in opposite orders, so that no kernel always runs first. */
static status_t rounds_run(struct gemm_run *run, struct gemm_series *series, int n, double seconds)
{
  int able = 0, up = 0, go = 1;
  int emulated = run->rig.placement.info.emulated, least = emulated ? ROUNDS_EMULATED : ROUNDS_LEAST;
  for (int s = 0; s < n; s++) able += series[s].status == STATUS_OK;
  if (run->work.cluster) RETURN_IF_FAILED(gemm_cluster_phases(run->work.cluster, (double[GEMM_PHASES]){0}));
  progress_begin("timing");
  double begin = stats_now();
  for (int round = 0; able > 0 && go && (round < least || (!up && !emulated)); round++) {
    for (int position = 0; go && position < n; position++) {
      struct gemm_series *s = &series[round % 2 ? n - 1 - position : position];
      if (s->status == STATUS_OK) RETURN_IF_FAILED(gemm_block_run(run, s, &go));
      progress_tick();
    }
    RETURN_IF_FAILED(time_is_up(&run->rig, series, begin, seconds * able, &up));
  }
  return STATUS_OK;
}

/* Sets s->seconds to the slowest rank's median time per product, and verifies a last product. */
static status_t series_settle(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s)
{
  if (s->status != STATUS_OK) return STATUS_OK;
  double median = stats_summarise(s->samples, (size_t)s->n_samples).median / s->launches;
  RETURN_IF_FAILED(
      watch_allreduce(rig->placement.comm, &median, &s->seconds, 1, MPI_DOUBLE, MPI_MAX, "times"));
  int wrong = s->fault[0] != 0, any = wrong;
  /* Ranks of one product run its last product together or not at all. */
  if (work->cluster)
    RETURN_IF_FAILED(
        watch_allreduce(rig->placement.comm, &wrong, &any, 1, MPI_INT, MPI_MAX, "the last product"));
  if (!any) return series_agree(rig, s, gemm_compare_product(rig, work, s, GEMM_BLOCK_LAST));
  if (!wrong) return series_agree(rig, s, STATUS_OK);
  return series_agree(rig, s, gemm_compare_counts(rig, work, s) ? STATUS_WRONG : STATUS_OK);
}

/* For a distributed product: sums the ranks' counts, and takes the longest estimate. */
static status_t gemm_counts_sum(const struct gemm_rig *rig, const struct gemm_work *work,
                                struct gemm_series *s)
{
  enum { COUNTS = offsetof(struct gemm_counts, estimate_seconds) / sizeof(uint64_t) };
  const struct gemm_counts mine = s->counts;
  MPI_Comm comm = rig->placement.comm;
  if (!work->cluster || !rig->placement.info.emulated) return STATUS_OK;
  RETURN_IF_FAILED(watch_allreduce(comm, &mine, &s->counts, COUNTS, MPI_UINT64_T, MPI_SUM, "counts"));
  return watch_allreduce(comm, &mine.estimate_seconds, &s->counts.estimate_seconds, 1, MPI_DOUBLE, MPI_MAX,
                         "estimates");
}

static status_t series_measure(struct gemm_run *run, struct gemm_series *series, int n, double seconds)
{
  status_t worst = gemm_prepare(&run->rig, &run->work, series, n);
  if (worst != STATUS_OK && worst != STATUS_WRONG) return worst;
  /* With --accept a wrong result decides the verdict, so that timing is not needed. */
  run->result.wrong = worst == STATUS_WRONG && run->rig.config.accept;
  const struct placement *p = &run->rig.placement;
  struct starvation *starvation = gpu_takes_cores(p->backend->memory, &p->info) ? starvation_begin() : NULL;
  status_t ran = rounds_run(run, series, n, seconds);
  run->result.starved = starvation_share(starvation);
  starvation_end(starvation);
  RETURN_IF_FAILED(ran);
  for (int s = 0; s < n; s++) {
    status_t status = series_settle(&run->rig, &run->work, &series[s]);
    if (status != STATUS_OK && status != STATUS_WRONG) return status;
    worst = status_worst(worst, status);
    RETURN_IF_FAILED(gemm_counts_sum(&run->rig, &run->work, &series[s]));
  }
  return status_worst(worst,
                      agree_status(run->rig.placement.comm, gemm_compare_operands(&run->rig, &run->work)));
}

status_t gemm_measure(struct gemm_run *run, struct gemm_series *series, int n, double seconds)
{
  run->result.wrong = 0;
  status_t status = series_measure(run, series, n, seconds);
  for (struct gemm_series *s = series; s < series + n; s++) {
    if (!run->work.cluster) gemm_exec_close(s->exec);
    s->exec = NULL;
    free(s->first);
    free(s->first_block);
    s->first = s->first_block = NULL;
  }
  return status;
}
