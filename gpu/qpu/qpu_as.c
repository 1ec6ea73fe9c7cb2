/* SPDX-License-Identifier: MIT */
/** \file
 * \brief qpu-as: assembles and disassembles VideoCore IV QPU programs. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "gpu/qpu/qpu_asm.h"
#include "gpu/qpu/qpu_disasm.h"
#include "gpu/qpu/qpu_words.h"

enum format { FORMAT_C, FORMAT_HEX, FORMAT_BINARY };

struct config {
  const char *input, *output, *name, *include, *define;
  int disassemble, unchecked, format;
};

#define FIELD(member) offsetof(struct config, member)

static const struct option_spec options[] = {
    {.name = "input",
     .letter = 'i',
     .type = OPTION_TEXT,
     .offset = FIELD(input),
     .metavar = "FILE",
     .help = "Source, or with --disassemble the words: 0x numbers in text, or binary."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     .offset = FIELD(output),
     .metavar = "FILE",
     .help = "Where the result goes (default: standard output)."},
    {.name = "disassemble",
     .letter = 'd',
     .type = OPTION_FLAG,
     .offset = FIELD(disassemble),
     .help = "Turns words into source that assembles into the same words."},
    {.name = "format",
     .letter = 'f',
     .type = OPTION_CHOICE,
     .offset = FIELD(format),
     .metavar = "FORMAT",
     .allowed = "c|hex|binary",
     .help = "What assembling writes."},
    {.name = "name",
     .letter = 'n',
     .type = OPTION_TEXT,
     .offset = FIELD(name),
     .metavar = "NAME",
     .help = "Name of the C array (default: program)."},
    {.name = "include",
     .letter = 'I',
     .type = OPTION_TEXT,
     .offset = FIELD(include),
     .metavar = "FOLDER",
     .help = "Where .include looks besides the source's own folder."},
    {.name = "define",
     .letter = 'D',
     .type = OPTION_TEXT,
     .offset = FIELD(define),
     .metavar = "NAME=VALUE",
     .help = "Defines a symbol before the source is read."},
    {.name = "unchecked",
     .letter = 'u',
     .type = OPTION_FLAG,
     .offset = FIELD(unchecked),
     .help = "Lets hazards through."},
};

static const struct option_program about = {
    .name = "qpu-as",
    .summary = "assembler and disassembler for the VideoCore IV QPU",
    .usage = "-i FILE [-o FILE] [-d] [OPTION]...",
    .epilogue = "Exit codes: 0 done, 2 a mistake in the source or the command line, 3 a file cannot be read "
                "or written.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
};

static status_t disassemble(const struct config *config, FILE *out)
{
  uint64_t *words;
  size_t n_words;
  RETURN_IF_FAILED(qpu_words_read(config->input, &words, &n_words));
  status_t status = qpu_disassemble_program(words, n_words, out);
  free(words);
  return status;
}

static status_t assemble(const struct config *config, FILE *out)
{
  struct qpu_program program;
  struct qpu_asm_options how = {.unchecked = config->unchecked, .include_folder = config->include};
  how.defines = &config->define;
  how.n_defines = config->define != NULL;
  RETURN_IF_FAILED(qpu_assemble_file(config->input, &how, &program));
  if (config->format == FORMAT_C)
    qpu_words_write_c(&program, config->name ? config->name : "program", out);
  else if (config->format == FORMAT_HEX)
    qpu_words_write_hex(&program, out);
  else
    qpu_words_write_binary(&program, out);
  qpu_program_free(&program);
  return STATUS_OK;
}

/* The result appears whole or not at all: a build must not go on with half a program. */
static status_t write_result(const struct config *config)
{
  FILE *out = config->output ? fopen(config->output, "wb") : stdout;
  if (!out) return log_fail(STATUS_ENVIRONMENT, "cannot write %s: %s", config->output, strerror(errno));
  status_t status = config->disassemble ? disassemble(config, out) : assemble(config, out);
  int broken = fflush(out) != 0 || ferror(out);
  if (config->output) broken |= fclose(out) != 0;
  if (status == STATUS_OK && broken)
    status = log_fail(STATUS_ENVIRONMENT, "cannot write %s: %s",
                      config->output ? config->output : "standard output", strerror(errno));
  if (status != STATUS_OK && config->output) remove(config->output);
  return status;
}

int main(int argc, char **argv)
{
  struct config config = {0};
  enum option_request request;
  log_set_program("qpu-as");
  status_t status = option_parse_all(&about, argc, argv, &config, &request);
  if (status != STATUS_OK) return status;
  if (request != OPTION_RUN) {
    if (request == OPTION_SHOW_HELP)
      option_print_help(&about, stdout);
    else
      printf("qpu-as %s\n", PACKAGE_VERSION);
    return STATUS_OK;
  }
  if (!config.input) return log_fail(STATUS_USAGE, "--input names no file");
  return write_result(&config);
}
