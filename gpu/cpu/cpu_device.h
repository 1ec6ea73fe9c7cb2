/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Functions of the CPU backend that other backends use, too. */
#ifndef GPU_CPU_CPU_DEVICE_H
#define GPU_CPU_CPU_DEVICE_H

#include "gpu/gpu.h"

void cpu_close(struct gpu_device *device);
void cpu_detach(struct gpu_device *device, struct gpu_mem *mem);
status_t cpu_alloc_host(struct gpu_device *device, size_t bytes, enum gpu_host_kind kind, void **host);
void cpu_free_host(struct gpu_device *device, enum gpu_host_kind kind, void *host);
status_t cpu_queue_create(struct gpu_device *device, enum gpu_urgency urgency, struct gpu_queue **created);
void cpu_queue_destroy(struct gpu_queue *queue);
status_t cpu_event_create(struct gpu_device *device, struct gpu_event **created);
void cpu_event_destroy(struct gpu_event *event);
status_t cpu_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                     size_t bytes);
status_t cpu_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset, size_t bytes);
status_t cpu_clear(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes);
status_t cpu_record(struct gpu_event *base, struct gpu_queue *queue);
status_t cpu_wait(struct gpu_queue *queue, struct gpu_event *event);
status_t cpu_ready(struct gpu_event *event, int *ready);
status_t cpu_elapsed(struct gpu_event *begin, struct gpu_event *end, double *seconds);
status_t cpu_sync(struct gpu_queue *queue);

#endif
