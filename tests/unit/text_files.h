/* SPDX-License-Identifier: MIT */
/** \file \brief Functions that write and read small text files. */
#ifndef TESTS_UNIT_TEXT_FILES_H
#define TESTS_UNIT_TEXT_FILES_H

#include "tests/unit/unit.h"

static inline void put(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static inline void assert_contents(const char *path, const char *expected)
{
  char text[4096];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, expected);
}

#endif
