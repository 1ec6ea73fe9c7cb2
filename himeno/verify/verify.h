/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The reference result of a block, and the comparison with it.
 *
 * Before the timed part, verify_prepare determines the result of a block: from the table of known
 * values, or by the reference kernel on the CPUs. verify_block compares each block with it. */
#ifndef HIMENO_VERIFY_VERIFY_H
#define HIMENO_VERIFY_VERIFY_H

#include "comm/ranks/memory.h"
#include "himeno/solver/solver.h"

/** Relative tolerance of gosa between runs: the order of a sum in double precision differs. */
#define VERIFY_GOSA_TOLERANCE 1e-9

/** --verify: auto limits the time of the reference. */
enum himeno_verify { HIMENO_VERIFY_AUTO, HIMENO_VERIFY_FULL, HIMENO_VERIFY_OFF };

enum verify_source {
  VERIFY_NO,        /**< no value to compare with */
  VERIFY_KNOWN,     /**< the table of himeno/verify/known.csv */
  VERIFY_REFERENCE, /**< the reference kernel, on the ranks' CPUs */
  VERIFY_MODEL,     /**< the same expression rounded toward zero, on the ranks' CPUs */
  VERIFY_REHEARSAL  /**< only the rehearsal of --official was compared */
};

struct verify_value {
  enum verify_source source;
  int sweeps; /**< sweeps of the block that has this value; may be fewer than in a timed block */
  double gosa;
  uint64_t checksum;
  struct solver_check *checks; /**< values at check points, the last one at the end; NULL: none */
  int n_checks;
  uint64_t coefficients; /**< sum of the twelve constant arrays' checksums */
};

/** \brief Frees the allocations of verify_prepare. */
void verify_value_free(struct verify_value *value);

extern const char *const verify_source_names[VERIFY_REHEARSAL + 1];

/** \brief Collective: determines the value for a block of \a sweeps of the solver's problem, from
 * the table or by the reference kernel; for a kernel that rounds toward zero by its model. In
 * HIMENO_VERIFY_AUTO the block is shortened if it would take more than 5 s and more than
 * \a seconds, the time of the measurement. */
status_t verify_prepare(const struct solver_config *config, enum himeno_verify mode, double seconds,
                        int sweeps, struct verify_value *value);

/** \brief Returns the approximate seconds that verify_prepare takes. */
double verify_expected(const int64_t extent[3], enum himeno_data data, enum himeno_verify mode,
                       double seconds, int sweeps);

/** \brief Collective: computes the reference value of standard data without a solver, in at most \a
 * limit seconds; leaves out check points, or shortens the block, if there is too little time. Sets
 * \a value only on success. */
status_t verify_uniform(const struct solver_config *config, double limit, int sweeps,
                        struct verify_value *value);

/** A solver on the ranks' CPUs with the same decomposition, whose values are correct. */
struct verify_reference {
  struct gpu_device *cpu;
  struct solver *solver; /**< NULL if a host has too little memory */
  struct memory_budget memory;
  uint64_t bytes; /**< host memory that a rank needs for the reference */
  enum verify_source source;
};

/** \brief Sets the host memory in bytes that the fullest rank needs for the reference. */
status_t verify_reference_bytes(const struct solver_config *config, uint64_t *bytes);

/** \brief Collective: opens the reference of \a config's problem, for blocks up to \a
 * max_sweeps. */
status_t verify_reference_open(const struct solver_config *config, int max_sweeps,
                               struct verify_reference *reference);
void verify_reference_close(struct verify_reference *reference);

/** \brief Collective: computes the checksum of the grid's coefficients. Returns STATUS_WRONG, and
 * logs both checksums, if that of \a value differs. */
status_t verify_coefficients(struct solver_grid *grid, MPI_Comm comm, const struct verify_value *value,
                             uint64_t *sum);

/** \brief Returns STATUS_WRONG, and logs both values, if the block differs from \a value at its end
 * or at a check point that both have. */
status_t verify_block(const struct verify_value *value, const struct solver_block *block, const char *what);

#define KNOWN_CHECKS 14

/** Known values of the named sizes, and of L per rank (-w) on a few ranks, computed by the
 * reference kernel (scripts/make-known). */
struct himeno_known {
  const char *size;
  enum himeno_data data;
  uint64_t coefficients; /**< sum of the twelve constant arrays' checksums */
  /** sorted by number of sweeps; unused elements are zero */
  struct solver_check checks[KNOWN_CHECKS];
};

/** \brief Returns the known values of a grid and data; NULL if they are not in the table. */
const struct himeno_known *himeno_known_find(const int64_t extent[3], enum himeno_data data);

#endif
