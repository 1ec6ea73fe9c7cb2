/* SPDX-License-Identifier: MIT */
/* himeno-gpu: is every device correct and fast, and how does the cluster scale? */
#include "base/output.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "himeno/accept/stored.h"
#include "himeno/report/report.h"
#include "himeno/run.h"
#include "himeno/soak/soak.h"
#include "suite/program.h"

static struct himeno_run run;

/* Nothing is run. */
static status_t stored(void)
{
  const struct placement *p = &run.choice.placement;
  himeno_cmdline_ignore(&run.config, NULL);
  status_t status = STATUS_OK;
  if (p->rank == 0)
    status = run.config.make.n > 0 ? accept_make(&run.config.make, output_stream())
                                   : accept_stored(&run.config.stored, output_stream());
  return agree_status(p->comm, status);
}

static status_t solve(int *ended)
{
  if (run.config.make.n + run.config.stored.n > 0) return stored();
  status_t status = himeno_run(&run);
  *ended = run.result.ended;
  return status;
}

static void report(FILE *out)
{
  if (run.ladder)
    himeno_ladder_text(&run.config, &run.choice, run.ladder, out);
  else
    himeno_report_text(&run.config, &run.choice, &run.result, out);
}

static void document(struct doc *d)
{
  if (d->schema && run.config.soak_log)
    himeno_soak_schema(d);
  else if (run.config.ladder)
    himeno_ladder_document(d, &run.config, &run.choice, run.ladder);
  else
    himeno_document(d, &run.config, &run.choice, &run.result);
}

static void list(FILE *out)
{
  himeno_report_list(run.config.backend, out);
}

static void close_all(void)
{
  himeno_run_close(&run);
}

static const struct program program = {.options = &himeno_options,
                                       .config = &run.config,
                                       .json = &run.config.json,
                                       .list = &run.config.list,
                                       .quiet = &run.config.quiet,
                                       .run = solve,
                                       .report = report,
                                       .fields = document,
                                       .print_list = list,
                                       .close = close_all,
                                       .placement = &run.choice.placement,
                                       .timeout = &run.config.timeout};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  stop_catch();
  return program_mpi_main(&program, argc, argv);
}
