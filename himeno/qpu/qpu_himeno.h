/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Himeno sweeps on emulated QPUs: columns of 16 points along k are shared among 12 of them.
 *
 * The QPU rounds toward zero and flushes denormals, so its field is bit for bit that of the same expression in the
 * same order under those rules, and not the IEEE backends'. A sweep reads 13 arrays and writes one; of its 34 flop a
 * point the QPUs issue 24 a lane as sums and products, beside 21 look-ups for 16 points: on a Pi, whose memory gives
 * 1 to 2 GB/s, 56 bytes a point bound it long before that. */
#ifndef QPU_HIMENO_H
#define QPU_HIMENO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "gpu/qpu/qpu_emu.h"

/** All arrays are imax × jmax × kmax, k contiguous; each extent is 3 at least. */
struct qpu_himeno_fields {
  size_t imax, jmax, kmax;
  const float *a[4], *b[3], *c[3], *bnd, *wrk1, *p;
  float omega;
};

struct qpu_himeno;

/** \brief Copies the fields into the memory of \a n_qpus emulated QPUs (1 to 12). STATUS_USAGE for extents below 3
 * or arrays beyond the QPU's 32-bit addresses, STATUS_ENVIRONMENT without memory. \a trace may be NULL. */
status_t qpu_himeno_open(const struct qpu_himeno_fields *fields, int n_qpus, FILE *trace,
                         struct qpu_himeno **himeno);
void qpu_himeno_close(struct qpu_himeno *himeno);

/** \brief One sweep; *gosa is the sum of squares, added up in single precision within a pass and a program and in
 * double over the programs' lanes. */
status_t qpu_himeno_sweep(struct qpu_himeno *himeno, double *gosa);

/** \brief The field as it stands. */
const float *qpu_himeno_p(const struct qpu_himeno *himeno);

/** \brief Counts of the last sweep. */
struct qpu_emu_stats qpu_himeno_stats(const struct qpu_himeno *himeno);

/** \brief Seconds that a sweep takes where memory gives \a bytes_per_second, and the GFLOPS that this makes, by the
 * suite's count of 34 flop and 56 bytes a point. */
double qpu_himeno_bound_seconds(const struct qpu_himeno_fields *fields, double bytes_per_second);
double qpu_himeno_bound_gflops(double bytes_per_second);

#endif
