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
  OPTION_TYPE_FLAG,   /**< int, set to 1 */
  OPTION_TYPE_RANGE,  /**< what value_read writes: int64_t, double, or the int of a choice */
  OPTION_TYPE_TEXT,   /**< const char *, not empty; points into argv */
  OPTION_TYPE_INPUT,  /**< such a text names a file that is read, or several with commas between */
  OPTION_TYPE_OUTPUT, /**< and a file that is written: no other option of the line may name it */
  OPTION_TYPE_CUSTOM, /**< whatever `parse` writes */
  OPTION_TYPE_EACH    /**< the same, of one word or several, and it may be given several times */
};

/** \brief Reads \a text into \a field; logs (naming option, value and what is allowed) and returns
 * STATUS_USAGE. */
typedef status_t (*option_parse)(const char *option, const char *text, void *field);

/** The value of an option and the field of the configuration that receives it. OPTION_FLAG() and
 * the other macros make one; the compiler checks the type of the field. */
struct option_value {
  enum option_type type;
  size_t offset;            /**< of the field in the configuration struct */
  const char *metavar;      /**< shown in --help, NULL for flags */
  struct value_range range; /**< for OPTION_TYPE_RANGE */
  option_parse parse;       /**< for OPTION_TYPE_CUSTOM and OPTION_TYPE_EACH */
};

struct option_spec {
  const char *name; /**< long name without dashes */
  char letter;      /**< short name, 0 for none */
  unsigned readers; /**< modes and parts that read it, as bits of the program's own; never 0 */
  struct option_value value;
  const char *help;    /**< a sentence that begins with a verb, with the default and its unit */
  const char *group;   /**< heading in --help, on the first option of a group */
  const char *missing; /**< its value if none follows it; NULL: one must */
  size_t given;        /**< OPTION_GIVEN() of a field that is set to 1 with it; 0 for none */
  const char *old;     /**< previous name, accepted with a warning for one release; NULL: none */
};

/** Readers of an option that every mode reads. */
#define OPTION_ALWAYS (1u << 31)

/** Reader bit of an option that --list reads too. */
#define OPTION_LISTED (1u << 30)

/** A reader bit of options that may differ between the ranks of a job. */
#define OPTION_OWN (1u << 29)

/* Entries of option tables. The program defines CONFIG as the type of its configuration. */

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
/** Seconds, as 90, 15m or 8h. */
#define OPTION_TIME(field, min, max, metavar)                                                                \
  .value = {OPTION_TYPE_RANGE, OPTION_FIELD(double, field), metavar, {VALUE_TIME, NULL, min, max}, NULL}
#define OPTION_CHOICE(field, words) OPTION_CHOICE_AS(field, words, words)
#define OPTION_CHOICE_AS(field, words, metavar)                                                              \
  .value = {OPTION_TYPE_RANGE, OPTION_FIELD(int, field), metavar, {VALUE_CHOICE, words, 0, 0}, NULL}
#define OPTION_EACH(field, parse, metavar)                                                                   \
  .value = {OPTION_TYPE_EACH, offsetof(CONFIG, field), metavar, {0}, parse}
#define OPTION_CUSTOM(field, parse, metavar)                                                                 \
  .value = {OPTION_TYPE_CUSTOM, offsetof(CONFIG, field), metavar, {0}, parse}

/** \brief The option of every program that writes a document; \a more follows the usual help. */
#define OPTION_JSON(readers, heading, more)                                                                  \
  "json", 0, readers, OPTION_OUTPUT(json, "FILE|-"),                                                         \
      "Write all results to FILE as one JSON document. With -, write it to standard output and the "         \
      "report to standard error." more,                                                                      \
      heading

/** \brief The option of every program that lists \a what is available. */
#define OPTION_LIST(what)                                                                                    \
  "list", 0, OPTION_ALWAYS, OPTION_FLAG(list),                                                               \
      "List " what                                                                                           \
      ", with the reason for each unavailable one, and exit. With --backend, list only that one."

/** \brief The option of every program that prints progress. */
#define OPTION_QUIET "quiet", 'q', OPTION_ALWAYS, OPTION_FLAG(quiet), "Do not print progress."

/** Names without dashes; auto counts as not given. */
struct option_pair {
  const char *one;
  const char *others; /**< with | between; of one with a value ("verify full") that is meant */
};

struct option_program {
  const char *name;
  const char *summary;  /**< one line, also the man page's NAME */
  const char *usage;    /**< after the name; NULL: options alone */
  const char *epilogue; /**< examples, and exit codes where `exits` does not tell */
  const char *exits;    /**< of a program on devices: exit codes from 4 on, in words */
  const struct option_spec *options;
  size_t n_options;
  const struct option_spec *operands; /**< words that are not options; NULL: none */
  const void *defaults;               /**< without options; NULL: as the caller set it */
  size_t config_bytes;                /**< of it */
  /** Checks combinations of options and sets what follows from them; returns STATUS_USAGE. NULL: no
   * check. It is not called for --help and --version. */
  status_t (*check)(void *config);
  const struct option_pair *exclusive; /**< options that exclude each other; ends with {NULL} */
  const struct option_pair *joined;    /**< one is useless without the other; ends with {NULL} */
};

/** The purpose of a command line. */
enum option_request { OPTION_RUN, OPTION_SHOW_HELP, OPTION_SHOW_VERSION, OPTION_SHOW_SCHEMA };

/** \brief Parses and checks all of argv into \a config. --help, --version and --schema are known to
 * every program, and end the parsing.
 *
 * A table with an option that nothing reads is STATUS_FAULT. Accepts --name value, --name=value, -n
 * value, -nvalue; an option twice, a pair that the table forbids, an unknown one, an abbreviation,
 * a missing value, a word that is no option, without operands, and a HIMENO_* variable that is not
 * understood (base/switches.h) are STATUS_USAGE with one clear line. */
status_t option_parse_all(const struct option_program *program, int argc, char **argv, void *config,
                          enum option_request *request);

/** \brief The value of an option on the last command line, "" for a flag; NULL if it was not
 * given. */
const char *option_value_text(const struct option_spec *option);

/** \brief Whether two values of an option, NULL if it is not given, ask for the same. */
int option_same(const struct option_program *program, const struct option_spec *option, const char *a,
                const char *b);

/** \brief Warns once about the options of the last command line that none of \a readers reads, and
 * keeps their names. \a asked names the modes and parts of \a readers. Variables HIMENO_* that
 * nothing reads get one warning too. */
void option_ignore(unsigned readers, const char *asked);

/** \brief The name, without dashes, of the \a n-th option that was ignored; NULL past the last. */
const char *option_ignored(int n);

/** \brief Prints --help in the form that doc/make_man.py reads. */
void option_print_help(const struct option_program *program, FILE *out);

#endif
