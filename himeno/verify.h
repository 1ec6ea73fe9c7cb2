/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a block must give, and whether it did. */
#ifndef HIMENO_VERIFY_H
#define HIMENO_VERIFY_H

#include "himeno/cmdline.h"
#include "himeno/solver.h"

/** gosa agrees between runs to this, relative: the order of a double sum differs. */
#define VERIFY_GOSA_TOLERANCE 1e-9
/** Where sums are single ones that round toward zero. */
#define VERIFY_GOSA_TOLERANCE_SINGLE 1e-3

enum verify_source {
  VERIFY_NO,        /**< nothing to compare with */
  VERIFY_KNOWN,     /**< the table of himeno/known.c */
  VERIFY_REFERENCE, /**< the reference kernel, on the ranks' CPUs */
  VERIFY_REHEARSAL, /**< only the rehearsal of --official was compared */
  VERIFY_MODEL      /**< the same expression rounded toward zero, on the ranks' CPUs */
};

struct verify_value {
  enum verify_source source;
  int sweeps; /**< the value is for a block of this many; may be fewer than a timed block's */
  double gosa;
  uint64_t checksum;
};

/** \brief "known", "reference", "rehearsal", "model" or "no". */
const char *verify_source_name(enum verify_source source);

/** \brief Collective: the value for a block of \a sweeps of the solver's problem, from the table or computed by the
 * reference kernel (in HIMENO_VERIFY_AUTO a shorter block where that would take over a minute); for a kernel that rounds
 * toward zero by its model. */
status_t verify_prepare(const struct solver_config *config, enum himeno_verify mode, int sweeps,
                        struct verify_value *value);

/** A solver on the ranks' CPUs, cut like another, whose values are right. */
struct verify_reference {
  struct gpu_device *cpu;
  struct solver *solver; /**< NULL where the hosts' memory is too small for it */
  enum verify_source source;
};

/** \brief Collective: the reference of \a config's problem, for blocks of at most \a max_sweeps. */
status_t verify_reference_open(const struct solver_config *config, int max_sweeps,
                               struct verify_reference *reference);
void verify_reference_close(struct verify_reference *reference);

/** \brief STATUS_WRONG, with both values, when the block differs from \a value. */
status_t verify_block(const struct verify_value *value, const struct solver_block *block, const char *what);

#endif
