/* SPDX-License-Identifier: MIT */
/* Reads and writes in given proportions, among them 13 to 1 as in the Himeno sweep. */
#include <stdio.h>

#include "gpu/memory.h"
#include "tools/memory/state.h"

#define MOST_BYTES ((uint64_t)1 << 30)
#define CPU_BYTES  ((uint64_t)64 << 20)

static const int shares[MEM_MIXES][2] = {{1, 0}, {0, 1}, {1, 1}, {3, 1}, {13, 1}};

struct mixes_job {
  struct mem_rig *rig;
  struct mem_mix mix;
};

static status_t mixes_job_run(void *context)
{
  struct mixes_job *job = context;
  return job->rig->ops->mix(job->rig->exec, job->rig->sampler.queue, &job->mix);
}

/* Sets *bytes to the largest requested size that fits, by default to a power of two. */
static status_t plan_bytes(struct gpu_device *device, const struct mem_values *sizes, uint64_t *bytes)
{
  uint64_t available, most = device->info.is_cpu ? CPU_BYTES : MOST_BYTES, best = 0;
  RETURN_IF_FAILED(gpu_memory_free(device, &available));
  for (int i = 0; i < sizes->n; i++)
    if (sizes->at[i] > available) return gpu_memory_refused(device, sizes->at[i], "by --sizes");
  for (int i = 0; i < sizes->n; i++)
    if (sizes->at[i] <= MOST_BYTES && sizes->at[i] <= available / (MEM_ARRAYS_MAX + 1) && sizes->at[i] > best)
      best = sizes->at[i];
  while (most > MEM_GRAIN && most > available / (MEM_ARRAYS_MAX + 1)) most /= 2;
  *bytes = best ? best : most;
  return STATUS_OK;
}

static status_t job_prepare(struct mem_rig *rig, struct mixes_job *job, struct gpu_mem arrays[MEM_ARRAYS_MAX],
                            struct gpu_mem sum, uint64_t bytes, int m, int shape)
{
  char what[64];
  struct mem_mix *mix = &job->mix;
  *job = (struct mixes_job){
      rig, {.reads = shares[m][0], .writes = shares[m][1], .sum = sum, .bytes = bytes, .shape = shape}};
  struct gpu_mem to = arrays[MEM_ARRAYS_MAX - 1];
  for (int r = 0; r < mix->reads; r++) mix->arrays[r] = arrays[r];
  mix->arrays[mix->reads] = to;
  snprintf(what, sizeof what, "%d reads and %d writes", mix->reads, mix->writes);
  RETURN_IF_FAILED(rig->ops->fill(rig->exec, rig->sampler.queue, to, bytes, MEM_ARRAYS_MAX));
  RETURN_IF_FAILED(gpu_clear(rig->sampler.queue, sum, 0, sizeof(uint32_t)));
  RETURN_IF_FAILED(mixes_job_run(job));
  if (mix->writes)
    return mem_contents_check(
        rig, to, bytes,
        (struct mem_check){.expect = mix->reads ? MEM_EXPECT_XOR : MEM_EXPECT_WRITTEN, .arrays = mix->reads},
        what);
  uint32_t want;
  RETURN_IF_FAILED(mem_sum_of(rig, bytes, &want));
  return mem_word_check(rig, sum, want, what);
}

/* Measures all mixes with all launch shapes, interleaved. The fastest shape of a mix counts. */
static status_t mixes_measure(struct mem_rig *rig, struct gpu_mem arrays[MEM_ARRAYS_MAX], struct gpu_mem sum,
                              uint64_t bytes, double seconds, struct mem_mix_point mixes[MEM_MIXES])
{
  struct mixes_job jobs[MEM_MIXES * MEM_SHAPES_MAX];
  struct sampler_item items[MEM_MIXES * MEM_SHAPES_MAX];
  int n = MEM_MIXES * rig->traits.mix_shapes.n;
  for (int i = 0; i < n; i++) {
    int m = i % MEM_MIXES;
    RETURN_IF_FAILED(job_prepare(rig, &jobs[i], arrays, sum, bytes, m, i / MEM_MIXES));
    items[i] = (struct sampler_item){
        .run = mixes_job_run, .context = &jobs[i], .work = (double)bytes * (shares[m][0] + shares[m][1])};
  }
  RETURN_IF_FAILED(sampler_run(&rig->sampler, items, n, seconds));
  for (int i = 0; i < n; i++) {
    int m = i % MEM_MIXES;
    if (i >= MEM_MIXES && items[i].rate.median <= mixes[m].rate.median) continue;
    mixes[m] = (struct mem_mix_point){shares[m][0], shares[m][1], bytes, items[i].rate, i / MEM_MIXES};
  }
  return STATUS_OK;
}

status_t mem_mixes_run(struct mem_run *run)
{
  struct mem_rig *rig = &run->rig;
  struct gpu_mem arrays[MEM_ARRAYS_MAX] = {{NULL, 0}}, sum = {NULL, 0};
  uint64_t bytes = 0;
  status_t status;
  RETURN_IF_FAILED(plan_bytes(rig->device, &run->config.sizes, &bytes));
  TRY(gpu_alloc(rig->device, 64, &sum), done);
  for (int a = 0; a < MEM_ARRAYS_MAX; a++) {
    TRY(gpu_alloc(rig->device, bytes, &arrays[a]), done);
    TRY(rig->ops->fill(rig->exec, rig->sampler.queue, arrays[a], bytes, a), done);
  }
  status = mixes_measure(rig, arrays, sum, bytes, run->config.seconds, run->mixes);
  if (status == STATUS_OK) run->n_mixes = MEM_MIXES;
done:
  for (int a = 0; a < MEM_ARRAYS_MAX; a++) gpu_free(rig->device, &arrays[a]);
  gpu_free(rig->device, &sum);
  return status;
}
