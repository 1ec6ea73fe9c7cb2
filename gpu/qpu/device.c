/* SPDX-License-Identifier: MIT */
/* The backend "qpu". Programs run during the call that starts them, so the CPU backend's queues and
 * events are used. */
#include "gpu/qpu/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/switches.h"
#include "gpu/cpu/cpu_device.h"
#include "gpu/qpu/machine.h"

SWITCH("HIMENO_QPU", USER, AGREED, CHOICE("pi|emulator"),
       "backend `qpu`: the Raspberry Pi's processors, or the emulator");

/* Returns the available machine, or NULL with the reason if there is none. */
static const struct qpu_machine *machine_choose(char reason[GPU_TEXT_MAX])
{
  const char *choice = switch_text("HIMENO_QPU");
  reason[0] = '\0';
  if (choice && strcmp(choice, "emulator") == 0) return &qpu_machine_emulator;
  if (qpu_pi_here(reason)) return reason[0] ? NULL : &qpu_machine_pi;
  if (!choice) return &qpu_machine_emulator;
  snprintf(reason, GPU_TEXT_MAX, "this is no Raspberry Pi 1 to 3");
  return NULL;
}

static void qpu_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  const struct qpu_machine *machine = machine_choose(reason);
  struct gpu_device_info *info = machine ? malloc(sizeof *info) : NULL;
  if (machine && !info) snprintf(reason, GPU_TEXT_MAX, "out of host memory");
  if (info) machine->describe(info);
  *devices = info;
  *n = info ? 1 : 0;
}

static status_t qpu_device_open(int index, struct gpu_device **opened)
{
  char reason[GPU_TEXT_MAX];
  const struct qpu_machine *machine = machine_choose(reason);
  if (!machine) return log_fail(STATUS_ENVIRONMENT, "backend qpu: %s", reason);
  if (index != 0) return log_fail(STATUS_ENVIRONMENT, "the qpu backend has only device 0, not %d", index);
  struct qpu_device *device = calloc(1, sizeof *device);
  if (!device) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a device's record");
  device->base.backend = &gpu_backend_qpu;
  device->machine = machine;
  machine->describe(&device->base.info);
  status_t status = machine->open(device);
  if (status != STATUS_OK) {
    free(device);
    return status;
  }
  *opened = &device->base;
  return STATUS_OK;
}

static status_t qpu_alloc(struct gpu_device *base, size_t bytes, struct gpu_mem *mem)
{
  struct qpu_device *device = (struct qpu_device *)base;
  struct qpu_piece *piece = calloc(1, sizeof *piece);
  if (!piece) return log_fail(STATUS_ENVIRONMENT, "out of host memory for an allocation");
  piece->bytes = bytes < 4 ? 4 : bytes;
  status_t status = device->machine->alloc(device, piece);
  if (status != STATUS_OK) {
    free(piece);
    return status;
  }
  piece->next = device->pieces;
  device->pieces = piece;
  mem->handle = piece->host;
  mem->bytes = bytes;
  return STATUS_OK;
}

static void qpu_free(struct gpu_device *base, struct gpu_mem *mem)
{
  struct qpu_device *device = (struct qpu_device *)base;
  for (struct qpu_piece **link = &device->pieces; *link; link = &(*link)->next) {
    struct qpu_piece *piece = *link;
    if (piece->host != mem->handle) continue;
    *link = piece->next;
    device->machine->free(device, piece);
    free(piece);
    return;
  }
}

static void qpu_device_close(struct gpu_device *base)
{
  struct qpu_device *device = (struct qpu_device *)base;
  while (device->pieces) {
    struct gpu_mem mem = {device->pieces->host, 0};
    qpu_free(base, &mem);
  }
  device->machine->close(device);
  free(device);
}

static status_t qpu_memory_free_bytes(struct gpu_device *base, uint64_t *bytes)
{
  const struct qpu_device *device = (struct qpu_device *)base;
  *bytes = device->machine->left(device);
  return STATUS_OK;
}

static const struct qpu_piece *piece_of(const struct gpu_device *base, const void *host)
{
  const struct qpu_device *device = (const struct qpu_device *)base;
  const struct qpu_piece *piece = device->pieces;
  while (piece && (uintptr_t)host - (uintptr_t)piece->host >= piece->bytes) piece = piece->next;
  return piece;
}

int qpu_device_holds(const struct gpu_device *base, const void *host, size_t bytes)
{
  const struct qpu_piece *piece = piece_of(base, host);
  return piece && bytes <= piece->bytes - ((uintptr_t)host - (uintptr_t)piece->host);
}

status_t qpu_device_address(const struct gpu_device *base, const void *host, uint32_t *address)
{
  const struct qpu_piece *piece = piece_of(base, host);
  if (!piece) return log_fail(STATUS_FAULT, "an address outside of the QPUs' memory");
  *address = piece->bus + (uint32_t)((uintptr_t)host - (uintptr_t)piece->host);
  return STATUS_OK;
}

status_t qpu_device_run(struct gpu_device *base, const struct qpu_job *jobs, int n, int threads)
{
  struct qpu_device *device = (struct qpu_device *)base;
  return device->machine->run(device, jobs, n, threads);
}

struct qpu_emu *qpu_device_emulator(struct gpu_device *device)
{
  return ((struct qpu_device *)device)->emu;
}

const struct gpu_backend gpu_backend_qpu = {
    .name = "qpu",
    .about = "VideoCore IV of a Raspberry Pi 1 to 3; an emulator on other machines, which has no speed",
    .units_max = QPU_DEVICE_QPUS,
    .probe = qpu_probe,
    .open = qpu_device_open,
    .close = qpu_device_close,
    .alloc = qpu_alloc,
    .free = qpu_free,
    .alloc_host = cpu_alloc_host,
    .free_host = cpu_free_host,
    .memory_free = qpu_memory_free_bytes,
    .queue_create = cpu_queue_create,
    .queue_destroy = cpu_queue_destroy,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .copy_in = cpu_copy_in,
    .copy_out = cpu_copy_out,
    .clear = cpu_clear,
    .record = cpu_record,
    .wait = cpu_wait,
    .ready = cpu_ready,
    .elapsed = cpu_elapsed,
    .sync = cpu_sync,
};
