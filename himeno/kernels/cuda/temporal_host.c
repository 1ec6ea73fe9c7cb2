/* SPDX-License-Identifier: MIT */
/* Temporal kernels: T sweeps per launch, in the form that the chip supports. */
#include <stdlib.h>

#include "base/log.h"
#include "base/switches.h"
#include "himeno/kernels/cuda/exec.h"
#include "himeno/kernels/cuda/temporal.h"

SWITCH("HIMENO_CUDA_BULK", TUNING, AGREED, CHOICE("0|1"), "0: temporal CUDA kernels do not use TMA");

struct temporal_state {
  const struct cuda_temporal *form;
  struct cuda_temporal_chip chip;
  const struct gpu_queue *queue; /* queue of the first launch; other queues use other counters */
};

/* Returns whether the chip supports a form of a temporal kernel. HIMENO_CUDA_BULK=0 selects the
 * form for older chips, for tests. */
static int form_runs(const struct cudaDeviceProp *chip, int code, const struct cuda_temporal *form)
{
  int major = switch_number("HIMENO_CUDA_BULK", 1) ? code / 10 : 8;
  return major >= form->major && (size_t)form->shared_bytes <= chip->sharedMemPerBlockOptin;
}

static status_t temporal_open(struct cuda_exec *exec)
{
  const struct cudaDeviceProp *chip = &((struct cuda_device *)exec->device)->properties;
  const struct cuda_temporal *forms = exec->kernel->variant;
  RETURN_IF_FAILED(cuda_exec_state(exec, sizeof(struct temporal_state)));
  struct temporal_state *s = exec->state;
  exec->packing = CUDA_PACKED_SWAPPED;
  for (int f = 0; f < CUDA_TEMPORAL_FORMS && !s->form; f++) {
    int code = 0;
    RETURN_IF_FAILED(cuda_exec_code(exec, forms[f].kernel, &code));
    if (form_runs(chip, code, &forms[f])) s->form = &forms[f];
  }
  if (s->form) return cuda_exec_check(exec, cuda_temporal_open(&s->chip), "preparing temporal passes");
  return log_fail(STATUS_ENVIRONMENT, "kernel %s needs %d bytes of shared memory per block, but %s has %zu",
                  exec->kernel->name, forms[CUDA_TEMPORAL_FORMS - 1].shared_bytes, chip->name,
                  chip->sharedMemPerBlockOptin);
}

static void temporal_close(struct cuda_exec *exec)
{
  struct temporal_state *s = exec->state;
  if (s && s->chip.progress) cuda_temporal_close(&s->chip);
}

static status_t temporal_sweep(struct cuda_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass,
                               const struct himeno_sweep *sweep)
{
  const struct layout *layout = &exec->fields.layout;
  struct temporal_state *s = exec->state;
  struct cuda_temporal_job job = {.pass = *pass};
  (void)sweep;
  if (!s->queue) s->queue = queue;
  struct cuda_temporal_chip chip = s->chip;
  if (queue != s->queue) chip.progress += CUDA_TEMPORAL_WAVES;
  for (int d = 0; d < 3; d++) {
    job.extent[d] = (int)layout->extent[d];
    job.interior_lo[d] = (int)layout->interior.lo[d];
    job.interior_hi[d] = (int)layout->interior.hi[d];
  }
  return cuda_exec_check(
      exec, s->form->launch(&chip, &job, cuda_queue_handle(queue), cuda_exec_overlap(exec, queue)),
      "launching a temporal pass");
}

static cudaError_t temporal_block(const struct cuda_exec *exec, struct cuda_block *block)
{
  const struct cuda_temporal *form = ((const struct temporal_state *)exec->state)->form;
  return cuda_block_read(form->kernel, form->threads, form->shared_bytes, block);
}

static int temporal_slab_rows(const struct cuda_exec *exec)
{
  return ((const struct temporal_state *)exec->state)->form->tile[0];
}

const struct himeno_ops cuda_temporal_ops = {.open = temporal_open,
                                             .close = temporal_close,
                                             .sweep = temporal_sweep,
                                             .block = temporal_block,
                                             .slab_rows = temporal_slab_rows};
