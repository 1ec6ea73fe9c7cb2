/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Each rank's record of each timed block: compute and exchange separately, and the device's
 * state. */
#ifndef HIMENO_RESULT_RECORD_H
#define HIMENO_RESULT_RECORD_H

#include "base/starvation.h"
#include "comm/ranks/cards.h"
#include "comm/ranks/placement.h"
#include "gpu/telemetry.h"
#include "himeno/solver/solver.h"

/** Most rows of a rank; with many ranks each has fewer, so that all have at most
 * SERIES_ROWS_ALL. */
#define SERIES_ROWS_MAX 1024
#define SERIES_ROWS_MIN 8
#define SERIES_ROWS_ALL 16384

/** A device's samples after each timed block, in a bounded number of rows. A row holds one block
 * until the rows are full. Then each two neighbours become one row with the worse of each value, so
 * that a long run loses resolution but no hot period. */
struct series {
  int most;   /**< rows, even */
  int each;   /**< blocks a row; the last row may have fewer */
  int blocks; /**< so far */
  struct telemetry_sample rows[SERIES_ROWS_MAX];
};

/** \brief An empty series of one of \a ranks ranks. */
void series_open(struct series *series, int ranks);

void series_add(struct series *series, const struct telemetry_sample *sample);

int series_rows(const struct series *series);

/** \brief The worse of two samples into \a worst: most watts and degrees, least clocks, all
 * reasons. */
void series_worst(struct telemetry_sample *worst, const struct telemetry_sample *other);

/** At most this many blocks of a rank are kept: when there are more, every second is dropped, again
 * and again. Many ranks keep RECORDS_ALL together, and each at least RECORDS_MIN. */
#define RECORDS_MAX 256
#define RECORDS_MIN 16
#define RECORDS_ALL 65536

struct record_block {
  double compute;  /**< seconds a sweep of interior and boundary */
  double exchange; /**< of packing, copies and transfer; not of waiting for a late neighbour */
  double waited;   /**< for neighbours, within `compute`, at most */
};

/** When a kept block ended, which of the timed ones it is, from 0. */
struct record_when {
  double end; /**< seconds since the first one began */
  int block;
};

/** Changes of a rank's device that are kept, the first ones; all are counted. */
#define RECORD_CHANGES_MAX 32

/** NVLink CRC errors are reported as a rate over at least this long, as DCGM does: sound links have
 * had more in one second. */
#define RECORD_RATE_SECONDS 60.0

/** A fact that was another one after an earlier block. */
struct record_change {
  int block; /**< from 0, after which it was seen */
  enum telemetry_fact of;
  int64_t from, to;
  char detail[TELEMETRY_DETAIL_BYTES];
};

/** A rank's telemetry over all timed blocks. */
struct record_telemetry {
  char source[8];                    /**< "NVML", "sysfs", "" */
  int samples;                       /**< that told anything */
  int throttled;                     /**< blocks at whose end the device was throttled */
  int by_reason[THROTTLE_BITS];      /**< the same, by bit of enum telemetry_throttle */
  struct telemetry_sample low, high; /**< least and largest of each value */
  struct telemetry_state before, after;
  int each, rows; /**< blocks a row, and rows, of the series; the same on all ranks */
  int n_changes;
  /** NVLink CRC errors per second: the highest over periods of RECORD_RATE_SECONDS; −1 if they
   * cannot be read */
  double crc_rate;
  double starved; /**< share of the timed part that a busy thread waited for a core; −1 unknown */
};

/** A reading of a device's NVLink CRC errors. */
struct record_crc {
  double when;
  int64_t errors;
};

struct record {
  struct telemetry *device;
  struct starvation *starvation; /**< since the timed part began */
  struct cards *cards;           /**< the host's, as last read; NULL: not by this rank */
  struct record_telemetry telemetry;
  struct record_change changes[RECORD_CHANGES_MAX];
  struct telemetry_sample now; /**< after the last block */
  struct series series;
  double read_at, read_seconds;        /**< when the state was read last, and how long that took */
  struct record_crc before_last, last; /**< where the last two stretches of a rate ended */
  double began;                        /**< the first block */
  struct record_block blocks[RECORDS_MAX];
  struct record_when when[RECORDS_MAX];
  int n, most, stride, skipped;
  double *throttled; /**< one a timed block: whether the device was throttled at its end */
  int n_throttled;
};

/** \brief Starts to watch this rank's device, and the network cards on the first rank of a host. */
status_t record_open(const struct placement *placement, struct record **record);
void record_close(struct record *record);

/** \brief The timed part begins. */
void record_begin(struct record *record);

/** \brief Records a timed block. Also polls the device's state unless that would take more than a
 * twentieth of the time; then a later block does. STATUS_ENVIRONMENT when memory ran out. */
status_t record_add(struct record *record, const struct solver_block *block);

/** \brief All timed blocks have ended. */
void record_finish(struct record *record);

/** \brief Widens the ranges of \a all by another device's. */
void record_merge(struct record_telemetry *all, const struct record_telemetry *other);

/** \brief How much the counter rose, from before the first block to after the last; −1 where it
 * cannot be read. */
int64_t record_rise(const struct record_telemetry *telemetry, enum telemetry_fact counter);

/** \brief Why the device was throttled, over all blocks: enum telemetry_throttle, or-ed. */
int record_reasons(const struct record_telemetry *telemetry);

#endif
