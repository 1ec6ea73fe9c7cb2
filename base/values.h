/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Readers for the values of options and switches.
 */
#ifndef BASE_VALUES_H
#define BASE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define VALUE_TEXT_MAX 256

enum value_type {
  VALUE_INT,   /**< int64_t within [min, max] */
  VALUE_REAL,  /**< double within [min, max] */
  VALUE_TIME,  /**< the same in seconds, of a text as 90, 15m or 8h */
  VALUE_CHOICE /**< int, the position in the |-separated `allowed` */
};

struct value_range {
  enum value_type type;
  const char *allowed; /**< choices as "auto|full|off", or a phrase for messages: what is allowed */
  double min, max;
};

/** \brief Reads \a text into \a field as the range demands; \a shown names what has the value in
 * the message. STATUS_USAGE, logged. */
status_t value_read(const struct value_range *range, const char *shown, const char *text, void *field);

/** \brief What a value must be, in words: "auto, full or off", "a whole number from 1 to 100". */
const char *value_describe(const struct value_range *range, char text[VALUE_TEXT_MAX]);

/** Finds the word that a misspelled text most resembles. Set only \a text at first. */
struct value_guess {
  const char *text, *word;
  int edits;
};

/** \brief Takes \a word if it needs fewer edits than the word before, and few for its length. An
 * edit inserts, deletes, changes or swaps a letter. */
void value_guess(struct value_guess *guess, const char *word);

/** \brief ": did you mean WORD?", or \a otherwise if no word is similar. */
const char *value_guess_text(const struct value_guess *guess, const char *otherwise,
                             char text[VALUE_TEXT_MAX]);

/** \brief Copies the next of a list into \a word, "" where it does not fit. \a rest is the list, or
 * what the last call returned: what follows this word, NULL at the end. */
const char *value_next(const char *rest, char separator, char *word, size_t size);

/** \brief Length in bytes of the UTF-8 character that \a text begins with; 0 if there is none. */
size_t value_utf8(const char *text);

/** \brief Replaces each byte that is not printable ASCII by '?': it may be no UTF-8, or control a
 * terminal. */
void value_make_printable(char *text);

/** \brief Strict whole-string number readers: STATUS_USAGE, silently, on anything but one number in
 * range. */
status_t value_read_int(const char *text, long long min, long long max, long long *value);
status_t value_read_real(const char *text, double min, double max, double *value);

/** \brief Bytes: a number, whole once its suffix K, M, G or T (powers of 1024) is applied.
 * STATUS_USAGE, silently. */
status_t value_read_bytes(const char *text, uint64_t *bytes);

#endif
