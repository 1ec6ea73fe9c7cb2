/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/program.h"

#include <stdlib.h>

void qpu_program_free(struct qpu_program *program)
{
  for (size_t i = 0; i < program->n_files; i++) free(program->files[i]);
  free(program->files);
  free(program->words);
  free(program->origins);
  free(program->labels);
  *program = (struct qpu_program){0};
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
