/* SPDX-License-Identifier: MIT */
/* gemm-gpu: how close to peak arithmetic, step by step? */
#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/meta.h"
#include "base/report.h"
#include "base/start.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/begin.h"
#include "gemm/ladder.h"
#include "gemm/report/report.h"
#include "gemm/study.h"

static status_t report(const struct gemm_run *run)
{
  const char *json = run->config.json;
  int json_alone = json && strcmp(json, "-") == 0;
  (run->ladder ? gemm_ladder_text : gemm_report_text)(run, json_alone ? stderr : stdout);
  if (!json) return STATUS_OK;
  json_t *document = run->ladder ? gemm_ladder_json(run) : gemm_report_json(run);
  if (!document) return log_fail(STATUS_ENVIRONMENT, "out of memory for the JSON document");
  status_t status = report_json_write(document, json);
  json_decref(document);
  return status;
}

static status_t run_and_report(struct gemm_run *run)
{
  MPI_Comm comm = run->placement.comm;
  int first = run->placement.rank == 0;
  if (run->config.json)
    RETURN_IF_FAILED(agree_status(comm, first ? file_check(run->config.json) : STATUS_OK));
  status_t status = gemm_run(run);
  if (log_held()[0] && run->placement.ranks > 1) agree_abort(comm, status);
  if (status != STATUS_OK && status != STATUS_WRONG) return agree_status(comm, status);
  status_t reported = first && run->ranks ? report(run) : STATUS_OK;
  return status_worst(status, agree_status(comm, status_worst(status, reported)));
}

/* Help, version and the list need no other rank. */
static status_t serve(struct gemm_run *run, enum option_request request)
{
  int first = run->placement.rank == 0;
  int study = run->config.fragment_map || run->config.load_study;
  if (request == OPTION_RUN && !run->config.list && !study) return run_and_report(run);
  if (request == OPTION_RUN) gemm_cmdline_ignore(&run->config, 0);
  if (request == OPTION_RUN && !run->config.list)
    return gemm_study_run(&run->placement, &run->config, stdout);
  if (first && request == OPTION_SHOW_HELP) gemm_cmdline_help();
  if (first && request == OPTION_SHOW_VERSION) printf("gemm-gpu %s\n", meta_version());
  if (first && request == OPTION_RUN) gemm_report_list(stdout);
  return STATUS_OK;
}

int main(int argc, char **argv)
{
  struct gemm_run run = {.device = NULL};
  enum option_request request = OPTION_RUN;
  start_program("gemm-gpu");
  log_hold(1);
  stop_catch();
  status_t parsed = gemm_cmdline_parse(argc, argv, &run.config, &request);
  if (begin_mpi(&argc, &argv, run.config.timeout) != STATUS_OK) return STATUS_ENVIRONMENT;
  status_t status = placement_open(MPI_COMM_WORLD, &run.placement);
  if (status != STATUS_OK) agree_abort(MPI_COMM_WORLD, status);
  status = agree_status(run.placement.comm, parsed);
  if (status == STATUS_OK) status = serve(&run, request);
  status_t printed = run.placement.rank == 0 ? file_flush_stdout() : STATUS_OK;
  status = status_worst(status, agree_status(run.placement.comm, printed));
  gemm_run_close(&run);
  placement_close(&run.placement);
  end_mpi();
  return (int)status;
}
