/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The GPUs that the kernel lists on this host's PCI bus, usable or not.
 *
 * A display device of NVIDIA is a GPU. AMD and Intel also build the graphics of CPUs and of
 * management controllers. A device of theirs is a GPU only if it drives no screen and has a large
 * memory window. No other vendor's device counts. */
#ifndef GPU_BUS_H
#define GPU_BUS_H

#include "gpu/gpu.h"

#define GPU_BUS_TEXT 384

struct gpu_bus {
  int known;                 /**< the bus could be read, and lists devices */
  int n;                     /**< GPUs that the job's environment leaves visible */
  int of[GPU_VENDORS];       /**< these, by vendor */
  int chosen;                /**< the job's environment chooses among the GPUs of a vendor */
  char listed[GPU_BUS_TEXT]; /**< these: "NVIDIA 0000:3b:00.0, kernel driver nouveau; ..." */
  const char *hiding;        /**< the variable that hides all GPUs of a vendor, NULL for none */
};

/** \brief Reads the bus below host_sysfs. Only if it lists no device at all, a device node in /dev
 * counts as a GPU: containers may have no sysfs. */
void gpu_bus_read(struct gpu_bus *bus);

#endif
