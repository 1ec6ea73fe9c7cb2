/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What noise or a busy host hides is not judged.
 *
 * Noise is an upper bound (stats_noise_max), so that few blocks that happen to agree are not taken
 * for a quiet run. It is that of the blocks, or of the device that varies most, whatever it
 * exchanges. A host whose other processes took the cores makes no rank slow: that share of the time
 * counts as noise does. */
#ifndef HIMENO_ACCEPT_NOISE_H
#define HIMENO_ACCEPT_NOISE_H

#include "himeno/accept/check.h"
#include "himeno/result.h"

/** What the value of a check is made of. */
enum accept_of {
  OF_STATE,
  OF_RUN,          /**< the blocks' times */
  OF_NOISE,        /**< how those vary */
  OF_DEVICE,       /**< devices' own compute times in the blocks */
  OF_RATE,         /**< the rate that follows from them */
  OF_CEILING,      /**< those, and the ceiling */
  OF_THEORY,       /**< the ceiling, and what the device tells of its clocks and widths */
  OF_DEVICE_NOISE, /**< how a device's own compute times vary */
  OF_WAYS,         /**< exchanges before the blocks */
  OF_STRAGGLERS,
  OF_EPISODES, /**< a soak looks for them too */
  OF_COUNTERS
};

/** \brief Whether a check is judged by the noise of the blocks, or of a device's own times. */
int noise_is_of_run(enum accept_of of);
int noise_is_of_device(enum accept_of of);

/** \brief Noise beyond which a check of this kind does not fail. */
double noise_limit(const struct accept_policy *policy, enum accept_of of);

/** \brief Upper bound of the noise of the blocks' times, relative. */
double noise_of_blocks(const struct himeno_result *result);

/** \brief The rank that waited for a core for the largest share of its time, telemetry.starved. */
int noise_starved_rank(const struct himeno_result *result);

/** \brief Makes a failed check noisy if noise or a busy host may explain it. */
void noise_heed(const struct placement *placement, const struct himeno_result *result,
                const struct accept_policy *policy, enum accept_of of, struct accept_check *check);

#endif
