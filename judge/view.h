/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A document as it is judged: plain numbers, NAN if the document does not have them.
 *
 * Texts point into the document, which must outlive the view. */
#ifndef JUDGE_VIEW_H
#define JUDGE_VIEW_H

#include <jansson.h>

#include "base/status.h"
#include "judge/checks.h"
#include "judge/slowdown.h"
#include "judge/straggler.h"

#define JUDGE_BLOCKS_MAX 256 /**< maximum length of a rank's series */
#define JUDGE_FOUND_MAX  64  /**< maximum number of stragglers or slowdowns stored */

/** One message of a rank: its neighbour, and the cost of an exchange with that neighbour alone. */
struct judge_path {
  int peer;
  const char *face, *used, *handover;
  int detour; /**< 1: the message uses another transport than the run */
  double bytes, us, gbps;
};

struct judge_rank {
  const json_t *row;               /**< row in the document; NULL in a simulation */
  int host;                        /**< lowest rank on the host */
  double points;                   /**< number of points that the rank owns */
  double noise;                    /**< upper bound of the noise of the rank's compute times */
  double starved;                  /**< share of the time in which the rank waited for a core */
  double sharers;                  /**< number of other ranks on the rank's device */
  double sweep_bytes, cache_bytes; /**< bytes per sweep; bytes of the device's cache */
  int cpus_shared, is_cpu, takes_cores;
  double value[CHECK_KINDS]; /**< value of each check of ranks; NAN if unknown */
  int n_paths;
  struct judge_path *paths;
};

struct judge_run {
  const json_t *document; /**< NULL in a simulation */
  const char *program;
  const char *type;   /**< element type if each rank computes its own product, otherwise NULL */
  double power_share; /**< with `type`: lowest power of a device over its limit */
  int n_ranks;
  struct judge_rank *ranks;
  struct judge_path *paths; /**< all ranks' paths, one rank after the other */
  int emulated, soak;
  int has_pairs; /**< 1: exchanges between two ranks were measured */
  double gflops;
  int n_samples;
  double *samples;            /**< seconds of each timed block */
  int n_blocks;               /**< blocks in the series, at most JUDGE_BLOCKS_MAX */
  struct judge_block *blocks; /**< [rank · n_blocks + block] */
  struct judge_end ends[JUDGE_BLOCKS_MAX];
  int n_stragglers, n_slowdowns;
  int knows_work; /**< every rank's work is known; otherwise no straggler can be found */
  struct straggler stragglers[JUDGE_FOUND_MAX];
  struct slowdown slowdowns[JUDGE_FOUND_MAX];
};

/** \brief Returns how many of \a found stragglers or slowdowns are stored. */
static inline int judge_stored(int found)
{
  return found < JUDGE_FOUND_MAX ? found : JUDGE_FOUND_MAX;
}

/** \brief Views a document, named \a where in messages, and finds stragglers and slowdowns. Returns
 * STATUS_ENVIRONMENT if its series or ranks are damaged, or memory ran out. */
status_t judge_view(const json_t *document, const char *where, struct judge_run *run);
void judge_run_free(struct judge_run *run);

/** \brief Finds stragglers and slowdowns in the series of \a run. */
status_t judge_find(struct judge_run *run);

/** \brief Returns the number at a path such as "telemetry.sm_mhz.0"; true is 1. Returns NAN if
 * there is none. */
double view_number(const json_t *object, const char *path);

/** \brief Returns the text at a path as in view_number; "" if there is none. */
const char *view_text(const json_t *object, const char *path);

/** \brief Calls \a visit for each path of \a document, until a call fails. \a from is the object
 * with the path's fields, and \a n the index of the path in fields that are lists (as in
 * path_groups); view_path_number reads a field. */
typedef status_t (*view_visit)(const json_t *from, size_t n, void *context);
status_t view_paths_visit(const json_t *document, view_visit visit, void *context);
double view_path_number(const json_t *from, const char *key, size_t n);

/** \brief Appends the positive times in a list, as stats_add does. */
status_t view_samples(const json_t *samples, double **seconds, int *n);

/** \brief Returns the value at a path as in view_number; NULL if there is none. */
const json_t *view_at(const json_t *object, const char *path);

#endif
