/* SPDX-License-Identifier: MIT */
/** \file
 * \brief GPUs on the PCI bus, and the devices that --backend and --device select. */
#ifndef GPU_SELECT_H
#define GPU_SELECT_H

#include "gpu/gpu.h"

#define GPU_BUS_TEXT 384

/** GPUs that the kernel lists on this host's PCI bus, usable or not; gpu/bus.c defines a GPU. */
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

#define GPU_CLAIM_TEXT 1024

/** The backend that this process would use. Plain bytes: ranks exchange them. */
struct gpu_claim {
  int backend; /**< in gpu_backends, −1 if none can be used */
  /** Why none can be used, or why automatic choice takes no GPU; else "" */
  char reason[GPU_CLAIM_TEXT];
};

/** \brief Finds whether the backend that is asked for has a device. For NULL: the first with a
 * GPU, else the CPU. A host with a GPU that no backend can use has no backend, unless the job's
 * environment hides all its GPUs. */
void gpu_claim_make(const struct gpu_backend *asked, struct gpu_claim *claim);

/** \brief The automatic choice among \a backends, which has one that is on the host. */
void gpu_claim_best(const struct gpu_backend *const *backends, struct gpu_claim *claim);

/** Devices of a backend that --device leaves. */
struct gpu_choice {
  struct gpu_device_info *devices;
  int *index; /**< in the probe */
  int n;
};

/** \brief Those that \a wanted means: a position, the start of a UUID, a part of a name; NULL: any.
 * STATUS_ENVIRONMENT, with the reason, where there is none. */
status_t gpu_choice_make(const struct gpu_backend *backend, const char *wanted, struct gpu_choice *choice);
void gpu_choice_free(struct gpu_choice *choice);

/** \brief The first of them, of the backend that gpu_claim_make finds. */
status_t gpu_select(const struct gpu_backend *asked, const char *wanted, struct gpu_claim *claim, int *index);

#endif
