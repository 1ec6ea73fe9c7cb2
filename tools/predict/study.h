/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What was measured: runs of himeno-gpu or of gemm-gpu --distributed, and the paths that
 * comm-gpu fitted. */
#ifndef TOOLS_PREDICT_STUDY_H
#define TOOLS_PREDICT_STUDY_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

#define STUDY_TEXT 64
/* No machine has a sweep, a message or a point that takes an hour, nor a path of an exabyte per
 * second. */
#define SECONDS_MOST   3600.0
#define BANDWIDTH_MOST 1e18

/** The program of the runs: sweeps of himeno-gpu, products over all ranks of gemm-gpu. */
enum study_program { STUDY_HIMENO, STUDY_GEMM, STUDY_PROGRAMS };

/** Fields of a product that a sweep lacks. */
struct study_product {
  int type;      /**< enum gemm_type */
  int64_t panel; /**< k of a panel; in a model 0: gemm-gpu's own choice */
  int on_cpu;    /**< which is another on CPUs */
  int tile[2];   /**< rows and columns of C that a kernel's group makes; 0: unknown */
};

/** One document of himeno-gpu or gemm-gpu. Times are seconds per sweep or product. */
struct study_run {
  enum study_program program;
  struct study_product product;
  char file[256];
  char size[STUDY_TEXT], transport[STUDY_TEXT], kernel[STUDY_TEXT], backend[STUDY_TEXT], device[128];
  int64_t global[3];
  int procs[3]; /**< the third is 0 where it is C that is cut */
  int ranks, hosts, weak, overlap, depth;
  int sharers;  /**< the most ranks on one memory of a CPU, or on one device; 0: unknown */
  int memories; /**< of a CPU host, as its ranks have them; 0: devices have their own */
  /** staged halos: 1 if the document says how they were handed over, 0 if it is too old for that,
   * by MPI; −1 without any */
  int handover;
  double seconds; /**< median of the blocks */
  double noise;   /**< relative, of the blocks; 0 when there are fewer than three */
  /** of its devices, relative standard deviation of their measured ceilings; 0 below four GPUs */
  double device_spread;
  /** host of rank 0; "" if a document lacks it */
  char host[STUDY_TEXT], driver[128], pci[STUDY_TEXT], uuid[STUDY_TEXT];
  int verified;
  char checksum[STUDY_TEXT]; /**< with the data and sweeps that it is of */
  uint64_t samples;          /**< a hash of its times; 0: none of its own */
};

/** Why a document is no part of a study. */
enum study_reason {
  LEFT_OTHER,
  LEFT_FAILED,
  LEFT_RANKS,
  LEFT_KIND,
  LEFT_TRANSPORT,
  LEFT_STAGING,
  LEFT_DUPLICATE,
  LEFT_MACHINE,
  LEFT_UNVERIFIED,
  LEFT_OUTLIER,
  STUDY_REASONS
};
extern const char *const study_reason_names[STUDY_REASONS];

/** Parts left out of a study, for people. */
#define STUDY_WHY 384
struct study_left {
  enum study_reason reason;
  char file[256], why[STUDY_WHY];
};

struct study {
  enum study_program program; /**< of all runs */
  int n, n_left;
  struct study_run *runs;
  struct study_left *left;
};

/** \brief Reads "unverified,outliers" into an unsigned: what is fitted although it would be left
 * out, `1 << reason`, or-ed. Logs and returns STATUS_USAGE otherwise. */
status_t study_keep_parse(const char *option, const char *text, void *keep);

enum study_where { STUDY_SAME_HOST, STUDY_OTHER_HOST, STUDY_WHERES };
extern const char *const study_where_names[STUDY_WHERES]; /**< in documents */

/** A transport, as comm-gpu fitted it. */
struct study_transport {
  char name[STUDY_TEXT];
  int handover; /**< as a run's; −1 where a model does not tell */
  int known[STUDY_WHERES];
  double latency[STUDY_WHERES];   /**< seconds */
  double bandwidth[STUDY_WHERES]; /**< bytes per second and direction, both at once */
  double residual[STUDY_WHERES];
};

/** A path between hosts as their owner gives it, per direction, both at once; all 0: not given. */
struct study_between {
  double latency, bandwidth; /**< seconds, bytes a second */
};

#define STUDY_TRANSPORTS_MAX 12

struct study_paths {
  int n;
  struct study_transport transports[STUDY_TRANSPORTS_MAX];
};

/** \brief Reads all *.json of a folder, or one file. STATUS_ENVIRONMENT when it cannot be read or
 * holds no run that passed; STATUS_USAGE, naming the file, for a run's document that is not as its
 * schema says or is of another program than the runs before it. */
status_t study_read(const char *path, struct study *study);
void study_free(struct study *study);

/** \brief Puts a document on the list of what is left out, with the reason in words. */
status_t study_leave(struct study *study, enum study_reason reason, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** \brief Keeps runs of at most \a ranks ranks (0: any) that have the kernel, backend, depth,
 * device and staging of most (\a kernel, if not NULL); others are left out. */
status_t study_select(struct study *study, const char *kernel, int ranks);

/** \brief Leaves out runs by transports other than \a transport that \a paths has no parameters of,
 * or of halos staged otherwise: a prediction by one needs nothing of the others. */
status_t study_transport_select(struct study *study, const struct study_paths *paths, const char *transport);

/** \brief Leaves out, but for what \a keep names, copies of runs, those on other machines than most
 * and those whose bits nothing confirms. */
status_t study_screen(struct study *study, unsigned keep);

/** \brief Whether two runs have the same grid, cut, hosts and transport. */
int study_same_configuration(const struct study_run *a, const struct study_run *b);

/** \brief Leaves out runs whose halos were staged differently from \a handover (−1: none). */
status_t study_staging_select(struct study *study, int handover);

/** \brief How halos are staged, by `handover`: "through shared memory" and so on. */
static inline const char *study_staging(int handover)
{
  return handover ? "through shared memory" : "by MPI alone, as before shared memory";
}

/** \brief "2x2x1", of a product "2x2". */
static inline const char *study_cut_text(const int procs[3], char text[STUDY_TEXT])
{
  if (procs[2] > 0)
    snprintf(text, STUDY_TEXT, "%dx%dx%d", procs[0], procs[1], procs[2]);
  else
    snprintf(text, STUDY_TEXT, "%dx%d", procs[0], procs[1]);
  return text;
}

/** \brief Ranks of each host of a run. */
int study_per_host(const struct study_run *run);

/** \brief Reads a document of comm-gpu: a transport's parameters are the medians over its pairs;
 * those that were measured all at once count where there are any. STATUS_ENVIRONMENT or
 * STATUS_USAGE. */
status_t study_paths_read(const char *path, struct study_paths *paths);

/** \brief The index of the transport of that name; −1: unknown. */
static inline int study_transport_find(const struct study_paths *paths, const char *name)
{
  for (int w = 0; w < paths->n; w++)
    if (strcmp(paths->transports[w].name, name) == 0) return w;
  return -1;
}

#endif
