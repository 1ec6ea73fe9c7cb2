/* SPDX-License-Identifier: MIT */
/** \file
 * \brief himeno-sim: what is simulated, and its outcome. main.c simulates each point in a process
 * of its own (launch.c), because SimGrid simulates once per process and ends it on an error. */
#ifndef TOOLS_SIM_SIM_H
#define TOOLS_SIM_SIM_H

#include <stdio.h>

#include "base/options.h"
#include "base/stats.h"
#include "tools/predict/lists.h"
#include "tools/predict/model.h"

/** Share of the latency between hosts that passes on the wire; the rest before messages leave and
 * after they arrived, since that is the work of the ends. */
#define SIM_WIRE_SHARE 0.1

/** Bytes per second of an unknown network, or of one that a platform describes. */
#define SIM_UNLIMITED 1e12

/** Who reads an option: runs on a platform of himeno-sim's making, or on one that is given. */
enum { SIM_MADE = 1, SIM_GIVEN = 2 };

struct sim_config {
  const char *model, *transport, *platform, *keep, *json;
  struct size_list sizes;
  struct rank_list ranks;
  int procs[3], weak; /**< of procs the first 0: auto */
  int quiet;
  int64_t per_host, leaf, passes;
  struct study_between between;
  double taper;
};

/** What all points share. */
struct sim_setup {
  struct sim_config config;
  struct model_terms model;
  int via; /**< of the model: the transport */
};

/** One point to simulate. */
struct sim_point {
  struct grid_size size;
  int64_t global[3];
  int procs[3], ranks, weak;
};

enum sim_phase { SIM_INTERIOR, SIM_BOUNDARY, SIM_WAIT, SIM_TRANSFER, SIM_EXPOSED, SIM_SWEEP, SIM_PHASES };

struct sim_outcome {
  struct stats_summary phases[SIM_PHASES];    /**< over ranks, seconds per sweep */
  double messages, tokens, bytes, bytes_most; /**< of one exchange, sums over ranks */
  double simulated_in;                        /**< seconds of wall clock */
};

/** Options into struct sim_config. */
extern const struct option_program sim_options;

/** \brief Bytes per second of the path that pairs within a host or between hosts take in a run of
 * \a via, as fitted, 0 if unknown; seconds that a message takes besides. */
double sim_bandwidth(const struct model_terms *model, int via, enum study_where where);
double sim_latency_of(const struct model_terms *model, int via, enum study_where where);

/** \brief Writes a platform of \a ranks GPUs. */
void sim_platform_write(const struct sim_setup *setup, int ranks, FILE *file);

/** \brief Simulates a point in a process of its own. \a outcome is in shared memory. */
status_t sim_point_run(const struct sim_setup *setup, const struct sim_point *point,
                       struct sim_outcome *outcome);

/** \brief What that process does: it simulates all ranks on a platform, and ends. Returns if it
 * fails. */
status_t sim_ranks_run(const struct sim_setup *setup, const struct sim_point *point, const char *platform,
                       struct sim_outcome *outcome);

#endif
