/* SPDX-License-Identifier: MIT */
/** \file \brief Checks of the contract of gpu/gpu.h, which are the same for every backend. */
#ifndef TESTS_UNIT_CONTRACT_H
#define TESTS_UNIT_CONTRACT_H

#include "gpu/gpu.h"
#include "tests/unit/unit.h"

#define TEST_SKIPPED 77

/** \brief Runs all checks on each device of the backend, then \a n more tests, as one group.
 * Returns what `main` returns: the number of failed cases, or TEST_SKIPPED without a device. */
int contract_run(const struct gpu_backend *backend, const struct CMUnitTest *more, size_t n);

/** \brief Asserts that a call failed as expected and with a message, and drops the message. */
void expect_failure(status_t got, status_t expected);

#endif
