/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Entries of a program's option table for where it runs, the same in every program with
 * ranks. The modes and parts that read an option are the program's own. */
#ifndef GPU_DEVICE_OPTIONS_H
#define GPU_DEVICE_OPTIONS_H

#include "base/options.h"
#include "gpu/gpu.h"

#define DEVICE_OPTION_BACKEND(readers)                                                                       \
  "backend", 'b', OPTION_LISTED | (readers), OPTION_CUSTOM(backend, gpu_backend_parse, "NAME"),              \
      "auto, cuda, opencl, cpu, qpu (a Raspberry Pi 1 to 3, elsewhere its emulator), or null (a test "       \
      "device). auto takes CUDA, then a GPU by OpenCL, then the CPU.",                                       \
      .group = "Where and how"

#define DEVICE_OPTION_DEVICE(readers)                                                                        \
  "device", 0, OPTION_OWN | (readers), OPTION_TEXT(device, "N|UUID|NAME"),                                   \
      "Only devices with this position, UUID or part of a name. Default: one device a rank, by place on "    \
      "the host."

#define DEVICE_OPTION_BIND(readers)                                                                          \
  "bind", 0, readers, OPTION_CHOICE(binding, "auto|keep|share"),                                             \
      "Cores: keep the launcher's binding, share the host's cores among its ranks, or (auto) share them "    \
      "only where the launcher bound ranks to one core each or to the same cores."

#define DEVICE_OPTION_EXPECT(readers)                                                                        \
  "expect", 0, readers, OPTION_INT(expect, 1, 1024, "N"),                                                    \
      "Fail if a host has fewer than N usable devices; the error names the host. A CPU counts only if "      \
      "--backend names its backend."

#endif
