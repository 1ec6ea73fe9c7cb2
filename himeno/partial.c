/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/partial.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/report.h"
#include "comm/ranks/agree.h"
#include "himeno/ranks.h"
#include "himeno/report/report.h"

int himeno_partial_wanted(const struct himeno_run *run)
{
  const char *json = run->config.json;
  return json && strcmp(json, "-") != 0 && !run->config.ladder;
}

/* What has measured nothing yet replaces no document of an earlier run, and what is no file takes one document, the last. */
static int is_due(const struct himeno_run *run)
{
  static int ours;
  if (!ours && run->result.n_samples == 0 && access(run->config.json, F_OK) == 0) return 0;
  return ours = file_is_replaced(run->config.json);
}

/* The result as it stands. */
static status_t document_write(struct himeno_run *run)
{
  const int partial = run->result.partial;
  run->result.partial = 1;
  status_t status = run->solver ? himeno_ranks_gather(run) : STATUS_OK;
  if (status == STATUS_OK && run->placement.rank == 0 && is_due(run)) {
    json_t *document = himeno_report_json(run);
    status = document ? report_json_write(document, run->config.json)
                      : log_fail(STATUS_ENVIRONMENT, "out of memory for the JSON document");
    json_decref(document);
  }
  run->result.partial = partial;
  return status;
}

status_t himeno_partial_write(struct himeno_run *run)
{
  if (!himeno_partial_wanted(run)) return STATUS_OK;
  return agree_status(run->placement.comm, document_write(run));
}
