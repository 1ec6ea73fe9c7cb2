/* SPDX-License-Identifier: MIT */
/* Platform files for SimGrid: GPUs, each with a network card of its own that has the fitted
 * bandwidth between hosts, and a fat tree of switches, whose links carry what all cards below them
 * can, less the taper. Nothing that stays within a host uses them. */
#include <stdio.h>

#include "base/log.h"
#include "tools/predict/model.h"
#include "tools/sim/sim.h"

/* Bytes a second of what nothing is known of, or all is told by a platform. */
#define UNLIMITED 1e12

struct network {
  const struct sim_config *config;
  int ranks, below, leaves;  /* GPUs below a switch that has hosts, and such switches */
  double bandwidth, latency; /* of a card */
  FILE *file;
};

static int known_transport(const struct model *model, int via, enum study_where where)
{
  int by = model_route(model, where == STUDY_OTHER_HOST ? 2 : 1, via).via[where];
  return by >= 0 && model->paths.transports[by].known[where] ? by : -1;
}

double sim_bandwidth(const struct model *model, int via, enum study_where where)
{
  int by = known_transport(model, via, where);
  if (by < 0) return 0;
  const double *value = model->value + model_transport_column(by, 0);
  double factor = value[TRANSPORT_BANDWIDTH] + 2 * value[TRANSPORT_HOST];
  return model->paths.transports[by].bandwidth[where] / (factor > 0 ? factor : 1);
}

double sim_latency_of(const struct model *model, int via, enum study_where where)
{
  int by = known_transport(model, via, where);
  return by < 0 ? 0
                : model->paths.transports[by].latency[where] *
                      model->value[model_transport_column(by, TRANSPORT_LATENCY)];
}

status_t sim_model_read(const char *path, const struct study_between *between, int platform,
                        struct model *model)
{
  RETURN_IF_FAILED(model_json_read(path, NULL, model));
  if (model->program != STUDY_HIMENO)
    return log_fail(STATUS_USAGE, "--model %s: a model of %s, and ranks of himeno-gpu are simulated", path,
                    model_program_names[model->program]);
  const int staged = model_transport_find(model, "staged");
  struct study_between given = *between;
  if (platform && staged >= 0)
    given = (struct study_between){model->paths.transports[staged].latency[STUDY_SAME_HOST], UNLIMITED};
  model_between_set(&given, &model->paths);
  return STATUS_OK;
}

/* ---- switches and what lies below them ---- */

/* All GPUs below a switch, each with its card: what hosts have together never limits. */
static void leaf_write(const struct network *n, int leaf)
{
  const int first = leaf * n->below, last = first + n->below < n->ranks ? first + n->below - 1 : n->ranks - 1;
  fprintf(n->file,
          "<cluster id=\"leaf-%d\" prefix=\"gpu-\" suffix=\"\" radical=\"%d-%d\" speed=\"1Gf\" "
          "bw=\"%.0fBps\" lat=\"%.3gs\" sharing_policy=\"SPLITDUPLEX\" router_id=\"switch-%d\"/>\n",
          leaf, first, last, n->bandwidth, n->latency / 2, leaf);
}

/* A leaf's links to all spines are one, as wide as all of them: packets are spread evenly, so that
 * without a taper any pairing of hosts has their whole bandwidth, as at one switch. */
static void network_write(struct network *n)
{
  const double up = n->bandwidth * (double)(n->config->per_host * n->config->leaf) / n->config->taper;
  for (int l = 0; l < n->leaves && n->leaves > 1; l++)
    fprintf(n->file,
            "<link id=\"up-%d\" bandwidth=\"%.0fBps\" latency=\"0s\" sharing_policy=\"SPLITDUPLEX\"/>\n", l,
            up);
  for (int a = 0; a < n->leaves; a++)
    for (int b = a + 1; b < n->leaves; b++)
      fprintf(n->file,
              "<zoneRoute src=\"leaf-%d\" dst=\"leaf-%d\" gw_src=\"switch-%d\" gw_dst=\"switch-%d\">"
              "<link_ctn id=\"up-%d\" direction=\"UP\"/><link_ctn id=\"up-%d\" "
              "direction=\"DOWN\"/></zoneRoute>\n",
              a, b, a, b, a, b);
}

static status_t file_close(FILE *file, const char *path)
{
  int failed = ferror(file);
  return fclose(file) != 0 || failed ? log_fail(STATUS_ENVIRONMENT, "%s: %m", path) : STATUS_OK;
}

status_t sim_platform_write(const struct sim_config *config, const struct model *model, int via, int ranks,
                            const char *path)
{
  const int below = config->taper <= 1 ? ranks : (int)(config->per_host * config->leaf);
  struct network n = {
      .config = config, .ranks = ranks, .below = below, .leaves = (ranks + below - 1) / below};
  n.bandwidth = sim_bandwidth(model, via, STUDY_OTHER_HOST);
  n.latency = SIM_WIRE_SHARE * sim_latency_of(model, via, STUDY_OTHER_HOST);
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
