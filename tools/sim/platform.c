/* SPDX-License-Identifier: MIT */
/* Platform files for SimGrid: GPUs, each with a network card of its own that has the fitted
 * bandwidth between hosts, and a fat tree of switches, whose links carry what all cards below them
 * can, less the taper. Nothing that stays within a host uses them. */
#include <stdio.h>

#include "tools/predict/model.h"
#include "tools/sim/sim.h"

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

void sim_platform_write(const struct sim_setup *setup, int ranks, FILE *file)
{
  const struct sim_config *c = &setup->config;
  const int below = c->taper <= 1 ? ranks : (int)(c->per_host * c->leaf);
  struct network n = {.config = c,
                      .ranks = ranks,
                      .below = below,
                      .leaves = (ranks + below - 1) / below,
                      .bandwidth = sim_bandwidth(&setup->model, setup->via, STUDY_OTHER_HOST),
                      .latency = SIM_WIRE_SHARE * sim_latency_of(&setup->model, setup->via, STUDY_OTHER_HOST),
                      .file = file};
  if (n.bandwidth <= 0) n.bandwidth = SIM_UNLIMITED;
  fprintf(file, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                "<platform version=\"4.1\">\n<zone id=\"all\" routing=\"Full\">\n");
  for (int l = 0; l < n.leaves; l++) leaf_write(&n, l);
  network_write(&n);
  fprintf(file, "</zone>\n</platform>\n");
}
