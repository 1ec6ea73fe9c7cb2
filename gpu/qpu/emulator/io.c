/* SPDX-License-Identifier: MIT */
/* The peripherals at the register addresses from 32 on. */
#include <string.h>

#include "gpu/qpu/emulator/cost.h"
#include "gpu/qpu/emulator/state.h"

#define DMA_CYCLES 16 /* cycles per transfer, in addition to those per row */

static int thread_id(const struct qpu_issue *issue)
{
  return issue->number * 2 + (int)(issue->thread - issue->qpu->thread);
}

static int read_stalls(const struct qpu_issue *issue, int address, int file)
{
  const struct qpu_qpu *qpu = issue->qpu;
  int owner = issue->emu->mutex_owner;
  if (address == QPU_R_VPM && qpu->read.left == 0) return QPU_STALL_VPM_READ;
  if (address == QPU_R_MUTEX && owner != QPU_NO_OWNER) return QPU_STALL_MUTEX;
  if (address == QPU_R_VPM_WAIT && file == QPU_FILE_A && qpu->load.busy) return QPU_STALL_DMA_LOAD;
  if (address == QPU_R_VPM_WAIT && file == QPU_FILE_B && qpu->store.busy) return QPU_STALL_DMA_STORE;
  return -1;
}

static int semaphore_stalls(const struct qpu_issue *issue)
{
  uint32_t imm = issue->decoded->inst.imm;
  int value = issue->emu->semaphores[imm & 15];
  issue->thread->waits_for = imm & 15;
  return (imm & 16 ? value == 0 : value == 15) ? QPU_STALL_SEMAPHORE : -1;
}

int qpu_would_stall(struct qpu_issue *issue)
{
  const struct qpu_decoded *d = issue->decoded;
  int cause = -1;
  if (d->kind == QPU_SEMAPHORE) return semaphore_stalls(issue);
  if (d->port_a) cause = read_stalls(issue, d->port_a, QPU_FILE_A);
  if (cause < 0 && d->port_b) cause = read_stalls(issue, d->port_b, QPU_FILE_B);
  if (cause >= 0) return cause;
  /* The instruction may start a transfer, which must wait until the previous one has ended. */
  int starts_add = d->inst.waddr_add == QPU_W_VPM_ADDRESS,
      starts_mul = d->inst.waddr_mul == QPU_W_VPM_ADDRESS;
  int load = d->inst.ws ? starts_mul : starts_add, store = d->inst.ws ? starts_add : starts_mul;
  if (load && issue->qpu->load.busy) return QPU_STALL_DMA_LOAD;
  return store && issue->qpu->store.busy ? QPU_STALL_DMA_STORE : -1;
}

static status_t read_uniform(struct qpu_issue *issue, qpu_vec *out)
{
  struct qpu_thread *thread = issue->thread;
  uint32_t value;
  if (!qpu_memory_word_ok(&issue->emu->memory, thread->uniforms))
    return qpu_emu_fault(issue, "uniform read at 0x%08x, outside every allocation", thread->uniforms);
  memcpy(&value, qpu_memory_at(&issue->emu->memory, thread->uniforms), sizeof value);
  *out = (qpu_vec){0} + value;
  thread->uniforms += 4;
  return STATUS_OK;
}

static status_t read_vpm(struct qpu_issue *issue, qpu_vec *out)
{
  struct qpu_qpu *qpu = issue->qpu;
  if (qpu->read.left == 0) return qpu_emu_fault(issue, "two VPM reads in one instruction, and one vector");
  if (issue->emu->cost) qpu_cost_vpm(issue);
  qpu_vpm_read(&issue->emu->vpm, &qpu->read, out);
  if (qpu->read.left == 0 && qpu->next_read.left > 0) {
    qpu->read = qpu->next_read;
    qpu->next_read.left = 0;
  }
  issue->emu->stats.vpm_reads++;
  return STATUS_OK;
}

status_t qpu_io_read(struct qpu_issue *issue, int address, int file)
{
  static const qpu_vec elements = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  qpu_vec *out = &issue->thread->reg[file == QPU_FILE_A ? REG_PORT_A : REG_PORT_B];
  int a = file == QPU_FILE_A;
  switch (address) {
  case QPU_R_UNIFORM:
    return read_uniform(issue, out);
  case QPU_R_ELEMENT:
    *out = a ? elements : (qpu_vec){0} + (uint32_t)issue->number;
    return STATUS_OK;
  case QPU_R_VPM:
    return read_vpm(issue, out);
  case QPU_R_VPM_BUSY:
    *out = (qpu_vec){0} + (uint32_t)(a ? issue->qpu->load.busy : issue->qpu->store.busy);
    return STATUS_OK;
  case QPU_R_NOP: /* reading it is an error, see predecode.c */
  case QPU_R_VPM_WAIT:
    *out = (qpu_vec){0};
    return STATUS_OK;
  case QPU_R_MUTEX:
    issue->emu->mutex_owner = thread_id(issue);
    *out = (qpu_vec){0};
    return STATUS_OK;
  default:
    return qpu_emu_fault(issue, "register %d of file %c belongs to the 3D pipeline or cannot be read",
                         address, a ? 'A' : 'B');
  }
}

/* Writes r5: broadcasts element 0 to all lanes (file B), or the first element of each quad to its
 * four lanes (file A). */
static void write_r5(struct qpu_issue *issue, int file, const qpu_vec *value, unsigned lanes)
{
  qpu_vec spread;
  for (int i = 0; i < QPU_LANES; i++) spread[i] = (*value)[file == QPU_FILE_A ? i & ~3 : 0];
  qpu_rules_note(issue->thread, REG_ACC + 5, lanes);
  qpu_assign(&issue->thread->reg[REG_ACC + 5], &spread, lanes);
}

static status_t setup_read(struct qpu_issue *issue, uint32_t setup)
{
  struct qpu_qpu *qpu = issue->qpu;
  if (setup >> 28 == 9) {
    qpu->load.stride = setup;
  } else if (setup >> 31) {
    qpu->load.setup = setup;
  } else {
    struct qpu_vpm_access access = qpu_vpm_access_of(setup);
    if ((setup >> 8 & 3) != 2) return qpu_emu_fault(issue, "VPM read set-up 0x%08x of 8 or 16 bits", setup);
    if (qpu->read.left + qpu->next_read.left > 1)
      return qpu_emu_fault(issue,
                           "VPM read set-up while vectors of the one before are unread: the part ignores it");
    if (qpu->read.left)
      qpu->next_read = access;
    else
      qpu->read = access;
  }
  return STATUS_OK;
}

static status_t setup_write(struct qpu_issue *issue, uint32_t setup)
{
  struct qpu_qpu *qpu = issue->qpu;
  switch (setup >> 30) {
  case 0: {
    struct qpu_vpm_access access = qpu_vpm_access_of(setup);
    if ((setup >> 8 & 3) != 2) return qpu_emu_fault(issue, "VPM write set-up 0x%08x of 8 or 16 bits", setup);
    qpu->write = access;
    return STATUS_OK;
  }
  case 2:
    qpu->store.setup = setup;
    return STATUS_OK;
  case 3:
    qpu->store.stride = setup;
    return STATUS_OK;
  default:
    return qpu_emu_fault(issue, "VPM write set-up 0x%08x with the reserved kind 1", setup);
  }
}

static status_t start_transfer(struct qpu_issue *issue, int store, uint32_t address)
{
  struct qpu_emu *emu = issue->emu;
  struct qpu_dma *dma = store ? &issue->qpu->store : &issue->qpu->load;
  if (!(dma->setup >> 31)) return qpu_emu_fault(issue, "a DMA transfer is started and was never set up");
  if (store && qpu_dma_block_differs(dma))
    return qpu_emu_fault(issue, "DMA store with BLOCKMODE set, whose rows documents place differently");
  dma->busy = 1;
  dma->active_setup = dma->setup;
  dma->active_stride = dma->stride;
  dma->address = address;
  dma->pc = issue->thread->pc;
  int rows = qpu_dma_rows(dma->setup, store);
  dma->done_at = emu->cost ? qpu_cost_transfer(issue, rows, qpu_dma_row_bytes(dma->setup, store))
                           : emu->cycle + (uint64_t)(rows + DMA_CYCLES);
  if (dma->done_at < emu->next_dma) emu->next_dma = dma->done_at;
  if (store)
    emu->stats.dma_stores++;
  else
    emu->stats.dma_loads++;
  return STATUS_OK;
}

static status_t request_lookup(struct qpu_issue *issue, int number, const qpu_vec *value)
{
  struct qpu_emu *emu = issue->emu;
  struct qpu_tmu *tmu = &issue->thread->tmu[number];
  if (tmu->n == QPU_TMU_SLOTS)
    return qpu_emu_fault(issue, "TMU%d has %d look-ups waiting already and only this QPU could take them",
                         number, tmu->n);
  if (emu->cost) qpu_cost_lookup(issue, number, value);
  qpu_vec *slot = &tmu->slot[(tmu->first + tmu->n) % QPU_TMU_SLOTS];
  for (int i = 0; i < QPU_LANES; i++) {
    uint32_t address = (*value)[i] & ~3u, word;
    if (!qpu_memory_word_ok(&emu->memory, address))
      return qpu_emu_fault(issue, "TMU%d look-up of element %d at 0x%08x, outside every allocation", number,
                           i, (*value)[i]);
    memcpy(&word, qpu_memory_at(&emu->memory, address), sizeof word);
    (*slot)[i] = word;
  }
  if (++tmu->n > emu->stats.tmu_depth_used) emu->stats.tmu_depth_used = tmu->n;
  return STATUS_OK;
}

status_t qpu_tmu_load(struct qpu_issue *issue, int number)
{
  struct qpu_tmu *tmu = &issue->thread->tmu[number];
  if (tmu->n == 0)
    return qpu_emu_fault(issue, "TMU%d is asked for a look-up that was never requested", number);
  issue->thread->reg[REG_ACC + 4] = tmu->slot[tmu->first];
  tmu->first = (tmu->first + 1) % QPU_TMU_SLOTS;
  tmu->n--;
  issue->emu->stats.tmu_loads++;
  return STATUS_OK;
}

static status_t release_mutex(struct qpu_issue *issue)
{
  if (issue->emu->mutex_owner != thread_id(issue))
    return qpu_emu_fault(issue, "the mutex is released by one who does not hold it");
  issue->emu->mutex_owner = QPU_NO_OWNER;
  return STATUS_OK;
}

static void interrupt(struct qpu_issue *issue, const qpu_vec *value, unsigned lanes)
{
  if (qpu_mask_of(value, 0) & lanes) issue->emu->stats.interrupts++;
}

/* VPM and TMU ignore conditions: every conditional write takes effect (vc4asm's addendum). */
status_t qpu_io_write(struct qpu_issue *issue, int address, int file, const qpu_vec *value, unsigned lanes)
{
  struct qpu_thread *thread = issue->thread;
  uint32_t first = (*value)[0];
  switch (address) {
  case QPU_W_R5:
    write_r5(issue, file, value, lanes);
    return STATUS_OK;
  case QPU_W_HOST_INTERRUPT:
    interrupt(issue, value, lanes);
    return STATUS_OK;
  case QPU_W_UNIFORM_ADDRESS:
    if (issue->emu->cost) qpu_cost_jump(issue);
    if (lanes & 1) thread->uniforms = file == QPU_FILE_A ? first & ~3u : thread->uniforms + (first & ~3u);
    return STATUS_OK;
  case QPU_W_VPM:
    if (issue->emu->cost) qpu_cost_vpm(issue);
    qpu_vpm_write(&issue->emu->vpm, &issue->qpu->write, value);
    issue->emu->stats.vpm_writes++;
    return STATUS_OK;
  case QPU_W_VPM_SETUP:
    return file == QPU_FILE_A ? setup_read(issue, first) : setup_write(issue, first);
  case QPU_W_VPM_ADDRESS:
    return start_transfer(issue, file == QPU_FILE_B, first);
  case QPU_W_MUTEX:
    return release_mutex(issue);
  case QPU_W_TMU0_S:
  case QPU_W_TMU1_S:
    return request_lookup(issue, address == QPU_W_TMU1_S, value);
  default:
    return qpu_emu_fault(
        issue, "register %d is not emulated: special functions, textures and the tile buffer", address);
  }
}

static status_t io_finish(struct qpu_emu *emu, int number, int store)
{
  struct qpu_qpu *qpu = &emu->qpus[number];
  struct qpu_dma *dma = store ? &qpu->store : &qpu->load;
  const char *error =
      store ? qpu_dma_store(dma, &emu->memory, &emu->vpm) : qpu_dma_load(dma, &emu->memory, &emu->vpm);
  dma->busy = 0;
  if (!error) return STATUS_OK;
  qpu->thread[qpu->current].pc = dma->pc;
  struct qpu_issue issue = {.emu = emu, .qpu = qpu, .thread = &qpu->thread[qpu->current], .number = number};
  return qpu_emu_fault(&issue, "%s (set-up 0x%08x, stride 0x%08x, address 0x%08x)", error, dma->active_setup,
                       dma->active_stride, dma->address);
}

status_t qpu_dma_advance(struct qpu_emu *emu, int all_of)
{
  uint64_t next = UINT64_MAX;
  for (int q = 0; q < emu->config.n_qpus; q++) {
    struct qpu_dma *dmas[2] = {&emu->qpus[q].load, &emu->qpus[q].store};
    for (int store = 0; store < 2; store++) {
      if (dmas[store]->busy && (q == all_of || dmas[store]->done_at <= emu->cycle))
        RETURN_IF_FAILED(io_finish(emu, q, store));
      if (dmas[store]->busy && dmas[store]->done_at < next) next = dmas[store]->done_at;
    }
  }
  emu->next_dma = next;
  return STATUS_OK;
}
