/* SPDX-License-Identifier: MIT */
#include "himeno/accept/make.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/report.h"
#include "base/stats.h"
#include "himeno/accept/policy.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)
#define DEVICES_MAX    65536
#define SIGMAS         5.0
#define LEAST_RATE     0.03 /* of the median, that a rate may always lack */
#define LEAST_WAY      0.5
#define SAME_WORK      0.02
#define NOISE          0.02

/* What is taken of each device, and of the ways between them. */
enum of { GFLOPS, CEILING_SHARE, THEORY_SHARE, LATENCY, RATE, GEN, WIDTH, LINKS, ECC, SERIES };

/* Values of a kind; lacking: some device or way has none. */
struct series {
  double *values;
  int n, lacking;
};

struct good {
  struct series of[SERIES];
  char device[128], kernel[64], way[16], (*uuids)[96];
  int devices, ways_differ;
  double points; /* of a rank */
};

status_t make_file_parse(const char *option, const char *text, void *field)
{
  struct make_files *files = field;
  if (files->n == MAKE_FILES_MAX)
    return log_fail(STATUS_USAGE, "%s: at most %d files", option, MAKE_FILES_MAX);
  files->name[files->n++] = text;
  return STATUS_OK;
}

static status_t unfit(const char *where, const char *why)
{
  return log_fail(STATUS_USAGE, "--accept-make %s: %s", where, why);
}

/* ---- reading ---- */

static const char *text_of(const json_t *object, const char *key)
{
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
  const json_t *value = json_object_get(object, key);
  return json_is_boolean(value)  ? json_is_true(value)
         : json_is_number(value) ? json_number_value(value)
                                 : NAN;
}

static status_t add(struct series *s, double value)
{
  if (!isfinite(value)) {
    s->lacking = 1;
    return STATUS_OK;
  }
  return stats_add(&s->values, &s->n, value);
}

/* What all must have in common; the first one settles it. */
static status_t alike(const json_t *document, const char *where, struct good *good)
{
  const json_t *config = json_object_get(document, "config"), *ranks = json_object_get(document, "ranks");
  const char *device = text_of(json_array_get(ranks, 0), "device"), *kernel = text_of(config, "kernel");
  const double points = (number_of(config, "imax") - 2) * (number_of(config, "jmax") - 2) *
                        (number_of(config, "kmax") - 2) / (double)json_array_size(ranks);
  if (good->devices == 0) {
    snprintf(good->device, sizeof good->device, "%s", device);
    snprintf(good->kernel, sizeof good->kernel, "%s", kernel);
    good->points = points;
  }
  if (!*device || !*kernel || !(points > 0)) return unfit(where, "its config or ranks are damaged");
  if (strcmp(kernel, good->kernel) != 0) return unfit(where, "it is of another kernel than the first");
  if (!(fabs(points / good->points - 1) <= SAME_WORK))
    return unfit(where, "its devices had more or less to do than the first's");
  return STATUS_OK;
}

static int is_known(const struct good *good, const char *uuid)
{
  for (int d = 0; d < good->devices; d++)
    if (strcmp(good->uuids[d], uuid) == 0) return 1;
  return 0;
}

static status_t device_add(const json_t *rank, const char *where, struct good *good)
{
  const json_t *telemetry = json_object_get(rank, "telemetry"), *link = json_object_get(telemetry, "link");
  char uuid[96];
  snprintf(uuid, sizeof uuid, "%s %s", text_of(rank, "uuid"),
           *text_of(rank, "uuid") ? "" : text_of(rank, "host"));
  if (strcmp(text_of(rank, "device"), good->device) != 0)
    return unfit(where, "it has another device than the first");
  if (json_is_true(json_object_get(rank, "device_shared"))) return unfit(where, "its ranks share devices");
  if (is_known(good, uuid)) return STATUS_OK;
  if (good->devices == DEVICES_MAX) return unfit(where, "too many devices");
  strcpy(good->uuids[good->devices++], uuid);
  RETURN_IF_FAILED(add(&good->of[GFLOPS], number_of(rank, "gflops")));
  RETURN_IF_FAILED(add(&good->of[CEILING_SHARE], number_of(rank, "ceiling_share")));
  RETURN_IF_FAILED(add(&good->of[THEORY_SHARE], number_of(json_object_get(rank, "theory"), "share")));
  RETURN_IF_FAILED(add(&good->of[GEN], number_of(link, "pcie_gen")));
  RETURN_IF_FAILED(add(&good->of[WIDTH], number_of(link, "pcie_width")));
  RETURN_IF_FAILED(add(&good->of[LINKS], number_of(link, "nvlinks_active")));
  return add(&good->of[ECC], number_of(json_object_get(telemetry, "ecc"), "on"));
}

/* Of several transports no one limit can be made. */
static status_t way_add(const json_t *path, struct good *good)
{
  if (!good->way[0]) snprintf(good->way, sizeof good->way, "%s", text_of(path, "used"));
  good->ways_differ |= strcmp(good->way, text_of(path, "used")) != 0;
  RETURN_IF_FAILED(add(&good->of[LATENCY], 1e6 * number_of(path, "latency")));
  return add(&good->of[RATE], number_of(path, "gbps"));
}

static status_t document_add(const json_t *document, const char *where, struct good *good)
{
  const json_t *result = json_object_get(document, "result");
  json_t *ranks = json_object_get(document, "ranks"), *paths = json_object_get(document, "paths"), *one;
  const char *verified = text_of(result, "verified");
  size_t n;
  if (strcmp(text_of(document, "schema"), "himeno-gpu/2") != 0)
    return unfit(where, "not a result of himeno-gpu (schema himeno-gpu/2)");
  if (strcmp(text_of(result, "verdict"), "pass") != 0) return unfit(where, "that run did not pass");
  if (strcmp(verified, "no") == 0 || strcmp(verified, "rehearsal") == 0)
    return unfit(where, "that run was not verified");
  RETURN_IF_FAILED(alike(document, where, good));
  json_array_foreach(ranks, n, one) RETURN_IF_FAILED(device_add(one, where, good));
  json_array_foreach(paths, n, one) RETURN_IF_FAILED(way_add(one, good));
  return STATUS_OK;
}

static status_t file_add(const char *name, struct good *good)
{
  size_t bytes;
  json_error_t error;
  char *text = file_read(name, FILE_BYTES_MAX, &bytes);
  if (!text) return log_fail(STATUS_ENVIRONMENT, "--accept-make %s: %s", name, strerror(errno));
  json_t *document = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
  free(text);
  if (!document) return log_fail(STATUS_USAGE, "--accept-make %s: line %d: %s", name, error.line, error.text);
  status_t status = document_add(document, name, good);
  json_decref(document);
  return status;
}

/* ---- limits ---- */

/* Cut to six digits on the side that lets more pass. */
static double digits(double value, int up)
{
  const double unit = pow(10, floor(log10(fabs(value))) - 5);
  return value == 0 ? 0 : (up ? ceil(value / unit) : floor(value / unit)) * unit;
}

static void put(json_t *policy, const char *key, json_t *value, const char *from)
{
  json_object_set_new(policy, key, value);
  json_object_set_new(json_object_get(policy, "from"), key, report_json_text(from));
}

/* The median, less or more five spreads, and a least share of it. */
static void put_usual(json_t *policy, const char *key, const struct series *s, const char *of, double least,
                      int at_most)
{
  char from[POLICY_FROM_MAX];
  if (s->n == 0 || s->lacking) return;
  const struct stats_summary u = stats_summarise(s->values, (size_t)s->n);
  const double spread = STATS_MAD_SIGMAS * u.mad, room = fmax(SIGMAS * spread, least * u.median);
  if (!(u.median > 0)) return;
  snprintf(from, sizeof from, "%d %s: median %.6g, spread %.2g, %s 5 spreads, at least %g%%", s->n, of,
           u.median, spread, at_most ? "and" : "less", 100 * least);
  put(policy, key, json_real(digits(at_most ? u.median + room : fmax(0, u.median - room), at_most)), from);
}

/* What all have in common, or the least of. */
static void put_least(json_t *policy, const char *key, const struct series *s, const char *of, int flag)
{
  char from[POLICY_FROM_MAX];
  if (s->n == 0 || s->lacking) return;
  const struct stats_summary u = stats_summarise(s->values, (size_t)s->n);
  if (!(u.min > 0)) return;
  snprintf(from, sizeof from, "the least of %d %s", s->n, of);
  put(policy, key, flag ? json_true() : json_integer((json_int_t)u.min), from);
}

static void put_spread(json_t *policy, const struct series *s)
{
  char from[POLICY_FROM_MAX];
  const struct stats_summary u = stats_summarise(s->values, (size_t)s->n);
  if (s->n == 0 || s->lacking || !(u.median > 0)) return;
  const double spread = (u.max - u.min) / u.median;
  snprintf(from, sizeof from, "twice that of these %d devices, %.2g, at least %g%%", s->n, spread,
           100 * LEAST_RATE);
  put(policy, "device_spread_max", json_real(digits(fmax(2 * spread, LEAST_RATE), 1)), from);
}

static json_t *policy_of(const struct good *g)
{
  static const char *const sound = "what a sound device has";
  char name[POLICY_NAME_MAX], ways[40];
  json_t *p = json_object();
  snprintf(name, sizeof name, "%.50s, %d", g->device, g->devices);
  snprintf(ways, sizeof ways, "ends of ways by %s", g->way);
  json_object_set_new(p, "name", report_json_text(name));
  json_object_set_new(p, "from", json_object());
  put_usual(p, "device_gflops_min", &g->of[GFLOPS], "devices", LEAST_RATE, 0);
  put_usual(p, "ceiling_share_min", &g->of[CEILING_SHARE], "devices", LEAST_RATE, 0);
  put_usual(p, "theory_share_min", &g->of[THEORY_SHARE], "devices", LEAST_RATE, 0);
  put_spread(p, &g->of[GFLOPS]);
  put(p, "device_noise_max", json_real(NOISE), "chosen: 2%, below what a device may lack");
  if (!g->ways_differ) {
    put_usual(p, "exchange_us_max", &g->of[LATENCY], ways, LEAST_WAY, 1);
    put_usual(p, "exchange_gbps_min", &g->of[RATE], ways, LEAST_WAY, 0);
  }
  put_least(p, "pcie_gen_min", &g->of[GEN], "devices", 0);
  put_least(p, "pcie_width_min", &g->of[WIDTH], "devices", 0);
  put_least(p, "nvlinks_min", &g->of[LINKS], "devices", 0);
  put_least(p, "ecc", &g->of[ECC], "devices", 1);
  put(p, "ecc_uncorrected_max", json_integer(0), sound);
  put(p, "devices_unshared", json_true(), sound);
  put(p, "stragglers_max", json_integer(0), sound);
  put(p, "episodes_max", json_integer(0), sound);
  put(p, "counted_max", json_integer(0), sound);
  put(p, "nvlink_crc_rate_max", json_real(ACCEPT_NVLINK_CRC_RATE_MAX), ACCEPT_NVLINK_CRC_RATE_FROM);
  put(p, "throttled_max", json_integer(0), sound);
  json_object_set_new(p, "throttle_forbidden",
                      json_pack("[s, s, s, s]", "hardware", "thermal", "hardware_thermal", "power_brake"));
  return p;
}

/* It must be one, whatever was in the documents. */
static status_t policy_print(const struct good *good, FILE *out)
{
  struct accept_policy read;
  json_t *policy = policy_of(good);
  char *text = policy ? json_dumps(policy, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
  status_t status =
      text ? STATUS_OK
           : log_fail(STATUS_ENVIRONMENT, "--accept-make: out of memory, or names that are no text");
  if (text) status = policy_parse(text, strlen(text), "what --accept-make writes", &read);
  if (text && status == STATUS_OK) fprintf(out, "%s\n", text);
  free(text);
  json_decref(policy);
  return status;
}

status_t accept_make(const struct make_files *files, FILE *out)
{
  struct good good = {.uuids = malloc(DEVICES_MAX * sizeof *good.uuids)};
  status_t status =
      good.uuids ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "--accept-make: out of host memory for devices");
  for (int f = 0; f < files->n && status == STATUS_OK; f++) status = file_add(files->name[f], &good);
  if (status == STATUS_OK && good.devices < MAKE_DEVICES_MIN)
    status = log_fail(STATUS_USAGE, "--accept-make: %d device%s in all, and a spread needs %d", good.devices,
                      good.devices == 1 ? "" : "s", MAKE_DEVICES_MIN);
  if (status == STATUS_OK) status = policy_print(&good, out);
  for (int s = 0; s < SERIES; s++) free(good.of[s].values);
  free(good.uuids);
  return status;
}
