/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/predict/seal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/report.h"

static status_t hash_make(json_t *document, char hash[SHA256_TEXT])
{
  json_t *rest = json_copy(document);
  json_object_del(rest, "seal");
  char *text = rest ? json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(15)) : NULL;
  json_decref(rest);
  if (!text) return log_fail(STATUS_ENVIRONMENT, "out of memory for a seal");
  sha256_hex(text, strlen(text), hash);
  free(text);
  return STATUS_OK;
}

status_t seal_set(json_t *document, char hash[SHA256_TEXT])
{
  RETURN_IF_FAILED(hash_make(document, hash));
  json_t *seal = json_pack("{s:s, s:s}", "algorithm", "sha256", "hash", hash);
  if (json_object_set_new(document, "seal", seal) != 0)
    return log_fail(STATUS_ENVIRONMENT, "out of memory for a seal");
  return STATUS_OK;
}

static status_t seal_check(json_t *document, const char *path, const char *expected, char hash[SHA256_TEXT])
{
  const char *carried = json_string_value(json_object_get(json_object_get(document, "seal"), "hash"));
  if (!carried) return log_fail(STATUS_USAGE, "%s: has no seal; himeno-predict --seal makes one", path);
  RETURN_IF_FAILED(hash_make(document, hash));
  if (strcmp(hash, carried) != 0)
    return log_fail(STATUS_WRONG, "%s: the seal is broken: it carries %s, and the content has %s", path,
                    carried, hash);
  if (expected && strcasecmp(expected, hash) != 0)
    return log_fail(STATUS_WRONG, "%s: sealed anew: its hash is %s, and %s was noted", path, hash, expected);
  return STATUS_OK;
}

status_t seal_open(const char *path, const char *expected, json_t **document, char hash[SHA256_TEXT])
{
  json_t *read;
  RETURN_IF_FAILED(report_json_read(path, &read));
  status_t status = seal_check(read, path, expected, hash);
  if (status == STATUS_OK)
    *document = read;
  else
    json_decref(read);
  return status;
}
