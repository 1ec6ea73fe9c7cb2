/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"

#define MAX_FILE_BYTES (16 << 20)

void qpu_program_free(struct qpu_program *program)
{
  for (size_t i = 0; i < program->n_files; i++) free(program->files[i]);
  free(program->files);
  free(program->words);
  free(program->origins);
  free(program->labels);
  *program = (struct qpu_program){0};
}

status_t qpu_file_read(const char *path, char **bytes, size_t *n)
{
  status_t status = STATUS_OK;
  FILE *file = file_open_input(path);
  if (!file) return log_fail(STATUS_ENVIRONMENT, "cannot read %s: %s", path, strerror(errno));
  char *made = malloc(MAX_FILE_BYTES);
  size_t length = made ? fread(made, 1, MAX_FILE_BYTES, file) : 0;
  if (!made)
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for %s", path);
  else if (ferror(file))
    status = log_fail(STATUS_ENVIRONMENT, "cannot read %s: %s", path, strerror(errno));
  else if (length == MAX_FILE_BYTES)
    status = log_fail(STATUS_USAGE, "%s is larger than %d bytes", path, MAX_FILE_BYTES - 1);
  fclose(file);
  if (status != STATUS_OK) {
    free(made);
    return status;
  }
  made[length] = '\0';
  *bytes = made;
  *n = length;
  return STATUS_OK;
}

void qpu_words_write_c(const struct qpu_program *program, const char *name, FILE *out)
{
  fprintf(out, "/* Machine code, made by qpu-as. */\n#include <stdint.h>\n\nstatic const uint64_t %s[] = {\n",
          name);
  for (size_t i = 0; i < program->n_words; i++)
    fprintf(out, "    0x%016llx, /* line %d */\n", (unsigned long long)program->words[i],
            program->origins[i].line);
  fprintf(out, "};\n\nenum {\n  %s_words = %zu,\n", name, program->n_words);
  for (size_t i = 0; i < program->n_labels; i++)
    if (program->labels[i].exported)
      fprintf(out, "  %s_%s = %u,\n", name, program->labels[i].name, program->labels[i].address);
  fprintf(out, "};\n");
}
