/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/asm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/qpu/asm/hazard.h"
#include "gpu/qpu/asm/run.h"

#define MAX_PASSES 4

/* A definition from outside is a line ahead of the source. */
static status_t add_defines(struct qpu_asm *as, const struct qpu_asm_options *options)
{
  for (size_t i = 0; i < options->n_defines; i++) {
    char text[256];
    const char *define = options->defines[i];
    int name = (int)strcspn(define, "=");
    snprintf(text, sizeof text, ".set %.*s, %s", name, define, define[name] ? define + name + 1 : "1");
    RETURN_IF_FAILED(qpu_source_line(as, "command line", 0, text, strlen(text)));
  }
  return STATUS_OK;
}

static int labels_settled(const struct qpu_asm *as)
{
  if (as->program.n_labels != as->n_known) return 0;
  for (size_t i = 0; i < as->program.n_labels; i++)
    if (as->program.labels[i].address != as->known[i].address ||
        strcmp(as->program.labels[i].name, as->known[i].name) != 0)
      return 0;
  return 1;
}

/* Passes over the same lines until every label stays where the pass before saw it. */
static status_t run_passes(struct qpu_asm *as)
{
  const size_t n_lines = as->n_lines;
  struct qpu_program *made = &as->program;
  for (as->pass = 0; as->pass < MAX_PASSES; as->pass++) {
    as->n_symbols = 0;
    as->lines_run = 0;
    as->last_label = 0;
    as->data_bytes = 0;
    as->words_before = made->n_words;
    made->n_words = 0;
    qpu_source_drop(as, n_lines); /* included files are read again */
    RETURN_IF_FAILED(qpu_asm_run(as, 0, n_lines));
    if (as->pass > 0 && labels_settled(as)) return STATUS_OK;
    free(as->known);
    as->known = made->labels;
    as->n_known = made->n_labels;
    made->labels = NULL;
    made->n_labels = as->labels_capacity = 0;
  }
  return qpu_asm_fail(as, "labels do not settle: a condition depends on what it moves");
}

static void drop_numeric_labels(struct qpu_program *program)
{
  size_t kept = 0;
  for (size_t i = 0; i < program->n_labels; i++)
    if (!isdigit((unsigned char)program->labels[i].name[0])) program->labels[kept++] = program->labels[i];
  program->n_labels = kept;
}

status_t qpu_assemble(const char *path, const char *text, const struct qpu_asm_options *options,
                      struct qpu_program *program)
{
  static const struct qpu_asm_options defaults;
  if (!options) options = &defaults;
  struct qpu_asm as = {.options = options, .call = qpu_function_call};
  status_t status;
  TRY(add_defines(&as, options), done);
  TRY(text ? qpu_source_text(&as, text, strlen(text), path) : qpu_source_file(&as, path), done);
  TRY(run_passes(&as), done);
  if (!options->unchecked) TRY(qpu_hazard_check(&as.program), done);
  drop_numeric_labels(&as.program);
  *program = as.program;
  as.program = (struct qpu_program){0};
done:
  qpu_asm_free(&as);
  qpu_program_free(&as.program);
  return status;
}
