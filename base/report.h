/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Text of reports for people: bars, spreads, bytes. */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** \brief Draws \a share as a bar of at most \a width cells. The cells are blocks in steps of an
 * eighth in UTF-8 locales, otherwise '#'. */
void report_bar(char *text, size_t size, double share, int width);

#define REPORT_SPREAD_BYTES 24
/** \brief Returns the spread of samples as "±1.2%", in at least \a width columns; a dash if it is
 * not \a known, e.g. for a single sample. */
const char *report_spread(double share, int known, int width, char text[REPORT_SPREAD_BYTES]);

#define REPORT_NUMBER_BYTES 48
/** \brief Returns \a value in at least \a width columns; a dash if it is not positive: unknown is
 * not 0. */
const char *report_number(double value, int width, int decimals, char text[REPORT_NUMBER_BYTES]);

/** \brief Prints the upper bound of the noise of block times. If \a warn, only prints a warning,
 * and only if the bound exceeds STATS_NOISY. Prints nothing for fewer than three blocks. */
void report_noise(const double *samples, int n, int warn, FILE *out);

/** \brief Writes bytes with a binary unit ("24.0 GiB") into one of a few static buffers. */
const char *report_bytes(uint64_t bytes);

#endif
