/* SPDX-License-Identifier: MIT */
#include "himeno/verify/known.h"

#include "comm/halo/grid.h"

#include <string.h>

static const struct himeno_known known_values[] = {
#include "himeno/verify/known_table.h" /* of known.csv */
};

static int is_size(const char *name, const int64_t extent[3])
{
  struct grid_size size;
  return grid_size_parse("", name, &size) == STATUS_OK &&
         memcmp(size.extent, extent, sizeof size.extent) == 0;
}

const struct himeno_known *himeno_known_find(const int64_t extent[3], enum himeno_data data)
{
  for (size_t v = 0; v < sizeof known_values / sizeof known_values[0]; v++)
    if (known_values[v].data == data && is_size(known_values[v].size, extent)) return &known_values[v];
  return NULL;
}
