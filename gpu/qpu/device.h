/* SPDX-License-Identifier: MIT */
/** \file
 * \brief QPU programs on a device of the backend "qpu": a Raspberry Pi 1 to 3, or the emulator
 * elsewhere.
 *
 * gpu_mem.handle is the host's pointer to the memory; programs see it at its bus address.
 * HIMENO_QPU=pi or emulator says which device is meant where the automatic choice is not. */
#ifndef QPU_DEVICE_H
#define QPU_DEVICE_H

#include "gpu/gpu.h"
#include "gpu/qpu/emulator/emu.h"

#define QPU_DEVICE_QPUS 12

/** \brief Bus address of a byte of allocated memory. STATUS_FAULT outside of it. */
status_t qpu_device_address(const struct gpu_device *device, const void *host, uint32_t *address);

/** \brief Whether \a bytes from there on are the device's. */
int qpu_device_holds(const struct gpu_device *device, const void *host, size_t bytes);

/** \brief Runs \a n programs (1 to 12, or to 24 with two \a threads a QPU) to their end; the last
 * to end raises the host's interrupt. As qpu_emu_run; on a Pi STATUS_HANG when they do not end
 * within a minute. */
status_t qpu_device_run(struct gpu_device *device, const struct qpu_job *jobs, int n, int threads);

/** \brief The emulator that the device runs programs on, for its counts; NULL on a Pi. */
struct qpu_emu *qpu_device_emulator(struct gpu_device *device);

#endif
