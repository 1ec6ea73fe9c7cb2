/* SPDX-License-Identifier: MIT */
/* One run: place the ranks, choose, prepare, verify, measure. */
#include "config.h"

#include "himeno/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "himeno/accept/accept.h"
#include "himeno/ladder.h"
#include "himeno/measure.h"
#include "himeno/partial.h"
#include "himeno/ranks.h"
#include "himeno/solver/clock.h"
#include "himeno/solver/flip.h"
#include "himeno/tune/choose.h"
#include "himeno/tune/tune.h"

#define EMULATED_SWEEPS 10

struct solver_config himeno_solver_config(const struct himeno_run *run)
{
  const struct himeno_config *c = &run->config;
  struct solver_config config = {
      .comm = run->placement.comm,
      .device = run->device,
      .kernel = run->kernel,
      .transport = run->transport,
      .data = (enum himeno_data)c->data,
      .max_sweeps = himeno_block_sweeps(c),
      .overlap = !c->no_overlap,
      .pad = (int)c->pad,
      .plant = 1,
  };
  if (config.max_sweeps < OFFICIAL_REHEARSAL) config.max_sweeps = OFFICIAL_REHEARSAL;
  memcpy(config.global, run->global, sizeof config.global);
  memcpy(config.procs, run->procs, sizeof config.procs);
  return config;
}

double himeno_gflops(const struct himeno_run *run)
{
  const struct himeno_result *r = &run->result;
  double flop = himeno_points(run->global) * HIMENO_FLOP_PER_POINT * (double)r->sweeps;
  return r->seconds > 0 ? flop / r->seconds / 1e9 : 0;
}

double himeno_bytes_per_second(const struct himeno_run *run)
{
  return himeno_gflops(run) * 1e9 / HIMENO_FLOP_PER_POINT * HIMENO_BYTES_PER_POINT;
}

/* ---- the whole ---- */

/* A block that an emulator does in seconds, where nothing was asked for. */
static void emulated_default(struct himeno_config *c)
{
  if (c->sweeps_given || c->seconds_given || c->block_given || c->official) return;
  c->sweeps = EMULATED_SWEEPS;
  c->sweeps_given = 1;
}

static status_t place(struct himeno_run *run)
{
  struct placement *p = &run->placement;
  struct placement_request request = {.backend = run->config.backend,
                                      .device = run->config.device,
                                      .binding = (enum binding_policy)run->config.binding,
                                      .expect = (int)run->config.expect};
  RETURN_IF_FAILED(placement_choose(p, &request));
  return agree_status(p->comm, gpu_open(p->backend, p->device, &run->device));
}

/* Without -k the kernel is measured, unless the run is for comparison with itself only. */
static status_t choose(struct himeno_run *run)
{
  RETURN_IF_FAILED(place(run));
  himeno_cmdline_ignore(&run->config, run->placement.backend);
  if (himeno_is_emulated(run)) emulated_default(&run->config);
  RETURN_IF_FAILED(himeno_choose(run));
  RETURN_IF_FAILED(himeno_transport_tune(run));
  return run->config.kernel || run->config.kernel_file || run->config.ladder ? STATUS_OK : himeno_tune(run);
}

static status_t value_prepare(struct himeno_run *run, struct verify_value *value)
{
  struct solver_config config = himeno_solver_config(run);
  int sweeps = run->config.official ? OFFICIAL_REHEARSAL : himeno_block_sweeps(&run->config);
  return verify_prepare(&config, (enum himeno_verify)run->config.verify, sweeps, value);
}

static status_t one_kernel(struct himeno_run *run, struct verify_value *value)
{
  struct solver_config config = himeno_solver_config(run);
  RETURN_IF_FAILED(solver_open(&config, &run->solver));
  RETURN_IF_FAILED(
      agree_status(config.comm, record_open(run->placement.info.pci, run->placement.ranks, &run->record)));
  RETURN_IF_FAILED(himeno_partial_write(run));
  status_t status = run->config.soak_given ? himeno_soak(run) : himeno_measure(run, value);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  run->result.verdict = agree_status(run->placement.comm, status);
  RETURN_IF_FAILED(himeno_ranks_gather(run));
  RETURN_IF_FAILED(himeno_counts_gather(run));
  status = himeno_accept(run);
  run->result.verdict = status_worst(run->result.verdict, status);
  run->result.ended = status != STATUS_FAULT && status != STATUS_HANG;
  return run->result.verdict;
}

static status_t run_with(struct himeno_run *run, struct verify_value *value)
{
  RETURN_IF_FAILED(agree_status(run->placement.comm, status_worst(flip_read(), clock_check())));
  RETURN_IF_FAILED(himeno_accept_prepare(run));
  RETURN_IF_FAILED(choose(run));
  RETURN_IF_FAILED(agree_status(run->placement.comm, flip_check(run->global, run->placement.ranks)));
  RETURN_IF_FAILED(himeno_accept_comparable(run));
  RETURN_IF_FAILED(himeno_partial_write(run));
  if (!run->config.soak_given) RETURN_IF_FAILED(value_prepare(run, value));
  return run->config.ladder ? himeno_ladder(run, value) : one_kernel(run, value);
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
  gpu_close(run->device);
  himeno_ladder_free(run);
  free(run->result.samples);
  free(run->result.throttled);
  free(run->result.series);
  free(run->result.ranks);
}
