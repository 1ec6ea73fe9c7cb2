/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The state that ranks know of each other, and the actions when a wait passes its deadline.
 * The layer below watch.h, guard.h and heartbeat.h.
 *
 * The ranks of one host share a table with one slot per rank. The rank writes its state to its
 * slot, and a separate thread of it regularly writes a beat; the others read both. Ranks of other
 * hosts are asked by messages. Times are nanoseconds of the host's clock. */
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
  ALARM_LATE,   /**< a wait passed its deadline */
  ALARM_FAILED, /**< this rank failed, which the others may not know */
  ALARM_STUCK   /**< confirms to a failed rank that this rank waits for something else */
};

/** A rank's report to the others. */
struct alarm_report {
  enum alarm_kind kind;
  int failure; /**< ALARM_FAILED, ALARM_STUCK: number of the failure on the failed rank */
  int rank;
  int device;    /**< 1: the rank has waited for its own device for half a deadline */
  int computing; /**< 1: the rank waits only for its own device, or for nothing */
  long sweep;
  char host[ALARM_HOST_MAX], what[ALARM_WHAT_MAX];
  struct watch_targets targets;
};

enum alarm_presence {
  ALARM_AWAY, /**< the rank has not attached the table */
  ALARM_HERE, /**< it has joined */
  ALARM_LEFT  /**< it has left and waits for no rank any more */
};

struct alarm_slot {
  _Alignas(128) _Atomic uint64_t beat; /**< time of its thread's last beat; 0 before the first */
  /** when the rank last began a wait or returned from a blocking call, plus the time since then for
   * which it was ready to run but had no core */
  _Atomic uint64_t moved;
  _Atomic uint64_t device;   /**< when it last polled its own device */
  _Atomic uint64_t polled;   /**< when it last polled for data of other ranks */
  _Atomic int blocked;       /**< 1: in a call that returns only when other ranks have called it */
  _Atomic int filled;        /**< 1: `report` is filled in */
  _Atomic int state;         /**< enum alarm_presence */
  _Atomic int thread;        /**< thread ID of its thread in the kernel; 0: not yet known */
  int rank;                  /**< number in MPI_COMM_WORLD, as for all ranks here */
  char call[ALARM_WHAT_MAX]; /**< name of the blocking call */
  struct alarm_report report;
};

struct alarm_table {
  _Atomic int raised;   /**< a wait has passed its deadline: all ranks report */
  _Atomic int reported; /**< the message is printed, or being printed */
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
  int rank, ranks; /**< ranks 0: without a watch */
  double seconds;
  char (*hosts)[ALARM_HOST_MAX];
  struct alarm_table *table; /**< the host's table; never NULL */
  struct alarm_slot *own;
  struct alarm_snapshot snapshot; /**< the other ranks' states as the main thread knows them */
  long sweep;
  _Atomic uint64_t paused;  /**< total time for which this process was suspended */
  _Atomic uint64_t stopped; /**< when SIGTERM was seen; 0: never */
  int failure;              /**< number of this rank's last agreement, to match confirmations */
  int stuck; /**< number of the failure for which a rank has confirmed that it waits elsewhere */
  struct alarm_report failed; /**< the last failure of another rank */
  uint64_t failed_at;         /**< when the last failure of another rank was received */
  _Atomic int hung;           /**< alarm_hang was called: all further waits end at once */
};

/** \brief The alarm state of this process, shared by its threads. */
struct alarm *alarm_monitor(void);

/** \brief The time in nanoseconds by the host's clock. */
uint64_t alarm_clock(void);

/** \brief Whether the rank's thread is late because it is ready to run but has no core. In a rank
 * that hung or was stopped, that thread would sleep or be stopped. */
int alarm_starves(const struct alarm_slot *slot, uint64_t now);

/** \brief Whether the wait may exceed its deadline because ranks of this host make progress. A wait
 * for all ranks may if any rank works or has begun a wait within the deadline. A wait for named
 * ranks may if one of them has: then only the machine is busy. */
int alarm_others_work(const struct watch_wait *wait);

/** \brief Handles a wait past its deadline, of this rank or another one. Returns STATUS_HANG after
 * the message is printed; the caller then ends the job. */
status_t alarm_hang(const struct watch_wait *wait);

/** \brief If a launcher has sent SIGTERM, the seconds until it ends the job; the rank that caused
 * that has printed the reason. 0 if a user asked the run to end: it continues to its report. */
double alarm_launcher_ends(void);

/** \brief Receives reports of other ranks. Returns whether one of them is past the deadline of its
 * wait. */
int alarm_reports_take(void);

/** \brief Notifies the other ranks of \a comm that this one failed. A rank that waits for something
 * other than the agreement for STUCK seconds confirms it, and alarm_is_stuck returns 1. */
void alarm_failure_notify(MPI_Comm comm);
int alarm_is_stuck(void);

/** \brief Confirms once, to a rank that failed, that this rank waits for something other than the
 * agreement, if \a wait has lasted STUCK seconds since the failure. */
void alarm_failure_answer(const struct watch_wait *wait);

/** \brief Allocates a snapshot for \a ranks. */
status_t alarm_snapshot_open(struct alarm_snapshot *snapshot, int ranks);
void alarm_snapshot_close(struct alarm_snapshot *snapshot);

/** \brief Prints the message from the table alone, unless another rank of the host has. For the
 * heartbeat thread, if the main thread does not respond. */
void alarm_report_for(struct alarm_snapshot *snapshot);

#endif
