/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Measured data: runs of himeno-gpu or of gemm-gpu --distributed, and the paths that
 * comm-gpu fitted. */
#ifndef TOOLS_PREDICT_STUDY_H
#define TOOLS_PREDICT_STUDY_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

#define STUDY_TEXT 64
/* Upper limits of valid values: an hour per sweep, message or point; an exabyte/s for a path. */
#define SECONDS_MOST   3600.0
#define BANDWIDTH_MOST 1e18

/** The program of the runs: himeno-gpu measures sweeps, gemm-gpu products over all ranks. */
enum study_program { STUDY_HIMENO, STUDY_GEMM, STUDY_PROGRAMS };

/** Fields of a product that a sweep lacks. */
struct study_product {
  int type;      /**< enum gemm_type */
  int64_t panel; /**< k per panel; 0 in a model: chosen by gemm-gpu */
  int on_cpu;    /**< 1: on CPUs, where gemm-gpu's choice differs */
  int tile[2];   /**< rows and columns of C per thread block; 0: unknown */
};

/** One document of himeno-gpu or gemm-gpu. Times are seconds per sweep or product. */
struct study_run {
  enum study_program program;
  struct study_product product;
  char file[256];
  char size[STUDY_TEXT], transport[STUDY_TEXT], kernel[STUDY_TEXT], backend[STUDY_TEXT], device[128];
  int64_t global[3];
  int procs[3]; /**< ranks per dimension; procs[2] is 0 for products, which cut only m and n */
  int ranks, hosts, weak, overlap, depth;
  int sharers;  /**< largest number of ranks on one CPU memory or on one device; 0: unknown */
  int memories; /**< memories of a CPU host that its ranks use; 0: devices have their own */
  /** staged halos: 1 through shared memory, 0 by MPI or if the document is too old to report it; −1
   * if there are none */
  int handover;
  double seconds; /**< median of the blocks */
  double noise;   /**< relative noise of the blocks; 0 if there are fewer than three */
  /** relative standard deviation of the run's measured device ceilings; 0 for fewer than four
   * GPUs */
  double device_spread;
  /** host, driver, PCI address and UUID of rank 0; host is "" if the document lacks it */
  char host[STUDY_TEXT], driver[128], pci[STUDY_TEXT], uuid[STUDY_TEXT];
  int verified;
  char checksum[STUDY_TEXT]; /**< checksum of the result, followed by data and number of sweeps */
  uint64_t samples;          /**< hash of the blocks' times; 0: the document has none */
};

/** Reasons for leaving a document out of a study. */
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

/** Size of the text with the reason for leaving out a document. */
#define STUDY_WHY 384
struct study_left {
  enum study_reason reason;
  char file[256], why[STUDY_WHY];
};

struct study {
  enum study_program program; /**< same for all runs */
  int n, n_left;
  struct study_run *runs;
  struct study_left *left;
};

/** \brief Reads "unverified,outliers" into an unsigned, a set of bits `1 << reason`: the reasons
 * for which runs are not left out. If the text is invalid, logs that and returns STATUS_USAGE. */
status_t study_keep_parse(const char *option, const char *text, void *keep);

enum study_where { STUDY_SAME_HOST, STUDY_OTHER_HOST, STUDY_WHERES };
extern const char *const study_where_names[STUDY_WHERES]; /**< names in documents */

/** A transport, and the latency and bandwidth that comm-gpu fitted. */
struct study_transport {
  char name[STUDY_TEXT];
  int handover; /**< same as in struct study_run; −1 if a model does not have it */
  int known[STUDY_WHERES];
  double latency[STUDY_WHERES];   /**< seconds */
  double bandwidth[STUDY_WHERES]; /**< bytes per second in each direction while both are active */
  double residual[STUDY_WHERES];
  /** Part of a byte's time within a host that the copies of all its ranks share: the fraction of
   * its bandwidth that a direction loses if the other is active, too. 0: unknown */
  double host_share;
};

/** A path between hosts from the user, per direction while both are active; all 0: not given. */
struct study_between {
  double latency, bandwidth; /**< seconds, bytes per second */
};

#define STUDY_TRANSPORTS_MAX 12

struct study_paths {
  int n;
  struct study_transport transports[STUDY_TRANSPORTS_MAX];
};

/** \brief Reads all *.json of a folder, or one file. Returns STATUS_ENVIRONMENT if it cannot be
 * read or holds no run that passed. Returns STATUS_USAGE, and names the file, if a run's document
 * does not match its schema or is of another program than the runs before it. */
status_t study_read(const char *path, struct study *study);
void study_free(struct study *study);

/** \brief Adds a document, with the reason as text, to the list of documents that were left out. */
status_t study_leave(struct study *study, enum study_reason reason, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** \brief Leaves out runs on more than \a ranks ranks (0: any), and runs that differ from most runs
 * in kernel, backend, depth, device or staging. If \a kernel is not NULL, keeps only runs of that
 * kernel. */
status_t study_select(struct study *study, const char *kernel, int ranks);

/** \brief Leaves out runs whose transport is not \a transport and has no parameters in \a paths, or
 * whose halos were staged differently: a prediction for one transport does not need other
 * transports. */
status_t study_transport_select(struct study *study, const struct study_paths *paths, const char *transport);

/** \brief Leaves out copies of runs, runs on other machines than most, and runs that were not
 * verified and whose bits no other run confirms. Does not apply the reasons in \a keep. */
status_t study_screen(struct study *study, unsigned keep);

/** \brief Returns 1 if two runs have the same grid, cut, hosts and transport. */
int study_same_configuration(const struct study_run *a, const struct study_run *b);

/** \brief Leaves out runs whose halos were staged differently from \a handover (−1: keeps all). */
status_t study_staging_select(struct study *study, int handover);

/** \brief Returns the text of `handover`: "through shared memory" and so on. */
static inline const char *study_staging(int handover)
{
  return handover ? "through shared memory" : "by MPI alone, as before shared memory";
}

/** \brief Returns the text of a cut: "2x2x1", for a product "2x2". */
static inline const char *study_cut_text(const int procs[3], char text[STUDY_TEXT])
{
  if (procs[2] > 0)
    snprintf(text, STUDY_TEXT, "%dx%dx%d", procs[0], procs[1], procs[2]);
  else
    snprintf(text, STUDY_TEXT, "%dx%d", procs[0], procs[1]);
  return text;
}

int study_per_host(const struct study_run *run);

/** \brief Reads a document of comm-gpu. A transport's parameters are the medians over its pairs. If
 * pairs were measured all at once, only these measurements count. Returns STATUS_ENVIRONMENT if it
 * cannot be read or has no fit, STATUS_USAGE if it is invalid. */
status_t study_paths_read(const char *path, struct study_paths *paths);

/** \brief Returns the index of the transport of that name, or −1. */
static inline int study_transport_find(const struct study_paths *paths, const char *name)
{
  for (int w = 0; w < paths->n; w++)
    if (strcmp(paths->transports[w].name, name) == 0) return w;
  return -1;
}

#endif
