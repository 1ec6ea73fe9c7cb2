/* SPDX-License-Identifier: MIT */
#include "tools/predict/lists.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"
#include "gemm/cluster/grid.h"
#include "tools/predict/workload.h"

static status_t any_size_parse(const char *option, const char *text, void *field)
{
  struct grid_size *size = field;
  int known = 0;
  log_mute(1);
  for (int of = 0; of < STUDY_PROGRAMS && !known; of++)
    known = workloads[of].size_parse(option, text, size) == STATUS_OK;
  log_mute(0);
  snprintf(size->name, sizeof size->name, "%s", text);
  return known ? STATUS_OK : grid_size_parse(option, text, size);
}

status_t any_size_list_parse(const char *option, const char *text, void *sizes)
{
  struct size_list *list = sizes;
  char word[64];
  for (const char *rest = text; rest;) {
    rest = value_next(rest, ',', word, sizeof word);
    if (list->n == LIST_SIZES_MAX)
      return log_fail(STATUS_USAGE, "%s %s: must be at most %d sizes", option, text, LIST_SIZES_MAX);
    RETURN_IF_FAILED(any_size_parse(option, word, &list->list[list->n++]));
  }
  return STATUS_OK;
}

status_t any_cut_parse(const char *option, const char *text, void *procs)
{
  const char *first = strchr(text, 'x');
  ((int *)procs)[2] = 0;
  return (first && first == strrchr(text, 'x') ? gemm_procs_parse : grid_procs_parse)(option, text, procs);
}

status_t rank_list_parse(const char *option, const char *text, void *ranks)
{
  struct rank_list *list = ranks;
  char word[64];
  for (const char *rest = text; rest;) {
    long long value;
    rest = value_next(rest, ',', word, sizeof word);
    if (list->n == LIST_RANKS_MAX || value_read_int(word, 1, LIST_RANKS_TOP, &value) != STATUS_OK)
      return log_fail(STATUS_USAGE, "%s %s: must be up to %d whole numbers from 1 to %d, separated by commas",
                      option, text, LIST_RANKS_MAX, LIST_RANKS_TOP);
    list->list[list->n++] = (int)value;
  }
  return STATUS_OK;
}

status_t between_parse(const char *option, const char *text, void *between)
{
  struct study_between *b = between;
  char word[2][64] = {""};
  double latency, bandwidth;
  const char *rest = value_next(text, ',', word[0], sizeof word[0]);
  if (rest) rest = value_next(rest, ',', word[1], sizeof word[1]);
  if (rest || value_read_real(word[0], 1e-3, 1e6, &latency) != STATUS_OK ||
      value_read_real(word[1], 1e-6, 1e6, &bandwidth) != STATUS_OK)
    return log_fail(
        STATUS_USAGE,
        "%s %s: must be two numbers separated by a comma, microseconds from 0.001 to 1e6 and GB/s "
        "from 1e-6 to 1e6, such as 5,20",
        option, text);
  *b = (struct study_between){latency / 1e6, bandwidth * 1e9};
  return STATUS_OK;
}
