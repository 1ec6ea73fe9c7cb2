/* SPDX-License-Identifier: MIT */
/** \file \brief The interface of a fuzz target, which libFuzzer (scripts/fuzz) calls, and
 * tests/fuzz/replay.c for the stored inputs. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Name of the target's corpus: tests/fuzz/NAME.tar. */
extern const char fuzz_corpus[];

/** \brief Runs the target on an input. Returns 0; calls abort() if a contract is broken. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#endif
