/* SPDX-License-Identifier: MIT */
/** \file \brief A bit to flip in device memory. Environment variables for tests describe it by
 * rank, array, coordinates, bit and time, separated by spaces. */
#ifndef SUITE_FAULT_H
#define SUITE_FAULT_H

#include <stdint.h>

struct fault {
  int rank;       /**< −1: not given */
  char array[16]; /**< "": not given */
  int64_t place[3];
  int bit;       /**< 0 to 31 */
  char when[48]; /**< time of the fault, as a word that the program interprets */
};

/** \brief Reads "[RANK] [ARRAY[@RANK]] I,J[,K] BIT WHEN", with \a coordinates numbers in I,J,K.
 * Returns whether the text is valid. */
int fault_parse(const char *text, int coordinates, struct fault *fault);

#endif
