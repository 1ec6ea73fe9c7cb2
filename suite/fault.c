/* SPDX-License-Identifier: MIT */
#include "suite/fault.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

/* Reads a rank at the start of a text, up to a space. Returns the number of bytes read, including
 * the spaces that follow, or 0 if there is none. */
static int rank_read(const char *text, int *rank)
{
  int n = 0;
  return isdigit((unsigned char)*text) && sscanf(text, "%d %n", rank, &n) == 1 && text[n - 1] == ' ' ? n : 0;
}

/* Reads an array's name and an optional rank, up to a space. Returns as rank_read; −1 for an
 * error. */
static int array_read(const char *text, struct fault *fault)
{
  int n = 0, length;
  if (!isalpha((unsigned char)*text)) return 0;
  sscanf(text, "%15[^@ ]%n", fault->array, &n);
  if (text[n] == ' ') return n + 1;
  length = text[n] == '@' ? rank_read(text + n + 1, &fault->rank) : 0;
  return length ? n + 1 + length : -1;
}

int fault_parse(const char *text, int coordinates, struct fault *fault)
{
  struct fault f = {.rank = -1};
  int n = array_read(text += rank_read(text, &f.rank), &f);
  if (n < 0) return 0;
  text += n;
  for (int c = 0; c < coordinates; c++, text += n) {
    n = -1;
    sscanf(text, c + 1 < coordinates ? "%" SCNd64 ",%n" : "%" SCNd64 " %n", &f.place[c], &n);
    if (n < 0 || f.place[c] < 0) return 0;
  }
  if (sscanf(text, "%d %47s%n", &f.bit, f.when, &n) != 2 || text[n] || f.bit < 0 || f.bit > 31) return 0;
  *fault = f;
  return 1;
}
