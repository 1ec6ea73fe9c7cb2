/* SPDX-License-Identifier: MIT */
/* mem-gpu's CPU kernels with the virtual clock. Words in nanoseconds: `read` and `written` per
 * byte, `flop` per operation, `host` per call of a loop over host memory. A hop in a ring takes 1,
 * 8 or 80 ns, depending on the cache that the ring fits. */
#include "clock.h"
#include "tools/memory/kernels/mem_ops.h"

#define FIRST_CACHE ((uint64_t)32 << 10)
#define LAST_CACHE  ((uint64_t)512 << 10)

extern const struct mem_ops __real_mem_ops_cpu;
struct mem_ops __wrap_mem_ops_cpu;

static int busy; /* 1 in a kernel, whose threads do not count as a loop over host memory */
static status_t ended;
#define KERNEL(call) (busy = 1, ended = __real_mem_ops_cpu.call, busy = 0, ended)

static uint64_t ring_bytes;

static status_t copy(struct mem_exec *x, struct gpu_queue *queue, const struct mem_copy *c)
{
  clock_work("read", (double)c->bytes);
  clock_work("written", (double)c->bytes);
  return KERNEL(copy(x, queue, c));
}

static status_t mix(struct mem_exec *x, struct gpu_queue *queue, const struct mem_mix *m)
{
  clock_work("read", (double)m->bytes * m->reads);
  clock_work("written", (double)m->bytes * m->writes);
  return KERNEL(mix(x, queue, m));
}

static status_t ring_fill(struct mem_exec *x, struct gpu_queue *queue, struct gpu_mem mem,
                          const struct mem_ring *ring)
{
  ring_bytes = ring->nodes * ring->stride;
  return __real_mem_ops_cpu.ring_fill(x, queue, mem, ring);
}

static status_t chase(struct mem_exec *x, struct gpu_queue *queue, struct mem_chase *c)
{
  RETURN_IF_FAILED(__real_mem_ops_cpu.chase(x, queue, c));
  clock_spend((double)c->hops * (ring_bytes <= FIRST_CACHE ? 1 : ring_bytes <= LAST_CACHE ? 8 : 80));
  return gpu_record(c->end_event, queue);
}

static status_t window(struct mem_exec *x, struct gpu_queue *queue, struct mem_window *w)
{
  clock_work("read", (double)w->bytes * w->passes);
  return KERNEL(window(x, queue, w));
}

static status_t flops(struct mem_exec *x, struct gpu_queue *queue, struct mem_flops *f)
{
  clock_work("read", (double)f->bytes);
  clock_work("flop", (double)f->bytes / 16 * f->flop16);
  return KERNEL(flops(x, queue, f));
}

#ifdef _OPENMP
int __real_omp_get_thread_num(void);
int __wrap_omp_get_thread_num(void);
int __wrap_omp_get_thread_num(void)
{
  const int thread = __real_omp_get_thread_num();
  if (thread == 0 && !busy) clock_work("host", 1);
  return thread;
}
#endif

__attribute__((constructor)) static void ops_wrap(void)
{
  __wrap_mem_ops_cpu = __real_mem_ops_cpu;
  __wrap_mem_ops_cpu.copy = copy;
  __wrap_mem_ops_cpu.mix = mix;
  __wrap_mem_ops_cpu.ring_fill = ring_fill;
  __wrap_mem_ops_cpu.chase = chase;
  __wrap_mem_ops_cpu.window = window;
  __wrap_mem_ops_cpu.flops = flops;
}
