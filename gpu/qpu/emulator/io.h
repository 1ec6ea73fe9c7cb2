/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The peripherals behind the register addresses from 32 on. */
#ifndef QPU_IO_H
#define QPU_IO_H

#include "gpu/qpu/emulator/state.h"

/** \brief What the instruction would have to wait for, −1 for nothing. */
int qpu_would_stall(struct qpu_issue *issue);
/** \brief Reads a peripheral through a file's port into the thread's port register. */
status_t qpu_io_read(struct qpu_issue *issue, int address, int file);
/** \brief Writes lanes of a peripheral. */
status_t qpu_io_write(struct qpu_issue *issue, int address, int file, const qpu_vec *value, unsigned lanes);
/** \brief Takes the oldest look-up of a TMU into r4. */
status_t qpu_tmu_load(struct qpu_issue *issue, int tmu);
/** \brief Ends transfers that are due by the current cycle, or all of a QPU's when \a all_of is its
 * number. */
status_t qpu_dma_advance(struct qpu_emu *emu, int all_of);

#endif
