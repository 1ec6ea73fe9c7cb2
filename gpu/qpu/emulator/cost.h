/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Estimates the time of a program on the real chip with a model of its caches, memory and
 * DMA engine. doc/explanation/qpu-time.md states the errors of the estimate. */
#ifndef QPU_COST_H
#define QPU_COST_H

#include "gpu/qpu/emulator/state.h"

/** \brief Creates the state of a cost model for one emulator. Returns NULL if memory ran out. */
struct qpu_cost *qpu_cost_create(const struct qpu_cost_model *model);
void qpu_cost_reset(struct qpu_cost *cost);

/** \brief Returns 1 if the instruction must wait for data that the real chip would not have yet. In
 * that case sets thread->ready to the cycle on which it may continue. */
int qpu_cost_waits(struct qpu_issue *issue);

/** \brief Sets the time at which TMU \a number will answer a look-up of sixteen words. */
void qpu_cost_lookup(struct qpu_issue *issue, int number, const qpu_vec *addresses);

/** \brief Returns the cycle on which a transfer of \a rows rows of \a bytes bytes ends. */
uint64_t qpu_cost_transfer(struct qpu_issue *issue, int rows, int bytes);

/** \brief Must be called when a program continues the uniform stream at another address. */
void qpu_cost_jump(struct qpu_issue *issue);

/** \brief Must be called when a vector is written to or read from the VPM. */
void qpu_cost_vpm(struct qpu_issue *issue);

#endif
