/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Lists of sizes and of numbers of ranks on the command line. */
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

/** \brief Reads "S,M,IxJxK" into a struct size_list, with names as written. Also accepts N and
 * MxNxK, the sizes of other programs, because the program is known only later. If the text is
 * invalid, logs that and returns STATUS_USAGE. */
status_t any_size_list_parse(const char *option, const char *text, void *sizes);

/** \brief Reads "auto" (all 0), "PxQxR" or "PxQ" (procs[2] is 0) into an int[3]. Returns errors as
 * any_size_list_parse does. */
status_t any_cut_parse(const char *option, const char *text, void *procs);

/** \brief Reads "1,2,4" into a struct rank_list. Returns errors as any_size_list_parse does. */
status_t rank_list_parse(const char *option, const char *text, void *ranks);

/** \brief Reads "MICROSECONDS,GB/S" into a struct study_between. Returns errors as
 * any_size_list_parse does. */
status_t between_parse(const char *option, const char *text, void *between);

#endif
