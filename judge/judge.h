/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Judges documents: by a policy, and against an earlier document.
 *
 * A program reads the limits, asks judge_plan which blocks it has to measure, measures, and passes
 * its finished document to judge_document; himeno-judge does the same with a stored one. Every
 * check is listed with its value, limit and margin. A result that was not verified is accepted only
 * if the policy allows that by name. A difference that the blocks' noise may explain is not judged.
 * An incorrect result is graver than a slow one: their exit codes differ. */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include <jansson.h>
#include <stdio.h>

#include "base/document.h"
#include "judge/policy.h"
#include "judge/reference.h"
#include "judge/view.h"

/** The policy and the earlier document by which a document is judged. */
struct judge_limits {
  /** name of the policy and of the reference; NULL if it is not given */
  const char *policy_name, *reference_name;
  struct policy policy;
  struct reference reference;
};

/** \brief Reads a policy and an earlier document; each name may be NULL. STATUS_USAGE and
 * STATUS_ENVIRONMENT as in policy_read and reference_read. judge_limits_free releases them. */
status_t judge_limits_read(const char *policy, const char *reference, struct judge_limits *limits);
void judge_limits_free(struct judge_limits *limits);

/** The measurement that a run needs so that it can be judged. */
struct judge_plan {
  int blocks_min; /**< minimum number of timed blocks */
  /** upper bounds of the relative noise of the blocks (noise_max), and of a device: measure more
   * blocks while either is exceeded; infinite if no check needs a bound */
  double noise_max, device_noise_max;
  double span_min; /**< minimum seconds from the start of the first block to the end of the last */
};

/** \brief Plans the measurement of a run; \a draft is its document so far. Returns STATUS_USAGE if
 * the run of the reference did other work, or if no check of the policy is possible in a soak. */
status_t judge_plan(const struct judge_limits *limits, const json_t *draft, struct judge_plan *plan);

/** A document that was judged. */
struct judged {
  struct judge_run run;
  int asked;                    /**< a policy or a reference was given */
  int verified;                 /**< verified, or the policy does not require it */
  int partial;                  /**< a signal ended the run, or the run has not ended */
  int compared;                 /**< the result was compared with a reference */
  char policy[POLICY_NAME_MAX]; /**< "" if there is none */
  struct checks checks;
  status_t verdict;
};

/** \brief Judges a document, named \a where in messages, and sets the fields that depend on the
 * judgement: stragglers, episodes, result.verdict and, with limits, result.accept. The verdict is
 * the gravest of: the run's own; STATUS_ENVIRONMENT if the result could not be verified;
 * STATUS_NOISY if the run was too noisy to be judged; STATUS_USAGE if verification was disabled or
 * nothing could be checked; STATUS_SLOW if a check fails. The document must outlive \a judged,
 * which judged_free releases. Returns STATUS_ENVIRONMENT if the document is damaged. */
status_t judge_document(const struct judge_limits *limits, json_t *document, const char *where,
                        struct judged *judged);
void judged_free(struct judged *judged);

/** \brief Prints whether the run is accepted, how many checks pass or fail, and which were not
 * made. Prints nothing without limits. */
void judged_headline(const struct judged *judged, FILE *out);

/** \brief Prints stragglers, slowdowns and error counters; then, with limits, the checks. */
void judged_text(const struct judged *judged, FILE *out);

/** \brief Write the fields `stragglers` and `episodes` of a document, and `accept` of its result. A
 * run not judged yet has empty lists and no `accept`. */
void judge_found_document(struct doc *d, const struct judged *judged);
void judge_accept_document(struct doc *d, const struct judged *judged);

/** \brief Sets the judged fields of a document. Returns STATUS_ENVIRONMENT if memory ran out. */
status_t judged_json(const struct judged *judged, json_t *document);

/** The facts about a run that are known before its measurement. */
struct judge_draft {
  int ranks, emulated, soak;
  double seconds; /**< planned duration of timed blocks; infinite in a soak */
};

/** \brief Adds the needs of the policy's checks to \a plan. Returns whether any check applies. */
int checks_plan(const struct judge_draft *draft, const struct policy *policy, struct judge_plan *plan);

/** \brief Makes the checks of \a policy, judges them, and appends them to \a checks. */
void checks_of_policy(struct judge_run *run, const struct policy *policy, struct checks *checks);

#endif
