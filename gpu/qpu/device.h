/* SPDX-License-Identifier: MIT */
/** \file
 * \brief QPU programs on a device of the backend "qpu": a Raspberry Pi 1 to 3, or on other machines
 * the emulator.
 *
 * gpu_mem.handle is the host's pointer to the memory; programs use its bus address. HIMENO_QPU=pi
 * or emulator overrides the automatic choice. */
#ifndef QPU_DEVICE_H
#define QPU_DEVICE_H

#include "gpu/gpu.h"
#include "gpu/qpu/emulator/emu.h"

#define QPU_DEVICE_QPUS 12

/** \brief Sets *address to the bus address of \a host. Returns STATUS_FAULT if \a host is not in
 * allocated memory of the device. */
status_t qpu_device_address(const struct gpu_device *device, const void *host, uint32_t *address);

/** \brief Returns 1 if \a bytes bytes from \a host on are in the device's memory. */
int qpu_device_holds(const struct gpu_device *device, const void *host, size_t bytes);

/** \brief Runs \a n programs (1 to 12, or 1 to 24 with two \a threads per QPU) to their end; the
 * last program interrupts the host. Errors are those of qpu_emu_run; on a Pi also STATUS_HANG, if
 * the programs do not end within a minute. */
status_t qpu_device_run(struct gpu_device *device, const struct qpu_job *jobs, int n, int threads);

/** \brief Returns the emulator of the device, for its counts, or NULL on a Pi. */
struct qpu_emu *qpu_device_emulator(struct gpu_device *device);

#endif
