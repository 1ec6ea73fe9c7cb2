/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Measurements of comm-gpu: for each path, the seconds per transfer over transfer sizes.
 *
 * Seconds are the slowest rank's host time from a barrier until the last byte may be used, divided
 * by the number of consecutive transfers in a batch. Batches have new content, which is
 * compared. */
#ifndef TOOLS_NETWORK_BENCH_H
#define TOOLS_NETWORK_BENCH_H

#include "base/stats.h"
#include "comm/halo/grid.h"
#include "comm/halo/transport.h"
#include "comm/ranks/cards.h"
#include "comm/ranks/placement.h"
#include "comm/transports/prove.h"
#include "suite/ranks.h"

#define BENCH_POINTS_MAX  40
#define BENCH_SAMPLES_MAX 100
#define BENCH_WHY_MAX     160
#define BENCH_HALOS_MAX   16

enum bench_part {
  BENCH_HOST = 1,
  BENCH_PAIRS = 2,
  BENCH_HALO = 4,
  BENCH_REDUCE = 8,
  BENCH_WIRES = 16,
  BENCH_PEERS = 32,
  BENCH_COLLECTIVES = 64,
  BENCH_FABRIC = 128
};
#define BENCH_PARTS    8
#define BENCH_STANDARD 15 /* the parts that run without --parts */
#define BENCH_ALL      255

struct bench_config {
  int parts;                              /**< enum bench_part, or-ed */
  const struct gpu_backend *backend;      /**< NULL: auto */
  const char *device;                     /**< NULL: any */
  const struct halo_transport *transport; /**< NULL: all transports */
  int binding;                            /**< enum binding_policy */
  struct grid_size size;                  /**< grid of the halo part */
  int size_given, weak;
  int procs[3]; /**< procs[0] is 0 for auto */
  int64_t depth;
  int64_t min_bytes, max_bytes; /**< smallest and largest transfer, in bytes */
  int max_given;
  int64_t step, samples;
  double seconds; /**< time for the parts; 0: no limit */
  int seconds_given;
  double timeout; /**< seconds that a rank waits for another one */
  const char *json;
  int list, quiet;
};

#define BENCH_STAGES      (HALO_STAGES + 1)
#define BENCH_STAGE_NAMES HALO_STAGE_NAMES, "between"

/** Parts of a rank's time, in seconds per exchange: the stages, and the time between two exchanges.
 * Their sum is the rank's mean time per exchange. */
struct bench_stages {
  int known; /**< 1: the transport has stages, and both ends send */
  double at[BENCH_STAGES];
};

/** One size on one path. */
struct bench_point {
  int64_t bytes;              /**< bytes that each rank sends */
  double seconds;             /**< seconds per transfer, median of the samples */
  double best;                /**< seconds per transfer, smallest of the samples */
  double noise;               /**< 1.4826 × median absolute deviation / median */
  int64_t transfers;          /**< transfers that this rank measured and compared */
  struct bench_stages stages; /**< times of the communicator's rank 0 */
};

/** Fit of seconds = latency + bytes / bandwidth. */
struct bench_fit {
  int points;       /**< number of sizes in the fit; 0: too few */
  double latency;   /**< seconds */
  double bandwidth; /**< bytes per second */
  double residual;  /**< root mean square of (fitted − measured) / measured */
};

/** Points of one path, and their fit. */
struct bench_curve {
  int n, left_out; /**< numbers of sizes measured, and of sizes left out for lack of time */
  struct bench_point points[BENCH_POINTS_MAX];
  struct bench_fit fit;
};

struct bench_path {
  char method[24];         /**< "pinned", "pageable", a transport, "MPI_Allreduce" */
  char used[24];           /**< transport or library that moved the bytes */
  char why[BENCH_WHY_MAX]; /**< reason why `used` differs from `method`; otherwise "" */
  char handover[16];       /**< see struct halo_path; "" if there is none */
  /** "in": to the device; "out": from it; "both": both directions at once; "one": only from rank to
   * peer */
  char direction[8];
  char load[8];   /**< "alone", or "all" ranks at the same time */
  int rank, peer; /**< peer −1: no peer */
  /** factor from bytes per second to bus bandwidth (busbw of nccl-tests); 0: not a collective */
  double bus;
  struct bench_curve curve;
};

struct bench_halo {
  char method[24];
  char used[24];
  int64_t bytes; /**< maximum bytes that a rank sends per exchange */
  int messages;  /**< maximum number of messages that a rank sends per exchange */
  struct bench_point point;
  double phases[HALO_PHASES]; /**< rank 0's seconds per exchange */
};

/** How the parts share the time limit. Each part first counts its curves, then measures them. */
struct bench_plan {
  double end;    /**< end time by stats_now; INFINITY: all sizes, config.samples batches each */
  int counting;  /**< 1: curves are counted, not yet measured */
  double shares; /**< sum of the time shares of curves still to measure */
  int curves[BENCH_PARTS], total, done;
  int curves_left_out, sizes_left_out;
  double curve_end, point_end; /**< planned end of the curve, and of its current size */
  /** seconds that batches beyond the minimum number took for the last size */
  double spare;
  double uncertain;    /**< relative uncertainty above which a median needs more batches */
  double byte_seconds; /**< seconds to measure a large size, per byte, with the fewest batches */
};

/** The network card that a rank is bound to. */
struct bench_wire {
  char card[48];  /**< "" for none */
  double gbps;    /**< rate of the port, Gbit/s */
  double carried; /**< share of the rank's sent bytes that left by this card */
  /** Gbit/s from the peer: [0] alone, [1] while all cards are busy; NAN: uncertain */
  double gbps_in[2];
  int cards; /**< number of the host's cards that ranks can be bound to */
  int peer;  /**< rank at the other end of the wire */
};

/** A stream to a rank from the rank with the same number on another host. Rates are in Gbit/s; NAN:
 * uncertain. */
struct bench_flow {
  int shift, from, to; /**< shift: number of hosts from sender to receiver; from, to: ranks */
  double alone, all;   /**< rates while one host sends, and while all hosts send */
};
#define BENCH_SHIFTS 8 /**< maximum number of shifts */

/** Traffic of the network cards and of TCP during a part. */
struct bench_counters {
  const char *part;
  struct cards_table cards;
};

struct bench {
  struct bench_config config;
  struct bench_plan plan;
  struct placement placement;
  struct gpu_device *device;
  struct rank_row *ranks; /**< stored on all ranks */
  int64_t global[3];      /**< grid of the halo part */
  int procs[3];
  /** transfers that this rank compared; after bench_run, transfers of all ranks */
  int64_t transfers;
  uint64_t between_hosts; /**< bytes that this rank sent to other hosts */
  /* the members from here on are complete only on rank 0 */
  int n_host, n_pairs, n_halo, n_reduce, n_collectives, n_counters;
  struct bench_path *host, *pairs, reduce, collectives[2];
  struct bench_wire *wire; /**< per rank; NULL if the part did not run */
  int n_flows;
  struct bench_flow *flows;        /**< per shift, in the order of the receiving ranks */
  const struct peer_proof *proofs; /**< proofs_most per rank; NULL if the part did not run */
  int proofs_most;
  struct bench_counters counters[BENCH_PARTS];
  struct bench_halo halo[BENCH_HALOS_MAX];
  struct cards_table cards;
  double seconds;
};

/** \brief Runs everything after the command line and fills \a bench. Returns STATUS_WRONG if the
 * content of a transfer differs. If it fails with a message held in the log, only this rank knows
 * of the failure. */
status_t bench_run(struct bench *bench);
void bench_close(struct bench *bench);

status_t bench_host_run(struct bench *bench);
status_t bench_pairs_run(struct bench *bench);
status_t bench_halo_run(struct bench *bench);
status_t bench_reduce_run(struct bench *bench);
status_t bench_wires_run(struct bench *bench);
status_t bench_peers_run(struct bench *bench);
status_t bench_collectives_run(struct bench *bench);
status_t bench_fabric_run(struct bench *bench);

/** \brief Binds this rank to a network card of its host, by variables that MPI libraries read; call
 * it before MPI_Init. Rank n of the host gets card n of those that are up and have at least half
 * the rate of the fastest card. */
void bench_wires_bind(void);

/** A rank counts as bound if at least this share of its bytes is on its card. */
#define BENCH_BOUND 0.9
/** Relative standard error beyond which a card's rate is too uncertain to be judged. */
#define BENCH_UNCERTAIN 0.0075

/** \brief Returns a rank's measured rate divided by the rate of its card's port. \a share 0 is the
 * rate sent, and 1 the rate received, while no other card is busy; 2 and 3 are these rates while
 * all cards are busy. Returns NAN if the rate is uncertain or another card carried the bytes. */
double bench_wire_share(const struct bench *bench, int rank, int share);

/** \brief Returns 1 if the relative standard error of the samples' median is at most \a uncertain,
 * or the rate \a gbps is far below \a usual. */
int bench_rate_counts(const struct stats_summary *samples, double gbps, double uncertain, double usual);

/** \brief Reads the counters of the network cards. Adds a card named TCP with the counters of this
 * host's IP traffic without loopback; its errors are retransmitted segments. */
void bench_counters_read(const char *pci, struct cards *cards);

/** \brief If the row is an RDMA card that is up but idle although its host sent much by TCP, writes
 * that to \a text and returns 1; otherwise returns 0. */
int bench_counters_finding(const struct bench_counters *counters, int row, char *text, size_t size);

/** \brief Returns 1 if \a transport is available, and the user requested this transport or none. */
int bench_transport_wanted(const struct bench *bench, const struct halo_transport *transport);

/** \brief Collective over all ranks, before a curve of \a part that takes \a shares time shares.
 * Sets *measure to 0 while curves are counted and when the time is over, otherwise to 1. */
status_t bench_curve_begin(struct bench *bench, enum bench_part part, double shares, int *measure);

/** Time shares of a curve with all sizes, and of a curve with few sizes. */
#define BENCH_SHARES_ALL 6
#define BENCH_SHARES_FEW 2

/** \brief Measures one size; collective over the curve's communicator. */
typedef status_t bench_measure(void *of, int64_t bytes, struct bench_point *point);

/** \brief Collective over \a comm: measures the sizes from \a least to \a most by factors of
 * config.step if \a all is 1, otherwise a few of them. Sizes that a fit needs most come first.
 * Leaves out sizes for which the curve has too little time. */
status_t bench_curve_measure(struct bench *bench, MPI_Comm comm, int64_t least, int64_t most, int all,
                             bench_measure *measure, void *of, struct bench_curve *curve);

/** Runs a batch of transfers. Sets *seconds to the time per transfer on this rank. */
typedef status_t bench_batch(void *of, double *seconds);

/** \brief Collective over \a comm: makes one point from batches. The time of a batch is the time of
 * the slowest rank. Runs config.samples batches, more if their median is too uncertain, or fewer
 * (but at least three) if the size's time is over. Sets point.transfers to the number of batches,
 * and *mean to this rank's mean time per transfer. */
status_t bench_point_make(struct bench *bench, MPI_Comm comm, int64_t bytes, bench_batch *batch, void *of,
                          struct bench_point *point, double *mean);

/** \brief Like agree_status, but if \a comm has one rank, returns \a status and leaves the message
 * to a later agreement of all ranks. */
status_t bench_agree(MPI_Comm comm, status_t status);

/** \brief A barrier of all ranks after some of them have measured. Ranks that have \a measured wait
 * with a deadline, the other ranks without one. */
status_t bench_rest(const struct bench *bench, int measured);

/** \brief Returns a path to be measured. `used` is \a method until the transport used is known. */
struct bench_path bench_path_of(int rank, int peer, const char *method, const char *why,
                                const char *direction, const char *load);

/** \brief Collective: rank 0 appends \a path of rank \a owner to the list, if it has points. */
status_t bench_path_collect(struct bench *bench, int owner, const struct bench_path *path,
                            struct bench_path **list, int *n);

/** \brief Weighted least squares of seconds = latency + bytes / bandwidth, each point weighted by
 * 1/seconds², so that small messages count as much as large ones. Neither parameter is negative: a
 * line with a negative latency is replaced by the best line through the origin. Sets fit.points to
 * 0 if there are fewer than two different sizes, or if larger sizes take no longer. */
void bench_fit(struct bench_curve *curve);

/* Output of comm-gpu, only on rank 0. */

/** \brief Prints version and verdict, the first lines of a report. If \a status is STATUS_WRONG, no
 * other lines follow. */
void bench_report_verdict(const struct bench *bench, status_t status, FILE *out);

void bench_report_text(const struct bench *bench, FILE *out);

/** \brief Writes the document of doc/comm.schema.json. */
void bench_document(struct doc *d, const struct bench *bench);

/** \brief Prints --list: devices, transports and cards, with the reasons for unavailable ones. */
void bench_report_list(const struct gpu_backend *asked, FILE *out);

#endif
