/* SPDX-License-Identifier: MIT */
/* Tests results that mem-gpu derives from its figures. */
#include "tests/unit/unit.h"

#include "tools/memory/state.h"

static void pacing_pays_from_where_it_gains_with_every_more_streams(void **state)
{
  struct mem_copies copies = {.pacing = {{.width = 4, .streams = 1, .ratio = 1.2},
                                         {.width = 4, .streams = 2, .ratio = 0.99},
                                         {.width = 4, .streams = 4, .ratio = 1.02},
                                         {.width = 16, .streams = 1, .ratio = 0.8},
                                         {.width = 4, .streams = 8, .ratio = 1.5}},
                              .n_pacing = 5};
  (void)state;
  assert_int_equal(mem_pacing_from(&copies, 4), 4);
  assert_int_equal(mem_pacing_from(&copies, 16), 0);
  copies.pacing[4].ratio = 1.005;
  assert_int_equal(mem_pacing_from(&copies, 4), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pacing_pays_from_where_it_gains_with_every_more_streams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
