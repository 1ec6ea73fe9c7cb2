/* SPDX-License-Identifier: MIT */
/** \file \brief The domain-decomposed Jacobi solver: one device per rank, blocks of sweeps from the
 * initial field. solver_open decomposes the grid, fills the arrays, and opens kernels and
 * transport. solver_block_run restores the initial field and runs a block of passes (pass.c), each
 * with one exchange of halos; it returns time, gosa and checksum. The structs of a solver are in
 * state.h.
 *
 * All functions are collective over the solver's communicator. A failure on one rank leaves the
 * others waiting in their next message: the caller ends the job (agree_abort). Only in solver_open
 * the ranks agree. */
#ifndef HIMENO_SOLVER_SOLVER_H
#define HIMENO_SOLVER_SOLVER_H

#include <mpi.h>

#include "comm/halo/route.h"
#include "himeno/kernels/kernels.h"

enum himeno_phase {
  PHASE_INTERIOR,
  PHASE_BOUNDARY,
  PHASE_PACK,
  PHASE_D2H,
  PHASE_WAIT,
  PHASE_TRANSFER,
  PHASE_H2D,
  PHASE_UNPACK,
  PHASE_REDUCE,
  PHASE_EXPOSED, /**< time per sweep outside of interior and boundary */
  HIMENO_PHASES
};

/** "interior", "boundary", … */
extern const char *const himeno_phase_names[HIMENO_PHASES];

struct solver;
struct solver_grid;
struct solver_halo;

struct solver_config {
  MPI_Comm comm;
  struct gpu_device *device;
  const struct himeno_kernel *kernel;
  const struct halo_transport *transport;
  int64_t global[3];
  int procs[3]; /**< process grid; the caller has checked it */
  enum himeno_data data;
  int max_sweeps; /**< maximum length of a block */
  int overlap;    /**< 1: sweep the interior during the exchange */
  int pad;        /**< floats added to a row */
  int array_pad;  /**< additional offset in bytes of each coefficient array from the previous one */
  /** ranks that share a device measure the ceiling in turn. sharing_rank: this rank's index among
   * them; sharing: their number; sharing_most: the maximum number on any device. Zeros if no device
   * is shared */
  int sharing_rank, sharing, sharing_most;
  /** plants the faults due at sweep \a at of a block of \a sweeps, and reduces \a stop to the next
   * sweep with a fault; NULL except in tests (himeno/solver/flip.h) */
  status_t (*faults)(struct solver_grid *grid, int at, int sweeps, int *stop);
  int check_sweeps; /**< sweeps between check points: solver_check_sweeps() */
};

/** Sweeps between check points, at most. With dense data, which converge fastest, a wrong bit of p
 * may vanish by rounding after this many sweeps: see doc/lab/acceptance-power.md. */
#define SOLVER_CHECK_SWEEPS 12

/** \brief Returns the number of sweeps between check points: whole passes of the kernel. */
int solver_check_sweeps(const struct himeno_kernel *kernel);

/** Result of all ranks at a check point. */
struct solver_check {
  int sweeps;  /**< sweeps of the block so far */
  double gosa; /**< gosa of the last sweep so far */
  uint64_t checksum;
};

/** \brief Returns the check after \a sweeps sweeps in an ordered list of \a n checks, NULL if there
 * is none. The search starts at index *at, which is updated for the next call with more sweeps. */
const struct solver_check *solver_check_seek(const struct solver_check *checks, int n, int sweeps, int *at);

/** Results of one block, the same on all ranks except own_gosa, `phases` and `waited`. */
struct solver_block {
  int sweeps;
  double seconds; /**< duration of all sweeps on the slowest rank */
  double gosa;    /**< gosa of the last sweep */
  uint64_t checksum;
  /** results at check points, the last one at the block's end; owned by the solver, valid until its
   * next block */
  const struct solver_check *checks;
  int n_checks;
  const double *own_gosa;       /**< this rank's gosa per sweep; owned like `checks` */
  double phases[HIMENO_PHASES]; /**< this rank's mean seconds per sweep */
  /** upper bound of the seconds per sweep for which its interior waits for neighbours: no timestamp
   * separates computing from waiting within a kernel */
  double waited;
};

/** \brief Sets the bytes of device memory that the rank with the largest part needs. */
status_t solver_bytes(const struct solver_config *config, uint64_t *bytes);

/** \brief Allocates and fills arrays, prepares kernels and transport. Ranks agree on the result. */
status_t solver_open(const struct solver_config *config, struct solver **solver);
void solver_close(struct solver *solver);

/** \brief Returns this rank's part of the grid, with its arrays. */
struct solver_grid *solver_grid(struct solver *solver);

/** \brief Returns the exchange with neighbours. */
const struct solver_halo *solver_halo(const struct solver *solver);

/** \brief Restores the initial field, runs and times \a sweeps sweeps, and computes the checksum.
 * If \a cut, the sweeps pause at each check point to compute the checksum there; pauses are not
 * timed. */
status_t solver_block_run(struct solver *solver, int sweeps, int cut, struct solver_block *block);

/** \brief Like solver_block_run, but starts from the current field: for the original protocol,
 * which never resets it. */
status_t solver_block_continue(struct solver *solver, int sweeps, int cut, struct solver_block *block);

/** \brief Fills all arrays with \a data; the next block starts from the initial field. */
status_t solver_fill(struct solver_grid *grid, enum himeno_data data);

/** The arrays of a solver: the coefficients by enum himeno_array, then both fields. */
enum { SOLVER_NEWEST = HIMENO_COEFFICIENTS, SOLVER_OLDER, SOLVER_ARRAYS };

/** A multiprocessor whose values differ from those of most others. */
struct solver_outlier {
  int processor;
  int64_t points;   /**< number of points that differ; 0: no outlier was found */
  int64_t first[3]; /**< global indices of the first point that differs */
  float is, must_be;
};

/** \brief Lets every multiprocessor compute the same points of the next sweep, different ones after
 * each block, and finds the one whose values differ most from the majority's. Overwrites the older
 * field. */
status_t solver_outlier_find(struct solver_grid *grid, struct solver_outlier *outlier);

/** \brief Returns the name of an array: "a0", …, "wrk1", "p", "older p". */
const char *solver_array_name(int array);

/** \brief Sums the twelve coefficients' checksums over the points that this rank counts. */
status_t solver_coefficients_checksum(struct solver_grid *grid, uint64_t *sum);

/** Relative tolerance if gosa is a sum of single-precision floats rounded toward zero. */
#define SOLVER_GOSA_TOLERANCE_SINGLE 1e-3

/** \brief Returns whether two gosa differ by at most \a tolerance, relative; 0 for NaN,
 * infinity. */
int solver_gosa_agrees(double a, double b, double tolerance);

/** \brief Stores the coefficients' checksums over all points of this rank, in which
 * solver_baseline_compare detects changes. */
status_t solver_baseline_begin(struct solver_grid *grid);

/** \brief Stores \a block, which has just run, as the baseline: later blocks of the same length
 * must repeat its results. Sets \a taken to a copy of its checks, owned by the grid. */
status_t solver_baseline_take(struct solver_grid *grid, const struct solver_block *block,
                              const struct solver_check **taken);

/** \brief Compares \a block, which has just run, with the baseline: each rank's own gosa of every
 * sweep, the older field, p at check points that both have, and the coefficients. If any differs,
 * returns STATUS_WRONG on all ranks, and each rank with a difference logs one line. \a what names
 * the block. */
status_t solver_baseline_compare(struct solver_grid *grid, MPI_Comm comm, const struct solver_block *block,
                                 const char *what);

/** \brief Computes the checksum of one array over the points that this rank counts. */
status_t solver_array_checksum(struct solver_grid *grid, int array, uint64_t *sum);

/** \brief Copies \a n floats, starting at \a offset of an array, to the host, or back. */
status_t solver_array_read(struct solver_grid *grid, int array, int64_t offset, int64_t n, float *host);
status_t solver_array_write(struct solver_grid *grid, int array, int64_t offset, int64_t n,
                            const float *host);

const struct layout *solver_layout(const struct solver_grid *grid);

/** Bytes per second of the ceiling kernel. */
struct solver_rates {
  double all;  /**< sum over all ranks, by the slowest rank's time in each round */
  double mine; /**< rate of this rank's device */
};

/** \brief Times \a passes of the ceiling kernel on all devices at once. Ranks that share a device
 * alternate, so that no device counts twice. */
status_t solver_ceiling(struct solver *solver, int passes, struct solver_rates *rates);

/** \brief Reads the kernel's use of the device's resources; zeros if unknown. */
status_t solver_resources(struct solver_grid *grid, struct himeno_resources *resources);

/** \brief Returns the mth message that this rank sends in an exchange, and sets \a path; NULL after
 * the last message. */
const struct halo_message *solver_message(const struct solver_halo *halo, int m, struct halo_path *path);

/** \brief Returns the counts of this rank's emulator; zeros if there is none. */
struct himeno_counts solver_counts(const struct solver_grid *grid);

#endif
