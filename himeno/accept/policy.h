/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a site asks of a run: a small JSON document of limits, or a built-in one.
 *
 *     {"name": "our nodes", "ceiling_share_min": 0.95, "devices_per_host": 8, "ecc": true,
 *      "from": {"ceiling_share_min": "our 16 nodes in May, all above 0.97"}}
 *
 * Only what is named is checked; doc/acceptance.md lists the keys. Nothing in the file is
 * evaluated. */
#ifndef HIMENO_ACCEPT_POLICY_H
#define HIMENO_ACCEPT_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/** With fewer timed blocks the noise of a run is unknown. */
#define ACCEPT_BLOCKS_MIN 3
/** Noise of the blocks' times beyond which no check of speed fails where the policy does not
 * say. */
#define ACCEPT_NOISE_MAX 0.05
/** NVLink CRC errors of a device, a second, of the policies that are built in or made. */
#define ACCEPT_NVLINK_CRC_RATE_MAX  100.0
#define ACCEPT_NVLINK_CRC_RATE_FROM "NVIDIA's DCGM, whose health check fails a device from 100 a second on"
#define POLICY_NAME_MAX             64
#define POLICY_FROM_MAX             120
#define POLICY_KEYS_MAX             40

/** Limits; a negative one is not checked. Shares and spreads are fractions of 1. */
struct accept_policy {
  char name[POLICY_NAME_MAX];
  int built_in; /**< limits were measured on GPUs, with grids far larger than their caches */
  double ceiling_share_min;
  double theory_share_min;  /**< of a device's ceiling over what its clocks and widths allow */
  double device_gflops_min; /**< of each rank's own compute time */
  /** of all devices together over the sum of each one's own compute rate */
  double efficiency_min;
  double device_spread_max; /**< (fastest − slowest) / median of the devices' GFLOPS */
  double noise_max;         /**< of the blocks' times; a run noisier than that is not judged */
  /** of a device's own compute times in them, without exchange; likewise for what judges devices */
  double device_noise_max;
  double exchange_us_max;         /**< latency of a way between two ranks */
  double exchange_gbps_min;       /**< its rate, GB/s each way */
  double exchange_us_ratio_max;   /**< latency over the median of the ways like it */
  double exchange_gbps_ratio_min; /**< rate over the median of the ways like it */
  double stragglers_max;
  double episodes_max;
  /** errors that a rank's device, links and cards counted meanwhile, but NVLink's CRC errors */
  double counted_max;
  double nvlink_crc_rate_max; /**< of those of a device, a second */
  double devices_per_host;    /**< ranks a host, each with a device */
  double binding;             /**< 1: no device and no core is shared by ranks */
  double devices_unshared;    /**< 1: no device is; of CPUs, no core */
  double ecc;                 /**< 1: on */
  double ecc_corrected_max;
  double ecc_uncorrected_max;
  double retired_max; /**< pages or rows of memory out of use */
  double pcie_gen_min, pcie_width_min;
  double pcie_full;         /**< 1: as many lanes as the device has */
  double nvlinks_min;       /**< active */
  double sm_mhz_min;        /**< the least seen after a block */
  double celsius_max;       /**< the most seen */
  double throttled_max;     /**< share of blocks with a forbidden reason */
  int throttle_forbidden;   /**< enum telemetry_throttle, or-ed */
  double cards_min;         /**< network cards of a host that are up */
  double card_gbps_min;     /**< rate of each that is up */
  double unknown_fails;     /**< 1: a check whose value nobody can tell fails */
  double unverified_passes; /**< 1: a run whose result was compared with nothing is accepted */
  char from[POLICY_KEYS_MAX][POLICY_FROM_MAX]; /**< where a limit comes from, for policy_from */
};

/** What a run has to measure so that it can be judged. */
struct accept_plan {
  int blocks_min; /**< timed blocks at least */
  /** more blocks are timed while the bounds of the blocks' noise and of a device's own exceed
   * these; infinite: no check needs them */
  double noise_max, device_noise_max;
  double span_min; /**< seconds from the begin of the first block to the end of the last */
};

/** \brief Reads a built-in policy by name, or a file. STATUS_ENVIRONMENT when it cannot be read,
 * STATUS_USAGE, with key or line, for what is no policy. */
status_t policy_read(const char *name, struct accept_policy *policy);

/** \brief Where the limit at that offset of the policy comes from; "" where nobody says. */
const char *policy_from(const struct accept_policy *policy, size_t offset);

/** \brief Reads a policy from text, for policy_read and tests. \a where names it in messages. */
status_t policy_parse(const char *text, size_t bytes, const char *where, struct accept_policy *policy);

#endif
