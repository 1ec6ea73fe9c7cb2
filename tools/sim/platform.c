/* SPDX-License-Identifier: MIT */
/* Platform files for SimGrid: hosts of GPUs, and a fat tree or a dragonfly between them. A GPU has
 * a link to the others of its host and a network card of its own, each with the fitted bandwidth of
 * its path; the network's links carry what all cards below them can, less the taper. */
#include "config.h"

#include <stdio.h>

#include "base/log.h"
#include "tools/predict/model.h"
#include "tools/sim/sim.h"

/* A dragonfly's group: routers that all have a link to each other. */
#define GROUP_ROUTERS 8

struct network {
  const struct sim_config *config;
  int ranks, hosts, leaves; /* leaves: switches that have hosts */
  double bandwidth[STUDY_WHERES], latency[STUDY_WHERES];
  FILE *file;
};

static int known_way(const struct model *model, int way, enum study_where where)
{
  int by = model_route(model, where == STUDY_OTHER_HOST ? 2 : 1, way).way[where];
  return by >= 0 && model->paths.ways[by].known[where] ? by : -1;
}

double sim_bandwidth(const struct model *model, int way, enum study_where where)
{
  int by = known_way(model, way, where);
  if (by < 0) return 0;
  const double *value = model->value + model_way_column(by, 0);
  double factor = value[WAY_BANDWIDTH] + 2 * value[WAY_HOST];
  return model->paths.ways[by].bandwidth[where] / (factor > 0 ? factor : 1);
}

double sim_latency_of(const struct model *model, int way, enum study_where where)
{
  int by = known_way(model, way, where);
  return by < 0 ? 0 : model->paths.ways[by].latency[where] * model->value[model_way_column(by, WAY_LATENCY)];
}

/* ---- hosts ---- */

static void link_write(FILE *file, const char *kind, int a, int b, double bandwidth, double latency)
{
  fprintf(file,
          "<link id=\"%s-%d-%d\" bandwidth=\"%.0fBps\" latency=\"%.3gs\" sharing_policy=\"SPLITDUPLEX\"/>\n",
          kind, a, b, bandwidth, latency);
}

static void host_write(const struct network *n, int host)
{
  int each = (int)n->config->per_host, last = n->ranks - host * each < each ? n->ranks - host * each : each;
  fprintf(n->file, "<zone id=\"host-%d\" routing=\"Full\">\n", host);
  for (int g = 0; g < last; g++) fprintf(n->file, "<host id=\"gpu-%d-%d\" speed=\"1Gf\"/>\n", host, g);
  fprintf(n->file, "<router id=\"switch-%d\"/>\n", host);
  for (int g = 0; g < last && each > 1; g++)
    link_write(n->file, "peer", host, g, n->bandwidth[STUDY_SAME_HOST], n->latency[STUDY_SAME_HOST] / 2);
  for (int g = 0; g < last && n->hosts > 1; g++)
    link_write(n->file, "card", host, g, n->bandwidth[STUDY_OTHER_HOST], n->latency[STUDY_OTHER_HOST] / 2);
  for (int g = 0; g < last; g++)
    for (int h = g + 1; h < last; h++)
      fprintf(n->file,
              "<route src=\"gpu-%d-%d\" dst=\"gpu-%d-%d\"><link_ctn id=\"peer-%d-%d\" direction=\"UP\"/>"
              "<link_ctn id=\"peer-%d-%d\" direction=\"DOWN\"/></route>\n",
              host, g, host, h, host, g, host, h);
  for (int g = 0; g < last && n->hosts > 1; g++)
    fprintf(
        n->file,
        "<route src=\"gpu-%d-%d\" dst=\"switch-%d\"><link_ctn id=\"card-%d-%d\" direction=\"UP\"/></route>\n",
        host, g, host, host, g);
  fprintf(n->file, "</zone>\n");
}

/* ---- between hosts ---- */

static double host_bandwidth(const struct network *n)
{
  return n->bandwidth[STUDY_OTHER_HOST] * (double)n->config->per_host;
}

static void hop(const struct network *n, const char *kind, int a, int b, int up)
{
  fprintf(n->file, "<link_ctn id=\"%s-%d-%d\" direction=\"%s\"/>", kind, a, b, up ? "UP" : "DOWN");
}

/* A leaf's links to all spines are one, as wide as all of them: packets are spread evenly, so that
 * without a taper any pairing of hosts has their whole bandwidth. */
static void tree_links(struct network *n)
{
  const double up = host_bandwidth(n) * (double)n->config->leaf / n->config->taper;
  for (int l = 0; l < n->leaves && n->leaves > 1; l++) link_write(n->file, "up", l, 0, up, 0);
}

static void tree_route(const struct network *n, int from, int to)
{
  int a = from / (int)n->config->leaf, b = to / (int)n->config->leaf;
  if (a == b) return;
  hop(n, "up", a, 0, 1);
  hop(n, "up", b, 0, 0);
}

/* Which router of a group has the link to another group. */
static int gate(int other)
{
  return other % GROUP_ROUTERS;
}

static void dragonfly_links(struct network *n)
{
  double router = host_bandwidth(n) * (double)n->config->leaf / n->config->taper;
  int routers = n->leaves, groups = (routers + GROUP_ROUTERS - 1) / GROUP_ROUTERS;
  for (int a = 0; a < routers; a++)
    for (int b = a + 1; b < routers && b / GROUP_ROUTERS == a / GROUP_ROUTERS; b++)
      link_write(n->file, "local", a, b, router, 0);
  for (int a = 0; a < groups; a++)
    for (int b = a + 1; b < groups; b++)
      link_write(n->file, "global", a, b, router * GROUP_ROUTERS / (groups - 1), 0);
}

static void local_hop(const struct network *n, int from, int to)
{
  if (from < to) hop(n, "local", from, to, 1);
  if (from > to) hop(n, "local", to, from, 0);
}

/* The last group may lack the router that would hold the link. */
static int gate_router(const struct network *n, int group, int other)
{
  int router = group * GROUP_ROUTERS + gate(other);
  return router < n->leaves ? router : n->leaves - 1;
}

/* Least hops: to the router that has the link to the other group, over it, to the other router. */
static void dragonfly_route(const struct network *n, int from, int to)
{
  int leaf = (int)n->config->leaf, a = from / leaf, b = to / leaf;
  int ga = a / GROUP_ROUTERS, gb = b / GROUP_ROUTERS;
  if (ga == gb) {
    local_hop(n, a, b);
    return;
  }
  local_hop(n, a, gate_router(n, ga, gb));
  hop(n, "global", ga, gb, 1); /* ga < gb, since from < to */
  local_hop(n, gate_router(n, gb, ga), b);
}

static void network_write(struct network *n)
{
  int tree = n->config->network == NETWORK_FAT_TREE;
  n->leaves = (n->hosts + (int)n->config->leaf - 1) / (int)n->config->leaf;
  for (int h = 0; h < n->hosts && n->hosts > 1; h++) link_write(n->file, "host", h, 0, host_bandwidth(n), 0);
  if (tree)
    tree_links(n);
  else
    dragonfly_links(n);
  for (int from = 0; from < n->hosts; from++)
    for (int to = from + 1; to < n->hosts; to++) {
      fprintf(n->file,
              "<zoneRoute src=\"host-%d\" dst=\"host-%d\" gw_src=\"switch-%d\" gw_dst=\"switch-%d\">", from,
              to, from, to);
      hop(n, "host", from, 0, 1);
      (tree ? tree_route : dragonfly_route)(n, from, to);
      hop(n, "host", to, 0, 0);
      fprintf(n->file, "</zoneRoute>\n");
    }
}

/* ---- files ---- */

static void platform_fill(struct network *n)
{
  fprintf(n->file, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                   "<platform version=\"4.1\">\n<zone id=\"cluster\" routing=\"Full\">\n");
  for (int h = 0; h < n->hosts; h++) host_write(n, h);
  network_write(n);
  fprintf(n->file, "</zone>\n</platform>\n");
}

static status_t file_close(FILE *file, const char *path)
{
  int failed = ferror(file);
  return fclose(file) != 0 || failed ? log_fail(STATUS_ENVIRONMENT, "%s: %m", path) : STATUS_OK;
}

static status_t hosts_write(const struct network *n, const char *path)
{
  FILE *file = fopen(path, "w");
  if (!file) return log_fail(STATUS_ENVIRONMENT, "%s: %m", path);
  for (int r = 0; r < n->ranks; r++)
    fprintf(file, "gpu-%d-%d\n", r / (int)n->config->per_host, r % (int)n->config->per_host);
  return file_close(file, path);
}

status_t sim_platform_write(const struct sim_config *config, const struct model *model, int way, int ranks,
                            const char *platform, const char *hosts)
{
  int each = (int)config->per_host;
  struct network n = {.config = config, .ranks = ranks, .hosts = (ranks + each - 1) / each};
  for (int w = 0; w < STUDY_WHERES; w++) {
    n.bandwidth[w] = sim_bandwidth(model, way, (enum study_where)w);
    n.latency[w] = SIM_WIRE_SHARE * sim_latency_of(model, way, (enum study_where)w);
  }
  n.file = fopen(platform, "w");
  if (!n.file) return log_fail(STATUS_ENVIRONMENT, "%s: %m", platform);
  platform_fill(&n);
  RETURN_IF_FAILED(file_close(n.file, platform));
  return hosts_write(&n, hosts);
}
