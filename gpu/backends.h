/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The one list of backends, in order of preference, that each room makes its tables from.
 *
 * X(name, built): one that is not built stays in the list of gpu/gpu.h, where its probe says why.
 * Tables that use `built` need config.h. */
#ifndef GPU_BACKENDS_H
#define GPU_BACKENDS_H

#define GPU_BACKENDS(X)                                                                                      \
  X(cuda, HAVE_CUDA)                                                                                         \
  X(opencl, HAVE_OPENCL)                                                                                     \
  X(cpu, 1)                                                                                                  \
  X(qpu, 1)                                                                                                  \
  X(null, 1)

/** The address of what belongs to a backend, NULL where that is not built. */
#define GPU_BUILT(built, object)    GPU_BUILT_AS(built, object)
#define GPU_BUILT_AS(built, object) GPU_BUILT_##built(object)
#define GPU_BUILT_0(object)         NULL
#define GPU_BUILT_1(object)         &object

#endif
