/* SPDX-License-Identifier: MIT */
/* mem-gpu: what can this memory do? */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/meta.h"
#include "base/report.h"
#include "base/start.h"
#include "tools/memory/run.h"

static status_t report(const struct mem_run *run)
{
  const char *json = run->config.json;
  mem_report_text(run, json && strcmp(json, "-") == 0 ? stderr : stdout);
  if (!json) return STATUS_OK;
  json_t *document = mem_report_json(run);
  if (!document) return log_fail(STATUS_ENVIRONMENT, "out of memory for the JSON document");
  status_t status = report_json_write(document, json);
  json_decref(document);
  return status;
}

static status_t run_and_report(struct mem_run *run)
{
  if (run->config.json) RETURN_IF_FAILED(file_check(run->config.json));
  status_t status = mem_run(run);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  return status_worst(status, report(run));
}

int main(int argc, char **argv)
{
  static struct mem_run run;
  enum option_request request = OPTION_RUN;
  char host[256];
  start_program("mem-gpu");
  start_signals();
  status_t status = mem_cmdline_parse(argc, argv, &run.config, &request);
  if (status != STATUS_OK) return (int)status;
  if (request == OPTION_SHOW_HELP)
    mem_cmdline_help();
  else if (request == OPTION_SHOW_VERSION)
    printf("mem-gpu %s\n", meta_version());
  else if (run.config.list) {
    mem_cmdline_ignore(&run.config, 0);
    mem_report_list(stdout);
  } else {
    meta_host(host, sizeof host);
    log_set_rank(-1, host);
    status = run_and_report(&run);
  }
  mem_run_close(&run);
  return (int)status_worst(status, file_flush_stdout());
}
