/* SPDX-License-Identifier: MIT */
/** \file
 * \brief An estimate of the time that a program takes on the part: a model of its caches, its
 * memory and its DMA engine, not a measurement. doc/explanation/qpu-time.md states its errors. */
#ifndef QPU_COST_H
#define QPU_COST_H

#include "gpu/qpu/emulator/state.h"

/** \brief A model's state for an emulator; NULL without memory. */
struct qpu_cost *qpu_cost_create(const struct qpu_cost_model *model);
void qpu_cost_reset(struct qpu_cost *cost);

/** \brief Whether the instruction has to wait, until thread->ready, for what the part would not
 * have yet. */
int qpu_cost_waits(struct qpu_issue *issue);

/** \brief A look-up of sixteen words: when its answer is there. */
void qpu_cost_lookup(struct qpu_issue *issue, int number, const qpu_vec *addresses);

/** \brief A transfer of \a rows rows of \a bytes each: the cycle on which it ends. */
uint64_t qpu_cost_transfer(struct qpu_issue *issue, int rows, int bytes);

/** \brief The uniform stream goes on elsewhere. */
void qpu_cost_jump(struct qpu_issue *issue);

/** \brief A vector goes into the VPM or comes out. */
void qpu_cost_vpm(struct qpu_issue *issue);

#endif
