/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A rank's record of the timed blocks: compute and exchange times, and the device's
 * state. */
#ifndef HIMENO_RESULT_RECORD_H
#define HIMENO_RESULT_RECORD_H

#include "base/starvation.h"
#include "comm/ranks/cards.h"
#include "comm/ranks/placement.h"
#include "gpu/telemetry.h"
#include "himeno/solver/solver.h"

/** Maximum rows per rank. With many ranks each has fewer, so that all ranks have at most
 * SERIES_ROWS_ALL. */
#define SERIES_ROWS_MAX 1024
#define SERIES_ROWS_MIN 8
#define SERIES_ROWS_ALL 16384

/** A device's samples after each timed block, in a bounded number of rows. A row covers one block
 * until the rows are full. Then each two adjacent rows become one with the worse of each value, so
 * that a long run loses resolution but no hot period. */
struct series {
  int most;   /**< maximum number of rows, even */
  int each;   /**< blocks per row; the last row may cover fewer */
  int blocks; /**< number of blocks so far */
  struct telemetry_sample rows[SERIES_ROWS_MAX];
};

/** \brief Begins an empty series on one of \a ranks ranks. */
void series_open(struct series *series, int ranks);

void series_add(struct series *series, const struct telemetry_sample *sample);

int series_rows(const struct series *series);

/** \brief Merges two samples into \a worst: most watts and degrees, lowest clocks, all reasons. */
void series_worst(struct telemetry_sample *worst, const struct telemetry_sample *other);

/** Maximum number of blocks kept per rank: if there are more, every second one is dropped,
 * repeatedly. With many ranks all keep RECORDS_ALL together, each at least RECORDS_MIN. */
#define RECORDS_MAX 256
#define RECORDS_MIN 16
#define RECORDS_ALL 65536

struct record_block {
  double compute;  /**< seconds per sweep in interior and boundary */
  double exchange; /**< seconds per sweep in packing, copies and transfer, without waits */
  double waited;   /**< upper bound of the waits for neighbours within `compute` */
};

/** The end of a kept block, and the block's index among all timed blocks. */
struct record_when {
  double end; /**< seconds since the first timed block began */
  int block;
};

/** Maximum number of changes kept per rank; later changes are only counted. */
#define RECORD_CHANGES_MAX 32

/** NVLink CRC errors are reported as a rate over at least this time, as DCGM does: healthy links
 * have had higher rates within one second. */
#define RECORD_RATE_SECONDS 60.0

/** A change of a fact that should not change during a run. */
struct record_change {
  int block; /**< index from 0 of the block after which the change was seen */
  enum telemetry_fact of;
  int64_t from, to;
  char detail[TELEMETRY_DETAIL_BYTES];
};

/** A rank's telemetry over all timed blocks. */
struct record_telemetry {
  char source[8];                    /**< "NVML", "sysfs", "" */
  int samples;                       /**< number of samples with any value */
  int throttled;                     /**< number of blocks at whose end the device was throttled */
  int by_reason[THROTTLE_BITS];      /**< blocks per reason, by bit of enum telemetry_throttle */
  struct telemetry_sample low, high; /**< low: minimum, high: maximum of each value */
  struct telemetry_state before, after;
  int each, rows; /**< each: blocks per row; rows: number of rows; as in the series of all ranks */
  int n_changes;
  /** NVLink CRC errors per second: the maximum over periods of RECORD_RATE_SECONDS; −1 if they
   * cannot be read */
  double crc_rate;
  double starved; /**< share of time that a busy thread waited for a core; −1: unknown */
};

/** A reading of a device's NVLink CRC errors. */
struct record_crc {
  double when;
  int64_t errors;
};

struct record {
  struct telemetry *device;
  struct starvation *starvation; /**< counters at the start of the timed part */
  /** last reading of the host's cards; NULL if another rank reads them */
  struct cards *cards;
  struct record_telemetry telemetry;
  struct record_change changes[RECORD_CHANGES_MAX];
  struct telemetry_sample now; /**< after the last block */
  struct series series;
  double read_at, read_seconds;        /**< time of the last reading; read_seconds: its duration */
  struct record_crc before_last, last; /**< ends of the last two periods of the error rate */
  double began;                        /**< when the first block began */
  struct record_block blocks[RECORDS_MAX];
  struct record_when when[RECORDS_MAX];
  int n, most, stride, skipped;
  double *throttled; /**< per timed block: whether the device was throttled at its end */
  int n_throttled;
};

/** \brief Starts to record this rank's device and, on the first rank of a host, its network
 * cards. */
status_t record_open(const struct placement *placement, struct record **record);
void record_close(struct record *record);

/** \brief Call when the timed part begins. */
void record_begin(struct record *record);

/** \brief Records a timed block. Also reads the device's state, unless that would take more than a
 * twentieth of the time; then a later block does. Returns STATUS_ENVIRONMENT if memory ran out. */
status_t record_add(struct record *record, const struct solver_block *block);

/** \brief Call when all timed blocks have ended. */
void record_finish(struct record *record);

/** \brief Widens the ranges of \a all to include another device's. */
void record_merge(struct record_telemetry *all, const struct record_telemetry *other);

/** \brief Returns the increase of the counter over all blocks; −1 if it cannot be read. */
int64_t record_rise(const struct record_telemetry *telemetry, enum telemetry_fact counter);

/** \brief Returns the reasons why the device was throttled in any block, as bits of enum
 * telemetry_throttle. */
int record_reasons(const struct record_telemetry *telemetry);

#endif
