/* SPDX-License-Identifier: MIT */
/* Ceilings of a CUDA device. Each kernel runs with more and more iterations until its time can be
 * measured. */
#include "gemm/kernels/cuda/peaks.h"

#include "gemm/kernels/cuda/cuda_gemm.h"
#include "gpu/cuda/cuda_device.h"

#define BLOCKS_EACH    8 /* per multiprocessor */
#define LONG_ENOUGH    0.01
#define ITERATIONS_MAX (1 << 20)
#define DEVICE_BYTES   ((size_t)512 << 20)

struct cuda_bench {
  struct gpu_queue *queue;
  struct gpu_event *begin, *end;
  struct gpu_mem in, out;
  int blocks;
};

typedef cudaError_t (*launch_repeated)(const struct cuda_bench *bench, int iterations);

static cudaError_t fma_launch(const struct cuda_bench *b, int iterations)
{
  return cuda_peak_fma(b->out.handle, b->blocks, iterations, cuda_queue_handle(b->queue));
}

static cudaError_t local_launch(const struct cuda_bench *b, int iterations)
{
  return cuda_peak_local(b->out.handle, b->blocks, iterations, cuda_queue_handle(b->queue));
}

static cudaError_t read_launch(const struct cuda_bench *b, int iterations)
{
  return cuda_peak_read(b->out.handle, b->in.handle, (int64_t)(b->in.bytes / sizeof(float)), b->blocks,
                        iterations, cuda_queue_handle(b->queue));
}

static status_t cuda_bench_timed(const struct cuda_bench *b, launch_repeated launch, int iterations,
                                 double *seconds)
{
  RETURN_IF_FAILED(gpu_record(b->begin, b->queue));
  RETURN_IF_FAILED(cuda_check(launch(b, iterations), "CUDA kernel of a ceiling"));
  RETURN_IF_FAILED(gpu_record(b->end, b->queue));
  RETURN_IF_FAILED(gpu_sync(b->queue));
  return gpu_elapsed(b->begin, b->end, seconds);
}

/* Sets *rate to work per second. `work` is the work of one iteration on the whole device. The first
 * launch only loads the kernel. */
static status_t rate_measure(const struct cuda_bench *b, launch_repeated launch, double work, double *rate)
{
  double seconds = 0;
  int iterations = 1;
  RETURN_IF_FAILED(cuda_bench_timed(b, launch, iterations, &seconds));
  for (seconds = 0; iterations < ITERATIONS_MAX && seconds < LONG_ENOUGH; iterations *= 2) {
    RETURN_IF_FAILED(cuda_bench_timed(b, launch, 2 * iterations, &seconds));
  }
  *rate = seconds > 0 ? work * iterations / seconds : 0;
  return STATUS_OK;
}

static status_t cuda_bench_open(struct gpu_device *device, struct cuda_bench *b)
{
  b->blocks = BLOCKS_EACH * device->info.compute_units;
  RETURN_IF_FAILED(cuda_use(device));
  RETURN_IF_FAILED(gpu_alloc(device, DEVICE_BYTES, &b->in));
  RETURN_IF_FAILED(gpu_alloc(device, sizeof(float), &b->out));
  RETURN_IF_FAILED(gpu_clear(b->queue, b->in, 0, b->in.bytes));
  RETURN_IF_FAILED(gpu_event_create(device, &b->begin));
  return gpu_event_create(device, &b->end);
}

status_t gemm_cuda_ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                            struct gemm_ceilings *ceilings)
{
  struct cuda_bench b = {.queue = queue};
  struct gemm_ceilings found = {0};
  const double threads = (double)BLOCKS_EACH * device->info.compute_units * CUDA_PEAK_THREADS;
  status_t status;
  TRY(cuda_bench_open(device, &b), done);
  /* The peak of multiply-adds does not apply to types that tensor cores multiply. */
  if (type == GEMM_F32) TRY(rate_measure(&b, fma_launch, 2 * CUDA_PEAK_FMA * threads, &found.flops), done);
  TRY(rate_measure(&b, local_launch, CUDA_PEAK_LOCAL_BYTES * threads, &found.local_bytes_per_second), done);
  TRY(rate_measure(&b, read_launch, (double)b.in.bytes, &found.bytes_per_second), done);
  *ceilings = found;
done:
  gpu_event_destroy(b.end);
  gpu_event_destroy(b.begin);
  gpu_free(device, &b.out);
  gpu_free(device, &b.in);
  return status;
}
