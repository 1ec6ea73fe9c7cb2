/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A variant of the OpenCL ladder, built for a device and a local array. */
#ifndef HIMENO_KERNELS_OPENCL_EXEC_H
#define HIMENO_KERNELS_OPENCL_EXEC_H

#include "gpu/opencl/opencl_device.h"
#include "himeno/kernels/kernels.h"

/** Number of partial sums that one group adds up. */
#define REDUCE_CHUNK 4096
/** Groups of the checksum: enough for any device, and few enough to be added up on the host. */
#define CHECKSUM_GROUPS 1024

/** Dimensions for which a device may report the maximum of work-items, at least: all have three. */
#define ITEM_DIMENSIONS 8

/** Arguments of every sweep; a user's kernel has one more, local memory for its group. */
#define SWEEP_ARGUMENTS 18

/** Geometry of a variant: a group covers points[d] points in k, j, i, and may be made smaller if
 * `shrinks`. A group with a halo has one work-item per point, halo included, and marches along i;
 * the number of planes is chosen in opencl_exec_open. */
struct opencl_variant {
  const char *source;
  int group[3]; /**< work-items per group in k, j, i */
  int points[3];
  int align; /**< groups start at multiples of this many floats in k */
  int shrinks;
  /** extra points on each side, in k and j, that a group computes */
  int halo;
  const char *options;                 /**< compiler options, NULL for none */
  const struct opencl_variant *cached; /**< variant for arrays up to CACHED_BYTES, or NULL */
  const struct opencl_variant *wide;   /**< variant for NVIDIA's devices, or NULL */
  /** variant with many sweeps in one launch (persistent.cl), or NULL */
  const struct opencl_variant *persistent;
};

/** The kernels of a program. */
enum opencl_entry {
  ENTRY_SWEEP,
  ENTRY_STANDARD,
  ENTRY_DENSE,
  ENTRY_CEILING,
  ENTRY_CHECKSUM,
  ENTRY_REDUCE,
  ENTRY_ADD,
  ENTRIES
};
/** Names of the kernels in the source. */
extern const char *const opencl_entry_names[ENTRIES];

/** Method by which groups add to gosa[slot]. */
enum opencl_gosa {
  GOSA_LAUNCH,  /**< each group stores a partial sum; a second launch adds them up */
  GOSA_ADD,     /**< atomic addition of doubles, by PTX: NVIDIA */
  GOSA_EXCHANGE /**< 64-bit compare and exchange: CPUs, where few groups run at a time */
};

/** The kernel for many sweeps in one launch; its pointers are NULL if there is none. */
struct opencl_persistent {
  struct opencl_variant variant; /**< variant with groups that fit the rows */
  cl_program program;
  cl_kernel kernel;
  struct gpu_mem state;
};

struct opencl_exec {
  struct opencl_device *device;
  struct himeno_fields fields;
  const struct himeno_kernel *kernel;
  struct opencl_variant variant; /**< the variant, with groups that fit the device */
  int fp64;
  enum opencl_gosa gosa;
  size_t field_group, reduce_group;
  cl_program program, own; /**< own: the user's sweep, NULL for kernels of the suite */
  cl_kernel entries[ENTRIES];
  struct gpu_mem partial, chunks; /**< partial: per group; chunks: per REDUCE_CHUNK */
  cl_mem standard_p;              /**< standard p per local plane */
  struct opencl_persistent persistent;
};

/** \brief Builds the kernel's variant, a struct opencl_variant, or its file, with groups that the
 * device supports. Returns STATUS_ENVIRONMENT if the device cannot run it, or has too little
 * memory. */
status_t opencl_exec_open(struct gpu_device *device, const struct himeno_fields *fields,
                          const struct himeno_kernel *kernel, struct opencl_exec **exec);
void opencl_exec_close(struct opencl_exec *exec);

/** \brief Builds a program from the sources \a parts, which end with NULL, for groups of a
 * variant. */
status_t opencl_exec_build(const struct opencl_exec *exec, const struct opencl_variant *variant,
                           const char *const parts[], cl_program *program);

/** \brief Compiles a user's own kernel, \a path, for \a device and reads the shape of its kernel
 * `sweep`. Returns STATUS_ENVIRONMENT if the file cannot be read; STATUS_USAGE if the source does
 * not compile, has no such kernel, or has a shape that the device does not support. The caller
 * releases *program. */
status_t opencl_user_open(struct opencl_device *device, const char *path, const char *options,
                          cl_program *program, struct opencl_variant *variant);

/** \brief Returns the start of the first group in k. */
int64_t opencl_first_k(const struct opencl_variant *variant, const struct box *box);

/** \brief Sets \a groups to the number of groups that cover a box, in k, j, i. */
void opencl_groups(const struct opencl_variant *variant, const struct box *box, size_t groups[3]);

/** \brief Returns the number of work-items per group. */
static inline size_t opencl_group_items(const struct opencl_variant *variant)
{
  return (size_t)variant->group[0] * (size_t)variant->group[1] * (size_t)variant->group[2];
}

/** \brief Returns the number of groups of a reduction of n sums. */
static inline size_t opencl_chunks(size_t n)
{
  return (n + REDUCE_CHUNK - 1) / REDUCE_CHUNK;
}

#endif
