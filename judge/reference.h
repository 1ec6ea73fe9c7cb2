/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Comparison with an earlier run's document, no finer than the noise of both. */
#ifndef JUDGE_REFERENCE_H
#define JUDGE_REFERENCE_H

#include "judge/view.h"

/** A slowdown counts beyond this many standard deviations of both runs together, and beyond 1%. If
 * that is more than 5%, a run is as fast as the earlier one only if it is so much faster that no
 * slowdown by more than 5% hides in the noise. */
#define REFERENCE_SIGMAS 3.0
#define REFERENCE_LEAST  0.01
#define REFERENCE_NOISY  0.05

/** The facts of the earlier run. */
struct reference {
  const char *where; /**< its name in messages */
  char program[16], device[128];
  int ranks;
  json_t *document;
  double gflops, noise; /**< noise: upper bound, relative, of its blocks */
  double tail;          /**< how much longer its mean block took than the median one, relative */
};

/** \brief Reads an earlier document; reference_free frees what it keeps. STATUS_ENVIRONMENT if it
 * cannot be read; STATUS_USAGE if it is not a document of himeno-gpu or gemm-gpu, was wrong, ended
 * early, was not verified, or has too few blocks to know its noise. Nothing in it is trusted: sizes
 * and types are checked. */
status_t reference_read(const char *path, struct reference *reference);

/** \brief The same from text. */
status_t reference_parse(const char *text, size_t bytes, const char *where, struct reference *reference);
void reference_free(struct reference *reference);

/** \brief STATUS_USAGE if the earlier run did other work than the one of \a document, which may be
 * a draft: its ranks are those of config.procs, if it has that. */
status_t reference_same(const json_t *document, const struct reference *reference);

/** \brief Warns of another device or kernel, and sets the check of a run of the same work. */
void reference_check(const json_t *document, const struct judge_run *run, const struct reference *reference,
                     struct check *check);

struct policy;

/** \brief Sets the check of the device whose rate has sunk most since the earlier run. The limit is
 * the policy's rate_of_installation_min, or 0.9; \a policy may be NULL. Returns 0 if no device is
 * in both documents with rate and noise. */
int drift_check(const json_t *document, const struct reference *reference, const struct policy *policy,
                struct check *check);

/** \brief Prints the change of each device and host, devices that only one of the documents has,
 * and changed versions. */
void drift_text(const json_t *document, const struct reference *reference, FILE *out);

#endif
