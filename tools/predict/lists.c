/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/predict/lists.h"

#include "base/log.h"
#include "base/values.h"

status_t size_list_parse(const char *option, const char *text, void *sizes)
{
  struct size_list *list = sizes;
  char word[64];
  for (const char *rest = text; rest;) {
    rest = value_next(rest, ',', word, sizeof word);
    if (list->n == LIST_SIZES_MAX)
      return log_fail(STATUS_USAGE, "%s %s: at most %d sizes are allowed", option, text, LIST_SIZES_MAX);
    RETURN_IF_FAILED(grid_size_parse(option, word, &list->list[list->n++]));
  }
  return STATUS_OK;
}

status_t rank_list_parse(const char *option, const char *text, void *ranks)
{
  struct rank_list *list = ranks;
  char word[64];
  for (const char *rest = text; rest;) {
    long long value;
    rest = value_next(rest, ',', word, sizeof word);
    if (list->n == LIST_RANKS_MAX || value_read_int(word, 1, LIST_RANKS_TOP, &value) != STATUS_OK)
      return log_fail(STATUS_USAGE,
                      "%s %s: allowed are up to %d whole numbers from 1 to %d, with commas between", option,
                      text, LIST_RANKS_MAX, LIST_RANKS_TOP);
    list->list[list->n++] = (int)value;
  }
  return STATUS_OK;
}
