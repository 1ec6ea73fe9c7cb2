/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The domain-decomposed Jacobi solver: one device per rank, blocks of sweeps from the
 * initial field.
 *
 * All functions are collective over the solver's communicator. One that fails on a rank leaves the
 * others waiting in their next message: the caller ends the job (agree_abort), except for
 * solver_open, whose ranks agree. */
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
  PHASE_EXPOSED, /**< the sweep's time less interior and boundary */
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
  int procs[3]; /**< checked */
  enum himeno_data data;
  int max_sweeps; /**< longest block that will be asked for */
  int overlap;    /**< compute the interior while halos travel */
  int pad;        /**< floats added to a row */
  int array_pad;  /**< bytes by which each array of coefficients begins later than the one before */
  /** of the ranks that share a device, which take turns at the ceiling: this one's place among
   * them, how many they are, and the most of any device; zeros where none is shared */
  int sharing_rank, sharing, sharing_most;
  /** plants what is due at sweep \a at of a block of \a sweeps, and brings \a stop forward to
   * where more is due; NULL but in tests (himeno/solver/flip.h) */
  status_t (*faults)(struct solver_grid *grid, int at, int sweeps, int *stop);
  int check_sweeps; /**< sweeps from check point to check point: solver_check_sweeps() */
};

/** In dense data, which contract fastest, a wrong bit of p may be below rounding this many sweeps
 * later: doc/lab/acceptance-power.md has what was seen of flips by distance to the next check. */
#define SOLVER_CHECK_SWEEPS 12

/** \brief Sweeps from check point to check point for a kernel: whole passes of it. */
int solver_check_sweeps(const struct himeno_kernel *kernel);

/** Result of all ranks at a check point. */
struct solver_check {
  int sweeps;  /**< of the block, so far */
  double gosa; /**< of the last of them */
  uint64_t checksum;
};

/** \brief The check after so many \a sweeps among \a n in their order, NULL where there is none;
 * looks from \a at on, which stays for the next, later one. */
const struct solver_check *solver_check_seek(const struct solver_check *checks, int n, int sweeps, int *at);

/** One block's outcome; the same on all ranks but for `phases`. */
struct solver_block {
  int sweeps;
  double seconds; /**< all sweeps, the slowest rank's */
  double gosa;    /**< of the last sweep */
  uint64_t checksum;
  const struct solver_check
      *checks; /**< the solver's, until its next block; the last one is the block's end */
  int n_checks;
  const double *own_gosa;       /**< this rank's own, of each sweep; the solver's like `checks` */
  double phases[HIMENO_PHASES]; /**< this rank's mean seconds a sweep */
  /** upper bound of the seconds per sweep that its interior waits for neighbours: no timestamp
   * separates computing from waiting within a kernel */
  double waited;
};

/** \brief Device bytes that a rank of this configuration needs, the largest rank's. */
status_t solver_bytes(const struct solver_config *config, uint64_t *bytes);

/** \brief Allocates, fills, prepares kernels and transport. Ranks agree on the outcome. */
status_t solver_open(const struct solver_config *config, struct solver **solver);
void solver_close(struct solver *solver);

/** \brief This rank's part of the grid, with its arrays. */
struct solver_grid *solver_grid(struct solver *solver);

/** \brief The exchange with neighbours. */
const struct solver_halo *solver_halo(const struct solver *solver);

/** \brief Restores the initial field, runs and times \a sweeps sweeps, sums the checksum. \a cut:
 * the sweeps pause at each check point for the checksum there; pauses are not timed. */
status_t solver_block_run(struct solver *solver, int sweeps, int cut, struct solver_block *block);

/** \brief Like solver_block_run from the field as it is: for the original protocol, which never
 * resets it. */
status_t solver_block_continue(struct solver *solver, int sweeps, int cut, struct solver_block *block);

/** \brief Fills everything with \a data; the next block continues from the initial field. */
status_t solver_fill(struct solver_grid *grid, enum himeno_data data);

/** The arrays that a solver keeps: the coefficients by enum himeno_array, then both fields. */
enum { SOLVER_NEWEST = HIMENO_COEFFICIENTS, SOLVER_OLDER, SOLVER_ARRAYS };

/** A multiprocessor whose values differ from those of most others. */
struct solver_outlier {
  int processor;
  int64_t points;   /**< that differ; 0: no outlier, or no majority */
  int64_t first[3]; /**< global */
  float is, must_be;
};

/** \brief Has every multiprocessor compute the same points of the next sweep, other ones from block
 * to block, and looks for the one whose values differ most from what most have. Spoils the older
 * field. */
status_t solver_outlier_find(struct solver_grid *grid, struct solver_outlier *outlier);

/** \brief "a0", …, "wrk1", "p", "older p". */
const char *solver_array_name(int array);

/** \brief Sum of the twelve coefficients' checksums over the points that this rank counts; not
 * summed over ranks. */
status_t solver_coefficients_checksum(struct solver_grid *grid, uint64_t *sum);

/** Relative, where gosa is a sum of single floats that round toward zero. */
#define SOLVER_GOSA_TOLERANCE_SINGLE 1e-3

/** \brief Whether two gosa differ by at most \a tolerance, relative; infinities and NaNs agree with
 * nothing. */
int solver_gosa_agrees(double a, double b, double tolerance);

/** \brief The coefficients' checksums over all that this rank holds are kept:
 * solver_baseline_compare looks for changes. */
status_t solver_baseline_begin(struct solver_grid *grid);

/** \brief \a block, which has just run, becomes the one that later ones of as many sweeps must
 * repeat. \a taken: a copy of its checks, the grid's. */
status_t solver_baseline_take(struct solver_grid *grid, const struct solver_block *block,
                              const struct solver_check **taken);

/** \brief STATUS_WRONG on all ranks, and a line from each that saw it, if \a block, which has just
 * run, differs from the one that was taken (in a rank's own gosa of any sweep, in the older
 * field, in p at check points that both have), or where a coefficient has changed. \a what names
 * the block. */
status_t solver_baseline_compare(struct solver_grid *grid, MPI_Comm comm, const struct solver_block *block,
                                 const char *what);

/** \brief Checksum of one array over the points that this rank counts; not summed over ranks. */
status_t solver_array_checksum(struct solver_grid *grid, int array, uint64_t *sum);

/** \brief Copies \a n floats from \a offset of an array to the host, or back. */
status_t solver_array_read(struct solver_grid *grid, int array, int64_t offset, int64_t n, float *host);
status_t solver_array_write(struct solver_grid *grid, int array, int64_t offset, int64_t n,
                            const float *host);

const struct layout *solver_layout(const struct solver_grid *grid);

/** Bytes a second of the ceiling kernel. */
struct solver_rates {
  double all;  /**< over all ranks, by the slowest one's time of each round */
  double mine; /**< of this rank's device alone */
};

/** \brief Times \a passes of the ceiling kernel on all devices at once; ranks that share a device
 * alternate, so that no device counts twice. */
status_t solver_ceiling(struct solver *solver, int passes, struct solver_rates *rates);

/** \brief What the kernel takes of the device; zeros where the backend cannot say. */
status_t solver_resources(struct solver_grid *grid, struct himeno_resources *resources);

/** \brief The mth message that this rank sends in an exchange, and how it travels; NULL after the
 * last one. */
const struct halo_message *solver_message(const struct solver_halo *halo, int m, struct halo_path *path);

/** \brief What this rank's emulator counted; zeros where there is none. */
struct himeno_counts solver_counts(const struct solver_grid *grid);

#endif
