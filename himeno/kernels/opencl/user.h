/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A user's own OpenCL kernel, compiled while the program runs: doc/kernel-template.cl is the
 * start of one. */
#ifndef HIMENO_KERNELS_OPENCL_USER_H
#define HIMENO_KERNELS_OPENCL_USER_H

#include "himeno/kernels/opencl/exec.h"

/** \brief Compiles \a path for \a device and reads the shape of its kernel, `sweep`. A file that
 * cannot be read is STATUS_ENVIRONMENT; source that does not compile, has no such kernel or no
 * shape that the device takes is STATUS_USAGE. The caller releases *program. */
status_t opencl_user_open(struct opencl_device *device, const char *path, const char *options,
                          cl_program *program, struct opencl_variant *variant);

#endif
