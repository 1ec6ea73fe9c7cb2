/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Gathers the data of all ranks on rank 0. Collective; ranks agree on the outcome. */
#ifndef HIMENO_RESULT_RANKS_H
#define HIMENO_RESULT_RANKS_H

#include "base/stats.h"
#include "comm/ranks/placement.h"
#include "himeno/result/record.h"
#include "suite/ranks.h"
#include "gpu/telemetry.h"
#include "himeno/solver/solver.h"
#include "himeno/config/choice.h"

/** The medium that carried a message's bytes, by the device's counters. */
enum path_medium {
  MEDIUM_UNKNOWN,
  MEDIUM_NVLINK,
  MEDIUM_PCIE,      /**< to the neighbour or to the host, which the counters cannot distinguish */
  MEDIUM_HOST,      /**< through the host, as the transport is designed to do */
  MEDIUM_DISGUISED, /**< by PCIe, although NVLinks exist and the transport bypasses the host */
  PATH_MEDIA
};
extern const char *const path_medium_names[PATH_MEDIA]; /**< NULL for MEDIUM_UNKNOWN */

/** Measurement of a path for an acceptance; zeros if the path was not measured. */
struct path_probe {
  double seconds; /**< time of an exchange of one float */
  double bytes_per_second;
  double sent;                   /**< bytes sent during the measurement, 0 without counters */
  struct telemetry_sent counted; /**< the part of `sent` that the device's counters show */
  int nvlinks;                   /**< active NVLinks of the device; −1: unknown */
};

/** Texts of a path, and on rank 0 a list of distinct ones. */
struct path_texts {
  char used[16];
  char why[GPU_TEXT_MAX]; /**< "" if the path uses the run's transport */
  char handover[16];      /**< handover, handover_why: as in struct halo_path */
  char handover_why[GPU_TEXT_MAX];
  struct path_texts *next;
};

/** The path of one message of a rank. `medium`, `first` and `next` are set on rank 0. */
struct himeno_path {
  int peer;
  char face[8];
  int64_t bytes;
  struct path_probe probe;
  const struct path_texts *texts;
  enum path_medium medium;
  struct himeno_path *first; /**< representative: first path equal except for rank, peer, probe */
  struct himeno_path *next;  /**< in a representative: the next representative */
};

/** \brief Collective, before a solver is opened: measures the paths of this rank's messages. */
status_t paths_probe(const struct himeno_choice *choice, struct path_probe probes[HALO_MESSAGES_MAX]);

/** \brief Returns the medium for which counters show at least nine tenths of the bytes sent. For
 * messages to other hosts it is unknown, because their bytes also pass PCIe to the network card. */
enum path_medium path_medium(const struct himeno_path *path, int within_host);

/** Minimum window: in a shorter one, the counter's steps and the warm-up are too large a share. */
#define ENERGY_SECONDS_MIN 10.0
/** Minimum share of a window in sweeps: with less, mostly pauses between blocks are measured. */
#define ENERGY_SWEEPING_MIN 0.5

/** A rank's window of energy measurement. */
struct energy {
  /** the part whose energy is counted, e.g. the module; "" without a counter */
  char scope[40];
  double seconds, joules; /**< length and energy of the window; joules is 0 if it is too short */
  double begin, counted;  /**< begin: time; counted: counter at that time, negative if not read */
  double idle_watts;      /**< power before the window; negative if not measured */
  double sweeping;        /**< seconds of the window spent in sweeps */
  int64_t sweeps;
};

/** \brief Begins a window planned to last \a wanted seconds, negative if unknown. If it is at least
 * ENERGY_SECONDS_MIN, idle power is measured first, which takes 0.2 to 1 s. */
void energy_begin(struct telemetry *telemetry, double wanted, struct energy *energy);

/** \brief Adds a block to the window. */
void energy_add(struct energy *energy, const struct solver_block *block);

void energy_end(struct telemetry *telemetry, struct energy *energy);

/** A rank's data in the report. */
struct himeno_rank {
  struct rank_row row;
  int64_t points;               /**< owned by the rank */
  double phases[HIMENO_PHASES]; /**< mean seconds per sweep over all timed blocks */
  double waited;                /**< waiting time within PHASE_INTERIOR, upper bound of the mean */
  /** on rank 0: median over blocks of seconds per sweep in interior and boundary, without waits */
  double compute;
  double noise;         /**< noise of `compute` over the blocks, relative; on rank 0 */
  double ceiling;       /**< bandwidth ceiling of its device in bytes per second, 0 if unknown */
  double ceiling_noise; /**< relative noise of the ceiling's batches */
  struct record_telemetry telemetry;
  struct energy energy;
  int cards;         /**< number of active network cards on the rank's host */
  double cards_gbps; /**< rate of the host's slowest active card, Gbit/s; 0 if unknown */
  int n_paths;
  struct himeno_path paths[HALO_MESSAGES_MAX];
};

/** All ranks. Empty on ranks other than 0, and until the ranks are gathered. */
struct himeno_ranks {
  int n;
  struct himeno_rank *rank;
  double *throttled; /**< per timed block: whether any device was throttled at its end */
  struct record_change *changes[RECORD_CHANGES_MAX]; /**< [change][rank] */
  struct path_texts *texts;                          /**< list of all distinct path_texts */
  struct himeno_path *groups;                        /**< head of the list of representatives */
  struct telemetry_sample *series;                   /**< [rank · rows + row] */
  int kept_blocks;
  struct record_block *times; /**< [rank · kept_blocks + block], without waits */
  struct record_when when[RECORDS_MAX];
};

/** \brief Returns the rank's own compute time per sweep. \a compute is the measured time, which
 * includes up to \a waited seconds of waiting for neighbours. The result is their difference, but
 * at least the time for the same bytes at the rank's ceiling; if that is unknown, it is \a
 * compute. */
double himeno_own_seconds(const struct himeno_rank *rank, double compute, double waited);

/** \brief Returns the noise of a rank's own compute \a seconds over the blocks. If their median is
 * the time at the ceiling because waits were subtracted, the noise is on a CPU at least the
 * ceiling's. */
double himeno_own_noise(const struct himeno_rank *rank, const struct stats_summary *seconds);

/** \brief Sets medium, first and next of every path. */
void himeno_media_find(struct himeno_ranks *ranks);

struct himeno_result;

/** \brief Gathers the data of all ranks in result->ranks. */
status_t himeno_ranks_gather(const struct placement *placement, struct solver *solver, struct record *record,
                             struct himeno_result *result);

/** \brief Sums up the emulator counts of all ranks. */
status_t himeno_counts_gather(MPI_Comm comm, const struct solver_grid *grid, struct himeno_counts *sum);

#endif
