/* SPDX-License-Identifier: MIT */
/* The performance model: known parameters are found again in made-up studies, intervals hold what they promise, and too
 * little is refused. */
#include "tests/unit/unit.h"

#include <math.h>

#include "base/hash.h"
#include "base/log.h"
#include "himeno/predict/validate.h"
#include "tests/unit/capture.h"
#include "tests/unit/near.h"

/* ---- a machine of which all is known ---- */

static const double PASS = 3e-6, POINT = 1.33e-11, SLAB = 4e-6, SLAB_POINT = 2e-11, SYNC = 6e-6,
                    NEIGHBOUR = 1e-6, REDUCE = 1e-6, REDUCE_LOG = 0.5e-6, LATENCY = 25e-6, BANDWIDTH = 12e9;

static uint64_t random_state;

static double uniform(void)
{
  random_state++;
  return ((double)(hash_mix(random_state) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller. */
static double normal(void)
{
  return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

struct machine {
  double cache_points, cache_gain; /* points that cost less, and by how much each */
  double noise;
  int overlap, at_once; /* at_once: all messages and all slabs in one launch */
  double peer;          /* share of a message's time that is its other end's */
};

static const struct machine plain = {0, 0, 0.01, 1, 0, 0};

/* Written down a second time, not taken from the model. Halos go along i only. */
static void machine_time(const struct machine *m, const struct geometry *g, struct study_run *run)
{
  double neighbours = g->ranks == 1 ? 0 : g->ranks == 2 ? 1 : 2;
  double face = (double)(g->global[1] - 2) * (double)(g->global[2] - 2);
  double owned = ceil((double)(g->global[0] - 2) / g->ranks) * face;
  double inner = owned - (m->overlap ? neighbours * face : 0);
  double interior = PASS + POINT * inner - m->cache_gain * fmin(inner, m->cache_points);
  double slab = m->at_once ? SLAB_POINT * face : SLAB + SLAB_POINT * face;
  double boundary = m->overlap ? neighbours * slab : 0;
  double messages = m->at_once ? SLAB : neighbours * NEIGHBOUR;
  double peers = g->ranks == 3 ? 1 : neighbours; /* messages of the one that has most */
  double bytes = ((1 - m->peer) * neighbours + m->peer * peers) * 4 * face;
  double exchange = neighbours > 0 ? LATENCY + messages + bytes / BANDWIDTH : 0;
  double rest = g->ranks > 1 ? SYNC + REDUCE + REDUCE_LOG * log2(g->ranks) : 0;
  double whole = (m->overlap ? fmax(interior, exchange) : interior + exchange) + boundary + rest;
  double off = 1 + m->noise * normal();
  run->seconds = whole * off;
  run->interior = g->ranks > 1 && m->overlap ? (m->at_once ? whole / 2 : interior) * off : 0;
  run->boundary = g->ranks > 1 ? (m->overlap ? boundary : interior) * off : 0;
  run->reduce = g->ranks > 1 ? (REDUCE + REDUCE_LOG * log2(g->ranks)) * off : 0;
}

static struct study_run run_of(const struct machine *m, const char *size, const int64_t extent[3], int ranks,
                               int weak)
{
  struct geometry geometry;
  struct study_run run = {.transport = "",
                          .kernel = "stream",
                          .backend = "cuda",
                          .device = "Made up",
                          .procs = {ranks, 1, 1},
                          .ranks = ranks,
                          .hosts = 1,
                          .weak = weak,
                          .overlap = m->overlap,
                          .depth = 1};
  snprintf(run.size, sizeof run.size, "%s", size);
  snprintf(run.transport, sizeof run.transport, "%s", m->at_once ? "p2p" : "staged");
  for (int d = 0; d < 3; d++) run.global[d] = extent[d];
  if (weak) run.global[0] = (extent[0] - 2) * ranks + 2;
  assert_int_equal(geometry_make(run.global, run.procs, 1, m->overlap, ranks, &geometry), STATUS_OK);
  machine_time(m, &geometry, &run);
  return run;
}

static const struct {
  const char *name;
  int64_t extent[3];
} sizes[] = {
    {"S", {64, 64, 128}}, {"M", {128, 128, 256}}, {"130x130x514", {130, 130, 514}}, {"L", {256, 256, 512}}};

#define SIZES (sizeof sizes / sizeof sizes[0])

/* Strong and weak. */
static void study_add(const struct machine *m, size_t size, int ranks, struct study *study)
{
  for (int weak = 0; weak < (ranks > 1 ? 2 : 1); weak++)
    study->runs[study->n++] = run_of(m, sizes[size].name, sizes[size].extent, ranks, weak);
}

/* Each size on one to \a most ranks. */
static struct study study_make(const struct machine *m, int most)
{
  struct study study = {.runs = calloc(64, sizeof *study.runs)};
  assert_non_null(study.runs);
  for (size_t s = 0; s < SIZES; s++)
    for (int ranks = 1; ranks <= most; ranks *= 2) study_add(m, s, ranks, &study);
  return study;
}

/* comm-gpu has them a little wrong. */
static struct study_paths paths_make(void)
{
  static const char *const names[] = {"staged", "p2p"};
  struct study_paths paths = {.n = 2};
  for (int w = 0; w < paths.n; w++) {
    paths.ways[w] =
        (struct study_way){.known = {1, 0}, .latency = {1.1 * LATENCY}, .bandwidth = {0.92 * BANDWIDTH}};
    snprintf(paths.ways[w].name, sizeof paths.ways[w].name, "%s", names[w]);
  }
  return paths;
}

static struct model *fit_made(const struct machine *m, int most)
{
  struct model *model = calloc(1, sizeof *model);
  struct study study = study_make(m, most);
  struct study_paths paths = paths_make();
  assert_int_equal(model_fit(&study, &paths, model), STATUS_OK);
  study_free(&study);
  return model;
}

static struct model_time predict(const struct model *model, const struct study_run *run)
{
  static const struct model_scale as_measured = {1, 1};
  struct geometry geometry;
  struct model_time time;
  assert_int_equal(geometry_make(run->global, run->procs, 1, run->overlap, run->ranks, &geometry), STATUS_OK);
  assert_int_equal(model_predict(model, &geometry, run->transport, &as_measured, &time), STATUS_OK);
  return time;
}

/* ---- parameters ---- */

static void known_parameters_are_found_again(void **state)
{
  (void)state;
  random_state = 1;
  struct model *model = fit_made(&plain, 4);
  assert_near(model->value[TERM_PASS], PASS, 0.1);
  assert_near(model->value[TERM_POINT], POINT, 0.01);
  assert_near(model->value[TERMS + WAY_SLAB], SLAB, 0.1);
  assert_near(model->value[TERMS + WAY_LATENCY] * 1.1, 1, 0.08);
  assert_near((model->value[TERMS + WAY_BANDWIDTH] + model->value[TERMS + WAY_PEER]) / 0.92, 1, 0.1);
  assert_true(model->cache_points == 0);
  assert_true(model->spread > 0.004 && model->spread < 0.02);
  free(model);
}

static void without_noise_predictions_are_exact(void **state)
{
  const struct machine exact = {0, 0, 0, 1, 0, 0};
  (void)state;
  struct model *model = fit_made(&exact, 4);
  struct study later = study_make(&exact, 8);
  for (int r = 0; r < later.n; r++)
    assert_near(predict(model, &later.runs[r]).seconds, later.runs[r].seconds,
                later.runs[r].ranks > 4 ? 0.02 : 0.01);
  study_free(&later);
  free(model);
}

static void eight_ranks_are_predicted_from_four(void **state)
{
  double worst = 0;
  (void)state;
  random_state = 77;
  struct model *model = fit_made(&plain, 4);
  struct study later = study_make(&plain, 8);
  for (int r = 0; r < later.n; r++)
    if (later.runs[r].ranks == 8)
      worst = fmax(worst, fabs(predict(model, &later.runs[r]).seconds / later.runs[r].seconds - 1));
  assert_true(worst < 0.06);
  study_free(&later);
  free(model);
}

/* Three in a row tell: the one between sends twice, its peers once. */
static void both_ends_of_a_message_work_for_it(void **state)
{
  const struct machine shared = {0, 0, 0.002, 1, 0, 0.45};
  (void)state;
  random_state = 21;
  struct study study = study_make(&shared, 2), later = study_make(&shared, 8);
  struct study_paths paths = paths_make();
  struct model *model = calloc(1, sizeof *model);
  for (size_t s = 0; s < SIZES; s++) study_add(&shared, s, 3, &study);
  assert_int_equal(model_fit(&study, &paths, model), STATUS_OK);
  assert_near(model->value[TERMS + WAY_PEER] / 0.92, 0.45, 0.15);
  assert_near(model->value[TERMS + WAY_BANDWIDTH] / 0.92, 0.55, 0.15);
  for (int r = 0; r < later.n; r++)
    assert_near(predict(model, &later.runs[r]).seconds, later.runs[r].seconds, 0.05);
  study_free(&study);
  study_free(&later);
  free(model);
}

static void a_cache_is_found_where_there_is_one(void **state)
{
  const struct machine cached = {8e5, 0.5 * 1.33e-11, 0.005, 1, 0, 0};
  (void)state;
  random_state = 5;
  struct model *model = fit_made(&cached, 4);
  assert_true(model->cache_points > 4e5 && model->cache_points < 1.6e6);
  assert_near(model->value[TERM_CACHE] * model->cache_points, cached.cache_gain * cached.cache_points, 0.35);
  free(model);
}

static void without_overlap_computing_and_exchange_add(void **state)
{
  const struct machine serial = {0, 0, 0.005, 0, 0, 0};
  (void)state;
  random_state = 9;
  struct model *model = fit_made(&serial, 4);
  struct study later = study_make(&serial, 4);
  for (int r = 0; r < later.n; r++)
    assert_near(predict(model, &later.runs[r]).seconds, later.runs[r].seconds, 0.04);
  study_free(&later);
  free(model);
}

/* With one launch for all, latencies do not add, and small grids take what slab, store and flag take one after the other. */
static void a_launch_for_all_messages_is_one_latency(void **state)
{
  const struct machine linked = {0, 0, 0.005, 1, 1, 0};
  (void)state;
  random_state = 11;
  struct model *model = fit_made(&linked, 4);
  struct study later = study_make(&linked, 8);
  struct study_run two = run_of(&linked, "S", sizes[0].extent, 2, 0),
                   four = run_of(&linked, "S", sizes[0].extent, 4, 0);
  for (int r = 0; r < later.n; r++)
    assert_near(predict(model, &later.runs[r]).seconds, later.runs[r].seconds, 0.06);
  assert_near(predict(model, &four).latency, SLAB + LATENCY, 0.1);
  assert_near(predict(model, &four).latency, predict(model, &two).latency, 1e-6);
  study_free(&later);
  free(model);
}

/* Only runs whose parts are so large, against their faces, that none is bound by its exchange. */
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

/* A busy machine may show comm-gpu latencies of milliseconds: what the runs say counts, whichever term binds them. */
static void wrong_paths_do_not_spoil_what_was_measured(void **state)
{
  static const double wrong[] = {0.1, 1, 3, 10, 30, 100, 1000};
  (void)state;
  random_state = 13;
  struct study study = study_of_large_parts();
  for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
    struct model *model = calloc(1, sizeof *model);
    struct study_paths paths = paths_make();
    paths.ways[0].latency[0] *= wrong[w];
    assert_int_equal(model_fit(&study, &paths, model), STATUS_OK);
    for (int r = 0; r < study.n; r++)
      assert_near(predict(model, &study.runs[r]).seconds, study.runs[r].seconds, 0.05);
    free(model);
  }
  study_free(&study);
}

/* Where no run is bound by its exchange, comm-gpu's parameters stand for it. */
static void an_exchange_never_seen_is_as_comm_gpu_has_it(void **state)
{
  (void)state;
  random_state = 17;
  struct study study = study_of_large_parts();
  struct study_paths paths = paths_make();
  struct model *model = calloc(1, sizeof *model);
  struct study_run small = run_of(&plain, "S", sizes[0].extent, 2, 0);
  assert_int_equal(model_fit(&study, &paths, model), STATUS_OK);
  struct model_time time = predict(model, &small);
  assert_near(time.latency, 1.1 * LATENCY, 1e-3);
  assert_string_equal(time.limit, "exchange latency");
  assert_true(time.extrapolated & BEYOND_SMALL);
  study_free(&study);
  free(model);
}

/* ---- intervals ---- */

static void nine_of_ten_later_runs_lie_in_the_interval(void **state)
{
  int inside = 0, all = 0;
  (void)state;
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
  if (inside < 0.86 * all || inside > 0.95 * all) fail_msg("%d of %d lie inside", inside, all);
}

static void noisier_runs_have_wider_intervals(void **state)
{
  const struct machine noisy = {0, 0, 0.05, 1, 0, 0};
  (void)state;
  random_state = 3;
  struct model *quiet = fit_made(&plain, 4), *loud = fit_made(&noisy, 4);
  struct study_run run = run_of(&plain, "L", sizes[3].extent, 2, 0);
  struct model_time narrow = predict(quiet, &run), wide = predict(loud, &run);
  assert_true(log(wide.high / wide.low) > 2.5 * log(narrow.high / narrow.low));
  free(quiet);
  free(loud);
}

/* ---- what a prediction says ---- */

static void the_limiting_term_is_named(void **state)
{
  (void)state;
  random_state = 1;
  struct model *model = fit_made(&plain, 4);
  struct study_run large = run_of(&plain, "L", sizes[3].extent, 2, 0),
                   small = run_of(&plain, "S", sizes[0].extent, 4, 0);
  assert_string_equal(predict(model, &large).limit, "interior");
  assert_string_equal(predict(model, &small).limit, "exchange latency");
  struct study_run beyond = run_of(&plain, "S", sizes[0].extent, 16, 0);
  assert_int_equal(predict(model, &beyond).extrapolated, BEYOND_RANKS | BEYOND_HOST | BEYOND_SMALL);
  assert_int_equal(predict(model, &large).extrapolated, 0);
  free(model);
}

static void left_out_runs_are_predicted_and_told(void **state)
{
  struct validate_table table;
  double median, worst;
  int n, kinds[3] = {0};
  (void)state;
  random_state = 21;
  struct study study = study_make(&plain, 4);
  struct study_paths paths = paths_make();
  assert_int_equal(validate_run(&study, &paths, &table), STATUS_OK);
  for (int p = 0; p < table.n; p++) kinds[table.pairs[p].kind]++;
  assert_int_equal(kinds[LEFT_RANKS], 8); /* four ranks: four sizes, strong and weak */
  assert_int_equal(kinds[LEFT_SIZE], study.n);
  assert_int_equal(kinds[LEFT_CUT], 16); /* 2x1x1 and 4x1x1 */
  validate_summary(&table, &median, &worst, &n);
  assert_true(n > 0 && median > 0 && median < 0.05 && worst < 0.5);
  validate_free(&table);
  study_free(&study);
}

/* ---- too little ---- */

/* The fit of \a study fails and says \a what. */
static void refuses(struct study *study, const struct study_paths *paths, const char *what)
{
  struct model *model = calloc(1, sizeof *model);
  struct capture capture = capture_begin(stderr);
  status_t status = model_fit(study, paths, model);
  char *text = capture_end(&capture);
  assert_int_equal(status, STATUS_ENVIRONMENT);
  if (!strstr(text, what)) fail_msg("no \"%s\" in: %s", what, text);
  free(text);
  free(model);
  study_free(study);
}

static void too_little_is_refused_with_what_to_measure(void **state)
{
  struct study_paths paths = paths_make(), none = {.n = 0};
  (void)state;
  random_state = 2;
  struct study empty = {.n = 0}, no_single = study_make(&plain, 2), one_size = study_make(&plain, 1),
               no_paths = study_make(&plain, 2), few = study_make(&plain, 2), alone = study_make(&plain, 1);
  int kept = 0;
  for (int r = 0; r < no_single.n; r++)
    if (no_single.runs[r].ranks > 1) no_single.runs[kept++] = no_single.runs[r];
  no_single.n = kept;
  one_size.n = 1;
  few.n = 4;
  refuses(&empty, &paths, "no run");
  refuses(&no_single, &paths, "measure himeno-gpu on one rank");
  refuses(&one_size, &paths, "measure a smaller and a larger --size");
  refuses(&no_paths, &none, "comm-gpu -x staged");
  refuses(&few, &paths, "measure more sizes, ranks or cuts");
  refuses(&alone, &paths, "no run of two ranks or more");
}

static void a_cut_that_was_never_measured_is_refused(void **state)
{
  static const struct model_scale as_measured = {1, 1};
  struct geometry geometry;
  struct model_time time;
  const int procs[3] = {2, 2, 1};
  (void)state;
  random_state = 4;
  struct model *model = fit_made(&plain, 4);
  assert_int_equal(geometry_make(sizes[3].extent, procs, 1, 1, 4, &geometry), STATUS_OK);
  struct capture capture = capture_begin(stderr);
  assert_int_equal(model_predict(model, &geometry, "staged", &as_measured, &time), STATUS_ENVIRONMENT);
  assert_int_equal(model_predict(model, &geometry, "pigeon", &as_measured, &time), STATUS_ENVIRONMENT);
  char *text = capture_end(&capture);
  assert_non_null(strstr(text, "a run that cuts j"));
  assert_non_null(strstr(text, "no parameters of transport pigeon"));
  free(text);
  free(model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_parameters_are_found_again),
      cmocka_unit_test(without_noise_predictions_are_exact),
      cmocka_unit_test(eight_ranks_are_predicted_from_four),
      cmocka_unit_test(both_ends_of_a_message_work_for_it),
      cmocka_unit_test(a_cache_is_found_where_there_is_one),
      cmocka_unit_test(a_launch_for_all_messages_is_one_latency),
      cmocka_unit_test(without_overlap_computing_and_exchange_add),
      cmocka_unit_test(wrong_paths_do_not_spoil_what_was_measured),
      cmocka_unit_test(an_exchange_never_seen_is_as_comm_gpu_has_it),
      cmocka_unit_test(nine_of_ten_later_runs_lie_in_the_interval),
      cmocka_unit_test(noisier_runs_have_wider_intervals),
      cmocka_unit_test(the_limiting_term_is_named),
      cmocka_unit_test(left_out_runs_are_predicted_and_told),
      cmocka_unit_test(too_little_is_refused_with_what_to_measure),
      cmocka_unit_test(a_cut_that_was_never_measured_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
