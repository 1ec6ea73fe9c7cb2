/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/asm/words.h"

#define LINE_MAX_LENGTH 4000
#define MAX_WORDS       (1 << 17)

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

static status_t add_line(struct qpu_asm *as, const char *file, int number, const char *text, size_t length)
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

static status_t add_file(struct qpu_asm *as, const char *name, const char **kept)
{
  char **files = realloc(as->files, (as->n_files + 1) * sizeof *files);
  if (!files) return out_of_memory();
  as->files = files;
  as->files[as->n_files] = strdup(name);
  if (!as->files[as->n_files]) return out_of_memory();
  *kept = as->files[as->n_files++];
  return STATUS_OK;
}

static status_t add_text(struct qpu_asm *as, const char *text, size_t length, const char *name, size_t *first,
                         size_t *end)
{
  const char *file = NULL;
  int number = 1;
  RETURN_IF_FAILED(add_file(as, name, &file));
  *first = as->n_lines;
  for (size_t begin = 0; begin < length; number++) {
    const char *newline = memchr(text + begin, '\n', length - begin);
    size_t stop = newline ? (size_t)(newline - text) : length;
    RETURN_IF_FAILED(add_line(as, file, number, text + begin, stop - begin));
    begin = stop + 1;
  }
  *end = as->n_lines;
  return STATUS_OK;
}

status_t qpu_source_text(struct qpu_asm *as, const char *text, const char *name, size_t *first, size_t *end)
{
  return add_text(as, text, strlen(text), name, first, end);
}

status_t qpu_source_file(struct qpu_asm *as, const char *path, size_t *first, size_t *end)
{
  char *text;
  size_t length;
  RETURN_IF_FAILED(qpu_file_read(path, &text, &length));
  status_t status = add_text(as, text, length, path, first, end);
  free(text);
  return status;
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

status_t qpu_label_define(struct qpu_asm *as, const char *name, int exported)
{
  if (!is_numeric(name) && find(as->labels, as->n_labels, name))
    return qpu_asm_fail(as, "the label '%s' is defined twice", name);
  RETURN_IF_FAILED(grow(&as->labels, &as->labels_capacity, as->n_labels, sizeof *as->labels));
  struct qpu_label *label = &as->labels[as->n_labels++];
  memset(label, 0, sizeof *label);
  strncpy(label->name, name, sizeof label->name - 1);
  label->address = (uint32_t)(as->n_words * QPU_INSTRUCTION_BYTES);
  label->exported = exported;
  return STATUS_OK;
}

/* 1b is the last label 1 before here, 1f the next one after. */
static struct qpu_label *find_numeric(struct qpu_asm *as, const char *name)
{
  char number[QPU_NAME_MAX];
  size_t length = strlen(name);
  memcpy(number, name, length);
  number[length - 1] = '\0';
  if (name[length - 1] == 'b') return find(as->labels, as->n_labels, number);
  size_t before = 0;
  for (size_t i = 0; i < as->n_labels; i++) before += strcmp(as->labels[i].name, number) == 0;
  for (size_t i = 0; i < as->n_known; i++)
    if (strcmp(as->known[i].name, number) == 0 && before-- == 0) return &as->known[i];
  return NULL;
}

status_t qpu_label_find(struct qpu_asm *as, const char *name, struct qpu_value *value)
{
  struct qpu_label *label;
  char last = name[strlen(name) - 1];
  if (is_numeric(name)) {
    if (last != 'f' && last != 'b')
      return qpu_asm_fail(as, "write %sf for the next label %s, %sb for the last", name, name, name);
    label = find_numeric(as, name);
  } else {
    label = find(as->labels, as->n_labels, name);
    if (!label) label = find(as->known, as->n_known, name);
  }
  if (!label && as->pass > 0)
    return qpu_asm_fail(as, "'%s' is no register, constant, function or label", name);
  *value = (struct qpu_value){.type = QPU_VALUE_LABEL, .integer = label ? label->address : 0};
  return STATUS_OK;
}

status_t qpu_emit(struct qpu_asm *as, uint64_t word, int is_data)
{
  if (as->n_words == MAX_WORDS)
    return qpu_asm_fail(as, "the program is longer than %d instructions", MAX_WORDS);
  if (as->n_words == as->words_capacity) {
    size_t capacity = as->words_capacity;
    RETURN_IF_FAILED(grow(&as->words, &capacity, as->n_words, sizeof *as->words));
    capacity = as->words_capacity;
    RETURN_IF_FAILED(grow(&as->origins, &capacity, as->n_words, sizeof *as->origins));
    capacity = as->words_capacity;
    RETURN_IF_FAILED(grow(&as->data, &capacity, as->n_words, sizeof *as->data));
    as->words_capacity = capacity;
  }
  as->words[as->n_words] = word;
  as->origins[as->n_words] = as->at;
  as->data[as->n_words++] = (uint8_t)is_data;
  return STATUS_OK;
}
