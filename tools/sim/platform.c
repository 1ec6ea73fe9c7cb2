/* SPDX-License-Identifier: MIT */
/* Platform files for SimGrid: GPUs, each with a network card of its own that has the fitted
 * bandwidth between hosts, and a fat tree or a dragonfly of switches, whose links carry what all
 * cards below them can, less the taper. What stays within a host is no matter of theirs. */
#include "config.h"

#include <stdio.h>

#include "base/log.h"
#include "tools/predict/model.h"
#include "tools/sim/sim.h"

/* A dragonfly's group: routers that all have a link to each other. */
#define GROUP_ROUTERS 8
/* Bytes a second of what nothing is known of, or all is told by a platform. */
#define UNLIMITED 1e12

struct network {
  const struct sim_config *config;
  int ranks, below, leaves;  /* GPUs below a switch that has hosts, and such switches */
  double bandwidth, latency; /* of a card */
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

status_t sim_model_read(const char *path, const struct study_between *between, int platform,
                        struct model *model)
{
  RETURN_IF_FAILED(model_json_read(path, NULL, model));
  if (model->program != STUDY_HIMENO)
    return log_fail(STATUS_USAGE, "--model %s: a model of %s, and ranks of himeno-gpu are simulated", path,
                    model_program_names[model->program]);
  const int staged = model_way(model, "staged");
  struct study_between given = *between;
  if (platform && staged >= 0)
    given = (struct study_between){model->paths.ways[staged].latency[STUDY_SAME_HOST], UNLIMITED};
  model_between_set(&given, &model->paths);
  return STATUS_OK;
}

/* ---- switches and what lies below them ---- */

static void link_write(FILE *file, const char *kind, int a, int b, double bandwidth)
{
  fprintf(file,
          "<link id=\"%s-%d-%d\" bandwidth=\"%.0fBps\" latency=\"0s\" sharing_policy=\"SPLITDUPLEX\"/>\n",
          kind, a, b, bandwidth);
}

/* All GPUs below a switch, each with its card: what hosts have together never limits. */
static void leaf_write(const struct network *n, int leaf)
{
  const int first = leaf * n->below, last = first + n->below < n->ranks ? first + n->below - 1 : n->ranks - 1;
  fprintf(n->file,
          "<cluster id=\"leaf-%d\" prefix=\"gpu-\" suffix=\"\" radical=\"%d-%d\" speed=\"1Gf\" "
          "bw=\"%.0fBps\" lat=\"%.3gs\" sharing_policy=\"SPLITDUPLEX\" router_id=\"switch-%d\"/>\n",
          leaf, first, last, n->bandwidth, n->latency / 2, leaf);
}

static double host_bandwidth(const struct network *n)
{
  return n->bandwidth * (double)n->config->per_host;
}

static void hop(const struct network *n, const char *kind, int a, int b, int up)
{
  fprintf(n->file, "<link_ctn id=\"%s-%d-%d\" direction=\"%s\"/>", kind, a, b, up ? "UP" : "DOWN");
}

/* A leaf's links to all spines are one, as wide as all of them: packets are spread evenly, so that
 * without a taper any pairing of hosts has their whole bandwidth, as at one switch. */
static void tree_links(struct network *n)
{
  const double up = host_bandwidth(n) * (double)n->config->leaf / n->config->taper;
  for (int l = 0; l < n->leaves && n->leaves > 1; l++) link_write(n->file, "up", l, 0, up);
}

static void tree_route(const struct network *n, int a, int b)
{
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
      link_write(n->file, "local", a, b, router);
  for (int a = 0; a < groups; a++)
    for (int b = a + 1; b < groups; b++)
      link_write(n->file, "global", a, b, router * GROUP_ROUTERS / (groups - 1));
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
static void dragonfly_route(const struct network *n, int a, int b)
{
  int ga = a / GROUP_ROUTERS, gb = b / GROUP_ROUTERS;
  if (ga == gb) {
    local_hop(n, a, b);
    return;
  }
  local_hop(n, a, gate_router(n, ga, gb));
  hop(n, "global", ga, gb, 1); /* ga < gb, since a < b */
  local_hop(n, gate_router(n, gb, ga), b);
}

static void network_write(struct network *n)
{
  int tree = n->config->network == NETWORK_FAT_TREE;
  if (tree)
    tree_links(n);
  else
    dragonfly_links(n);
  for (int a = 0; a < n->leaves; a++)
    for (int b = a + 1; b < n->leaves; b++) {
      fprintf(n->file,
              "<zoneRoute src=\"leaf-%d\" dst=\"leaf-%d\" gw_src=\"switch-%d\" gw_dst=\"switch-%d\">", a, b,
              a, b);
      (tree ? tree_route : dragonfly_route)(n, a, b);
      fprintf(n->file, "</zoneRoute>\n");
    }
}

static status_t file_close(FILE *file, const char *path)
{
  int failed = ferror(file);
  return fclose(file) != 0 || failed ? log_fail(STATUS_ENVIRONMENT, "%s: %m", path) : STATUS_OK;
}

status_t sim_platform_write(const struct sim_config *config, const struct model *model, int way, int ranks,
                            const char *path)
{
  const int whole = config->network == NETWORK_FAT_TREE && config->taper <= 1;
  const int below = whole ? ranks : (int)(config->per_host * config->leaf);
  struct network n = {
      .config = config, .ranks = ranks, .below = below, .leaves = (ranks + below - 1) / below};
  n.bandwidth = sim_bandwidth(model, way, STUDY_OTHER_HOST);
  n.latency = SIM_WIRE_SHARE * sim_latency_of(model, way, STUDY_OTHER_HOST);
  if (n.bandwidth <= 0) n.bandwidth = UNLIMITED;
  n.file = fopen(path, "w");
  if (!n.file) return log_fail(STATUS_ENVIRONMENT, "%s: %m", path);
  fprintf(n.file, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                  "<platform version=\"4.1\">\n<zone id=\"all\" routing=\"Full\">\n");
  for (int l = 0; l < n.leaves; l++) leaf_write(&n, l);
  network_write(&n);
  fprintf(n.file, "</zone>\n</platform>\n");
  return file_close(n.file, path);
}
