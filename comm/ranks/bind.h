/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Binds this process and its OpenMP threads to cores. */
#ifndef COMM_RANKS_BIND_H
#define COMM_RANKS_BIND_H

#include <hwloc.h>

/** \brief Binds the process to \a cpus, with one OpenMP thread per core unless OMP_NUM_THREADS is
 * set. If \a pin is 1, also binds each thread to its core unless OMP_PROC_BIND is set. Warns if the
 * system refuses.
 *
 * Threads created later inherit the binding of the creating thread, so \a pin is only for the cpu
 * backend: otherwise all threads of a device library would run on one core. */
void bind_process(hwloc_topology_t topology, hwloc_const_cpuset_t cpus, int pin);

#endif
