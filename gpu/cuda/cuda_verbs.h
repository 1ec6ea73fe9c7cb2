/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Functions of the CUDA backend that cuda_share.c and cuda_device.c share. */
#ifndef GPU_CUDA_CUDA_VERBS_H
#define GPU_CUDA_CUDA_VERBS_H

#include <cuda_runtime_api.h>

#include "gpu/gpu.h"

/** \brief Writes a UUID as "GPU-…", the format of NVIDIA's tools. */
void cuda_write_uuid(char *text, size_t size, const cudaUUID_t *uuid);

status_t cuda_alloc_shared(struct gpu_device *device, size_t bytes, struct gpu_mem *mem);
status_t cuda_share(struct gpu_device *device, struct gpu_mem mem, struct gpu_share *share);
int cuda_attach(struct gpu_device *device, const struct gpu_share *share, struct gpu_mem *mem,
                char reason[GPU_TEXT_MAX]);
void cuda_detach(struct gpu_device *device, struct gpu_mem *mem);
int cuda_pin(struct gpu_device *device, void *host, size_t bytes, char reason[GPU_TEXT_MAX]);
void cuda_unpin(struct gpu_device *device, void *host);
status_t cuda_copy(struct gpu_queue *queue, struct gpu_mem to, size_t to_offset, struct gpu_mem from,
                   size_t from_offset, size_t bytes);

status_t cuda_graph_begin(struct gpu_queue *queue);
status_t cuda_graph_end(struct gpu_queue *queue, struct gpu_graph **graph);
status_t cuda_graph_launch(struct gpu_graph *graph, struct gpu_queue *queue);
void cuda_graph_destroy(struct gpu_graph *graph);

#endif
