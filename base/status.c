/* SPDX-License-Identifier: MIT */
#include "base/status.h"

const struct status_word status_words[STATUS_WORDS] = {
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
  while (status_words[i].status != status && status_words[i].status != STATUS_OK) i++;
  return i;
}

const char *status_verdict(status_t status)
{
  return status_words[position(status)].verdict;
}

status_t status_worst(status_t a, status_t b)
{
  return position(a) <= position(b) ? a : b;
}
