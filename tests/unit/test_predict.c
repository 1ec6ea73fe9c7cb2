/* SPDX-License-Identifier: MIT */
/* The performance model: it must find known parameters in simulated studies, its intervals must
 * cover as promised, and too small studies must be refused. */
#include "tests/unit/predict_machine.h"

#include "base/log.h"
#include "tests/unit/capture.h"

/* ---- parameters ---- */

TEST(known_parameters_are_found_again)
{
  random_state = 1;
  struct model *model = fit_made(&plain, 4);
  assert_near(model->terms.fitted.value[TERM_PASS], PASS, 0.1);
  assert_near(model->terms.fitted.value[TERM_POINT], POINT, 0.01);
  assert_near(model->terms.fitted.value[TERMS + TRANSPORT_LATENCY] * 1.1, 1, 0.08);
  assert_near((model->terms.fitted.value[TERMS + TRANSPORT_BANDWIDTH] +
               2 * model->terms.fitted.value[TERMS + TRANSPORT_HOST]) /
                  0.92,
              1, 0.1);
  assert_near(model->terms.fitted.value[TERMS + TRANSPORT_SYNC], SYNC, 0.3);
  assert_true(model->terms.fitted.cache_points == 0);
  assert_true(model->errors.spread > 0.004 && model->errors.spread < 0.02);
  free(model);
}

TEST(without_noise_predictions_are_exact)
{
  const struct machine exact = {.overlap = 1, .host_share = 0.2};
  struct model *model = fit_made(&exact, 4);
  assert_true(worst_error(model, &exact, 1, 4) < 0.01 && worst_error(model, &exact, 8, 8) < 0.04);
  free(model);
}

TEST(eight_ranks_are_predicted_from_four)
{
  const struct machine shared = {.noise = 0.01, .overlap = 1, .host_share = 0.3};
  random_state = 77;
  struct model *model = fit_made(&shared, 4);
  assert_true(worst_error(model, &shared, 8, 8) < 0.06);
  free(model);
}

TEST(a_cache_is_found_where_there_is_one)
{
  const struct machine cached = {
      .cache_points = 2e6, .cache_gain = 0.5 * 1.33e-11, .noise = 0.005, .overlap = 1};
  random_state = 5;
  struct model *model = fit_made(&cached, 4);
  assert_near(model->terms.fitted.cache_points, cached.cache_points, 0.35);
  assert_near(model->terms.fitted.value[TERM_CACHE] / cached.cache_gain, 1, 0.35);
  free(model);
}

TEST(without_overlap_computing_and_exchange_add)
{
  const struct machine serial = {.noise = 0.005};
  random_state = 9;
  struct model *model = fit_made(&serial, 4);
  assert_true(worst_error(model, &serial, 1, 4) < 0.04);
  free(model);
}

/* With one launch for all messages, latencies do not add up. In small grids, the time is the sum of
 * slab, store and flag. */
TEST(a_launch_for_all_messages_is_one_latency)
{
  const struct machine linked = {.noise = 0.005, .overlap = 1, .at_once = 1};
  random_state = 11;
  struct model *model = fit_made(&linked, 4);
  assert_true(worst_error(model, &linked, 1, 8) < 0.06);
  struct study_run two = run_of(&linked, "S", sizes[0].extent, 2, 0),
                   four = run_of(&linked, "S", sizes[0].extent, 4, 0);
  assert_near(predict(model, &four).latency, SLAB + LATENCY, 0.1);
  assert_near(predict(model, &four).latency, predict(model, &two).latency, 1e-6);
  free(model);
}

/* Returns runs whose parts are so large that no exchange determines the time. */
static struct study study_of_large_parts(void)
{
  struct study study = study_make(&plain, 4);
  int kept = 0;
  for (int r = 0; r < study.n; r++) {
    const struct study_run *run = &study.runs[r];
    double points = (double)run->global[0] * (double)run->global[1] * (double)run->global[2];
    if (points / run->ranks > 4e6 && (run->weak || run->ranks < 4)) study.runs[kept++] = *run;
  }
  study.n = kept;
  return study;
}

/* On a busy machine, comm-gpu may measure latencies of milliseconds. The measured runs must take
 * precedence, whichever term determines their time. */
TEST(wrong_paths_do_not_spoil_what_was_measured)
{
  static const double wrong[] = {0.1, 1, 3, 10, 30, 100, 1000};
  random_state = 13;
  struct study study = study_of_large_parts();
  for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
    struct model *model = calloc(1, sizeof *model);
    struct study_paths paths = paths_make();
    paths.transports[0].latency[0] *= wrong[w];
    assert_int_equal(model_fit(&study, &paths, NULL, 1, model), STATUS_OK);
    for (int r = 0; r < study.n; r++)
      assert_near(predict(model, &study.runs[r]).seconds, study.runs[r].seconds, 0.05);
    free(model);
  }
  study_free(&study);
}

/* If no exchange determines a run's time, comm-gpu's parameters are used for exchanges. */
TEST(an_exchange_never_seen_is_as_comm_gpu_has_it)
{
  random_state = 17;
  struct study study = study_of_large_parts();
  struct model *model = fit(&study);
  struct study_run small = run_of(&plain, "S", sizes[0].extent, 2, 0);
  struct model_time time = predict(model, &small);
  assert_near(time.latency, 1.1 * LATENCY, 0.04); /* a message adds a little */
  assert_int_equal(time.limit, LIMIT_LATENCY);
  assert_true(time.extrapolated & BEYOND_SMALL);
  study_free(&study);
  free(model);
}

/* ---- intervals ---- */

TEST(nine_of_ten_later_runs_lie_in_the_interval)
{
  int inside = 0, all = 0;
  random_state = 1000;
  for (int trial = 0; trial < 60; trial++) {
    struct model *model = fit_made(&plain, 4);
    struct study later = study_make(&plain, 4);
    for (int r = 0; r < later.n; r++) {
      struct model_time time = predict(model, &later.runs[r]);
      inside += later.runs[r].seconds >= time.low && later.runs[r].seconds <= time.high;
      all++;
    }
    study_free(&later);
    free(model);
  }
  if (inside < 0.88 * all || inside > 0.98 * all) fail_msg("%d of %d lie inside", inside, all);
}

TEST(noisier_runs_have_wider_intervals)
{
  const struct machine noisy = {.noise = 0.05, .overlap = 1};
  random_state = 3;
  struct model *quiet = fit_made(&plain, 4), *loud = fit_made(&noisy, 4);
  struct study_run run = run_of(&plain, "L", sizes[3].extent, 2, 0);
  struct model_time narrow = predict(quiet, &run), wide = predict(loud, &run);
  assert_true(log(wide.high / wide.low) > 2.5 * log(narrow.high / narrow.low));
  free(quiet);
  free(loud);
}

/* One run has a tenth of its real time; the other runs must still determine the prediction. */
TEST(one_wrong_run_moves_little)
{
  random_state = 41;
  struct study study = study_make(&plain, 4);
  study.runs[study.n / 2].seconds /= 10;
  study.runs[1].device_spread = 0.02, study.runs[2].device_spread = 0.04;
  struct model *model = fit(&study);
  assert_true(worst_error(model, &(const struct machine){.overlap = 1}, 1, 4) < 0.05);
  assert_near(model->range.device_spread, 0.03, 1e-9);
  study_free(&study);
  free(model);
}

/* Held-out sizes were wrong by 30%, held-out numbers of ranks by 20%. Margins are 30% for a size
 * without runs (a tenth more if fewer than nine were held out), 20% for each doubling of ranks, and
 * none for a measured run. */
TEST(held_out_errors_widen_intervals_beyond_the_study)
{
  struct validate_pair pairs[24];
  const struct validate_table table = {.n = 24, .pairs = pairs};
  random_state = 43;
  struct model *model = fit_made(&plain, 4);
  struct study study = study_make(&plain, 4);
  struct model_time wide;
  for (int held = 8; held < 10; held++) {
    for (int p = 0; p < 24; p++) {
      struct validate_pair *pair = &pairs[p];
      *pair = (struct validate_pair){
          .kind = p < held ? KIND_SIZE : KIND_RANKS, .run = study.runs[1], .predicted = 1};
      assert_int_equal(
          geometry_make(pair->run.global, pair->run.procs, 1, 1, pair->run.ranks, &pair->geometry),
          STATUS_OK);
      pair->time = predict(model, &pair->run);
      pair->beyond[pair->kind] = 1;
      pair->run.seconds = pair->time.seconds * exp(p < held ? 0.3 : -0.2);
    }
    validate_widen(&table, model);
    struct study_run run = study.runs[1];
    snprintf(run.size, sizeof run.size, "another");
    wide = predict(model, &run);
    assert_near(log(wide.high / wide.seconds), held == 8 ? 0.33 : 0.3, 5e-3);
  }
  for (int r = 0; r < 2; r++) { /* on one and two ranks */
    const struct model_time measured = predict(model, &study.runs[r]);
    assert_true(log(measured.high / measured.seconds) < 0.2);
  }
  struct study_run ranks = run_of(&plain, "L", sizes[3].extent, 16, 0);
  wide = predict(model, &ranks); /* twice twice as many */
  assert_true(log(wide.seconds / wide.low) > 0.4 && log(wide.seconds / wide.low) < 0.7);
  struct geometry sends;
  assert_int_equal(geometry_make(study.runs[1].global, study.runs[1].procs, 1, 1, 2, &sends), STATUS_OK);
  for (int times = 4; times <= 16; times *= 4) { /* each larger size has four times the bytes */
    model->range.bytes_most = (sends.bytes[0] + sends.bytes[1]) / times;
    wide = predict(model, &study.runs[1]);
    assert_true(wide.extrapolated & BEYOND_BYTES);
    assert_near(log(wide.high / wide.seconds), times == 4 ? 0.3 : 0.6, 1e-2);
  }
  study_free(&study);
  free(model);
}

/* ---- what a prediction says ---- */

TEST(the_limiting_term_is_named)
{
  random_state = 1;
  struct model *model = fit_made(&plain, 4);
  struct study_run large = run_of(&plain, "L", sizes[3].extent, 2, 0),
                   small = run_of(&plain, "S", sizes[0].extent, 4, 0);
  assert_int_equal(predict(model, &large).limit, LIMIT_INTERIOR);
  assert_int_equal(predict(model, &small).limit, LIMIT_LATENCY);
  struct study_run beyond = run_of(&plain, "S", sizes[0].extent, 16, 0);
  assert_int_equal(predict(model, &beyond).extrapolated, BEYOND_RANKS | BEYOND_HOST | BEYOND_SMALL);
  assert_int_equal(predict(model, &large).extrapolated, 0);
  free(model);
}

TEST(held_out_runs_are_predicted_and_reported)
{
  struct validate_table table;
  double median, worst;
  int n, kinds[3] = {0};
  random_state = 21;
  struct study study = study_make(&plain, 4);
  struct study_paths paths = paths_make();
  struct model *model = fit(&study);
  assert_int_equal(validate_run(&study, &paths, &model->terms, &table), STATUS_OK);
  free(model);
  for (int p = 0; p < table.n; p++) kinds[table.pairs[p].kind]++;
  assert_int_equal(kinds[KIND_RANKS], 8); /* on four ranks: four sizes, strong and weak */
  assert_int_equal(kinds[KIND_SIZE], study.n);
  assert_int_equal(kinds[KIND_CUT], 16); /* grids 2x1x1 and 4x1x1 */
  validate_summary(&table, &median, &worst, &n);
  assert_true(n > 0 && median > 0 && median < 0.05 && worst < 0.5);
  validate_free(&table);
  study_free(&study);
}

/* ---- too little ---- */

/* Asserts that the fit of \a study fails with a message that contains \a what. */
static void refuses(struct study *study, const struct study_paths *paths, const char *what)
{
  struct model *model = calloc(1, sizeof *model);
  struct capture capture = capture_begin(stderr);
  status_t status = model_fit(study, paths, NULL, 1, model);
  char *text = capture_end(&capture);
  assert_int_equal(status, STATUS_ENVIRONMENT);
  if (!strstr(text, what)) fail_msg("no \"%s\" in: %s", what, text);
  free(text);
  free(model);
  study_free(study);
}

TEST(too_little_is_refused_with_what_to_measure)
{
  struct study_paths paths = paths_make(), none = {.n = 0};
  random_state = 2;
  struct study empty = {.n = 0}, no_single = study_make(&plain, 2), one_size = study_make(&plain, 1),
               no_paths = study_make(&plain, 2), few = study_make(&plain, 2);
  int kept = 0;
  for (int r = 0; r < no_single.n; r++)
    if (no_single.runs[r].ranks > 1) no_single.runs[kept++] = no_single.runs[r];
  no_single.n = kept;
  one_size.n = 1;
  few.n = 4;
  refuses(&empty, &paths, "no run");
  refuses(&no_single, &paths, "no run on one rank: run mpirun -np 1 himeno-gpu --json FILE");
  refuses(&one_size, &paths, "with a smaller and a larger SIZE");
  refuses(&no_paths, &none, "comm-gpu -x staged");
  refuses(&few, &paths, "run mpirun -np 1 himeno-gpu -s SIZE --json FILE with at least 2 other SIZEs");
}

TEST(one_rank_predicts_two_with_what_the_paths_let_guess)
{
  int inside = 0, n = 0;
  random_state = 12;
  struct study one = study_make(&plain, 1), two = study_make(&plain, 2);
  for (size_t s = 0; s < SIZES; s++) study_add(&plain, s, 1, &one);
  struct model *model = fit(&one);
  for (int r = 0; r < two.n; r++) {
    const struct study_run *run = &two.runs[r];
    if (run->ranks < 2 || run->procs[0] < 2) continue;
    const struct model_time time = predict(model, run);
    assert_true(time.extrapolated & BEYOND_RANKS);
    if (time.interior > time.latency + time.bytes) assert_near(time.seconds, run->seconds, 0.05);
    inside += time.low < run->seconds && run->seconds < time.high;
    n++;
  }
  assert_true(n > 4 && inside == n);
  for (int w = 0; w < model->terms.paths.n; w++)
    assert_true(model->errors.spread > 0 && model->errors.transport_spread[w] == model->errors.spread);
  study_free(&one);
  study_free(&two);
  free(model);
}

TEST(a_cut_that_was_never_measured_is_refused)
{
  static const struct model_scale as_measured = {1, 1};
  struct geometry geometry;
  struct model_time time;
  const int procs[3] = {2, 2, 1};
  random_state = 4;
  struct model *model = fit_made(&plain, 4);
  assert_int_equal(geometry_make(sizes[3].extent, procs, 1, 1, 4, &geometry), STATUS_OK);
  struct capture capture = capture_begin(stderr);
  assert_int_equal(model_predict(model, &geometry, "staged", &as_measured, &time), STATUS_ENVIRONMENT);
  assert_int_equal(model_predict(model, &geometry, "pigeon", &as_measured, &time), STATUS_ENVIRONMENT);
  char *text = capture_end(&capture);
  assert_non_null(strstr(text, "divides the grid along j"));
  assert_non_null(strstr(text, "no parameters of transport pigeon"));
  free(text);
  free(model);
}

UNIT_MAIN(NULL, NULL)
