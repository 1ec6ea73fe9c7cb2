/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What comm-gpu measures: paths, and on each the seconds a transfer over sizes.
 *
 * Seconds are host time from the barrier to the moment the last byte may be used, the slowest
 * rank's, divided by the transfers of a batch that wait for one another. Every transfer brings
 * content of its own and is compared. */
#ifndef TOOLS_NETWORK_BENCH_H
#define TOOLS_NETWORK_BENCH_H

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
#define BENCH_STANDARD 15 /* the parts of a run without --parts */
#define BENCH_ALL      255

struct bench_config {
  int parts;                              /**< enum bench_part, or-ed */
  const struct gpu_backend *backend;      /**< NULL: auto */
  const char *device;                     /**< NULL: any */
  const struct halo_transport *transport; /**< NULL: all that there are */
  int binding;                            /**< enum binding_policy */
  struct grid_size size;                  /**< of the halo part */
  int size_given, weak;
  int procs[3]; /**< the first 0: auto */
  int64_t depth;
  int64_t min_bytes, max_bytes; /**< of a transfer */
  int max_given;
  int64_t step, samples;
  double seconds; /**< that the parts may take; 0: no limit */
  int seconds_given;
  double timeout; /**< seconds that a rank waits for another */
  const char *json;
  int list, quiet;
};

#define BENCH_STAGES      (HALO_STAGES + 1)
#define BENCH_STAGE_NAMES HALO_STAGE_NAMES, "between"

/** Parts of a rank's time, seconds per exchange: the stages, and the time between two exchanges.
 * They sum to its mean exchange. */
struct bench_stages {
  int known; /**< the transport has stages, and both ends send */
  double at[BENCH_STAGES];
};

/** One size on one path. */
struct bench_point {
  int64_t bytes;              /**< that each rank sends */
  double seconds;             /**< a transfer, median of the samples */
  double best;                /**< least of the samples */
  double noise;               /**< 1.4826 MAD over the median */
  int64_t transfers;          /**< measured and compared, on this rank */
  struct bench_stages stages; /**< of the communicator's rank 0 */
};

/** seconds = latency + bytes / bandwidth. */
struct bench_fit {
  int points;       /**< 0: too few to fit */
  double latency;   /**< seconds */
  double bandwidth; /**< bytes a second */
  double residual;  /**< root mean square of (fitted − measured) / measured */
};

/** Points of one path, with its fit. */
struct bench_curve {
  int n, left_out; /**< sizes measured, and those for which there was no time */
  struct bench_point points[BENCH_POINTS_MAX];
  struct bench_fit fit;
};

struct bench_path {
  char method[24];         /**< "pinned", "pageable", a transport, "MPI_Allreduce" */
  char used[24];           /**< what really moved the bytes */
  char why[BENCH_WHY_MAX]; /**< why that */
  char handover[16];       /**< as halo_path has it, "" where there is none */
  /** "in", "out": host and device; "both": at once; "one": to the peer only */
  char direction[8];
  char load[8];   /**< "alone", or "all" ranks at the same time */
  int rank, peer; /**< peer −1: none */
  double bus;     /**< busbw over bytes per second; 0: no collective */
  struct bench_curve curve;
};

struct bench_halo {
  char method[24];
  char used[24];
  int64_t bytes; /**< the most that a rank sends in one exchange */
  int messages;  /**< likewise */
  struct bench_point point;
  double phases[HALO_PHASES]; /**< rank 0's seconds an exchange */
};

/** How the parts share the time. Each first counts its curves, then measures them. */
struct bench_plan {
  double end;    /**< of the clock of stats_now; infinite: all sizes, config.samples batches each */
  int counting;  /**< no curve is measured yet */
  double shares; /**< of the curves to come */
  int curves[BENCH_PARTS], total, done;
  int curves_left_out, sizes_left_out;
  double curve_end, point_end; /**< when the curve, and the size in it, should be done */
  double spare;                /**< seconds of the last size that further batches took */
  double uncertain;            /**< of a median, beyond which there are further batches */
  double byte_seconds;         /**< per byte of a large size, with the fewest batches */
};

/** The network card that a rank is bound to. */
struct bench_wire {
  char card[48];     /**< "" for none */
  double gbps;       /**< of the port, Gbit/s */
  double carried;    /**< share of what the rank sent that left by it */
  double gbps_in[2]; /**< Gbit/s from the peer, alone and all at once; NAN: uncertain */
  int cards;         /**< of the host that can be bound to */
  int peer;          /**< the rank at the wire's other end */
};

/** Streams to a rank from the same place on another host, Gbit/s; NAN: uncertain. */
struct bench_flow {
  int shift, from, to; /**< hosts from the sender to the receiver; ranks */
  double alone, all;   /**< while one host sends, and while all do */
};
#define BENCH_SHIFTS 8 /**< at most */

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
  struct rank_row *ranks; /**< on all ranks */
  int64_t global[3];      /**< of the halo part */
  int procs[3];
  int64_t transfers;      /**< compared by this rank */
  uint64_t between_hosts; /**< bytes that this rank sent to other hosts */
  /* on rank 0: */
  int n_host, n_pairs, n_halo, n_reduce, n_collectives, n_counters;
  struct bench_path *host, *pairs, reduce, collectives[2];
  struct bench_wire *wire; /**< of each rank; NULL without the part */
  int n_flows;
  struct bench_flow *flows;        /**< of each shift, in the order of the receiving ranks */
  const struct peer_proof *proofs; /**< \a proofs_most per rank; NULL without the part */
  int proofs_most;
  struct bench_counters counters[BENCH_PARTS];
  struct bench_halo halo[BENCH_HALOS_MAX];
  struct cards_table cards;
  double seconds;
};

/** \brief Everything after the command line. Fills \a bench; STATUS_WRONG when a transfer's content
 * differed. Failures are those of himeno_run: with text held, only this rank knows. */
status_t bench_run(struct bench *bench);
void bench_close(struct bench *bench);

/** \brief The parts, each collective over all ranks. */
status_t bench_host_run(struct bench *bench);
status_t bench_pairs_run(struct bench *bench);
status_t bench_halo_run(struct bench *bench);
status_t bench_reduce_run(struct bench *bench);
status_t bench_wires_run(struct bench *bench);
status_t bench_peers_run(struct bench *bench);
status_t bench_collectives_run(struct bench *bench);
status_t bench_fabric_run(struct bench *bench);

/** \brief Before MPI_Init: binds this rank to the network card of its number on the host, by the
 * variables that MPI libraries read. Cards count that are up, with at least half the rate of the
 * fastest. */
void bench_wires_bind(void);

/** Share of a rank's bytes on its card from which on it counts as bound. */
#define BENCH_BOUND 0.9
/** Relative standard error beyond which a card's rate is too uncertain to be judged. */
#define BENCH_UNCERTAIN 0.0075

/** \brief What a rank's card achieved over the rate of its port: out and in while no other card is
 * busy (0 and 1), while all are (2 and 3). NAN: uncertain, or another card carried the bytes. */
double bench_wire_share(const struct bench *bench, int rank, int share);

/** \brief Reads the network cards and, as a card named TCP whose errors are segments sent again,
 * what this host sent and received by IP, but for loopback. */
void bench_counters_read(const char *pci, struct cards *cards);

/** \brief Says what the counters of a row prove: bytes by TCP while an RDMA card is up. Returns 0
 * if there is nothing to say. */
int bench_counters_finding(const struct bench_counters *counters, int row, char *text, size_t size);

/** \brief Whether a transport is asked for and can run here. */
int bench_transport_wanted(const struct bench *bench, const struct halo_transport *transport);

/** \brief Collective over all ranks, before a curve of \a part that takes \a shares of the time
 * left. *measure is 0 while curves are counted, and when the time is over. */
status_t bench_curve_begin(struct bench *bench, enum bench_part part, double shares, int *measure);

/** Shares of a curve of all sizes, and of a few. */
#define BENCH_SHARES_ALL 6
#define BENCH_SHARES_FEW 2

/** \brief Measures one size, collective over the curve's communicator. */
typedef status_t bench_measure(void *of, int64_t bytes, struct bench_point *point);

/** \brief Collective over \a comm: the sizes from \a least to \a most by config.step (\a all), or
 * a few, those first that a fit needs most. A size is left out if it would last longer than the
 * curve may. */
status_t bench_curve_measure(struct bench *bench, MPI_Comm comm, int64_t least, int64_t most, int all,
                             bench_measure *measure, void *of, struct bench_curve *curve);

/** A batch of transfers: this rank's \a seconds per transfer. */
typedef status_t bench_batch(void *of, double *seconds);

/** \brief Collective over \a comm: one point of batches, of which the slowest rank's seconds count.
 * There are config.samples, more while their median is uncertain by over 1%, and fewer, at least
 * three, when the size's time is over; point.transfers is their number. \a mean: of this rank's. */
status_t bench_point_make(struct bench *bench, MPI_Comm comm, int64_t bytes, bench_batch *batch, void *of,
                          struct bench_point *point, double *mean);

/** \brief agree_status within \a comm; a rank by itself keeps its text for all ranks to agree
 * on. */
status_t bench_agree(MPI_Comm comm, status_t status);

/** \brief The end of a turn in which some ranks measured: those wait for each other, and whoever
 * was idle for as long as it takes. */
status_t bench_rest(const struct bench *bench, int measured);

/** \brief A path that was not measured yet; \a method moves its bytes until more is known. */
struct bench_path bench_path_of(int rank, int peer, const char *method, const char *why,
                                const char *direction, const char *load);

/** \brief Rank 0 appends \a path of rank \a owner to the list, if it has points. Collective over
 * all ranks. */
status_t bench_path_collect(struct bench *bench, int owner, const struct bench_path *path,
                            struct bench_path **list, int *n);

/** \brief Weighted least squares of seconds = latency + bytes / bandwidth, each point weighted by
 * 1/seconds², so that small messages count as much as large ones. Neither parameter is negative:
 * where the best line would have a negative latency, the line through the origin is taken. Without
 * two different sizes `fit.points` is 0. */
void bench_fit(struct bench_curve *curve);

/* Output of comm-gpu. Rank 0 only. */

/** \brief The report for people. */
void bench_report_text(const struct bench *bench, FILE *out);

/** \brief The document of doc/comm.schema.json. */
void bench_document(struct doc *d, const struct bench *bench);

/** \brief --list: devices, transports, network cards, with reasons. */
void bench_report_list(const struct gpu_backend *asked, FILE *out);

#endif
