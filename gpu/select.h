/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Choosing one device, for programs that run on one. */
#ifndef GPU_SELECT_H
#define GPU_SELECT_H

#include "gpu/gpu.h"

/** \brief Whether the device at \a index of the probe is one that --device \a wanted means: its position, the start of
 * its UUID, or a part of its name; NULL means any. */
int gpu_device_matches(const char *wanted, const struct gpu_device_info *info, int index);

/** \brief Whether automatic choice may take a backend: it has a device, and no CPU through a driver. */
int gpu_fits_auto(const struct gpu_backend *backend);

/** \brief Takes the first device that \a wanted means, of \a backend, or (NULL) of the first backend that fits. STATUS_ENVIRONMENT, with the reason, where there is none. */
status_t gpu_select(const struct gpu_backend *backend, const char *wanted, const struct gpu_backend **chosen,
                    int *index);

#endif
