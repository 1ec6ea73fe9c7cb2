/* SPDX-License-Identifier: MIT */
#include "himeno/verify/known.h"

#include "comm/halo/grid.h"

#include <string.h>

static const struct himeno_known known_values[] = {
#include "himeno/verify/known_table.h" /* of known.csv */
};

const struct himeno_known *himeno_known_find(const int64_t extent[3], enum himeno_data data)
{
  struct grid_size size;
  for (size_t v = 0; v < sizeof known_values / sizeof known_values[0]; v++)
    if (known_values[v].data == data && grid_size_parse("", known_values[v].size, &size) == STATUS_OK &&
        memcmp(size.extent, extent, sizeof size.extent) == 0)
      return &known_values[v];
  return NULL;
}
