/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Option-table entry of --timeout, the deadline of waits for other ranks. */
#ifndef COMM_RANKS_OPTIONS_H
#define COMM_RANKS_OPTIONS_H

#include "base/options.h"

#define RANKS_OPTION_TIMEOUT(readers)                                                                        \
  "timeout", 0, readers, OPTION_TIME(timeout, 0.1, 1e6, "DURATION"),                                         \
      "Set how long a rank waits for another: 90 (seconds) or 5m. Then the job ends with exit status 6 "     \
      "and reports which rank waits for which (default: 60s)."

#endif
