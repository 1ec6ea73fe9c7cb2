/* SPDX-License-Identifier: MIT */
/** \file \brief Checks of the contract of himeno/kernels/kernels.h, which are the same for every
 * backend. */
#ifndef TESTS_UNIT_KERNEL_CHECKS_H
#define TESTS_UNIT_KERNEL_CHECKS_H

#include "himeno/kernels/kernels.h"
#include "tests/unit/unit.h"

#define TEST_SKIPPED 77

/** The setting with which a call does several single sweeps, if the device can do that. */
#define SETTING_AT_ONCE "HIMENO_OPENCL_PERSISTENT"

/** A kernel, and a setting with which to run it. */
struct kernel_subject {
  const char *backend, *kernel;
  const char *setting, *value; /**< environment variable to set, or NULL */
};

/** \brief Runs all checks on each subject, as one group. Returns what `main` returns: the number of
 * failed cases, or TEST_SKIPPED when the backend has no device. */
int kernels_run(const struct kernel_subject *subjects, size_t n);

#endif
