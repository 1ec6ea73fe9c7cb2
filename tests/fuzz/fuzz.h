/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A fuzz target, as libFuzzer calls it (scripts/fuzz), and as tests/fuzz/replay.c does over
 * what was found. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Name of the target's corpus: tests/fuzz/NAME.tar. */
extern const char fuzz_corpus[];

/** \brief Ends the program by abort() where a promise is broken; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#endif
