/* SPDX-License-Identifier: MIT */
/* Reads source files and runs their lines: labels, directives, macros and instructions. Two passes
 * process the same lines; the first one collects the labels. */
#include "gpu/qpu/asm/asm.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "gpu/qpu/asm/state.h"
#include "gpu/qpu/asm/hazard.h"

#define MAX_FILE_BYTES  (16 << 20)
#define LINE_MAX_LENGTH 4000
#define MAX_NESTING     40
/* maximum number of lines run in one pass, so that a runaway .rep ends with an error */
#define MAX_LINES_RUN 2000000
#define MAX_WORDS     (1 << 17)

status_t qpu_asm_fail(struct qpu_asm *as, const char *format, ...)
{
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return log_fail(STATUS_USAGE, "%s:%d: %s", as->at.file, as->at.line, text);
}

static status_t asm_out_of_memory(void)
{
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for the assembler");
}

static status_t grow(void *array, size_t *capacity, size_t n, size_t item)
{
  void **items = array;
  if (n < *capacity) return STATUS_OK;
  size_t larger = *capacity ? 2 * *capacity : 128;
  void *moved = realloc(*items, larger * item);
  if (!moved) return asm_out_of_memory();
  *items = moved;
  *capacity = larger;
  return STATUS_OK;
}

/* Appends a line without its comment. */
static status_t add_line(struct qpu_asm *as, const char *file, int number, const char *text, size_t length)
{
  const char *comment = memchr(text, '#', length);
  if (comment) length = (size_t)(comment - text);
  as->at = (struct qpu_origin){file, number};
  if (length > LINE_MAX_LENGTH)
    return qpu_asm_fail(as, "the line is longer than %d characters", LINE_MAX_LENGTH);
  if (memchr(text, '\0', length)) return qpu_asm_fail(as, "the line has a zero byte in it");
  RETURN_IF_FAILED(grow(&as->lines, &as->lines_capacity, as->n_lines, sizeof *as->lines));
  while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
  char *copy = strndup(text, length);
  if (!copy) return asm_out_of_memory();
  as->lines[as->n_lines++] = (struct qpu_line){file, number, copy};
  return STATUS_OK;
}

static status_t add_text(struct qpu_asm *as, const char *text, size_t length, const char *name)
{
  struct qpu_program *program = &as->program;
  int number = 1;
  char **files = realloc(program->files, (program->n_files + 1) * sizeof *files);
  if (!files) return asm_out_of_memory();
  program->files = files;
  const char *file = files[program->n_files] = strdup(name);
  if (!file) return asm_out_of_memory();
  program->n_files++;
  for (size_t begin = 0; begin < length; number++) {
    const char *newline = memchr(text + begin, '\n', length - begin);
    size_t stop = newline ? (size_t)(newline - text) : length;
    RETURN_IF_FAILED(add_line(as, file, number, text + begin, stop - begin));
    begin = stop + 1;
  }
  return STATUS_OK;
}

static status_t add_file(struct qpu_asm *as, const char *path)
{
  size_t length;
  char *text = file_read(path, MAX_FILE_BYTES, &length);
  if (!text && errno == EFBIG)
    return log_fail(STATUS_USAGE, "%s is larger than %d bytes", path, MAX_FILE_BYTES);
  if (!text)
    return log_fail(STATUS_ENVIRONMENT, "cannot read %s: %s", path,
                    errno == EINVAL ? "not a regular file" : strerror(errno));
  status_t status = add_text(as, text, length, path);
  free(text);
  return status;
}

static void drop_lines(struct qpu_asm *as, size_t first)
{
  while (as->n_lines > first) free(as->lines[--as->n_lines].text);
}

struct qpu_symbol *qpu_symbol_find(struct qpu_asm *as, const char *name)
{
  for (size_t i = as->n_symbols; i-- > 0;)
    if (strcmp(as->symbols[i].name, name) == 0) return &as->symbols[i];
  return NULL;
}

static status_t add_symbol(struct qpu_asm *as, const char *name, int depth, struct qpu_symbol **symbol)
{
  RETURN_IF_FAILED(grow(&as->symbols, &as->symbols_capacity, as->n_symbols, sizeof *as->symbols));
  *symbol = &as->symbols[as->n_symbols++];
  memset(*symbol, 0, sizeof **symbol);
  strcpy((*symbol)->name, name);
  (*symbol)->depth = depth;
  return STATUS_OK;
}

static struct qpu_label *find_label(struct qpu_label *labels, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(labels[i].name, name) == 0) return &labels[i];
  return NULL;
}

static status_t define_label(struct qpu_asm *as, const char *name, int exported)
{
  struct qpu_program *made = &as->program;
  if (find_label(made->labels, made->n_labels, name))
    return qpu_asm_fail(as, "the label '%s' is defined twice", name);
  RETURN_IF_FAILED(grow(&made->labels, &as->labels_capacity, made->n_labels, sizeof *made->labels));
  struct qpu_label *label = &made->labels[made->n_labels++];
  strcpy(label->name, name);
  label->address = (uint32_t)(made->n_words * QPU_INSTRUCTION_BYTES);
  label->exported = exported;
  return STATUS_OK;
}

status_t qpu_label_find(struct qpu_asm *as, const char *name, struct qpu_value *value)
{
  const struct qpu_label *label = find_label(as->known, as->n_known, name);
  if (!label && as->pass > 0)
    return qpu_asm_fail(as, "'%s' is no register, constant, function or label", name);
  *value = (struct qpu_value){.type = QPU_VALUE_LABEL, .integer = label ? label->address : 0};
  return STATUS_OK;
}

static status_t emit(struct qpu_asm *as, uint64_t word)
{
  struct qpu_program *made = &as->program;
  const size_t n = made->n_words;
  if (n == MAX_WORDS) return qpu_asm_fail(as, "the program is longer than %d instructions", MAX_WORDS);
  RETURN_IF_FAILED(grow(&made->words, &as->words_capacity, n, sizeof *made->words));
  RETURN_IF_FAILED(grow(&made->origins, &as->origins_capacity, n, sizeof *made->origins));
  made->words[n] = word;
  made->origins[n] = as->at;
  made->n_words++;
  return STATUS_OK;
}

static status_t run_lines(struct qpu_asm *as, size_t first, size_t end);

static status_t asm_enter(struct qpu_asm *as)
{
  if (as->nesting >= MAX_NESTING)
    return qpu_asm_fail(as, "macros, functions and files nest more than %d deep", MAX_NESTING);
  as->nesting++;
  as->depth++;
  return STATUS_OK;
}

/* Removes the symbols of the innermost scope. */
static void leave(struct qpu_asm *as)
{
  size_t kept = 0;
  for (size_t i = 0; i < as->n_symbols; i++)
    if (as->symbols[i].depth < as->depth) as->symbols[kept++] = as->symbols[i];
  as->n_symbols = kept;
  as->depth--;
  as->nesting--;
}

static status_t define_args(struct qpu_asm *as, const struct qpu_symbol *callee, const struct qpu_value *args,
                            int n)
{
  if (n != callee->n_args)
    return qpu_asm_fail(as, "'%s' takes %d arguments, not %d", callee->name, callee->n_args, n);
  for (int i = 0; i < n; i++) {
    struct qpu_symbol *symbol;
    RETURN_IF_FAILED(add_symbol(as, callee->args[i], as->depth, &symbol));
    symbol->value = args[i];
  }
  return STATUS_OK;
}

status_t qpu_expression_call(struct qpu_asm *as, const struct qpu_symbol *symbol,
                             const struct qpu_value *args, int n_args, struct qpu_value *value)
{
  RETURN_IF_FAILED(asm_enter(as));
  status_t status = define_args(as, symbol, args, n_args);
  if (status == STATUS_OK) status = qpu_expr_whole(as, symbol->text, value);
  leave(as);
  return status;
}

static status_t call_macro(struct qpu_asm *as, const struct qpu_symbol *macro, const char *text)
{
  /* a copy, because evaluating arguments may move the table of symbols */
  struct qpu_symbol callee = *macro;
  struct qpu_value args[QPU_MAX_ARGS];
  struct qpu_origin at = as->at;
  int n;
  RETURN_IF_FAILED(qpu_expr_arguments(as, &text, '\0', callee.name, args, &n));
  RETURN_IF_FAILED(asm_enter(as));
  status_t status = define_args(as, &callee, args, n);
  if (status == STATUS_OK) status = run_lines(as, callee.first, callee.end);
  as->at = at;
  leave(as);
  return status;
}

struct use {
  const struct directive *directive;
  const char *text;  /* text after the directive's name */
  size_t first, end; /* first line of its block, and the line after the block */
};

struct directive {
  const char *name;
  status_t (*run)(struct qpu_asm *as, const struct use *use);
  const char *close; /* directive that ends its block; NULL if it has no block */
};

/* Returns whether \a text starts with a dot and the directive's name. */
static int starts_with(const char *text, const char *directive)
{
  char name[QPU_NAME_MAX];
  text = qpu_skip_space(text);
  return *text++ == '.' && qpu_word(&text, name) > 0 && strcmp(name, directive) == 0;
}

/* Finds the end of a block that begins after the line `at`. */
static status_t find_end(struct qpu_asm *as, size_t at, size_t end, struct use *use)
{
  const struct directive *block = use->directive;
  int depth = 0;
  use->first = use->end = at + 1;
  for (; use->end < end; use->end++) {
    if (starts_with(as->lines[use->end].text, block->name)) depth++;
    if (starts_with(as->lines[use->end].text, block->close) && depth-- == 0) return STATUS_OK;
  }
  return qpu_asm_fail(as, "'.%s' without '.%s'", block->name, block->close);
}

/* Reads argument names up to `stop`, separated by commas or blanks. */
static status_t parse_parameters(struct qpu_asm *as, const char *text, char stop, struct qpu_symbol *symbol,
                                 const char **rest)
{
  for (text = qpu_skip_space(text); *text != stop; text = qpu_skip_space(text)) {
    if (*text == ',') text = qpu_skip_space(text + 1);
    if (symbol->n_args == QPU_MAX_ARGS || !qpu_identifier(&text, symbol->args[symbol->n_args++]))
      return qpu_asm_fail(as, "up to %d argument names are expected at '%.20s'", QPU_MAX_ARGS, text);
  }
  *rest = text;
  return STATUS_OK;
}

static status_t new_symbol(struct qpu_asm *as, const char **text, struct qpu_symbol **symbol)
{
  char name[QPU_NAME_MAX];
  if (!qpu_identifier(text, name)) return qpu_asm_fail(as, "a name is expected at '%.20s'", *text);
  if (qpu_symbol_find(as, name)) return qpu_asm_fail(as, "'%s' is defined already", name);
  return add_symbol(as, name, 0, symbol);
}

/* .set: defines a symbol by "name, expression" or "name(arguments) expression". */
static status_t define(struct qpu_asm *as, const struct use *use)
{
  const char *text = use->text;
  struct qpu_symbol *symbol;
  struct qpu_value value;
  RETURN_IF_FAILED(new_symbol(as, &text, &symbol));
  if (*text == '(') {
    RETURN_IF_FAILED(parse_parameters(as, text + 1, ')', symbol, &text));
    symbol->text = text + 1; /* no copy is needed, because the line outlives the symbol */
    return STATUS_OK;
  }
  /* keep the symbol's index, because evaluating may move the table */
  const size_t at = (size_t)(symbol - as->symbols);
  text = qpu_skip_space(text);
  RETURN_IF_FAILED(qpu_expr_whole(as, *text == ',' ? text + 1 : text, &value));
  as->symbols[at].value = value;
  return STATUS_OK;
}

static status_t define_macro(struct qpu_asm *as, const struct use *use)
{
  const char *text = use->text;
  struct qpu_symbol *symbol;
  RETURN_IF_FAILED(new_symbol(as, &text, &symbol));
  symbol->first = use->first;
  symbol->end = use->end;
  return parse_parameters(as, text, '\0', symbol, &text);
}

static status_t whole_number(struct qpu_asm *as, const char *text, int64_t *n)
{
  struct qpu_value value;
  RETURN_IF_FAILED(qpu_expr_whole(as, text, &value));
  return qpu_value_integer(as, &value, n);
}

static status_t asm_repeat(struct qpu_asm *as, const struct use *use)
{
  char name[QPU_NAME_MAX];
  const char *text = use->text;
  int64_t n;
  struct qpu_symbol *symbol;
  if (!qpu_identifier(&text, name) || *(text = qpu_skip_space(text)) != ',')
    return qpu_asm_fail(as, "'.rep' needs a name and a count");
  RETURN_IF_FAILED(whole_number(as, text + 1, &n));
  if (n < 0) return qpu_asm_fail(as, "'.rep' cannot repeat %lld times", (long long)n);
  RETURN_IF_FAILED(asm_enter(as));
  status_t status = add_symbol(as, name, as->depth, &symbol);
  for (int64_t i = 0; i < n && status == STATUS_OK; i++) {
    qpu_symbol_find(as, name)->value = qpu_value_int(i);
    status = run_lines(as, use->first, use->end);
  }
  leave(as);
  return status;
}

/* Runs the lines after the first true condition of .if … .elseif … .else … .endif. */
static status_t asm_choose(struct qpu_asm *as, const struct use *use)
{
  int64_t truth;
  int depth = 0;
  size_t begin = use->first;
  RETURN_IF_FAILED(whole_number(as, use->text, &truth));
  for (size_t i = use->first; i <= use->end; i++) {
    const char *line = qpu_skip_space(as->lines[i].text);
    if (starts_with(line, "if")) depth++;
    if (depth == 0 && (i == use->end || starts_with(line, "elseif") || starts_with(line, "else"))) {
      if (truth) return run_lines(as, begin, i);
      begin = i + 1;
      as->at = (struct qpu_origin){as->lines[i].file, as->lines[i].number};
      truth = starts_with(line, "else");
      if (starts_with(line, "elseif")) RETURN_IF_FAILED(whole_number(as, line + strlen(".elseif"), &truth));
    }
    if (starts_with(line, "endif")) depth--;
  }
  return STATUS_OK;
}

/* .int low, high: emits an instruction given as two 32-bit halves. */
static status_t emit_halves(struct qpu_asm *as, const struct use *use)
{
  const char *text = use->text;
  struct qpu_value halves[QPU_MAX_ARGS];
  uint32_t low, high;
  int n;
  RETURN_IF_FAILED(qpu_expr_arguments(as, &text, '\0', ".int", halves, &n));
  if (n != 2) return qpu_asm_fail(as, "'.int' takes the two halves of an instruction");
  RETURN_IF_FAILED(qpu_value_bits(as, &halves[0], &low));
  RETURN_IF_FAILED(qpu_value_bits(as, &halves[1], &high));
  return emit(as, (uint64_t)high << 32 | low);
}

static status_t include(struct qpu_asm *as, const struct use *use)
{
  char path[1024];
  const char *text = use->text, *close = text[0] == '"' ? strchr(text + 1, '"') : NULL;
  struct qpu_origin at = as->at;
  const size_t first = as->n_lines;
  if (!close || close[1] != '\0') return qpu_asm_fail(as, "'.include' needs a file name in quotes");
  const char *slash = strrchr(at.file, '/');
  size_t length = slash && text[1] != '/' ? (size_t)(slash - at.file) + 1 : 0;
  snprintf(path, sizeof path, "%.*s%.*s", (int)length, at.file, (int)(close - text - 1), text + 1);
  RETURN_IF_FAILED(add_file(as, path));
  RETURN_IF_FAILED(asm_enter(as));
  status_t status = run_lines(as, first, as->n_lines);
  as->at = at;
  leave(as);
  return status;
}

static const struct directive directives[] = {
    {"set", define, NULL},       {"macro", define_macro, "endm"}, {"rep", asm_repeat, "endr"},
    {"if", asm_choose, "endif"}, {"include", include, NULL},      {"int", emit_halves, NULL},
};

/* Runs the directive at the start of \a text, line *i. Advances *i to the end of its block. */
static status_t run_directive(struct qpu_asm *as, const char *text, size_t *i, size_t end)
{
  char name[QPU_NAME_MAX];
  text++;
  qpu_word(&text, name);
  for (size_t d = 0; d < sizeof directives / sizeof directives[0]; d++) {
    struct use use = {&directives[d], qpu_skip_space(text), 0, 0};
    if (strcmp(use.directive->name, name) != 0) continue;
    if (use.directive->close) {
      RETURN_IF_FAILED(find_end(as, *i, end, &use));
      *i = use.end;
    }
    return use.directive->run(as, &use);
  }
  return qpu_asm_fail(as, "'.%s' is no directive, or has nothing to close", name);
}

static status_t run_line(struct qpu_asm *as, size_t *i, size_t end)
{
  char name[QPU_NAME_MAX];
  uint64_t word;
  const char *text = qpu_skip_space(as->lines[*i].text);
  as->at = (struct qpu_origin){as->lines[*i].file, as->lines[*i].number};
  while (*text == ':') {
    const int exported = text[1] == ':';
    text += 1 + exported;
    if (!qpu_identifier(&text, name)) return qpu_asm_fail(as, "a label's name must follow ':'");
    RETURN_IF_FAILED(define_label(as, name, exported));
    text = qpu_skip_space(text);
  }
  if (*text == '.') return run_directive(as, text, i, end);
  if (*text == '\0') return STATUS_OK;
  const char *rest = text;
  if (qpu_identifier(&rest, name)) {
    const struct qpu_symbol *symbol = qpu_symbol_find(as, name);
    if (symbol && symbol->end) return call_macro(as, symbol, rest);
  }
  RETURN_IF_FAILED(qpu_encode_line(as, text, &word));
  return emit(as, word);
}

/* Runs lines[first] to lines[end − 1]. */
static status_t run_lines(struct qpu_asm *as, size_t first, size_t end)
{
  for (size_t i = first; i < end; i++) {
    if (++as->lines_run > MAX_LINES_RUN)
      return qpu_asm_fail(as, "more than %d lines to run: does a macro or .rep run away?", MAX_LINES_RUN);
    RETURN_IF_FAILED(run_line(as, &i, end));
  }
  return STATUS_OK;
}

static status_t run_passes(struct qpu_asm *as)
{
  const size_t n_lines = as->n_lines;
  struct qpu_program *made = &as->program;
  RETURN_IF_FAILED(run_lines(as, 0, n_lines));
  as->known = made->labels;
  as->n_known = made->n_labels;
  made->labels = NULL;
  made->n_labels = as->labels_capacity = made->n_words = 0;
  as->n_symbols = 0;
  as->lines_run = 0;
  as->pass = 1;
  /* drops the lines of included files, because the second pass reads them again */
  drop_lines(as, n_lines);
  return run_lines(as, 0, n_lines);
}

status_t qpu_assemble(const char *path, const char *text, int unchecked, struct qpu_program *program)
{
  struct qpu_asm as = {.pass = 0};
  status_t status;
  TRY(text ? add_text(&as, text, strlen(text), path) : add_file(&as, path), done);
  TRY(run_passes(&as), done);
  if (!as.program.n_words)
    TRY(log_fail(STATUS_USAGE, "%s: there is no instruction: the program runs off its end", path), done);
  if (!unchecked) TRY(qpu_hazard_check(&as.program), done);
  *program = as.program;
  as.program = (struct qpu_program){0};
done:
  drop_lines(&as, 0);
  free(as.lines);
  free(as.symbols);
  free(as.known);
  qpu_program_free(&as.program);
  return status;
}
