/* SPDX-License-Identifier: MIT */
#include "gpu/qpu/asm/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/qpu/asm/encode.h"
#include "gpu/qpu/asm/hazard.h"

#define RECENT 16 /* more than .back goes back */

struct qpu_recent {
  struct qpu_instruction instructions[RECENT];
};

static status_t make_room(struct qpu_asm *as)
{
  if (!as->recent) as->recent = calloc(1, sizeof *as->recent);
  return as->recent ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of memory while assembling");
}

static struct qpu_instruction *slot_of(struct qpu_asm *as, size_t at)
{
  return &as->recent->instructions[at % RECENT];
}

static void remember(struct qpu_asm *as, const struct qpu_instruction *instruction)
{
  struct qpu_instruction *slot = slot_of(as, as->program.n_words);
  if (slot != instruction) *slot = *instruction;
  slot->at = as->program.n_words;
}

/* Both as one, where that can be: two accesses to the TMU, say, stay apart. */
static int encode_joined(struct qpu_asm *as, const struct qpu_instruction *joined, uint64_t *word)
{
  int quiet = as->quiet;
  as->quiet = 1;
  status_t status = qpu_encode_operations(as, joined->operations, joined->n, word);
  as->quiet = quiet;
  struct qpu_inst inst = qpu_decode(*word);
  return status == STATUS_OK && !qpu_hazard_within(&inst);
}

/* Joins an instruction to the word before; 0 where it stands by itself. */
static int join(struct qpu_asm *as, const struct qpu_instruction *next, struct qpu_instruction *joined,
                uint64_t *word)
{
  size_t end = as->program.n_words;
  if (!next->begins || next->n == 0 || end == 0 || as->last_label == end) return 0;
  const struct qpu_instruction *before = slot_of(as, end - 1);
  if (before->at != end - 1 || !before->ends || before->n + next->n > QPU_MAX_OPERATIONS) return 0;
  *joined = *before;
  memcpy(joined->operations + joined->n, next->operations, (size_t)next->n * sizeof *next->operations);
  joined->n += next->n;
  joined->ends = next->ends;
  uint64_t made;
  if (!encode_joined(as, joined, &made)) return 0;
  *word = made;
  return 1;
}

static status_t emit(struct qpu_asm *as, const struct qpu_instruction *next, uint64_t word, int may_join)
{
  struct qpu_instruction joined;
  if (may_join && join(as, next, &joined, &word)) {
    as->program.n_words--;
    next = &joined;
  }
  remember(as, next);
  return qpu_emit(as, word, 0);
}

status_t qpu_join_line(struct qpu_asm *as, const char *text)
{
  struct qpu_instruction next = {.begins = text[0] == ';', .ends = text[strlen(text) - 1] == ';'};
  uint64_t word;
  RETURN_IF_FAILED(make_room(as));
  RETURN_IF_FAILED(qpu_operations_parse(as, text, next.operations, &next.n));
  RETURN_IF_FAILED(qpu_encode_operations(as, next.operations, next.n, &word));
  return emit(as, &next, word, 1);
}

status_t qpu_join_take(struct qpu_asm *as, int n, struct qpu_instruction *taken)
{
  RETURN_IF_FAILED(make_room(as));
  for (int i = 0; i < n; i++) {
    size_t at = as->program.n_words - (size_t)(n - i);
    taken[i] = *slot_of(as, at);
    if (taken[i].at != at) taken[i].begins = taken[i].ends = 0;
  }
  return STATUS_OK;
}

status_t qpu_join_put(struct qpu_asm *as, const struct qpu_instruction *taken, uint64_t word, int first)
{
  return emit(as, taken, word, first);
}
