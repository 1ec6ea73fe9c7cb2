/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Entries of a program's option table for where it runs, the same in every program with
 * ranks.
 *
 * AT(field) and GIVEN(field) are the program's own: the offset of a field of its configuration, and
 * one more. So are the modes and parts that read the option. */
#ifndef GPU_DEVICE_OPTIONS_H
#define GPU_DEVICE_OPTIONS_H

#include "base/options.h"
#include "gpu/gpu.h"

#define DEVICE_OPTION_BACKEND(reads)                                                                         \
  {                                                                                                          \
    .name = "backend", .readers = (reads), .letter = 'b', .type = OPTION_CUSTOM, .parse = gpu_backend_parse, \
    .offset = AT(backend), .metavar = "NAME", .group = "Where and how",                                      \
    .help = "auto, cuda, opencl, cpu, qpu (a Raspberry Pi 1 to 3, elsewhere its emulator), or null (a test " \
            "device). auto takes CUDA, then a GPU by OpenCL, then the CPU."                                  \
  }

#define DEVICE_OPTION_DEVICE(reads)                                                                          \
  {                                                                                                          \
    .name = "device", .readers = (reads), .type = OPTION_TEXT, .offset = AT(device),                         \
    .metavar = "N|UUID|NAME",                                                                                \
    .help = "Only devices with this position, UUID or part of a name. Default: one device a rank, by place " \
            "on the host."                                                                                   \
  }

#define DEVICE_OPTION_BIND(reads)                                                                            \
  {                                                                                                          \
    .name = "bind", .readers = (reads), .type = OPTION_CHOICE, .allowed = "auto|keep|share",                 \
    .offset = AT(binding), .metavar = "auto|keep|share",                                                     \
    .help = "Cores: keep the launcher's binding, share the host's cores among its ranks, or (auto) share "   \
            "them only where the launcher bound ranks to one core each or to the same cores."                \
  }

#define DEVICE_OPTION_EXPECT(reads)                                                                          \
  {                                                                                                          \
    .name = "expect", .readers = (reads), .type = OPTION_INT, .min = 1, .max = 1024, .offset = AT(expect),   \
    .metavar = "N", .help = "Fail, naming the host, where fewer than N devices are seen."                    \
  }

#endif
