/* SPDX-License-Identifier: MIT */
/* comm-gpu: latency and bandwidth of every path between hosts, devices and neighbours. */
#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/meta.h"
#include "base/report.h"
#include "base/start.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/begin.h"
#include "tools/network/cmdline.h"
#include "tools/network/report.h"

static status_t report(const struct bench *bench)
{
  const char *json = bench->config.json;
  int json_alone = json && strcmp(json, "-") == 0;
  bench_report_text(bench, json_alone ? stderr : stdout);
  if (!json) return STATUS_OK;
  json_t *document = bench_report_json(bench);
  if (!document) return log_fail(STATUS_ENVIRONMENT, "out of memory for the JSON document");
  status_t status = report_json_write(document, json);
  json_decref(document);
  return status;
}

static status_t run_and_report(struct bench *bench)
{
  MPI_Comm comm = bench->placement.comm;
  int first = bench->placement.rank == 0;
  if (bench->config.json)
    RETURN_IF_FAILED(agree_status(comm, first ? file_check(bench->config.json) : STATUS_OK));
  status_t status = bench_run(bench);
  if (status == STATUS_HANG || (log_held()[0] && bench->placement.ranks > 1)) agree_abort(comm, status);
  if (status != STATUS_OK) return agree_status(comm, status);
  return agree_status(comm, first ? report(bench) : STATUS_OK);
}

/* Help, version and the list need no other rank. */
static status_t serve(struct bench *bench, enum option_request request)
{
  int first = bench->placement.rank == 0;
  if (request == OPTION_RUN) bench_cmdline_ignore(&bench->config);
  if (request == OPTION_RUN && !bench->config.list) return run_and_report(bench);
  if (first && request == OPTION_SHOW_HELP) bench_cmdline_help();
  if (first && request == OPTION_SHOW_VERSION) printf("comm-gpu %s\n", meta_version());
  if (first && request == OPTION_RUN) bench_report_list(stdout);
  return STATUS_OK;
}

int main(int argc, char **argv)
{
  struct bench bench = {.device = NULL};
  enum option_request request = OPTION_RUN;
  start_program("comm-gpu");
  log_hold(1);
  status_t parsed = bench_cmdline_parse(argc, argv, &bench.config, &request);
  if (begin_mpi(&argc, &argv, bench.config.timeout) != STATUS_OK) return STATUS_ENVIRONMENT;
  status_t status = placement_open(MPI_COMM_WORLD, &bench.placement);
  if (status != STATUS_OK) agree_abort(MPI_COMM_WORLD, status);
  status = agree_status(bench.placement.comm, parsed);
  if (status == STATUS_OK) status = serve(&bench, request);
  status_t printed = bench.placement.rank == 0 ? file_flush_stdout() : STATUS_OK;
  status = status_worst(status, agree_status(bench.placement.comm, printed));
  bench_close(&bench);
  placement_close(&bench.placement);
  end_mpi();
  return (int)status;
}
