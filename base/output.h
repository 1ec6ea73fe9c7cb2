/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Standard output, reserved for the program and protected from libraries.
 *
 * MPI, UCX and NCCL print messages to descriptor 1, on every rank, from their constructors to their
 * exit handlers. A document on standard output must not contain them. output_keep moves the real
 * standard output to another descriptor, and makes descriptor 1 a copy of standard error. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdio.h>

/** \brief Moves standard output as described above; further calls do nothing. Occupies closed
 * standard descriptors first, so that no file gets their numbers; writing to them still fails. */
void output_keep(void);

/** \brief Returns the descriptor of the real standard output; 1 before output_keep. */
int output_descriptor(void);

/** \brief Returns the stream of the real standard output. Programs print to it, never to stdout. */
FILE *output_stream(void);

/** \brief For a program's main file: calls output_keep before any constructor of a library. */
#define OUTPUT_KEEP_EARLY                                                                                    \
  __attribute__((section(".preinit_array"), used)) static void (*const keep_early)(void) = output_keep

#endif
