/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the solver's files share: solver.c makes it, pass.c runs one pass over it, block.c
 * runs blocks. */
#ifndef HIMENO_SOLVER_STATE_H
#define HIMENO_SOLVER_STATE_H

#include "himeno/solver/solver.h"

/* Device timestamps of a pass are read this many passes later, when they have surely passed: the
 * copy out of a halo in pass n comes after all computing of pass n − 2. */
#define PASS_RING 4

enum pass_mark { PASS_BEGIN, PASS_BOUNDARY, PASS_INNER_BEGIN, PASS_END, PASS_MARKS };

struct pass_marks {
  struct gpu_event *event[PASS_MARKS];
  int used;
};

struct solver;

/** One pass of \a exec, \a sweeps deep, whose first sweep has slot \a slot; halos are exchanged. */
typedef status_t solver_pass(struct solver *solver, struct himeno_exec *exec, int sweeps, int slot);

struct solver {
  struct solver_config config;
  const struct himeno_kernel_set *set;
  struct decomp decomp;
  struct layout layout;
  struct halo_plan plan;
  struct halo_cut cut;
  struct himeno_fields fields;
  struct himeno_exec *exec;
  /* for the sweeps that are no multiple of the kernel's T; NULL when T is 1 */
  struct himeno_exec *plain;
  struct gpu_queue *compute;
  solver_pass *pass;                     /* the kind that solver_pass_choose took */
  struct box first[HALO_BOUNDARIES_MAX]; /* swept before halos go out, none of them empty */
  int n_first;
  struct box rest;              /* swept while halos travel */
  int n_rest;                   /* 0 or 1 */
  struct halo_route *route;     /* NULL without neighbours */
  int unattended;               /* the route needs no host during a block */
  int linked;                   /* the kernels exchange halos themselves, in every sweep */
  const struct halo_link *link; /* of a resident kernel with neighbours */
  int overlap;                  /* slabs first, so that halos travel while the rest is computed */
  struct block_graph {
    struct gpu_graph *graph; /* NULL: none recorded */
    int sweeps, first, last; /* length; `current` before and after */
  } graph;

  struct gpu_event *block_begin, *block_end;
  struct pass_marks ring[PASS_RING];
  long passes, blocks;
  int64_t swept;                    /* sweeps of all blocks so far */
  double part_sums[HIMENO_PHASES];  /* seconds of each phase since this part of the block began */
  double block_sums[HIMENO_PHASES]; /* of the block's parts that have ended */
  double *seconds;                  /* of each part of the block: this rank's, then the slowest's */
  struct solver_check *checks;      /* of the last block */
  uint64_t *sums;                   /* room for its checksums: this rank's, then all ranks' */
  int n_checks;
  struct solver_baseline *baseline; /* NULL: none taken */
  int current;                      /* which of p is the newest */

  /* gosa on its way to all ranks, one pass late */
  struct gpu_queue *gosa_queue;
  struct gpu_event *gosa_event;
  double *host_gosa, *sum_gosa; /* a slot a sweep */
  MPI_Request gosa_request;
  int gosa_first, gosa_count; /* slots copied out and not yet sent */
};

/** \brief Chooses the kind of pass, and what it sweeps first, once the route is open. */
void solver_pass_choose(struct solver *solver);

/** \brief Ends the passes of a block, where the route needs no host. */
status_t solver_passes_end(struct solver *solver);

/** \brief Adds the timestamps of all passes to the sums of the phases. The compute queue must be
 * empty. */
status_t solver_pass_times(struct solver *solver);

/** \brief Completes the slots [first, end) on all ranks. */
status_t gosa_drain(struct solver *solver, int first, int end);

void solver_baseline_free(struct solver_baseline *baseline);

#endif
