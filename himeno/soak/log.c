/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/soak/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/report.h"

static status_t failed(const char *path)
{
  return log_fail(STATUS_ENVIRONMENT, "--soak-log %s: %s", path, strerror(errno));
}

/* Whether the file ends in the middle of a line. */
static int is_torn(FILE *log)
{
  return fseek(log, -1, SEEK_END) == 0 && fgetc(log) != '\n';
}

status_t soak_log_open(const char *path, FILE **log)
{
  int has_lines = file_is_replaced(path);
  FILE *file = file_open_append(path);
  if (!file) return failed(path);
  if (has_lines && is_torn(file) && (fseek(file, 0, SEEK_END) != 0 || fputc('\n', file) == EOF)) {
    fclose(file);
    return failed(path);
  }
  *log = file;
  return STATUS_OK;
}

status_t soak_log_add(FILE *log, json_t *line, const char *path)
{
  int bad = report_json_lost() || json_dumpf(line, log, JSON_COMPACT) != 0 || fputc('\n', log) == EOF ||
            fflush(log) != 0;
  json_decref(line);
  if (bad) return failed(path);
  /* A pipe or a terminal cannot be synchronised, and need not be. */
  return fsync(fileno(log)) == 0 || errno == EINVAL || errno == EROFS ? STATUS_OK : failed(path);
}
