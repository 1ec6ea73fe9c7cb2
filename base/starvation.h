/* SPDX-License-Identifier: MIT */
/** \file
 * \brief How much of its time this process was ready to run but had no core: other processes ran,
 * or the hypervisor ran another machine. */
#ifndef BASE_STARVATION_H
#define BASE_STARVATION_H

/** The kernel's counters at the begin; NULL: it has none. */
struct starvation;

struct starvation *starvation_begin(void);

/** \brief The share of the time since the begin that the busy thread that is worst off waited for a
 * core, or that was stolen from the CPU that lost most of those the process may use, whichever is
 * more; −1 if unknown. Threads that were ready for less than half of the time do not count. */
double starvation_share(const struct starvation *begin);

void starvation_end(struct starvation *begin);

#endif
