/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The Himeno kernels: one const set per backend, joined to the backend by name.
 *
 * A set holds named variants of the sweep, and the kernels that all variants share: fill, ceiling,
 * checksum. All take local arrays in the layout of comm/halo/decomp.h. */
#ifndef HIMENO_KERNELS_KERNELS_H
#define HIMENO_KERNELS_KERNELS_H

#include "comm/halo/halo.h"
#include "gpu/gpu.h"
#include "himeno/problem.h"

enum himeno_class { HIMENO_CLASSIC, HIMENO_TEMPORAL };
extern const char *const himeno_class_names[HIMENO_TEMPORAL + 1];

/** One variant of the sweep. `ops` and `variant` are private to the backend; there are no ops if
 * all kernels are launched alike. */
struct himeno_kernel {
  const char *name;
  const char *step; /**< what it does that the rung below does not, one line for the ladder */
  enum himeno_class class_;
  int sweeps;       /**< T: sweeps a pass over memory, 1 for classic */
  int whole_planes; /**< needs the rank to hold whole (j, k) planes */
  /** does any number of sweeps in a pass over all owned points, and exchanges halos in between by
   * itself: needs whole rows of k, and a link to every neighbour */
  int resident;
  int rung; /**< place on the ladder, 0 = not on it */
  /** one per set: the default, and the kernel for single sweeps next to one of several */
  int standard;
  int trial; /**< -k auto tries it */
  /** points per rank beyond which -k auto does not try it, since no known device holds them; 0: no
   * bound */
  int64_t points_max;
  const char *file; /**< the user's source, NULL for the suite's own kernels */
  /** memory that it allocates at open, in arrays of the layout; a resident one's is part of p[0],
   * see himeno_field_bytes */
  int extra_arrays;
  int toward_zero; /**< rounds toward zero: its bits are those of himeno_kernel_toward_zero */
  const struct himeno_ops *ops;
  const void *variant; /**< constants, for the set or for ops */
};

/** Arrays of the kernels. The caller owns the memory. Arrays are separate unless the variant packs
 * them itself. */
struct himeno_fields {
  struct layout layout;
  struct gpu_mem p[2]; /**< ping and pong */
  struct gpu_mem coefficient[HIMENO_COEFFICIENTS];
  struct gpu_mem gosa; /**< one double per sweep of a block */
};

/** An opened kernel. Never defined: each set converts it to a struct of its own. */
struct himeno_exec;
struct halo_link;

/** Launch geometry and resources of a variant, for --ladder; zero if the backend cannot report
 * them. */
struct himeno_resources {
  int threads, registers, local_bytes;
  double occupancy;
};

/** Counts of an emulator in all sweeps since open: instruction counts, no times. */
struct himeno_counts {
  uint64_t points;       /**< computed */
  uint64_t instructions; /**< issued */
  uint64_t arithmetic;   /**< of these, with a sum or product of floats in them */
  uint64_t flop;
  uint64_t stalls; /**< cycles in which a processor waited */
  /** nanoseconds and points of a sweep on the part by a model, which is no measurement: of all
   * launches, each with the host's call */
  uint64_t estimate_ns, estimate_points;
};

/** One pass: `sweeps` sweeps over a box of owned points, from p[source] to p[1 − source]. */
struct himeno_sweep {
  struct box box;
  /** over all owned points: any number of a resident variant, up to sweeps_per_launch() of one of
   * single sweeps; others have their own number */
  int sweeps;
  int source;
  int slot; /**< adds each sweep's gosa of the box to gosa[slot], gosa[slot + 1], … */
  /** where rows of the box end at the grid's own sides, all behind their ends is alike in both p,
   * and a sweep may write it again; else nothing outside of the box is written */
  int ends_equal;
  const struct halo_link *link; /**< of a resident variant: to the neighbours; NULL without any */
};

/** A single sweep of all owned points that exchanges the halos itself. */
struct himeno_linked {
  const struct halo_cut *cut;
  const struct halo_link *link;
  uint64_t step; /**< of the exchange that takes the new points away */
  int source, slot;
};

/** For tests: a multiprocessor that flips a bit of all that it computes. */
struct himeno_stuck {
  int processor; /**< −1: none */
  int bit;
};

struct himeno_kernel_set {
  const char *backend;
  const struct himeno_kernel *kernels;
  int n;
  /** a user's, without its name, step and file; NULL: none is taken */
  const struct himeno_kernel *own;

  /** \brief Prepares \a kernel for \a fields on \a device. */
  status_t (*open)(struct gpu_device *device, const struct himeno_fields *fields,
                   const struct himeno_kernel *kernel, struct himeno_exec **exec);
  void (*close)(struct himeno_exec *exec);

  /** \brief Fills one array (HIMENO_P: both fields) over the whole local array, padding with
   * zeros. */
  status_t (*fill)(struct himeno_exec *exec, struct gpu_queue *queue, enum himeno_array array,
                   enum himeno_data data);
  /** \brief One pass of the variant over a box. Writes p[1 − source] on the box's points and
   * nowhere else. */
  status_t (*sweep)(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_sweep *sweep);
  /** \brief How many sweeps over all owned points one call takes of a variant of single ones, where
   * nothing is exchanged: 1, or an odd number, so that p[1 − source] is the newest. Less must be
   * odd too. NULL: 1. */
  int (*sweeps_per_launch)(const struct himeno_exec *exec);
  /** \brief Whether boxes of a classic variant's sweep may be in several queues at once: not if
   * partial sums of gosa share memory. NULL: they may not. */
  int (*concurrent)(const struct himeno_exec *exec);
  /** \brief Whether the variant has a linked sweep; both NULL where none has. */
  int (*links)(const struct himeno_exec *exec);
  /** \brief Sweeps the slabs of the cut once the halos of the exchange before have come, and sends
   * their new points; sweeps the rest meanwhile. */
  status_t (*linked)(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_linked *linked);
  /** \brief The ceiling: reads 13 arrays and writes p[1] over the whole local array (points =
   * layout_floats). */
  status_t (*ceiling)(struct himeno_exec *exec, struct gpu_queue *queue);
  /** \brief Sum of the checksums of \a n of the fields' arrays (1 … HIMENO_COEFFICIENTS) over a box
   * of local points, complete when the call returns. */
  status_t (*checksum)(struct himeno_exec *exec, struct gpu_queue *queue, const struct gpu_mem *arrays, int n,
                       const struct box *box, uint64_t *sum);
  /** \brief Sweeps one box from p[source] \a times times, over the whole device: values[time ·
   * points + point], and the multiprocessor of each time. Complete when the call returns;
   * overwrites p[1 − source] in the box. \a fields as for open. NULL: the backend cannot report the
   * multiprocessor. */
  status_t (*repeat)(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_fields *fields,
                     int source, const struct box *box, int times, const struct himeno_stuck *stuck,
                     float *values, int *processors);
  /** \brief Resource use for the ladder; NULL where unknown. */
  status_t (*resources)(struct himeno_exec *exec, struct himeno_resources *resources);
  /** \brief Counts of the device's emulator; NULL if there is none. */
  void (*counts)(const struct himeno_exec *exec, struct himeno_counts *counts);
};

#define HIMENO_KERNELS(name, built) extern const struct himeno_kernel_set himeno_kernels_##name;
GPU_BACKENDS(HIMENO_KERNELS)
#undef HIMENO_KERNELS

/** The CPU backend's plain loop, which all others are compared with. */
extern const struct himeno_kernel *const himeno_kernel_reference;

/** The CPU backend's kernel that rounds as a QPU does: a reference model, not a selectable
 * variant. */
extern const struct himeno_kernel himeno_kernel_toward_zero;

/** \brief The set of a backend, NULL when it was not built. */
const struct himeno_kernel_set *himeno_kernels_find(const char *backend);

/** \brief The variant of that name, NULL if there is none. */
const struct himeno_kernel *himeno_kernel_find(const struct himeno_kernel_set *set, const char *name);

/** \brief The set's standard kernel. */
const struct himeno_kernel *himeno_kernel_standard(const struct himeno_kernel_set *set);

/** \brief Bytes of p[\a which]. A resident kernel's p[0] also holds all that it shares with its
 * neighbours: 1 + extra_arrays arrays, each as long as all planes of the grid. */
static inline size_t himeno_field_bytes(const struct himeno_kernel *kernel, const struct layout *layout,
                                        int which)
{
  int64_t floats = layout_floats(layout);
  if (kernel->resident && which == 0) floats = layout->plane * layout->global[0] * (1 + kernel->extra_arrays);
  return (size_t)floats * sizeof(float);
}

/** \brief Reads the source of a user's kernel, a text that the caller frees: STATUS_ENVIRONMENT if
 * it cannot be read. */
status_t himeno_kernel_source(const char *path, char **source);

/** \brief Number of kernels that -k auto tries; 0 for no set. */
int himeno_kernel_trials(const struct himeno_kernel_set *set);

#endif
