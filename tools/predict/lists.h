/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Lists of sizes and of numbers of ranks on a command line. */
#ifndef TOOLS_PREDICT_LISTS_H
#define TOOLS_PREDICT_LISTS_H

#include "comm/halo/grid.h"
#include "tools/predict/study.h"

#define LIST_SIZES_MAX 16
#define LIST_RANKS_MAX 32
#define LIST_RANKS_TOP 65536

struct size_list {
  int n;
  struct grid_size list[LIST_SIZES_MAX];
};

struct rank_list {
  int n;
  int list[LIST_RANKS_MAX];
};

/** \brief Reads "S,M,IxJxK" into a struct size_list, with sizes of any program, N and MxNxK too:
 * whose they are is known later. Their names are as written. Logs and returns STATUS_USAGE
 * otherwise. */
status_t any_size_list_parse(const char *option, const char *text, void *sizes);

/** \brief Reads "auto", "PxQxR" or "PxQ" into an int[3]: 0 where there is none. As above. */
status_t any_cut_parse(const char *option, const char *text, void *procs);

/** \brief Reads "1,2,4" into a struct rank_list. Logs and returns STATUS_USAGE otherwise. */
status_t rank_list_parse(const char *option, const char *text, void *ranks);

/** \brief Reads "MICROSECONDS,GB/S" into a struct study_between. As above. */
status_t between_parse(const char *option, const char *text, void *between);

#endif
