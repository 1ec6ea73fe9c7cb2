/* SPDX-License-Identifier: MIT */
#ifndef HIMENO_ACCEPT_CHECKS_H
#define HIMENO_ACCEPT_CHECKS_H

#include "himeno/accept/accept.h"

/** \brief Adds the checks that \a policy names, judged. Rank 0, when all ranks were gathered. */
void accept_policy_checks(const struct himeno_run *run, const struct accept_policy *policy,
                          struct accept *accept);

#endif
