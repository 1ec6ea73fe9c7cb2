/* SPDX-License-Identifier: MIT */
#include <config.h>

#include "base/status.h"

/** All statuses, the gravest first. */
static const struct {
  status_t status;
  const char *verdict;
} by_gravity[] = {
    {STATUS_FAULT, "fault"},
    {STATUS_HANG, "hang"},
    {STATUS_WRONG, "wrong"},
    {STATUS_ENVIRONMENT, "environment"},
    {STATUS_NOISY, "noisy"},
    {STATUS_USAGE, "usage"},
    {STATUS_INCOMPLETE, "incomplete"},
    {STATUS_SLOW, "slow"},
    {STATUS_OK, "pass"},
};

static int position(status_t status)
{
  int i = 0;
  while (by_gravity[i].status != status && by_gravity[i].status != STATUS_OK) i++;
  return i;
}

const char *status_verdict(status_t status)
{
  return by_gravity[position(status)].verdict;
}

status_t status_worst(status_t a, status_t b)
{
  return position(a) <= position(b) ? a : b;
}
