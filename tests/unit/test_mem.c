/* SPDX-License-Identifier: MIT */
/* What mem-gpu makes of its figures. */
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

static void a_pair_gains_what_its_second_kernel_does_more_in_a_second(void **state)
{
  const struct mem_ops ops = {.backend = "null"};
  struct gpu_device device = {.backend = NULL};
  struct mem_run run = {.config = {.sections = {.pairs = 1}},
                        .rig = {.device = &device, .ops = &ops},
                        .n_pairs = 1,
                        .pairs = {{"a pair", 7, {.n = 1, .median = 2e9}, {.n = 1, .median = 3e9}}}};
  struct doc d;
  doc_open(&d, 0);
  mem_document(&d, &run);
  json_t *document = doc_close(&d), *pairs = json_object_get(document, "pairs");
  const json_t *pair = json_array_get(pairs, 0);
  (void)state;
  assert_int_equal(json_array_size(pairs), 1);
  assert_true(json_real_value(json_object_get(pair, "ratio")) == 1.5);
  assert_true(json_real_value(json_object_get(json_object_get(pair, "before_gwords"), "median")) == 2);
  assert_true(json_real_value(json_object_get(json_object_get(pair, "after_gwords"), "median")) == 3);
  json_decref(document);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pacing_pays_from_where_it_gains_with_every_more_streams),
      cmocka_unit_test(a_pair_gains_what_its_second_kernel_does_more_in_a_second),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
