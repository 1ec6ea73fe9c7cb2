/* SPDX-License-Identifier: MIT */
/** \file \brief Input: any words as a QPU program. The emulator must end by itself, report each
 * fault or hang, and write only to allocated memory.
 *
 * An input is a set-up byte, a byte with the number of instructions, the instructions, and the
 * words of the one allocation for data, which is at 0x20002000. Uniforms are read from it, and
 * programs write to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/emulator/emu.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_corpus[] = "qpu-emu";

#define MEMORY     (5 * 4096)
#define DATA_BYTES 4096

static void must(int holds, const char *promise)
{
  if (holds) return;
  fprintf(stderr, "%s\n%s\n", promise, log_held());
  abort();
}

struct input {
  const uint8_t *bytes;
  size_t n;
};

static size_t take(struct input *input, void *to, size_t most)
{
  size_t n = input->n < most ? input->n : most;
  memcpy(to, input->bytes, n);
  input->bytes += n;
  input->n -= n;
  return n;
}

static int all_zero(struct qpu_emu *emu, uint32_t begin, uint32_t end)
{
  const uint8_t *bytes = qpu_memory_at(qpu_emu_memory(emu), begin);
  for (uint32_t i = 0; i < end - begin; i++)
    if (bytes[i]) return 0;
  return 1;
}

static void run(struct qpu_emu *emu, struct input *input, size_t n_words)
{
  struct qpu_job jobs[6];
  uint32_t code = 0, data = 0;
  must(qpu_memory_alloc(qpu_emu_memory(emu), 8 * n_words, &code) == STATUS_OK &&
           qpu_memory_alloc(qpu_emu_memory(emu), DATA_BYTES, &data) == STATUS_OK,
       "no memory");
  take(input, qpu_memory_at(qpu_emu_memory(emu), code), 8 * n_words);
  take(input, qpu_memory_at(qpu_emu_memory(emu), data), DATA_BYTES);
  for (int i = 0; i < 6; i++) jobs[i] = (struct qpu_job){code, data};
  status_t status = qpu_emu_run(emu, jobs, 6);
  must(status == STATUS_OK || status == STATUS_FAULT || status == STATUS_HANG, "an end of another kind");
  must((status == STATUS_OK) == (log_held()[0] == 0), "what goes wrong has a message, and nothing else");
  must(all_zero(emu, QPU_EMU_BASE, code) && all_zero(emu, code + 8 * (uint32_t)n_words, data) &&
           all_zero(emu, data + DATA_BYTES, QPU_EMU_BASE + MEMORY),
       "memory between the allocations was touched");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
  struct input input = {bytes, n};
  struct qpu_emu *emu;
  uint8_t setup[2] = {0};
  take(&input, setup, sizeof setup);
  struct qpu_emu_config config = {.n_qpus = 1 + (setup[0] & 3),
                                  .threads_per_qpu = 1 + (setup[0] >> 2 & 1),
                                  .memory_bytes = MEMORY - 4096,
                                  .max_instructions = 600};
  log_hold(1);
  must(qpu_emu_create(&config, &emu) == STATUS_OK, "no emulator");
  run(emu, &input, 1 + setup[1] % 128);
  qpu_emu_destroy(emu);
  log_drop();
  log_hold(0);
  return 0;
}
