/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The frame of every program: from argv to the exit code. */
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
  void *config;            /**< that the options are parsed into */
  const char *const *json; /**< --json; NULL: the program writes its documents itself */
  const int *list;         /**< --list; NULL: there is none */
  const int *quiet;        /**< --quiet; NULL: there is nothing to be quiet about */

  /** Sets \a ended if there is something to report, whatever the status. Ranks agree on both; a
   * failure with text held in the log is one rank's while the others wait: it ends the job. */
  status_t (*run)(int *ended);
  /** The report for people; NULL: the run printed it. */
  void (*report)(FILE *out);
  /** The document: of a run, and in schema mode of what the options before --schema ask for. */
  void (*fields)(struct doc *d);
  /** An existing document to write instead; NULL, or returns NULL: none. */
  json_t *(*document)(void);
  void (*print_list)(FILE *out);
  void (*close)(void);

  int names_host; /**< messages of a run name the host: ranks' always do */

  /* For programs of many ranks. Rank 0 prints help, lists and reports. */
  struct placement *placement;
  const double *timeout; /**< --timeout */
};

/** \brief Runs a program of one process. Returns its exit code. */
int program_main(const struct program *program, int argc, char **argv);

/** \brief Runs a program of many ranks, from MPI_Init to MPI_Finalize. All return one exit code. */
int program_mpi_main(const struct program *program, int argc, char **argv);

/** \brief The stream for the report: standard error if the document goes to standard output. */
FILE *program_out(const char *json);

/* Steps of both. */

/** \brief Whether the program is to run: neither help, version nor the list was asked for. */
int program_runs(const struct program *program, enum option_request request);
/** \brief --schema: prints the JSON Schema of the document. Returns the exit code. */
int program_schema(const struct program *program);
/** \brief Prints help, version or list. */
void program_answer(const struct program *program, enum option_request request);
/** \brief Whether --json can be written. */
status_t program_check(const struct program *program);
/** \brief The report and the document. */
status_t program_report(const struct program *program);

#endif
