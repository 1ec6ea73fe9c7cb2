/* SPDX-License-Identifier: MIT */
/* mem-gpu: what can this memory do? */
#include "config.h"

#include "suite/program.h"
#include "tools/memory/run.h"

static struct mem_run run;

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
                                       .config = &run.config,
                                       .json = &run.config.json,
                                       .list = &run.config.list,
                                       .run = measure,
                                       .report = report,
                                       .document = document,
                                       .print_list = mem_report_list,
                                       .close = close_all,
                                       .names_host = 1};

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
