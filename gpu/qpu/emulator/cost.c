/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/emulator/cost.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64
#define CLOCKS     4 /* per cycle */
#define SLICE_QPUS 4
#define SLICES     (QPU_EMU_MAX_QPUS / SLICE_QPUS)
#define MAX_SETS   128
#define WAYS       4
#define NO_LINE    UINT32_MAX
#define VPM_QUEUE  2 /* largest number of vectors in flight */

/* Times are fitted to GPU_FFT's published times; cache sizes are from vc4asm's author. */
const struct qpu_cost_model qpu_cost_pi = {.clock_hz = 250e6,
                                           .tmu_vector = 16,
                                           .tmu_latency = 36,
                                           .l2_line = 4,
                                           .l2_latency = 12,
                                           .memory_line = 11,
                                           .memory_latency = 60,
                                           .uniform_latency = 20,
                                           .dma_start = 40,
                                           .dma_row = 8,
                                           .dma_word = 1,
                                           .vpm_vector = 4,
                                           .launch_seconds = 100e-6};

struct cost_line {
  uint32_t number;
  /* clock at which the line arrives; a later request for a line in flight waits until then */
  uint64_t there;
};

struct cache {
  struct cost_line lines[MAX_SETS][WAYS]; /* per set: lines, the most recently used first */
  unsigned sets;
};

struct qpu_cost {
  struct qpu_cost_model model;
  struct cache tmu[SLICES][2], uniforms[SLICES], l2;
  /* clocks at which each unit becomes free */
  uint64_t tmu_free[SLICES][2], l2_free, memory_free, dma_free, vpm_free;
};

static void empty(struct cache *cache, unsigned bytes)
{
  cache->sets = bytes / (LINE_BYTES * WAYS);
  memset(cache->lines, 0xff, sizeof cache->lines);
}

void qpu_cost_reset(struct qpu_cost *cost)
{
  for (int slice = 0; slice < SLICES; slice++) {
    empty(&cost->tmu[slice][0], 4096);
    empty(&cost->tmu[slice][1], 4096);
    empty(&cost->uniforms[slice], 4096);
  }
  empty(&cost->l2, 32768);
  memset(cost->tmu_free, 0, sizeof cost->tmu_free);
  cost->l2_free = cost->memory_free = cost->dma_free = cost->vpm_free = 0;
}

struct qpu_cost *qpu_cost_create(const struct qpu_cost_model *model)
{
  struct qpu_cost *cost = malloc(sizeof *cost);
  if (!cost) return NULL;
  cost->model = *model;
  qpu_cost_reset(cost);
  return cost;
}

/* Finds the cache line, or replaces the least recently used one. Sets *miss to 1 if a line was
 * replaced. */
static struct cost_line *touch(struct cache *cache, uint32_t number, int *miss)
{
  struct cost_line *ways = cache->lines[number % cache->sets];
  int way = 0;
  while (way < WAYS - 1 && ways[way].number != number) way++;
  struct cost_line found = ways[way];
  *miss = found.number != number;
  memmove(ways + 1, ways, (size_t)way * sizeof *ways);
  ways[0] = found;
  ways[0].number = number;
  return &ways[0];
}

static uint64_t cost_later(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

static uint64_t now(const struct qpu_issue *issue)
{
  return issue->emu->cycle * CLOCKS;
}

/* Fetches a line through the L2 cache, from clock `from` on. Returns the clock of its arrival. */
static uint64_t fetch(struct qpu_issue *issue, uint32_t line, uint64_t from)
{
  struct qpu_cost *cost = issue->emu->cost;
  uint64_t start = cost_later(from, cost->l2_free);
  int miss;
  struct cost_line *found = touch(&cost->l2, line, &miss);
  cost->l2_free = start + (uint64_t)cost->model.l2_line;
  if (!miss) return cost_later(start, found->there) + (uint64_t)cost->model.l2_latency;
  start = cost_later(start, cost->memory_free);
  cost->memory_free = start + (uint64_t)cost->model.memory_line;
  found->there = start + (uint64_t)cost->model.memory_latency;
  return found->there;
}

/* Fetches a line, from clock `from` on, through a cache of a slice. Returns its arrival's clock. */
static uint64_t fetch_through(struct qpu_issue *issue, struct cache *cache, uint32_t line, uint64_t from)
{
  int miss;
  struct cost_line *found = touch(cache, line, &miss);
  if (miss) found->there = fetch(issue, line, from);
  return cost_later(from, found->there);
}

void qpu_cost_lookup(struct qpu_issue *issue, int number, const qpu_vec *addresses)
{
  struct qpu_cost *cost = issue->emu->cost;
  const struct qpu_cost_model *model = &cost->model;
  int slice = issue->number / SLICE_QPUS;
  uint64_t start = cost_later(now(issue), cost->tmu_free[slice][number]), there = start;
  uint32_t before = NO_LINE;
  for (int i = 0; i < QPU_LANES; i++) {
    uint32_t line = (*addresses)[i] / LINE_BYTES;
    if (line != before)
      there = cost_later(there, fetch_through(issue, &cost->tmu[slice][number], line, start));
    before = line;
  }
  cost->tmu_free[slice][number] = start + (uint64_t)model->tmu_vector;
  struct qpu_tmu *tmu = &issue->thread->tmu[number];
  there = cost_later(there, start + (uint64_t)model->tmu_vector);
  tmu->ready[(tmu->first + tmu->n) % QPU_TMU_SLOTS] = there + (uint64_t)model->tmu_latency;
}

/* Fetches the line of the stream's next uniform and prefetches the following line. Returns the
 * clock of the first line's arrival. */
static uint64_t uniform_ready(struct qpu_issue *issue)
{
  struct qpu_thread *thread = issue->thread;
  struct qpu_cost *cost = issue->emu->cost;
  uint32_t line = thread->uniforms / LINE_BYTES;
  if (thread->line == line) return thread->line_ready;
  struct cache *cache = &cost->uniforms[issue->number / SLICE_QPUS];
  if (thread->next_line == line)
    thread->line_ready = thread->next_ready;
  else
    thread->line_ready =
        fetch_through(issue, cache, line, now(issue)) + (uint64_t)cost->model.uniform_latency;
  thread->line = line;
  thread->next_line = line + 1;
  thread->next_ready = fetch_through(issue, cache, line + 1, now(issue));
  return thread->line_ready;
}

void qpu_cost_jump(struct qpu_issue *issue)
{
  issue->thread->line = issue->thread->next_line = NO_LINE;
}

uint64_t qpu_cost_transfer(struct qpu_issue *issue, int rows, int bytes)
{
  struct qpu_cost *cost = issue->emu->cost;
  const struct qpu_cost_model *model = &cost->model;
  int lines = rows * ((bytes + LINE_BYTES - 1) / LINE_BYTES);
  uint64_t start = cost_later(now(issue), cost->dma_free);
  uint64_t end =
      start + (uint64_t)(model->dma_start + rows * model->dma_row + rows * bytes / 4 * model->dma_word);
  uint64_t bus = cost_later(start, cost->memory_free) + (uint64_t)(lines * model->memory_line);
  cost->memory_free = bus;
  cost->dma_free = cost_later(end, bus);
  return cost->dma_free / CLOCKS + 1;
}

void qpu_cost_vpm(struct qpu_issue *issue)
{
  struct qpu_cost *cost = issue->emu->cost;
  cost->vpm_free = cost_later(cost->vpm_free, now(issue)) + (uint64_t)cost->model.vpm_vector;
}

static int touches_vpm(const struct qpu_decoded *d)
{
  return d->port_a == QPU_R_VPM || d->port_b == QPU_R_VPM || d->inst.waddr_add == QPU_W_VPM ||
         d->inst.waddr_mul == QPU_W_VPM;
}

int qpu_cost_waits(struct qpu_issue *issue)
{
  const struct qpu_decoded *d = issue->decoded;
  struct qpu_thread *thread = issue->thread;
  struct qpu_cost *cost = issue->emu->cost;
  uint64_t until = 0;
  if (d->kind == QPU_ALU && (d->port_a == QPU_R_UNIFORM || d->port_b == QPU_R_UNIFORM))
    until = uniform_ready(issue);
  int number = d->inst.sig - QPU_SIG_LOAD_TMU0;
  if ((number == 0 || number == 1) && thread->tmu[number].n)
    until = cost_later(until, thread->tmu[number].ready[thread->tmu[number].first]);
  if (d->kind == QPU_ALU && touches_vpm(d)) {
    uint64_t queue = (uint64_t)(VPM_QUEUE * cost->model.vpm_vector);
    if (cost->vpm_free > queue) until = cost_later(until, cost->vpm_free - queue);
  }
  if (until <= now(issue)) return 0;
  thread->ready = (until + CLOCKS - 1) / CLOCKS;
  return 1;
}

double qpu_emu_seconds(const struct qpu_emu *emu)
{
  if (!emu->cost) return 0;
  return (double)emu->stats.cycles * CLOCKS / emu->cost->model.clock_hz + emu->cost->model.launch_seconds;
}
