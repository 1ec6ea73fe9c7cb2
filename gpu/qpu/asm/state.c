/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/state.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define LINE_MAX_LENGTH 4000
#define MAX_WORDS       (1 << 17)

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

void qpu_asm_free(struct qpu_asm *as)
{
  qpu_source_drop(as, 0);
  free(as->lines);
  free(as->symbols);
  free(as->known);
  free(as->recent);
}

static status_t out_of_memory(void)
{
  return log_fail(STATUS_ENVIRONMENT, "out of memory while assembling");
}

/* Doubles an array that is full. */
static status_t grow(void *array, size_t *capacity, size_t n, size_t item)
{
  void **items = array;
  if (n < *capacity) return STATUS_OK;
  size_t larger = *capacity ? 2 * *capacity : 128;
  void *moved = realloc(*items, larger * item);
  if (!moved) return out_of_memory();
  *items = moved;
  *capacity = larger;
  return STATUS_OK;
}

status_t qpu_source_line(struct qpu_asm *as, const char *file, int number, const char *text, size_t length)
{
  size_t comment = 0;
  while (comment < length && text[comment] != '#' &&
         !(text[comment] == '/' && comment + 1 < length && text[comment + 1] == '/'))
    comment++;
  as->at = (struct qpu_origin){file, number};
  if (comment > LINE_MAX_LENGTH)
    return qpu_asm_fail(as, "the line is longer than %d characters", LINE_MAX_LENGTH);
  RETURN_IF_FAILED(grow(&as->lines, &as->lines_capacity, as->n_lines, sizeof *as->lines));
  while (comment > 0 && isspace((unsigned char)text[comment - 1])) comment--;
  char *copy = malloc(comment + 1);
  if (!copy) return out_of_memory();
  memcpy(copy, text, comment);
  copy[comment] = '\0';
  if (strlen(copy) != comment) {
    free(copy);
    return qpu_asm_fail(as, "the line has a zero byte in it");
  }
  as->lines[as->n_lines++] = (struct qpu_line){file, number, copy};
  return STATUS_OK;
}

static status_t add_file(struct qpu_program *program, const char *name)
{
  char **files = realloc(program->files, (program->n_files + 1) * sizeof *files);
  if (!files) return out_of_memory();
  program->files = files;
  files[program->n_files] = strdup(name);
  if (!files[program->n_files]) return out_of_memory();
  program->n_files++;
  return STATUS_OK;
}

status_t qpu_source_text(struct qpu_asm *as, const char *text, size_t length, const char *name)
{
  int number = 1;
  RETURN_IF_FAILED(add_file(&as->program, name));
  const char *file = as->program.files[as->program.n_files - 1];
  for (size_t begin = 0; begin < length; number++) {
    const char *newline = memchr(text + begin, '\n', length - begin);
    size_t stop = newline ? (size_t)(newline - text) : length;
    RETURN_IF_FAILED(qpu_source_line(as, file, number, text + begin, stop - begin));
    begin = stop + 1;
  }
  return STATUS_OK;
}

status_t qpu_source_file(struct qpu_asm *as, const char *path)
{
  char *text;
  size_t length;
  RETURN_IF_FAILED(qpu_file_read(path, &text, &length));
  status_t status = qpu_source_text(as, text, length, path);
  free(text);
  return status;
}

void qpu_source_drop(struct qpu_asm *as, size_t first)
{
  while (as->n_lines > first) free(as->lines[--as->n_lines].text);
}

struct qpu_symbol *qpu_symbol_find(struct qpu_asm *as, const char *name)
{
  for (size_t i = as->n_symbols; i-- > 0;)
    if (strcmp(as->symbols[i].name, name) == 0) return &as->symbols[i];
  return NULL;
}

status_t qpu_symbol_add(struct qpu_asm *as, const char *name, int depth, struct qpu_symbol **symbol)
{
  RETURN_IF_FAILED(grow(&as->symbols, &as->symbols_capacity, as->n_symbols, sizeof *as->symbols));
  *symbol = &as->symbols[as->n_symbols++];
  memset(*symbol, 0, sizeof **symbol);
  strncpy((*symbol)->name, name, QPU_NAME_MAX - 1);
  (*symbol)->depth = depth;
  return STATUS_OK;
}

static int is_numeric(const char *name)
{
  return isdigit((unsigned char)name[0]);
}

static struct qpu_label *find(struct qpu_label *labels, size_t n, const char *name)
{
  for (size_t i = n; i-- > 0;)
    if (strcmp(labels[i].name, name) == 0) return &labels[i];
  return NULL;
}

/* Bytes from the start; data may end within a word. */
static uint32_t position(const struct qpu_asm *as)
{
  int missing = as->data_bytes ? QPU_INSTRUCTION_BYTES - as->data_bytes : 0;
  return (uint32_t)(as->program.n_words * QPU_INSTRUCTION_BYTES) - (uint32_t)missing;
}

status_t qpu_label_define(struct qpu_asm *as, const char *name, int exported)
{
  struct qpu_program *made = &as->program;
  if (!is_numeric(name) && find(made->labels, made->n_labels, name))
    return qpu_asm_fail(as, "the label '%s' is defined twice", name);
  RETURN_IF_FAILED(grow(&made->labels, &as->labels_capacity, made->n_labels, sizeof *made->labels));
  struct qpu_label *label = &made->labels[made->n_labels++];
  memset(label, 0, sizeof *label);
  strncpy(label->name, name, sizeof label->name - 1);
  label->address = position(as);
  struct qpu_label *before = is_numeric(name) ? NULL : find(as->known, as->n_known, name);
  label->exported = exported || (before && before->exported);
  as->last_label = made->n_words;
  return STATUS_OK;
}

/* One that stands further on is known in the next pass. */
status_t qpu_label_export(struct qpu_asm *as, const char *name)
{
  struct qpu_label *label = find(as->program.labels, as->program.n_labels, name);
  if (!label) label = find(as->known, as->n_known, name);
  if (!label && as->pass > 0) return qpu_asm_fail(as, "'.global' names no label '%s'", name);
  if (label) label->exported = 1;
  return STATUS_OK;
}

/* The next label of that name behind here, as the pass before saw it. */
static struct qpu_label *find_next(struct qpu_asm *as, const char *name)
{
  const struct qpu_program *made = &as->program;
  size_t before = 0;
  for (size_t i = 0; i < made->n_labels; i++) before += strcmp(made->labels[i].name, name) == 0;
  for (size_t i = 0; i < as->n_known; i++)
    if (strcmp(as->known[i].name, name) == 0 && before-- == 0) return &as->known[i];
  return NULL;
}

/* 1 is the last label 1 before here, or else the next; 1b only the one, 1f only the other. */
static struct qpu_label *find_numeric(struct qpu_asm *as, const char *name)
{
  const struct qpu_program *made = &as->program;
  struct qpu_label *label = find(made->labels, made->n_labels, name);
  char stem[QPU_NAME_MAX];
  const size_t last = strlen(name) - 1;
  memcpy(stem, name, last);
  stem[last] = '\0';
  if (!label && last && name[last] == 'f') label = find_next(as, stem);
  if (!label && last && name[last] == 'b') label = find(made->labels, made->n_labels, stem);
  return label ? label : find_next(as, name);
}

status_t qpu_label_find(struct qpu_asm *as, const char *name, struct qpu_value *value)
{
  struct qpu_label *label;
  if (is_numeric(name)) {
    label = find_numeric(as, name);
  } else {
    label = find(as->program.labels, as->program.n_labels, name);
    if (!label) label = find(as->known, as->n_known, name);
  }
  if (!label && as->pass > 0)
    return qpu_asm_fail(as, "'%s' is no register, constant, function or label", name);
  for (size_t i = 0; as->data_bytes && i < as->program.n_labels && i < as->n_known; i++)
    if (label == &as->program.labels[i]) label = &as->known[i]; /* not yet padded */
  *value = (struct qpu_value){.type = QPU_VALUE_LABEL, .integer = label ? label->address : 0};
  return STATUS_OK;
}

/* A word begins: what stands before it is padded, and its labels move with it. */
static void pad(struct qpu_asm *as)
{
  struct qpu_program *made = &as->program;
  const uint32_t here = position(as);
  as->data_bytes = 0;
  for (size_t i = made->n_labels; i-- > 0 && made->labels[i].address == here;)
    made->labels[i].address = position(as);
}

status_t qpu_emit(struct qpu_asm *as, uint64_t word, int is_data)
{
  struct qpu_program *made = &as->program;
  pad(as);
  size_t n = made->n_words, words = as->words_capacity, origins = words, data = words;
  if (n == MAX_WORDS) return qpu_asm_fail(as, "the program is longer than %d instructions", MAX_WORDS);
  RETURN_IF_FAILED(grow(&made->words, &words, n, sizeof *made->words));
  RETURN_IF_FAILED(grow(&made->origins, &origins, n, sizeof *made->origins));
  RETURN_IF_FAILED(grow(&made->data, &data, n, sizeof *made->data));
  as->words_capacity = words;
  made->words[n] = word;
  made->origins[n] = as->at;
  made->data[n] = (uint8_t)is_data;
  made->n_words++;
  return STATUS_OK;
}

status_t qpu_emit_bytes(struct qpu_asm *as, uint32_t bytes, int n)
{
  struct qpu_program *made = &as->program;
  for (int i = 0; i < n; i++) {
    const int filled = as->data_bytes;
    if (filled == 0) RETURN_IF_FAILED(qpu_emit(as, 0, 1));
    made->words[made->n_words - 1] |= (uint64_t)(bytes >> 8 * i & 255) << 8 * filled;
    as->data_bytes = (filled + 1) % QPU_INSTRUCTION_BYTES;
  }
  return STATUS_OK;
}

status_t qpu_align(struct qpu_asm *as, int64_t bytes)
{
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != QPU_INSTRUCTION_BYTES)
    return qpu_asm_fail(as, "'.align' takes 1, 2, 4 or 8");
  while (position(as) % bytes) RETURN_IF_FAILED(qpu_emit_bytes(as, 0, 1));
  return STATUS_OK;
}
