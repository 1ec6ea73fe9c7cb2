/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/asm.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/asm/asm_private.h"
#include "gpu/qpu/asm/hazard.h"
#include "gpu/qpu/asm/source.h"

#define MAX_PASSES  4
#define MAX_NESTING 40
#define MAX_STEPS   2000000 /* lines run in one pass: a runaway .rep ends with a message */

status_t qpu_asm_fail(struct qpu_asm *as, const char *format, ...)
{
  char text[400];
  va_list list;
  if (as->quiet) return STATUS_USAGE;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return log_fail(STATUS_USAGE, "%s:%d: %s", as->at.file, as->at.line, text);
}

status_t qpu_asm_enter(struct qpu_asm *as)
{
  if (as->nesting >= MAX_NESTING)
    return qpu_asm_fail(as, "macros, functions and files nest more than %d deep", MAX_NESTING);
  as->nesting++;
  as->symbols.depth++;
  return STATUS_OK;
}

void qpu_asm_leave(struct qpu_asm *as)
{
  as->nesting--;
  qpu_symbols_leave(&as->symbols);
}

static status_t define_args(struct qpu_asm *as, const struct qpu_symbol *callee, const struct qpu_value *args,
                            int n)
{
  if (n != callee->n_args)
    return qpu_asm_fail(as, "'%s' takes %d arguments, not %d", callee->name, callee->n_args, n);
  for (int i = 0; i < n; i++) {
    struct qpu_symbol *symbol;
    RETURN_IF_FAILED(qpu_symbol_add(&as->symbols, callee->args[i], as->symbols.depth, &symbol));
    symbol->value = args[i];
  }
  return STATUS_OK;
}

/* A function's body: directives, and one expression that is its value. */
static status_t run_function(struct qpu_asm *as, const struct qpu_symbol *function, struct qpu_value *value)
{
  struct qpu_value *outer = as->result;
  int outer_has = as->has_result;
  struct qpu_origin at = as->at;
  as->result = value;
  as->has_result = 0;
  status_t status = qpu_asm_run(as, function->first, function->end);
  as->at = at;
  if (status == STATUS_OK && !as->has_result)
    status = qpu_asm_fail(as, "the function '%s' has no value here", function->name);
  as->result = outer;
  as->has_result = outer_has;
  return status;
}

status_t qpu_function_call(struct qpu_asm *as, const struct qpu_symbol *function,
                           const struct qpu_value *args, int n_args, struct qpu_value *value)
{
  struct qpu_symbol callee = *function; /* the table may move meanwhile */
  RETURN_IF_FAILED(qpu_asm_enter(as));
  status_t status = define_args(as, &callee, args, n_args);
  if (status == STATUS_OK)
    status = callee.kind == QPU_SYMBOL_EXPRESSION ? qpu_expr_whole(as, callee.text, value)
                                                  : run_function(as, &callee, value);
  qpu_asm_leave(as);
  return status;
}

static status_t call_macro(struct qpu_asm *as, const struct qpu_symbol *macro, const char *text)
{
  struct qpu_symbol callee = *macro;
  struct qpu_value args[QPU_MAX_ARGS];
  struct qpu_origin at = as->at;
  int n = 0;
  for (text = qpu_skip_space(text); *text != '\0'; text = qpu_skip_space(text)) {
    if (n == QPU_MAX_ARGS) return qpu_asm_fail(as, "more than %d arguments", QPU_MAX_ARGS);
    RETURN_IF_FAILED(qpu_expr_parse(as, &text, &args[n++]));
    text = qpu_skip_space(text);
    if (*text == '\0') break;
    if (*text++ != ',') return qpu_asm_fail(as, "',' is expected between the arguments of '%s'", callee.name);
  }
  RETURN_IF_FAILED(qpu_asm_enter(as));
  status_t status = define_args(as, &callee, args, n);
  if (status == STATUS_OK) status = qpu_asm_run(as, callee.first, callee.end);
  as->at = at;
  qpu_asm_leave(as);
  return status;
}

/* Labels at the start of a line; *text moves behind them. */
static status_t run_labels(struct qpu_asm *as, const char **text)
{
  for (;;) {
    char name[QPU_NAME_MAX];
    const char *p = qpu_skip_space(*text);
    *text = p;
    int leading = *p == ':', exported = leading && p[1] == ':';
    size_t n = 0;
    p += leading + exported;
    while ((isalnum((unsigned char)*p) || *p == '_') && n < sizeof name - 1) name[n++] = *p++;
    name[n] = '\0';
    if (!leading && (n == 0 || *p != ':')) return STATUS_OK;
    if (n == 0) return qpu_asm_fail(as, "a label's name must follow ':'");
    if (as->result) return qpu_asm_fail(as, "a function cannot define labels");
    RETURN_IF_FAILED(qpu_label_define(as, name, exported));
    *text = p + !leading;
  }
}

static status_t run_line(struct qpu_asm *as, size_t *i, size_t end)
{
  char name[QPU_NAME_MAX];
  uint64_t word;
  const char *text = as->lines[*i].text;
  as->at = (struct qpu_origin){as->lines[*i].file, as->lines[*i].number};
  RETURN_IF_FAILED(run_labels(as, &text));
  if (*text == '.' && isalpha((unsigned char)text[1])) return qpu_asm_directive(as, text, i, end);
  if (*text == '\0') return STATUS_OK;
  if (as->result) {
    if (as->has_result) return qpu_asm_fail(as, "the function has a value already");
    as->has_result = 1;
    return qpu_expr_whole(as, text, as->result);
  }
  const char *rest = text;
  if (qpu_identifier(&rest, name)) {
    const struct qpu_symbol *symbol = qpu_symbol_find(&as->symbols, name);
    if (symbol && symbol->kind == QPU_SYMBOL_MACRO) return call_macro(as, symbol, rest);
  }
  RETURN_IF_FAILED(qpu_encode_line(as, text, &word));
  return qpu_emit(as, word, 0);
}

status_t qpu_asm_run(struct qpu_asm *as, size_t first, size_t end)
{
  for (size_t i = first; i < end; i++) {
    if (++as->steps > MAX_STEPS)
      return qpu_asm_fail(as, "more than %d lines to run: does a macro or .rep run away?", MAX_STEPS);
    RETURN_IF_FAILED(run_line(as, &i, end));
  }
  return STATUS_OK;
}

static status_t define_options(struct qpu_asm *as)
{
  as->at = (struct qpu_origin){"command line", 0};
  for (size_t i = 0; i < as->options->n_defines; i++) {
    char text[256];
    const char *define = as->options->defines[i], *equals = strchr(define, '=');
    if (equals)
      snprintf(text, sizeof text, "%.*s, %s", (int)(equals - define), define, equals + 1);
    else
      snprintf(text, sizeof text, "%s, 1", define);
    RETURN_IF_FAILED(qpu_asm_define(as, text, 0, 0));
  }
  return STATUS_OK;
}

static int labels_settled(const struct qpu_asm *as)
{
  if (as->n_labels != as->n_known) return 0;
  for (size_t i = 0; i < as->n_labels; i++)
    if (as->labels[i].address != as->known[i].address || strcmp(as->labels[i].name, as->known[i].name) != 0)
      return 0;
  return 1;
}

/* Passes over the same lines until every label stays where the pass before saw it. */
static status_t run_passes(struct qpu_asm *as, size_t first, size_t end)
{
  size_t n_lines = as->n_lines;
  for (as->pass = 0; as->pass < MAX_PASSES; as->pass++) {
    as->symbols.n = 0;
    as->n_words = 0;
    as->steps = 0;
    for (size_t i = n_lines; i < as->n_lines; i++) free(as->lines[i].text);
    as->n_lines = n_lines; /* included files are read again */
    RETURN_IF_FAILED(define_options(as));
    RETURN_IF_FAILED(qpu_asm_run(as, first, end));
    if (as->pass > 0 && labels_settled(as)) return STATUS_OK;
    free(as->known);
    as->known = as->labels;
    as->n_known = as->n_labels;
    as->labels = NULL;
    as->n_labels = as->labels_capacity = 0;
  }
  return qpu_asm_fail(as, "labels do not settle: a condition depends on what it moves");
}

static status_t hand_over(struct qpu_asm *as, struct qpu_program *program)
{
  struct qpu_program made = {as->words, as->n_words, as->origins, as->data, NULL, 0, as->files, as->n_files};
  made.labels = calloc(as->n_labels + 1, sizeof *made.labels);
  if (!made.labels) return log_fail(STATUS_ENVIRONMENT, "out of memory for %zu labels", as->n_labels);
  for (size_t i = 0; i < as->n_labels; i++) {
    if (isdigit((unsigned char)as->labels[i].name[0])) continue;
    struct qpu_program_label *label = &made.labels[made.n_labels++];
    memcpy(label->name, as->labels[i].name, sizeof label->name);
    label->address = as->labels[i].address;
    label->exported = as->labels[i].exported;
  }
  status_t status = as->options->unchecked ? STATUS_OK : qpu_hazard_check(&made);
  if (status != STATUS_OK) {
    free(made.labels);
    return status;
  }
  as->words = NULL;
  as->origins = NULL;
  as->data = NULL;
  as->files = NULL;
  as->n_files = 0;
  *program = made;
  return STATUS_OK;
}

static status_t assemble(const char *path, const char *text, const struct qpu_asm_options *options,
                         struct qpu_program *program)
{
  static const struct qpu_asm_options defaults;
  struct qpu_asm as = {.options = options ? options : &defaults};
  size_t first = 0, end = 0;
  status_t status =
      text ? qpu_source_text(&as, text, path, &first, &end) : qpu_source_file(&as, path, &first, &end);
  if (status == STATUS_OK) status = run_passes(&as, first, end);
  if (status == STATUS_OK) status = hand_over(&as, program);
  for (size_t i = 0; i < as.n_lines; i++) free(as.lines[i].text);
  for (size_t i = 0; i < as.n_files; i++) free(as.files[i]);
  free(as.lines);
  free(as.files);
  free(as.symbols.items);
  free(as.known);
  free(as.labels);
  free(as.words);
  free(as.origins);
  free(as.data);
  return status;
}

status_t qpu_assemble_file(const char *path, const struct qpu_asm_options *options,
                           struct qpu_program *program)
{
  return assemble(path, NULL, options, program);
}

status_t qpu_assemble_text(const char *text, const char *name, const struct qpu_asm_options *options,
                           struct qpu_program *program)
{
  return assemble(name, text, options, program);
}

void qpu_program_free(struct qpu_program *program)
{
  for (size_t i = 0; i < program->n_files; i++) free(program->files[i]);
  free(program->files);
  free(program->words);
  free(program->origins);
  free(program->data);
  free(program->labels);
  *program = (struct qpu_program){0};
}
