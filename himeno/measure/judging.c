/* SPDX-License-Identifier: MIT */
#include "himeno/measure/measure.h"

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/report/report.h"

/* Returns the document of a run that has measured nothing yet, or NULL if memory ran out. */
static json_t *draft_make(const struct himeno_choice *choice, const struct himeno_result *result)
{
  struct doc d;
  doc_open(&d, 0);
  himeno_document(&d, choice, result);
  return doc_close(&d);
}

static status_t plan_make(const struct himeno_choice *choice, const struct judge_limits *limits,
                          struct judge_plan *plan)
{
  static const struct himeno_result nothing;
  json_t *draft = draft_make(choice, &nothing);
  status_t status = draft ? judge_plan(limits, draft, plan)
                          : log_fail(STATUS_ENVIRONMENT, "out of host memory for the JSON document");
  json_decref(draft);
  return status;
}

status_t himeno_plan(const struct himeno_choice *choice, const struct judge_limits *limits,
                     struct judge_plan *plan)
{
  const struct placement *p = &choice->placement;
  RETURN_IF_FAILED(agree_status(p->comm, p->rank == 0 ? plan_make(choice, limits, plan) : STATUS_OK));
  return watch_bcast(p->comm, plan, sizeof *plan, MPI_BYTE, 0, "what has to be measured");
}

status_t himeno_judge(const struct himeno_choice *choice, const struct himeno_result *result,
                      const struct judge_limits *limits, struct judged *judged, json_t **document)
{
  json_t *made = NULL;
  status_t status = document_reread(draft_make(choice, result), &made);
  if (status == STATUS_OK) status = judge_document(limits, made, "this run", judged);
  if (status == STATUS_OK)
    *document = made;
  else
    json_decref(made);
  return status;
}
