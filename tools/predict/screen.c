/* SPDX-License-Identifier: MIT */
/* Selects the runs of a study that are fitted together. Lists the other runs with the reason. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"
#include "gemm/types.h"
#include "tools/predict/study.h"

/* Number of hexadecimal digits at the start of study_run.checksum; a description follows them. */
#define CHECKSUM_DIGITS 16

const char *const study_reason_names[STUDY_REASONS] = {"no run",     "failed",  "ranks",      "kind",
                                                       "transport",  "staging", "duplicates", "machines",
                                                       "unverified", "outliers"};

status_t study_keep_parse(const char *option, const char *text, void *keep)
{
  char word[32];
  for (const char *rest = text; rest;) {
    unsigned found = 0;
    rest = value_next(rest, ',', word, sizeof word);
    for (int reason = LEFT_DUPLICATE; reason < STUDY_REASONS; reason++)
      if (strcmp(word, study_reason_names[reason]) == 0) found = 1u << reason;
    if (!found)
      return log_fail(
          STATUS_USAGE,
          "%s %s: must be duplicates, machines, unverified or outliers, or several separated by commas",
          option, text);
    *(unsigned *)keep |= found;
  }
  return STATUS_OK;
}

status_t study_leave(struct study *study, enum study_reason reason, const char *file, const char *format, ...)
{
  va_list words;
  struct study_left *longer = realloc(study->left, (size_t)(study->n_left + 1) * sizeof *longer);
  if (!longer) return log_fail(STATUS_ENVIRONMENT, "out of host memory for runs");
  study->left = longer;
  struct study_left *left = &study->left[study->n_left++];
  *left = (struct study_left){.reason = reason};
  snprintf(left->file, sizeof left->file, "%s", file);
  va_start(words, format);
  vsnprintf(left->why, sizeof left->why, format, words);
  va_end(words);
  return STATUS_OK;
}

typedef int similar(const struct study_run *a, const struct study_run *b);

static int same_kind(const struct study_run *a, const struct study_run *b)
{
  return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->backend, b->backend) == 0 && a->depth == b->depth &&
         a->product.type == b->product.type && strcmp(a->device, b->device) == 0;
}

static int same_machine(const struct study_run *a, const struct study_run *b)
{
  return strcmp(a->driver, b->driver) == 0 && strcmp(a->host, b->host) == 0;
}

static int same_slot(const struct study_run *a, const struct study_run *b)
{
  return same_machine(a, b) && a->pci[0] && strcmp(a->pci, b->pci) == 0;
}

static int same_device(const struct study_run *a, const struct study_run *b)
{
  return same_slot(a, b) && strcmp(a->uuid, b->uuid) == 0;
}

static int same_grid(const struct study_run *a, const struct study_run *b)
{
  return memcmp(a->global, b->global, sizeof a->global) == 0;
}

static int same_transport(const struct study_run *a, const struct study_run *b)
{
  return memcmp(a->procs, b->procs, sizeof a->procs) == 0 && strcmp(a->transport, b->transport) == 0;
}

int study_same_configuration(const struct study_run *a, const struct study_run *b)
{
  return same_grid(a, b) && memcmp(a->procs, b->procs, sizeof a->procs) == 0 && a->hosts == b->hosts &&
         (a->ranks == 1 || strcmp(a->transport, b->transport) == 0);
}

static int same_run(const struct study_run *a, const struct study_run *b)
{
  return a->samples && a->samples == b->samples && same_grid(a, b) && same_transport(a, b);
}

/* Returns the run whose properties most others share, or −1 if there is none. Considers only runs
 * of \a kernel (NULL: of any) on the same PCI slot as the run \a slot (NULL: on any). */
static int most_common(const struct study *study, const char *kernel, const struct study_run *slot,
                       similar *is_similar)
{
  int best = -1, most = 0;
  for (int r = 0; r < study->n; r++) {
    const struct study_run *run = &study->runs[r];
    int count = 0;
    if ((kernel && strcmp(run->kernel, kernel) != 0) || (slot && !same_slot(run, slot))) continue;
    for (int s = 0; s < study->n; s++) count += is_similar(run, &study->runs[s]);
    if (count > most) most = count, best = r;
  }
  return best;
}

/** Writes to \a why the reason to leave out run \a r, or leaves \a why empty to keep the run. */
typedef void judge(const struct study *study, int r, const void *with, char why[STUDY_WHY]);

/* Leaves out the runs that \a judge finds a reason against. Judges all runs before leaving any out,
 * so that the order of files does not matter. */
static status_t leave_where(struct study *study, enum study_reason reason, judge *judge, const void *with)
{
  char(*why)[STUDY_WHY] = calloc((size_t)study->n + 1, sizeof *why);
  int kept = 0;
  if (!why) return log_fail(STATUS_ENVIRONMENT, "out of host memory for runs");
  for (int r = 0; r < study->n; r++) judge(study, r, with, why[r]);
  status_t status = STATUS_OK;
  for (int r = 0; r < study->n && status == STATUS_OK; r++)
    if (why[r][0])
      status = study_leave(study, reason, study->runs[r].file, "%s", why[r]);
    else
      study->runs[kept++] = study->runs[r];
  study->n = kept;
  free(why);
  return status;
}

static void judge_kind(const struct study *study, int r, const void *with, char why[STUDY_WHY])
{
  const struct study_run *run = &study->runs[r];
  char of[32];
  if (run->program == STUDY_GEMM)
    snprintf(of, sizeof of, "type %s", gemm_types[run->product.type].name);
  else
    snprintf(of, sizeof of, "%d sweep%s per pass", run->depth, run->depth > 1 ? "s" : "");
  if (!same_kind(run, with))
    snprintf(why, STUDY_WHY, "kernel %s, backend %s, %s, %s", run->kernel, run->backend, of, run->device);
}

static void judge_ranks(const struct study *study, int r, const void *with, char why[STUDY_WHY])
{
  if (study->runs[r].ranks > *(const int *)with) snprintf(why, STUDY_WHY, "%d ranks", study->runs[r].ranks);
}

static void judge_staging(const struct study *study, int r, const void *with, char why[STUDY_WHY])
{
  const int handover = study->runs[r].handover;
  if (handover >= 0 && handover != *(const int *)with)
    snprintf(why, STUDY_WHY, "staged %s; the others %s", study_staging(handover), study_staging(!handover));
}

static void judge_copy(const struct study *study, int r, const void *with, char why[STUDY_WHY])
{
  (void)with;
  for (int s = 0; s < r && !why[0]; s++)
    if (same_run(&study->runs[r], &study->runs[s]))
      snprintf(why, STUDY_WHY, "the same run as %s", study->runs[s].file);
}

static void judge_machine(const struct study *study, int r, const void *with, char why[STUDY_WHY])
{
  const struct study_run *run = &study->runs[r], *most = with;
  const int common = most_common(study, NULL, run, same_device);
  if (strcmp(run->host, most->host) != 0)
    snprintf(why, STUDY_WHY, "began on host %s, but most runs on %s", run->host, most->host);
  else if (strcmp(run->driver, most->driver) != 0)
    snprintf(why, STUDY_WHY, "%s, but most runs' is %s", run->driver, most->driver);
  else if (common >= 0 && strcmp(run->uuid, study->runs[common].uuid) != 0)
    snprintf(why, STUDY_WHY, "another machine named %s: at %s it has %s, but that of most runs has %s",
             run->host, run->pci, run->uuid, study->runs[common].uuid);
}

/* Keeps a run that was not verified if another run of the same grid has the same bits, and the
 * other run was verified or had another cut or transport. */
static void judge_bits(const struct study *study, int r, const void *with, char why[STUDY_WHY])
{
  const struct study_run *run = &study->runs[r];
  (void)with;
  if (run->verified) return;
  snprintf(why, STUDY_WHY, "its result was not verified");
  for (int s = 0; s < study->n && run->checksum[0]; s++) {
    const struct study_run *other = &study->runs[s];
    if (!same_grid(run, other) || strcmp(run->checksum + CHECKSUM_DIGITS, other->checksum + CHECKSUM_DIGITS))
      continue;
    const int same = strcmp(run->checksum, other->checksum) == 0;
    if (same && (other->verified || !same_transport(run, other))) why[0] = '\0';
    if (!same) snprintf(why, STUDY_WHY, "its bits are not those of %s", other->file);
    if (!why[0] || !same) return;
  }
}

struct wanted_transport {
  const struct study_paths *paths;
  const char *name;
};

static void judge_transport(const struct study *study, int r, const void *with, char why[STUDY_WHY])
{
  const struct wanted_transport *wanted = with;
  const struct study_run *run = &study->runs[r];
  const int via = study_transport_find(wanted->paths, run->transport),
            known = via >= 0 && (run->handover < 0 || wanted->paths->transports[via].handover < 0 ||
                                 run->handover == wanted->paths->transports[via].handover);
  if (run->ranks > 1 && !known && strcmp(run->transport, wanted->name) != 0)
    snprintf(why, STUDY_WHY, "by %s, of which comm-gpu's document has no parameters", run->transport);
}

status_t study_transport_select(struct study *study, const struct study_paths *paths, const char *transport)
{
  const struct wanted_transport wanted = {paths, transport};
  return transport ? leave_where(study, LEFT_TRANSPORT, judge_transport, &wanted) : STATUS_OK;
}

status_t study_staging_select(struct study *study, int handover)
{
  return handover < 0 ? STATUS_OK : leave_where(study, LEFT_STAGING, judge_staging, &handover);
}

status_t study_select(struct study *study, const char *kernel, int ranks)
{
  const int best = most_common(study, kernel, NULL, same_kind);
  const struct study_run kind = best >= 0 ? study->runs[best] : (struct study_run){.ranks = 0};
  int staged[2] = {0, 0};
  RETURN_IF_FAILED(leave_where(study, LEFT_KIND, judge_kind, &kind));
  if (ranks > 0) RETURN_IF_FAILED(leave_where(study, LEFT_RANKS, judge_ranks, &ranks));
  for (int r = 0; r < study->n; r++)
    if (study->runs[r].handover >= 0) staged[study->runs[r].handover]++;
  return study_staging_select(study, staged[1] >= staged[0]);
}

status_t study_screen(struct study *study, unsigned keep)
{
  if (!(keep & 1u << LEFT_DUPLICATE)) RETURN_IF_FAILED(leave_where(study, LEFT_DUPLICATE, judge_copy, NULL));
  const int best = most_common(study, NULL, NULL, same_machine);
  if (best >= 0 && !(keep & 1u << LEFT_MACHINE)) {
    const struct study_run most = study->runs[best];
    RETURN_IF_FAILED(leave_where(study, LEFT_MACHINE, judge_machine, &most));
  }
  if (keep & 1u << LEFT_UNVERIFIED) return STATUS_OK;
  return leave_where(study, LEFT_UNVERIFIED, judge_bits, NULL);
}
