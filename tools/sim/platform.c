/* SPDX-License-Identifier: MIT */
/* Platform files for SimGrid: GPUs, each with a network card of its own that has the fitted
 * bandwidth between hosts, and a fat tree of switches, whose links carry what all cards below them
 * can, less the taper. Nothing that stays within a host uses them. */
#include <stdio.h>

#include "tools/predict/model.h"
#include "tools/sim/sim.h"

static int known_transport(const struct model_terms *model, int via, enum study_where where)
{
  int by = model_route(&model->paths, where == STUDY_OTHER_HOST ? 2 : 1, via).via[where];
  return by >= 0 && model->paths.transports[by].known[where] ? by : -1;
}

double sim_bandwidth(const struct model_terms *model, int via, enum study_where where)
{
  int by = known_transport(model, via, where);
  if (by < 0) return 0;
  const double *value = model->fitted.value + model_transport_column(by, 0);
  double factor = value[TRANSPORT_BANDWIDTH] + 2 * value[TRANSPORT_HOST];
  return model->paths.transports[by].bandwidth[where] / (factor > 0 ? factor : 1);
}

double sim_latency_of(const struct model_terms *model, int via, enum study_where where)
{
  int by = known_transport(model, via, where);
  return by < 0 ? 0
                : model->paths.transports[by].latency[where] *
                      model->fitted.value[model_transport_column(by, TRANSPORT_LATENCY)];
}

/* A leaf is a switch with all GPUs below it, each with its card: what hosts have together never
 * limits. Its links to all spines are one, as wide as all of them: packets are spread evenly, so
 * that without a taper any pairing of hosts has their whole bandwidth, as at one switch. */
void sim_platform_write(const struct sim_setup *setup, int ranks, FILE *file)
{
  const struct sim_config *c = &setup->config;
  const int below = c->taper <= 1 ? ranks : (int)(c->per_host * c->leaf);
  const int leaves = (ranks + below - 1) / below;
  const double latency = SIM_WIRE_SHARE * sim_latency_of(&setup->model, setup->via, STUDY_OTHER_HOST);
  double bandwidth = sim_bandwidth(&setup->model, setup->via, STUDY_OTHER_HOST);
  if (bandwidth <= 0) bandwidth = SIM_UNLIMITED;
  fprintf(file, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                "<platform version=\"4.1\">\n<zone id=\"all\" routing=\"Full\">\n");
  for (int l = 0; l < leaves; l++)
    fprintf(file,
            "<cluster id=\"leaf-%d\" prefix=\"gpu-\" suffix=\"\" radical=\"%d-%d\" speed=\"1Gf\" "
            "bw=\"%.0fBps\" lat=\"%.3gs\" sharing_policy=\"SPLITDUPLEX\" router_id=\"switch-%d\"/>\n",
            l, l * below, (l + 1 < leaves ? (l + 1) * below : ranks) - 1, bandwidth, latency / 2, l);
  for (int l = 0; l < leaves && leaves > 1; l++)
    fprintf(file,
            "<link id=\"up-%d\" bandwidth=\"%.0fBps\" latency=\"0s\" sharing_policy=\"SPLITDUPLEX\"/>\n", l,
            bandwidth * below / c->taper);
  for (int a = 0; a < leaves; a++)
    for (int b = a + 1; b < leaves; b++)
      fprintf(file,
              "<zoneRoute src=\"leaf-%d\" dst=\"leaf-%d\" gw_src=\"switch-%d\" gw_dst=\"switch-%d\">"
              "<link_ctn id=\"up-%d\" direction=\"UP\"/><link_ctn id=\"up-%d\" "
              "direction=\"DOWN\"/></zoneRoute>\n",
              a, b, a, b, a, b);
  fprintf(file, "</zone>\n</platform>\n");
}
