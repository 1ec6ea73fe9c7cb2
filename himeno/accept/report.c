/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/document.h"
#include "himeno/accept/accept.h"
#include "himeno/accept/suspect.h"
#include "himeno/accept/ways.h"

#define LINE_MAX_BYTES  800
#define EPISODES_SHOWN  10
#define COUNTED_SHOWN   64
#define DISGUISES_SHOWN 8

/* ---- text ---- */

static const char *number(double value, char text[24])
{
  snprintf(text, 24, fabs(value) >= 100 || value == floor(value) ? "%.0f" : "%.4f", value);
  return isnan(value) ? "unknown" : text;
}

static void check_text(const struct accept_check *c, FILE *out)
{
  char value[24], limit[24], margin[24];
  const int inapplicable = c->outcome == CHECK_INAPPLICABLE;
  const char *outcome = c->outcome == CHECK_FAIL ? "FAIL"
                        : inapplicable           ? "n/a"
                                                 : check_outcome_name(c->outcome);
  fprintf(out, "    %-26s %10s  %s %8s  %9s %-7s %-8s%s\n", c->name,
          inapplicable ? "" : number(c->value, value), c->at_most ? "<=" : ">=", number(c->limit, limit),
          isnan(c->value) ? "" : number(check_margin(c), margin), c->unit, outcome, c->why);
  if (c->outcome == CHECK_FAIL && c->from[0]) fprintf(out, "      its limit: %s\n", c->from);
}

static void stragglers_text(const struct himeno_result *r, FILE *out)
{
  const int had = r->kept_blocks, need = straggler_blocks_min(r->n_ranks);
  char line[LINE_MAX_BYTES];
  if (r->n_ranks >= STRAGGLER_RANKS_MIN && had < need && !r->ranks[0].row.info.emulated)
    fprintf(out, "  stragglers not looked for: %d timed block%s, %d ranks need %d\n", had,
            had == 1 ? "" : "s", r->n_ranks, need);
  for (int s = 0; s < r->n_stragglers && s < HIMENO_STRAGGLERS_MAX; s++)
    fprintf(out, "  STRAGGLER  %s\n", suspect_straggler(r, &r->stragglers[s], line, sizeof line));
  if (r->n_stragglers > HIMENO_STRAGGLERS_MAX)
    fprintf(out, "  ... and %d more stragglers\n", r->n_stragglers - HIMENO_STRAGGLERS_MAX);
}

void accept_episodes_text(const struct himeno_result *r, FILE *out)
{
  char line[LINE_MAX_BYTES];
  for (int e = 0; e < r->n_episodes && e < EPISODES_SHOWN; e++)
    fprintf(out, "  SLOW ONCE  %s\n", suspect_episode(r, &r->episodes[e], line, sizeof line));
  if (r->n_episodes > EPISODES_SHOWN)
    fprintf(out, "  ... and slow %d times more: --json has them\n", r->n_episodes - EPISODES_SHOWN);
}

/* What was counted is told whether a policy asks for it or not. */
static void counted_text(const struct himeno_result *r, FILE *out)
{
  char who[LINE_MAX_BYTES], what[LINE_MAX_BYTES];
  int ranks = 0;
  for (int n = 0; n < r->n_ranks; n++)
    if (suspect_counted(r, n, what, sizeof what)[0] && ranks++ < COUNTED_SHOWN)
      fprintf(out, "  COUNTED    %s: %s, since the run began\n", suspect_name(r, n, who, sizeof who), what);
  if (ranks > COUNTED_SHOWN)
    fprintf(out, "  ... and %d more ranks: --json has them all\n", ranks - COUNTED_SHOWN);
}

static void disguise_text(const struct himeno_result *r, int rank, const struct himeno_path *p, FILE *out)
{
  char who[200];
  fprintf(out, "  WARNING    %s, to rank %d by %s: %s, %.0f MB of %.0f by PCIe and %.0f by NVLink\n",
          suspect_name(r, rank, who, sizeof who), p->peer, p->used, ways_went_names[WAYS_DISGUISED],
          (double)p->way.counted.pcie / 1e6, p->way.sent / 1e6, fmax(0, (double)p->way.counted.nvlink) / 1e6);
}

/* How bytes went between neighbours, by what devices counted. */
static void ways_text(const struct himeno_result *r, FILE *out)
{
  int n[WAYS_WENT] = {0}, told = 0;
  for (int rank = 0; rank < r->n_ranks; rank++)
    for (int m = 0; m < r->ranks[rank].n_paths; m++) {
      const enum ways_went went = ways_went(r, rank, &r->ranks[rank].paths[m]);
      if (n[went]++ < DISGUISES_SHOWN && went == WAYS_DISGUISED)
        disguise_text(r, rank, &r->ranks[rank].paths[m], out);
    }
  for (int w = WAYS_UNTOLD + 1; w < WAYS_WENT; w++)
    if (n[w] > 0)
      fprintf(out, "%s%d %s", told++ ? ", " : "  ways       of halos, by what devices counted: ", n[w],
              ways_went_names[w]);
  if (told) fprintf(out, "\n");
}

/* Why nothing was accepted, or NULL where it was. */
static const char *refusal(const struct himeno_result *result)
{
  if (result->verdict == STATUS_WRONG) return "the result is wrong";
  if (result->partial) return "a signal ended the run";
  if (!result->accept.verified) return "the result was not verified";
  if (result->verdict == STATUS_NOISY) return "too noisy to be judged, run again";
  if (result->verdict == STATUS_USAGE) return "nothing could be checked";
  return NULL;
}

/* What an accepted run was not held against. */
static void unchecked_text(const struct accept *a, FILE *out)
{
  int n = 0;
  for (int c = 0; c < a->n; c++)
    if (a->checks[c].outcome == CHECK_UNKNOWN || a->checks[c].outcome == CHECK_INAPPLICABLE)
      fprintf(out, "%s%s", n++ ? ", " : "; not checked: ", a->checks[c].name);
}

static void conclusion_text(const struct himeno_result *result, FILE *out)
{
  const struct accept *a = &result->accept;
  const int failures = accept_count(a, CHECK_FAIL);
  const char *why = refusal(result);
  if (why && failures && !result->partial)
    fprintf(out, "  NOT ACCEPTED: %s; %d of %d checks fail\n", why, failures, a->n);
  else if (why)
    fprintf(out, "  NOT ACCEPTED: %s\n", why);
  else if (failures)
    fprintf(out, "  NOT ACCEPTED: %d of %d checks fail\n", failures, a->n);
  else {
    fprintf(out, "  accepted%s: %d of %d checks pass, none fails",
            result->verified == VERIFY_NO ? ", though NOT VERIFIED" : "", accept_count(a, CHECK_PASS), a->n);
    unchecked_text(a, out);
    fprintf(out, "\n");
  }
}

void accept_text(const struct himeno_result *result, FILE *out)
{
  const struct accept *a = &result->accept;
  stragglers_text(result, out);
  accept_episodes_text(result, out);
  counted_text(result, out);
  ways_text(result, out);
  if (!a->asked) return;
  fprintf(out, "\n  acceptance %s%s\n", a->policy[0] ? "by policy " : "by reference alone", a->policy);
  fprintf(out, "    %-26s %10s  %11s  %9s %-7s\n", "check", "value", "limit", "margin", "");
  for (int c = 0; c < a->n; c++) check_text(&a->checks[c], out);
  conclusion_text(result, out);
}

/* ---- JSON ---- */

static void check_document(struct doc *d, const struct accept_check *c)
{
  if (!doc_object(d, NULL, 0, "", 1)) return;
  doc_text(d, "check", 0, "", c->name);
  doc_text(d, "unit", DOC_ANY, "", c->unit);
  doc_real(d, "value", DOC_NULLABLE | DOC_ANY, "", "null: unknown.", c->value);
  doc_real(d, "limit", DOC_ANY, "", "", c->limit);
  doc_flag(d, "at_most", 0, "The limit is the largest value that passes, not the smallest.", c->at_most);
  doc_real(d, "margin", DOC_NULLABLE | DOC_ANY, "", "Distance from the limit; positive is good.",
           check_margin(c));
  doc_enum(d, "outcome", 0, DOC_WORDS(check_outcome_names), "", check_outcome_name(c->outcome));
  doc_whole(d, "rank", DOC_NULLABLE, "The worst rank; null for a check of the whole run.", c->rank);
  doc_text(d, "why", DOC_ANY, "", c->why);
  doc_text(d, "from", DOC_ANY | DOC_OPTIONAL, "Source of the limit; empty if the policy names none.",
           c->from);
  doc_end(d);
}

void accept_document(struct doc *d, const struct himeno_result *result)
{
  const struct accept *a = &result->accept;
  if (!doc_object(d, "accept", DOC_OPTIONAL, "Only with --accept or --reference.", a->asked)) return;
  doc_text(d, "policy", DOC_NULLABLE, "Name of the policy; null with --reference alone.",
           a->policy[0] ? a->policy : NULL);
  doc_flag(d, "accepted", 0, "", result->verdict == STATUS_OK && !result->partial);
  if (doc_list(d, "checks", 0, "", 1)) {
    for (int c = 0; doc_each(d, c, a->n); c++) check_document(d, doc_at(d, a->checks, c));
    doc_end(d);
  }
  doc_end(d);
}
