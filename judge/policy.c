/* SPDX-License-Identifier: MIT */
#include "judge/policy.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"

#define FILE_BYTES_MAX (1 << 16)

const struct policy_reason policy_reasons[POLICY_REASONS] = {{"application_clocks", "application clocks"},
                                                             {"power_cap", "power cap"},
                                                             {"hardware", "hardware slowdown"},
                                                             {"sync_boost", "sync boost"},
                                                             {"thermal", "thermal"},
                                                             {"hardware_thermal", "hardware thermal"},
                                                             {"power_brake", "power brake"}};

/* The built-in policies. Efficiency and spread are from h200-x8-2026-11/accept.txt of doc/results,
 * data of H200 and H100 from doc/devices.json. */
enum { DEFAULT, H100, H200, BUILT_IN };
static const char *const built_in_names[BUILT_IN] = {"default", "h100", "h200"};
static const char sound[] = "every healthy device has this", chosen[] = "chosen by hand: machines differ",
                  forbidden[] = "hardware slowdown, thermal, hardware thermal, power brake",
                  theory[] = "measured: 0.916 to 0.931 on 41 H200, 0.908 to 0.910 on 17 H100";
static const struct {
  const char *key;
  double limit[BUILT_IN];     /* limit; negative: not checked */
  const char *from, *of_gpus; /* from: source; of_gpus: source for h100 and h200, if different */
} built_in[] = {
    {"ceiling_share_min",
     {0.9, 0.9, 0.9},
     "the lowest of eight healthy H200 was 0.94, size L each, transport staged",
     NULL},
    {"theory_share_min",
     {0.75, 0.85, 0.85},
     "lowest of 41 H200 and 17 H100: 0.908; GPUs that keep ECC bits in memory reach less",
     theory},
    {"device_gflops_min",
     {-1, -1, 2400},
     NULL,
     "91% of the median of 37 H200 at L and XL, 2648; their lowest was 2545"},
    {"device_spread_max",
     {0.05, 0.03, 0.03},
     "twice the 0.024 of eight healthy H200",
     "eight healthy H200 had 0.024"},
    {"device_noise_max",
     {0.05, 0.02, 0.02},
     "chosen by hand: the same as device_spread_max, for differences between devices",
     "chosen by hand: below device_spread_max"},
    {"exchange_us_ratio_max", {3, 3, 3}, chosen, NULL},
    {"exchange_gbps_ratio_min", {0.5, 0.5, 0.5}, chosen, NULL},
    {"stragglers_max", {0, 0, 0}, "simulated: fewer than 1 false alarm in 1000 runs", NULL},
    {"episodes_max", {0, 0, 0}, "simulated: fewer than 1 false alarm in 1000 device-hours", NULL},
    {"counted_max",
     {0, 0, 0},
     "chosen by hand: healthy devices, links and cards count none within minutes",
     NULL},
    {"nvlink_crc_rate_max",
     {POLICY_NVLINK_CRC_RATE_MAX, POLICY_NVLINK_CRC_RATE_MAX, POLICY_NVLINK_CRC_RATE_MAX},
     POLICY_NVLINK_CRC_RATE_FROM,
     NULL},
    {"gemm_spread_max", {0.05, 0.05, 0.05}, "chosen by hand: same clocks, same rate", NULL},
    {"gemm_power_limited_spread_max",
     {0.15, 0.15, 0.15},
     "chosen by hand: healthy H100 of one host had up to 0.029",
     NULL},
    {"devices_unshared", {1, 1, 1}, sound, NULL},
    {"ecc", {-1, 1, 1}, NULL, sound},
    {"ecc_uncorrected_max", {0, 0, 0}, sound, NULL},
    {"pcie_full", {1, 1, 1}, sound, NULL},
    {"throttled_max", {0, 0, 0}, sound, NULL},
    {"unknown_fails", {-1, 1, 1}, NULL, "these devices report all of these values"},
};

double policy_limit(const struct policy *policy, const char *key)
{
  return policy->limit[check_kind_find(key)];
}

/* Returns a policy without limits. */
static struct policy policy_empty(const char *name)
{
  struct policy p = {.throttle_forbidden = 0};
  snprintf(p.name, sizeof p.name, "%s", name);
  for (int k = 0; k < CHECK_KINDS; k++) p.limit[k] = -1;
  return p;
}

static void built_in_take(int which, struct policy *policy)
{
  *policy = policy_empty(built_in_names[which]);
  policy->built_in = 1;
  policy->throttle_forbidden = policy_reasons_read(forbidden);
  for (size_t b = 0; b < sizeof built_in / sizeof *built_in; b++) {
    const int k = check_kind_find(built_in[b].key);
    const char *from = which != DEFAULT && built_in[b].of_gpus ? built_in[b].of_gpus : built_in[b].from;
    policy->limit[k] = built_in[b].limit[which];
    if (policy->limit[k] >= 0) snprintf(policy->from[k], sizeof policy->from[k], "%s", from);
  }
}

int policy_reasons_read(const char *text)
{
  int all = 0;
  for (size_t n; *text; text += n, text += strspn(text, ", ")) {
    n = strcspn(text, ",");
    for (int r = 0; r < POLICY_REASONS; r++)
      if (strlen(policy_reasons[r].text) == n && strncmp(text, policy_reasons[r].text, n) == 0) all |= 1 << r;
  }
  return all;
}

const char *policy_reasons_text(int reasons, char *text, size_t size)
{
  size_t used = 0;
  text[0] = 0;
  for (int r = 0; r < POLICY_REASONS && used < size; r++)
    if (reasons >> r & 1)
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", policy_reasons[r].text);
  return text;
}

static const char *allowed(enum check_values values)
{
  static const char *const texts[] = {"a share from 0 to 1", "a number of at least 0",
                                      "a whole number of at least 0", "true or false"};
  return texts[values];
}

/* Sets \a number to a value. Returns whether the value is valid for a key of that type. */
static int policy_number(const json_t *value, enum check_values values, double *number)
{
  *number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
  switch (values) {
  case CHECK_SHARE:
    return json_is_number(value) && *number >= 0 && *number <= 1;
  case CHECK_NUMBER:
    return json_is_number(value) && *number >= 0;
  case CHECK_COUNT:
    return json_is_integer(value) && *number >= 0;
  case CHECK_FLAG:
    return json_is_boolean(value);
  }
  return 0;
}

static status_t reasons_read(const json_t *list, const char *where, int *mask)
{
  size_t index;
  json_t *entry;
  if (!json_is_array(list))
    return log_fail(STATUS_USAGE, "policy %s: throttle_forbidden must be a list of reasons", where);
  json_array_foreach(list, index, entry)
  {
    int bit = 0;
    for (int r = 0; r < POLICY_REASONS && json_is_string(entry); r++)
      if (strcmp(json_string_value(entry), policy_reasons[r].name) == 0) bit = 1 << r;
    if (!bit)
      return log_fail(STATUS_USAGE,
                      "policy %s: throttle_forbidden knows application_clocks, power_cap, hardware, "
                      "sync_boost, thermal, hardware_thermal and power_brake, not entry %zu",
                      where, index + 1);
    *mask |= bit;
  }
  return STATUS_OK;
}

/* Reads a text that the report prints: it must not contain line breaks or control characters. */
static status_t text_read(const char *key, const json_t *value, const char *where, size_t capacity, char *to)
{
  const char *text = json_string_value(value);
  int plain = text && *text && strlen(text) < capacity;
  for (const char *c = text; plain && *c; c++) plain = !iscntrl((unsigned char)*c);
  if (!plain)
    return log_fail(STATUS_USAGE,
                    "policy %s: %s must be a string of 1 to %zu bytes without control characters", where, key,
                    capacity - 1);
  strcpy(to, text);
  return STATUS_OK;
}

static status_t from_read(const json_t *object, const char *where, struct policy *policy)
{
  const char *key;
  json_t *value;
  if (!json_is_object(object))
    return log_fail(STATUS_USAGE, "policy %s: \"from\" must be an object whose values are strings", where);
  json_object_foreach((json_t *)object, key, value)
  {
    char what[80];
    const int k = check_kind_find(key);
    snprintf(what, sizeof what, "from.%.60s", key);
    if (k == CHECK_KINDS) return log_fail(STATUS_USAGE, "policy %s: %s: there is no such limit", where, what);
    RETURN_IF_FAILED(text_read(what, value, where, POLICY_FROM_MAX, policy->from[k]));
  }
  return STATUS_OK;
}

static status_t key_read(const char *key, const json_t *value, const char *where, struct policy *policy)
{
  if (strcmp(key, "name") == 0) return text_read(key, value, where, POLICY_NAME_MAX, policy->name);
  if (strcmp(key, "from") == 0) return from_read(value, where, policy);
  if (strcmp(key, "throttle_forbidden") == 0) return reasons_read(value, where, &policy->throttle_forbidden);
  const int k = check_kind_find(key);
  double number;
  if (k == CHECK_KINDS)
    return log_fail(STATUS_USAGE, "policy %s: there is no key \"%.60s\"; doc/reference/policy.md lists them",
                    where, key);
  const enum check_values values = check_kinds[k].values;
  if (!policy_number(value, values, &number))
    return log_fail(STATUS_USAGE, "policy %s: %s must be %s", where, key, allowed(values));
  policy->limit[k] = values == CHECK_FLAG && number == 0 ? -1 : number; /* false: not checked */
  return STATUS_OK;
}

/* Returns whether the policy has no limit of any check. */
static int is_empty(const struct policy *policy)
{
  for (int k = 0; k < CHECK_KINDS; k++)
    if (policy->limit[k] >= 0 && check_kinds[k].name) return 0;
  return 1;
}

/* Refuses a policy that checks nothing, or that has only one of two keys that need each other. */
static status_t policy_whole(const struct policy *policy, const char *where)
{
  if ((policy_limit(policy, "throttled_max") >= 0) != (policy->throttle_forbidden != 0))
    return log_fail(STATUS_USAGE,
                    "policy %s: throttled_max and throttle_forbidden mean nothing without each other", where);
  if (is_empty(policy))
    return log_fail(STATUS_USAGE, "policy %s: names nothing to check, so that all would be accepted", where);
  return STATUS_OK;
}

status_t policy_parse(const char *text, size_t bytes, const char *where, struct policy *policy)
{
  struct policy p = policy_empty("unnamed");
  json_error_t error;
  const char *key;
  json_t *value, *document = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
  status_t status = STATUS_OK;

  if (!document) return log_fail(STATUS_USAGE, "policy %s: line %d: %s", where, error.line, error.text);
  if (!json_is_object(document))
    status = log_fail(STATUS_USAGE, "policy %s: a policy is one JSON object", where);
  json_object_foreach(document, key, value)
  {
    if (status == STATUS_OK) status = key_read(key, value, where, &p);
  }
  json_decref(document);
  if (status == STATUS_OK) status = policy_whole(&p, where);
  if (status == STATUS_OK) *policy = p;
  return status;
}

status_t policy_read(const char *name, struct policy *policy)
{
  size_t bytes;
  for (int b = 0; b < BUILT_IN; b++)
    if (strcmp(name, built_in_names[b]) == 0) {
      built_in_take(b, policy);
      return STATUS_OK;
    }
  char *text = file_read(name, FILE_BYTES_MAX, &bytes);
  if (!text && (errno == EINVAL || errno == EFBIG))
    return log_fail(STATUS_USAGE, "policy %s: must be a plain file of at most %d bytes", name,
                    FILE_BYTES_MAX);
  if (!text)
    return log_fail(STATUS_ENVIRONMENT,
                    "policy %s: %s, and no built-in policy (default, h100, h200) has this name", name,
                    strerror(errno));
  status_t status = policy_parse(text, bytes, name, policy);
  free(text);
  return status;
}
