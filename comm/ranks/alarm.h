/* SPDX-License-Identifier: MIT */
/** \file
 * \brief State that ranks know of each other, and the end of a wait past its deadline: the layer
 * below watch.h, guard.h and heartbeat.h.
 *
 * The ranks of one host share a table with one slot per rank. Its owner writes its state there, and
 * a thread of its own that it lives; others read it without asking. Ranks of other hosts are asked
 * by messages. Times are nanoseconds of the host's clock. */
#ifndef COMM_RANKS_ALARM_H
#define COMM_RANKS_ALARM_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/meta.h"
#include "comm/ranks/watch.h"

#define ALARM_HOST_MAX META_HOST_BYTES
#define ALARM_WHAT_MAX 48
#define ALARM_SECOND   1000000000u

/** A wait is over; this rank's failure, which the others may not know of; one of those is waiting
 * for something else. */
enum alarm_kind { ALARM_LATE, ALARM_FAILED, ALARM_STUCK };

/** A rank's report to the others. */
struct alarm_report {
  enum alarm_kind kind;
  int failure; /**< ALARM_FAILED and ALARM_STUCK: number of the failure on the rank that failed */
  int rank;
  int device;    /**< has waited for its own device for half a deadline */
  int computing; /**< waits for its own device only, or for nobody */
  long sweep;
  char host[ALARM_HOST_MAX], what[ALARM_WHAT_MAX];
  struct watch_targets targets;
};

/** Has not joined the table; is present; has left and waits for no rank any more. */
enum alarm_presence { ALARM_AWAY, ALARM_HERE, ALARM_LEFT };

struct alarm_slot {
  _Alignas(128) _Atomic uint64_t beat; /**< when its thread last said that it lives; 0 before */
  /** when the rank last began a wait, or ended a call that blocks; later by the time for which it
   * was ready to run since and had no processor */
  _Atomic uint64_t moved;
  _Atomic uint64_t device;   /**< when it was last seen to wait for its own device */
  _Atomic uint64_t polled;   /**< when it last looked for what it waits for from others */
  _Atomic int blocked;       /**< in a call that comes back only once others have come */
  _Atomic int filled;        /**< report is filled in */
  _Atomic int state;         /**< enum alarm_presence */
  _Atomic int thread;        /**< the kernel's number of its thread; 0: none yet */
  int rank;                  /**< in MPI_COMM_WORLD, as everywhere here */
  char call[ALARM_WHAT_MAX]; /**< the call that blocks */
  struct alarm_report report;
};

struct alarm_table {
  _Atomic int raised;   /**< somebody's wait is over: all report */
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
  int rank, ranks; /**< ranks 0: nobody watches */
  double seconds;
  char (*hosts)[ALARM_HOST_MAX];
  struct alarm_table *table; /**< of this host; never NULL */
  struct alarm_slot *own;
  struct alarm_snapshot snapshot; /**< the program's own */
  long sweep;
  _Atomic uint64_t paused;    /**< for how long this process has stood still */
  _Atomic uint64_t stopped;   /**< when SIGTERM was seen; 0: never */
  int failure;                /**< number of this rank's last agreement, to match answers */
  int stuck;                  /**< the failure for which another rank waits elsewhere */
  struct alarm_report failed; /**< the last failure of another rank */
  uint64_t failed_at;         /**< when it was heard of */
  _Atomic int hung;           /**< the program has come here: all its further waits end at once */
};

/** \brief The monitor of this process. */
struct alarm *alarm_monitor(void);

/** \brief The host's clock. */
uint64_t alarm_clock(void);

/** \brief Whether the rank's thread is late because it is ready to run and gets no processor. If
 * the rank hung or was stopped, that thread would sleep or be stopped. */
int alarm_starves(const struct alarm_slot *slot, uint64_t now);

/** \brief Whether others of this host excuse a wait beyond its deadline. One for all ranks:
 * somebody works, or has begun a wait within the deadline. One for named ranks: one of those has,
 * so that they get on, and only the machine is busy. */
int alarm_others_work(const struct watch_wait *wait);

/** \brief A wait is over, or another rank's is. Comes back with STATUS_HANG once the message stands
 * and the job is to be ended. */
status_t alarm_hang(const struct watch_wait *wait);

/** \brief Seconds in which a launcher that sent SIGTERM will have ended the job: who made it do
 * that has said why. 0 where that is not so: someone wished for the end of a run, and it goes on to
 * its report. */
double alarm_launcher_ends(void);

/** \brief Reads reports of other ranks; whether the wait of one is over. */
int alarm_reports_take(void);

/** \brief Notifies the other ranks of \a comm that this one failed. A rank that waits for something
 * other than the agreement for a while confirms it: alarm_is_stuck(). */
void alarm_failure_notify(MPI_Comm comm);
int alarm_is_stuck(void);

/** \brief Answers the rank that failed, once, if \a wait has been going on for long since. */
void alarm_failure_answer(const struct watch_wait *wait);

/** \brief Allocates a snapshot for \a ranks. */
status_t alarm_snapshot_open(struct alarm_snapshot *snapshot, int ranks);
void alarm_snapshot_close(struct alarm_snapshot *snapshot);

/** \brief Prints the message from what the table shows, unless somebody has: for a thread, whose
 * program does not answer. */
void alarm_report_for(struct alarm_snapshot *snapshot);

#endif
