/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The frame of every program: from argv to the exit code.
 *
 * A program is one const struct program: its options, configuration, and functions. program_main,
 * or program_mpi_main for several ranks, parses the command line, answers --help, --version, --list
 * and --schema, checks that output files can be written, calls `run`, then prints the report and
 * writes the document. The other files of suite/ print what all programs show: ranks.h, list.h,
 * progress.h, worth.h. */
#ifndef SUITE_PROGRAM_H
#define SUITE_PROGRAM_H

#include <jansson.h>
#include <stdio.h>

#include "base/document.h"
#include "base/options.h"

struct placement;

/** A program's own functions and configuration. */
struct program {
  const struct option_program *options;
  void *config;            /**< configuration into which the options are parsed */
  const char *const *json; /**< value of --json */
  const int *list;         /**< value of --list; NULL: no such option */
  const int *quiet;        /**< value of --quiet */

  /** Runs the program. Sets \a ended to 1 if there is a report to print, whatever the status. All
   * ranks must set \a ended and the status alike, except after a failure on one rank while the
   * others wait: it leaves its message in the held log (log_held), and the job is aborted. */
  status_t (*run)(int *ended);
  /** Prints the report for people. */
  void (*report)(FILE *out);
  /** Writes the document; in schema mode declares that of the options before --schema. */
  void (*fields)(struct doc *d);
  /** Returns a finished document, to be written instead of one from `fields`. If this is NULL or
   * returns NULL, `fields` is called. */
  json_t *(*document)(void);
  void (*print_list)(FILE *out);
  void (*close)(void);

  int names_host; /**< 1: messages of a run name the host. Messages of ranks always do. */

  /* Only for programs of several ranks. Rank 0 prints help, lists and reports. */
  struct placement *placement;
  const double *timeout; /**< --timeout */
};

/** \brief Runs a program of a single process. Returns its exit code. */
int program_main(const struct program *program, int argc, char **argv);

/** \brief Runs a program of several ranks. All ranks return the same exit code. */
int program_mpi_main(const struct program *program, int argc, char **argv);

/** \brief Returns the stream for the report: standard error if the document goes to stdout. */
FILE *program_out(const char *json);

/* Steps that program_main and program_mpi_main share. */

/** \brief Returns whether to run the program: 0 if help, the version or the list was requested. */
int program_runs(const struct program *program, enum option_request request);
/** \brief Prints the JSON Schema of the document, for --schema. Returns the exit code. */
int program_schema(const struct program *program);
/** \brief Prints the requested help, version or list. */
void program_answer(const struct program *program, enum option_request request);
/** \brief Checks that the file of --json can be written. */
status_t program_check(const struct program *program);
/** \brief Prints the report and writes the document. */
status_t program_report(const struct program *program);

#endif
