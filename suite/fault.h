/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A bit to flip in device memory, as the variables for tests name it: RANK, ARRAY, PLACE,
 * BIT and WHEN, separated by spaces. */
#ifndef SUITE_FAULT_H
#define SUITE_FAULT_H

#include <stdint.h>

struct fault {
  int rank;       /**< −1: not said */
  char array[16]; /**< "": not said */
  int64_t place[3];
  int bit;       /**< 0 to 31 */
  char when[48]; /**< the program's own word */
};

/** \brief Reads "[RANK] [ARRAY[@RANK]] I,J[,K] BIT WHEN", with so many \a coordinates. Returns
 * whether the text is one. */
int fault_parse(const char *text, int coordinates, struct fault *fault);

#endif
