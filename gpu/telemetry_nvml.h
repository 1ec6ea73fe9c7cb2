/* SPDX-License-Identifier: MIT */
/** \file
 * \brief NVML, found at run time: its prototypes are repeated here, so that nothing of it is needed
 * to build. */
#ifndef GPU_TELEMETRY_NVML_H
#define GPU_TELEMETRY_NVML_H

#include "gpu/telemetry.h"

struct nvml;

/** \brief The device at \a pci, or NULL where NVML or the device is missing. */
struct nvml *nvml_open(const char *pci);
void nvml_close(struct nvml *nvml);

/** \brief Fill in what NVML knows, and leave the rest. */
void nvml_read(const struct nvml *nvml, struct telemetry_sample *sample);
void nvml_state(const struct nvml *nvml, struct telemetry_state *state);

#endif
