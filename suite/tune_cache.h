/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The file that remembers which kernel was fastest: himeno-gpu/tune.json in $XDG_CACHE_HOME
 * or ~/.cache, or the file that HIMENO_TUNE_CACHE names.
 *
 * It is a convenience: what is wrong with it is a warning, never an error. One process writes at a
 * time, and readers see the old file or the new one. A file of another format is never replaced:
 * the variable may name anything. */
#ifndef SUITE_TUNE_CACHE_H
#define SUITE_TUNE_CACHE_H

#include <stddef.h>

/** \brief Reads the kernel remembered for \a key into \a kernel. Returns 1 if there is one. A
 * damaged file counts as empty, with a warning. */
int tune_cache_find(const char *key, char *kernel, size_t size);

/** \brief Remembers \a kernel with its rate for \a key. Returns 1 on success, else warns. */
int tune_cache_store(const char *key, const char *kernel, double gflops);

#endif
