/* SPDX-License-Identifier: MIT */
/** \file \brief JSON documents whose fields are declared once, by the call that writes them.
 *
 * Each document has one function, which makes one call per field, in order. In data mode the calls
 * build the document. In schema mode the same function builds the JSON Schema (draft 2020-12): no
 * value is evaluated, lists are visited once (doc_each), and optional and nullable objects are
 * entered. Code between the calls must therefore accept a zeroed state, and take list elements with
 * doc_at.
 *
 * Other main files of base/: options.h (command line), log.h (messages), status.h (exit codes). */
#ifndef BASE_DOCUMENT_H
#define BASE_DOCUMENT_H

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/stats.h"
#include "base/status.h"

#define DOC_DEPTH_MAX 24

struct doc {
  int schema; /**< 1: schema mode, in which the calls declare fields and do not evaluate values */
  int lost;   /**< 1: memory ran out, or a required text was NULL */
  int depth;  /**< number of open objects and lists, including the document itself */
  json_t *open[DOC_DEPTH_MAX]; /**< the open objects and lists; in schema mode their schemas */
};

/** Rules of a field. Without a rule it is always present, its numbers are at least 0 and its texts
 * are not empty. A value is unknown if it is NULL or not finite; a field that may be absent or null
 * is also unknown if it is below its minimum. */
enum doc_rules {
  DOC_OPTIONAL = 1, /**< an unknown value is left out; documents of earlier builds may lack it */
  DOC_NULLABLE = 2, /**< an unknown value is written as null */
  DOC_ANY = 4,      /**< numbers may be negative, texts empty */
  DOC_POSITIVE = 8  /**< numbers and list lengths are above 0 */
};

/** The words of an enumeration: \a n texts that are \a stride bytes apart, for example one member
 * of each row of a table. */
struct doc_words {
  const char *const *first; /**< NULL entries are left out */
  size_t n, stride;
};
#define DOC_WORDS(table) ((struct doc_words){(table), sizeof(table) / sizeof *(table), sizeof *(table)})
#define DOC_COLUMN(table, member)                                                                            \
  ((struct doc_words){&(table)->member, sizeof(table) / sizeof *(table), sizeof *(table)})

/* Macros that write one field. \a name is NULL for a list element; \a about describes the field. */

#define doc_real(d, name, rules, unit, about, value)                                                         \
  ((d)->schema ? doc_declare_number(d, name, rules, "number", unit, about)                                   \
               : doc_put_real(d, name, rules, value))
#define doc_whole(d, name, rules, about, value)                                                              \
  ((d)->schema ? doc_declare_number(d, name, rules, "integer", "", about)                                    \
               : doc_put_whole(d, name, rules, (int64_t)(value)))
#define doc_text(d, name, rules, about, value) doc_pattern(d, name, rules, NULL, about, value)
/** A truth value: \a value is 1 or 0; a negative one means unknown. */
#define doc_flag(d, name, rules, about, value)                                                               \
  ((d)->schema ? doc_declare_flag(d, name, rules, about) : doc_put_flag(d, name, rules, value))
/** A text that matches the regular expression \a pattern. */
#define doc_pattern(d, name, rules, pattern, about, value)                                                   \
  ((d)->schema ? doc_declare_text(d, name, rules, pattern, about) : doc_put_text(d, name, rules, value))
/** A number of \a digits (a literal) hexadecimal digits, as text; unknown unless \a known. */
#define doc_hex(d, name, rules, digits, about, known, value)                                                 \
  ((d)->schema ? doc_declare_text(d, name, rules, "^[0-9a-f]{" #digits "}$", about)                          \
               : doc_put_hex(d, name, rules, digits, known, value))
/** One of \a words, a struct doc_words. */
#define doc_enum(d, name, rules, words, about, value)                                                        \
  ((d)->schema ? doc_declare_enum(d, name, rules, words, about) : doc_put_text(d, name, rules, value))
/** A field whose value is always \a word. */
#define doc_const(d, name, word)                                                                             \
  doc_enum(d, name, 0, ((struct doc_words){(const char *[]){word}, 1, 0}), "", word)
/** A whole number that must be one of those at the end of the argument list. */
#define doc_one_of(d, name, about, value, ...)                                                               \
  ((d)->schema ? doc_declare_one_of(d, name, about, DOC_COUNT_(__VA_ARGS__), (int64_t[]){__VA_ARGS__})       \
               : doc_put_whole(d, name, 0, value))
/** A list of the numbers at the end of the argument list. It is null if DOC_NULLABLE is set and one
 * of the numbers is unknown. */
#define doc_reals(d, name, rules, unit, about, ...)                                                          \
  ((d)->schema ? doc_declare_numbers(d, name, rules, "number", unit, about, DOC_COUNT_(__VA_ARGS__))         \
               : doc_put_numbers(d, name, rules, DOC_COUNT_(__VA_ARGS__), (double[]){__VA_ARGS__}, NULL))
#define doc_wholes(d, name, rules, about, ...)                                                               \
  ((d)->schema ? doc_declare_numbers(d, name, rules, "integer", "", about, DOC_COUNT_(__VA_ARGS__))          \
               : doc_put_numbers(d, name, rules, DOC_COUNT_(__VA_ARGS__), NULL, (int64_t[]){__VA_ARGS__}))
#define DOC_COUNT_(...) (sizeof((double[]){__VA_ARGS__}) / sizeof(double))

/** \brief Returns \a value if it is positive, otherwise NAN, which documents show as null. */
static inline double doc_known(double value)
{
  return value > 0 ? value : NAN;
}

/* Containers of fields: objects and lists. If a macro returns 1, visit the fields and then call
 * doc_end. It returns 0 only if the container is not \a present. */

#define doc_object(d, name, rules, about, present)                                                           \
  ((d)->schema ? doc_declare_object(d, name, rules, about)                                                   \
   : (present) ? doc_put_open(d, name, json_object())                                                        \
               : doc_put_unknown(d, name, rules))
#define doc_list(d, name, rules, about, present)                                                             \
  ((d)->schema ? doc_declare_open(d, name, rules, "array", about)                                            \
   : (present) ? doc_put_open(d, name, json_array())                                                         \
               : doc_put_unknown(d, name, rules))
/** An object whose keys are data and whose values all have the same form. */
#define doc_map(d, name, rules, about)                                                                       \
  ((d)->schema ? doc_declare_open(d, name, rules, "object", about) : doc_put_open(d, name, json_object()))
void doc_end(struct doc *d);

/** Begins one of the alternatives at the end of an object. Exactly one alternative applies; its
 * required fields are those declared from here on without DOC_OPTIONAL. Returns 1 if its fields are
 * to be visited: in schema mode always, otherwise if \a apply. */
#define doc_case(d, apply) ((d)->schema ? doc_declare_case(d) : (apply))

/** Returns whether to visit element \a i of \a n in a list or map; in schema mode only the
 * first. */
#define doc_each(d, i, n) ((d)->schema ? (i) < 1 : (i) < (n))
/** Returns element \a i of an array; in schema mode an element of zeros. */
#define doc_at(d, array, i) ((d)->schema ? doc_nothing(sizeof *(array)) : (const void *)((array) + (i)))

/** \brief Begins a document, or its schema if \a schema is 1. */
void doc_open(struct doc *d, int schema);

/** \brief Must be the first call on a document. Sets the schema's title and description. */
void doc_top(struct doc *d, const char *title, const char *about);

/** \brief Calls doc_top and writes the fields that begin every program's document: schema, program,
 * version, time, system, ignored options. */
void doc_frame(struct doc *d, const char *schema, const char *program, const char *title, const char *about);

/** \brief Writes the field `time`, the current time. */
void doc_time(struct doc *d);

/** \brief Writes an object with the minimum, median and maximum of a summary, in seconds. */
void doc_spread(struct doc *d, const char *name, struct stats_summary summary);

/** \brief Ends a document and returns it. Returns NULL, without a message, if memory ran out or a
 * required text was NULL. */
json_t *doc_close(struct doc *d);

/** \brief Ends a schema and prints it. */
status_t doc_print(struct doc *d, FILE *out);

/* Whole documents. */

/** Number of ranks above which a document is written without white space. A document with
 * DOC_COMMON stores there, once, the values that all rows of ranks share. */
#define DOC_RANKS_FULL 256
#define DOC_COMMON     "ranks_common"

/** \brief Pack the last row of the open list. The caller visits all rows twice. In the first pass
 * doc_row_compare removes from DOC_COMMON the values that the row does not share, and deletes the
 * row. In the second pass doc_row_pack removes from the row the values in DOC_COMMON. */
void doc_row_compare(struct doc *d, int is_first);
void doc_row_pack(struct doc *d);

/** \brief document_rows_pack moves the values that all rows of ranks share to DOC_COMMON, if the
 * document has that object. document_rows_unpack moves them back; call it after reading a
 * document. */
void document_rows_pack(const json_t *document);
void document_rows_unpack(const json_t *document);

/** \brief Reads a JSON document. Returns STATUS_ENVIRONMENT if it is invalid or repeats a key. */
status_t document_read(const char *path, json_t **document);

/** \brief Writes \a document, whose rows are packed from then on, by file_write, or to standard
 * output for "-". Returns STATUS_ENVIRONMENT if \a document is NULL or if writing fails. */
status_t document_write(const json_t *document, const char *path);

/** \brief Writes \a document as text, frees it, and parses the text into \a copy. Unlike
 * json_deep_copy, this never holds two documents of many ranks in memory. Returns
 * STATUS_ENVIRONMENT if \a document is NULL or memory ran out. */
status_t document_reread(json_t *document, json_t **copy);

/** \brief Returns a JSON string made of any bytes; each byte that is not valid UTF-8 becomes
 * U+FFFD. Returns NULL if \a bytes is NULL or memory ran out. */
json_t *document_text(const char *bytes);

/* Functions that the macros use; programs do not call them. */

int doc_declare_number(struct doc *d, const char *name, int rules, const char *type, const char *unit,
                       const char *about);
int doc_declare_numbers(struct doc *d, const char *name, int rules, const char *type, const char *unit,
                        const char *about, size_t n);
int doc_declare_text(struct doc *d, const char *name, int rules, const char *pattern, const char *about);
int doc_declare_flag(struct doc *d, const char *name, int rules, const char *about);
int doc_declare_enum(struct doc *d, const char *name, int rules, struct doc_words words, const char *about);
int doc_declare_one_of(struct doc *d, const char *name, const char *about, size_t n, const int64_t *values);
int doc_declare_object(struct doc *d, const char *name, int rules, const char *about);
int doc_declare_open(struct doc *d, const char *name, int rules, const char *type, const char *about);
int doc_declare_case(struct doc *d);
int doc_put_real(struct doc *d, const char *name, int rules, double value);
int doc_put_whole(struct doc *d, const char *name, int rules, int64_t value);
int doc_put_text(struct doc *d, const char *name, int rules, const char *value);
int doc_put_flag(struct doc *d, const char *name, int rules, int value);
int doc_put_hex(struct doc *d, const char *name, int rules, int digits, int known, uint64_t value);
int doc_put_numbers(struct doc *d, const char *name, int rules, size_t n, const double *reals,
                    const int64_t *wholes);
int doc_put_open(struct doc *d, const char *name, json_t *value);
int doc_put_unknown(struct doc *d, const char *name, int rules);
const void *doc_nothing(size_t bytes);

#endif
