/* SPDX-License-Identifier: MIT */
/** \file \brief Flips a bit of a float. */
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
