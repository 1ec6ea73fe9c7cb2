/* SPDX-License-Identifier: MIT */
/* himeno-predict: how himeno-gpu scales, from a measured study and the paths of comm-gpu. */
#include "config.h"

#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/meta.h"
#include "base/output.h"
#include "base/report.h"
#include "suite/program.h"
#include "suite/progress.h"
#include "tools/predict/predict.h"

static struct predict p;

/* The document goes to --seal with its hash, to --json as it is. */
static status_t documents_write(FILE *out)
{
  char hash[SHA256_TEXT];
  if (!p.config.json && !p.config.seal) return STATUS_OK;
  json_t *document = predict_report_json(&p);
  if (!document) return log_fail(STATUS_ENVIRONMENT, "out of memory for the JSON document");
  status_t status = p.config.json ? report_json_write(document, p.config.json) : STATUS_OK;
  if (status == STATUS_OK && p.config.seal) status = predict_seal(document, hash);
  if (status == STATUS_OK && p.config.seal) status = report_json_write(document, p.config.seal);
  json_decref(document);
  if (status == STATUS_OK && p.config.seal)
    fprintf(out, "\n  sealed     %s, sha256 %s\n", p.config.seal, hash);
  return status;
}

static status_t paths_check(const struct predict_config *c)
{
  if (c->json) RETURN_IF_FAILED(file_check(c->json));
  return c->seal ? file_check(c->seal) : STATUS_OK;
}

static status_t predict(FILE *out)
{
  RETURN_IF_FAILED(paths_check(&p.config));
  RETURN_IF_FAILED(predict_run(&p));
  progress_clear();
  predict_report_text(&p, out);
  RETURN_IF_FAILED(documents_write(out));
  return predict_within(&p);
}

static status_t check(FILE *out)
{
  char hash[SHA256_TEXT];
  RETURN_IF_FAILED(predict_check(&p, hash));
  fprintf(out, "himeno-predict %s\n\n  seal       %s is whole, sha256 %s\n", meta_version(), p.config.check,
          hash);
  predict_report_covered(&p.model, out);
  predict_report_against(&p, out);
  return predict_within(&p);
}

static status_t run(int *ended)
{
  const struct predict_config *c = &p.config;
  (void)ended;
  return (c->check ? check : predict)(program_out(c->seal && strcmp(c->seal, "-") == 0 ? c->seal : c->json));
}

static void close_all(void)
{
  predict_close(&p);
}

static const struct program program = {.options = &predict_options,
                                       .config = &p.config,
                                       .quiet = &p.config.quiet,
                                       .run = run,
                                       .close = close_all};

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  return program_main(&program, argc, argv);
}
