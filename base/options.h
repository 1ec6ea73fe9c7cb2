/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One option table per program feeds parsing, --help and, through it, the man page. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/values.h"

enum option_type {
  OPTION_TYPE_FLAG,   /**< no value; sets an int to 1 */
  OPTION_TYPE_RANGE,  /**< a number or a choice, stored as int64_t, double or int: see value_read */
  OPTION_TYPE_TEXT,   /**< a text that is not empty; the const char * points into argv */
  OPTION_TYPE_INPUT,  /**< a text that names a file to read, or several separated by commas */
  OPTION_TYPE_OUTPUT, /**< a file to write; no other option may name it */
  OPTION_TYPE_CUSTOM, /**< any type, stored by `parse` */
  OPTION_TYPE_EACH    /**< like CUSTOM, with one or several words; the option may be repeated */
};

/** \brief Reads \a text into \a field; on an error logs option, value and allowed values, and
 * returns STATUS_USAGE. */
typedef status_t (*option_parse)(const char *option, const char *text, void *field);

/** The value of an option and the field of the configuration that receives it. OPTION_FLAG() and
 * the other macros make one; the compiler checks the type of the field. */
struct option_value {
  enum option_type type;
  size_t offset;            /**< offset of the field in the configuration */
  const char *metavar;      /**< shown in --help, NULL for flags */
  struct value_range range; /**< only for OPTION_TYPE_RANGE */
  option_parse parse;       /**< only for OPTION_TYPE_CUSTOM and EACH */
};

struct option_spec {
  const char *name; /**< long name without dashes */
  char letter;      /**< short name, 0 for none */
  unsigned readers; /**< bits of the modes that read it, defined by the program; never 0 */
  struct option_value value;
  const char *help;    /**< begins with a verb; includes the default with its unit */
  const char *group;   /**< heading in --help, on the first option of a group */
  const char *missing; /**< value if no word follows the option; NULL if one must follow */
  /** offset, from OPTION_GIVEN(), of a field to set to 1 if the option is given; 0 for no field */
  size_t given;
  const char *old; /**< previous name, accepted with a warning for one release; NULL: none */
};

/** Value of \a readers for an option that every mode reads. */
#define OPTION_ALWAYS (1u << 31)

/** Reader bit of an option that --list reads as well. */
#define OPTION_LISTED (1u << 30)

/** Reader bit of an option that may differ between the ranks of a job. */
#define OPTION_OWN (1u << 29)

/* Macros for entries of option tables. The program defines CONFIG as its configuration's type. */

#define OPTION_FIELD(type, field) _Generic(((CONFIG *)0)->field, type : offsetof(CONFIG, field))
#define OPTION_GIVEN(field)       (OPTION_FIELD(int, field) + 1)

#define OPTION_FLAG(field) .value = {OPTION_TYPE_FLAG, OPTION_FIELD(int, field), NULL, {0}, NULL}
#define OPTION_TEXT(field, metavar)                                                                          \
  .value = {OPTION_TYPE_TEXT, OPTION_FIELD(const char *, field), metavar, {0}, NULL}
#define OPTION_INPUT(field, metavar)                                                                         \
  .value = {OPTION_TYPE_INPUT, OPTION_FIELD(const char *, field), metavar, {0}, NULL}
#define OPTION_OUTPUT(field, metavar)                                                                        \
  .value = {OPTION_TYPE_OUTPUT, OPTION_FIELD(const char *, field), metavar, {0}, NULL}
#define OPTION_INT(field, min, max, metavar)                                                                 \
  .value = {OPTION_TYPE_RANGE, OPTION_FIELD(int64_t, field), metavar, {VALUE_INT, NULL, min, max}, NULL}
#define OPTION_REAL(field, min, max, metavar)                                                                \
  .value = {OPTION_TYPE_RANGE, OPTION_FIELD(double, field), metavar, {VALUE_REAL, NULL, min, max}, NULL}
/** A time in seconds; the user may write it as 90, 15m or 8h. */
#define OPTION_TIME(field, min, max, metavar)                                                                \
  .value = {OPTION_TYPE_RANGE, OPTION_FIELD(double, field), metavar, {VALUE_TIME, NULL, min, max}, NULL}
#define OPTION_CHOICE(field, words) OPTION_CHOICE_AS(field, words, words)
#define OPTION_CHOICE_AS(field, words, metavar)                                                              \
  .value = {OPTION_TYPE_RANGE, OPTION_FIELD(int, field), metavar, {VALUE_CHOICE, words, 0, 0}, NULL}
#define OPTION_EACH(field, parse, metavar)                                                                   \
  .value = {OPTION_TYPE_EACH, offsetof(CONFIG, field), metavar, {0}, parse}
#define OPTION_CUSTOM(field, parse, metavar)                                                                 \
  .value = {OPTION_TYPE_CUSTOM, offsetof(CONFIG, field), metavar, {0}, parse}

/** \brief The option --json of programs that write a document; \a more is appended to its help. */
#define OPTION_JSON(readers, heading, more)                                                                  \
  "json", 0, readers, OPTION_OUTPUT(json, "FILE|-"),                                                         \
      "Write all results to FILE as one JSON document. With -, write it to standard output and the "         \
      "report to standard error." more,                                                                      \
      heading

/** \brief The option --list of every program; \a what names the things listed. */
#define OPTION_LIST(what)                                                                                    \
  "list", 0, OPTION_ALWAYS, OPTION_FLAG(list),                                                               \
      "List " what                                                                                           \
      ", with the reason for each unavailable one, and exit. With --backend, list only that one."

/** \brief The option --quiet of every program that prints progress. */
#define OPTION_QUIET "quiet", 'q', OPTION_ALWAYS, OPTION_FLAG(quiet), "Do not print progress."

/** An option, and others that it excludes or needs; names have no dashes. An option with the value
 * auto counts as not given. */
struct option_pair {
  const char *one;
  const char *others; /**< the other options, separated by |; "verify full" means only this value */
};

struct option_program {
  const char *name;
  const char *summary;  /**< one line, also the man page's NAME */
  const char *usage;    /**< text after the name; NULL: [OPTION]... */
  const char *epilogue; /**< examples, and exit codes if `exits` does not describe them */
  const char *exits;    /**< description of exit codes from 4 on, for a program that uses devices */
  const struct option_spec *options;
  size_t n_options;
  const struct option_spec *operands; /**< words that are not options; NULL: none */
  const void *defaults;               /**< initial configuration; NULL: the caller sets it */
  size_t config_bytes;                /**< size of the configuration */
  /** Checks combinations of options and sets dependent fields; returns STATUS_USAGE. NULL: no
   * check. It is not called for --help and --version. */
  status_t (*check)(void *config);
  const struct option_pair *exclusive; /**< options that exclude each other; ends with {NULL} */
  const struct option_pair *joined;    /**< options that need another one; ends with {NULL} */
};

/** The purpose of a command line. */
enum option_request { OPTION_RUN, OPTION_SHOW_HELP, OPTION_SHOW_VERSION, OPTION_SHOW_SCHEMA };

/** \brief Parses and checks all of argv into \a config. Every program knows --help, --version and
 * --schema, which end the parsing.
 *
 * Accepts --name value, --name=value, -n value and -nvalue. Returns STATUS_USAGE, with one clear
 * line, for: an option given twice, a pair that the table forbids, an unknown or abbreviated
 * option, a missing value, an operand that the program does not take, an invalid value of a
 * HIMENO_* variable (base/switches.h). Returns STATUS_FAULT if the table has an option without
 * readers. */
status_t option_parse_all(const struct option_program *program, int argc, char **argv, void *config,
                          enum option_request *request);

/** \brief Returns an option's value on the command line, "" for a flag, NULL if not given. */
const char *option_value_text(const struct option_spec *option);

/** \brief Returns whether two values of an option mean the same; NULL: the option is not given. */
int option_same(const struct option_program *program, const struct option_spec *option, const char *a,
                const char *b);

/** \brief Warns once about the options on the last command line that no mode in \a readers reads,
 * and remembers their names. \a asked names these modes in the warning. Also warns once about
 * HIMENO_* variables that are not in the table. */
void option_ignore(unsigned readers, const char *asked);

/** \brief Returns the name, without dashes, of the \a n-th ignored option; NULL after the last. */
const char *option_ignored(int n);

/** \brief Prints --help in the form that doc/make_man.py reads. */
void option_print_help(const struct option_program *program, FILE *out);

#endif
