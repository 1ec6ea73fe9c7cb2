/* SPDX-License-Identifier: MIT */
/* Compares the bandwidth of a device-to-device copy with the ceiling. A copy moves as many bytes as
 * a sweep of the named size does by the cost model; half of them are read, half written.
 *
 * Usage: copy_rate SIZE...   prints one JSON document */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/document.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/stats.h"
#include "comm/halo/grid.h"
#include "himeno/problem.h"

#define SCHEMA        "himeno-copy/1"
#define BATCHES       11
#define BATCH_SECONDS 0.05
#define CHUNK_WORDS   ((size_t)8 << 20)

/* A copy: its source and destination, and the events around a batch of copies. */
struct copy {
  char *from, *to;
  size_t bytes;
  cudaEvent_t begin, end;
};

static status_t check(cudaError_t error, const char *what)
{
  if (error == cudaSuccess) return STATUS_OK;
  return log_fail(error == cudaErrorMemoryAllocation ? STATUS_ENVIRONMENT : STATUS_FAULT, "%s: %s", what,
                  cudaGetErrorString(error));
}

/* Fills the source with random words, because zeros can be copied faster on some devices. */
static status_t source_fill(const struct copy *copy)
{
  status_t status = STATUS_OK;
  uint64_t *words = malloc(CHUNK_WORDS * sizeof *words);
  if (!words) return log_fail(STATUS_ENVIRONMENT, "out of host memory for random words");
  for (size_t w = 0; w < CHUNK_WORDS; w++) words[w] = hash_mix(w);
  for (size_t at = 0; at < copy->bytes && status == STATUS_OK; at += CHUNK_WORDS * sizeof *words) {
    size_t rest = copy->bytes - at, chunk = CHUNK_WORDS * sizeof *words;
    status = check(cudaMemcpy(copy->from + at, words, rest < chunk ? rest : chunk, cudaMemcpyHostToDevice),
                   "filling the source");
  }
  free(words);
  return status;
}

/* Sets *seconds to the duration of \a n copies, by the device's events. */
static status_t batch_run(const struct copy *copy, int n, double *seconds)
{
  float milliseconds;
  RETURN_IF_FAILED(check(cudaEventRecord(copy->begin, 0), "recording an event"));
  for (int c = 0; c < n; c++)
    RETURN_IF_FAILED(
        check(cudaMemcpyAsync(copy->to, copy->from, copy->bytes, cudaMemcpyDeviceToDevice, 0), "copying"));
  RETURN_IF_FAILED(check(cudaEventRecord(copy->end, 0), "recording an event"));
  RETURN_IF_FAILED(check(cudaEventSynchronize(copy->end), "waiting for a copy"));
  RETURN_IF_FAILED(check(cudaEventElapsedTime(&milliseconds, copy->begin, copy->end), "reading the time"));
  *seconds = 1e-3 * (double)milliseconds;
  return STATUS_OK;
}

static status_t rate_measure(const struct copy *copy, double *rate)
{
  double seconds, rates[BATCHES];
  RETURN_IF_FAILED(source_fill(copy));
  RETURN_IF_FAILED(batch_run(copy, 1, &seconds));
  RETURN_IF_FAILED(batch_run(copy, 3, &seconds));
  int n = (int)fmax(1, ceil(BATCH_SECONDS / (seconds / 3)));
  for (int b = 0; b < BATCHES; b++) {
    RETURN_IF_FAILED(batch_run(copy, n, &seconds));
    rates[b] = 2.0 * (double)copy->bytes * n / seconds;
  }
  *rate = stats_summarise(rates, BATCHES).median;
  return STATUS_OK;
}

static status_t size_measure(const char *name, double *rate, size_t *bytes)
{
  struct grid_size size;
  struct copy copy = {0};
  status_t status;
  RETURN_IF_FAILED(grid_size_parse("SIZE", name, &size));
  copy.bytes = (size_t)(size.extent[0] * size.extent[1] * size.extent[2]) * HIMENO_BYTES_PER_POINT / 2;
  status = check(cudaMalloc((void **)&copy.from, copy.bytes), "allocating the source");
  if (status == STATUS_OK) status = check(cudaMalloc((void **)&copy.to, copy.bytes), "allocating the target");
  if (status == STATUS_OK) status = check(cudaEventCreate(&copy.begin), "creating an event");
  if (status == STATUS_OK) status = check(cudaEventCreate(&copy.end), "creating an event");
  if (status == STATUS_OK) status = rate_measure(&copy, rate);
  if (copy.end) cudaEventDestroy(copy.end);
  if (copy.begin) cudaEventDestroy(copy.begin);
  cudaFree(copy.to);
  cudaFree(copy.from);
  *bytes = 2 * copy.bytes;
  return status;
}

int main(int argc, char **argv)
{
  struct cudaDeviceProp device;
  struct doc d;
  doc_open(&d, 0);
  doc_frame(&d, SCHEMA, "copy_rate", "", "");
  log_set_program("copy_rate");
  status_t status = check(cudaGetDeviceProperties(&device, 0), "reading the CUDA device's properties");
  if (status != STATUS_OK) return (int)status;
  doc_text(&d, "device", 0, "", device.name);
  doc_list(&d, "copies", 0, "", 1);
  for (int a = 1; a < argc && status == STATUS_OK; a++) {
    double rate = 0;
    size_t bytes = 0;
    status = size_measure(argv[a], &rate, &bytes);
    doc_object(&d, NULL, 0, "", 1);
    doc_text(&d, "size", 0, "", argv[a]);
    doc_whole(&d, "bytes", 0, "", bytes);
    doc_real(&d, "gbps", 0, "GB/s", "", rate / 1e9);
    doc_end(&d);
  }
  doc_end(&d);
  json_t *document = doc_close(&d);
  if (!document) return (int)STATUS_ENVIRONMENT;
  return (int)(status == STATUS_OK ? document_write(document, "-") : status);
}
