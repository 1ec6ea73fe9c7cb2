/* SPDX-License-Identifier: MIT */
/* The emulated device, which uses the host's cores and memory. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "gpu/host.h"
#include "gpu/qpu/device.h"
#include "gpu/qpu/machine.h"

#define MEMORY_BYTES ((size_t)512 << 20)

static void emulator_describe(struct gpu_device_info *info)
{
  memset(info, 0, sizeof *info);
  snprintf(info->name, sizeof info->name, "VideoCore IV, emulated");
  host_uuid(info->uuid, sizeof info->uuid);
  snprintf(info->driver, sizeof info->driver, "none");
  snprintf(info->arch, sizeof info->arch, "VideoCore IV");
  info->memory_bytes = info->max_alloc_bytes = MEMORY_BYTES;
  info->compute_units = QPU_DEVICE_QPUS;
  info->numa = -1;
  info->is_cpu = 1;
  info->emulated = 1;
}

static status_t emulator_open(struct qpu_device *device)
{
  struct qpu_emu_config config = {.n_qpus = QPU_DEVICE_QPUS, .memory_bytes = MEMORY_BYTES};
  return qpu_emu_create(&config, &device->emu);
}

static void emulator_close(struct qpu_device *device)
{
  qpu_emu_destroy(device->emu);
}

static status_t emulator_alloc(struct qpu_device *device, struct qpu_piece *piece)
{
  RETURN_IF_FAILED(qpu_memory_alloc(qpu_emu_memory(device->emu), piece->bytes, &piece->bus));
  piece->host = qpu_memory_at(qpu_emu_memory(device->emu), piece->bus);
  piece->file = -1;
  return STATUS_OK;
}

static void emulator_free(struct qpu_device *device, struct qpu_piece *piece)
{
  qpu_memory_free(qpu_emu_memory(device->emu), piece->bus);
}

/* Returns the bytes left, at most the host's free bytes, because the host allocates pages late. */
static uint64_t emulator_left(const struct qpu_device *device)
{
  struct host_memory memory;
  uint64_t left = qpu_memory_left(qpu_emu_memory(device->emu));
  host_memory_read(&memory);
  return left < memory.available ? left : memory.available;
}

static status_t emulator_run(struct qpu_device *device, const struct qpu_job *jobs, int n, int threads)
{
  qpu_emu_use(device->emu, device->base.info.compute_units, threads);
  return qpu_emu_run(device->emu, jobs, (size_t)n);
}

const struct qpu_machine qpu_machine_emulator = {
    .describe = emulator_describe,
    .open = emulator_open,
    .close = emulator_close,
    .alloc = emulator_alloc,
    .free = emulator_free,
    .left = emulator_left,
    .run = emulator_run,
};
