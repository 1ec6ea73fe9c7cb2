/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A run of mem-gpu: the device, and the results of each section. Rates are bytes or
 * operations per second. */
#ifndef TOOLS_MEMORY_STATE_H
#define TOOLS_MEMORY_STATE_H

#include "base/document.h"
#include "gpu/select.h"
#include "tools/memory/cmdline.h"
#include "tools/memory/levels.h"
#include "tools/memory/kernels/mem_ops.h"
#include "tools/memory/sampler.h"

#define MEM_RIVALS_MAX  MEM_VALUES_MAX
#define MEM_MIXES       5
#define MEM_CURVES_MAX  MEM_VALUES_MAX
#define MEM_POINTS_MAX  192
#define MEM_INTENSITIES 14 /**< 1/16 … 512 operations per byte, each twice the previous one */
#define MEM_WINDOWS     3
#define MEM_PLACED_MAX  64
#define MEM_TRAFFIC_MAX 32

/* ---- copies ---- */

struct mem_copy_point {
  struct mem_copy copy;
  struct stats_summary rate; /**< bytes read plus bytes written, per second */
};

/** The rates of all copy methods at one size. */
struct mem_rivals {
  uint64_t bytes;
  /** rate per method; for MEM_STUDY, the rate of the fastest point of this size */
  struct stats_summary rate[MEM_METHODS];
  int shape; /**< fastest launch shape of MEM_TUNED */
};

/** Gain of pacing with a number of streams, over all sizes beyond the last cache. */
struct mem_pacing {
  int width, streams;
  double ratio; /**< median of paced over unpaced rates */
  double least, most;
  int sizes;
};

struct mem_copies {
  struct mem_copy_point *points;
  int n;
  struct mem_rivals rivals[MEM_RIVALS_MAX];
  int n_rivals;
  struct mem_pacing pacing[2 * MEM_STREAMS_MAX];
  int n_pacing;
};

/* ---- mixes ---- */

struct mem_mix_point {
  int reads, writes;
  uint64_t bytes; /**< size of each array */
  struct stats_summary rate;
  int shape; /**< the fastest launch shape */
};

/* ---- latency ---- */

struct mem_curve {
  uint64_t stride;
  uint64_t bytes[MEM_POINTS_MAX];
  /** medians per load: nanoseconds, and clock cycles (0: unknown) */
  double ns[MEM_POINTS_MAX], cycles[MEM_POINTS_MAX];
  /** relative spread of each point: largest over smallest sample, minus 1 */
  double spread[MEM_POINTS_MAX];
  int n;
};

struct mem_latency {
  struct mem_curve *curves;
  int n;
  struct levels_level levels[LEVELS_MAX];
  int n_levels;
};

/* ---- host ---- */

struct mem_host_point {
  const char *access; /**< "COPY", "TRIADD", "READ", "MEMCPY" */
  int streaming;      /**< 1: stores bypass the caches */
  int threads;
  uint64_t bytes; /**< size of each array */
  struct stats_summary rate;
};

/* ---- roofline ---- */

struct mem_window_point {
  const char *level; /**< "L1", "cache", "memory" */
  uint64_t bytes;
  struct stats_summary rate;
};

struct mem_flops_point {
  enum mem_type type;
  double intensity; /**< floating-point operations per byte */
  struct stats_summary rate;
};

struct mem_peak {
  enum mem_type type;
  double rate;
  const char *by; /**< kernel or instruction that reached the peak */
};

/** A kernel of the suite on the roofline. */
struct mem_placed {
  char name[96];
  enum mem_type type;
  double intensity, rate;
  double sweeps;     /**< sweeps per pass; 0: not a sweep */
  char traffic[160]; /**< how the kernel's bytes were counted */
};

/** Memory traffic of a sweep, from hardware counters. */
struct mem_traffic {
  char name[96]; /**< name of the kernel, as in mem_placed */
  double bytes;  /**< bytes per point and pass */
};

struct mem_roofline {
  struct mem_window_point windows[MEM_WINDOWS];
  int n_windows;
  struct mem_flops_point points[MEM_TYPES * MEM_INTENSITIES];
  int n_points;
  struct mem_peak peaks[MEM_TYPES];
  int n_peaks;
  struct mem_placed placed[MEM_PLACED_MAX];
  int n_placed;
  struct mem_traffic traffic[MEM_TRAFFIC_MAX];
  int n_traffic;
};

/** The device and kernels of all sections, and the number of results that were compared. */
struct mem_rig {
  struct gpu_device *device;
  const struct mem_ops *ops;
  struct mem_exec *exec;
  struct mem_traits traits;
  struct sampler sampler;
  uint64_t checks;
  uint64_t corrupt; /**< HIMENO_MEM_CORRUPT: comparison before which a bit is flipped; 0: none */
};

struct mem_run {
  struct mem_config config;
  struct gpu_claim claim;
  struct mem_rig rig;
  status_t verdict;
  struct mem_copies copies;
  struct mem_mix_point mixes[MEM_MIXES];
  int n_mixes;
  struct mem_latency latency;
  struct mem_host_point *host;
  int n_host;
  struct mem_roofline roofline;
};

/* Each of these functions measures one section. STATUS_WRONG means that a result differs; earlier
 * results can still be reported. */
status_t mem_copies_run(struct mem_run *run);
status_t mem_mixes_run(struct mem_run *run);
status_t mem_latency_run(struct mem_run *run);
status_t mem_host_run(struct mem_run *run);
status_t mem_roofline_run(struct mem_run *run);

/** \brief Logs an error and returns STATUS_ENVIRONMENT if a value of --threads exceeds \a most. */
status_t mem_threads_check(const struct mem_values *threads, int most, const char *device);

/** \brief Returns the point with the parameters of \a like (any method, memory, shape), or NULL. */
const struct mem_copy_point *mem_copy_find(const struct mem_copies *copies, const struct mem_copy *like);

/** \brief Returns the smallest number of streams from which on pacing raises the rate by at least
 * 1% at every measured number of streams, or 0 if there is none. */
int mem_pacing_from(const struct mem_copies *copies, int width);

/* Comparisons of results. */

/** \brief Counts a comparison. Returns 1 if HIMENO_MEM_CORRUPT names it, so that it must fail. */
int mem_contents_corrupt(struct mem_rig *rig);
/** \brief Compares memory with its expected content. If they differ, logs an error that begins with
 * \a what and returns STATUS_WRONG. */
status_t mem_contents_check(struct mem_rig *rig, struct gpu_mem mem, uint64_t bytes, struct mem_check check,
                            const char *what);
/** \brief Like mem_contents_check, for one word of device memory. */
status_t mem_word_check(struct mem_rig *rig, struct gpu_mem word, uint32_t want, const char *what);
/** \brief Like mem_contents_check, for the final position of a chase. */
status_t mem_position_check(struct mem_rig *rig, uint64_t got, uint64_t want, const char *what);
/** \brief Computes the sum of all words of array 0. */
status_t mem_sum_of(struct mem_rig *rig, uint64_t bytes, uint32_t *sum);

/** \brief Reads the documents listed in \a kernels, the argument of --kernels, into
 * roofline->placed. Returns STATUS_ENVIRONMENT if a file cannot be read, STATUS_USAGE if a file is
 * not a document with kernels that can be placed. */
status_t mem_place_read(const char *kernels, struct mem_roofline *roofline);

/* Reports. */
void mem_report_text(const struct mem_run *run, FILE *out);
void mem_document(struct doc *d, const struct mem_run *run);
extern const char *const mem_access_names[4];
void mem_report_list(const struct gpu_backend *asked, FILE *out);

#endif
