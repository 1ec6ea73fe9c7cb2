/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Comparison with an earlier run's document, within the noise of both. */
#ifndef JUDGE_REFERENCE_H
#define JUDGE_REFERENCE_H

#include "judge/view.h"

/** A run is slower if its rate is below the earlier one by more than the tolerance:
 * REFERENCE_SIGMAS standard deviations of both runs together, at least 1%. If the tolerance exceeds
 * 5%, a run passes only if its rate minus the tolerance is within 5% of the earlier rate; otherwise
 * it is noisy. */
#define REFERENCE_SIGMAS 3.0
#define REFERENCE_LEAST  0.01
#define REFERENCE_NOISY  0.05

/** The facts of the earlier run. */
struct reference {
  const char *where; /**< name of the document in messages */
  char program[16], device[128];
  int ranks;
  json_t *document;
  double gflops, noise; /**< noise: upper bound of the relative noise of the earlier blocks */
  double tail;          /**< relative difference between mean and median time of its blocks */
};

/** \brief Reads an earlier document; reference_free releases it. Returns STATUS_ENVIRONMENT if the
 * file cannot be read. Returns STATUS_USAGE if it is not a document of himeno-gpu or gemm-gpu, if
 * its result was wrong or not verified, if the run ended early, or if it has too few blocks to know
 * its noise. Sizes and types in it are checked. */
status_t reference_read(const char *path, struct reference *reference);

/** \brief Reads an earlier document, named \a where, from text. Errors as in reference_read. */
status_t reference_parse(const char *text, size_t bytes, const char *where, struct reference *reference);
void reference_free(struct reference *reference);

/** \brief Returns STATUS_USAGE if the earlier run did other work than that of \a document. In a
 * draft, which lists no ranks, config.procs gives their number. */
status_t reference_same(const json_t *document, const struct reference *reference);

/** \brief Warns if device or kernel differ, and sets the check that compares the rates. Both runs
 * must have done the same work. */
void reference_check(const json_t *document, const struct judge_run *run, const struct reference *reference,
                     struct check *check);

struct policy;

/** \brief Sets the check of the device whose rate dropped most since the earlier run. The limit is
 * the policy's rate_of_installation_min, or 0.9; \a policy may be NULL. Returns 0 if no device has
 * rate and noise in both documents. */
int drift_check(const json_t *document, const struct reference *reference, const struct policy *policy,
                struct check *check);

/** \brief Prints the change of each device and host, the devices that only one of the documents
 * has, and changed versions. */
void drift_text(const json_t *document, const struct reference *reference, FILE *out);

#endif
