/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The share of time in which this process was ready to run but had no core, because other
 * processes ran, or because the hypervisor ran another machine. */
#ifndef BASE_STARVATION_H
#define BASE_STARVATION_H

/** The kernel's counters at the start of a measurement; NULL if the kernel has none. */
struct starvation;

struct starvation *starvation_begin(void);

/** \brief Returns the larger of two shares of the time since the start: that for which a thread
 * waited for a core, and that for which the hypervisor stole a CPU. Counts the thread that waited
 * longest, of those that ran or were ready for at least half of the time, and the CPU stolen most,
 * of those that the process may use. Returns −1 if unknown. */
double starvation_share(const struct starvation *begin);

void starvation_end(struct starvation *begin);

#endif
