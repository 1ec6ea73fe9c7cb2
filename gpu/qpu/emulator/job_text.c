/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/job_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

status_t qpu_buffer_sizes(const char *list, struct qpu_setting *setting)
{
  for (const char *p = list; p && *p; setting->n_buffers++) {
    char *end;
    unsigned long long bytes = strtoull(p, &end, 0);
    if (end == p || (*end != ',' && *end != '\0') || bytes == 0 || bytes > UINT32_MAX ||
        setting->n_buffers == QPU_MAX_BUFFERS)
      return log_fail(STATUS_USAGE, "--buffers %s: up to %d sizes in bytes, separated by commas", list,
                      QPU_MAX_BUFFERS);
    setting->buffer_bytes[setting->n_buffers] = (size_t)bytes;
    p = *end == ',' ? end + 1 : end;
  }
  return STATUS_OK;
}

status_t qpu_file_item(const struct qpu_setting *setting, const char *option, int usual, const char **list,
                       struct qpu_file_item *item)
{
  const char *text = *list;
  size_t length = strcspn(text, ",");
  const char *equal = isdigit((unsigned char)text[0]) ? memchr(text, '=', length) : NULL;
  long buffer = usual;
  *list = text + length + (text[length] == ',');
  if (equal) {
    char *end;
    buffer = strtol(text, &end, 10);
    if (end != equal) return log_fail(STATUS_USAGE, "%s %.*s: K=FILE is expected", option, (int)length, text);
    length -= (size_t)(equal + 1 - text);
    text = equal + 1;
  }
  if (setting->n_buffers == 0) return log_fail(STATUS_USAGE, "%s needs --buffers", option);
  if (buffer < 0 || buffer >= setting->n_buffers)
    return log_fail(STATUS_USAGE, "%s: there is no buffer %ld", option, buffer);
  if (length == 0 || length >= sizeof item->path)
    return log_fail(STATUS_USAGE, "%s: a file's name is missing or too long", option);
  item->buffer = (int)buffer;
  memcpy(item->path, text, length);
  item->path[length] = '\0';
  return STATUS_OK;
}

static status_t parse_factor(const struct qpu_setting *setting, uint32_t job, const char **text,
                             uint32_t *word)
{
  const char *p = *text;
  char *end;
  if (*p == '%') {
    *word = job;
    *text = p + 1;
    return STATUS_OK;
  }
  if (*p == '@') {
    unsigned long k = strtoul(p + 1, &end, 10);
    if (end == p + 1 || k >= (unsigned long)setting->n_buffers)
      return log_fail(STATUS_USAGE, "--uniforms: there is no buffer '%s'", p);
    *word = setting->buffers[k];
  } else {
    *word = (uint32_t)strtoll(p, &end, 0);
    if (end == p) return log_fail(STATUS_USAGE, "--uniforms: '%s' is no number", p);
  }
  *text = end;
  return STATUS_OK;
}

/* A float, or a sum of products of whole numbers and addresses. */
static status_t parse_uniform(const struct qpu_setting *setting, uint32_t job, const char *text,
                              uint32_t *word)
{
  char *end;
  int hexadecimal = strpbrk(text, "xX@%") != NULL;
  float value = strtof(text, &end);
  if (!hexadecimal && end != text && *end == '\0' && strpbrk(text, ".eEnN")) {
    memcpy(word, &value, sizeof value);
    return STATUS_OK;
  }
  uint32_t sum = 0;
  for (int negative = 0;; negative = *text++ == '-') {
    uint32_t product = 0, factor = 0;
    RETURN_IF_FAILED(parse_factor(setting, job, &text, &product));
    while (*text == '*') {
      text++;
      RETURN_IF_FAILED(parse_factor(setting, job, &text, &factor));
      product *= factor;
    }
    sum += negative ? 0 - product : product;
    if (*text != '+' && *text != '-') break;
  }
  *word = sum;
  return *text == '\0' ? STATUS_OK : log_fail(STATUS_USAGE, "--uniforms: '%s' is not understood", text);
}

/* The uniforms of one job. */
static status_t write_list(const struct qpu_setting *setting, uint32_t job, const char *list, uint32_t *words)
{
  char item[128];
  int n = 0;
  for (const char *p = list; *p; n++) {
    size_t length = strcspn(p, ",");
    const char *begin = p;
    p += length + (p[length] == ',');
    while (length > 0 && isspace((unsigned char)*begin)) begin++, length--;
    while (length > 0 && isspace((unsigned char)begin[length - 1])) length--;
    if (n == QPU_MAX_UNIFORMS || length >= sizeof item)
      return log_fail(STATUS_USAGE, "--uniforms: the list is too long");
    memcpy(item, begin, length);
    item[length] = '\0';
    RETURN_IF_FAILED(parse_uniform(setting, job, item, &words[n]));
  }
  return STATUS_OK;
}

status_t qpu_write_uniforms(const char *list, const struct qpu_setting *setting, struct qpu_job *jobs)
{
  const size_t bytes = QPU_MAX_UNIFORMS * 4;
  uint32_t uniforms;
  RETURN_IF_FAILED(qpu_memory_alloc(setting->memory, setting->n_jobs * bytes, &uniforms));
  for (uint32_t i = 0; i < setting->n_jobs; i++, uniforms += (uint32_t)bytes) {
    jobs[i] = (struct qpu_job){setting->code, uniforms};
    RETURN_IF_FAILED(write_list(setting, i, list ? list : "", qpu_memory_at(setting->memory, uniforms)));
  }
  return STATUS_OK;
}

static int find(const char *const *names, int n, const char *text, size_t length)
{
  for (int i = 0; i < n; i++)
    if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0) return i;
  return -1;
}

status_t qpu_parse_rules(const char *list, struct qpu_emu_config *config)
{
  static const char *const policies[] = {[QPU_FAULT] = "fault", [QPU_WARN] = "warn", [QPU_IGNORE] = "ignore"};
  for (const char *p = list; p && *p;) {
    size_t length = strcspn(p, ","), name = strcspn(p, ",=");
    const char *value = name < length ? p + name + 1 : p;
    int policy = find(policies, 3, value, (size_t)(p + length - value));
    int kind = name < length ? find(qpu_rule_names, QPU_N_RULES, p, name) : QPU_N_RULES;
    if (policy < 0 || kind < 0)
      return log_fail(STATUS_USAGE, "--hazards %.*s: KIND=fault, warn or ignore, with a kind of --help",
                      (int)length, p);
    if (kind == QPU_N_RULES)
      qpu_emu_set_rules(config, (enum qpu_policy)policy);
    else
      config->rules[kind] = (uint8_t)policy;
    p += length + (p[length] == ',');
  }
  return STATUS_OK;
}
