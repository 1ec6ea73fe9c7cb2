/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What was measured: runs of himeno-gpu, and the paths that comm-gpu fitted. */
#ifndef TOOLS_PREDICT_STUDY_H
#define TOOLS_PREDICT_STUDY_H

#include <stdint.h>

#include "base/status.h"

#define STUDY_TEXT 64

/** One document of himeno-gpu (or of himeno-sim, which has the same fields). Times are seconds a
 * sweep. */
struct study_run {
  char file[256];
  char size[STUDY_TEXT], transport[STUDY_TEXT], kernel[STUDY_TEXT], backend[STUDY_TEXT], device[128];
  int64_t global[3];
  int procs[3], ranks, hosts, weak, overlap, depth;
  /** staged halos: 1 where it tells how they were handed over, 0 where it is of before such
   * documents, by MPI; −1 without any */
  int handover;
  double seconds; /**< median of the blocks */
  double noise;   /**< relative, of the blocks; 0 when there are fewer than three */
};

struct study {
  int n, skipped; /**< skipped: no himeno-gpu documents, or runs that did not pass */
  struct study_run *runs;
};

enum study_where { STUDY_SAME_HOST, STUDY_OTHER_HOST, STUDY_WHERES };

/** A way between neighbours, as comm-gpu fitted it. */
struct study_way {
  char name[STUDY_TEXT];
  int known[STUDY_WHERES];
  double latency[STUDY_WHERES];   /**< seconds */
  double bandwidth[STUDY_WHERES]; /**< bytes a second, each way, both ways at once */
  double residual[STUDY_WHERES];
};

/** A path between hosts as their owner gives it, each way, both ways at once; all 0: not given. */
struct study_between {
  double latency, bandwidth; /**< seconds, bytes a second */
};

#define STUDY_WAYS_MAX 12

struct study_paths {
  int n;
  struct study_way ways[STUDY_WAYS_MAX];
};

/** \brief Reads all *.json of a folder, or one file. STATUS_ENVIRONMENT when it cannot be read or
 * holds no run that passed; STATUS_USAGE, naming the file, for a himeno-gpu document that is not as
 * its schema says. */
status_t study_read(const char *path, struct study *study);
void study_free(struct study *study);

/** \brief Keeps the runs that have the kernel, backend and depth of most runs (or of \a kernel, if
 * not NULL), and at most \a ranks ranks (0: any). The rest is counted in `skipped`. */
void study_select(struct study *study, const char *kernel, int ranks);

/** \brief Ranks of each host of a run. */
int study_per_host(const struct study_run *run);

/** \brief Reads a document of comm-gpu: a way's parameters are the medians over its pairs; those
 * that were measured all at once count where there are any. STATUS_ENVIRONMENT or STATUS_USAGE. */
status_t study_paths_read(const char *path, struct study_paths *paths);

/** \brief The way of that name, NULL if unknown. */
const struct study_way *study_way_find(const struct study_paths *paths, const char *name);

#endif
