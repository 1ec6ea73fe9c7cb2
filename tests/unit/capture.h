/* SPDX-License-Identifier: MIT */
/** \file \brief Captures the output of a function as a string. */
#ifndef TESTS_UNIT_CAPTURE_H
#define TESTS_UNIT_CAPTURE_H

#include <stdio.h>

#include "tests/unit/unit.h"

struct capture {
  FILE *stream; /**< the captured stream */
  FILE *file;   /**< where its text goes */
  int saved;    /**< its own descriptor */
};

/** \brief Captures what is written to \a stream from now on. */
static inline struct capture capture_begin(FILE *stream)
{
  struct capture capture = {.stream = stream, .file = tmpfile()};
  assert_non_null(capture.file);
  fflush(stream);
  capture.saved = dup(fileno(stream));
  assert_true(dup2(fileno(capture.file), fileno(stream)) >= 0);
  return capture;
}

/** \brief Restores the stream, and returns the captured text, which the caller frees. */
static inline char *capture_end(struct capture *capture)
{
  char *text = calloc(1, 65536);
  assert_non_null(text);
  fflush(capture->stream);
  dup2(capture->saved, fileno(capture->stream));
  close(capture->saved);
  rewind(capture->file);
  text[fread(text, 1, 65535, capture->file)] = '\0';
  fclose(capture->file);
  return text;
}

#endif
