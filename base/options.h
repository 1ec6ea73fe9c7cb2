/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One table of options a program feeds parsing, --help and, through it, the man page. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

enum option_type {
  OPTION_FLAG,   /**< int, set to `value` (1 when that is 0) */
  OPTION_INT,    /**< int64_t within [min, max] */
  OPTION_REAL,   /**< double within [min, max] */
  OPTION_TEXT,   /**< const char *, not empty; points into argv */
  OPTION_CHOICE, /**< int, the position in the |-separated `allowed` */
  OPTION_CUSTOM  /**< whatever `parse` writes */
};

/** What an OPTION_TEXT names: a file that is read (or several, with commas between them), or one
 * that is written. Two options that name one file, which one of them writes, are STATUS_USAGE. */
enum option_file { OPTION_NO_FILE, OPTION_INPUT, OPTION_OUTPUT };

/** \brief Reads \a text into \a field; logs (naming option, value and what is allowed) and returns
 * STATUS_USAGE. */
typedef status_t (*option_parse)(const char *option, const char *text, void *field);

struct option_spec {
  const char *name; /**< long name without dashes */
  char letter;      /**< short name, 0 for none */
  enum option_type type;
  enum option_file file;
  size_t offset;       /**< of the field in the configuration struct */
  const char *metavar; /**< shown in --help, NULL for flags */
  const char *allowed; /**< choices as "auto|full|off", or a phrase for messages: what is allowed */
  double min, max;     /**< for OPTION_INT and OPTION_REAL */
  int value;           /**< for OPTION_FLAG */
  option_parse parse;  /**< for OPTION_CUSTOM */
  /** offset + 1 of an int that is set to 1 when the option is given; 0 for none */
  size_t given;
  unsigned readers;  /**< modes and parts that read it, as bits of the program's own; never 0 */
  const char *group; /**< heading in --help, on the first option of a group */
  const char *help;  /**< one or two sentences */
};

/** Names without dashes; with a value behind one ("verify full") that value alone is meant. */
struct option_pair {
  const char *one, *other;
};

/** \brief The option of every program that writes a document; \a more is said behind the usual
 * help. AT(field) as in gpu/device_options.h. */
#define OPTION_JSON(reads, heading, more)                                                                    \
  {                                                                                                          \
    .name = "json", .readers = (reads), .type = OPTION_TEXT, .file = OPTION_OUTPUT, .offset = AT(json),      \
    .metavar = "FILE|-", .group = (heading),                                                                 \
    .help = "Write one JSON document, whole or not at all; - is standard output, and the report goes to "    \
            "standard error." more                                                                           \
  }

struct option_program {
  const char *name;
  const char *summary;  /**< one line, also the man page's NAME */
  const char *usage;    /**< after the name */
  const char *epilogue; /**< examples and exit codes */
  const struct option_spec *options;
  size_t n_options;
  const void *defaults; /**< the configuration where nothing is given; NULL: as the caller set it */
  size_t config_bytes;  /**< of it */
  /** What no single option tells, and what follows from several; STATUS_USAGE. NULL: nothing. Not
   * for --help and --version. */
  status_t (*check)(void *config);
  const struct option_pair *exclusive; /**< pairs that exclude each other, ends with {NULL} */
  const struct option_pair *joined;    /**< one is useless without the other; ends with {NULL} */
};

/** Of an option that is read whatever is asked for. */
#define OPTION_ALWAYS (1u << 31)

/** What the command line asked for besides the configuration. */
enum option_request { OPTION_RUN, OPTION_SHOW_HELP, OPTION_SHOW_VERSION };

/** \brief Parses and checks all of argv into \a config. --help and --version are known to every
 * program.
 *
 * A table with an option that nothing reads is STATUS_FAULT. Accepts --name value, --name=value, -n
 * value, -nvalue; an option twice, a pair that the table forbids, an unknown one, an abbreviation,
 * a missing value, any word that is no option and a HIMENO_* variable that is not understood
 * (base/switches.h) are STATUS_USAGE with one clear line. */
status_t option_parse_all(const struct option_program *program, int argc, char **argv, void *config,
                          enum option_request *request);

/** \brief Names in one warning the options of the last command line that none of \a readers reads,
 * and keeps their names. \a readers are the modes and parts that \a asked, in words, stands for.
 * Variables HIMENO_* that nothing reads get one as well. */
void option_ignore(unsigned readers, const char *asked);

/** \brief The name, without dashes, of the \a n-th option that was ignored; NULL past the last. */
const char *option_ignored(int n);

/** \brief Prints --help in the form that help2man reads. */
void option_print_help(const struct option_program *program, FILE *out);

#endif
