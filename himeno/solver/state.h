/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The parts of a solver, by who writes them. solver.c makes them all, pass.c runs one pass,
 * block.c runs blocks. */
#ifndef HIMENO_SOLVER_STATE_H
#define HIMENO_SOLVER_STATE_H

#include "himeno/solver/solver.h"

/** This rank's part of the grid on its device. Fixed at open, but for the last four. */
struct solver_grid {
  const struct himeno_kernel *kernel;
  const struct himeno_kernel_set *set;
  int rank;
  struct himeno_fields fields;
  struct gpu_mem padded[HIMENO_COEFFICIENTS]; /* what coefficients are parts of, if they are */
  struct himeno_exec *exec;
  struct himeno_exec *plain; /* for sweeps that are no multiple of the kernel's T; NULL if T is 1 */
  struct gpu_queue *compute;
  enum himeno_data data;            /* of the initial field */
  int current;                      /* which of p is the newest */
  int64_t swept;                    /* sweeps of all blocks so far */
  struct solver_baseline *baseline; /* NULL: none taken */
};

/** The exchange between neighbours. Fixed at open. */
struct solver_halo {
  struct halo_plan plan;
  struct halo_cut cut;
  struct halo_route *route;     /* NULL without neighbours */
  int unattended;               /* the route needs no host during a block */
  const struct halo_link *link; /* of a resident kernel with neighbours */
};

/** gosa on its way to all ranks, one pass late. */
struct solver_gosa {
  MPI_Comm comm;
  struct gpu_queue *queue;
  struct gpu_event *event;
  double *host, *sum; /* one slot per sweep: this rank's own, and of all ranks */
  MPI_Request request;
  int first, count; /* slots copied out and not yet sent */
};

/* Device timestamps of a pass are read this many passes later, when they have surely passed: the
 * copy out of a halo in pass n comes after all computing of pass n − 2. */
#define PASS_RING 4

enum pass_mark { PASS_BEGIN, PASS_BOUNDARY, PASS_INNER_BEGIN, PASS_END, PASS_MARKS };

struct pass_marks {
  struct gpu_event *event[PASS_MARKS];
  int used;
};

struct solver_passes;

/** One pass of \a exec; the pass sets the boxes of \a sweep. */
typedef status_t solver_pass(struct solver_passes *passes, const struct solver_grid *grid,
                             struct himeno_exec *exec, struct himeno_sweep *sweep);

/** How the passes of a block run, and what they have taken. */
struct solver_passes {
  solver_pass *pass;                     /* the kind that solver_pass_choose took */
  int overlap;                           /* slabs first: halos travel while the rest is computed */
  struct box first[HALO_BOUNDARIES_MAX]; /* swept before halos go out, none of them empty */
  int n_first;
  struct box rest; /* swept while halos travel */
  int n_rest;      /* 0 or 1 */
  int concurrent;  /* what comes first runs at the same time as the rest, in a queue of its own */
  struct gpu_queue *slabs;
  struct gpu_event *ready; /* what that queue waits for: the passes before, and their halos */
  struct solver_halo halo;
  struct solver_gosa gosa;
  struct pass_marks ring[PASS_RING];
  long count;
  double phases[HIMENO_PHASES]; /* seconds since this part of the block began */
};

/** Results of a block. */
struct solver_outcome {
  struct gpu_event *begin, *end; /* of its part that runs */
  double phases[HIMENO_PHASES];  /* seconds of the parts that have ended */
  double *seconds;               /* of each part: this rank's, then the slowest's */
  int n_parts;
  struct solver_check *checks;
  uint64_t *sums; /* room for the checksums: this rank's, then all ranks' */
  int n_checks;
};

/** A block, recorded. */
struct solver_graph {
  struct gpu_graph *graph; /* NULL: none recorded */
  int sweeps, first, last; /* length; the grid's `current` before and after */
};

struct solver {
  struct solver_config config;
  struct solver_grid grid;
  struct solver_passes passes;
  struct solver_outcome outcome;
  struct solver_graph graph;
};

/** \brief Chooses the kind of pass and what it sweeps first, once the route is open. \a overlap: as
 * in solver_config. */
status_t solver_pass_choose(struct solver_passes *passes, const struct solver_grid *grid, int overlap);

/** \brief Ends the passes of a block, where the route needs no host. */
status_t solver_passes_end(struct solver_passes *passes);

/** \brief Adds the timestamps of all passes to the sums of the phases. The compute queue must be
 * empty. */
status_t solver_pass_times(struct solver_passes *passes);

/** \brief Completes the slots [first, end) on all ranks. */
status_t gosa_drain(struct solver_passes *passes, const struct solver_grid *grid, int first, int end);

void solver_baseline_free(struct solver_baseline *baseline);

#endif
