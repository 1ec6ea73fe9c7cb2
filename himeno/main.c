/* SPDX-License-Identifier: MIT */
/* himeno-gpu: is every device correct and fast, and how does the cluster scale? */
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
#include "himeno/report/report.h"
#include "himeno/run.h"

static status_t report(const struct himeno_run *run)
{
  const char *json = run->config.json;
  int json_alone = json && strcmp(json, "-") == 0;
  FILE *out = json_alone ? stderr : stdout;
  if (run->ladder)
    himeno_ladder_text(&run->config, &run->choice, run->ladder, out);
  else
    himeno_report_text(&run->config, &run->choice, &run->result, out);
  if (!json) return STATUS_OK;
  json_t *document = run->ladder ? himeno_ladder_json(&run->config, &run->choice, run->ladder)
                                 : himeno_report_json(&run->config, &run->choice, &run->result);
  if (!document) return log_fail(STATUS_ENVIRONMENT, "out of memory for the JSON document");
  status_t status = report_json_write(document, json);
  json_decref(document);
  return status;
}

static status_t run_and_report(struct himeno_run *run)
{
  MPI_Comm comm = run->choice.placement.comm;
  int first = run->choice.placement.rank == 0;
  if (run->config.json)
    RETURN_IF_FAILED(agree_status(comm, first ? file_check(run->config.json) : STATUS_OK));
  status_t status = himeno_run(run);
  if ((log_held()[0] || status == STATUS_HANG) && run->choice.placement.ranks > 1) agree_abort(comm, status);
  if (!run->result.ended) return agree_status(comm, status);
  return status_worst(status, agree_status(comm, first ? report(run) : STATUS_OK));
}

/* Help, version and the list need no other rank. */
static status_t serve(struct himeno_run *run, enum option_request request)
{
  int first = run->choice.placement.rank == 0;
  if (request == OPTION_RUN && !run->config.list) return run_and_report(run);
  if (first && request == OPTION_SHOW_HELP) himeno_cmdline_help();
  if (first && request == OPTION_SHOW_VERSION) printf("himeno-gpu %s\n", meta_version());
  if (request != OPTION_RUN) return STATUS_OK;
  himeno_cmdline_ignore(&run->config, NULL);
  if (first) himeno_report_list(stdout);
  return STATUS_OK;
}

int main(int argc, char **argv)
{
  struct himeno_run run = {.solver = NULL};
  enum option_request request = OPTION_RUN;
  start_program("himeno-gpu");
  log_hold(1);
  stop_catch();
  status_t parsed = himeno_cmdline_parse(argc, argv, &run.config, &request);
  if (begin_mpi(&argc, &argv, run.config.timeout) != STATUS_OK) return STATUS_ENVIRONMENT;
  status_t status = placement_open(MPI_COMM_WORLD, &run.choice.placement);
  if (status != STATUS_OK) agree_abort(MPI_COMM_WORLD, status);
  status = agree_status(run.choice.placement.comm, parsed);
  if (status == STATUS_OK) status = serve(&run, request);
  status_t printed = run.choice.placement.rank == 0 ? file_flush_stdout() : STATUS_OK;
  status = status_worst(status, agree_status(run.choice.placement.comm, printed));
  himeno_run_close(&run);
  placement_close(&run.choice.placement);
  end_mpi();
  return status_exit_code(status);
}
