/* SPDX-License-Identifier: MIT */
/* CUDA memory shared by processes of one host, and graphs of a queue's work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "gpu/cuda/cuda_device.h"
#include "gpu/cuda/cuda_verbs.h"
#include "gpu/memory.h"

/* Sizes of shared allocations are multiples of this. The driver does not put them into a larger
 * block, so an IPC handle opens this memory and nothing else. */
#define SHARED_GRAIN ((size_t)2 << 20)

status_t cuda_alloc_shared(struct gpu_device *device, size_t bytes, struct gpu_mem *mem)
{
  RETURN_IF_FAILED(gpu_alloc(device, (bytes / SHARED_GRAIN + 1) * SHARED_GRAIN, mem));
  mem->bytes = bytes;
  return STATUS_OK;
}

status_t cuda_share(struct gpu_device *device, struct gpu_mem mem, struct gpu_share *share)
{
  cudaIpcMemHandle_t handle;
  _Static_assert(sizeof handle <= sizeof share->handle, "a CUDA handle fits");
  RETURN_IF_FAILED(cuda_use(device));
  RETURN_IF_FAILED(cuda_check(cudaIpcGetMemHandle(&handle, mem.handle), "sharing device memory"));
  *share = (struct gpu_share){.bytes = mem.bytes};
  memcpy(share->handle, &handle, sizeof handle);
  snprintf(share->uuid, sizeof share->uuid, "%s", device->info.uuid);
  return STATUS_OK;
}

int cuda_ordinal_of(const char *uuid)
{
  int count = 0;
  struct cudaDeviceProp properties;
  char text[48];
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  for (int d = 0; d < count; d++) {
    if (cudaGetDeviceProperties(&properties, d) != cudaSuccess) continue;
    cuda_write_uuid(text, sizeof text, &properties.uuid);
    if (strcmp(text, uuid) == 0) return d;
  }
  return -1;
}

static void explain_attach(struct gpu_device *device, const struct gpu_share *share, cudaError_t error,
                           char reason[GPU_TEXT_MAX])
{
  int peer = cuda_ordinal_of(share->uuid), reaches = 1;
  if (peer >= 0 && peer != ((struct cuda_device *)device)->ordinal &&
      cudaDeviceCanAccessPeer(&reaches, ((struct cuda_device *)device)->ordinal, peer) != cudaSuccess)
    reaches = 0;
  if (peer < 0)
    snprintf(reason, GPU_TEXT_MAX, "the neighbour's device is not visible here (%s)",
             cudaGetErrorName(error));
  else if (!reaches)
    snprintf(reason, GPU_TEXT_MAX, "no peer access between the devices (%s)", cudaGetErrorName(error));
  else
    snprintf(reason, GPU_TEXT_MAX, "opening the neighbour's memory: %s", cudaGetErrorName(error));
}

int cuda_attach(struct gpu_device *device, const struct gpu_share *share, struct gpu_mem *mem,
                char reason[GPU_TEXT_MAX])
{
  cudaIpcMemHandle_t handle;
  void *pointer;
  memcpy(&handle, share->handle, sizeof handle);
  cudaError_t error = cudaSetDevice(((struct cuda_device *)device)->ordinal);
  if (error == cudaSuccess) error = cudaIpcOpenMemHandle(&pointer, handle, cudaIpcMemLazyEnablePeerAccess);
  if (error != cudaSuccess) {
    cudaGetLastError();
    explain_attach(device, share, error, reason);
    return 0;
  }
  *mem = (struct gpu_mem){pointer, share->bytes};
  return 1;
}

void cuda_detach(struct gpu_device *device, struct gpu_mem *mem)
{
  (void)device;
  if (cudaIpcCloseMemHandle(mem->handle) != cudaSuccess) cudaGetLastError();
}

status_t cuda_copy(struct gpu_queue *queue, struct gpu_mem to, size_t to_offset, struct gpu_mem from,
                   size_t from_offset, size_t bytes)
{
  RETURN_IF_FAILED(gpu_range_check("copy to", to, to_offset, bytes));
  RETURN_IF_FAILED(gpu_range_check("copy from", from, from_offset, bytes));
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_check(cudaMemcpyAsync((char *)to.handle + to_offset, (const char *)from.handle + from_offset,
                                    bytes, cudaMemcpyDeviceToDevice, cuda_queue_handle(queue)),
                    "copying between devices");
}

int cuda_pin(struct gpu_device *device, void *host, size_t bytes, char reason[GPU_TEXT_MAX])
{
  cudaError_t error = cudaSetDevice(((struct cuda_device *)device)->ordinal);
  if (error == cudaSuccess) error = cudaHostRegister(host, bytes, cudaHostRegisterPortable);
  if (error == cudaSuccess) return 1;
  cudaGetLastError();
  snprintf(reason, GPU_TEXT_MAX, "%s of host memory cannot be page-locked (%s)", report_bytes(bytes),
           cudaGetErrorName(error));
  return 0;
}

void cuda_unpin(struct gpu_device *device, void *host)
{
  (void)device;
  if (cudaHostUnregister(host) != cudaSuccess) cudaGetLastError();
}

struct cuda_graph {
  struct gpu_graph base;
  cudaGraphExec_t exec;
};

status_t cuda_graph_begin(struct gpu_queue *queue)
{
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_check(cudaStreamBeginCapture(cuda_queue_handle(queue), cudaStreamCaptureModeThreadLocal),
                    "beginning to record a CUDA graph");
}

status_t cuda_graph_end(struct gpu_queue *queue, struct gpu_graph **graph)
{
  cudaGraph_t recorded;
  struct cuda_graph *g = calloc(1, sizeof *g);
  if (!g) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a CUDA graph");
  g->base.device = queue->device;
  cudaError_t error = cudaStreamEndCapture(cuda_queue_handle(queue), &recorded);
  if (error == cudaSuccess) {
    error = cudaGraphInstantiate(&g->exec, recorded, 0);
    cudaGraphDestroy(recorded);
    if (error == cudaSuccess) error = cudaGraphUpload(g->exec, cuda_queue_handle(queue));
  }
  if (error != cudaSuccess) {
    if (g->exec) cudaGraphExecDestroy(g->exec);
    free(g);
    return cuda_fail(error, "recording a CUDA graph");
  }
  *graph = &g->base;
  return STATUS_OK;
}

status_t cuda_graph_launch(struct gpu_graph *graph, struct gpu_queue *queue)
{
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_check(cudaGraphLaunch(((struct cuda_graph *)graph)->exec, cuda_queue_handle(queue)),
                    "launching a CUDA graph");
}

void cuda_graph_destroy(struct gpu_graph *graph)
{
  if (cudaGraphExecDestroy(((struct cuda_graph *)graph)->exec) != cudaSuccess) cudaGetLastError();
  free(graph);
}
