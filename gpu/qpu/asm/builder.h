/* SPDX-License-Identifier: MIT */
/** \file
 * \brief An instruction word in the making: read ports, write ports, pack modes and the signal
 * field. */
#ifndef QPU_BUILDER_H
#define QPU_BUILDER_H

#include "gpu/qpu/asm/operation.h"

enum { QPU_SLOT_ADD, QPU_SLOT_MUL, QPU_N_SLOTS };

/** A source operand that still needs one of the two read ports. */
struct qpu_source_operand {
  const struct qpu_value *value;
  uint8_t *mux;
  int slot;
};

struct qpu_builder {
  struct qpu_asm *as;
  struct qpu_inst inst;
  const struct qpu_operation *slots[QPU_N_SLOTS];
  struct qpu_source_operand sources[4];
  int n_sources;
  int a_taken, b_taken; /* read ports in use; 39 stands in an unused one */
  int unpacks_a, unpacks_r4;
  int needs_pm; /* −1 open, else the value that a pack or unpack mode asks for */
};

/** \brief Takes the signal field, which holds one thing only. */
status_t qpu_builder_signal(struct qpu_builder *b, int code);

/** \brief Notes an operand for a multiplexer; its port is found when all are known. */
status_t qpu_builder_source(struct qpu_builder *b, const struct qpu_value *value, uint8_t *mux, int slot);

/** \brief Finds a port for every operand noted. */
status_t qpu_builder_ports(struct qpu_builder *b);

/** \brief Reads a constant as a small immediate, through file B's port. */
status_t qpu_builder_small(struct qpu_builder *b, const struct qpu_source_operand *source, uint32_t bits);

/** \brief Sets the targets of both ALUs (NULL for none), the write-swap bit and pack modes. */
status_t qpu_builder_targets(struct qpu_builder *b, const struct qpu_value *add, const struct qpu_value *mul);

#endif
