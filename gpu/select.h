/* SPDX-License-Identifier: MIT */
/** \file
 * \brief GPUs on the PCI bus, and the devices that --backend and --device select. */
#ifndef GPU_SELECT_H
#define GPU_SELECT_H

#include "gpu/gpu.h"

#define GPU_BUS_TEXT 384

/** GPUs that the kernel lists on this host's PCI bus, usable or not. gpu/bus.c defines which
 * devices are GPUs. */
struct gpu_bus {
  int known;           /**< 1: the bus could be read, and lists devices */
  int n;               /**< number of GPUs that the job's environment leaves visible */
  int of[GPU_VENDORS]; /**< visible GPUs by vendor */
  int chosen;          /**< 1: the job's environment selects among the GPUs of a vendor */
  /** visible GPUs as text: "NVIDIA 0000:3b:00.0, kernel driver nouveau; ..." */
  char listed[GPU_BUS_TEXT];
  const char *hiding; /**< variable that hides all GPUs of a vendor; NULL: none */
};

/** \brief Reads the bus below host_sysfs. Only if the bus lists no device at all, as in a container
 * without sysfs, a device node in /dev counts as a GPU. */
void gpu_bus_read(struct gpu_bus *bus);

#define GPU_CLAIM_TEXT 1024

/** The backend that this process would use. Ranks exchange it, so it has no pointers. */
struct gpu_claim {
  int backend;   /**< index in gpu_backends, −1 if none can be used */
  int only_cpus; /**< 1: the backend that was asked for is one of GPUs, and has only CPUs */
  /** why none is usable, or why automatic choice uses no GPU; otherwise "" */
  char reason[GPU_CLAIM_TEXT];
};

/** \brief Finds whether the backend \a asked has a device. NULL selects the first backend with a
 * GPU, otherwise the CPU. On a host with a GPU that no backend can use, no backend is selected,
 * unless the job's environment hides all GPUs. */
void gpu_claim_make(const struct gpu_backend *asked, struct gpu_claim *claim);

/** \brief Makes the automatic choice among \a backends, of which one must have on_host. */
void gpu_claim_best(const struct gpu_backend *const *backends, struct gpu_claim *claim);

/** The devices of a backend that match --device. */
struct gpu_choice {
  struct gpu_device_info *devices;
  int *index; /**< indices of the matching devices in the backend's probe */
  int n;
};

/** \brief Finds the devices that match \a wanted: a position, the start of a UUID, or a part of a
 * name; NULL matches all, but no CPU if there is a GPU. If there is none, logs the reason and
 * returns STATUS_ENVIRONMENT. */
status_t gpu_choice_make(const struct gpu_backend *backend, const char *wanted, struct gpu_choice *choice);
void gpu_choice_free(struct gpu_choice *choice);

/** \brief Finds a backend with gpu_claim_make, and sets *index to its first device that matches \a
 * wanted. If there is none, logs the reason and returns STATUS_ENVIRONMENT. */
status_t gpu_select(const struct gpu_backend *asked, const char *wanted, struct gpu_claim *claim, int *index);

#endif
