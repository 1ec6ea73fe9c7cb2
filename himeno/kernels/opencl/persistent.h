/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Many sweeps in one launch, by groups that stay: where the device's groups can wait for
 * each other, which the suite knows of NVIDIA's since Volta. */
#ifndef HIMENO_KERNELS_OPENCL_PERSISTENT_H
#define HIMENO_KERNELS_OPENCL_PERSISTENT_H

#include "himeno/kernels/opencl/exec.h"

/** \brief Builds the kernel for a step that has such a form. Where the device cannot run it, sweeps
 * are launched one by one as before, and that is no failure. */
status_t opencl_persistent_open(struct himeno_exec *exec);
void opencl_persistent_close(struct himeno_exec *exec);

/** \brief How many sweeps a launch may have: 1 where there is none such. */
int opencl_persistent_most(const struct himeno_exec *exec);

/** \brief sweep->sweeps of them, an odd number up to that, over all of the rank's points. */
status_t opencl_persistent_sweep(struct himeno_exec *exec, struct gpu_queue *queue,
                                 const struct himeno_sweep *sweep);

#endif
