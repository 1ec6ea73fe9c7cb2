/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the words that start with a dot do. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gpu/qpu/asm/asm_private.h"
#include "gpu/qpu/asm/source.h"

static int starts_with(const char *text, const char *directive)
{
  size_t length = strlen(directive);
  text = qpu_skip_space(text);
  return strncmp(text, directive, length) == 0 && !isalnum((unsigned char)text[length]) &&
         text[length] != '_';
}

static const struct block {
  const char *open, *close;
} blocks[] = {
    {".rep", ".endr"}, {".macro", ".endm"}, {".func", ".endf"}, {".if", ".endif"}, {".back", ".endb"}};

/* The line that closes the block opened at `at`. */
static status_t find_close(struct qpu_asm *as, const char *open, size_t at, size_t end, size_t *close)
{
  const struct block *block = blocks;
  while (strcmp(block->open, open) != 0) block++;
  int depth = 0;
  for (size_t i = at + 1; i < end; i++) {
    if (starts_with(as->lines[i].text, block->open)) depth++;
    if (!starts_with(as->lines[i].text, block->close) || depth-- > 0) continue;
    *close = i;
    return STATUS_OK;
  }
  return qpu_asm_fail(as, "'%s' without '%s'", block->open, block->close);
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
  *symbol = qpu_symbol_find(&as->symbols, name);
  if (*symbol && local && (*symbol)->depth != as->symbols.depth) *symbol = NULL;
  if (!*symbol) return qpu_symbol_add(&as->symbols, name, local ? as->symbols.depth : 0, symbol);
  if ((*symbol)->constant) return qpu_asm_fail(as, "'%s' is a constant already", name);
  return STATUS_OK;
}

status_t qpu_asm_define(struct qpu_asm *as, const char *text, int constant, int local)
{
  char name[QPU_NAME_MAX];
  struct qpu_symbol *symbol;
  if (!qpu_identifier(&text, name)) return qpu_asm_fail(as, "a name is expected at '%.20s'", text);
  if (*text == '(') {
    RETURN_IF_FAILED(target_symbol(as, name, local, &symbol));
    text++;
    RETURN_IF_FAILED(parse_parameters(as, &text, ')', symbol));
    symbol->kind = QPU_SYMBOL_EXPRESSION;
    text = qpu_skip_space(text);
    symbol->text = *text == ',' ? text + 1 : text; /* the line outlives the symbol */
    symbol->constant = constant;
    return STATUS_OK;
  }
  struct qpu_value value;
  text = qpu_skip_space(text);
  if (*text == ',') text++;
  RETURN_IF_FAILED(qpu_expr_whole(as, text, &value));
  RETURN_IF_FAILED(target_symbol(as, name, local, &symbol));
  symbol->kind = QPU_SYMBOL_VALUE;
  symbol->value = value;
  symbol->constant = constant;
  return STATUS_OK;
}

static status_t undefine(struct qpu_asm *as, const char *text, int local)
{
  char name[QPU_NAME_MAX];
  if (!qpu_identifier(&text, name)) return qpu_asm_fail(as, "a name is expected at '%.20s'", text);
  struct qpu_symbol *symbol = qpu_symbol_find(&as->symbols, name);
  if (!symbol || (local && symbol->depth != as->symbols.depth))
    return qpu_asm_fail(as, "'%s' is not defined", name);
  symbol->name[0] = '\0'; /* no name matches it any more */
  return STATUS_OK;
}

/* .macro name, args and .func name(args). */
static status_t define_body(struct qpu_asm *as, const char *text, enum qpu_symbol_kind kind, size_t first,
                            size_t end)
{
  char name[QPU_NAME_MAX];
  struct qpu_symbol *symbol;
  if (!qpu_identifier(&text, name)) return qpu_asm_fail(as, "a name is expected at '%.20s'", text);
  RETURN_IF_FAILED(target_symbol(as, name, 0, &symbol));
  symbol->kind = kind;
  symbol->first = first;
  symbol->end = end;
  text = qpu_skip_space(text);
  if (kind == QPU_SYMBOL_MACRO) return parse_parameters(as, &text, '\0', symbol);
  if (*text++ != '(') return qpu_asm_fail(as, "'(' is expected behind '%s'", name);
  return parse_parameters(as, &text, ')', symbol);
}

static status_t repeat(struct qpu_asm *as, const char *text, size_t first, size_t end)
{
  char name[QPU_NAME_MAX];
  struct qpu_value count;
  int64_t n;
  struct qpu_symbol *symbol;
  if (!qpu_identifier(&text, name)) return qpu_asm_fail(as, "'.rep' needs a name and a count");
  text = qpu_skip_space(text);
  if (*text == ',') text++;
  RETURN_IF_FAILED(qpu_expr_whole(as, text, &count));
  RETURN_IF_FAILED(qpu_value_integer(as, &count, &n));
  if (n < 0) return qpu_asm_fail(as, "'.rep' cannot repeat %lld times", (long long)n);
  RETURN_IF_FAILED(qpu_asm_enter(as));
  status_t status = qpu_symbol_add(&as->symbols, name, as->symbols.depth, &symbol);
  for (int64_t i = 0; i < n && status == STATUS_OK; i++) {
    symbol = qpu_symbol_find(&as->symbols, name);
    symbol->value = qpu_value_int(i);
    status = qpu_asm_run(as, first, end);
  }
  qpu_asm_leave(as);
  return status;
}

static status_t is_true(struct qpu_asm *as, const char *text, int *truth)
{
  struct qpu_value value;
  RETURN_IF_FAILED(qpu_expr_whole(as, text, &value));
  return qpu_value_true(as, &value, truth);
}

/* Runs the first part of .if … .elseif … .else … .endif whose condition holds. */
static status_t choose(struct qpu_asm *as, const char *text, size_t at, size_t close)
{
  int truth, depth = 0;
  size_t begin = at + 1;
  RETURN_IF_FAILED(is_true(as, text, &truth));
  for (size_t i = at + 1; i <= close; i++) {
    const char *line = qpu_skip_space(as->lines[i].text);
    if (starts_with(line, ".if")) depth++;
    if (depth == 0 && (i == close || starts_with(line, ".elseif") || starts_with(line, ".else"))) {
      if (truth) return qpu_asm_run(as, begin, i);
      begin = i + 1;
      as->at = (struct qpu_origin){as->lines[i].file, as->lines[i].number};
      truth = starts_with(line, ".else");
      if (starts_with(line, ".elseif")) RETURN_IF_FAILED(is_true(as, line + strlen(".elseif"), &truth));
    }
    if (starts_with(line, ".endif")) depth--;
  }
  return STATUS_OK;
}

/* .back n: the block's words go before the last n. */
static status_t insert_back(struct qpu_asm *as, const char *text, size_t first, size_t end)
{
  struct qpu_value value;
  int64_t n;
  uint64_t words[5];
  struct qpu_origin origins[5], at = as->at;
  RETURN_IF_FAILED(qpu_expr_whole(as, text, &value));
  RETURN_IF_FAILED(qpu_value_integer(as, &value, &n));
  if (n < 0 || n > 5 || (size_t)n > as->n_words)
    return qpu_asm_fail(as, "'.back' goes 0 to 5 instructions back");
  as->n_words -= (size_t)n;
  for (int64_t i = 0; i < n; i++) {
    words[i] = as->words[as->n_words + (size_t)i];
    origins[i] = as->origins[as->n_words + (size_t)i];
    if (words[i] >> 60 == QPU_SIG_BRANCH || as->data[as->n_words + (size_t)i])
      return qpu_asm_fail(as, "'.back' cannot move a branch or data");
  }
  if (as->n_labels && as->labels[as->n_labels - 1].address > as->n_words * QPU_INSTRUCTION_BYTES)
    return qpu_asm_fail(as, "'.back' cannot move a label");
  RETURN_IF_FAILED(qpu_asm_run(as, first, end));
  for (int64_t i = 0; i < n; i++) {
    as->at = origins[i];
    RETURN_IF_FAILED(qpu_emit(as, words[i], 0));
  }
  as->at = at;
  return STATUS_OK;
}

/* .byte .short .int .long .float: padded to whole words of 64 bits. */
static status_t emit_data(struct qpu_asm *as, const char *text, int bytes, int as_float)
{
  uint64_t word = 0;
  int filled = 0;
  do {
    struct qpu_value value;
    uint32_t bits;
    RETURN_IF_FAILED(qpu_expr_parse(as, &text, &value));
    if (as_float && value.type == QPU_VALUE_INT)
      value = (struct qpu_value){.type = QPU_VALUE_FLOAT, .real = (double)value.integer};
    RETURN_IF_FAILED(qpu_value_bits(as, &value, &bits));
    if (bytes < 4 && (value.type != QPU_VALUE_INT || value.integer >= 1 << 8 * bytes ||
                      value.integer < -(1 << (8 * bytes - 1))))
      return qpu_asm_fail(as, "the value does not fit %d bytes", bytes);
    uint64_t kept = bytes < 4 ? bits & ((1u << 8 * bytes) - 1) : bits;
    word |= kept << 8 * filled;
    filled += bytes;
    if (filled == 8) {
      RETURN_IF_FAILED(qpu_emit(as, word, 1));
      word = 0;
      filled = 0;
    }
    text = qpu_skip_space(text);
  } while (*text++ == ',');
  if (text[-1] != '\0') return qpu_asm_fail(as, "',' is expected at '%.20s'", text - 1);
  return filled ? qpu_emit(as, word, 1) : STATUS_OK;
}

static status_t include(struct qpu_asm *as, const char *text)
{
  char path[1024];
  struct qpu_origin at = as->at;
  size_t first = 0, end = 0, length;
  const char *close = text[0] == '"' ? strchr(text + 1, '"') : NULL;
  if (!close || close[1] != '\0') return qpu_asm_fail(as, "'.include' needs a file name in quotes");
  const char *slash = strrchr(as->at.file, '/');
  length = slash && text[1] != '/' ? (size_t)(slash - as->at.file) + 1 : 0;
  snprintf(path, sizeof path, "%.*s%.*s", (int)length, as->at.file, (int)(close - text - 1), text + 1);
  FILE *there = fopen(path, "r");
  if (there)
    fclose(there);
  else if (as->options->include_folder)
    snprintf(path, sizeof path, "%s/%.*s", as->options->include_folder, (int)(close - text - 1), text + 1);
  RETURN_IF_FAILED(qpu_source_file(as, path, &first, &end));
  RETURN_IF_FAILED(qpu_asm_enter(as));
  status_t status = qpu_asm_run(as, first, end);
  as->at = at;
  qpu_asm_leave(as);
  return status;
}

static status_t assert_true(struct qpu_asm *as, const char *text)
{
  int truth;
  RETURN_IF_FAILED(is_true(as, text, &truth));
  return truth ? STATUS_OK : qpu_asm_fail(as, "assertion failed: %s", text);
}

static int opens_block(const char *name)
{
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
    if (strcmp(blocks[i].open + 1, name) == 0) return 1;
  return 0;
}

static int is_one_of(const char *name, const char *list)
{
  size_t length = strlen(name);
  for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return 1;
  return 0;
}

status_t qpu_asm_directive(struct qpu_asm *as, const char *text, size_t *i, size_t end)
{
  char name[QPU_NAME_MAX];
  size_t at = *i, close = 0;
  const char *open = text++;
  if (!qpu_identifier(&text, name)) return qpu_asm_fail(as, "a directive is expected at '%.20s'", open);
  text = qpu_skip_space(text);
  if (opens_block(name)) {
    char directive[QPU_NAME_MAX + 1];
    snprintf(directive, sizeof directive, ".%s", name);
    RETURN_IF_FAILED(find_close(as, directive, at, end, &close));
    *i = close;
  }
  if (is_one_of(name, "set equ define")) return qpu_asm_define(as, text, 0, 0);
  if (strcmp(name, "const") == 0) return qpu_asm_define(as, text, 1, 0);
  if (strcmp(name, "lset") == 0) return qpu_asm_define(as, text, 0, 1);
  if (strcmp(name, "lconst") == 0) return qpu_asm_define(as, text, 1, 1);
  if (is_one_of(name, "unset lunset")) return undefine(as, text, name[0] == 'l');
  if (strcmp(name, "func") == 0) return define_body(as, text, QPU_SYMBOL_FUNCTION, at + 1, close);
  if (strcmp(name, "macro") == 0) return define_body(as, text, QPU_SYMBOL_MACRO, at + 1, close);
  if (strcmp(name, "rep") == 0) return repeat(as, text, at + 1, close);
  if (strcmp(name, "if") == 0) return choose(as, text, at, close);
  if (strcmp(name, "back") == 0) return insert_back(as, text, at + 1, close);
  if (strcmp(name, "assert") == 0) return assert_true(as, text);
  if (strcmp(name, "include") == 0) return include(as, text);
  if (strcmp(name, "byte") == 0) return emit_data(as, text, 1, 0);
  if (strcmp(name, "short") == 0) return emit_data(as, text, 2, 0);
  if (is_one_of(name, "int long")) return emit_data(as, text, 4, 0);
  if (strcmp(name, "float") == 0) return emit_data(as, text, 4, 1);
  return qpu_asm_fail(as, "'.%s' is no directive, or has nothing to close", name);
}
