/* SPDX-License-Identifier: MIT */
/* The backend "qpu". Programs run while their call lasts, so that queues and events are the CPU backend's. */
#include "gpu/qpu/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/switches.h"
#include "gpu/qpu/machine.h"

/* The machine that there is, or NULL with the reason. */
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
  if (machine && !info) snprintf(reason, GPU_TEXT_MAX, "out of memory");
  if (info) machine->describe(info);
  *devices = info;
  *n = info ? 1 : 0;
}

static status_t qpu_open(int index, struct gpu_device **opened)
{
  char reason[GPU_TEXT_MAX];
  const struct qpu_machine *machine = machine_choose(reason);
  if (!machine) return log_fail(STATUS_ENVIRONMENT, "backend qpu: %s", reason);
  if (index != 0)
    return log_fail(STATUS_ENVIRONMENT, "the qpu backend has one device, number 0, and no %d", index);
  struct qpu_device *device = calloc(1, sizeof *device);
  if (!device) return log_fail(STATUS_ENVIRONMENT, "out of memory for a device");
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
  device->held_bytes += piece->bytes;
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
    device->held_bytes -= piece->bytes;
    device->machine->free(device, piece);
    free(piece);
    return;
  }
}

static void qpu_close(struct gpu_device *base)
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

status_t qpu_device_address(const struct gpu_device *base, const void *host, uint32_t *address)
{
  const struct qpu_device *device = (const struct qpu_device *)base;
  for (const struct qpu_piece *piece = device->pieces; piece; piece = piece->next) {
    size_t offset = (size_t)((uintptr_t)host - (uintptr_t)piece->host);
    if (offset >= piece->bytes) continue;
    *address = piece->bus + (uint32_t)offset;
    return STATUS_OK;
  }
  return log_fail(STATUS_FAULT, "an address outside of the QPUs' memory");
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

/* ---- the rest is the CPU backend's, whose queues, events and copies do not look at the device ---- */

static status_t qpu_alloc_host(struct gpu_device *device, size_t bytes, enum gpu_host_kind kind, void **host)
{
  return gpu_backend_cpu.alloc_host(device, bytes, kind, host);
}

static void qpu_free_host(struct gpu_device *device, enum gpu_host_kind kind, void *host)
{
  gpu_backend_cpu.free_host(device, kind, host);
}

static status_t qpu_queue_create(struct gpu_device *device, enum gpu_urgency urgency,
                                 struct gpu_queue **queue)
{
  return gpu_backend_cpu.queue_create(device, urgency, queue);
}

static void qpu_queue_destroy(struct gpu_queue *queue)
{
  gpu_backend_cpu.queue_destroy(queue);
}

static status_t qpu_event_create(struct gpu_device *device, struct gpu_event **event)
{
  return gpu_backend_cpu.event_create(device, event);
}

static void qpu_event_destroy(struct gpu_event *event)
{
  gpu_backend_cpu.event_destroy(event);
}

static status_t qpu_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                            size_t bytes)
{
  return gpu_backend_cpu.copy_in(queue, mem, offset, host, bytes);
}

static status_t qpu_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset,
                             size_t bytes)
{
  return gpu_backend_cpu.copy_out(queue, host, mem, offset, bytes);
}

static status_t qpu_clear(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes)
{
  return gpu_backend_cpu.clear(queue, mem, offset, bytes);
}

static status_t qpu_record(struct gpu_event *event, struct gpu_queue *queue)
{
  return gpu_backend_cpu.record(event, queue);
}

static status_t qpu_wait(struct gpu_queue *queue, struct gpu_event *event)
{
  return gpu_backend_cpu.wait(queue, event);
}

static status_t qpu_ready(struct gpu_event *event, int *ready)
{
  return gpu_backend_cpu.ready(event, ready);
}

static status_t qpu_elapsed(struct gpu_event *begin, struct gpu_event *end, double *seconds)
{
  return gpu_backend_cpu.elapsed(begin, end, seconds);
}

static status_t qpu_sync(struct gpu_queue *queue)
{
  return gpu_backend_cpu.sync(queue);
}

const struct gpu_backend gpu_backend_qpu = {
    .name = "qpu",
    .about = "VideoCore IV of a Raspberry Pi 1 to 3; elsewhere an emulator, whose times are no speed",
    .probe = qpu_probe,
    .open = qpu_open,
    .close = qpu_close,
    .alloc = qpu_alloc,
    .free = qpu_free,
    .alloc_host = qpu_alloc_host,
    .free_host = qpu_free_host,
    .memory_free = qpu_memory_free_bytes,
    .queue_create = qpu_queue_create,
    .queue_destroy = qpu_queue_destroy,
    .event_create = qpu_event_create,
    .event_destroy = qpu_event_destroy,
    .copy_in = qpu_copy_in,
    .copy_out = qpu_copy_out,
    .clear = qpu_clear,
    .record = qpu_record,
    .wait = qpu_wait,
    .ready = qpu_ready,
    .elapsed = qpu_elapsed,
    .sync = qpu_sync,
};
