/* SPDX-License-Identifier: MIT */
/* gemm-gpu: how close to peak arithmetic, step by step? */
#include "base/output.h"
#include "base/stop.h"
#include "gemm/report/report.h"
#include "gemm/run/run.h"
#include "gemm/run/study.h"
#include "suite/program.h"

static struct gemm_run run;

static status_t gemm_program_run(int *ended)
{
  if (run.rig.config.fragment_map)
    return gemm_study_run(&run.rig.placement, &run.rig.config, output_stream());
  status_t status = gemm_run(&run);
  *ended = status == STATUS_OK || status == STATUS_WRONG || status == STATUS_INCOMPLETE;
  return status;
}

static void gemm_report(FILE *out)
{
  (run.result.ladder ? gemm_ladder_text : gemm_report_text)(&run, out);
}

static void gemm_main_document(struct doc *d)
{
  gemm_document(d, &run);
}

static void gemm_list(FILE *out)
{
  gemm_report_list(run.rig.config.backend, out);
}

static void gemm_close_all(void)
{
  gemm_run_close(&run);
}

static const struct program program = {.options = &gemm_options,
                                       .config = &run.rig.config,
                                       .json = &run.rig.config.json,
                                       .list = &run.rig.config.list,
                                       .quiet = &run.rig.config.quiet,
                                       .run = gemm_program_run,
                                       .report = gemm_report,
                                       .fields = gemm_main_document,
                                       .print_list = gemm_list,
                                       .close = gemm_close_all,
                                       .placement = &run.rig.placement,
                                       .timeout = &run.rig.config.timeout};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  stop_catch();
  return program_mpi_main(&program, argc, argv);
}
