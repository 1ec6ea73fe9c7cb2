/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Checks that noise or a busy host may explain are not judged.
 *
 * Noise is an upper bound (stats_noise_max), so that few blocks that happen to agree do not pass
 * for a quiet run. It is that of the blocks, or of the device that varies most, whatever it
 * exchanges. A host whose other processes took the cores makes no rank slow: that share of the time
 * counts as noise does. */
#ifndef JUDGE_NOISE_H
#define JUDGE_NOISE_H

#include "judge/policy.h"
#include "judge/view.h"

/** \brief Whether a check is judged by the noise of the blocks, or of a device's own times. */
int noise_is_of_run(enum check_of of);
int noise_is_of_device(enum check_of of);

/** \brief Noise beyond which a check of this kind does not fail. */
double noise_limit(const struct policy *policy, enum check_of of);

/** \brief Upper bound of the noise of the blocks' times, relative. */
double noise_of_blocks(const struct judge_run *run);

/** \brief Makes a failed check noisy if noise or a busy host may explain it. */
void noise_heed(const struct judge_run *run, const struct policy *policy, enum check_of of,
                struct check *check);

#endif
