/* SPDX-License-Identifier: MIT */
/* comm-gpu: latency and bandwidth of every path between hosts, devices and neighbours.
 * program_mpi_main parses the options and calls comm_measure on all ranks. bench_run visits the
 * parts of --parts twice: it counts their points to share the time limit, and then measures them
 * into `bench`. The functions below write the results as report and document. */
#include "base/output.h"
#include "suite/program.h"
#include "tools/network/cmdline.h"
#include "tools/network/bench.h"

static struct bench bench;

static status_t comm_measure(int *ended)
{
  status_t status = bench_run(&bench);
  *ended = status == STATUS_OK;
  if (status == STATUS_WRONG && bench.placement.rank == 0)
    bench_report_verdict(&bench, status, program_out(bench.config.json));
  return status;
}

static void comm_report(FILE *out)
{
  bench_report_text(&bench, out);
}

static void comm_main_document(struct doc *d)
{
  bench_document(d, &bench);
}

static void comm_list(FILE *out)
{
  bench_report_list(bench.config.backend, out);
}

static void comm_close_all(void)
{
  bench_close(&bench);
}

static const struct program program = {.options = &bench_options,
                                       .config = &bench.config,
                                       .json = &bench.config.json,
                                       .list = &bench.config.list,
                                       .quiet = &bench.config.quiet,
                                       .run = comm_measure,
                                       .report = comm_report,
                                       .fields = comm_main_document,
                                       .print_list = comm_list,
                                       .close = comm_close_all,
                                       .placement = &bench.placement,
                                       .timeout = &bench.config.timeout};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  return program_mpi_main(&program, argc, argv);
}
