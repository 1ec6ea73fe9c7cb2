/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A variant of the OpenCL ladder, built for a device and a local array. */
#ifndef HIMENO_KERNELS_OPENCL_EXEC_H
#define HIMENO_KERNELS_OPENCL_EXEC_H

#include "gpu/opencl/opencl_device.h"
#include "himeno/kernels/kernels.h"

/** Partial sums that one group adds up. */
#define REDUCE_CHUNK 4096
/** Groups of the checksum: enough to fill any device, few enough to add up on the host. */
#define CHECKSUM_GROUPS 1024

/** Arguments of every sweep; a user's has one more, the scratch of its group. */
#define SWEEP_ARGUMENTS 18

/** Geometry of a variant: a group covers points[d] points in k, j, i, and may be made smaller where
 * `shrinks`. A group with a halo has a work-item for each point, those of the halo included, and
 * marches along i: how far is found when it is opened. */
struct opencl_variant {
  const char *source;
  int group[3]; /**< work-items in k, j, i */
  int points[3];
  int align; /**< groups start at multiples of this many floats in k */
  int shrinks;
  /** points that a group computes on each side, in k and j, beyond those it covers */
  int halo;
  const char *options; /**< for the compiler, NULL for none */
  const struct opencl_variant
      *cached; /**< taken instead where all arrays are small enough for caches to help, or NULL */
  const struct opencl_variant *wide; /**< taken instead on NVIDIA's devices, or NULL */
  /** the same for many sweeps in one launch (persistent.cl), or NULL */
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
/** Their names in the source. */
extern const char *const opencl_entry_names[ENTRIES];

/** How groups add to gosa[slot]. */
enum opencl_gosa {
  GOSA_LAUNCH,  /**< each leaves a partial sum, and a second launch adds them up: everywhere */
  GOSA_ADD,     /**< atomic sum of doubles: NVIDIA's, through PTX */
  GOSA_EXCHANGE /**< 64-bit compare and exchange: CPUs, which have few groups at work at a time */
};

/** A launch of many sweeps; NULLs where there is none such. */
struct opencl_persistent {
  struct opencl_variant variant; /**< its group fits the rows */
  cl_program program;
  cl_kernel kernel;
  struct gpu_mem state;
};

struct opencl_exec {
  struct opencl_device *device;
  struct himeno_fields fields;
  const struct himeno_kernel *kernel;
  struct opencl_variant variant; /**< shrunk to the device */
  int fp64;
  enum opencl_gosa gosa;
  size_t field_group, reduce_group;
  cl_program program, own; /**< own: the user's sweep, NULL for the suite's */
  cl_kernel entries[ENTRIES];
  struct gpu_mem partial, chunks; /**< sums of groups, and of REDUCE_CHUNK groups */
  cl_mem standard_p;              /**< standard p of each local plane */
  struct opencl_persistent persistent;
};

/** \brief Builds the kernel's variant, a struct opencl_variant, or its file, in groups that the
 * device takes: STATUS_ENVIRONMENT if the device cannot run it, or has no memory for it. */
status_t opencl_exec_open(struct gpu_device *device, const struct himeno_fields *fields,
                          const struct himeno_kernel *kernel, struct opencl_exec **exec);
void opencl_exec_close(struct opencl_exec *exec);

/** \brief Builds the parts, up to a NULL, for groups of the variant. */
status_t opencl_exec_build(const struct opencl_exec *exec, const struct opencl_variant *variant,
                           const char *const parts[], cl_program *program);

/** \brief Compiles a user's own kernel, \a path, for \a device and reads the shape of `sweep` in
 * it. A file that cannot be read is STATUS_ENVIRONMENT; source that does not compile, has no such
 * kernel or no shape that the device takes is STATUS_USAGE. The caller releases *program. */
status_t opencl_user_open(struct opencl_device *device, const char *path, const char *options,
                          cl_program *program, struct opencl_variant *variant);

/** \brief Where the first group starts in k. */
int64_t opencl_first_k(const struct opencl_variant *variant, const struct box *box);

/** \brief Groups that cover a box, in k, j, i. */
void opencl_groups(const struct opencl_variant *variant, const struct box *box, size_t groups[3]);

/** \brief Work-items of a group. */
static inline size_t opencl_group_items(const struct opencl_variant *variant)
{
  return (size_t)variant->group[0] * (size_t)variant->group[1] * (size_t)variant->group[2];
}

/** \brief Groups of a reduction of n sums. */
static inline size_t opencl_chunks(size_t n)
{
  return (n + REDUCE_CHUNK - 1) / REDUCE_CHUNK;
}

#endif
