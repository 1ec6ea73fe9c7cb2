/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The devices that an option means, and the one of a program that runs on one. */
#ifndef GPU_SELECT_H
#define GPU_SELECT_H

#include "gpu/gpu.h"

/** \brief Whether automatic choice may take a backend: it has a device, no driver's CPU. */
int gpu_fits_auto(const struct gpu_backend *backend);

/** Devices of a backend that --device leaves. */
struct gpu_choice {
  struct gpu_device_info *devices;
  int *index; /**< in the probe */
  int n;
};

/** \brief Those that \a wanted means: a position, the start of a UUID, a part of a name; NULL: any.
 * STATUS_ENVIRONMENT, with the reason, where there is none. */
status_t gpu_choice_make(const struct gpu_backend *backend, const char *wanted, struct gpu_choice *choice);
void gpu_choice_free(struct gpu_choice *choice);

/** \brief The first of them, of \a backend, or (NULL) of the first backend that fits. */
status_t gpu_select(const struct gpu_backend *backend, const char *wanted, const struct gpu_backend **chosen,
                    int *index);

#endif
