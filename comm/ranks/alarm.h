/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the ranks know of each other's state, and the actions when a wait passes its
 * deadline. watch.h, guard.h and heartbeat.h are built on it.
 *
 * The ranks of one host share a table with one slot per rank. Each rank writes its state to its
 * slot, and a separate thread of the rank regularly writes a heartbeat. The other ranks of the host
 * read both. Ranks of other hosts are asked by messages. Times are nanoseconds of the host's
 * clock. */
#ifndef COMM_RANKS_ALARM_H
#define COMM_RANKS_ALARM_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/meta.h"
#include "comm/ranks/watch.h"

#define ALARM_HOST_MAX META_HOST_BYTES
#define ALARM_WHAT_MAX 48
#define ALARM_SECOND   1000000000u

enum alarm_kind {
  ALARM_LATE,   /**< a wait of the sender passed its deadline */
  ALARM_FAILED, /**< the sender failed, and the other ranks may not know */
  ALARM_STUCK   /**< answer to ALARM_FAILED: the sender waits for something else */
};

/** A rank's report to the other ranks. */
struct alarm_report {
  enum alarm_kind kind;
  int failure; /**< number of the agreement that the failed rank is in; unused for ALARM_LATE */
  int rank;
  int device;    /**< 1: the rank has only waited for its own device for half a deadline */
  int computing; /**< 1: the rank waits only for its own device, or for nothing */
  long sweep;
  char host[ALARM_HOST_MAX], what[ALARM_WHAT_MAX];
  struct watch_targets targets;
};

enum alarm_presence {
  ALARM_AWAY, /**< the rank has not attached the table */
  ALARM_HERE, /**< the rank has attached the table */
  ALARM_LEFT  /**< the rank has left and waits for no rank any more */
};

struct alarm_slot {
  /** time of the heartbeat thread's last beat; 0 before the first */
  _Alignas(128) _Atomic uint64_t beat;
  /** when the rank last began a wait or returned from a blocking call, plus the time since then for
   * which it was suspended or had no core */
  _Atomic uint64_t moved;
  _Atomic uint64_t device;   /**< when the rank last polled its own device */
  _Atomic uint64_t polled;   /**< when the rank last polled for data of other ranks */
  _Atomic int blocked;       /**< 1: in a call that returns only after other ranks made it, too */
  _Atomic int filled;        /**< 1: `report` is filled in */
  _Atomic int state;         /**< enum alarm_presence */
  _Atomic int thread;        /**< kernel's ID of the heartbeat thread; 0: not yet known */
  int rank;                  /**< rank in MPI_COMM_WORLD */
  char call[ALARM_WHAT_MAX]; /**< name of the blocking call */
  struct alarm_report report;
};

struct alarm_table {
  _Atomic int raised;   /**< 1: a wait has passed its deadline; all ranks report */
  _Atomic int reported; /**< 1: a rank prints the message, or has printed it */
  int n;
  struct alarm_slot slot[];
};

enum alarm_heard { ALARM_SILENT, ALARM_ALIVE, ALARM_REPORTED, ALARM_UNKNOWN };

/** The state of all ranks, as far as one thread of this process knows it. */
struct alarm_snapshot {
  struct alarm_report *reports;
  char *heard; /**< enum alarm_heard */
};

struct alarm {
  int rank, ranks; /**< ranks is 0 before watch_open, and for a single rank */
  double seconds;
  char (*hosts)[ALARM_HOST_MAX];
  struct alarm_table *table; /**< the host's table; never NULL */
  struct alarm_slot *own;
  struct alarm_snapshot snapshot; /**< the other ranks' states as the main thread knows them */
  long sweep;
  _Atomic uint64_t paused;    /**< total time for which this process was suspended */
  _Atomic uint64_t stopped;   /**< when SIGTERM was seen; 0: never */
  int failure;                /**< number of this rank's last agreement; ALARM_STUCK repeats it */
  int stuck;                  /**< the `failure` that another rank has confirmed by ALARM_STUCK */
  struct alarm_report failed; /**< the last failure of another rank */
  uint64_t failed_at;         /**< when the last failure of another rank was received */
  _Atomic int hung;           /**< 1: alarm_hang was called; all further waits end at once */
};

/** \brief The alarm state of this process, shared by its threads. */
struct alarm *alarm_monitor(void);

/** \brief Returns the time of the host's clock (CLOCK_MONOTONIC) in nanoseconds. */
uint64_t alarm_clock(void);

/** \brief Returns 1 if the rank's heartbeat is late because its thread is ready to run but has no
 * core. The thread of a rank that hung or was stopped would be asleep or stopped instead. */
int alarm_starves(const struct alarm_slot *slot, uint64_t now);

/** \brief Returns 1 if the wait may exceed its deadline because an awaited rank of this host makes
 * progress. Such a rank is ready to run but has no core, or began its last wait less than a
 * deadline ago. In a wait for all ranks, a rank that computes may take ten deadlines. */
int alarm_others_work(const struct watch_wait *wait);

/** \brief Handles a wait, of this rank or another one, that has passed its deadline. Returns
 * STATUS_HANG after the message is printed; the caller then ends the job. */
status_t alarm_hang(const struct watch_wait *wait);

/** \brief Returns the seconds left until a launcher ends the job, if SIGTERM arrived so recently
 * that a launcher may have sent it (another rank has then printed the reason). Otherwise returns 0:
 * any SIGTERM came from a user, and the run continues to its report. */
double alarm_launcher_ends(void);

/** \brief Receives reports of other ranks. Returns 1 if one reports a wait past its deadline. */
int alarm_reports_take(void);

/** \brief Notifies the other ranks of \a comm that this rank failed. A rank that waits for
 * something other than agree_status for STUCK seconds (at most a quarter of the deadline) answers,
 * and alarm_is_stuck then returns 1. */
void alarm_failure_notify(MPI_Comm comm);
int alarm_is_stuck(void);

/** \brief If \a wait is not for agree_status and has lasted STUCK seconds (at most a quarter of the
 * deadline) since another rank failed, confirms that to the failed rank, once. */
void alarm_failure_answer(const struct watch_wait *wait);

status_t alarm_snapshot_open(struct alarm_snapshot *snapshot, int ranks);
void alarm_snapshot_close(struct alarm_snapshot *snapshot);

/** \brief Prints the message from the table alone, unless a rank of this host has printed it. The
 * heartbeat thread calls it if the main thread does not respond. */
void alarm_report_for(struct alarm_snapshot *snapshot);

#endif
