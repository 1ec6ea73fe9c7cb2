/* SPDX-License-Identifier: MIT */
/* himeno-gpu: is every device correct and fast, and how does the cluster scale? program_mpi_main
 * parses the options, calls `solve` on all ranks, and writes report and document through the
 * functions below. himeno_run selects kernel and transport, measures, verifies and judges. */
#include "base/output.h"
#include "base/stop.h"
#include "himeno/report/report.h"
#include "himeno/run/run.h"
#include "himeno/soak/soak.h"
#include "suite/program.h"

static struct himeno_run run = {.choice.config = &run.config};

static status_t solve(int *ended)
{
  status_t status = himeno_run(&run);
  *ended = run.result.ended;
  return status;
}

static void himeno_report(FILE *out)
{
  if (run.ladder)
    himeno_ladder_text(&run.choice, run.ladder, out);
  else
    himeno_report_text(&run.choice, &run.result, &run.judged, out);
}

static void fields(struct doc *d)
{
  if (d->schema && run.config.soak_log)
    himeno_soak_schema(d);
  else if (run.config.ladder)
    himeno_ladder_document(d, &run.choice, run.ladder);
  else
    himeno_document(d, &run.choice, &run.result);
}

/* Returns the document of a run, which was made to be judged; NULL for a ladder. */
static json_t *himeno_main_document(void)
{
  return json_incref(run.document);
}

static void himeno_list(FILE *out)
{
  himeno_report_list(run.config.backend, out);
}

static void himeno_close_all(void)
{
  himeno_run_close(&run);
}

static const struct program program = {.options = &himeno_options,
                                       .config = &run.config,
                                       .json = &run.config.json,
                                       .list = &run.config.list,
                                       .quiet = &run.config.quiet,
                                       .run = solve,
                                       .report = himeno_report,
                                       .fields = fields,
                                       .document = himeno_main_document,
                                       .print_list = himeno_list,
                                       .close = himeno_close_all,
                                       .placement = &run.choice.placement,
                                       .timeout = &run.config.timeout};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  stop_catch();
  return program_mpi_main(&program, argc, argv);
}
