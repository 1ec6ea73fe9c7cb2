/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What drivers tell in sysfs: the PCI bus and the hwmon class for any, amdgpu's error
 * counts, i915's and xe's clocks and reasons. */
#ifndef GPU_TELEMETRY_SYSFS_H
#define GPU_TELEMETRY_SYSFS_H

#include "gpu/telemetry.h"

struct sysfs;

/** \brief The device at \a pci, or NULL where sysfs has none. */
struct sysfs *sysfs_open(const char *pci);
void sysfs_close(struct sysfs *sysfs);

/** \brief Fill in what sysfs knows, and leave the rest. Where a driver counts energy alone, watts
 * are the mean since an earlier sample. */
void sysfs_read(struct sysfs *sysfs, struct telemetry_sample *sample);
void sysfs_state(const struct sysfs *sysfs, struct telemetry_state *state);

#endif
