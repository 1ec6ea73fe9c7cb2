/* SPDX-License-Identifier: MIT */
/* Tests terms of the performance model for hosts with many ranks, for kernels' tiles, and for noisy
 * transports. */
#include "tests/unit/predict_machine.h"

static struct model *fit_to_four(const struct machine *m, struct study *study)
{
  *study = study_make(m, 4);
  for (size_t s = 0; s < SIZES; s++) study_add(m, s, 3, study);
  return fit(study);
}

/* Three and four ranks in a row show the sharing: the inner ranks send equally much, but with four
 * the host has half as many bytes again. */
TEST(the_bytes_of_a_host_share_it)
{
  const struct machine shared = {.noise = 0.002, .overlap = 1, .host_share = 0.45};
  struct study study;
  random_state = 21;
  struct model *model = fit_to_four(&shared, &study);
  assert_near(2 * model->terms.fitted.value[TERMS + TRANSPORT_HOST] / 0.92, 0.45, 0.15);
  assert_near(model->terms.fitted.value[TERMS + TRANSPORT_BANDWIDTH] / 0.92, 0.55, 0.15);
  assert_true(worst_error(model, &shared, 8, 8) < 0.06);
  study_free(&study);
  free(model);
}

/* Rows of 126 points (S), 128 and 192 leave a half, a half and a quarter of a tile's 256 threads
 * idle. */
TEST(idle_ends_of_tiles_are_found_where_there_are_some)
{
  const struct machine tiled = {.noise = 0.002, .overlap = 1, .tile = 256};
  static const int64_t narrow[][3] = {{130, 130, 130}, {130, 258, 194}, {258, 258, 130}};
  random_state = 31;
  struct study study = study_make(&tiled, 4);
  for (size_t n = 0; n < 2; n++) study.runs[study.n++] = run_of(&tiled, "narrow", narrow[n], 1, 0);
  struct model *model = fit(&study);
  assert_near(model->terms.tile_points, 256, 1e-9);
  assert_near(model->terms.fitted.value[TERM_IDLE] / IDLE, 1, 0.25);
  struct study_run run = run_of(&tiled, "258x258x130", narrow[2], 1, 0);
  assert_near(predict(model, &run).seconds / run.seconds, 1, 0.03);
  study_free(&study);
  free(model);
  model = fit_made(&plain, 4);
  assert_true(model->terms.tile_points == 0);
  free(model);
}

/* One of two transports varies by 12%: the other keeps its accuracy, and each has its own
 * interval. */
TEST(a_noisy_transport_does_not_spoil_the_others)
{
  const struct machine scattered = {.noise = 0.12, .overlap = 1},
                       quiet = {.noise = 0.002, .overlap = 1, .at_once = 1};
  struct study study, fine = study_make(&quiet, 4);
  random_state = 12;
  free(fit_to_four(&scattered, &study));
  for (int r = 0; r < fine.n; r++)
    if (fine.runs[r].ranks > 1) study.runs[study.n++] = fine.runs[r];
  struct model *model = fit(&study);
  assert_true(worst_error(model, &quiet, 8, 8) < 0.06);
  assert_true(model->errors.transport_spread[0] > 0.05 && model->errors.transport_spread[1] < 0.04);
  study_free(&study);
  study_free(&fine);
  free(model);
}

/* The values are computed by hand: (1 + (f·k)^4)^¼ / (1 + f^4)^¼. */
TEST(ranks_on_one_memory_slow_each_other)
{
  assert_near(model_slowdown(0.5, 1), 1, 1e-9);
  assert_near(model_slowdown(0.5, 2), 1.171319, 1e-6);
  assert_near(model_slowdown(1, 8), 6.727582, 1e-6);
  assert_near(model_slowdown(0, 3), 3, 1e-9); /* on one device, ranks compute one after the other */
}

/* A study of up to four ranks on one socket must predict eight on two sockets. Without sharing, the
 * model must find no slowdown. */
TEST(one_socket_predicts_two)
{
  const struct machine one = {.noise = 0.002, .overlap = 1, .sockets = 1};
  struct machine two = one;
  two.sockets = 2;
  two.noise = 0;
  random_state = 41;
  struct model *model = fit_made(&one, 4);
  assert_near(model_slowdown(model->terms.fitted.share, 4), 1.641, 0.03);
  assert_int_equal(model->range.sharers_most, 4);
  assert_int_equal(model->range.memories, 1);
  struct study_run run = run_of(&two, "L", sizes[3].extent, 8, 1);
  assert_int_equal(run.sharers, 4);
  assert_near(predict(model, &run).seconds / run.seconds, 1, 0.04);
  free(model);
  model = fit_made(&plain, 4);
  assert_true(model->terms.fitted.share == 0 && model->range.sharers_most == 0);
  free(model);
}

UNIT_MAIN(NULL, NULL)
