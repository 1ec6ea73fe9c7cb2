/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Option table entries that select the device, shared by every program with ranks. Each
 * program passes the modes and parts that read the option. */
#ifndef GPU_DEVICE_OPTIONS_H
#define GPU_DEVICE_OPTIONS_H

#include "base/options.h"
#include "gpu/gpu.h"

#define DEVICE_OPTION_BACKEND(readers)                                                                       \
  "backend", 'b', OPTION_LISTED | (readers), OPTION_CUSTOM(backend, gpu_backend_parse, "NAME"),              \
      "Select the backend: auto, cuda, opencl, cpu, qpu (Raspberry Pi 1 to 3, emulated elsewhere) or "       \
      "null (for tests of this program). auto takes CUDA, then a GPU by OpenCL, then the CPU (default: "     \
      "auto).",                                                                                              \
      .group = "Where and how"

#define DEVICE_OPTION_DEVICE(readers)                                                                        \
  "device", 0, OPTION_OWN | (readers), OPTION_TEXT(device, "N|UUID|NAME"),                                   \
      "Use only devices of each host with this index in --list, UUID or part of a name; ranks may "          \
      "share one (default: all; each rank takes one near its cores)."

#define DEVICE_OPTION_BIND(readers)                                                                          \
  "bind", 0, readers, OPTION_CHOICE(binding, "auto|keep|share"),                                             \
      "Set how ranks are bound to cores. keep: as the launcher bound them. share: divide the host's "        \
      "cores among its ranks. auto: share if the launcher bound each rank to a single core, or several "     \
      "to the same cores; otherwise keep (default: auto)."

#define DEVICE_OPTION_EXPECT(readers)                                                                        \
  "expect", 0, readers, OPTION_INT(expect, 1, 1024, "N"),                                                    \
      "End with exit status 3, and name the host, if it has fewer than N usable devices. Its CPUs are "      \
      "one device, and count only if --backend selects them."

#endif
