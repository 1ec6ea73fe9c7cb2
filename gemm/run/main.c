/* SPDX-License-Identifier: MIT */
/* gemm-gpu measures how close matrix products come to peak arithmetic. program_mpi_main parses the
 * options, calls gemm_program_run on all ranks, and writes report and document through the
 * functions below. gemm_run tunes, measures and verifies; --fragment-map only prints a study. */
#include "config.h"

#include "base/log.h"
#include "base/output.h"
#include "base/stop.h"
#include "comm/ranks/agree.h"
#include "gemm/kernels/cuda/tensor/study.h"
#include "gemm/report/report.h"
#include "gemm/run/run.h"
#include "suite/program.h"
#include "suite/ranks.h"

static struct gemm_run run;

static status_t study_here(const struct placement *p, struct gpu_device *device, FILE *out)
{
  struct gpu_queue *queue = NULL;
  status_t status;
  TRY(gpu_queue_create(device, GPU_NORMAL, &queue), done);
  fprintf(out, "%s (%s)\n", p->info.name, p->info.arch);
#if HAVE_CUDA
  TRY(gemm_study_fragments(device, queue, out), done);
#endif
done:
  gpu_queue_destroy(queue);
  return status;
}

/* --fragment-map: prints the fragment layouts of rank 0's CUDA device. All ranks get the same
 * status. */
static status_t gemm_study_run(struct placement *p, const struct gemm_config *config, FILE *out)
{
  struct gpu_device *device = NULL;
  status_t status = STATUS_OK;
  gemm_cmdline_ignore(config, 0);
  if (config->backend && config->backend != &gpu_backend_cuda)
    status = log_fail(STATUS_USAGE, "--backend %s: WMMA fragments are CUDA's", config->backend->name);
  RETURN_IF_FAILED(agree_status(p->comm, status));
  RETURN_IF_FAILED(
      rank_place(p, &gpu_backend_cuda, config->device, config->binding, config->expect, &device));
  status = agree_status(p->comm, p->rank == 0 ? study_here(p, device, out) : STATUS_OK);
  gpu_close(device);
  return status;
}

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
