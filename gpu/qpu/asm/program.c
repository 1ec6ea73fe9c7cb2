/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/program.h"

#include <ctype.h>
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
  free(program->data);
  free(program->labels);
  *program = (struct qpu_program){0};
}

static int is_text(const char *bytes, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!isprint((unsigned char)bytes[i]) && !isspace((unsigned char)bytes[i])) return 0;
  return 1;
}

/* The next 0x… number at or after *text, comments skipped; 0 at the end. */
static int next_number(const char **text, uint32_t *number)
{
  const char *p = *text;
  while (*p != '\0') {
    if (p[0] == '/' && p[1] == '/') {
      p += strcspn(p, "\n");
    } else if (p[0] == '/' && p[1] == '*') {
      const char *close = strstr(p + 2, "*/");
      p = close ? close + 2 : p + strlen(p);
    } else if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
      char *end;
      *number = (uint32_t)strtoul(p, &end, 16);
      *text = end;
      return 1;
    } else {
      p++;
    }
  }
  return 0;
}

static size_t parse_hex(const char *text, uint64_t *words)
{
  uint32_t low, high;
  size_t n = 0;
  while (next_number(&text, &low) && next_number(&text, &high)) words[n++] = (uint64_t)high << 32 | low;
  return n;
}

static size_t parse_binary(const char *bytes, size_t n, uint64_t *words)
{
  for (size_t i = 0; i < n / 8; i++) {
    words[i] = 0;
    for (int b = 0; b < 8; b++) words[i] |= (uint64_t)(uint8_t)bytes[8 * i + (size_t)b] << 8 * b;
  }
  return n / 8;
}

status_t qpu_file_read(const char *path, char **bytes, size_t *n)
{
  status_t status = STATUS_OK;
  FILE *file = file_open_input(path);
  if (!file) return log_fail(STATUS_ENVIRONMENT, "cannot read %s: %s", path, strerror(errno));
  char *made = malloc(MAX_FILE_BYTES);
  size_t length = made ? fread(made, 1, MAX_FILE_BYTES, file) : 0;
  if (!made)
    status = log_fail(STATUS_ENVIRONMENT, "out of memory to read %s", path);
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

status_t qpu_words_read(const char *path, uint64_t **words, size_t *n_words)
{
  char *bytes;
  size_t n = 0;
  RETURN_IF_FAILED(qpu_file_read(path, &bytes, &n));
  uint64_t *made = calloc(n / 4 + 1, sizeof *made);
  if (!made) {
    free(bytes);
    return log_fail(STATUS_ENVIRONMENT, "out of memory to read %s", path);
  }
  size_t found = is_text(bytes, n) ? parse_hex(bytes, made) : parse_binary(bytes, n, made);
  free(bytes);
  if (found == 0) {
    free(made);
    return log_fail(STATUS_USAGE, "%s holds no instruction", path);
  }
  *words = made;
  *n_words = found;
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

void qpu_words_write_hex(const struct qpu_program *program, FILE *out)
{
  for (size_t i = 0; i < program->n_words; i++)
    fprintf(out, "0x%08x, 0x%08x,\n", (unsigned)program->words[i], (unsigned)(program->words[i] >> 32));
}

void qpu_words_write_binary(const struct qpu_program *program, FILE *out)
{
  for (size_t i = 0; i < program->n_words; i++)
    for (int b = 0; b < 8; b++) fputc((int)(program->words[i] >> 8 * b & 255), out);
}
