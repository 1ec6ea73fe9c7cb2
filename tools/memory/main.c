/* SPDX-License-Identifier: MIT */
/* mem-gpu: what can this memory do? */
#include "config.h"

#include "base/log.h"
#include "base/meta.h"
#include "suite/program.h"
#include "tools/memory/run.h"

static struct mem_run run;

static status_t parse(int argc, char **argv, enum option_request *request)
{
  char host[256];
  RETURN_IF_FAILED(mem_cmdline_parse(argc, argv, &run.config, request));
  if (*request != OPTION_RUN || run.config.list) return STATUS_OK;
  meta_host(host, sizeof host);
  log_set_rank(-1, host);
  return STATUS_OK;
}

static status_t measure(int *ended)
{
  status_t status = mem_run(&run);
  *ended = status == STATUS_OK || status == STATUS_WRONG;
  return status;
}

static void report(FILE *out)
{
  mem_report_text(&run, out);
}

static json_t *document(void)
{
  return mem_report_json(&run);
}

static void close_all(void)
{
  mem_run_close(&run);
}

static const struct program program = {.options = &mem_options,
                                       .json = &run.config.json,
                                       .list = &run.config.list,
                                       .parse = parse,
                                       .run = measure,
                                       .report = report,
                                       .document = document,
                                       .print_list = mem_report_list,
                                       .close = close_all};

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
