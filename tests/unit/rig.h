/* SPDX-License-Identifier: MIT */
/** \file \brief A kernel on a device, for tests. A function that fails ends the test. */
#ifndef TESTS_UNIT_RIG_H
#define TESTS_UNIT_RIG_H

#include "tests/unit/kernel_checks.h"

#define RIG_SLOTS  8
#define RIG_POISON 0x7fc0dead /**< bits of a NaN that no kernel computes */

/** A device with the fields of one rank's part of the grid. */
struct rig {
  const struct himeno_kernel_set *set;
  struct gpu_device *device;
  struct gpu_queue *queue;
  struct decomp decomp;
  struct himeno_fields fields;
  struct himeno_exec *exec;
  int64_t floats;
  int toward_zero; /**< how the kernel rounds */
};

void rig_expect_ok(status_t status);

/** \brief rig_open opens the part of \a rank, with undefined fields; rig_open_whole opens the whole
 * grid, filled. */
void rig_open(struct rig *rig, const struct kernel_subject *subject, const int64_t extent[3],
              const int procs[3], int rank);
void rig_open_whole(struct rig *rig, const struct kernel_subject *subject, const int64_t extent[3],
                    enum himeno_data data);
void rig_close(struct rig *rig);

/** \brief Closes the device that the rigs shared. Call it after the last rig. */
void rig_end(void);

/** \brief Runs a pass from p[source]. rig_sweep() makes one sweep, or as many as the kernel makes
 * per pass; rig_pass() makes \a sweeps. */
void rig_sweep(struct rig *rig, const struct box *box, int source, int slot);
void rig_pass(struct rig *rig, const struct box *box, int sweeps, int source, int slot);

double rig_gosa_of(struct rig *rig, int slot);
uint64_t rig_checksum_of(struct rig *rig, int which);

/** \brief Returns a copy of an array with its padding, which the caller frees. */
uint32_t *rig_bits_of(struct rig *rig, struct gpu_mem mem);
void rig_poison(struct rig *rig, struct gpu_mem mem);

void rig_assert_close(const struct rig *rig, double got, double expected);
int rig_in_box(const struct box *b, int64_t i, int64_t j, int64_t k);

#endif
