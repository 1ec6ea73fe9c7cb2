/* SPDX-License-Identifier: MIT */
/** \file
 * \brief himeno-sim: what is simulated, and what came out. The front end (main.c) writes a plan and
 * a platform and starts SimGrid's smpirun with himeno-sim-ranks, which reads the plan and writes
 * the outcome. */
#ifndef TOOLS_SIM_SIM_H
#define TOOLS_SIM_SIM_H

#include <jansson.h>

#include "base/options.h"
#include "tools/predict/lists.h"
#include "tools/predict/model.h"

/** Share of the latency between hosts that passes on the wire; the rest before messages leave and
 * after they arrived, since that is the work of the ends. */
#define SIM_WIRE_SHARE 0.1

/** Who reads an option: runs on a platform of himeno-sim's making, or on one that is given. */
enum { SIM_MADE = 1, SIM_GIVEN = 2 };

struct sim_config {
  const char *model, *transport, *platform, *keep, *json;
  struct size_list sizes;
  struct rank_list ranks;
  int procs[3], weak; /**< of procs the first 0: auto */
  int64_t per_host, leaf, passes;
  struct study_between between;
  double taper;
};

/** One point to simulate. */
struct sim_point {
  struct grid_size size;
  int64_t global[3];
  int procs[3], ranks, weak;
};

/** Options into struct sim_config. */
extern const struct option_program sim_options;

/** \brief Bytes per second of the transport that pairs within a host or between hosts take in a run
 * of \a via, as fitted, 0 where nothing is known; seconds that a message takes besides. */
double sim_bandwidth(const struct model *model, int via, enum study_where where);
double sim_latency_of(const struct model *model, int via, enum study_where where);

/** \brief Reads a model, with what is given between hosts. On a \a platform of the user's messages
 * between hosts take its time and staged's at the ends. */
status_t sim_model_read(const char *path, const struct study_between *between, int platform,
                        struct model *model);

/** \brief Writes a platform of \a ranks GPUs. STATUS_ENVIRONMENT. */
status_t sim_platform_write(const struct sim_config *config, const struct model *model, int via, int ranks,
                            const char *path);

/** The phases that himeno-sim-ranks writes. */
#define SIM_PHASE_NAMES "interior", "boundary", "wait", "transfer", "exposed", "sweep"

/** \brief Simulates a point; *outcome is what himeno-sim-ranks wrote, with the seconds that it
 * took. */
status_t sim_point_run(const struct sim_config *config, const struct model *model, int via,
                       const struct sim_point *point, json_t **outcome);

#endif
