/* SPDX-License-Identifier: MIT */
/** \file \brief The splitmix64 step, which generates test data and the checksum of a pressure
 * field. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
 * 2014. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

static inline uint64_t hash_mix(uint64_t z)
{
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

#endif
