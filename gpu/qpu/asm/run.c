/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/run.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu/qpu/asm/expr.h"
#include "gpu/qpu/asm/join.h"
#include "gpu/qpu/asm/value.h"

#define MAX_NESTING   40
#define MAX_LINES_RUN 2000000 /* in one pass: a runaway .rep ends with a message */

static status_t enter(struct qpu_asm *as)
{
  if (as->nesting >= MAX_NESTING)
    return qpu_asm_fail(as, "macros, functions and files nest more than %d deep", MAX_NESTING);
  as->nesting++;
  as->depth++;
  return STATUS_OK;
}

/* Forgets the symbols of the innermost scope. */
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
    RETURN_IF_FAILED(qpu_symbol_add(as, callee->args[i], as->depth, &symbol));
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
  RETURN_IF_FAILED(enter(as));
  status_t status = define_args(as, function, args, n_args);
  if (status == STATUS_OK)
    status = function->kind == QPU_SYMBOL_EXPRESSION ? qpu_expr_whole(as, function->text, value)
                                                     : run_function(as, function, value);
  leave(as);
  return status;
}

static status_t call_macro(struct qpu_asm *as, const struct qpu_symbol *macro, const char *text)
{
  struct qpu_symbol callee = *macro; /* evaluating arguments may move the table */
  struct qpu_value args[QPU_MAX_ARGS];
  struct qpu_origin at = as->at;
  int n;
  RETURN_IF_FAILED(qpu_expr_arguments(as, &text, '\0', callee.name, args, &n));
  RETURN_IF_FAILED(enter(as));
  status_t status = define_args(as, &callee, args, n);
  if (status == STATUS_OK) status = qpu_asm_run(as, callee.first, callee.end);
  as->at = at;
  leave(as);
  return status;
}

/** A directive as it stands in the source. */
struct use {
  const struct directive *directive;
  const char *text;  /* behind its name */
  size_t first, end; /* lines of its block */
};

struct directive {
  const char *name;
  status_t (*run)(struct qpu_asm *as, const struct use *use);
  const char *close; /* what ends its block; NULL: it has none */
  int constant, local, bytes, is_float;
  enum qpu_symbol_kind kind;
};

/* A dot and that name. */
static int starts_with(const char *text, const char *directive)
{
  char name[QPU_NAME_MAX];
  text = qpu_skip_space(text);
  return *text++ == '.' && qpu_word(&text, name) > 0 && strcmp(name, directive) == 0;
}

static int begins_if(const char *line)
{
  return starts_with(line, "if") || starts_with(line, "ifset");
}

/* Sets the end of a block, which begins behind the line `at`. */
static status_t find_end(struct qpu_asm *as, size_t at, size_t end, struct use *use)
{
  const struct directive *block = use->directive;
  int depth = 0;
  use->first = use->end = at + 1;
  for (; use->end < end; use->end++) {
    int is_if = strcmp(block->close, "endif") == 0;
    if (is_if ? begins_if(as->lines[use->end].text) : starts_with(as->lines[use->end].text, block->name))
      depth++;
    if (starts_with(as->lines[use->end].text, block->close) && depth-- == 0) return STATUS_OK;
  }
  return qpu_asm_fail(as, "'.%s' without '.%s'", block->name, block->close);
}

static status_t take_name(struct qpu_asm *as, const char **text, char name[QPU_NAME_MAX])
{
  if (qpu_identifier(text, name)) return STATUS_OK;
  return qpu_asm_fail(as, "a name is expected at '%.20s'", *text);
}

/* A comma may stand between a name and its value. */
static const char *behind_comma(const char *text)
{
  text = qpu_skip_space(text);
  return *text == ',' ? text + 1 : text;
}

/* Argument names up to `stop`, separated by commas or blanks. */
static status_t parse_parameters(struct qpu_asm *as, const char **text, char stop, struct qpu_symbol *symbol)
{
  symbol->n_args = 0;
  for (*text = qpu_skip_space(*text); **text != stop; *text = qpu_skip_space(*text)) {
    if (**text == ',') *text = qpu_skip_space(*text + 1);
    if (symbol->n_args == QPU_MAX_ARGS || !qpu_identifier(text, symbol->args[symbol->n_args++]))
      return qpu_asm_fail(as, "up to %d argument names are expected at '%.20s'", QPU_MAX_ARGS, *text);
  }
  if (stop != '\0') *text += 1;
  return STATUS_OK;
}

/* The symbol that a definition writes to: one of this scope for .lset, else whatever is seen, else
 * a global. */
static status_t target_symbol(struct qpu_asm *as, const char *name, int local, struct qpu_symbol **symbol)
{
  *symbol = qpu_symbol_find(as, name);
  if (*symbol && local && (*symbol)->depth != as->depth) *symbol = NULL;
  if (!*symbol) return qpu_symbol_add(as, name, local ? as->depth : 0, symbol);
  if ((*symbol)->constant) return qpu_asm_fail(as, "'%s' is a constant already", name);
  return STATUS_OK;
}

/* "name, expression" or "name(arguments) expression". */
static status_t define(struct qpu_asm *as, const struct use *use)
{
  char name[QPU_NAME_MAX];
  const char *text = use->text;
  struct qpu_symbol *symbol;
  struct qpu_value value = {QPU_VALUE_INT};
  RETURN_IF_FAILED(take_name(as, &text, name));
  int takes_arguments = *text == '(';
  if (!takes_arguments) RETURN_IF_FAILED(qpu_expr_whole(as, behind_comma(text), &value));
  RETURN_IF_FAILED(target_symbol(as, name, use->directive->local, &symbol));
  if (takes_arguments) {
    text++;
    RETURN_IF_FAILED(parse_parameters(as, &text, ')', symbol));
    symbol->text = behind_comma(text); /* the line outlives the symbol */
  }
  symbol->kind = takes_arguments ? QPU_SYMBOL_EXPRESSION : QPU_SYMBOL_VALUE;
  symbol->value = value;
  symbol->constant = use->directive->constant;
  return STATUS_OK;
}

static status_t undefine(struct qpu_asm *as, const struct use *use)
{
  char name[QPU_NAME_MAX];
  const char *text = use->text;
  RETURN_IF_FAILED(take_name(as, &text, name));
  struct qpu_symbol *symbol = qpu_symbol_find(as, name);
  if (!symbol || (use->directive->local && symbol->depth != as->depth))
    return qpu_asm_fail(as, "'%s' is not defined", name);
  symbol->name[0] = '\0'; /* no name matches it any more */
  return STATUS_OK;
}

/* .macro name, args and .func name(args). */
static status_t define_body(struct qpu_asm *as, const struct use *use)
{
  char name[QPU_NAME_MAX];
  const char *text = use->text;
  struct qpu_symbol *symbol;
  RETURN_IF_FAILED(take_name(as, &text, name));
  RETURN_IF_FAILED(target_symbol(as, name, 0, &symbol));
  symbol->kind = use->directive->kind;
  symbol->first = use->first;
  symbol->end = use->end;
  text = qpu_skip_space(text);
  if (symbol->kind == QPU_SYMBOL_MACRO) return parse_parameters(as, &text, '\0', symbol);
  if (*text++ != '(') return qpu_asm_fail(as, "'(' is expected behind '%s'", name);
  return parse_parameters(as, &text, ')', symbol);
}

static status_t whole_number(struct qpu_asm *as, const char *text, int64_t *n)
{
  struct qpu_value value;
  RETURN_IF_FAILED(qpu_expr_whole(as, text, &value));
  return qpu_value_integer(as, &value, n);
}

static status_t repeat(struct qpu_asm *as, const struct use *use)
{
  char name[QPU_NAME_MAX];
  const char *text = use->text;
  int64_t n;
  struct qpu_symbol *symbol;
  if (!qpu_identifier(&text, name)) return qpu_asm_fail(as, "'.rep' needs a name and a count");
  RETURN_IF_FAILED(whole_number(as, behind_comma(text), &n));
  if (n < 0) return qpu_asm_fail(as, "'.rep' cannot repeat %lld times", (long long)n);
  RETURN_IF_FAILED(enter(as));
  status_t status = qpu_symbol_add(as, name, as->depth, &symbol);
  for (int64_t i = 0; i < n && status == STATUS_OK; i++) {
    qpu_symbol_find(as, name)->value = qpu_value_int(i);
    status = qpu_asm_run(as, use->first, use->end);
  }
  leave(as);
  return status;
}

static status_t is_true(struct qpu_asm *as, const char *text, int *truth)
{
  struct qpu_value value;
  RETURN_IF_FAILED(qpu_expr_whole(as, text, &value));
  return qpu_value_true(as, &value, truth);
}

static status_t is_set(struct qpu_asm *as, const char *text, int *truth)
{
  char name[QPU_NAME_MAX];
  RETURN_IF_FAILED(take_name(as, &text, name));
  *truth = qpu_symbol_find(as, name) != NULL;
  return STATUS_OK;
}

/* Runs the first part of .if … .elseif … .else … .endif whose condition holds. */
static status_t choose(struct qpu_asm *as, const struct use *use)
{
  int truth, depth = 0;
  size_t begin = use->first;
  RETURN_IF_FAILED((use->directive->local ? is_set : is_true)(as, use->text, &truth));
  for (size_t i = use->first; i <= use->end; i++) {
    const char *line = qpu_skip_space(as->lines[i].text);
    if (begins_if(line)) depth++;
    if (depth == 0 && (i == use->end || starts_with(line, "elseif") || starts_with(line, "else"))) {
      if (truth) return qpu_asm_run(as, begin, i);
      begin = i + 1;
      as->at = (struct qpu_origin){as->lines[i].file, as->lines[i].number};
      truth = starts_with(line, "else");
      if (starts_with(line, "elseif")) RETURN_IF_FAILED(is_true(as, line + strlen(".elseif"), &truth));
    }
    if (starts_with(line, "endif")) depth--;
  }
  return STATUS_OK;
}

/* .back n: the block's words go before the last n. */
static status_t insert_back(struct qpu_asm *as, const struct use *use)
{
  struct qpu_program *made = &as->program;
  int64_t n;
  uint64_t words[QPU_MAX_BACK];
  struct qpu_instruction taken[QPU_MAX_BACK];
  struct qpu_origin origins[QPU_MAX_BACK], at = as->at;
  RETURN_IF_FAILED(whole_number(as, use->text, &n));
  if (n < 0 || n > QPU_MAX_BACK || (size_t)n > made->n_words)
    return qpu_asm_fail(as, "'.back' goes 0 to %d instructions back", QPU_MAX_BACK);
  RETURN_IF_FAILED(qpu_join_take(as, (int)n, taken));
  made->n_words -= (size_t)n;
  for (int64_t i = 0; i < n; i++) {
    words[i] = made->words[made->n_words + (size_t)i];
    origins[i] = made->origins[made->n_words + (size_t)i];
    if (words[i] >> 60 == QPU_SIG_BRANCH || made->data[made->n_words + (size_t)i])
      return qpu_asm_fail(as, "'.back' cannot move a branch or data");
  }
  if (made->n_labels && made->labels[made->n_labels - 1].address > made->n_words * QPU_INSTRUCTION_BYTES)
    return qpu_asm_fail(as, "'.back' cannot move a label");
  RETURN_IF_FAILED(qpu_asm_run(as, use->first, use->end));
  for (int64_t i = 0; i < n; i++) {
    as->at = origins[i];
    RETURN_IF_FAILED(qpu_join_put(as, &taken[i], words[i], i == 0));
  }
  as->at = at;
  return STATUS_OK;
}

/* .clone label, n: what stands there once more, as the pass before knows it where that is further
 * on. */
static status_t clone(struct qpu_asm *as, const struct use *use)
{
  const struct qpu_program *made = &as->program;
  const char *text = use->text;
  struct qpu_value label;
  int64_t from, n;
  RETURN_IF_FAILED(qpu_expr_parse(as, &text, &label));
  if (label.type != QPU_VALUE_LABEL) return qpu_asm_fail(as, "'.clone' needs a label and a count");
  from = label.integer / QPU_INSTRUCTION_BYTES;
  RETURN_IF_FAILED(whole_number(as, behind_comma(text), &n));
  if (n < 0 || n > 100) return qpu_asm_fail(as, "'.clone' copies 0 to 100 instructions");
  for (int64_t i = 0; i < n; i++) {
    int known = (size_t)(from + i) < made->n_words || (as->pass > 0 && (size_t)(from + i) < as->words_before);
    uint64_t word = known ? made->words[from + i] : QPU_NOP_WORD;
    if (word >> 60 == QPU_SIG_BRANCH) return qpu_asm_fail(as, "'.clone' cannot copy a branch");
    RETURN_IF_FAILED(qpu_emit(as, word, 0));
  }
  return STATUS_OK;
}

static status_t export(struct qpu_asm *as, const struct use *use)
{
  char name[QPU_NAME_MAX];
  const char *text = use->text + (use->text[0] == ':');
  RETURN_IF_FAILED(take_name(as, &text, name));
  return qpu_label_export(as, name);
}

/* .byte .short .int .long .float: one behind the other, padded before an instruction. */
static status_t emit_data(struct qpu_asm *as, const struct use *use)
{
  const char *text = use->text;
  const int bytes = use->directive->bytes;
  do {
    struct qpu_value value;
    uint32_t bits;
    RETURN_IF_FAILED(qpu_expr_parse(as, &text, &value));
    if (use->directive->is_float && value.type == QPU_VALUE_INT)
      value = qpu_value_float((double)value.integer);
    RETURN_IF_FAILED(qpu_value_bits(as, &value, &bits));
    if (bytes < 4 && (value.type != QPU_VALUE_INT || value.integer >= 1 << 8 * bytes ||
                      value.integer < -(1 << (8 * bytes - 1))))
      return qpu_asm_fail(as, "the value does not fit %d bytes", bytes);
    RETURN_IF_FAILED(qpu_emit_bytes(as, bits, bytes));
    text = qpu_skip_space(text);
  } while (*text++ == ',');
  return text[-1] == '\0' ? STATUS_OK : qpu_asm_fail(as, "',' is expected at '%.20s'", text - 1);
}

static status_t align(struct qpu_asm *as, const struct use *use)
{
  int64_t bytes;
  RETURN_IF_FAILED(whole_number(as, use->text, &bytes));
  return qpu_align(as, bytes);
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
  for (size_t i = 0; i < as->options->n_include_folders && access(path, R_OK) != 0; i++)
    snprintf(path, sizeof path, "%s/%.*s", as->options->include_folders[i], (int)(close - text - 1),
             text + 1);
  RETURN_IF_FAILED(qpu_source_file(as, path));
  RETURN_IF_FAILED(enter(as));
  status_t status = qpu_asm_run(as, first, as->n_lines);
  as->at = at;
  leave(as);
  return status;
}

static status_t assert_true(struct qpu_asm *as, const struct use *use)
{
  int truth;
  RETURN_IF_FAILED(is_true(as, use->text, &truth));
  return truth ? STATUS_OK : qpu_asm_fail(as, "assertion failed: %s", use->text);
}

static const struct directive directives[] = {
    {.name = "set", .run = define},
    {.name = "equ", .run = define},
    {.name = "define", .run = define},
    {.name = "const", .run = define, .constant = 1},
    {.name = "lset", .run = define, .local = 1},
    {.name = "lconst", .run = define, .constant = 1, .local = 1},
    {.name = "unset", .run = undefine},
    {.name = "lunset", .run = undefine, .local = 1},
    {.name = "func", .run = define_body, .close = "endf", .kind = QPU_SYMBOL_FUNCTION},
    {.name = "macro", .run = define_body, .close = "endm", .kind = QPU_SYMBOL_MACRO},
    {.name = "rep", .run = repeat, .close = "endr"},
    {.name = "if", .run = choose, .close = "endif"},
    {.name = "ifset", .run = choose, .close = "endif", .local = 1},
    {.name = "clone", .run = clone},
    {.name = "global", .run = export},
    {.name = "back", .run = insert_back, .close = "endb"},
    {.name = "assert", .run = assert_true},
    {.name = "include", .run = include},
    {.name = "align", .run = align},
    {.name = "byte", .run = emit_data, .bytes = 1},
    {.name = "short", .run = emit_data, .bytes = 2},
    {.name = "int", .run = emit_data, .bytes = 4},
    {.name = "long", .run = emit_data, .bytes = 4},
    {.name = "float", .run = emit_data, .bytes = 4, .is_float = 1},
};

/* The one that \a text starts with; *i, its line, moves to the last one that belongs to it. */
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

/* Labels at the start of a line; *text moves behind them. */
static status_t run_labels(struct qpu_asm *as, const char **text)
{
  for (;;) {
    char name[QPU_NAME_MAX];
    const char *p = *text = qpu_skip_space(*text);
    int leading = *p == ':', exported = leading && p[1] == ':';
    p += leading + exported;
    size_t n = qpu_word(&p, name);
    if (!leading && (n == 0 || *p != ':')) return STATUS_OK;
    if (n == 0 && !exported && !isgraph((unsigned char)*p)) { /* a label that nothing names */
      as->last_label = as->program.n_words;
      *text = qpu_skip_space(p);
      return STATUS_OK;
    }
    if (n == 0) return qpu_asm_fail(as, "a label's name must follow ':'");
    if (as->result) return qpu_asm_fail(as, "a function cannot define labels");
    RETURN_IF_FAILED(qpu_label_define(as, name, exported));
    *text = p + !leading;
  }
}

static status_t run_line(struct qpu_asm *as, size_t *i, size_t end)
{
  char name[QPU_NAME_MAX];
  const char *text = as->lines[*i].text;
  as->at = (struct qpu_origin){as->lines[*i].file, as->lines[*i].number};
  RETURN_IF_FAILED(run_labels(as, &text));
  if (*text == '.' && isalpha((unsigned char)text[1])) return run_directive(as, text, i, end);
  if (*text == '\0') return STATUS_OK;
  if (as->result) {
    if (as->has_result) return qpu_asm_fail(as, "the function has a value already");
    as->has_result = 1;
    return qpu_expr_whole(as, text, as->result);
  }
  const char *rest = text;
  if (qpu_identifier(&rest, name)) {
    const struct qpu_symbol *symbol = qpu_symbol_find(as, name);
    if (symbol && symbol->kind == QPU_SYMBOL_MACRO) return call_macro(as, symbol, rest);
  }
  return qpu_join_line(as, text);
}

status_t qpu_asm_run(struct qpu_asm *as, size_t first, size_t end)
{
  for (size_t i = first; i < end; i++) {
    if (++as->lines_run > MAX_LINES_RUN)
      return qpu_asm_fail(as, "more than %d lines to run: does a macro or .rep run away?", MAX_LINES_RUN);
    RETURN_IF_FAILED(run_line(as, &i, end));
  }
  return STATUS_OK;
}
