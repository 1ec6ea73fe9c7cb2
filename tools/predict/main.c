/* SPDX-License-Identifier: MIT */
/* himeno-predict: how himeno-gpu scales, from a measured study and the paths of comm-gpu. */
#include "base/file.h"
#include "base/meta.h"
#include "base/output.h"
#include "suite/program.h"
#include "suite/progress.h"
#include "tools/predict/predict.h"

static struct predict p;

static void document(struct doc *d)
{
  predict_document(d, &p);
}

static status_t written(void)
{
  struct doc d;
  doc_open(&d, 0);
  document(&d);
  return doc_write(&d, p.config.json);
}

static status_t predict(FILE *out)
{
  if (p.config.json) RETURN_IF_FAILED(file_check(p.config.json));
  RETURN_IF_FAILED(predict_run(&p));
  progress_clear();
  predict_report_text(&p, out);
  if (p.config.json) RETURN_IF_FAILED(written());
  return predict_within(&p);
}

static status_t check(FILE *out)
{
  RETURN_IF_FAILED(predict_check(&p));
  fprintf(out, "himeno-predict %s\n\n  predicted  %s\n", meta_version(), p.config.check);
  predict_report_covered(&p.model, out);
  predict_report_against(&p, out);
  return predict_within(&p);
}

static status_t run(int *ended)
{
  const struct predict_config *c = &p.config;
  (void)ended;
  return (c->check ? check : predict)(program_out(c->json));
}

static void close_all(void)
{
  predict_close(&p);
}

static const struct program program = {.options = &predict_options,
                                       .config = &p.config,
                                       .quiet = &p.config.quiet,
                                       .run = run,
                                       .fields = document,
                                       .close = close_all};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
