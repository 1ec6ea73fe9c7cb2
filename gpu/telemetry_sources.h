/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Sources of telemetry. Each fills in the values that it knows, and leaves other values
 * unchanged. */
#ifndef GPU_TELEMETRY_SOURCES_H
#define GPU_TELEMETRY_SOURCES_H

#include "gpu/telemetry.h"

/** \brief Opens NVML, which is loaded at run time: its prototypes are repeated in the source, so
 * that building needs no header. Returns NULL if NVML or the device at \a pci is unavailable. */
struct nvml *nvml_open(const char *pci);
void nvml_close(struct nvml *nvml);
void nvml_read(const struct nvml *nvml, struct telemetry_sample *sample);
void nvml_state(struct nvml *nvml, struct telemetry_state *state);
void nvml_sent(const struct nvml *nvml, struct telemetry_sent *sent);
int nvml_joules(const struct nvml *nvml, double *joules);
void nvml_memory(const struct nvml *nvml, struct telemetry_memory *memory);

/** \brief Opens sysfs: the PCI bus and the hwmon class for any driver, and amdgpu's error counts.
 * Returns NULL if sysfs has no device at \a pci. */
struct sysfs *sysfs_open(const char *pci);
void sysfs_close(struct sysfs *sysfs);
void sysfs_read(const struct sysfs *sysfs, struct telemetry_sample *sample);
void sysfs_state(const struct sysfs *sysfs, struct telemetry_state *state);
void sysfs_memory(const struct sysfs *sysfs, struct telemetry_memory *memory);

#endif
