/* SPDX-License-Identifier: MIT */
/* One run: place the ranks, choose kernel and transport, prepare, verify, measure, judge. */
#include "himeno/run/run.h"

#include <math.h>

#include "base/log.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/transports/linked.h"
#include "comm/transports/prove.h"
#include "himeno/measure/measure.h"
#include "himeno/result/ranks.h"
#include "himeno/soak/soak.h"
#include "himeno/solver/flip.h"
#include "himeno/tune/choose.h"
#include "himeno/verify/wrong.h"
#include "suite/progress.h"

#define EMULATED_SWEEPS 10
/* A run is expected to take SETUP_SECONDS longer than its timed blocks, plus SETUP_SHARE of their
 * time up to SETUP_MOST seconds. In stored runs on one to four H100 and H200, seconds long, it was
 * 0.5 to 1.4 s and 2 to 12% more. */
#define SETUP_SECONDS 1.0
#define SETUP_SHARE   0.1
#define SETUP_MOST    2.0
#define CPU_CORE_RATE 2e8 /* points per second; a core of an EPYC has 2.4e8 */

/* Sets a block that an emulator computes in seconds, unless the user set its length or time. */
static void emulated_default(struct himeno_config *c)
{
  if (c->sweeps_given || c->seconds_given || c->block_given || c->official) return;
  c->sweeps = EMULATED_SWEEPS;
  c->sweeps_given = 1;
}

/* Sets the expected time: the requested time, and what set-up, verification and ceiling usually
 * add. On a CPU these take about as long as two blocks, and a trial of kernels another one. A
 * ladder and a run of given sweeps set their expected time later. */
static void run_expect(const struct himeno_choice *choice)
{
  const struct himeno_config *c = choice->config;
  const struct gpu_device_info *info = &choice->placement.info;
  double timed = c->seconds, block = 0;
  if (c->sweeps_given || c->ladder || info->emulated) return;
  if (c->official && !c->seconds_given) timed = HIMENO_OFFICIAL_SECONDS;
  if (c->soak_given) timed = c->soak;
  const double reference = verify_expected(choice->global, (enum himeno_data)c->data,
                                           (enum himeno_verify)c->verify, timed, himeno_block_sweeps(c));
  if (info->is_cpu)
    block = (double)himeno_points(choice->global) * himeno_block_sweeps(c) /
            (CPU_CORE_RATE * info->compute_units * choice->placement.ranks);
  timed = fmax(timed, block);
  progress_expect(reference + SETUP_SECONDS + timed + fmin(SETUP_SHARE * timed, SETUP_MOST) +
                  (c->kernel ? 2 : 3) * block);
}

/* Places the ranks and chooses grid, transport and kernel. Kernels are tried unless one is given,
 * or --ladder measures all of them. */
static status_t himeno_run_choose(struct himeno_config *c, struct himeno_choice *choice)
{
  const struct peer_proof *proofs;
  char reason[GPU_TEXT_MAX];
  int most;
  RETURN_IF_FAILED(
      rank_place(&choice->placement, c->backend, c->device, c->binding, c->expect, &choice->device));
  himeno_cmdline_ignore(c);
  if (choice->placement.info.emulated) emulated_default(c);
  /* Acceptance gives each device the same work, regardless of their number. */
  if (c->accept && !c->soak_given && !c->size_given && !c->fill_given && choice->placement.ranks > 1)
    c->weak = 1;
  if (c->accept && choice->placement.ranks > 1 && linked_available(choice->placement.backend, reason))
    RETURN_IF_FAILED(peers_prove(&choice->placement, choice->device, &proofs, &most));
  RETURN_IF_FAILED(himeno_choose(choice));
  run_expect(choice);
  RETURN_IF_FAILED(himeno_sharing_find(choice));
  RETURN_IF_FAILED(c->accept ? himeno_transport_rule(choice) : himeno_transport_tune(choice));
  return c->kernel || c->kernel_file || c->ladder ? STATUS_OK : himeno_tune(choice);
}

static status_t one_kernel(struct himeno_run *run, struct himeno_measurement *m, struct verify_value *value)
{
  const struct placement *p = &run->choice.placement;
  const struct solver_config solver = himeno_solver_config(&run->choice);
  struct himeno_result *r = &run->result;
  progress_begin("preparing, kernel %s", solver.kernel->name);
  RETURN_IF_FAILED(solver_open(&solver, &run->solver));
  RETURN_IF_FAILED(agree_status(p->comm, record_open(p, &run->record)));
  m->solver = run->solver;
  m->record = run->record;
  RETURN_IF_FAILED(himeno_partial_write(m));
  status_t status = run->config.soak_given ? himeno_soak(m) : himeno_measure(m, value);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  r->verdict = status_worst(agree_status(p->comm, status), r->timing.partial ? STATUS_INCOMPLETE : STATUS_OK);
  if (r->verdict == STATUS_WRONG && run->choice.kernel->file)
    RETURN_IF_FAILED(wrong_explain(&solver, p, run->solver));
  RETURN_IF_FAILED(himeno_ranks_gather(p, run->solver, run->record, r));
  RETURN_IF_FAILED(himeno_counts_gather(p->comm, solver_grid(run->solver), &r->counts));
  /* Policy and reference were read at the start, so an invalid file does not fail here. */
  status = p->rank ? STATUS_OK : himeno_judge(&run->choice, r, &run->limits, &run->judged, &run->document);
  status = agree_status(p->comm, p->rank || status != STATUS_OK ? status : run->judged.verdict);
  r->verdict = status_worst(r->verdict, status);
  r->ended = status != STATUS_FAULT && status != STATUS_HANG;
  return r->verdict;
}

static status_t run_with(struct himeno_run *run, struct verify_value *value)
{
  struct himeno_config *config = &run->config;
  struct himeno_choice *choice = &run->choice;
  const struct placement *p = &choice->placement;
  RETURN_IF_FAILED(agree_status(p->comm, flip_read()));
  RETURN_IF_FAILED(
      agree_status(p->comm, p->rank == 0 ? judge_limits_read(config->accept, config->reference, &run->limits)
                                         : STATUS_OK));
  RETURN_IF_FAILED(himeno_run_choose(config, choice));
  RETURN_IF_FAILED(agree_status(p->comm, flip_check(choice->global, p->ranks)));
  RETURN_IF_FAILED(himeno_plan(choice, &run->limits, &run->plan));
  struct himeno_measurement m = {.choice = choice, .plan = &run->plan, .result = &run->result};
  if (config->accept && p->ranks > 1 && !p->info.emulated) {
    progress_begin("measuring transports to neighbours");
    RETURN_IF_FAILED(paths_probe(choice, run->result.probes));
  }
  /* Reinstall the handlers if opening devices loaded LLVM, whose own would lose a SIGUSR1. */
  (void)stop_asked();
  RETURN_IF_FAILED(himeno_partial_write(&m));
  if (!config->soak_given) {
    const struct solver_config solver = himeno_solver_config(choice);
    const int sweeps = config->official ? HIMENO_REHEARSAL_SWEEPS : himeno_block_sweeps(config);
    const double seconds = config->official ? INFINITY : config->sweeps_given ? 0 : config->seconds;
    RETURN_IF_FAILED(verify_prepare(&solver, (enum himeno_verify)config->verify, seconds, sweeps, value));
  }
  return config->ladder ? himeno_ladder(choice, value, &run->result, &run->ladder)
                        : one_kernel(run, &m, value);
}

status_t himeno_run(struct himeno_run *run)
{
  struct verify_value value = {.source = VERIFY_NO};
  status_t status = run_with(run, &value);
  verify_value_free(&value);
  return status;
}

void himeno_run_close(struct himeno_run *run)
{
  solver_close(run->solver);
  record_close(run->record);
  gpu_close(run->choice.device);
  himeno_ladder_free(run->ladder);
  judged_free(&run->judged);
  judge_limits_free(&run->limits);
  json_decref(run->document);
  himeno_result_free(&run->result);
}
