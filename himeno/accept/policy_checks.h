/* SPDX-License-Identifier: MIT */
#ifndef HIMENO_ACCEPT_POLICY_CHECKS_H
#define HIMENO_ACCEPT_POLICY_CHECKS_H

#include "comm/ranks/placement.h"
#include "himeno/result.h"

/** \brief Adds the checks that \a policy names, judged. Rank 0, when all ranks were gathered. */
void accept_policy_checks(const struct himeno_config *config, const struct placement *placement,
                          const struct himeno_result *result, const struct accept_policy *policy,
                          struct accept *accept);

/** \brief Whether a run of this kind can have any of the values that \a policy names. Rank 0,
 * before it is measured. */
int accept_policy_applies(const struct himeno_config *config, const struct placement *placement,
                          const struct accept_policy *policy);

#endif
