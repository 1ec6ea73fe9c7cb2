/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A document as it is judged: plain numbers, NAN for those that it does not have.
 *
 * Texts are the document's own: it has to outlive the view. */
#ifndef JUDGE_VIEW_H
#define JUDGE_VIEW_H

#include <jansson.h>

#include "base/status.h"
#include "judge/checks.h"
#include "judge/slowdown.h"
#include "judge/straggler.h"

#define JUDGE_BLOCKS_MAX 256 /**< of a rank's series */
#define JUDGE_FOUND_MAX  64  /**< stragglers, and slowdowns, that are kept; more are only counted */

/** One message of a rank: its neighbour, and what an exchange with it alone took. */
struct judge_path {
  int peer;
  const char *face, *used, *handover;
  int detour; /**< it cannot take the run's transport */
  double bytes, us, gbps;
};

struct judge_rank {
  const json_t *row;               /**< of the document; NULL in a simulation */
  int host;                        /**< lowest rank of the host */
  double points;                   /**< that the rank owns */
  double noise;                    /**< upper bound, of its device's own compute times, relative */
  double starved;                  /**< share of the time that it waited for a core */
  double sharers;                  /**< other ranks on its device */
  double sweep_bytes, cache_bytes; /**< that its sweeps move, and that its device has */
  int cpus_shared, is_cpu, takes_cores;
  double value[CHECK_KINDS]; /**< of the checks of ranks */
  int n_paths;
  struct judge_path *paths;
};

struct judge_run {
  const char *program;
  const char *type;   /**< of elements, if each rank has matrix products of its own, or NULL */
  double power_share; /**< of products: power over its limit, of the device with the least */
  int n_ranks;
  struct judge_rank *ranks;
  struct judge_path *paths; /**< of all ranks, one after the other */
  int emulated, soak;
  int has_pairs; /**< exchanges between two ranks were measured */
  double gflops;
  int n_samples;
  double *samples;            /**< seconds of each timed block */
  int n_blocks;               /**< in the series: at most JUDGE_BLOCKS_MAX of the timed ones */
  struct judge_block *blocks; /**< [rank · n_blocks + block] */
  struct judge_end ends[JUDGE_BLOCKS_MAX];
  /* Found in the series. */
  int n_stragglers, n_slowdowns;
  int knows_work; /**< of all ranks: else no straggler can be found */
  struct straggler stragglers[JUDGE_FOUND_MAX];
  struct slowdown slowdowns[JUDGE_FOUND_MAX];
};

/** \brief Views \a document, which \a where names in messages, and finds stragglers and slowdowns.
 * STATUS_ENVIRONMENT if its series or ranks are damaged, or memory ran out. */
status_t judge_view(const json_t *document, const char *where, struct judge_run *run);
void judge_run_free(struct judge_run *run);

/** \brief Finds stragglers and slowdowns in run.blocks. */
status_t judge_find(struct judge_run *run);

/** \brief The number at a path such as "telemetry.sm_mhz.0"; true is 1. NAN if there is none. */
double view_number(const json_t *object, const char *path);

/** \brief The text at such a path; "" if there is none. */
const char *view_text(const json_t *object, const char *path);

/** \brief Calls \a visit with each path of \a document: what has its fields, and its number in
 * those that are lists, as path_groups' are, for view_path_number. Ends at the first failure. */
typedef status_t (*view_visit)(const json_t *from, size_t n, void *context);
status_t view_paths_visit(const json_t *document, view_visit visit, void *context);
double view_path_number(const json_t *from, const char *key, size_t n);

/** \brief Adds the times in a list, those above 0, as stats_add does. */
status_t view_samples(const json_t *samples, double **seconds, int *n);

/** \brief The value at such a path; NULL if there is none. */
const json_t *view_at(const json_t *object, const char *path);

#endif
