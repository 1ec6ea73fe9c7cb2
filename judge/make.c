/* SPDX-License-Identifier: MIT */
#include "judge/documents.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "base/log.h"
#include "base/stats.h"
#include "judge/policy.h"
#include "judge/view.h"

#define DEVICES_MAX 65536
#define SIGMAS      5.0
#define LEAST_RATE  0.03 /* minimum distance of a limit from the median rate, relative */
#define LEAST_PATH  0.5
#define SAME_WORK   0.02
#define NOISE       0.02

/* Values of a device, and of the exchanges between two devices. */
enum of { GFLOPS, CEILING_SHARE, THEORY_SHARE, LATENCY, RATE, GEN, WIDTH, LINKS, ECC, SERIES };

/* Location of a value in a rank's row. */
static const char *const paths[SERIES] = {
    [CEILING_SHARE] = "ceiling_share",         [THEORY_SHARE] = "theory.share",
    [GEN] = "telemetry.link.pcie_gen",         [WIDTH] = "telemetry.link.pcie_width",
    [LINKS] = "telemetry.link.nvlinks_active", [ECC] = "telemetry.ecc.on"};

/* All values of a kind, such as the devices' rates; lacking: 1 if a device or pair has no value. */
struct make_series {
  double *values;
  int n, lacking;
};

struct good {
  struct make_series of[SERIES];
  char device[128], kernel[64], used[16], uuids[DEVICES_MAX][96];
  int devices, paths_differ;
  double points; /* points per rank */
};

static status_t make_unfit(const char *where, const char *why)
{
  return log_fail(STATUS_USAGE, "--make-policy %s: %s", where, why);
}

static status_t make_add(struct make_series *s, double value)
{
  if (!isfinite(value)) {
    s->lacking = 1;
    return STATUS_OK;
  }
  return stats_add(&s->values, &s->n, value);
}

/* Checks that the document has the kernel and, within 2%, the points per rank of the first one. */
static status_t make_same_work(const json_t *document, const char *where, struct good *good)
{
  const json_t *config = json_object_get(document, "config"), *ranks = json_object_get(document, "ranks");
  const char *device = view_text(ranks, "0.device"), *kernel = view_text(config, "kernel");
  const double points = (view_number(config, "imax") - 2) * (view_number(config, "jmax") - 2) *
                        (view_number(config, "kmax") - 2) / (double)json_array_size(ranks);
  if (good->devices == 0) {
    snprintf(good->device, sizeof good->device, "%s", device);
    snprintf(good->kernel, sizeof good->kernel, "%s", kernel);
    good->points = points;
  }
  if (!*device || !*kernel || !(points > 0)) return make_unfit(where, "its config or ranks are damaged");
  if (strcmp(kernel, good->kernel) != 0) return make_unfit(where, "it is of another kernel than the first");
  if (!(fabs(points / good->points - 1) <= SAME_WORK))
    return make_unfit(where, "its devices had more or less to do than the first's");
  return STATUS_OK;
}

static int make_is_known(const struct good *good, const char *uuid)
{
  for (int d = 0; d < good->devices; d++)
    if (strcmp(good->uuids[d], uuid) == 0) return 1;
  return 0;
}

static status_t device_add(const json_t *rank, const char *where, struct good *good)
{
  const double gflops = view_number(rank, "compute_gflops");
  char uuid[96];
  snprintf(uuid, sizeof uuid, "%s %s", view_text(rank, "uuid"),
           *view_text(rank, "uuid") ? "" : view_text(rank, "host"));
  if (strcmp(view_text(rank, "device"), good->device) != 0)
    return make_unfit(where, "it has another device than the first");
  if (json_is_true(json_object_get(rank, "device_shared")))
    return make_unfit(where, "its ranks share devices");
  if (make_is_known(good, uuid)) return STATUS_OK;
  if (good->devices == DEVICES_MAX) return make_unfit(where, "too many devices");
  strcpy(good->uuids[good->devices++], uuid);
  RETURN_IF_FAILED(make_add(&good->of[GFLOPS], isnan(gflops) ? view_number(rank, "gflops") : gflops));
  for (int of = CEILING_SHARE; of <= ECC; of++)
    if (paths[of]) RETURN_IF_FAILED(make_add(&good->of[of], view_number(rank, paths[of])));
  return STATUS_OK;
}

/* Adds latency and rate of a path. The policy limits them only if all paths have the same
 * transport, because no single limit fits several transports. */
static status_t path_add(const json_t *path, size_t n, void *context)
{
  struct good *good = context;
  if (!good->used[0]) snprintf(good->used, sizeof good->used, "%s", view_text(path, "used"));
  good->paths_differ |= strcmp(good->used, view_text(path, "used")) != 0;
  RETURN_IF_FAILED(make_add(&good->of[LATENCY], 1e6 * view_path_number(path, "latency", n)));
  return make_add(&good->of[RATE], view_path_number(path, "gbps", n));
}

static status_t document_add(json_t *document, const char *where, void *context)
{
  struct good *good = context;
  json_t *ranks = json_object_get(document, "ranks"), *one;
  const char *verified = view_text(document, "result.verified");
  size_t n;
  if (strcmp(view_text(document, "schema"), "himeno-gpu/2") != 0)
    return make_unfit(where, "not a result of himeno-gpu (schema himeno-gpu/2)");
  if (strcmp(view_text(document, "result.verdict"), "pass") != 0)
    return make_unfit(where, "that run did not pass");
  if (strcmp(verified, "no") == 0 || strcmp(verified, "rehearsal") == 0)
    return make_unfit(where, "that run was not verified");
  RETURN_IF_FAILED(make_same_work(document, where, good));
  json_array_foreach(ranks, n, one) RETURN_IF_FAILED(device_add(one, where, good));
  return view_paths_visit(document, path_add, good);
}

/* Rounds to six significant digits, towards the more tolerant limit. */
static double digits(double value, int up)
{
  const double unit = pow(10, floor(log10(fabs(value))) - 5);
  return value == 0 ? 0 : (up ? ceil(value / unit) : floor(value / unit)) * unit;
}

static void make_put(json_t *policy, const char *key, json_t *value, const char *from)
{
  json_object_set_new(policy, key, value);
  json_object_set_new(json_object_get(policy, "from"), key, document_text(from));
}

/* Returns the summary of a series, or of no values if a device or pair lacks one. */
static struct stats_summary make_summary(const struct make_series *s)
{
  return stats_summarise(s->values, s->lacking ? 0 : (size_t)s->n);
}

/* Writes a limit: the median minus (or plus if \a at_most) five spreads. The limit differs from the
 * median by at least \a least times the median. */
static void put_typical(json_t *policy, const char *key, const struct make_series *s, const char *of,
                        double least, int at_most)
{
  char from[POLICY_FROM_MAX];
  const struct stats_summary u = make_summary(s);
  const double spread = STATS_MAD_SIGMAS * u.mad, margin = fmax(SIGMAS * spread, least * u.median);
  if (!(u.median > 0)) return;
  snprintf(from, sizeof from, "%d %s: median %.6g, spread %.2g, %s 5 spreads, at least %g%%", s->n, of,
           u.median, spread, at_most ? "and" : "less", 100 * least);
  make_put(policy, key, json_real(digits(at_most ? u.median + margin : fmax(0, u.median - margin), at_most)),
           from);
}

/* Writes the smallest value as a limit. If \a flag, writes true if that value is 1. */
static void put_least(json_t *policy, const char *key, const struct make_series *s, const char *of, int flag)
{
  char from[POLICY_FROM_MAX];
  const struct stats_summary u = make_summary(s);
  if (!(u.min > 0)) return;
  snprintf(from, sizeof from, "the least of %d %s", s->n, of);
  make_put(policy, key, flag ? json_true() : json_integer((json_int_t)u.min), from);
}

static void put_spread(json_t *policy, const struct make_series *s)
{
  char from[POLICY_FROM_MAX];
  const struct stats_summary u = make_summary(s);
  if (!(u.median > 0)) return;
  const double spread = (u.max - u.min) / u.median;
  snprintf(from, sizeof from, "twice that of these %d devices, %.2g, at least %g%%", s->n, spread,
           100 * LEAST_RATE);
  make_put(policy, "device_spread_max", json_real(digits(fmax(2 * spread, LEAST_RATE), 1)), from);
}

static json_t *policy_of(const struct good *g)
{
  static const char *const sound = "what a sound device has";
  char name[POLICY_NAME_MAX], ends[40];
  json_t *p = json_object();
  snprintf(name, sizeof name, "%.50s, %d", g->device, g->devices);
  snprintf(ends, sizeof ends, "path ends by %s", g->used);
  json_object_set_new(p, "name", document_text(name));
  json_object_set_new(p, "from", json_object());
  put_typical(p, "device_gflops_min", &g->of[GFLOPS], "devices", LEAST_RATE, 0);
  put_typical(p, "ceiling_share_min", &g->of[CEILING_SHARE], "devices", LEAST_RATE, 0);
  put_typical(p, "theory_share_min", &g->of[THEORY_SHARE], "devices", LEAST_RATE, 0);
  put_spread(p, &g->of[GFLOPS]);
  make_put(p, "device_noise_max", json_real(NOISE), "chosen: 2%, below what a device may lack");
  if (!g->paths_differ) {
    put_typical(p, "exchange_us_max", &g->of[LATENCY], ends, LEAST_PATH, 1);
    put_typical(p, "exchange_gbps_min", &g->of[RATE], ends, LEAST_PATH, 0);
  }
  put_least(p, "pcie_gen_min", &g->of[GEN], "devices", 0);
  put_least(p, "pcie_width_min", &g->of[WIDTH], "devices", 0);
  put_least(p, "nvlinks_min", &g->of[LINKS], "devices", 0);
  put_least(p, "ecc", &g->of[ECC], "devices", 1);
  make_put(p, "ecc_uncorrected_max", json_integer(0), sound);
  make_put(p, "devices_unshared", json_true(), sound);
  make_put(p, "stragglers_max", json_integer(0), sound);
  make_put(p, "episodes_max", json_integer(0), sound);
  make_put(p, "counted_max", json_integer(0), sound);
  make_put(p, "nvlink_crc_rate_max", json_real(POLICY_NVLINK_CRC_RATE_MAX), POLICY_NVLINK_CRC_RATE_FROM);
  make_put(p, "throttled_max", json_integer(0), sound);
  json_object_set_new(p, "throttle_forbidden",
                      json_pack("[s, s, s, s]", "hardware", "thermal", "hardware_thermal", "power_brake"));
  return p;
}

/* Prints the policy if it parses as a valid one. */
static status_t policy_print(const struct good *good, FILE *out)
{
  struct policy read;
  json_t *policy = policy_of(good);
  char *text = policy ? json_dumps(policy, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
  status_t status =
      text ? STATUS_OK
           : log_fail(STATUS_ENVIRONMENT,
                      "--make-policy: out of host memory, or a name in a document is not valid UTF-8");
  if (text) status = policy_parse(text, strlen(text), "what --make-policy writes", &read);
  if (text && status == STATUS_OK) fprintf(out, "%s\n", text);
  free(text);
  json_decref(policy);
  return status;
}

status_t make_policy(const struct document_files *files, FILE *out)
{
  static struct good good; /* for one call per process */
  status_t status = documents_visit(files, document_add, &good);
  if (status == STATUS_OK && good.devices < MAKE_DEVICES_MIN)
    status = log_fail(STATUS_USAGE, "--make-policy: %d device%s in all, but a spread needs at least %d",
                      good.devices, good.devices == 1 ? "" : "s", MAKE_DEVICES_MIN);
  if (status == STATUS_OK) status = policy_print(&good, out);
  for (int s = 0; s < SERIES; s++) free(good.of[s].values);
  return status;
}
