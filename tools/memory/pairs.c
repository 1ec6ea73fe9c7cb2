/* SPDX-License-Identifier: MIT */
/* The kernel pairs: both must leave the same memory; their times are compared. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tools/memory/state.h"

/** Enough rows, or columns, for threads that have one each to fill a device. */
static const struct {
  const char *name;
  int n, rows;
  int item; /* words of memory for each word treated */
} plans[MEM_PAIRS] = {
    [MEM_PAIR_POINTER] = {"index product, pointer increment", 256, 32768, 2},
    [MEM_PAIR_ROW] = {"pixel a thread, row a thread", 512, 32768, 1},
    [MEM_PAIR_COLUMN] = {"pixel a thread, column a thread", 1 << 18, 64, 1},
    [MEM_PAIR_SCALAR] = {"vector address, scalar address", 256, 2048, MEM_PAIR_LANES},
    [MEM_PAIR_BYTE] = {"vector address, byte pointer", 256, 2048, MEM_PAIR_LANES},
    [MEM_PAIR_SHARED] = {"two shared arrays, one with constant offsets", MEM_PAIR_SHARED_WORDS, 16384, 1},
};

struct pairs_job {
  struct mem_rig *rig;
  int pair, after;
  struct gpu_mem mem;
};

static size_t words_of(int pair)
{
  return (size_t)plans[pair].n * (size_t)plans[pair].rows * (size_t)plans[pair].item;
}

static status_t pairs_job_run(void *context)
{
  struct pairs_job *job = context;
  return job->rig->ops->pair(job->rig->exec, job->rig->sampler.queue, job->pair, job->after, job->mem,
                             plans[job->pair].n, plans[job->pair].rows);
}

/* Runs one kernel on array 0 and fetches the result. */
static status_t result_of(struct pairs_job *job, uint32_t *host)
{
  size_t bytes = words_of(job->pair) * 4;
  struct gpu_queue *queue = job->rig->sampler.queue;
  RETURN_IF_FAILED(job->rig->ops->fill(job->rig->exec, queue, job->mem, bytes, 0));
  RETURN_IF_FAILED(pairs_job_run(job));
  RETURN_IF_FAILED(gpu_copy_out(queue, host, job->mem, 0, bytes));
  return gpu_sync(queue);
}

/* Word w as every kernel of the pair must leave it. */
static uint32_t want(int pair, size_t w)
{
  uint32_t before = mem_word(0, w), i = (uint32_t)(w % (size_t)plans[pair].n);
  switch (pair) {
  case MEM_PAIR_POINTER:
    return w % 2 ? before : 100;
  case MEM_PAIR_ROW:
  case MEM_PAIR_COLUMN:
    return 3 * before + 1;
  case MEM_PAIR_SHARED:
    return 3 * i;
  default:
    return before + 1;
  }
}

static status_t pairs_contents(struct pairs_job *job, uint32_t *host)
{
  RETURN_IF_FAILED(result_of(job, host));
  if (mem_contents_corrupt(job->rig)) host[words_of(job->pair) / 2] ^= 1;
  for (size_t w = 0; w < words_of(job->pair); w++)
    if (host[w] != want(job->pair, w))
      return log_fail(STATUS_WRONG, "pair \"%s\", %s: word %zu is %08x, must be %08x", plans[job->pair].name,
                      job->after ? "after" : "before", w, host[w], want(job->pair, w));
  return STATUS_OK;
}

static status_t pairs_chart(struct mem_rig *rig, struct gpu_mem mem, uint32_t *host, double seconds,
                            struct mem_pair_point pairs[MEM_PAIRS])
{
  struct pairs_job jobs[2 * MEM_PAIRS];
  struct sampler_item items[2 * MEM_PAIRS];
  for (int i = 0; i < 2 * MEM_PAIRS; i++) {
    jobs[i] = (struct pairs_job){rig, i / 2, i % 2, mem};
    RETURN_IF_FAILED(pairs_contents(&jobs[i], host));
    items[i] = (struct sampler_item){.run = pairs_job_run,
                                     .context = &jobs[i],
                                     .work = (double)(words_of(i / 2) / (i / 2 == MEM_PAIR_POINTER ? 2 : 1))};
  }
  RETURN_IF_FAILED(sampler_run(&rig->sampler, items, 2 * MEM_PAIRS, seconds));
  for (int p = 0; p < MEM_PAIRS; p++)
    pairs[p] = (struct mem_pair_point){plans[p].name, words_of(p), items[2 * p].rate, items[2 * p + 1].rate};
  return STATUS_OK;
}

status_t mem_pairs_run(struct mem_run *run)
{
  size_t most = 0;
  struct gpu_mem mem = {NULL, 0};
  status_t status = STATUS_ENVIRONMENT;
  if (!run->rig.ops->pair)
    return log_fail(STATUS_USAGE, "--pairs: backend %s has no kernel pairs, cuda and opencl have",
                    run->rig.ops->backend);
  for (int p = 0; p < MEM_PAIRS; p++) most = words_of(p) > most ? words_of(p) : most;
  uint32_t *host = malloc(most * sizeof *host);
  if (!host) {
    log_fail(status, "out of host memory for the pairs");
    goto done;
  }
  TRY(gpu_alloc(run->rig.device, most * sizeof *host, &mem), done);
  status = pairs_chart(&run->rig, mem, host, run->config.seconds, run->pairs);
  if (status == STATUS_OK) run->n_pairs = MEM_PAIRS;
done:
  gpu_free(run->rig.device, &mem);
  free(host);
  return status;
}
