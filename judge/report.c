/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/document.h"
#include "base/log.h"
#include "judge/judge.h"
#include "judge/parts.h"

#define LINE_COLUMNS    100
#define LINE_MAX_BYTES  800
#define SLOWDOWNS_SHOWN 10
#define COUNTED_SHOWN   64

/* Formats a value. The dash of an unknown value has two bytes more than columns. */
static const char *judge_number(double value, int is_flag, char text[24])
{
  snprintf(text, 24, fabs(value) >= 100 || value == floor(value) ? "%.0f" : "%.4f", value);
  if (isnan(value)) return "–";
  return !is_flag ? text : value > 0 ? "yes" : "no";
}

static const char *outcome_text(const struct check *c)
{
  if (c->outcome == CHECK_INAPPLICABLE) return "does not apply";
  if (isnan(c->value)) return c->outcome == CHECK_FAIL ? "FAIL, unknown" : "unknown";
  return c->outcome == CHECK_FAIL ? "FAIL" : check_outcome_names[c->outcome];
}

/* Prints a check, with the reason on the same line if it fits. */
static void check_text(const struct check *c, FILE *out)
{
  char value[24], limit[24], margin[24];
  int column = fprintf(out, "    %-45s", c->title);
  if (c->outcome != CHECK_INAPPLICABLE) {
    const char *relation = c->at_most ? "<=" : ">=";
    fprintf(out, "%*s  %-2s %8s  %8s", isnan(c->value) ? 10 : 8, judge_number(c->value, c->is_flag, value),
            c->is_flag ? "" : relation, judge_number(c->limit, c->is_flag, limit),
            c->is_flag || isnan(c->value) ? "" : judge_number(check_margin(c), 0, margin));
    column += 31;
  }
  column += fprintf(out, "  %s", outcome_text(c));
  if (c->why[0])
    fprintf(out, column + 2 + (int)strlen(c->why) > LINE_COLUMNS ? ":\n      %s" : ": %s", c->why);
  fprintf(out, "\n");
  if (c->outcome == CHECK_FAIL && c->from[0]) fprintf(out, "      limit from: %s\n", c->from);
}

static void stragglers_text(const struct judge_run *run, FILE *out)
{
  const int had = run->n_blocks, need = straggler_blocks_min(run->n_ranks);
  char line[LINE_MAX_BYTES];
  if (run->n_ranks >= STRAGGLER_RANKS_MIN && had > 0 && had < need)
    fprintf(out, "  stragglers: not checked, %d timed block%s, and %d ranks need %d\n", had,
            had == 1 ? "" : "s", run->n_ranks, need);
  for (int s = 0; s < judge_stored(run->n_stragglers); s++)
    fprintf(out, "  STRAGGLER  %s\n", suspect_straggler(run, &run->stragglers[s], line, sizeof line));
  if (run->n_stragglers > JUDGE_FOUND_MAX)
    fprintf(out, "  ... and %d more stragglers\n", run->n_stragglers - JUDGE_FOUND_MAX);
}

static void slowdowns_text(const struct judge_run *run, FILE *out)
{
  char line[LINE_MAX_BYTES];
  for (int s = 0; s < run->n_slowdowns && s < SLOWDOWNS_SHOWN; s++)
    fprintf(out, "  SLOW ONCE  %s\n", suspect_slowdown(run, &run->slowdowns[s], line, sizeof line));
  if (run->n_slowdowns > SLOWDOWNS_SHOWN)
    fprintf(out, "  ... and slow %d times more: see --json\n", run->n_slowdowns - SLOWDOWNS_SHOWN);
}

/* Prints error counters, whether a policy limits them or not. */
static void counted_text(const struct judge_run *run, FILE *out)
{
  char who[LINE_MAX_BYTES], what[LINE_MAX_BYTES];
  int ranks = 0;
  for (int r = 0; r < run->n_ranks; r++)
    if (suspect_counted(run, r, what, sizeof what)[0] && ranks++ < COUNTED_SHOWN)
      fprintf(out, "  ERRORS     %s: %s, since the run began\n", suspect_name(run, r, who, sizeof who), what);
  if (ranks > COUNTED_SHOWN)
    fprintf(out, "  ... and %d more ranks: --json has them all\n", ranks - COUNTED_SHOWN);
}

/* Returns the reason why the run is not accepted; NULL if it is accepted. */
static const char *refusal(const struct judged *j)
{
  if (j->verdict == STATUS_WRONG) return "the result is wrong";
  if (j->partial) return "a signal ended the run";
  if (!j->verified) return "the result was not verified";
  if (j->verdict == STATUS_NOISY) return "too noisy to judge, run again";
  if (j->verdict == STATUS_USAGE) return "nothing could be checked";
  if (j->verdict != STATUS_OK && j->verdict != STATUS_SLOW) return "the run failed";
  return NULL;
}

/* Lists the checks that were unknown or inapplicable, separated by semicolons, because titles may
 * contain commas. \a column is the current column. */
static void unchecked_text(const struct checks *checks, int column, FILE *out)
{
  const int unknown = checks_count(checks, CHECK_UNKNOWN),
            n = unknown + checks_count(checks, CHECK_INAPPLICABLE);
  const char *before = ":";
  if (n > 0) column += fprintf(out, "; %d not checked", n);
  if (unknown > 0 && unknown < n)
    column += fprintf(out, " (%d unknown, %d do not apply)", unknown, n - unknown);
  for (int c = 0; n > 0 && c < checks->n; c++) {
    const struct check *check = &checks->check[c];
    if (check->outcome != CHECK_UNKNOWN && check->outcome != CHECK_INAPPLICABLE) continue;
    column += fprintf(out, "%s", before);
    before = ";";
    if (column + (int)strlen(check->title) + 2 > LINE_COLUMNS) column = fprintf(out, "\n   ") - 1;
    column += fprintf(out, " %s", check->title);
  }
  fprintf(out, "\n");
}

void judged_headline(const struct judged *j, FILE *out)
{
  const struct checks *checks = &j->checks;
  const int failures = checks_count(checks, CHECK_FAIL);
  const char *why = refusal(j);
  int column;
  if (!j->asked) return;
  if (!why && j->verdict != STATUS_SLOW)
    column = fprintf(out, "  ACCEPTED%s: %d of %d checks passed", j->compared ? "" : ", though NOT VERIFIED",
                     checks_count(checks, CHECK_PASS), checks->n);
  else if (!why || (failures && !j->partial))
    column = fprintf(out, "  NOT ACCEPTED: %s%s%d of %d checks failed", why ? why : "", why ? "; " : "",
                     failures, checks->n);
  else
    column = fprintf(out, "  NOT ACCEPTED: %s", why);
  unchecked_text(checks, column, out);
}

void judged_text(const struct judged *j, FILE *out)
{
  stragglers_text(&j->run, out);
  slowdowns_text(&j->run, out);
  counted_text(&j->run, out);
  if (!j->asked) return;
  const char *quote = j->policy[0] ? "\"" : "";
  fprintf(out, "\n  acceptance by %s%s%s%s\n", *quote ? "policy " : "comparison with the earlier run", quote,
          j->policy, quote);
  fprintf(out, "    %-45s%8s  %11s  %8s  result\n", "check", "value", "required", "margin");
  for (int c = 0; c < j->checks.n; c++) check_text(&j->checks.check[c], out);
}

static void judge_check_document(struct doc *d, const struct check *c)
{
  doc_object(d, NULL, 0, "", 1);
  doc_text(d, "check", 0, "", c->name);
  doc_text(d, "title", DOC_OPTIONAL, "The name in reports; `check` is the same in all versions.", c->title);
  doc_text(d, "unit", DOC_ANY, "", c->unit);
  doc_real(d, "value", DOC_NULLABLE | DOC_ANY, "", "null: unknown.", c->value);
  doc_real(d, "limit", DOC_ANY, "", "", c->limit);
  doc_flag(d, "at_most", 0, "The limit is the largest value that passes, not the smallest.", c->at_most);
  doc_real(d, "margin", DOC_NULLABLE | DOC_ANY, "", "Distance from the limit; positive is good.",
           check_margin(c));
  doc_enum(d, "outcome", 0, DOC_WORDS(check_outcome_names), "", check_outcome_names[c->outcome]);
  doc_whole(d, "rank", DOC_NULLABLE, "The worst rank; null for a check of the whole run.", c->rank);
  doc_text(d, "why", DOC_ANY, "", c->why);
  doc_text(d, "from", DOC_ANY | DOC_OPTIONAL, "Source of the limit; empty if the policy names none.",
           c->from);
  doc_end(d);
}

void judge_accept_document(struct doc *d, const struct judged *j)
{
  if (!doc_object(d, "accept", DOC_OPTIONAL, "Only with --accept or --reference, or of himeno-judge.",
                  j->asked))
    return;
  doc_text(d, "policy", DOC_NULLABLE, "Name of the policy; null with --reference alone.",
           j->policy[0] ? j->policy : NULL);
  doc_flag(d, "accepted", 0, "", j->verdict == STATUS_OK && !j->partial);
  doc_list(d, "checks", 0, "", 1);
  for (int c = 0; doc_each(d, c, j->checks.n); c++) judge_check_document(d, doc_at(d, j->checks.check, c));
  doc_end(d);
  doc_end(d);
}

static void suspect_document(struct doc *d, const struct judge_run *run, int rank, enum judge_of of,
                             double slowness)
{
  doc_whole(d, "rank", 0, "", rank);
  doc_text(d, "host", 0, "", view_text(run->ranks[rank].row, "host"));
  doc_text(d, "uuid", DOC_ANY, "", view_text(run->ranks[rank].row, "uuid"));
  doc_enum(d, "of", 0, DOC_WORDS(judge_of_names), "", judge_of_names[of]);
  doc_real(d, "slowness", DOC_ANY, "", "Ratio to the usual time.", slowness);
}

static void stragglers_document(struct doc *d, const struct judge_run *run)
{
  char words[LINE_MAX_BYTES];
  doc_list(d, "stragglers", DOC_OPTIONAL,
           "Ranks slower than chance explains; none are found among fewer than 4, nor in too few blocks.", 1);
  for (int s = 0; s < JUDGE_FOUND_MAX && doc_each(d, s, run->n_stragglers); s++) {
    const struct straggler *one = doc_at(d, run->stragglers, s);
    doc_object(d, NULL, 0, "", 1);
    suspect_document(d, run, one->rank, one->of, one->slowness);
    doc_real(d, "limit", DOC_ANY, "", "", one->limit);
    doc_whole(d, "beyond", 0, "Blocks in which it was beyond the limit.", one->beyond);
    doc_whole(d, "blocks", DOC_POSITIVE, "", run->n_blocks);
    doc_text(d, "words", 0, "", suspect_straggler(run, one, words, sizeof words));
    doc_end(d);
  }
  doc_end(d);
}

static void slowdowns_document(struct doc *d, const struct judge_run *run)
{
  char words[LINE_MAX_BYTES];
  doc_list(d, "episodes", DOC_OPTIONAL,
           "Transient slowdowns of a rank, by its own median; at most 64. Runs shorter than ten seconds "
           "have none.",
           1);
  for (int s = 0; s < JUDGE_FOUND_MAX && doc_each(d, s, run->n_slowdowns); s++) {
    const struct slowdown *one = doc_at(d, run->slowdowns, s);
    doc_object(d, NULL, 0, "", 1);
    suspect_document(d, run, one->rank, one->of, one->slowness);
    doc_real(d, "begin", DOC_ANY, "s", "Since the first timed block began.", one->begin);
    doc_real(d, "end", DOC_ANY, "s", "", one->end);
    doc_whole(d, "first_block", 0, "Of the samples, from 0.", one->first);
    doc_whole(d, "last_block", 0, "", one->last);
    suspect_concurrent_document(d, run, one);
    doc_text(d, "words", 0, "", suspect_slowdown(run, one, words, sizeof words));
    doc_end(d);
  }
  doc_end(d);
}

void judge_found_document(struct doc *d, const struct judged *j)
{
  stragglers_document(d, &j->run);
  slowdowns_document(d, &j->run);
}

/* Only documents of himeno-gpu have stragglers and slowdowns. */
status_t judged_json(const struct judged *j, json_t *document)
{
  json_t *result = json_object_get(document, "result");
  struct doc d;
  doc_open(&d, 0);
  if (strcmp(j->run.program, "himeno-gpu") == 0) judge_found_document(&d, j);
  judge_accept_document(&d, j);
  json_t *parts = doc_close(&d), *accept = json_object_get(parts, "accept");
  int lost = !parts || json_object_set_new(result, "verdict", json_string(status_verdict(j->verdict)));
  if (accept) lost |= json_object_set(result, "accept", accept) | json_object_del(parts, "accept");
  lost |= json_object_update(document, parts);
  json_decref(parts);
  return lost ? log_fail(STATUS_ENVIRONMENT, "out of host memory for the JSON document") : STATUS_OK;
}
