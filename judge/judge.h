/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Judges documents: by a policy, and against an earlier document.
 *
 * A program reads the limits, asks judge_plan what it has to measure, measures, and has its
 * finished document judged; himeno-judge judges a stored one by the same call. Every check is
 * listed with its value, limit and margin. A result that was not verified is not accepted unless
 * the policy says so by name, and what the blocks' noise hides is not judged. An incorrect result
 * is graver than a slow one: their exit codes differ. */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include <jansson.h>
#include <stdio.h>

#include "base/document.h"
#include "judge/policy.h"
#include "judge/reference.h"
#include "judge/view.h"

/** The policy and the earlier document that a document is judged by. */
struct judge_limits {
  const char *policy_name, *reference_name; /**< NULL: without */
  struct policy policy;
  struct reference reference;
};

/** \brief Reads a policy and an earlier document; each name may be NULL. STATUS_USAGE and
 * STATUS_ENVIRONMENT as policy_read and reference_read. judge_limits_free frees what they keep. */
status_t judge_limits_read(const char *policy, const char *reference, struct judge_limits *limits);
void judge_limits_free(struct judge_limits *limits);

/** The measurement that a run needs so that it can be judged. */
struct judge_plan {
  int blocks_min; /**< timed blocks at least */
  /** more blocks are timed while the bounds of the blocks' noise and of a device's own exceed
   * these; infinite: no check needs them */
  double noise_max, device_noise_max;
  double span_min; /**< seconds from the begin of the first block to the end of the last */
};

/** \brief Plans the measurement of the run of which \a draft is the document so far. STATUS_USAGE
 * if the reference is of other work, or nothing in the policy can be checked in such a soak. */
status_t judge_plan(const struct judge_limits *limits, const json_t *draft, struct judge_plan *plan);

/** A document that was judged. */
struct judged {
  struct judge_run run;
  int asked;                    /**< by a policy or a reference */
  int verified;                 /**< or the policy does without */
  int partial;                  /**< a signal ended the run, or it has not ended */
  int compared;                 /**< the result was compared with something */
  char policy[POLICY_NAME_MAX]; /**< "" without */
  struct checks checks;
  status_t verdict;
};

/** \brief Judges a document, which \a where names in messages, and sets the parts of it that depend
 * on the judgement: stragglers, episodes, result.verdict and, with limits, result.accept. The
 * verdict is the gravest of the run's own and STATUS_ENVIRONMENT if the result could not be
 * verified, STATUS_NOISY if the run was too noisy to be judged, STATUS_USAGE if the result was not
 * to be verified or nothing could be checked, STATUS_SLOW if a check fails. The document has to
 * outlive \a judged, which judged_free frees. STATUS_ENVIRONMENT if the document is damaged. */
status_t judge_document(const struct judge_limits *limits, json_t *document, const char *where,
                        struct judged *judged);
void judged_free(struct judged *judged);

/** \brief Accepted or not, how many checks pass or fail, and which were not made; nothing without
 * limits. */
void judged_headline(const struct judged *judged, FILE *out);

/** \brief The report: stragglers, slowdowns and counted errors; then, with limits, the checks. */
void judged_text(const struct judged *judged, FILE *out);

/** \brief The fields `stragglers` and `episodes` of a document, and `accept` of its result: none if
 * nothing is judged yet. */
void judge_found_document(struct doc *d, const struct judged *judged);
void judge_accept_document(struct doc *d, const struct judged *judged);

/* ---- parts ---- */

/** \brief Sets the judged parts of a document. STATUS_ENVIRONMENT if memory ran out. */
status_t judged_json(const struct judged *judged, json_t *document);

/** The facts of a draft. */
struct judge_draft {
  int ranks, emulated, soak;
  double seconds; /**< that timed blocks shall take; infinite in a soak */
};

/** \brief Adds to \a plan what the checks of \a policy need. Whether such a run has any value. */
int checks_plan(const struct judge_draft *draft, const struct policy *policy, struct judge_plan *plan);

/** \brief Adds the checks of \a policy, judged. */
void checks_of_policy(struct judge_run *run, const struct policy *policy, struct checks *checks);

#endif
