/* SPDX-License-Identifier: MIT */
/** \file \brief Readers for the values of options and switches. */
#ifndef BASE_VALUES_H
#define BASE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define VALUE_TEXT_MAX 256

enum value_type {
  VALUE_INT,   /**< int64_t within [min, max] */
  VALUE_REAL,  /**< double within [min, max] */
  VALUE_TIME,  /**< double within [min, max] in seconds, read from a text such as 90, 15m or 8h */
  VALUE_CHOICE /**< int, the position in the |-separated `allowed` */
};

struct value_range {
  enum value_type type;
  const char *allowed; /**< choices as "auto|full|off", or a description for messages */
  double min, max;
};

/** \brief Reads \a text into \a field and checks that it is in the range. \a shown names the option
 * or variable in the message. Returns STATUS_USAGE, logged. */
status_t value_read(const struct value_range *range, const char *shown, const char *text, void *field);

/** \brief Describes valid values in words: "auto, full or off", "a whole number from 1 to 100". */
const char *value_describe(const struct value_range *range, char text[VALUE_TEXT_MAX]);

/** Finds the word that is most similar to a misspelled text. Initialise \a text only. */
struct value_guess {
  const char *text, *word;
  int edits;
};

/** \brief Keeps \a word if it needs fewer edits than the best word so far, and few relative to its
 * length. An edit inserts, deletes or changes a letter, or swaps two adjacent ones. */
void value_guess(struct value_guess *guess, const char *word);

/** \brief Returns ": did you mean WORD?", or \a otherwise if no word is similar. */
const char *value_guess_text(const struct value_guess *guess, const char *otherwise,
                             char text[VALUE_TEXT_MAX]);

/** \brief Copies the next word of a list into \a word, "" if it does not fit. \a rest is the list,
 * or the value returned by the previous call. Returns the text after this word, NULL at the end. */
const char *value_next(const char *rest, char separator, char *word, size_t size);

/** \brief Returns the bytes of the UTF-8 character at the start of \a text; 0 if it is invalid. */
size_t value_utf8(const char *text);

/** \brief Replaces each byte that is not printable ASCII by '?'; it might control a terminal. */
void value_make_printable(char *text);

/** \brief Read a number strictly: return STATUS_USAGE, without a message, unless the whole text is
 * one number within the range. */
status_t value_read_int(const char *text, long long min, long long max, long long *value);
status_t value_read_real(const char *text, double min, double max, double *value);

/** \brief Reads a number of bytes with an optional suffix K, M, G or T (powers of 1024); the result
 * must be whole. Returns STATUS_USAGE, without a message. */
status_t value_read_bytes(const char *text, uint64_t *bytes);

#endif
