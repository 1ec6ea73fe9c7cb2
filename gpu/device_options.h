/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Option table entries that select the device, shared by every program with ranks. \a
 * readers lists the program's modes and parts that read the option. */
#ifndef GPU_DEVICE_OPTIONS_H
#define GPU_DEVICE_OPTIONS_H

#include "base/options.h"
#include "gpu/gpu.h"

#define DEVICE_OPTION_BACKEND(readers)                                                                       \
  "backend", 'b', OPTION_LISTED | (readers), OPTION_CUSTOM(backend, gpu_backend_parse, "NAME"),              \
      "Select the backend: auto, cuda, opencl, cpu, qpu (Raspberry Pi 1 to 3, emulated elsewhere) or "       \
      "null (for tests of this program). auto uses the first available of CUDA, a GPU by OpenCL and the "    \
      "CPU "                                                                                                 \
      "(default: auto).",                                                                                    \
      .group = "Where and how"

#define DEVICE_OPTION_DEVICE(readers)                                                                        \
  "device", 0, OPTION_OWN | (readers), OPTION_TEXT(device, "N|UUID|NAME"),                                   \
      "Use only the devices of each host that match: an index of --list, a UUID or part of a name. Several " \
      "ranks may share a device (default: all devices; each rank takes one near its cores)."

#define DEVICE_OPTION_BIND(readers)                                                                          \
  "bind", 0, readers, OPTION_CHOICE(binding, "auto|keep|share"),                                             \
      "Set how ranks are bound to cores. keep: as the launcher bound them. share: divide the host's "        \
      "cores among its ranks. auto: share if the launcher bound each rank to a single core, or several "     \
      "to the same cores; otherwise keep (default: auto)."

#define DEVICE_OPTION_EXPECT(readers)                                                                        \
  "expect", 0, readers, OPTION_INT(expect, 1, 1024, "N"),                                                    \
      "End with exit status 3 if a host has fewer than N usable devices, and name the host. All its CPUs "   \
      "are one device, and they count only if --backend selects them."

#endif
