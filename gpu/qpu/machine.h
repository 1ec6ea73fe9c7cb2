/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Machines that run the programs of a QPU device: the emulator and the Raspberry Pi. Each
 * machine is one const struct. */
#ifndef QPU_MACHINE_H
#define QPU_MACHINE_H

#include "gpu/gpu.h"
#include "gpu/qpu/emulator/emu.h"

/** An allocation, with its addresses for the host and for the QPUs. */
struct qpu_piece {
  struct qpu_piece *next;
  void *host;
  uint32_t bus;
  size_t bytes; /**< requested size, at least 4 */
  int file;     /**< file descriptor, −1 for none */
};

struct qpu_pi;

struct qpu_device {
  struct gpu_device base;
  const struct qpu_machine *machine;
  struct qpu_piece *pieces;
  struct qpu_emu *emu;
  struct qpu_pi *pi;
};

struct qpu_machine {
  void (*describe)(struct gpu_device_info *info);
  status_t (*open)(struct qpu_device *device);
  void (*close)(struct qpu_device *device);
  /** \brief Allocates piece->bytes bytes, and sets all fields of the piece except `next`. */
  status_t (*alloc)(struct qpu_device *device, struct qpu_piece *piece);
  void (*free)(struct qpu_device *device, struct qpu_piece *piece);
  uint64_t (*left)(const struct qpu_device *device); /**< bytes */
  status_t (*run)(struct qpu_device *device, const struct qpu_job *jobs, int n, int threads);
};

extern const struct qpu_machine qpu_machine_emulator;
extern const struct qpu_machine qpu_machine_pi;

/** \brief Returns 1 on a Raspberry Pi 1 to 3. \a reason is "", or why its QPUs are unavailable. */
int qpu_pi_here(char reason[GPU_TEXT_MAX]);

#endif
