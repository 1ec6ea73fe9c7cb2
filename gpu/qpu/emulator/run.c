/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/emulator/cost.h"
#include "gpu/qpu/emulator/state.h"

static const char *const stall_names[QPU_N_STALLS] = {"semaphore", "mutex", "DMA load", "DMA store",
                                                      "VPM read"};

#define DEFAULT_VPM_WRITE 0x1a00 /* set-up word for rows of 32-bit words, from the first row on */

static status_t complete_config(struct qpu_emu_config *config)
{
  if (config->n_qpus == 0) config->n_qpus = 12;
  if (config->threads_per_qpu == 0) config->threads_per_qpu = 1;
  if (config->memory_bytes == 0) config->memory_bytes = (size_t)64 << 20;
  if (config->base == 0) config->base = QPU_EMU_BASE;
  if (config->n_qpus < 1 || config->n_qpus > QPU_EMU_MAX_QPUS)
    return log_fail(STATUS_USAGE, "%d QPUs: 1 to %d can be emulated", config->n_qpus, QPU_EMU_MAX_QPUS);
  if (config->threads_per_qpu < 1 || config->threads_per_qpu > 2)
    return log_fail(STATUS_USAGE, "%d threads a QPU: it has 1 or 2", config->threads_per_qpu);
  return STATUS_OK;
}

status_t qpu_emu_create(const struct qpu_emu_config *config, struct qpu_emu **emu)
{
  struct qpu_emu_config complete = *config;
  RETURN_IF_FAILED(complete_config(&complete));
  struct qpu_emu *made = calloc(1, sizeof *made);
  status_t status;
  if (!made) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the QPU emulator");
  made->config = complete;
  TRY(qpu_memory_create(&made->memory, complete.memory_bytes, complete.base), fail);
  made->n_pages = made->memory.size / (QPU_PAGE_WORDS * 8) + 1;
  made->pages = calloc(made->n_pages, sizeof *made->pages);
  made->qpus = aligned_alloc(_Alignof(struct qpu_qpu), (size_t)complete.n_qpus * sizeof *made->qpus);
  if (!made->pages || !made->qpus) {
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for %d emulated QPUs", complete.n_qpus);
    goto fail;
  }
  memset(made->qpus, 0, (size_t)complete.n_qpus * sizeof *made->qpus);
  *emu = made;
  return STATUS_OK;
fail:
  qpu_emu_destroy(made);
  return status;
}

static void forget_code(struct qpu_emu *emu)
{
  for (size_t i = emu->first_page; i < emu->end_page; i++) {
    free(emu->pages[i]);
    emu->pages[i] = NULL;
  }
  emu->first_page = emu->end_page = 0;
}

void qpu_emu_destroy(struct qpu_emu *emu)
{
  if (!emu) return;
  forget_code(emu);
  qpu_memory_destroy(&emu->memory);
  free(emu->pages);
  free(emu->cost);
  free(emu->qpus);
  free(emu);
}

struct qpu_memory *qpu_emu_memory(struct qpu_emu *emu)
{
  return &emu->memory;
}

status_t qpu_emu_estimate(struct qpu_emu *emu, const struct qpu_cost_model *model)
{
  free(emu->cost);
  emu->cost = model ? qpu_cost_create(model) : NULL;
  return model && !emu->cost ? log_fail(STATUS_ENVIRONMENT, "out of host memory for an estimate") : STATUS_OK;
}

void qpu_emu_use(struct qpu_emu *emu, int n_qpus, int threads_per_qpu)
{
  emu->config.n_qpus = n_qpus;
  emu->config.threads_per_qpu = threads_per_qpu;
}

static void start_job(struct qpu_emu *emu, struct qpu_thread *thread)
{
  if (emu->next_job == emu->n_jobs) return;
  memset(thread, 0, sizeof *thread);
  thread->job = emu->next_job++;
  thread->pc = emu->jobs[thread->job].code;
  thread->uniforms = emu->jobs[thread->job].uniforms;
  thread->waiting = -1;
  thread->line = thread->next_line = UINT32_MAX;
  thread->running = 1;
  emu->n_running++;
}

static void start_all(struct qpu_emu *emu)
{
  memset(emu->qpus, 0, (size_t)emu->config.n_qpus * sizeof *emu->qpus);
  for (int q = 0; q < emu->config.n_qpus; q++) emu->qpus[q].write = qpu_vpm_access_of(DEFAULT_VPM_WRITE);
  for (int t = 0; t < emu->config.threads_per_qpu; t++)
    for (int q = 0; q < emu->config.n_qpus; q++) start_job(emu, &emu->qpus[q].thread[t]);
}

/* The other thread takes over with the current accumulators and flags, because they belong to the
 * QPU. */
static void switch_thread(struct qpu_qpu *qpu)
{
  struct qpu_thread *from = &qpu->thread[qpu->current], *to = &qpu->thread[qpu->current ^ 1];
  if (!to->running) return;
  memcpy(&to->reg[REG_ACC], &from->reg[REG_ACC], 6 * sizeof(qpu_vec));
  to->z = from->z;
  to->n = from->n;
  qpu->current ^= 1;
}

/* Ends a program: completes its transfers and resets its state for the next program. */
static status_t end_job(struct qpu_emu *emu, int number)
{
  struct qpu_qpu *qpu = &emu->qpus[number];
  struct qpu_thread *thread = &qpu->thread[qpu->current];
  struct qpu_issue issue = {.emu = emu, .qpu = qpu, .thread = thread, .number = number};
  if (emu->mutex_owner == number * 2 + qpu->current)
    return qpu_emu_fault(&issue, "the program ended holding the mutex");
  if (!qpu->thread[qpu->current ^ 1].running) {
    RETURN_IF_FAILED(qpu_dma_advance(emu, number));
    qpu->read.left = qpu->next_read.left = 0;
    qpu->write = qpu_vpm_access_of(DEFAULT_VPM_WRITE);
    qpu->load = qpu->store = (struct qpu_dma){0};
  }
  thread->running = 0;
  thread->ending = 0;
  emu->n_running--;
  switch_thread(qpu);
  start_job(emu, thread);
  return STATUS_OK;
}

static status_t after_issue(struct qpu_emu *emu, int number, struct qpu_thread *thread)
{
  if (thread->switching && --thread->switching == 0) switch_thread(&emu->qpus[number]);
  if (thread->ending && --thread->ending == 0) return end_job(emu, number);
  return STATUS_OK;
}

static status_t run_cycle(struct qpu_emu *emu, int *progress)
{
  *progress = 0;
  if (emu->cycle >= emu->next_dma) RETURN_IF_FAILED(qpu_dma_advance(emu, -1));
  for (int q = 0; q < emu->config.n_qpus; q++) {
    struct qpu_qpu *qpu = &emu->qpus[q];
    struct qpu_thread *thread = &qpu->thread[qpu->current];
    int issued;
    if (!thread->running) continue;
    if (emu->cost && thread->ready > emu->cycle) {
      *progress = 1;
      continue;
    }
    if (emu->cost ? qpu_issue_fast_timed(emu, thread) : qpu_issue_fast(emu, thread)) {
      *progress = 1;
      continue;
    }
    struct qpu_issue issue = {.emu = emu, .qpu = qpu, .thread = thread, .number = q};
    RETURN_IF_FAILED(qpu_issue(&issue, &issued));
    *progress |= issued || thread->ready > emu->cycle;
    if (!issued) continue;
    if (__builtin_expect(thread->switching | thread->ending, 0))
      RETURN_IF_FAILED(after_issue(emu, q, thread));
  }
  emu->cycle++;
  return STATUS_OK;
}

static void describe_wait(const struct qpu_emu *emu, const struct qpu_thread *thread, char *text, size_t size)
{
  uint32_t offset = thread->pc - emu->jobs[thread->job].code;
  if (thread->waiting == QPU_STALL_SEMAPHORE)
    snprintf(text, size, "semaphore %d (value %d) at +%u", thread->waits_for,
             emu->semaphores[thread->waits_for], offset);
  else if (thread->waiting == QPU_STALL_MUTEX)
    snprintf(text, size, "the mutex held by QPU %d at +%u", emu->mutex_owner / 2, offset);
  else
    snprintf(text, size, "a %s that was never set up at +%u", stall_names[thread->waiting], offset);
}

static status_t deadlock(const struct qpu_emu *emu)
{
  char text[1200] = "";
  size_t length = 0;
  for (int q = 0; q < emu->config.n_qpus && length < sizeof text - 120; q++) {
    const struct qpu_thread *thread = &emu->qpus[q].thread[emu->qpus[q].current];
    char wait[100];
    if (!thread->running) continue;
    describe_wait(emu, thread, wait, sizeof wait);
    length += (size_t)snprintf(text + length, sizeof text - length, "%sQPU %d waits for %s",
                               length ? "; " : "", q, wait);
  }
  return log_fail(STATUS_HANG, "deadlock of the QPUs: %s", text);
}

static status_t run_all(struct qpu_emu *emu)
{
  while (emu->n_running > 0) {
    int progress;
    RETURN_IF_FAILED(run_cycle(emu, &progress));
    if (emu->config.max_instructions && emu->stats.issued > emu->config.max_instructions)
      return log_fail(STATUS_HANG, "the QPU programs did not end within %llu instructions",
                      (unsigned long long)emu->config.max_instructions);
    if (progress) continue;
    if (emu->next_dma == UINT64_MAX) return deadlock(emu);
  }
  return STATUS_OK;
}

/* Derives the run's statistics from how often each instruction was issued. */
static void count_work(struct qpu_emu *emu)
{
  for (size_t page = emu->first_page; page < emu->end_page; page++)
    for (int i = 0; emu->pages[page] && i < QPU_PAGE_WORDS; i++) {
      const struct qpu_decoded *d = &emu->pages[page][i];
      emu->stats.flops += d->issued * d->flops * QPU_LANES;
      emu->stats.arithmetic += d->flops ? d->issued : 0;
      emu->stats.uniforms += d->port_a == QPU_R_UNIFORM || d->port_b == QPU_R_UNIFORM ? d->issued : 0;
    }
}

status_t qpu_emu_run(struct qpu_emu *emu, const struct qpu_job *jobs, size_t n_jobs)
{
  struct qpu_alu_mode mode;
  for (size_t i = 0; i < n_jobs; i++)
    if (jobs[i].uniforms % 4 || jobs[i].code % 8)
      return log_fail(STATUS_USAGE, "job %zu: code must be 8-byte aligned and uniforms 4-byte aligned", i);
  forget_code(emu);
  memset(&emu->vpm, 0, sizeof emu->vpm);
  memset(&emu->stats, 0, sizeof emu->stats);
  memset(emu->semaphores, 0, sizeof emu->semaphores);
  emu->mutex_owner = QPU_NO_OWNER;
  emu->cycle = 0;
  if (emu->cost) qpu_cost_reset(emu->cost);
  emu->next_dma = UINT64_MAX;
  emu->n_running = 0;
  emu->jobs = jobs;
  emu->n_jobs = n_jobs;
  emu->next_job = 0;
  start_all(emu);
  RETURN_IF_FAILED(qpu_alu_enter(&mode));
  status_t status = run_all(emu);
  qpu_alu_leave(&mode);
  emu->stats.cycles = emu->cycle;
  count_work(emu);
  return status;
}

struct qpu_emu_stats qpu_emu_stats(const struct qpu_emu *emu)
{
  return emu->stats;
}

uint64_t qpu_emu_issued_at(const struct qpu_emu *emu, uint32_t address)
{
  uint32_t offset = address - emu->memory.base, page = offset / (QPU_PAGE_WORDS * 8);
  if (offset >= emu->memory.size || !emu->pages[page]) return 0;
  return emu->pages[page][offset / 8 % QPU_PAGE_WORDS].issued;
}
