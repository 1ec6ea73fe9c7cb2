/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a site requires of a run: a small JSON document of limits, or a built-in one.
 *
 *     {"name": "our nodes", "ceiling_share_min": 0.95, "devices_per_host": 8, "ecc": true,
 *      "from": {"ceiling_share_min": "our 16 nodes in May, all above 0.97"}}
 *
 * Only the keys in the file are checked; doc/reference/policy.md lists all. */
#ifndef JUDGE_POLICY_H
#define JUDGE_POLICY_H

#include <stddef.h>

#include "base/status.h"
#include "judge/checks.h"

/** Minimum number of timed blocks; with fewer the noise of a run is unknown. */
#define POLICY_BLOCKS_MIN 3
/** Noise of block times above which no check of speed fails, if a policy has no noise_max. */
#define POLICY_NOISE_MAX 0.05
/** Limit of NVLink CRC errors per second and device, in built-in and derived policies. */
#define POLICY_NVLINK_CRC_RATE_MAX  100.0
#define POLICY_NVLINK_CRC_RATE_FROM "NVIDIA's DCGM: its health check fails a device at 100 per second"
#define POLICY_NAME_MAX             64
#define POLICY_FROM_MAX             120

/** Reasons of throttling, one bit each, with their names in policies and documents. */
#define POLICY_REASONS 7
extern const struct policy_reason {
  const char *name, *text;
} policy_reasons[POLICY_REASONS];

struct policy {
  char name[POLICY_NAME_MAX];
  int built_in; /**< 1: a built-in policy, whose limits were measured on GPUs with large grids */
  /** limit per entry of check_kinds, in its unit; negative: not checked */
  double limit[CHECK_KINDS];
  char from[CHECK_KINDS][POLICY_FROM_MAX]; /**< source of a limit, "" if unknown */
  int throttle_forbidden;                  /**< bits of policy_reasons */
};

/** \brief Returns the limit of a key of check_kinds; negative if the policy has none. */
double policy_limit(const struct policy *policy, const char *key);

/** \brief Reads a built-in policy by name, or a file. Returns STATUS_ENVIRONMENT if the file cannot
 * be read; STATUS_USAGE, with key or line, if it is not a valid policy. */
status_t policy_read(const char *name, struct policy *policy);

/** \brief Reads a policy from text; \a where is its name in messages. Errors as in policy_read. */
status_t policy_parse(const char *text, size_t bytes, const char *where, struct policy *policy);

/** \brief Converts a document's text such as "power cap, thermal" to bits of reasons. */
int policy_reasons_read(const char *text);

/** \brief Writes reasons as a text such as "power cap, thermal". Returns text. */
const char *policy_reasons_text(int reasons, char *text, size_t size);

#endif
