/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/switches.h"
#include "base/values.h"

#define HELP_COLUMN 26
#define HELP_WIDTH  79
#define TEXT_MAX    256
#define OPTIONS_MAX 64

struct parser {
  const struct option_program *program;
  char **argv; /**< the words not parsed yet; NULL after the last */
  char *config;
};

/** Options on this process's command line. \a given are all, with their values; \a ignored are
 * those that the selected mode does not read. */
static struct {
  const struct option_spec *given[OPTIONS_MAX], *ignored[OPTIONS_MAX];
  const char *value[OPTIONS_MAX]; /**< "" for a flag */
  int n_given, n_ignored;
} line;

/* Messages */

/** Refuses an unknown, abbreviated or misspelled option, and suggests a similar one. */
static status_t unknown_option(const struct parser *parser, const char *word)
{
  char typed[TEXT_MAX], text[VALUE_TEXT_MAX], dashed[OPTIONS_MAX][TEXT_MAX / 4];
  struct value_guess guess = {.text = typed};
  snprintf(typed, sizeof typed, "%.*s", (int)strcspn(word, "="), word);
  for (size_t i = 0; i < parser->program->n_options; i++) {
    snprintf(dashed[i], sizeof *dashed, "--%s", parser->program->options[i].name);
    value_guess(&guess, dashed[i]);
    if (strlen(typed) > 2 && strncmp(dashed[i], typed, strlen(typed)) == 0) {
      guess.word = dashed[i];
      break;
    }
  }
  return log_fail(STATUS_USAGE, "unknown option \"%s\"%s", typed,
                  value_guess_text(&guess, ": see --help", text));
}

/* Parsing */

static status_t option_read_value(const struct option_value *value, const char *shown, const char *text,
                                  void *field)
{
  switch (value->type) {
  case OPTION_TYPE_FLAG:
    *(int *)field = 1;
    return STATUS_OK;
  case OPTION_TYPE_RANGE:
    return value_read(&value->range, shown, text, field);
  case OPTION_TYPE_CUSTOM:
  case OPTION_TYPE_EACH:
    return value->parse(shown, text, field);
  default:
    *(const char **)field = text;
    return STATUS_OK;
  }
}

/** Stores the option's value in \a config, and 1 in the field that records that it was given. */
static status_t option_store(const struct option_spec *option, const char *text, char *config)
{
  char shown[TEXT_MAX];
  snprintf(shown, sizeof shown, "--%s", option->name);
  RETURN_IF_FAILED(option_read_value(&option->value, shown, text, config + option->value.offset));
  if (option->given) *(int *)(config + option->given - 1) = 1;
  return STATUS_OK;
}

/** Returns whether the next word can be a value; \a next is NULL after the last word. */
static int is_value(const char *next)
{
  return next && !(next[0] == '-' && (next[1] == '-' || isalpha((unsigned char)next[1])));
}

/** Stores the option with the value \a attached, or with the next word if that is NULL. */
static status_t option_take(struct parser *parser, const struct option_spec *option, const char *attached)
{
  const char *text = attached;
  const int before = option_value_text(option) != NULL;
  if (before && option->value.type != OPTION_TYPE_EACH)
    return log_fail(STATUS_USAGE, "--%s is given twice", option->name);
  if (option->value.type == OPTION_TYPE_FLAG) {
    if (attached) return log_fail(STATUS_USAGE, "--%s takes no value, not \"%s\"", option->name, attached);
  } else {
    if (!text && is_value(*parser->argv)) text = *parser->argv++;
    if (!text) text = option->missing;
    if (!text || !*text) {
      char allowed[VALUE_TEXT_MAX];
      return log_fail(STATUS_USAGE, "--%s needs a value: %s", option->name,
                      option->value.type == OPTION_TYPE_RANGE ? value_describe(&option->value.range, allowed)
                                                              : option->value.metavar);
    }
  }
  if (!before) {
    line.value[line.n_given] = text ? text : "";
    line.given[line.n_given++] = option;
  }
  RETURN_IF_FAILED(option_store(option, text, parser->config));
  while (option->value.type == OPTION_TYPE_EACH && is_value(*parser->argv))
    RETURN_IF_FAILED(option_store(option, *parser->argv++, parser->config));
  return STATUS_OK;
}

static int is_named(const char *word, size_t length, const char *name)
{
  return strlen(name) == length && strncmp(name, word, length) == 0;
}

/** Returns the option that a word names, or NULL. Sets *attached to the value in the word, or
 * NULL. */
static const struct option_spec *option_find(const struct option_program *program, const char *word,
                                             const char **attached)
{
  int is_long = word[0] == '-' && word[1] == '-';
  size_t length = strcspn(word, "=");
  for (size_t i = 0; i < program->n_options; i++) {
    const struct option_spec *option = &program->options[i];
    const int is_old = is_long && option->old && is_named(word + 2, length - 2, option->old);
    if (is_old || (is_long && is_named(word + 2, length - 2, option->name))) {
      if (is_old) log_warn("--%s is deprecated: use --%s", option->old, option->name);
      *attached = word[length] ? word + length + 1 : NULL;
      return option;
    }
    if (!is_long && option->letter && word[0] == '-' && word[1] == option->letter) {
      *attached = word[2] ? word + 2 : NULL;
      return option;
    }
  }
  return NULL;
}

static int is_request(const char *word, enum option_request *request)
{
  int help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
  int version = strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
  int schema = strcmp(word, "--schema") == 0;
  if (help) *request = OPTION_SHOW_HELP;
  if (version) *request = OPTION_SHOW_VERSION;
  if (schema) *request = OPTION_SHOW_SCHEMA;
  return help || version || schema;
}

static status_t parse_words(struct parser *parser, enum option_request *request)
{
  enum option_request asked = OPTION_RUN;
  while (*parser->argv && !is_request(*parser->argv, &asked)) {
    const char *attached = NULL, *word = *parser->argv++;
    const struct option_spec *option = option_find(parser->program, word, &attached);
    if (word[0] != '-' && *word && parser->program->operands) {
      RETURN_IF_FAILED(option_store(parser->program->operands, word, parser->config));
      continue;
    }
    if (word[0] != '-' || !word[1] || strcmp(word, "--") == 0)
      return log_fail(STATUS_USAGE, "unknown argument \"%s\": see --help", word);
    if (!option) return unknown_option(parser, word);
    RETURN_IF_FAILED(option_take(parser, option, attached));
  }
  *request = asked;
  return STATUS_OK;
}

static status_t check_table(const struct option_program *program)
{
  for (size_t i = 0; i < program->n_options; i++)
    if (!program->options[i].readers || i == OPTIONS_MAX)
      return log_fail(STATUS_FAULT, "--%s: the table of options does not say what reads it, or is too long",
                      program->options[i].name);
  return STATUS_OK;
}

/** Returns the file that an option with this value names, or NULL. */
static const char *file_of(const struct parser *parser, const struct option_value *value)
{
  int is_file = value->type == OPTION_TYPE_INPUT || value->type == OPTION_TYPE_OUTPUT;
  return is_file ? *(const char **)(parser->config + value->offset) : NULL;
}

/** Returns whether a value, which may be a list of files, names the file \a output. */
static int names(const char *value, const char *output)
{
  char part[PATH_MAX];
  if (file_is_same(value, output)) return 1;
  for (const char *rest = value; rest;) {
    rest = value_next(rest, ',', part, sizeof part);
    if (file_is_same(part, output)) return 1;
  }
  return 0;
}

/** Refuses to write a file that another option reads or writes. */
static status_t check_files(const struct parser *parser)
{
  for (int o = 0; o < line.n_given; o++)
    for (int i = 0; i < line.n_given; i++) {
      const struct option_spec *writer = line.given[o], *other = line.given[i];
      const char *output = file_of(parser, &writer->value), *path = file_of(parser, &other->value);
      if (i != o && output && path && writer->value.type == OPTION_TYPE_OUTPUT && names(path, output))
        return log_fail(STATUS_USAGE, "--%s \"%s\" is also the file of --%s", writer->name, output,
                        other->name);
    }
  return STATUS_OK;
}

/** Returns whether the command line has the option in \a words. "NAME" matches any value except
 * auto; "NAME VALUE" matches only that value. */
static int is_given(const char *words)
{
  size_t length = strcspn(words, " ");
  const char *value = words[length] ? words + length + 1 : NULL;
  for (int i = 0; i < line.n_given; i++) {
    const char *name = line.given[i]->name;
    if (strlen(name) != length || strncmp(name, words, length) != 0) continue;
    return value ? strcmp(line.value[i], value) == 0 : strcmp(line.value[i], "auto") != 0;
  }
  return 0;
}

/** If \a joined, refuses pair->one without the options that it needs. Otherwise refuses pair->one
 * with the options that it excludes. */
static status_t check_pair(const struct option_pair *pair, int joined)
{
  char other[TEXT_MAX];
  if (!is_given(pair->one)) return STATUS_OK;
  for (const char *rest = pair->others; rest;) {
    rest = value_next(rest, '|', other, sizeof other);
    if (is_given(other) != joined)
      return log_fail(STATUS_USAGE, joined ? "--%s goes with --%s" : "--%s and --%s exclude each other",
                      pair->one, other);
  }
  return STATUS_OK;
}

static status_t check_pairs(const struct option_program *program)
{
  for (const struct option_pair *pair = program->exclusive; pair && pair->one; pair++)
    RETURN_IF_FAILED(check_pair(pair, 0));
  for (const struct option_pair *pair = program->joined; pair && pair->one; pair++)
    RETURN_IF_FAILED(check_pair(pair, 1));
  return STATUS_OK;
}

status_t option_parse_all(const struct option_program *program, int argc, char **argv, void *config,
                          enum option_request *request)
{
  struct parser parser = {.program = program, .argv = argv + (argc > 0), .config = config};
  line.n_given = line.n_ignored = 0;
  if (program->defaults) memcpy(config, program->defaults, program->config_bytes);
  RETURN_IF_FAILED(check_table(program));
  RETURN_IF_FAILED(parse_words(&parser, request));
  if (*request != OPTION_RUN) return STATUS_OK;
  RETURN_IF_FAILED(check_files(&parser));
  RETURN_IF_FAILED(switches_check());
  RETURN_IF_FAILED(check_pairs(program));
  return program->check ? program->check(config) : STATUS_OK;
}

/* Options that must agree between the ranks of a job. */

const char *option_value_text(const struct option_spec *option)
{
  for (int i = 0; i < line.n_given; i++)
    if (line.given[i] == option) return line.value[i];
  return NULL;
}

int option_same(const struct option_program *program, const struct option_spec *option, const char *a,
                const char *b)
{
  char *configs[2] = {calloc(1, program->config_bytes), calloc(1, program->config_bytes)};
  const char *const values[2] = {a, b};
  int same = configs[0] && configs[1];
  log_mute(1);
  for (int c = 0; same && c < 2; c++) {
    if (program->defaults) memcpy(configs[c], program->defaults, program->config_bytes);
    same = !values[c] || option_store(option, values[c], configs[c]) == STATUS_OK;
  }
  log_mute(0);
  same = same && memcmp(configs[0], configs[1], program->config_bytes) == 0;
  free(configs[0]);
  free(configs[1]);
  return same;
}

/* Ignored options */

void option_ignore(unsigned readers, const char *asked)
{
  char names[3 * TEXT_MAX] = "";
  line.n_ignored = 0;
  for (int i = 0; i < line.n_given; i++) {
    size_t used = strlen(names);
    if (line.given[i]->readers & (readers | OPTION_ALWAYS)) continue;
    line.ignored[line.n_ignored++] = line.given[i];
    snprintf(names + used, sizeof names - used, "%s--%s", used ? ", " : "", line.given[i]->name);
  }
  if (line.n_ignored) log_warn("%s: ignored, not read by %s", names, asked);
  switches_warn();
}

const char *option_ignored(int n)
{
  return n < line.n_ignored ? line.ignored[n]->name : NULL;
}

/* Help */

/** Prints \a text in lines that begin at HELP_COLUMN; \a column is the current column. */
static void print_wrapped(FILE *out, const char *text, int column)
{
  if (column > HELP_COLUMN - 2) {
    fputc('\n', out);
    column = 0;
  }
  fprintf(out, "%*s", HELP_COLUMN - column, "");
  column = HELP_COLUMN;
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
      fprintf(out, "\n%*s", HELP_COLUMN, "");
      column = HELP_COLUMN;
    }
    column += fprintf(out, "%s%.*s", column > HELP_COLUMN ? " " : "", length, text);
    text += length + strspn(text + length, " ");
  }
  fputc('\n', out);
}

static void print_option(FILE *out, const struct option_spec *option)
{
  char head[TEXT_MAX];
  const char *metavar = option->value.metavar, *is = option->missing ? "[=" : metavar ? "=" : "";
  int column = option->letter ? sprintf(head, "  -%c, ", option->letter) : sprintf(head, "      ");
  column += snprintf(head + column, sizeof head - (size_t)column, "--%s%s%s%s", option->name, is,
                     metavar ? metavar : "", option->missing ? "]" : "");
  fputs(head, out);
  print_wrapped(out, option->help, column);
}

void option_print_help(const struct option_program *program, FILE *out)
{
  fprintf(out, "Usage: %s %s\n%s\n", program->name, program->usage ? program->usage : "[OPTION]...",
          program->summary);
  for (size_t i = 0; i < program->n_options; i++) {
    const struct option_spec *option = &program->options[i];
    if (option->group) fprintf(out, "\n%s:\n", option->group);
    print_option(out, option);
  }
  fprintf(out, "\nOther:\n");
  print_option(out, &(struct option_spec){"help", 'h', .help = "Show this help and exit."});
  print_option(out, &(struct option_spec){"version", 'V', .help = "Show the version and exit."});
  fprintf(out, "\nWrite the value of an option as --json=FILE or --json FILE.\n");
  if (program->epilogue) fprintf(out, "\n%s", program->epilogue);
  if (program->exits)
    fprintf(out, "\nExit status: 0 pass; 2 wrong option; 3 device, library or memory missing; %s\n",
            program->exits);
}
