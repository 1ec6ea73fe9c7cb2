/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Content of transfers. Every word depends on its position and a version, so that a stale,
 * shifted or damaged word differs. */
#ifndef TOOLS_NETWORK_PATTERN_H
#define TOOLS_NETWORK_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/** \brief Returns the bits of a finite float with a random fraction of 23 bits. */
static inline uint32_t pattern_word(uint64_t place, uint64_t version)
{
  return (uint32_t)(hash_mix(place + version * 0x2545f4914f6cdd1du) >> 41) | 0x3f800000u;
}

/** \brief Fills a buffer; \a bytes is a multiple of four. */
void pattern_fill(void *buffer, size_t bytes, uint64_t version);

/** \brief Returns the offset of the first word that differs, or \a bytes if none does. */
size_t pattern_check(const void *buffer, size_t bytes, uint64_t version);

/** \brief Counts \a transfers more transfers of this process. Returns 1 from the one on that
 * HIMENO_BENCH_CORRUPT names (from 1); the caller then flips a bit of the received data. NULL in
 * normal runs; pattern_fault_read sets it. */
extern int (*pattern_fault)(int64_t transfers);
void pattern_fault_read(void);

#endif
