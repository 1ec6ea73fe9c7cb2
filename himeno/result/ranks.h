/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What each rank saw, brought together on rank 0. Collective; ranks agree on the outcome. */
#ifndef HIMENO_RESULT_RANKS_H
#define HIMENO_RESULT_RANKS_H

#include "base/stats.h"
#include "comm/ranks/placement.h"
#include "himeno/result/record.h"
#include "suite/ranks.h"
#include "gpu/telemetry.h"
#include "himeno/solver/solver.h"
#include "himeno/config/choice.h"

/** The medium of a message's bytes, by the device's counters. */
enum path_medium {
  MEDIUM_UNKNOWN,
  MEDIUM_NVLINK,
  MEDIUM_PCIE,      /**< to the neighbour or to the host, which the counters cannot distinguish */
  MEDIUM_HOST,      /**< through the host, as the transport does */
  MEDIUM_DISGUISED, /**< by PCIe, although there are NVLinks and the transport bypasses the host */
  PATH_MEDIA
};
extern const char *const path_medium_names[PATH_MEDIA]; /**< NULL for the first */

/** An acceptance's measurement of a path; zeros if it was not measured. */
struct path_probe {
  double seconds; /**< of an exchange of one float */
  double bytes_per_second;
  double sent;                   /**< bytes during the measurement, 0 if nothing counted */
  struct telemetry_sent counted; /**< what the device counted of them */
  int nvlinks;                   /**< of the device that are active; -1 unknown */
};

/** Texts of a path, and on rank 0 the next that are others. */
struct path_texts {
  char used[16];
  char why[GPU_TEXT_MAX]; /**< "" if it is the transport of the run */
  char handover[16];      /**< of halo_path, and why */
  char handover_why[GPU_TEXT_MAX];
  struct path_texts *next;
};

/** How one message of a rank travels. The second half is on rank 0 alone. */
struct himeno_path {
  int peer;
  char face[8];
  int64_t bytes;
  struct path_probe probe;
  const struct path_texts *texts;
  enum path_medium medium;
  struct himeno_path *first; /**< of those that differ in rank, peer and probe alone */
  struct himeno_path *next;  /**< of a first: the next first */
};

/** \brief Collective, before there is a solver: measures the paths of this rank's messages. */
status_t paths_probe(const struct himeno_choice *choice, struct path_probe probes[HALO_MESSAGES_MAX]);

/** \brief Where at least nine tenths of what was sent were counted. Unknown to other hosts: PCIe
 * leads to their network cards too. */
enum path_medium path_medium(const struct himeno_path *path, int within_host);

/** A shorter window is not used: the counter's steps and the warm-up are too large a share of
 * it. */
#define ENERGY_SECONDS_MIN 10.0
/** A window with a smaller share in sweeps is not used: it mostly measures pauses between
 * blocks. */
#define ENERGY_SWEEPING_MIN 0.5

/** A rank's window. */
struct energy {
  char scope[40];         /**< what is counted; "" where nothing is */
  double seconds, joules; /**< of the window; joules 0 where it is too short */
  double begin, counted;  /**< its begin; counted negative: without a step */
  double idle_watts;      /**< before it; negative where it was not measured */
  double sweeping;        /**< seconds of it in sweeps */
  int64_t sweeps;
};

/** \brief Begins a window planned to last \a wanted seconds, negative if unknown. If that is long
 * enough, the device first idles for 0.2 to 1 s. */
void energy_begin(struct telemetry *telemetry, double wanted, struct energy *energy);

/** \brief A block of the window. */
void energy_add(struct energy *energy, const struct solver_block *block);

void energy_end(struct telemetry *telemetry, struct energy *energy);

/** \brief Joules of all sweeps; 0 if the window cannot be used. */
double energy_of_sweeps(const struct energy *energy);

/** One rank as the report shows it. */
struct himeno_rank {
  struct rank_row row;
  int64_t points;               /**< owned */
  double phases[HIMENO_PHASES]; /**< mean seconds per sweep over all timed blocks */
  double waited;                /**< the same, within interior, at most */
  /** median seconds per sweep of its blocks' interior and boundary, without waits; on rank 0 */
  double compute;
  double noise;         /**< of these seconds over the blocks, relative; on rank 0 */
  double ceiling;       /**< bytes per second of its device, 0 if unknown */
  double ceiling_noise; /**< of its batches, relative */
  struct record_telemetry telemetry;
  struct energy energy;
  int cards;         /**< network cards of its host that are up */
  double cards_gbps; /**< rate of the slowest of them, Gbit/s; 0 if unknown */
  int n_paths;
  struct himeno_path paths[HALO_MESSAGES_MAX];
};

/** All ranks; empty on other ranks than 0, and before they were gathered. */
struct himeno_ranks {
  int n;
  struct himeno_rank *rank;
  double *throttled; /**< per timed block, whether any device was at its end */
  struct record_change *changes[RECORD_CHANGES_MAX]; /**< [change][rank] */
  struct path_texts *texts;                          /**< of all paths, each once */
  struct himeno_path *groups;                        /**< the first path that is a first */
  struct telemetry_sample *series;                   /**< [rank · rows + row] */
  int kept_blocks;
  struct record_block *times; /**< [rank · kept_blocks + block], without waits */
  struct record_when when[RECORDS_MAX];
};

/** \brief What a rank computed itself, of seconds per sweep that hold up to \a waited of waiting
 * for neighbours: less that, but no less than its ceiling takes for the same bytes. All if the
 * ceiling is unknown. */
double himeno_own_seconds(const struct himeno_rank *rank, double compute, double waited);

/** \brief Their noise over the blocks. If waits took most of a CPU's down to its ceiling's, they
 * are as noisy as that, which is measured between blocks too. */
double himeno_own_noise(const struct himeno_rank *rank, const struct stats_summary *seconds);

/** \brief Fills medium, first and next of every path. */
void himeno_media_find(struct himeno_ranks *ranks);

struct himeno_result;

/** \brief Fills result->ranks. */
status_t himeno_ranks_gather(const struct placement *placement, struct solver *solver, struct record *record,
                             struct himeno_result *result);

/** \brief Sums the ranks' emulator counts. */
status_t himeno_counts_gather(MPI_Comm comm, const struct solver_grid *grid, struct himeno_counts *sum);

#endif
