/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The parts of a solver, by the component that writes them. solver.c creates all of them,
 * pass.c runs one pass, block.c runs blocks. */
#ifndef HIMENO_SOLVER_STATE_H
#define HIMENO_SOLVER_STATE_H

#include "himeno/solver/solver.h"

/** This rank's part of the grid on its device. All members but the last four are fixed when it is
 * opened. */
struct solver_grid {
  const struct himeno_kernel *kernel;
  const struct himeno_kernel_set *set;
  int rank;
  struct himeno_fields fields;
  struct gpu_mem padded[HIMENO_COEFFICIENTS]; /* allocations of coefficients with array_pad */
  struct himeno_exec *exec;
  /* kernel for sweeps beyond a multiple of the kernel's T; NULL if T is 1 */
  struct himeno_exec *plain;
  struct gpu_queue *compute;
  enum himeno_data data;            /* data set of the initial field */
  int current;                      /* index of the newest p */
  int64_t swept;                    /* number of sweeps in all blocks so far */
  struct solver_baseline *baseline; /* NULL: none taken */
};

/** The exchange between neighbours. Fixed when it is opened. */
struct solver_halo {
  struct halo_plan plan;
  struct halo_cut cut;
  struct halo_route *route;     /* NULL without neighbours */
  int unattended;               /* 1: the route needs no host during a block */
  const struct halo_link *link; /* links for a resident kernel with neighbours */
};

/** The reduction of gosa over all ranks, which is done one pass later. */
struct solver_gosa {
  MPI_Comm comm;
  struct gpu_queue *queue;
  struct gpu_event *event;
  double *host, *sum; /* per sweep, host: this rank's gosa; sum: that of all ranks */
  MPI_Request request;
  int first, count; /* count elements from `first` on are copied out, but not reduced */
};

/* Device timestamps of a pass are read this many passes later. Their events are complete by then,
 * because copying out a halo in pass n follows all computing of pass n − 2. */
#define PASS_RING 4

enum pass_mark { PASS_BEGIN, PASS_BOUNDARY, PASS_INNER_BEGIN, PASS_END, PASS_MARKS };

struct pass_marks {
  struct gpu_event *event[PASS_MARKS];
  int used;
};

struct solver_passes;

/** Runs one pass of \a exec; sets the boxes of \a sweep. */
typedef status_t solver_pass(struct solver_passes *passes, const struct solver_grid *grid,
                             struct himeno_exec *exec, struct himeno_sweep *sweep);

/** The passes of a block, and the time that they have taken. */
struct solver_passes {
  solver_pass *pass;                     /* chosen by solver_pass_choose */
  int overlap;                           /* 1: slabs are swept first, the rest meanwhile */
  struct box first[HALO_BOUNDARIES_MAX]; /* boxes swept before the exchange starts; none is empty */
  int n_first;
  struct box rest; /* box swept during the exchange */
  int n_rest;      /* 0 or 1 */
  int concurrent;  /* 1: `first` is swept concurrently with `rest`, in a queue of its own */
  struct gpu_queue *slabs;
  struct gpu_event *ready; /* previous passes and halos are done; `slabs` waits for it */
  struct solver_halo halo;
  struct solver_gosa gosa;
  struct pass_marks ring[PASS_RING];
  long count;
  double phases[HIMENO_PHASES]; /* seconds per phase in the current segment of the block */
};

/** Results of a block. */
struct solver_outcome {
  struct gpu_event *begin, *end; /* begin and end of the current segment */
  double phases[HIMENO_PHASES];  /* seconds per phase in the completed segments */
  double *seconds;               /* seconds per segment: of this rank, then of the slowest rank */
  int n_parts;
  struct solver_check *checks;
  uint64_t *sums; /* workspace for checksums: this rank's, then all ranks' */
  int n_checks;
};

/** A block that was captured as a graph. */
struct solver_graph {
  struct gpu_graph *graph; /* NULL: none captured */
  int sweeps, first, last; /* first, last: `current` of the grid before and after the block */
};

struct solver {
  struct solver_config config;
  struct solver_grid grid;
  struct solver_passes passes;
  struct solver_outcome outcome;
  struct solver_graph graph;
};

/** \brief Chooses the kind of pass and the boxes that it sweeps first, after the route is opened.
 * \a overlap: as in solver_config. */
status_t solver_pass_choose(struct solver_passes *passes, const struct solver_grid *grid, int overlap);

/** \brief Ends the passes of a block. Only for unattended routes. */
status_t solver_passes_end(struct solver_passes *passes);

/** \brief Adds the timestamps of all passes to the sums of the phases. The compute queue must be
 * empty. */
status_t solver_pass_times(struct solver_passes *passes);

/** \brief Completes the reduction of gosa for the sweeps [first, end) on all ranks. */
status_t gosa_drain(struct solver_passes *passes, const struct solver_grid *grid, int first, int end);

void solver_baseline_free(struct solver_baseline *baseline);

#endif
