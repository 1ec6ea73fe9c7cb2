/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The list of all backends, in order of preference. Other code makes tables from it.
 *
 * Entries are X(name, built). The probe of a backend that was not built gives the reason. Tables
 * that use `built` need config.h. */
#ifndef GPU_BACKENDS_H
#define GPU_BACKENDS_H

#define GPU_BACKENDS(X)                                                                                      \
  X(cuda, HAVE_CUDA)                                                                                         \
  X(opencl, HAVE_OPENCL)                                                                                     \
  X(cpu, 1)                                                                                                  \
  X(qpu, 1)                                                                                                  \
  X(null, 1)

/** The address of an object that belongs to a backend; NULL if the backend is not built. */
#define GPU_BUILT(built, object)    GPU_BUILT_AS(built, object)
#define GPU_BUILT_AS(built, object) GPU_BUILT_##built(object)
#define GPU_BUILT_0(object)         NULL
#define GPU_BUILT_1(object)         &object

#endif
