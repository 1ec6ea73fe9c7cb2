/* SPDX-License-Identifier: MIT */
#include "judge/documents.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/document.h"
#include "base/log.h"
#include "judge/view.h"

status_t document_file_parse(const char *option, const char *text, void *field)
{
  struct document_files *files = field;
  if (files->n == DOCUMENT_FILES_MAX)
    return log_fail(STATUS_USAGE, "%s: at most %d files", option, DOCUMENT_FILES_MAX);
  files->name[files->n++] = text;
  return STATUS_OK;
}

/* Reads the next JSON value of a file: a document, or a line of a study, which holds a document and
 * its name. Sets \a document to NULL at the end of the file. */
static status_t document_next(FILE *file, const char *path, json_t **document)
{
  json_error_t error;
  int c;
  do c = fgetc(file);
  while (c == ' ' || (c >= '\t' && c <= '\r'));
  *document = NULL;
  if (c == EOF)
    return ferror(file) ? log_fail(STATUS_ENVIRONMENT, "%s: %s", path, strerror(errno)) : STATUS_OK;
  ungetc(c, file);
  *document = json_loadf(file, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
  return *document ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "%s: %s", path, error.text);
}

static int documents_is_known(const json_t *document)
{
  static const char *const programs[] = {"himeno-gpu", "gemm-gpu", "comm-gpu"};
  const char *schema = view_text(document, "schema");
  for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
    const size_t n = strlen(programs[p]);
    if (strncmp(schema, programs[p], n) == 0 && schema[n] == '/') return 1;
  }
  return 0;
}

static status_t one_visit(json_t *one, const char *path, int *visited, document_visit visit, void *context)
{
  char name[400];
  json_t *document = json_object_get(one, "document");
  snprintf(name, sizeof name, "%s%s%s", path, document ? " " : "", document ? view_text(one, "name") : "");
  if (!documents_is_known(document ? document : one)) return STATUS_OK;
  *visited = 1;
  document_rows_unpack(document ? document : one);
  return visit(document ? document : one, name, context);
}

static int documents_continues(status_t status)
{
  return status == STATUS_OK || status == STATUS_SLOW || status == STATUS_NOISY;
}

static status_t file_visit(FILE *file, const char *path, document_visit visit, void *context)
{
  status_t all = STATUS_OK;
  for (int visited = 0;;) {
    json_t *one;
    RETURN_IF_FAILED(document_next(file, path, &one));
    if (!one && !visited)
      return log_fail(STATUS_ENVIRONMENT, "%s: it has no document of himeno-gpu, gemm-gpu or comm-gpu", path);
    if (!one) return all;
    const status_t status = one_visit(one, path, &visited, visit, context);
    json_decref(one);
    all = status_worst(all, status);
    if (!documents_continues(status)) return all;
  }
}

status_t documents_visit(const struct document_files *files, document_visit visit, void *context)
{
  status_t all = STATUS_OK;
  for (int f = 0; f < files->n && documents_continues(all); f++) {
    FILE *file = file_open_regular(files->name[f]);
    if (!file) return log_fail(STATUS_ENVIRONMENT, "%s: %s", files->name[f], strerror(errno));
    all = status_worst(all, file_visit(file, files->name[f], visit, context));
    fclose(file);
  }
  return all;
}
