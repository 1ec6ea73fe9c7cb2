/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The Himeno kernels: one const set per backend, found by the backend's name.
 *
 * A set contains named variants of the sweep, and the kernels that all variants share: fill,
 * ceiling, checksum. All use local arrays in the layout of comm/halo/decomp.h. */
#ifndef HIMENO_KERNELS_KERNELS_H
#define HIMENO_KERNELS_KERNELS_H

#include "comm/halo/halo.h"
#include "gpu/gpu.h"
#include "himeno/problem.h"

enum himeno_class { HIMENO_CLASSIC, HIMENO_TEMPORAL };
extern const char *const himeno_class_names[HIMENO_TEMPORAL + 1];

/** One variant of the sweep. `ops` and `variant` are private to the backend; ops is NULL if the
 * backend launches all kernels in the same manner. */
struct himeno_kernel {
  const char *name;
  const char *step; /**< what the kernel adds to the rung below it, in one line */
  enum himeno_class class_;
  int sweeps;       /**< T: sweeps per pass over memory, 1 for classic */
  int whole_planes; /**< the rank must hold whole (j, k) planes */
  /** 1: one pass does any number of sweeps over all owned points and exchanges halos between them;
   * needs whole rows of k, and a link to every neighbour */
  int resident;
  int rung; /**< position on the ladder, 0: not on it */
  /** 1: the default kernel, one per set, which also does single sweeps in runs with a temporal
   * kernel */
  int standard;
  int trial; /**< 1: -k auto tries this kernel */
  /** maximum points per rank with which -k auto tries the kernel; 0: no limit */
  int64_t points_max;
  const char *file; /**< the user's source, NULL for the suite's own kernels */
  /** additional memory in arrays of the layout, which open allocates; for a resident kernel it is
   * part of p[0], see himeno_field_bytes */
  int extra_arrays;
  int toward_zero; /**< 1: rounds toward zero: bitwise equal to himeno_kernel_toward_zero */
  const struct himeno_ops *ops;
  const void *variant; /**< constants that distinguish kernels with the same ops */
};

/** Arrays of the kernels, in memory of the caller. They are separate unless a variant packs
 * them. */
struct himeno_fields {
  struct layout layout;
  struct gpu_mem p[2]; /**< the two fields */
  struct gpu_mem coefficient[HIMENO_COEFFICIENTS];
  struct gpu_mem gosa; /**< one double per sweep of a block */
};

/** An open kernel. Each set casts it to its own struct. */
struct himeno_exec;
struct halo_link;

/** Launch geometry and resources of a variant, for --ladder; zeros if unknown. */
struct himeno_resources {
  int threads, registers, local_bytes;
  double occupancy;
};

/** Counts of an emulator in all sweeps since open: instruction counts, no times. */
struct himeno_counts {
  uint64_t points;       /**< points computed */
  uint64_t instructions; /**< instructions issued */
  uint64_t arithmetic;   /**< number of instructions that add or multiply floats */
  uint64_t flop;
  uint64_t stalls; /**< cycles in which a processor waited */
  /** estimate_ns: modelled time of all launches on the real chip, with the host's calls;
   * estimate_points: number of points that the launches computed */
  uint64_t estimate_ns, estimate_points;
};

/** One pass: `sweeps` sweeps over a box of owned points, from p[source] to p[1 − source]. */
struct himeno_sweep {
  struct box box;
  /** number of sweeps. Classic: 1, or up to sweeps_per_launch() over all owned points. Resident:
   * any number, over all owned points. Temporal: the kernel's T */
  int sweeps;
  int source;
  int slot; /**< gosa of the box in each sweep is added to gosa[slot], gosa[slot + 1], … */
  /** 1: the box's rows end at the boundary of the grid, both p are equal beyond the rows' ends, and
   * the sweep may write there; 0: nothing outside of the box is written */
  int ends_equal;
  const struct halo_link *link; /**< links for a resident variant with neighbours; otherwise NULL */
};

/** A single sweep of all owned points that exchanges the halos itself. */
struct himeno_linked {
  const struct halo_cut *cut;
  const struct halo_link *link;
  uint64_t step; /**< number of the exchange that sends the new points */
  int source, slot;
};

/** For tests: a multiprocessor that flips a bit of all values that it computes. */
struct himeno_stuck {
  int processor; /**< −1: none */
  int bit;
};

struct himeno_kernel_set {
  const char *backend;
  const struct himeno_kernel *kernels;
  int n;
  /** template for a user's kernel, without name, step and file; NULL: not supported */
  const struct himeno_kernel *own;

  /** \brief Prepares \a kernel for \a fields on \a device. */
  status_t (*open)(struct gpu_device *device, const struct himeno_fields *fields,
                   const struct himeno_kernel *kernel, struct himeno_exec **exec);
  void (*close)(struct himeno_exec *exec);

  /** \brief Fills one array (HIMENO_P: both fields) with its initial data; padding becomes zero. */
  status_t (*fill)(struct himeno_exec *exec, struct gpu_queue *queue, enum himeno_array array,
                   enum himeno_data data);
  /** \brief Does one pass of the variant over a box. Writes p[1 − source] on the box's points
   * only. */
  status_t (*sweep)(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_sweep *sweep);
  /** \brief Returns the maximum number of sweeps over all owned points per call, for a classic
   * variant without neighbours. It is odd, so that p[1 − source] is the newest; any smaller odd
   * number is allowed too. NULL: 1. */
  int (*sweeps_per_launch)(const struct himeno_exec *exec);
  /** \brief Returns whether boxes of one pass may be swept concurrently in several queues: not if
   * partial sums of gosa share memory. NULL: they may not. */
  int (*concurrent)(const struct himeno_exec *exec);
  /** \brief Returns the rows along j of a slab that neighbours need: at least the halo's, and at
   * least those of a tile. NULL: the halo's. */
  int (*slab_rows)(const struct himeno_exec *exec);
  /** \brief Returns whether the variant has a linked sweep. `links` and `linked` are NULL if no
   * variant of the set has one. */
  int (*links)(const struct himeno_exec *exec);
  /** \brief Sweeps the slabs of the cut after the halos of the previous exchange have arrived, and
   * sends their new points. Meanwhile sweeps the inner box. */
  status_t (*linked)(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_linked *linked);
  /** \brief Runs the ceiling kernel: reads 13 arrays and writes p[1] over the whole local array. */
  status_t (*ceiling)(struct himeno_exec *exec, struct gpu_queue *queue);
  /** \brief Sums the checksums of \a n arrays of the fields (1 … HIMENO_COEFFICIENTS) over a box of
   * local points. Complete when the call returns. */
  status_t (*checksum)(struct himeno_exec *exec, struct gpu_queue *queue, const struct gpu_mem *arrays, int n,
                       const struct box *box, uint64_t *sum);
  /** \brief Sweeps one box from p[source] \a times times, distributed over the whole device. Sets
   * values[time · points + point], and the multiprocessor that computed each time. Complete when
   * the call returns; overwrites p[1 − source] in the box. \a fields as in open. NULL: the backend
   * cannot report the multiprocessor. */
  status_t (*repeat)(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_fields *fields,
                     int source, const struct box *box, int times, const struct himeno_stuck *stuck,
                     float *values, int *processors);
  /** \brief Reports the use of resources, for the ladder; NULL if unknown. */
  status_t (*resources)(struct himeno_exec *exec, struct himeno_resources *resources);
  /** \brief Counts of the device's emulator; NULL if there is none. */
  void (*counts)(const struct himeno_exec *exec, struct himeno_counts *counts);
};

#define HIMENO_KERNELS(name, built) extern const struct himeno_kernel_set himeno_kernels_##name;
GPU_BACKENDS(HIMENO_KERNELS)
#undef HIMENO_KERNELS

/** The CPU backend's plain loop, with which all other kernels are compared. */
extern const struct himeno_kernel *const himeno_kernel_reference;

/** The CPU backend's kernel that rounds as a QPU does: a model that users cannot select. */
extern const struct himeno_kernel himeno_kernel_toward_zero;

/** \brief Returns the set of a backend, NULL if it was not built. */
const struct himeno_kernel_set *himeno_kernels_find(const char *backend);

/** \brief Returns the variant of that name, NULL if there is none. */
const struct himeno_kernel *himeno_kernel_find(const struct himeno_kernel_set *set, const char *name);

/** \brief Returns the set's standard kernel. */
const struct himeno_kernel *himeno_kernel_standard(const struct himeno_kernel_set *set);

/** \brief Returns the bytes of p[\a which]. A resident kernel's p[0] also contains the data that it
 * shares with its neighbours: 1 + extra_arrays arrays, each with all planes of the grid. */
static inline size_t himeno_field_bytes(const struct himeno_kernel *kernel, const struct layout *layout,
                                        int which)
{
  int64_t floats = layout_floats(layout);
  if (kernel->resident && which == 0) floats = layout->plane * layout->global[0] * (1 + kernel->extra_arrays);
  return (size_t)floats * sizeof(float);
}

/** \brief Reads a user's kernel source; the caller frees it. Returns STATUS_ENVIRONMENT on
 * failure. */
status_t himeno_kernel_source(const char *path, char **source);

/** \brief Returns the number of kernels that -k auto tries; 0 if \a set is NULL. */
int himeno_kernel_trials(const struct himeno_kernel_set *set);

#endif
