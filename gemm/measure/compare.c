/* SPDX-License-Identifier: MIT */
/* The result of the first product of a series is compared with float64 and kept. Results of later
 * blocks of our kernels must be bitwise equal to it; a library's result may differ within the
 * bounds. If a result of our kernels is wrong, the functions return STATUS_WRONG. A library's wrong
 * result is only recorded in series->fault, unless --accept is given. If A or B changed, the device
 * is at fault. */
#include "gemm/measure/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"

int gemm_compare_counts(const struct gemm_rig *rig, const struct gemm_work *work, const struct gemm_series *s)
{
  return !s->kernel->is_reference || rig->config.accept || work->damage[0];
}

static const char *without(const char *text, const char *beginning)
{
  size_t length = strlen(beginning);
  return strncmp(text, beginning, length) == 0 && text[length] ? text + length : text;
}

const char *gemm_compare_held(const struct gemm_series *s)
{
  char name[128];
  const char *text = log_held(), *line = strrchr(text, '\n');
  snprintf(name, sizeof name, "kernel %s: ", s->kernel->name);
  return without(line ? line + 1 : text, name);
}

/* Keeps the first fault. */
static void fault_keep(struct gemm_series *s)
{
  const char *text = without(gemm_compare_held(s), "wrong result: ");
  if (!s->fault[0]) snprintf(s->fault, sizeof s->fault, "%s", text[0] ? text : "gives a wrong result");
}

/* Decides what is at fault: the device if A or B changed, otherwise the kernel. Any other failure
 * of a rank ends a distributed product on all ranks, because the others would wait for it. */
static status_t gemm_compare_judge(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s,
                                   status_t status)
{
  if (status != STATUS_OK && status != STATUS_WRONG && work->cluster && rig->placement.ranks > 1)
    agree_abort(status);
  if (status != STATUS_WRONG) return status;
  fault_keep(s);
  status = gemm_compare_operands(rig, work);
  if (status != STATUS_OK && status != STATUS_WRONG) return status;
  if (gemm_compare_counts(rig, work, s)) return STATUS_WRONG;
  log_drop();
  return STATUS_OK;
}

static status_t result_fetch(const struct gemm_rig *rig, struct gemm_work *work, const struct gemm_series *s,
                             int block)
{
  if (work->flips)
    RETURN_IF_FAILED(
        gemm_flip_plant(work->flips, &work->matrices, rig->placement.rank, s->kernel->name, block));
  return gemm_matrices_fetch(&work->matrices, work->matrices.out);
}

static status_t result_keep(struct gemm_work *work, void **kept)
{
  size_t bytes = gemm_bytes(&work->problem, GEMM_C);
  if (!(*kept = malloc(bytes)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for a result of %zu bytes", bytes);
  gemm_copy_bits(*kept, work->matrices.out, bytes);
  return STATUS_OK;
}

/* Requires C to be bitwise equal to the correct result *kept. If any_bits is 1 (a library, or
 * trials of other tiles), accepts any C within the error bounds. If *kept is NULL, verifies C and
 * stores it there. */
static status_t result_compare(struct gemm_work *work, struct gemm_series *s, int launches, int any_bits,
                               void **kept, const char *what)
{
  const void *out = work->matrices.out;
  if (*kept && gemm_same_bits(*kept, out, gemm_bytes(&work->problem, GEMM_C))) return STATUS_OK;
  if (*kept && !any_bits) return gemm_verify_bits(work->reference, *kept, out, s->kernel->name, what);
  RETURN_IF_FAILED(gemm_verify_near(work->reference, s->kernel->truncates, launches, s->first, out,
                                    s->kernel->name, what));
  return *kept ? STATUS_OK : result_keep(work, kept);
}

static status_t product_compare(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s,
                                int block)
{
  struct gemm_matrices *m = &work->matrices;
  RETURN_IF_FAILED(gemm_matrices_reset(m));
  RETURN_IF_FAILED(gemm_launch(s->exec, rig->queue, &m->on));
  RETURN_IF_FAILED(result_fetch(rig, work, s, block));
  if (s->kernel->ops->counts) s->kernel->ops->counts(s->exec, &s->counts);
  RETURN_IF_FAILED(gemm_verify(work->reference, s->kernel->truncates, m->out, s->kernel->name, &s->check));
  if (rig->config.verify == GEMM_VERIFY_OFF) return STATUS_OK;
  if (!s->first) return result_keep(work, &s->first);
  return result_compare(work, s, 1, s->kernel->is_reference, &s->first, "the product after all blocks");
}

status_t gemm_compare_product(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s,
                              int block)
{
  return gemm_compare_judge(rig, work, s, product_compare(rig, work, s, block));
}

static void block_name(const struct gemm_series *s, int block, char what[64])
{
  const struct gemm_blocks *b = &s->exec->blocks;
  if (block == GEMM_BLOCK_TRIAL)
    snprintf(what, 64, "a trial of tiles %dx%dx%d, k in %d,", b->group_m, b->group_n, b->group_k,
             b->splits > 0 ? b->splits : 1);
  else
    snprintf(what, 64, "block %d", block);
}

/* If beta is not 0, C accumulates over all products of a block, so the first block is compared
 * within the error bounds, and kept. Results of libraries are fetched as often as those of our
 * kernels, so that a device at its power limit cools down equally before each block. */
static status_t block_compare(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s,
                              int block)
{
  char what[64];
  int again = work->problem.beta != 0 && s->launches > 1;
  RETURN_IF_FAILED(result_fetch(rig, work, s, block));
  block_name(s, block, what);
  return result_compare(work, s, s->launches, s->kernel->is_reference || block == GEMM_BLOCK_TRIAL,
                        again ? &s->first_block : &s->first, what);
}

status_t gemm_compare_block(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s,
                            int block)
{
  if (rig->config.verify == GEMM_VERIFY_OFF) return STATUS_OK;
  return gemm_compare_judge(rig, work, s, block_compare(rig, work, s, block));
}

status_t gemm_compare_operands(const struct gemm_rig *rig, struct gemm_work *work)
{
  if (rig->config.verify == GEMM_VERIFY_OFF) return STATUS_OK;
  if (work->damage[0]) return STATUS_WRONG;
  status_t status = work->cluster ? gemm_cluster_check(work->cluster) : gemm_matrices_check(&work->matrices);
  const char *line = strrchr(log_held(), '\n');
  if (status == STATUS_WRONG) snprintf(work->damage, sizeof work->damage, "%s", line ? line + 1 : log_held());
  return status;
}
