/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The share of time in which this process was ready to run but had no core, because other
 * processes ran, or because the hypervisor ran another machine. */
#ifndef BASE_STARVATION_H
#define BASE_STARVATION_H

/** The kernel's counters at the begin of a measurement. A NULL pointer means that the kernel has
 * none. */
struct starvation;

struct starvation *starvation_begin(void);

/** \brief The share of the time since the begin in which a thread waited for a core or a CPU was
 * stolen by the hypervisor, whichever is larger; −1 if unknown. Counts the thread that waited
 * longest, of those that were running or ready for at least half of the time, and the most stolen
 * of the CPUs that the process may use. */
double starvation_share(const struct starvation *begin);

void starvation_end(struct starvation *begin);

#endif
