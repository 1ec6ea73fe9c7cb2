/* SPDX-License-Identifier: MIT */
/** \file \brief A float with one of its bits flipped. */
#ifndef TESTS_FLIPPED_H
#define TESTS_FLIPPED_H

#include <stdint.h>
#include <string.h>

static inline float flipped(float value, int bit)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits ^= 1u << bit;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#endif
