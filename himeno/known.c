/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/known.h"

#include "comm/halo/grid.h"

#include <string.h>

static const struct himeno_known known_values[] = {
#include "himeno/known_table.h"
};

static const struct {
  const char *size;
  enum himeno_data data;
  uint64_t sum;
} known_coefficients[] = {
#include "himeno/known_coefficients.h"
};

static int is_size(const char *name, const int64_t extent[3])
{
  for (int n = 0; n < grid_size_count(); n++) {
    const struct grid_size *size = grid_size_named(n);
    if (strcmp(size->name, name) == 0) return memcmp(size->extent, extent, sizeof size->extent) == 0;
  }
  return 0;
}

const struct himeno_known *himeno_known_find(const int64_t extent[3], enum himeno_data data, int sweeps)
{
  for (size_t v = 0; v < sizeof known_values / sizeof known_values[0]; v++) {
    const struct himeno_known *known = &known_values[v];
    if (known->data == data && known->sweeps == sweeps && is_size(known->size, extent)) return known;
  }
  return NULL;
}

int himeno_known_coefficients(const int64_t extent[3], enum himeno_data data, uint64_t *sum)
{
  for (size_t v = 0; v < sizeof known_coefficients / sizeof known_coefficients[0]; v++) {
    if (known_coefficients[v].data != data || !is_size(known_coefficients[v].size, extent)) continue;
    *sum = known_coefficients[v].sum;
    return 1;
  }
  return 0;
}
