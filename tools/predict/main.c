/* SPDX-License-Identifier: MIT */
/* himeno-predict predicts how himeno-gpu and gemm-gpu scale, from a study and comm-gpu's paths.
 * program_main parses the options. predict_run reads the study, fits the model, validates it by
 * runs that are left out in turn, and predicts; predict_check compares a stored document of
 * predictions with runs instead. Both fill `p`, which the functions below write. */
#include "base/meta.h"
#include "base/output.h"
#include "suite/program.h"
#include "tools/predict/predict.h"

static struct predict p;

static status_t predict_main_run(int *ended)
{
  RETURN_IF_FAILED((p.config.check ? predict_check : predict_run)(&p));
  *ended = 1;
  return predict_within(&p);
}

static void predict_report(FILE *out)
{
  if (!p.config.check) {
    predict_report_text(&p, out);
    return;
  }
  fprintf(out, "himeno-predict %s\n\n  predicted  %s\n", meta_version(), p.config.check);
  predict_report_covered(&p.model.coverage, out);
  predict_report_against(&p, out);
}

static void predict_main_document(struct doc *d)
{
  predict_document(d, &p);
}

static void predict_close_all(void)
{
  predict_close(&p);
}

static const struct program program = {.options = &predict_options,
                                       .config = &p.config,
                                       .json = &p.config.json,
                                       .quiet = &p.config.quiet,
                                       .run = predict_main_run,
                                       .report = predict_report,
                                       .fields = predict_main_document,
                                       .close = predict_close_all};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
