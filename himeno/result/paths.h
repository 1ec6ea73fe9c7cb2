/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The paths between neighbours, each pair by itself: latency and bandwidth, for the checks
 * of an acceptance.
 *
 * Pairs along one direction are measured at once, in two halves that share no rank, by the run's
 * transport or its fallback. An exchange of one float gives the latency, and the extra time of a
 * larger one the bandwidth; both go both ways at once. */
#ifndef HIMENO_RESULT_PATHS_H
#define HIMENO_RESULT_PATHS_H

#include "gpu/telemetry.h"
#include "himeno/config/choice.h"

/** Which way a message's bytes went, by the device's counters. */
enum path_medium {
  MEDIUM_UNKNOWN,
  MEDIUM_NVLINK,
  MEDIUM_PCIE,      /**< to the neighbour or to the host, which the counters cannot distinguish */
  MEDIUM_HOST,      /**< through the host, as the transport does */
  MEDIUM_DISGUISED, /**< by PCIe, although there are NVLinks and the transport bypasses the host */
  PATH_MEDIA
};
extern const char *const path_medium_names[PATH_MEDIA]; /**< NULL for the first */

/** What an acceptance measures of a path; zeros if it was not measured. */
struct path_probe {
  double seconds; /**< of an exchange of one float */
  double bytes_per_second;
  double sent;                   /**< bytes during the measurement, 0 if nothing counted */
  struct telemetry_sent counted; /**< what the device counted of them */
  int nvlinks;                   /**< of the device that are active; -1 unknown */
};

/** How one message of a rank travels. */
struct himeno_path {
  int peer;
  char face[8];
  int64_t bytes;
  char used[16];
  char why[GPU_TEXT_MAX]; /**< "" if it is the transport of the run */
  char handover[16];      /**< of halo_path, and why */
  char handover_why[GPU_TEXT_MAX];
  struct path_probe probe;
  enum path_medium medium; /**< on rank 0 */
};

/** \brief Collective, before there is a solver: measures the paths of this rank's messages. */
status_t paths_probe(const struct himeno_choice *choice, struct path_probe probes[HALO_MESSAGES_MAX]);

/** \brief Where at least nine tenths of what was sent were counted. Unknown to other hosts: PCIe
 * leads to their network cards too. */
enum path_medium path_medium(const struct himeno_path *path, int within_host);

#endif
