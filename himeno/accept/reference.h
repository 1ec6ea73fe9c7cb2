/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Comparison with an earlier run's JSON, no finer than the noise of both. */
#ifndef HIMENO_ACCEPT_REFERENCE_H
#define HIMENO_ACCEPT_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "himeno/choice.h"
#include "himeno/result.h"

/** A slowdown is believed beyond this many standard deviations of both runs together, and beyond
 * 1%. Where that is more than 5%, a run is as fast as the earlier one only if it is so much faster
 * that no slowdown by more than 5% hides in the noise. */
#define REFERENCE_SIGMAS 3.0
#define REFERENCE_LEAST  0.01
#define REFERENCE_NOISY  0.05

/** What is needed of the earlier run. */
struct reference {
  int64_t global[3];
  int ranks;
  char data[16], backend[16], class_[16], device[128], kernel[64];
  double gflops, noise; /**< noise: upper bound, relative, of its blocks */
  double tail;          /**< how much longer its mean block took than the median one, relative */
};

/** \brief Reads an earlier document. STATUS_ENVIRONMENT when it cannot be read; STATUS_USAGE when
 * it is none, was wrong, ended early or not verified, or has too few blocks to know its noise.
 * Nothing in it is trusted: sizes and types are checked. */
status_t reference_read(const char *path, struct reference *reference);

/** \brief The same from text, for tests; \a where names it in messages. */
status_t reference_parse(const char *text, size_t bytes, const char *where, struct reference *reference);

/** \brief STATUS_USAGE when the earlier run was of something else than this one, which is not
 * measured yet; warns of another device or kernel. Rank 0. */
status_t reference_same(const struct himeno_config *config, const struct himeno_choice *choice,
                        const struct reference *reference);

/** \brief Adds the check. Rank 0. */
void accept_reference_check(const struct himeno_result *result, const struct reference *reference,
                            struct accept *accept);

#endif
