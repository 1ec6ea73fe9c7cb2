/* SPDX-License-Identifier: MIT */
/** \file
 * \brief qpu-as: assembles VideoCore IV QPU programs. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/output.h"
#include "base/start.h"
#include "gpu/qpu/asm/asm.h"

struct qpu_as_config {
  const char *input, *output, *name;
};

#define CONFIG struct qpu_as_config

static const struct option_spec options[] = {
    {"input", 'i', OPTION_ALWAYS, OPTION_INPUT(input, "FILE"), "Read the source of the program from FILE."},
    {"output", 'o', OPTION_ALWAYS, OPTION_OUTPUT(output, "FILE|-"),
     "Write the result to FILE, completely or not at all (default: standard output)."},
    {"name", 'n', OPTION_ALWAYS, OPTION_TEXT(name, "NAME"),
     "Set the name of the C array (default: program)."},
};

static const struct option_program about = {
    .name = "qpu-as",
    .summary = "assembler for the VideoCore IV QPU",
    .usage = "-i FILE [-o FILE] [OPTION]...",
    .epilogue = "Exit codes: 0 done, 2 a mistake in the source or the command line, 3 a file cannot be read "
                "or written.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
};

static status_t assemble(const struct qpu_as_config *config, FILE *out)
{
  struct qpu_program program;
  RETURN_IF_FAILED(qpu_assemble(config->input, NULL, 0, &program));
  for (size_t f = 0; f < program.n_files; f++) file_is_input(program.files[f]);
  qpu_words_write_c(&program, config->name ? config->name : "program", out);
  qpu_program_free(&program);
  return STATUS_OK;
}

/* Writes the result completely or not at all: a build must not use half a program. */
static status_t write_result(const struct qpu_as_config *config)
{
  const char *path = config->output ? config->output : "-";
  char *text = NULL;
  size_t size = 0;
  RETURN_IF_FAILED(file_check(path));
  FILE *out = open_memstream(&text, &size);
  if (!out) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the assembled program");
  status_t status = assemble(config, out);
  int broken = ferror(out);
  if ((fclose(out) != 0 || broken) && status == STATUS_OK)
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for the assembled program");
  if (status == STATUS_OK) status = file_write(path, text, size);
  free(text);
  return status;
}

OUTPUT_KEEP_EARLY;

int main(int argc, char **argv)
{
  struct qpu_as_config config = {0};
  enum option_request request;
  start_program("qpu-as");
  start_signals();
  status_t status = option_parse_all(&about, argc, argv, &config, &request);
  if (status != STATUS_OK) return status;
  if (request == OPTION_SHOW_HELP) option_print_help(&about, output_stream());
  if (request == OPTION_SHOW_VERSION) fprintf(output_stream(), "qpu-as %s\n", PACKAGE_VERSION);
  if (request != OPTION_RUN) return file_flush_stdout();
  if (!config.input) return log_fail(STATUS_USAGE, "--input names no file");
  return write_result(&config);
}
